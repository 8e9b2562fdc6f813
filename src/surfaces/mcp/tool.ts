/** MCP tool definitions of operations. Models read them first, so each character costs tokens in every conversation. */

import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { contractOf, type JsonSchema } from '../../operation/contract.js';
import type { GroupedOperation } from '../../operation/operation.js';
import type { ConfirmPolicy } from '../../runtime/config/types.js';
import { isGuarded, usesTokens } from './confirm.js';
import { holdsLongText, TEXT_FROM, takesTextFrom } from './long-texts.js';
import type { NameTools } from './tool-names.js';

/** The server instructions explain it once for all tools. */
const TRUNCATED = { type: 'string' };
const TOKEN_IN = { type: 'string', description: 'From the dry_run of the same call.' };
const TOKEN_OUT = { type: 'string', description: 'Send it with confirm: true once the user has agreed.' };
const FLEET_TOKEN_OUT = { type: 'string', description: 'Send it once the user has agreed.' };

/** @param policy guarded tools show the token when this confirmation policy uses one */
export function toolOf(operation: GroupedOperation, policy: ConfirmPolicy, nameTools: NameTools): Tool {
  const contract = contractOf(operation);
  const { readonly, idempotent, instructions } = contract.annotations;
  const guarded = isGuarded(operation) && usesTokens(policy);
  return {
    name: contract.tool,
    title: contract.title,
    description: nameTools(instructions === '' ? contract.description : `${contract.description} ${instructions}`),
    inputSchema: withMembers(named(contract.input_schema, nameTools), {
      ...(guarded ? { confirmation_token: TOKEN_IN } : {}),
      ...(takesTextFrom(operation) ? { text_from: TEXT_FROM } : {}),
    }),
    outputSchema: withMembers(outlineOf(contract.output_schema), {
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

/**
 * The output schema as listed: its members with their types; objects within it are not spelled out. Whatever the schema allows is valid.
 * Every conversation pays for it, and a model reads the answer itself.
 */
export function outlineOf({ properties }: JsonSchema): JsonSchema {
  const members = Object.entries(properties as Record<string, JsonSchema>);
  return { type: 'object', properties: Object.fromEntries(members.map(([name, member]) => [name, typeIn(member)])) };
}

/** Only the type of a value, and of the items of a list. */
function typeIn({ type, anyOf, items }: JsonSchema): JsonSchema {
  if (anyOf !== undefined) return eitherOf((anyOf as JsonSchema[]).map(typeIn));
  return type === 'array' ? { type, items: typeIn(items as JsonSchema) } : { type };
}

/** A nullable type is one list of types; other choices are named one by one, as strict clients want it. */
function eitherOf(choices: readonly JsonSchema[]): JsonSchema {
  const [one, other, ...more] = choices;
  const nullable = one !== undefined && more.length === 0 && other?.type === 'null' && typeof one.type === 'string';
  return nullable ? { ...one, type: [one.type, 'null'] } : { anyOf: choices };
}

/** Groups whose changes reach sites: clients, tags and jobs are records of our own store. */
const OF_SITES: ReadonlySet<string> = new Set([
  'sites',
  'updates',
  'safety',
  'fleet',
  'guard',
  'monitoring',
  'content',
  'backups',
]);

/** Whether an operation may contact sites. A read is run by the engine only if it does. */
function reachesOut({ engine, effect, group }: GroupedOperation): boolean {
  return engine && (effect === 'read' || OF_SITES.has(group));
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

/** The schema as the converter gives it, with the names of tools in its descriptions. */
function named(schema: JsonSchema, nameTools: NameTools): JsonSchema {
  const withNames = (keyword: string, value: unknown) =>
    keyword === 'description' && typeof value === 'string' ? nameTools(value) : value;
  return JSON.parse(JSON.stringify(schema), withNames) as JsonSchema;
}
