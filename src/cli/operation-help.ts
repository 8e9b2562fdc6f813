/**
 * The operations for shell users: their list, and the help of one, generated from its schema, with an example that can
 * be run.
 */

import { contractOf, type JsonSchema } from '../operation/contract.js';
import type { GroupedOperation } from '../operation/operation.js';
import { print, printJson, printTable, tableText } from './output.js';

/** `svc/list-sites-v1` as it is typed in the shell. */
export function shortName({ id }: Pick<GroupedOperation, 'id'>): string {
  return id.replace('svc/', '');
}

const CHANGES = { read: 'reads', write: 'changes', destroy: 'deletes' } as const;

export function printOperations(operations: readonly GroupedOperation[], json: boolean): void {
  if (json) {
    printJson(
      operations.map((operation) => ({
        name: shortName(operation),
        id: operation.id,
        group: operation.group,
        effect: operation.effect,
        title: operation.title,
        description: operation.about,
        example: exampleOf(operation),
      })),
    );
    return;
  }
  printTable(
    ['Operation', 'Group', 'Effect', 'What'],
    operations.map((operation) => [shortName(operation), operation.group, CHANGES[operation.effect], operation.title]),
  );
}

export function printOperationHelp(operation: GroupedOperation): void {
  print(operationHelp(operation));
}

/** The purpose of an operation, its inputs, and an example call. */
export function operationHelp(operation: GroupedOperation): string {
  const { input_schema } = contractOf(operation);
  const required = new Set((input_schema.required as string[] | undefined) ?? []);
  const fields = Object.entries((input_schema.properties ?? {}) as Record<string, JsonSchema>);
  const rows = fields.map(([name, schema]) => {
    const type = typeText(schema);
    const description = typeof schema.description === 'string' ? schema.description : '';
    const long = type.length > LONGEST_TYPE;
    const list = schema.type === 'array';
    const words = type.replace(/^list of /, '').replaceAll('|', ', ');
    return [
      `  ${name}`,
      long ? (list ? 'list of words' : 'word') : type,
      required.has(name) ? 'required' : 'default' in schema ? `default ${JSON.stringify(schema.default)}` : '',
      long ? `${description} ${list ? 'Any' : 'One'} of: ${words}.`.trimStart() : description,
    ];
  });
  const { instructions } = operation;
  return [
    `${shortName(operation)}: ${operation.title} (${CHANGES[operation.effect]})`,
    [operation.about, instructions].filter((text) => text !== '').join('\n'),
    rows.length === 0 ? 'Takes no input.' : `Input:\n${tableText(rows)}`,
    `Example:\n  sitefleet call ${shortName(operation)} ${shellWord(JSON.stringify(exampleOf(operation)))}`,
  ].join('\n\n');
}

/** A longer list of words stands at the end of the line instead of widening the column. */
const LONGEST_TYPE = 40;

/** In single quotes, within which a shell interprets nothing but the quote itself. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function typeText(schema: JsonSchema): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => String(value)).join('|');
  if (schema.const !== undefined) return String(schema.const);
  if (Array.isArray(schema.anyOf)) return [...new Set((schema.anyOf as JsonSchema[]).map(typeText))].join('|');
  if (schema.type === 'array') {
    const item = typeText((schema.items ?? {}) as JsonSchema);
    return item === '' ? 'list' : `list of ${item}`;
  }
  return [schema.type]
    .flat()
    .filter((type) => typeof type === 'string')
    .join('|');
}

/** An input that the operation accepts: the required members, and a preview instead of a deletion. */
export function exampleOf(operation: GroupedOperation): Record<string, unknown> {
  const { input_schema } = contractOf(operation);
  const properties = (input_schema.properties ?? {}) as Record<string, JsonSchema>;
  const required = (input_schema.required as string[] | undefined) ?? [];
  // A change names its site.
  const named = 'site_ids_or_domains' in properties && 'site_id_or_domain' in properties ? 'site_ids_or_domains' : '';
  const left = 'change_id' in properties ? 'site_id_or_domain' : named;
  const shown = Object.keys(properties).filter((name) => required.includes(name) || (SHOWN.has(name) && name !== left));
  const entries = shown.map((name) => [name, sampleOf(name, properties[name] ?? {})]);
  const preview = operation.effect === 'destroy' && 'dry_run' in properties ? [['dry_run', true]] : [];
  return Object.fromEntries([...entries, ...preview]) as Record<string, unknown>;
}

/** Not required, but given in most calls, or one of several ways to name what a call is about. */
const SHOWN: ReadonlySet<string> = new Set(['site_id_or_domain', 'site_ids_or_domains', 'admin_password', 'change_id']);

const SAMPLES: Readonly<Record<string, unknown>> = {
  change_id: 'change_0a1b2c3d',
  backup_id: 'backup_0a1b2c3d0a1b2c3d0a1b2c3d',
  url: 'https://example.com/',
  site_id_or_domain: 'example.com',
  site_ids_or_domains: ['example.com'],
  client_id_or_email: 'ada@example.com',
  email: 'ada@example.com',
  price: '12.50',
  client_email: 'ada@example.com',
  admin: 'LOGIN',
  admin_password: 'PASSWORD',
  job_id: 'sync_0a1b2c3d',
};

function sampleOf(name: string, schema: JsonSchema): unknown {
  // Two where one is not enough, as in comparisons.
  if (name === 'site_ids_or_domains' && Number(schema.minItems ?? 0) > 1) return ['example.com', 'example.org'];
  if (Object.hasOwn(SAMPLES, name)) return SAMPLES[name];
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (Array.isArray(schema.anyOf)) return sampleOf(name, (schema.anyOf as JsonSchema[])[0] ?? {});
  if (schema.type === 'array') return [sampleOf(name.replace(/s$/, ''), (schema.items ?? {}) as JsonSchema)];
  if (schema.type === 'integer' || schema.type === 'number') return 1;
  if (schema.type === 'boolean') return true;
  if (schema.type === 'object') return {};
  if (/slug/.test(name)) return 'akismet/akismet.php';
  return `${name.replaceAll('_', ' ')}`;
}
