/** Describes the run endpoints for OpenAPI: one path per operation, from the contracts that also validate calls. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { contractOf, type JsonSchema } from '../../operation/contract.js';
import type { GroupedOperation } from '../../operation/operation.js';
import { TOOLSET_FACTS, TOOLSETS, type Toolset } from '../../runtime/toolsets.js';

export interface RunDescription {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, unknown>>;
}

const BASE = '/wp-json/wp-abilities/v1/abilities';

/**
 * Yields after each operation to let other requests run.
 * @param scheme name of the security scheme for user name and password
 */
export async function describeRuns(operations: readonly GroupedOperation[], scheme: string): Promise<RunDescription> {
  const used = TOOLSETS.filter((group) => operations.some((operation) => operation.group === group));
  const sorted = [...operations].sort((a, b) => TOOLSETS.indexOf(a.group) - TOOLSETS.indexOf(b.group));
  const paths: RunDescription['paths'] = {};
  for (const operation of sorted) {
    paths[`${BASE}/${operation.id}/run`] = pathItem(operation, scheme);
    await nextTurn();
  }
  return {
    tags: used.map((group) => ({ name: tagOf(group), description: TOOLSET_FACTS[group].description })),
    paths,
  };
}

function tagOf(group: Toolset): string {
  return `operations: ${TOOLSET_FACTS[group].label.toLowerCase()}`;
}

/** The path item of an operation, with the method it is published with only, although it may accept others. */
function pathItem(operation: GroupedOperation, scheme: string): Record<string, unknown> {
  const contract = contractOf(operation);
  const { instructions } = contract.annotations;
  const about = [contract.description, instructions, `MCP tool: \`${contract.tool}\`.`].filter((text) => text !== '');
  const method = operation.run;
  return {
    [method.toLowerCase()]: {
      operationId: contract.tool,
      summary: contract.title,
      description: about.join('\n\n'),
      tags: [tagOf(operation.group)],
      security: [{ [scheme]: [] }],
      ...(method === 'GET' ? { parameters: parameters(contract.input_schema) } : body(contract.input_schema)),
      responses: {
        '200': { description: 'Done.', content: json(contract.output_schema) },
        default: { description: 'Refused, and nothing changed.', content: json(ERROR) },
      },
      'x-permission': operation.needs,
      'x-effect': operation.effect,
    },
  };
}

/** `input[name]=value`; lists as `input[name][]=a&input[name][]=b`. */
function parameters({ properties, required }: JsonSchema): object[] {
  const needed = new Set((required as string[] | undefined) ?? []);
  return Object.entries((properties ?? {}) as Record<string, JsonSchema>).map(([name, schema]) => {
    const { description, ...rest } = schema;
    const list = rest.type === 'array';
    return {
      name: `input[${name}]${list ? '[]' : ''}`,
      in: 'query',
      required: needed.has(name),
      ...(typeof description === 'string' ? { description } : {}),
      schema: rest,
      ...(list ? { style: 'form', explode: true } : {}),
    };
  });
}

function body(input: JsonSchema): object {
  const needed = ((input.required as string[] | undefined) ?? []).length > 0;
  const schema = { type: 'object', properties: { input }, additionalProperties: false };
  return { requestBody: { required: true, content: json(needed ? { ...schema, required: ['input'] } : schema) } };
}

function json(schema: JsonSchema): object {
  return { 'application/json': { schema } };
}

const ERROR: JsonSchema = {
  type: 'object',
  properties: {
    code: { type: 'string' },
    message: { type: 'string', description: 'What was wrong, and what to do.' },
    data: {
      type: 'object',
      properties: { status: { type: 'integer' }, field: { type: 'string' } },
      required: ['status'],
    },
  },
  required: ['code', 'message', 'data'],
};
