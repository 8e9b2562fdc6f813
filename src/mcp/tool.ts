/** The MCP tool definition of an operation. Models read it before they call, so every character costs tokens in every conversation. */

import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { ConfirmPolicy } from '../config/types.js';
import { contractOf, type JsonSchema } from '../operation/contract.js';
import type { GroupedOperation } from '../operation/operation.js';
import { isGuarded, usesTokens } from './confirm.js';
import { TEXT_FROM, takesTextFrom } from './long-texts.js';
import type { NameTools } from './tool-names.js';

/** The common limit of lists. It is enforced, but models need not read it. */
const LIST_LIMIT = 5000;

/** What it means, the instructions say once for all tools. */
const TRUNCATED = { type: 'string' };
const TOKEN_IN = { type: 'string', description: 'From the dry_run of the same call.' };
const TOKEN_OUT = { type: 'string', description: 'Send it with confirm: true after the user agreed.' };

/** @param policy confirmation policy: guarded tools show the token when it requires one */
export function toolOf(operation: GroupedOperation, policy: ConfirmPolicy, nameTools: NameTools): Tool {
  const contract = contractOf(operation);
  const { readonly, idempotent, instructions } = contract.annotations;
  const guarded = isGuarded(operation) && usesTokens(policy);
  return {
    name: contract.tool,
    title: contract.title,
    description: nameTools(instructions === '' ? contract.description : `${contract.description} ${instructions}`),
    inputSchema: withMembers(compact(contract.input_schema, nameTools, true), {
      ...(guarded ? { confirmation_token: TOKEN_IN } : {}),
      ...(takesTextFrom(operation) ? { text_from: TEXT_FROM } : {}),
    }),
    outputSchema: withMembers(compact(contract.output_schema, nameTools), {
      ...(guarded ? { confirmation_token: TOKEN_OUT } : {}),
      truncated: TRUNCATED,
    }),
    annotations: {
      readOnlyHint: readonly,
      destructiveHint: operation.replaces,
      idempotentHint: idempotent,
      openWorldHint: reachesOut(operation),
    },
    _meta: { id: contract.id },
  };
}

/** Whether it may contact sites: clients, tags and jobs are records of our own store. */
function reachesOut(operation: GroupedOperation): boolean {
  return operation.engine && ['sites', 'updates', 'safety', 'fleet', 'monitoring', 'content'].includes(operation.group);
}

/** Groups whose records hold what people here wrote. */
const OWN_RECORDS: ReadonlySet<string> = new Set(['clients', 'tags', 'costs', 'time']);

/** Whether its output may contain texts that sites wrote. */
export function carriesSiteText({ group, id }: GroupedOperation): boolean {
  return !OWN_RECORDS.has(group) || id.endsWith('-sites-v1');
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

/** Keywords that are enforced, but that models need not read, or that some model APIs refuse. */
const UNREAD = new Set(['maxLength', 'minLength', 'pattern']);

/**
 * Omits what a model does not act on: lengths, and the common limits of ids and lists. A call is still validated against the
 * whole schema, which discovery publishes. One tool that a model API refuses costs all of them, so there are no formats, no
 * lists of types and no type `null`: alternatives are `anyOf`, and what may be null has no type but says so.
 */
function compact(schema: JsonSchema, nameTools: NameTools, input = false): JsonSchema {
  const nullable = nullableOf(schema);
  if (nullable !== undefined) return orNull(compact(nullable, nameTools, input), input);
  const kept: JsonSchema = {};
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'format' || (name === 'additionalProperties' && value === false) || (input && UNREAD.has(name)))
      continue;
    if (name === 'maxItems' && value === LIST_LIMIT) continue;
    if (input && name === 'minimum' && value === 1) continue;
    if (name === 'type' && Array.isArray(value)) kept.anyOf = value.map((type) => ({ type }));
    else kept[name] = compactPart(name, value, nameTools, input);
  }
  return kept;
}

function compactPart(keyword: string, value: unknown, nameTools: NameTools, input: boolean): unknown {
  if (keyword === 'properties') {
    return Object.fromEntries(
      Object.entries(value as Record<string, JsonSchema>).map(([name, member]) => [
        name,
        compact(member, nameTools, input),
      ]),
    );
  }
  if (keyword === 'items') return compact(value as JsonSchema, nameTools, input);
  if (keyword === 'anyOf') return (value as JsonSchema[]).map((part) => compact(part, nameTools, input));
  return keyword === 'description' ? nameTools(String(value)) : value;
}

/** The schema of what may also be null, without the null; undefined where null is not allowed, or with several alternatives. */
function nullableOf({ type, anyOf, ...rest }: JsonSchema): JsonSchema | undefined {
  if (Array.isArray(type) && type.includes('null')) {
    const others = type.filter((name) => name !== 'null');
    return { ...rest, type: others.length === 1 ? others[0] : others };
  }
  if (!Array.isArray(anyOf)) return undefined;
  const others = (anyOf as JsonSchema[]).filter((part) => part.type !== 'null');
  if (others.length === anyOf.length) return undefined;
  return others.length === 1 ? { ...others[0], ...rest } : { ...rest, anyOf: others };
}

/** An input keeps its type: what null means there, its description says. An output without a type is valid with either. */
function orNull(schema: JsonSchema, input: boolean): JsonSchema {
  if (input) return schema;
  const { type, anyOf, enum: values, description, ...rest } = schema;
  const words = Array.isArray(anyOf) ? anyOf.map((part: JsonSchema) => part.type).join(', ') : String(type);
  return {
    ...rest,
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
    description: description === undefined ? `${words} or null` : `${String(description)} May be null.`,
  };
}
