/** The interface description is true: every row is called, and a validator of others holds every answer against it. */

import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAudits } from '../../src/domain/audit-queue.js';
import { createProbe } from '../../src/probe/create.js';
import { routes } from '../../src/rest/index.js';
import { START } from '../harness.js';
import { fakePagespeed } from '../pagespeed.js';
import { type RestApp, restApp } from './client.js';
import { type Recorded, recorder } from './traffic.js';
import * as run from './traffic-run.js';

const DAY = 86_400_000;
let app: RestApp;
let recorded: Recorded[];
// biome-ignore lint/suspicious/noExplicitAny: a document of others' format, read member by member
let openapi: any;

async function addShop(): Promise<number> {
  const url = 'https://shop.brand.co.uk/';
  const site = { url, url_key: 'shop.brand.co.uk', name: 'Shop', client_id: null, tags: [], admin_username: 'admin' };
  const login = {
    ssl_verify: true,
    unique_id: '',
    private_key: 'none',
    regverify: null,
    http_user: null,
    http_pass: null,
  };
  const id = await app.service.store.sites.add({ ...site, ...login }, START, () => []);
  if (id === undefined) throw new Error('the site is there');
  await app.service.store.sites.mark([id], { suspended: true, disconnected: false });
  return id;
}

/** A registry with one record, and nobody behind the shop's address. */
function probe() {
  const real = createProbe({
    allowPrivate: true,
    references: [],
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  const facts = {
    domain_name: 'brand.co.uk',
    registrar: 'Some Registrar',
    registrar_url: null,
    registrar_iana_id: '7',
    creation_date: START - 1000 * DAY,
    updated_date: null,
    expiry_date: START + 20 * DAY,
    domain_status: ['active'],
    name_servers: ['ns.some.example'],
  };
  return { ...real, domain: async () => ({ outcome: 'found' as const, source: 'rdap' as const, facts }) };
}

beforeAll(async () => {
  const google = await fakePagespeed();
  app = await restApp({
    sites: 5,
    probe: probe(),
    jobs: false,
    config: { pagespeed_url: google.url, chromium: '/nowhere/chromium' },
  });
  for (const index of [0, 1, 2]) await app.connect(index);
  const record = recorder(app);
  recorded = record.recorded;
  await run.keys(record);
  await run.sites(record, app);
  await run.oneSite(record);
  await run.comments(record, app);
  await run.updates(record);
  const kept = await run.records(record);
  const shop = await addShop();
  await run.watchers(record, shop);
  await run.audits(record, async () => {
    const ctx = app.service.ctx({
      actor: { type: 'system', id: null, name: 'test', rights: ['read', 'write'], via: 'jobs', denied_sites: [] },
      request_id: 'test',
      signal: new AbortController().signal,
    });
    await runAudits(ctx);
  });
  await run.reports(record);
  await run.time(record);
  await run.settings(record);
  await run.monitors(record, app);
  await run.posts(record);
  await run.removals(record, kept);
  await run.tools(record);
  openapi = (await app.rest('GET /openapi.json', { token: null })).body;
  await google.close();
  await app.close();
  await queued();
}, 60_000);

/** Another server, whose threshold a few sites pass. */
async function queued() {
  app = await restApp({ sites: 2, jobs: false, config: { batch_threshold: 1 } });
  for (const index of [0, 1]) await app.connect(index);
  const record = recorder(app);
  await run.jobs(record);
  recorded.push(...record.recorded);
}

afterAll(() => app.close());

/** As the document itself, so that its references hold. */
function validator() {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  addFormats.default(ajv);
  ajv.addSchema(openapi, 'openapi.json');
  return (path: string, method: string, status: number, type: string) => {
    const { responses } = openapi.paths[path][method.toLowerCase()];
    const steps = ['paths', path, method.toLowerCase(), 'responses'];
    const at = status === 200 ? [...steps, '200'] : ['components', 'responses', 'Error'];
    if (status !== 200) expect(responses.default.$ref).toBe('#/components/responses/Error');
    const pointer = [...at, 'content', type, 'schema'];
    const escaped = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
    return ajv.compile({ $ref: `openapi.json#/${escaped.join('/')}` });
  };
}

describe('the interface description', () => {
  it('is an OpenAPI 3.1 document', async () => {
    const result = await new Validator().validate(structuredClone(openapi));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
  });

  it('has every method of every row, and each of them was answered with success in the run', () => {
    const good = new Set(
      recorded.flatMap(({ method, path, reply }) => (reply.status === 200 ? [`${method} ${path}`] : [])),
    );
    const rows = routes.flatMap(({ on, path }) => on.map((method) => `${method} ${path}`));
    expect(rows.filter((row) => !good.has(row))).toEqual([]);
    const described = Object.entries(openapi.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(rows.sort());
  });

  it('holds for every answer of the run, good and bad', () => {
    const compile = validator();
    const wrong: unknown[] = [];
    for (const { method, path, call, reply } of recorded) {
      const type = reply.headers.get('content-type')?.split(';')[0] ?? '';
      const validate = compile(path, method, reply.status, type);
      if (!validate(reply.body)) wrong.push([call, reply.status, validate.errors?.slice(0, 3)]);
      if (reply.status !== 200) expect(reply.body.data.status).toBe(reply.status);
    }
    expect(wrong).toEqual([]);
    expect(recorded.length).toBeGreaterThan(400);
  });

  it('never answers with a fault of the server', () => {
    const faults = recorded.filter(({ reply }) => reply.body.code === 'svc_internal_error' || reply.status === 500);
    expect(faults.map(({ call, reply }) => [call, reply.status, reply.body])).toEqual([]);
  });

  it('would notice a wrong answer', () => {
    const validate = validator()('/sites/count', 'GET', 200, 'application/json');
    expect(validate({ success: 1, total: 1, count: 1 })).toBe(true);
    expect(validate({ success: 1, total: '1', count: 1 })).toBe(false);
    expect(validate({ success: 1, total: 1, count: 1, more: 1 })).toBe(false);
  });
});
