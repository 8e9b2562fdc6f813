/** MCP tool definitions of operations. Models read them first, so each character costs tokens in every conversation. */

import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { ConfirmPolicy } from '../config/types.js';
import { contractOf, type JsonSchema } from '../operation/contract.js';
import type { GroupedOperation } from '../operation/operation.js';
import { isGuarded, usesTokens } from './confirm.js';
import { holdsLongText, TEXT_FROM, takesTextFrom } from './long-texts.js';
import type { NameTools } from './tool-names.js';

/** Enforced limits that models need not read: length of lists, numbers from 0 or 1, a hundred years in days. */
const COMMON_LIMITS: Record<string, readonly unknown[]> = { maxItems: [5000], minimum: [0, 1], maximum: [36_500] };

/** The server instructions explain it once for all tools. */
const TRUNCATED = { type: 'string' };
const TOKEN_IN = { type: 'string', description: 'From the dry_run of the same call.' };
const TOKEN_OUT = { type: 'string', description: 'Send it with confirm: true after the user agreed.' };
const FLEET_TOKEN_OUT = { type: 'string', description: 'Send it after the user agreed.' };

/** @param policy guarded tools show the token when this confirmation policy uses one */
export function toolOf(operation: GroupedOperation, policy: ConfirmPolicy, nameTools: NameTools): Tool {
  const contract = contractOf(operation);
  const { readonly, idempotent, instructions } = contract.annotations;
  const guarded = isGuarded(operation) && usesTokens(policy);
  return {
    name: contract.tool,
    title: contract.title,
    description: nameTools(instructions === '' ? contract.description : `${contract.description} ${instructions}`),
    inputSchema: withMembers(compact(contract.input_schema, nameTools), {
      ...(guarded ? { confirmation_token: TOKEN_IN } : {}),
      ...(takesTextFrom(operation) ? { text_from: TEXT_FROM } : {}),
    }),
    outputSchema: withMembers(outline(contract.output_schema), {
      ...(guarded ? { confirmation_token: operation.effect === 'destroy' ? TOKEN_OUT : FLEET_TOKEN_OUT } : {}),
      ...(mayBeCut(contract.output_schema) ? { truncated: TRUNCATED } : {}),
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

/** Whether an operation may contact sites: clients, tags and jobs are records of our own store. */
function reachesOut(operation: GroupedOperation): boolean {
  return operation.engine && ['sites', 'updates', 'safety', 'fleet', 'monitoring', 'content'].includes(operation.group);
}

/** Groups whose records are written by our own users. */
const OWN_RECORDS: ReadonlySet<string> = new Set(['clients', 'tags', 'costs', 'time']);

/** Whether the output of an operation may contain texts written by sites. */
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

/** Whether an answer may be so long that the end of a list or text is left out. */
function mayBeCut(output: JsonSchema): boolean {
  return listsOf(output).length > 0 || holdsLongText(output);
}

/** Enforced keywords that models need not read, or that some model APIs refuse. */
const UNREAD = new Set(['format', 'maxLength', 'minLength', 'pattern']);

/**
 * An input schema without the parts a model does not act on: lengths, the common limits of ids and lists, and
 * descriptions that only repeat a name. A call is still validated against the full schema, which discovery publishes. A
 * model API that refuses one tool refuses the whole list, so there are no formats, no lists of types and no type
 * `null`: alternatives are `anyOf`, and the description says what null means.
 */
function compact(schema: JsonSchema, nameTools: NameTools): JsonSchema {
  const kept: JsonSchema = {};
  for (const [name, value] of Object.entries(nullableOf(schema) ?? schema)) {
    if (UNREAD.has(name) || (name === 'additionalProperties' && value === false)) continue;
    if (COMMON_LIMITS[name]?.includes(value)) continue;
    if (name === 'type' && Array.isArray(value)) kept.anyOf = value.map((type) => ({ type }));
    else if (name === 'description') kept[name] = nameTools(String(value));
    else kept[name] = withParts(name, value, (part, member) => saying(compact(part, nameTools), member));
  }
  return kept;
}

/** Descriptions for human readers: a model learns as much from the name and the type of the member. */
const FOR_PEOPLE = new Set([
  'Adds these members.',
  'Any of these.',
  'Clients in this state.',
  'Free text.',
  'Items per page.',
  'Page number.',
  'Plugins in this state.',
  'Second line.',
  'Sites in this state.',
  'Sites of any of these clients.',
  'Sites with any of these tags.',
  'What the item is.',
  'What to do.',
]);

/** The schema of a member, without a description that is for human readers or has only words of the member's name. */
function saying(schema: JsonSchema, member: string | undefined): JsonSchema {
  const { description, ...rest } = schema;
  if (FOR_PEOPLE.has(String(description))) return rest;
  const words = String(description ?? '')
    .toLowerCase()
    .replaceAll('-', '')
    .match(/[a-z]+/g);
  const known = member?.split('_');
  return known !== undefined && words?.every((word) => known.includes(word)) ? rest : schema;
}

/**
 * The outline of an output schema: names, types and the allowed values of texts. Discovery publishes the rest, such as
 * which members are always present; in a list of tools it would cost each client more than all inputs together. A
 * member that may be null has no type, so that both are valid, and a description that says so.
 */
function outline(schema: JsonSchema): JsonSchema {
  const nullable = nullableOf(schema);
  if (nullable !== undefined) return orNull(outline(nullable));
  const kept: JsonSchema = {};
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'type' && Array.isArray(value)) kept.anyOf = value.map((type) => ({ type }));
    else if (OUTLINED.has(name)) kept[name] = withParts(name, value, outline);
  }
  return kept;
}

const OUTLINED = new Set(['type', 'enum', 'properties', 'items', 'anyOf']);

/**
 * The value of a keyword with the schemas in it, if any, converted. Members of an object are passed with their names.
 */
function withParts(
  keyword: string,
  value: unknown,
  convert: (part: JsonSchema, member?: string) => JsonSchema,
): unknown {
  if (keyword === 'properties') {
    const members = Object.entries(value as Record<string, JsonSchema>);
    return Object.fromEntries(members.map(([name, member]) => [name, convert(member, name)]));
  }
  if (keyword === 'items') return convert(value as JsonSchema);
  if (keyword === 'anyOf') return (value as JsonSchema[]).map((part) => convert(part));
  return value;
}

/** The schema of a nullable value without the null; undefined when null is not allowed. */
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

function orNull({ type, anyOf, enum: values, ...rest }: JsonSchema): JsonSchema {
  const words = Array.isArray(anyOf) ? anyOf.map((part: JsonSchema) => part.type).join(', ') : String(type);
  return {
    ...rest,
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
    description: `${words} or null`,
  };
}
