/** The MCP tool definition of an operation. Models read it before they call, so every character costs tokens in every conversation. */

import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { ConfirmPolicy } from '../config/types.js';
import { contractOf, type JsonSchema } from '../operation/contract.js';
import type { GroupedOperation } from '../operation/operation.js';

/** The common limit of lists. It is enforced, but models need not read it. */
const LIST_LIMIT = 5000;

const TRUNCATED = { type: 'string', description: 'Only when something was cut to fit: what, and how to get the rest.' };
const TOKEN_IN = { type: 'string', description: 'From the dry_run of the same call.' };
const TOKEN_OUT = { type: 'string', description: 'Send it with confirm: true after the user agreed.' };

/** @param policy confirmation policy: destructive tools show the token when it requires one */
export function toolOf(operation: GroupedOperation, policy: ConfirmPolicy): Tool {
  const contract = contractOf(operation);
  const { readonly, destructive, idempotent, instructions } = contract.annotations;
  const guarded = destructive && policy !== 'confirm';
  return {
    name: contract.tool,
    title: contract.title,
    description: instructions === '' ? contract.description : `${contract.description} ${instructions}`,
    inputSchema: withMembers(compact(contract.input_schema, true), guarded ? { confirmation_token: TOKEN_IN } : {}),
    outputSchema: withMembers(compact(contract.output_schema), {
      ...(guarded ? { confirmation_token: TOKEN_OUT } : {}),
      ...(listsOf(contract.output_schema).length > 0 ? { truncated: TRUNCATED } : {}),
    }),
    annotations: {
      readOnlyHint: readonly,
      destructiveHint: destructive,
      idempotentHint: idempotent,
      openWorldHint: reachesOut(operation),
    },
    _meta: { id: contract.id },
  };
}

/** Whether it may contact sites: clients, tags and jobs are records of our own store. */
function reachesOut(operation: GroupedOperation): boolean {
  return operation.engine && ['sites', 'updates', 'safety'].includes(operation.group);
}

/** Whether its output may contain texts that sites wrote. */
export function carriesSiteText({ group, id }: GroupedOperation): boolean {
  return (group !== 'clients' && group !== 'tags') || id.endsWith('-sites-v1');
}

/** Names of the lists in an output. */
export function listsOf(output: JsonSchema): string[] {
  return Object.entries(output.properties as Record<string, JsonSchema>)
    .filter(([, member]) => member.type === 'array')
    .map(([name]) => name);
}

type ObjectSchema = Tool['inputSchema'];

function withMembers(schema: JsonSchema, members: Record<string, JsonSchema>): ObjectSchema {
  const own = schema.properties as Record<string, JsonSchema> | undefined;
  return { ...schema, properties: { ...own, ...members } } as ObjectSchema;
}

/** Keywords that are enforced, but that models need not read. */
const UNREAD = new Set(['maxLength', 'minLength', 'additionalProperties', 'pattern']);

/**
 * Omits what a model does not act on: lengths, the common limits of ids and lists, and defaults that mean "nothing".
 * A call is still validated against the whole schema, which discovery publishes. Alternatives are written
 * as `anyOf`: lists of types are shorter, but some model APIs refuse them, and one refused tool costs all of them.
 */
function compact(schema: JsonSchema, input = false): JsonSchema {
  const kept: JsonSchema = {};
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'type' && Array.isArray(value)) {
      kept.anyOf = value.map((type) => ({ type }));
      continue;
    }
    if (input && UNREAD.has(name)) continue;
    if (name === 'maxItems' && value === LIST_LIMIT) continue;
    if (input && name === 'minimum' && value === 1) continue;
    if (name === 'default' && isNothing(value)) continue;
    kept[name] = compactPart(name, value, input);
  }
  return kept;
}

function compactPart(keyword: string, value: unknown, input: boolean): unknown {
  if (keyword === 'properties') {
    return Object.fromEntries(
      Object.entries(value as Record<string, JsonSchema>).map(([name, member]) => [name, compact(member, input)]),
    );
  }
  if (keyword === 'items') return compact(value as JsonSchema, input);
  if (keyword === 'anyOf') return (value as JsonSchema[]).map((part) => compact(part, input));
  return value;
}

function isNothing(value: unknown): boolean {
  return (
    value === false ||
    value === 1 ||
    value === 'any' ||
    value === 'all' ||
    value === '' ||
    (Array.isArray(value) && value.length === 0)
  );
}
