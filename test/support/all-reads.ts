/** Every read of every way in, once with each value of each filter and order that it has: for tests of what reads cost. */

import type { z } from '../../schemas/zod.js';

export interface Read {
  /** The id of the operation or the key of the route. */
  of: string;
  input: Record<string, unknown>;
}

/** Values where the schema names none; they exist in the large fleet. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  page: [40],
  search: ['market', 'a'],
  cursor: [''],
  site_id_or_domain: [7, 'garage-1.example'],
  id_or_domain: ['7'],
  site_ids_or_domains: [[1, 2, 3]],
  client_id_or_email: [3],
  id_or_email: ['3'],
  site: [7],
  client: [3],
  tag: ['Tag 3'],
  slug: ['plugin-1/plugin-1.php'],
  exclude_slugs: [['plugin-1/plugin-1.php']],
  plugin: ['plugin-1'],
  theme: ['theme-1'],
  version_below: ['3.0'],
  version_from: ['3.0'],
  wp_below: ['6.5'],
  php_below: ['8.2'],
  child_below: ['6.1.2'],
  since: ['2026-06-01T00:00:00Z'],
  until: ['2026-11-01T00:00:00Z'],
  start_date: ['2026-10-01'],
  end_date: ['2026-11-20'],
  dtsstart: ['2026-10-01'],
  dtsstop: ['2026-11-20'],
  by: ['ada'],
  actor: ['ada'],
  kinds: [['plugin']],
  exclude_kinds: [['user']],
  contexts: [['plugin']],
  actions: [['updated']],
  action: ['updated'],
  item: ['Item 1'],
  new_role: ['administrator'],
  vulnerable: ['core', true, false],
  operation: ['svc/sync-sites-v1', 'svc/never-called-v1'],
  request_id: ['r5'],
  period: ['30d'],
  job_id: ['sync_1'],
  run_id: ['run_1'],
  rollout_id: ['rollout_1'],
  policy_id: [1],
  approval_id: ['apr_000000000000000000000001'],
  destroy_id: ['destroy_1'],
  renew_id: ['renew_1'],
  disconnect_id: ['disconnect_1'],
  after: [50_000],
  id: [500],
  hash: ['0'.repeat(64)],
};

/** What each option is combined with in turn: some need another, and some change what others cost. */
const BESIDE: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  'svc/search-fleet-v1': [{}, { plugin: 'plugin-1' }],
  'svc/build-report-v1': [{ client_id_or_email: 3, start_date: '2026-10-01', end_date: '2026-11-20' }],
  'svc/list-time-tasks-v1': [{}, { start_date: '2026-10-01', end_date: '2026-11-20' }],
  'GET /time-tracker': [{}, { dtsstart: '2026-10-01', dtsstop: '2026-11-20' }],
  'GET /actions/verify': [{}, { id: 500, hash: '0'.repeat(64) }],
};

function definition(schema: z.ZodTypeAny) {
  // biome-ignore lint/suspicious/noExplicitAny: schemas of any kind are looked into
  return schema._def as any;
}

/** Without what wraps it. */
function inner(schema: z.ZodTypeAny): z.ZodTypeAny {
  const { innerType, schema: wrapped, in: first } = definition(schema);
  const next = innerType ?? wrapped ?? first;
  return next === undefined ? schema : inner(next);
}

function valuesOf(name: string, schema: z.ZodTypeAny): readonly unknown[] {
  const bare = inner(schema);
  const { typeName, values, type, options, checks = [] } = definition(bare);
  if (name === 'per_page')
    return checks.flatMap((check: { kind: string; value: number }) => (check.kind === 'max' ? [check.value] : []));
  if (typeName === 'ZodEnum') return values;
  if (typeName === 'ZodBoolean') return [true, false];
  const named = VALUES[name];
  if (named !== undefined && !(typeName === 'ZodArray' && definition(inner(type)).typeName === 'ZodEnum')) return named;
  if (typeName === 'ZodArray') return valuesOf(name, type).map((value) => [value]);
  if (typeName === 'ZodUnion') return valuesOf(name, options[0]);
  if (typeName === 'ZodNumber') return [7];
  throw new Error(`There is no example of ${name}.`);
}

/** The reads of one operation or route: bare, and with each of its options alone. */
export function readsOf(of: string, shape: z.ZodRawShape, needed: readonly string[] = []): Read[] {
  const names = Object.keys(shape);
  const required = names.filter((name) => needed.includes(name) || !(shape[name] as z.ZodTypeAny).isOptional());
  const first = Object.fromEntries(required.map((name) => [name, valuesOf(name, shape[name] as z.ZodTypeAny)[0]]));
  return (BESIDE[of] ?? [{}]).flatMap((beside) => {
    const base = { ...first, ...beside };
    const reads: Read[] = [{ of, input: base }];
    for (const name of names) {
      if (name in base && !required.includes(name)) continue;
      for (const value of valuesOf(name, shape[name] as z.ZodTypeAny)) {
        const orders = name === 'orderby' ? ['asc', 'desc'] : [undefined];
        for (const order of orders) reads.push({ of, input: { ...base, [name]: value, ...(order && { order }) } });
      }
    }
    return reads;
  });
}
