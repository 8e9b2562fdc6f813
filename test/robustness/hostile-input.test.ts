/**
 * Any input of callers: no crash, no 5xx caused by us, no hang, no change by a refused call, no prototype pollution.
 */

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asServiceError } from '../../src/runtime/errors.js';
import type { Db } from '../../src/store/driver/db.js';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { routes } from '../../src/surfaces/rest/index.js';
import { operations } from '../../tools/index.js';
import { type TestApp, testApp } from '../support/harness.js';
import { newKey } from '../support/logins.js';
import { almost, nasty, nastyText } from './arbitrary.js';
import { SOAK, shortOrLong } from './soak.js';

const SEED = SOAK ? Date.now() % 2 ** 31 : 8;

/** External failures: a site that is not there, a registry that does not answer. */
const OUTSIDE = new Set([
  'svc_connection_failed',
  'svc_site_offline',
  'svc_sync_failed',
  'svc_check_failed',
  'svc_reconnect_failed',
  'svc_child_error',
  'svc_site_refused',
  'svc_domain_lookup_failed',
  'svc_activation_failed',
  'svc_deactivation_failed',
  'svc_update_failed',
  'svc_rest_upgrade_wp_of_site_error',
  'svc_rest_upgrade_plugins_of_site_error',
  'svc_rest_upgrade_themes_of_site_error',
  'svc_rest_upgrade_translations_of_site_error',
]);

/** Refusals that are the result of a check, and are stored as such. */
const FOUND = new Set(['svc_domain_tld_unsupported']);

/** Tables that change by themselves, or with every request. */
const RESTLESS = new Set([
  'lease',
  'schedule_run',
  'action_log',
  'idempotency',
  'mail',
  'site_count',
  'sqlite_sequence',
]);

/** The last digest, and the number of rows its connection, the only one, had changed by then. */
let last = { db: null as Db | null, changes: -1, digest: '' };

async function digest(db: Db): Promise<string> {
  const changes = Number((await db.one('SELECT total_changes() AS n'))?.n);
  if (last.db !== db || last.changes !== changes) last = { db, changes, digest: await digestOf(db) };
  return last.digest;
}

async function digestOf(db: Db): Promise<string> {
  const tables = await db.all(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'site!_search%' ESCAPE '!' ORDER BY name",
  );
  const names = tables.map(({ name }) => String(name)).filter((name) => !RESTLESS.has(name));
  const contents = await db.read(names.map((name) => ({ sql: `SELECT * FROM "${name}"`, args: [] })));
  // The last use of a key does not change its permissions, nor does a new sync of a site change its contents. An answer
  // of the child also clears a failed sync, and with it the status.
  const error = { sync_error: '', sync_error_code: '' };
  const times = { last_access: null, last_sync: null, last_attempt: null, status_since: null };
  const looks = { ...times, ...error, status: '', content_hash: '' };
  const plain = contents.map((rows) => rows.map((row) => ({ ...row, ...looks })));
  return createHash('sha256')
    .update(JSON.stringify([names, plain]))
    .digest('hex');
}

function untouched(): void {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
}

/** Meaningful values for a field of that name. */
const SENSIBLE: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  site_id_or_domain: fc.constantFrom<unknown>(1, '1', 2, 'unknown.example', 99),
  id_or_domain: fc.constantFrom<unknown>('1', '2', 'unknown.example'),
  site_ids_or_domains: fc.array(fc.constantFrom<unknown>(1, 2, 99, 'unknown.example'), { maxLength: 3 }),
  slugs: fc.array(fc.constantFrom('akismet/akismet.php', 'nothing/nothing.php', 'twentytwentyfive'), { maxLength: 3 }),
  slug: fc.constantFrom('akismet/akismet.php', 'platform', 'twentytwentyfive'),
  page: fc.integer({ min: 1, max: 3 }),
  per_page: fc.integer({ min: 1, max: 100 }),
  tag_id: fc.integer({ min: 1, max: 3 }),
  client_id: fc.integer({ min: 1, max: 3 }),
  client_id_or_email: fc.constantFrom<unknown>(1, 'ada@example.com', 99),
  tags: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
  confirm: fc.constant(false),
  dry_run: fc.boolean(),
  job_id: fc.constantFrom('sync_0', 'update_00000000-0000-0000-0000-000000000000'),
  url: fc.constantFrom('http://127.0.0.1:9/', 'http://127.0.0.1:1/blog/'),
  // Reports.
  segment: fc.constantFrom('backups', 'scanner_a', 'analytics_a', 'shop_status', 'plugins', 'nothing'),
  segments: fc.constantFrom('plugins,themes', 'backups', 'uptime,website,nothing', ''),
  format: fc.constantFrom('raw', 'normal', 'json', 'csv', 'html', 'pdf'),
  start_date: fc.constantFrom('2026-01-01', '2026-11-30', '2026-02-30', '1'),
  end_date: fc.constantFrom('2026-12-31', '2025-01-01', '31.12.2026'),
  at: fc.constantFrom('2026-11-20T10:00:00Z', '2026-11-20', '0', '+275760-09-13T00:00:00Z'),
  values: fc.dictionary(fc.constantFrom('name', 'date', 'type', 'status', 'count', '__proto__', '[x]'), nasty, {
    maxKeys: 4,
  }),
};

/** For `POST /sites/batch`: almost valid items, each group with its own kind. */
const batchIds = fc.array(fc.oneof({ weight: 5, arbitrary: fc.constantFrom<unknown>(1, 2, '1', 99) }, nasty), {
  maxLength: 3,
});
const batchItems = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.array(fc.oneof({ weight: 5, arbitrary: almost(fields) }, nasty), { maxLength: 3 });
const BATCH: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  create: batchItems({ url: fc.constant('http://127.0.0.1:9/'), name: nastyText, admin: fc.constant('admin') }),
  update: batchItems({
    id: fc.constantFrom<unknown>(1, '2', 99),
    name: nastyText,
    groupids: batchIds,
    notes: nastyText,
  }),
  ...Object.fromEntries(
    ['delete', 'sync', 'reconnect', 'disconnect', 'suspend', 'unsuspend', 'check'].map((group) => [group, batchIds]),
  ),
};

const newToken = async () => (await newKey(app.service.store.keys)).token;

/** An input as a query string: values other than text are written as JSON. */
function searchOf(input: unknown): string {
  if (typeof input !== 'object' || input === null)
    return encodeURIComponent(String(input).replace(/\p{Surrogate}/gu, '?'));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input).slice(0, 20)) {
    if (Array.isArray(value)) for (const member of value.slice(0, 20)) query.append(`${name}[]`, textOf(member));
    else query.append(name, textOf(value));
  }
  return query.toString();
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, 2000);

const generalValue = fc.oneof(
  fc.constantFrom<unknown>('name', 'active', 'plugin', 'add', 'ignore', '#112233'),
  nastyText,
);

function inputOf(shape: Readonly<Record<string, unknown>>): fc.Arbitrary<Record<string, unknown>> {
  return almost(Object.fromEntries(Object.keys(shape).map((name) => [name, SENSIBLE[name] ?? generalValue])));
}

let app: TestApp;
let http: Hono<HttpEnv>;
let token: string;
let state: string;
const seen = { calls: 0, refused: 0, done: 0, outside: 0 };

beforeAll(async () => {
  app = await testApp({ sites: 2, jobs: false });
  for (let i = 0; i < 2; i++) await app.connect(i);
  await app.call('add-tag', { name: 'one' });
  await app.call('add-client', { name: 'Ada', client_email: 'ada@example.com', selected_sites: [1] });
  http = await app.service.http();
  state = await digest(app.db);
});
afterAll(async () => {
  process.stderr.write(`${JSON.stringify({ seed: SEED, ...seen })}\n`);
});

/** Rules for every outcome. */
async function judge(what: unknown, status: number, code: string, message: string): Promise<void> {
  seen.calls++;
  untouched();
  if (status < 400) seen.done++;
  else if (status >= 500 && status !== 501) {
    expect([what, code, message, OUTSIDE.has(code)]).toEqual([what, code, message, true]);
    seen.outside++;
  } else seen.refused++;
  const now = await digest(app.db);
  if (status >= 400 && status < 500 && !FOUND.has(code))
    expect([what, code, now === state]).toEqual([what, code, true]);
  state = now;
}

describe('every operation', () => {
  // Deletions come last, or the others would find nothing.
  const order = [...operations].sort((a, b) => Number(a.effect === 'destroy') - Number(b.effect === 'destroy'));
  it.each(order.map((operation) => [operation.id.replace(/^svc\/|-v1$/g, ''), operation] as const))(
    '%s',
    async (name, operation) => {
      await fc.assert(
        fc.asyncProperty(fc.oneof({ weight: 9, arbitrary: inputOf(operation.input().shape) }, nasty), async (input) => {
          const outcome = await app.call(name, input).then(
            () => ({ status: 200, code: '', message: '' }),
            (error: unknown) => asServiceError(error),
          );
          await judge([name, input], outcome.status, outcome.code, outcome.message);
        }),
        { numRuns: shortOrLong(25, 600), seed: SEED, endOnFailure: true },
      );
    },
  );
});

describe('every REST row', () => {
  const segment = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('1', '2') },
    fc.constantFrom('99', 'sync_0', 'general', 'backups', 'unknown.example', 'ada%40example.com'),
    nastyText.map((text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '?')) || '0'),
  );
  // Removals come last, or the others would find nothing.
  const removes = (row: (typeof routes)[number]) => row.on.includes('DELETE') || row.path.endsWith('/batch');
  const rows = [...routes].sort((a, b) => Number(removes(a)) - Number(removes(b)));
  it('takes anything', async () => {
    for (const row of rows) {
      // A previous row may have removed the key.
      token = await newToken();
      state = await digest(app.db);
      const batch = row.path.endsWith('/batch');
      const good = batch ? almost(BATCH) : inputOf(row.params().shape);
      const body = fc.oneof({ weight: 9, arbitrary: good }, nasty);
      const parts = fc.array(segment, { minLength: row.pathParams.length, maxLength: row.pathParams.length });
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...row.on),
          parts,
          body,
          fc.boolean(),
          async (method, values, input, query) => {
            let at = 0;
            const path = row.path.replace(/\{\w+\}/g, () => values[at++] ?? '0');
            const asQuery = method === 'GET' || query;
            const search = asQuery ? `?${searchOf(input)}` : '';
            const reply = await http.request(`http://127.0.0.1/v2${path}${search}`, {
              method,
              headers: { Authorization: `Bearer ${token}`, ...(asQuery ? {} : { 'Content-Type': 'application/json' }) },
              ...(asQuery ? {} : { body: JSON.stringify(input) }),
            });
            const text = await reply.text();
            const answer = (text.startsWith('{') ? JSON.parse(text) : {}) as { code?: string; message?: string };
            // Also for one item among many.
            expect([row.key, input, text.includes('svc_internal_error')]).toEqual([row.key, input, false]);
            await judge([row.key, path, search, input], reply.status, answer.code ?? '', answer.message ?? '');
          },
        ),
        { numRuns: shortOrLong(batch ? 20 : 5, 150), seed: SEED, endOnFailure: true },
      );
    }
  }, 3_000_000);
});
