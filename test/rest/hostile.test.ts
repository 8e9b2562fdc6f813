/** Odd input to every parameter of every row: refused or accepted, never an internal error. */

import { beforeAll, expect, it } from 'vitest';
import { jsonSchema } from '../../src/operation/contract.js';
import { routes } from '../../src/surfaces/rest/index.js';
import type { Route } from '../../src/surfaces/rest/route.js';
import { SOAK } from '../robustness/soak.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
beforeAll(async () => {
  app = await restApp({ sites: 2, jobs: false, config: { chromium: '/nowhere/chromium' } });
  for (const index of [0, 1]) await app.connect(index);
  await app.call('add-client', { name: 'Example', client_email: 'office@example.com' });
  await app.call('add-tag', { name: 'Shops' });
  await app.rest('POST /costs/add', { body: { name: 'Hosting', price: '5', renewal_type: 'monthly', sites: [1] } });
  await app.rest('POST /time-tracker/tasks/add', { body: { title: 'Work', site_ids: [1] } });
  await app.rest('POST /time-tracker/buckets/add', { body: { title: 'Care', hours: 3 } });
});

const deep = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) as unknown;
/** Ended the process: SQLite's JSON functions make bytes of it that are no text. */
const HALF_A_PAIR = '\ud800';
/** By kind. The short run tries every parameter with half a pair and a sixth of the others in turn, `npm run soak` with all. */
const ODD: readonly (readonly unknown[])[] = [
  [null, true],
  ['', ' '],
  [0, -1, 1.5, 1e308, 9_007_199_254_740_992, 99_999_999_999_999],
  ['x'.repeat(70_000), deep],
  ['\u0000', 'a\u0000b', HALF_A_PAIR, '١'],
  ['%', '%00%ff', "'; DROP TABLE site; --", '%_\\'],
  ['__proto__', 'constructor', '../../etc/passwd', 'NaN'],
  ['0001-01-01', '9999-12-31', '2026-02-30', '1e9', '-0'],
  [[], [null], [[1]], ['__proto__', '\ud800']],
  [{}, { a: 1 }, { toString: 1 }],
];

let turn = 0;
function oddValues(): unknown[] {
  turn++;
  return ODD.flatMap((kind) =>
    kind.filter((value, index) => SOAK || value === HALF_A_PAIR || (index + turn) % 6 === 0),
  );
}

/** Values for which a row finds something. */
const FITTING: Record<string, unknown> = {
  id_or_domain: 1,
  id_or_email: 1,
  task_id: 1,
  bucket_id: 1,
  tag_id: 1,
  cost_id: 1,
  key_identifier: 1,
  id_comment: 1,
  post_id: 1,
  mail_type: 'uptime',
  api_slug: 'vultr',
  slug: 'paypal',
  segment: 'backups',
  start_date: '2026-11-01',
  end_date: '2026-11-20',
  dtsstart: '2026-11-01',
  dtsstop: '2026-11-20',
  title: 'A title',
  name: 'A name',
  hours: 1,
  price: '1',
  renewal_type: 'monthly',
  action: 'approve',
  comment_ids: [1],
  status: 'publish',
  post_title: 'T',
  post_content: 'C',
  post_status: 'draft',
  post_name: 'n',
  values: { type: 'full' },
  permissions: 'read',
  active: true,
  admin: 'admin',
  url: 'http://127.0.0.1:9/',
};

const LONE = /\p{Surrogate}/gu;

/** Run last: these remove data the others need. */
const LATE = /remove$|delete|disconnect|suspend|update\b/;

function propertiesOf(route: Route) {
  const schema = jsonSchema(route.params());
  return {
    names: Object.keys((schema.properties ?? {}) as object),
    required: new Set((schema.required ?? []) as string[]),
  };
}

async function send(route: Route, values: Record<string, unknown>) {
  const [method = 'GET'] = route.on;
  const inPath = new Set(route.pathParams);
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    // A lone surrogate cannot be percent-encoded by a client either.
    return encodeURIComponent(text.replace(LONE, '?')) || '%20';
  });
  const own = Object.entries(values).filter(([name]) => !inPath.has(name));
  if (method !== 'GET' && method !== 'DELETE') return app.rest(`${method} ${path}`, { body: Object.fromEntries(own) });
  const query = new URLSearchParams();
  for (const [name, value] of own) query.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  return app.rest(`${method} ${path}?${query}`);
}

it('no odd value of any parameter makes a fault', async () => {
  const faults: unknown[] = [];
  let calls = 0;
  const ordered = [...routes].sort((a, b) => Number(LATE.test(a.path)) - Number(LATE.test(b.path)));
  for (const route of ordered) {
    const { names, required } = propertiesOf(route);
    const base = Object.fromEntries(
      names.filter((name) => required.has(name)).map((name) => [name, FITTING[name] ?? 1]),
    );
    for (const name of names) {
      for (const odd of oddValues()) {
        const long = typeof odd === 'string' && odd.length > 5_000;
        if (long && (route.pathParams.includes(name) || route.on.includes('GET'))) continue;
        const { status, body } = await send(route, { ...base, [name]: odd });
        calls++;
        if (status === 500)
          faults.push([route.key, name, typeof odd === 'string' ? odd.slice(0, 40) : odd, body.message]);
      }
    }
  }
  expect(faults).toEqual([]);
  expect(calls).toBeGreaterThan(SOAK ? 10_000 : 1_500);
});

const TYPES = ['application/json', 'application/x-www-form-urlencoded', 'text/plain', 'application/'];
/** The short run sends each body as JSON, and as one of the other types in turn. */
const typesInTurn = () => TYPES.filter((_, index) => SOAK || index === 0 || index === 1 + (turn % 3));
const BODIES = ['', ' ', '{', '[]', '[1]', 'null', '1', '"x"', '{"__proto__":{"a":1}}', '\ufeff{}', '{"a":1}{"b":2}'];

it('no odd body of any row makes a fault', async () => {
  const faults: unknown[] = [];
  for (const route of routes.filter(({ on }) => !on.includes('GET'))) {
    const [method = 'POST'] = route.on;
    const path = route.path.replace(/\{\w+\}/g, '999');
    for (const body of BODIES) {
      turn++;
      for (const type of typesInTurn()) {
        // Without filters these mean every site, which is a valid request.
        if (!route.path.includes('{') && body.trim() === '') continue;
        const reply = await app.rest(`${method} ${path}`, { body, headers: { 'Content-Type': type } });
        if (reply.status === 500 || reply.body?.code === 'svc_internal_error')
          faults.push([route.key, body, type, reply.body]);
      }
    }
  }
  expect(faults).toEqual([]);
});
