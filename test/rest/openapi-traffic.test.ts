/**
 * The interface description is accurate: every row is called, and a third-party validator checks every answer against
 * it.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { beforeAll, describe, expect, it } from 'vitest';
import { deliverAlerts } from '../../src/domain/alerts/deliveries.js';
import { runAudits } from '../../src/domain/audits/queue.js';
import { refreshVulnerabilities } from '../../src/domain/vulnerabilities/refresh.js';
import { createProbe } from '../../src/outbound/probe/create.js';
import { routes } from '../../src/surfaces/rest/index.js';
import type { Route } from '../../src/surfaces/rest/route.js';
import { bareSite } from '../support/bare-site.js';
import { tempFolder } from '../support/cleanup.js';
import { START, SYSTEM } from '../support/harness.js';
import { fakePagespeed } from '../support/pagespeed.js';
import { receiver } from '../support/receiver.js';
import { feedText } from '../vulnerabilities/feed.js';
import { type RestApp, restApp } from './client.js';
import { schemaCoverage } from './schema-coverage.js';
import { type Recorded, recorder } from './traffic.js';
import { fullAndEmpty } from './traffic-full.js';
import * as run from './traffic-run.js';

const DAY = 86_400_000;
const EXERCISED: ReadonlySet<string> = new Set(['perf-audit', 'pro-reports', 'time-tracker']);
let app: RestApp;
let recorded: Recorded[];
/** Routes of the run that are in the log, and of those whose change is. */
const logged = new Set<unknown>();
const told = new Set<unknown>();
// biome-ignore lint/suspicious/noExplicitAny: a document of others' format, read member by member
let openapi: any;

async function addShop(): Promise<number> {
  const url = 'https://shop.brand.co.uk/';
  const id = await app.service.store.sites.add(bareSite(url, { name: 'Shop' }), START, () => []);
  if (id === undefined) throw new Error('the site is there');
  await app.service.store.sites.mark([id], { suspended: true, disconnected: false });
  return id;
}

/** A probe with a registry that has one record, and no server at the shop's address. */
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
  const feed = join(tempFolder('feed'), 'feed.json');
  app = await restApp({
    sites: 5,
    probe: probe(),
    jobs: false,
    config: { pagespeed_url: google.url, chromium: '/nowhere/chromium', vulnerability_feed: feed },
  });
  for (const index of [0, 1, 2]) await app.connect(index);
  const record = recorder(app);
  recorded = record.recorded;
  await run.keys(record);
  await run.users(record);
  await run.approvals(record, app);
  await run.sites(record, app);
  await run.oneSite(record);
  await run.comments(record, app);
  await run.updates(record);
  const kept = await run.records(record);
  const shop = await addShop();
  await run.watchers(record, shop);
  const ctx = app.ctx({ actor: SYSTEM });
  await run.audits(record, app, () => runAudits(ctx));
  await run.reports(record);
  await run.time(record);
  await run.settings(record);
  await run.monitors(record, app);
  const hook = await receiver();
  await run.alertRecipients(record, hook.url, () => deliverAlerts(ctx));
  await hook.close();
  await run.posts(record);
  await run.guidance(record, app);
  await run.safety(record, app);
  await run.vulnerabilities(record, app, async (entries) => {
    writeFileSync(feed, feedText(entries));
    expect(await refreshVulnerabilities(ctx)).toMatchObject({ outcome: 'read' });
  });
  await run.removals(record, kept);
  await run.tools(record);
  await noteLogged();
  openapi = (await app.rest('GET /openapi.json', { token: null })).body;
  await app.close();
  await largest();
  await queued();
});

/** Another server, with manually filled data. */
async function largest() {
  app = await restApp({ sites: 2, jobs: false, config: { chromium: '/nowhere/chromium' } });
  for (const index of [0, 1]) await app.connect(index);
  const record = recorder(app);
  await fullAndEmpty(record, app);
  recorded.push(...record.recorded);
  await app.close();
}

/** Another server, whose threshold a few sites exceed. */
async function noteLogged() {
  const calls = await app.db.all("SELECT DISTINCT operation FROM action_log WHERE action = 'called'");
  for (const { operation } of calls) logged.add(operation);
  const changes = await app.db.all("SELECT DISTINCT operation FROM action_log WHERE context <> 'call'");
  for (const { operation } of changes) told.add(operation);
}

async function queued() {
  app = await restApp({ sites: 2, jobs: false, config: { batch_threshold: 1 } });
  for (const index of [0, 1]) await app.connect(index);
  const record = recorder(app);
  await run.jobs(record);
  await run.refusals(record, app);
  recorded.push(...record.recorded);
  await noteLogged();
}

/** Compiled as part of the document, so that its references resolve. */
function validator() {
  // Without optimization of the generated code, which takes longer than validating the answers.
  const ajv = new Ajv2020({ strict: false, validateFormats: true, code: { optimize: false } });
  addFormats.default(ajv);
  ajv.addSchema(openapi, 'openapi.json');
  const known = new Map<string, ValidateFunction>();
  return (path: string, method: string, status: number, type: string) => {
    const key = [path, method, status, type].join(' ');
    const steps = ['paths', path, method.toLowerCase(), 'responses'];
    const at = status === 200 ? [...steps, '200'] : ['components', 'responses', `Error${status}`];
    const pointer = [...at, 'content', type, 'schema'];
    const escaped = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
    const validate = known.get(key) ?? ajv.compile({ $ref: `openapi.json#/${escaped.join('/')}` });
    known.set(key, validate);
    return validate;
  };
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function answerOf({ path, on: [method = 'GET'] }: Pick<Route, 'path' | 'on'>): any {
  return openapi.paths[path][method.toLowerCase()].responses['200'].content['application/json'].schema;
}

/** The schema without the members that any answer may have. */
// biome-ignore lint/suspicious/noExplicitAny: as above
function ownPart(schema: any): any {
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: schema.anyOf.map(ownPart) };
  const shared = ['message', 'errors', 'site'].filter((name) => !schema.required.includes(name));
  const own = Object.entries(schema.properties).filter(([name]) => !shared.includes(name));
  return { ...schema, additionalProperties: true, properties: Object.fromEntries(own) };
}

/** Some segments always have a note, others never. */
const EXCUSED = /\.notes\[\]/;

it('every row that changes something is in the log', () => {
  const silent = routes.filter(({ key, on }) => !on.includes('GET') && !logged.has(key)).map(({ key }) => key);
  expect(silent.sort()).toEqual([
    // Off unless the operator allows it: nothing is done then.
    'POST /backups/{backup_id}/drill',
    'POST /policies/preview',
    // These two never change anything.
    'POST /settings/tools/clear-activation-data',
    'POST /settings/tools/restore-info-messages',
    // A plan is a note of a reading call.
    'POST /updates/plans',
    // In the run there is nothing to update any more.
    'POST|PUT|PATCH /updates/{id_or_domain}/update/translations',
  ]);
});

it('what a row changes is in the log, so that undo by time can name it', () => {
  const silent = routes.filter(
    ({ key, on, change }) => !on.includes('GET') && change !== 'refresh' && logged.has(key) && !told.has(key),
  );
  expect(silent.map(({ key }) => key).sort()).toEqual([
    // A plan is a note of a reading call.
    'DELETE /updates/plans/{plan_id}',
    // A preview in the run.
    'POST /actions/undo',
    // Messages that were sent.
    'POST /alerts/deliveries/{delivery_id}/resend',
    'POST /alerts/recipients/test',
    'POST /alerts/recipients/{recipient_id}/test',
    // In the run there is nothing to update any more.
    'POST /runs/{run_id}/retry',
    // Jobs, which tell what they do on each site, and do not run here.
    'POST /settings/tools/destroy-sessions',
    'POST /settings/tools/disconnect-all-sites',
    'POST /settings/tools/renew-connections',
    // In the run there is nothing to update any more.
    'POST /sites/{id_or_domain}/safe-update',
  ]);
});

describe('the interface description', () => {
  it('is an OpenAPI 3.1 document', async () => {
    const result = await new Validator().validate(structuredClone(openapi));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
  });

  it('gives examples that fit what they are examples of', () => {
    const compile = validator();
    const wrong: unknown[] = [];
    let examples = 0;
    for (const [path, methods] of Object.entries(openapi.paths as Record<string, object>))
      for (const [method, { responses }] of Object.entries(methods)) {
        const example = responses['200'].content['application/json']?.example;
        if (example === undefined) continue;
        examples++;
        const validate = compile(path, method, 200, 'application/json');
        if (!validate(example)) wrong.push([method, path, validate.errors]);
      }
    expect(wrong).toEqual([]);
    expect(examples).toBeGreaterThan(50);
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

  it('says of every row what it answers, member by member', () => {
    const vague = routes.filter(({ path, on, streams }) => {
      if (streams !== undefined) return false;
      const answer = answerOf({ path, on });
      const forms: { required?: string[]; additionalProperties?: unknown }[] = answer.anyOf ?? [answer];
      // More than a mere success flag.
      return forms.some((form) => (form.required ?? []).length < 2 || form.additionalProperties !== false);
    });
    expect(vague.map(({ key }) => key)).toEqual([]);
  });

  it('says of every list what it holds, also of one that is always empty', () => {
    const untyped: string[] = [];
    const walk = (value: unknown, at: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const { type, items } = value as { type?: unknown; items?: object };
      if (type === 'array' && (items === undefined || 'not' in items)) untyped.push(at);
      for (const [name, part] of Object.entries(value)) if (name !== 'example') walk(part, `${at}/${name}`);
    };
    walk({ paths: openapi.paths, schemas: openapi.components.schemas }, '');
    expect(untyped).toEqual([]);
  });

  it('holds for every answer of the run, good and bad', () => {
    const compile = validator();
    const wrong: unknown[] = [];
    for (const { method, path, call, reply } of recorded) {
      const refused = openapi.paths[path][method.toLowerCase()].responses[reply.status]?.$ref;
      if (reply.status !== 200 && refused !== `#/components/responses/Error${reply.status}`) {
        wrong.push([call, reply.status, reply.body.code, 'is not described']);
        continue;
      }
      const type = reply.headers.get('content-type')?.split(';')[0] ?? '';
      const validate = compile(path, method, reply.status, type);
      if (!validate(reply.body)) wrong.push([call, reply.status, validate.errors?.[0]]);
      if (reply.status !== 200) expect(reply.body.data.status).toBe(reply.status);
    }
    expect(wrong).toEqual([]);
    expect(recorded.length).toBeGreaterThan(400);
  });

  it('names nothing that no answer of the run had', () => {
    const { see, gaps } = schemaCoverage((ref) => openapi.components.schemas[ref.split('/').at(-1) ?? '']);
    for (const row of routes.filter(({ module }) => module !== undefined && EXERCISED.has(module))) {
      const bodies = recorded
        .filter(({ method, path, reply }) => path === row.path && row.on.includes(method) && reply.status === 200)
        .filter(({ reply }) => reply.headers.get('content-type')?.startsWith('application/json'))
        .map(({ reply }) => reply.body);
      see(ownPart(answerOf(row)), bodies, row.key);
    }
    expect(gaps().filter((gap) => !EXCUSED.test(gap))).toEqual([]);
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
