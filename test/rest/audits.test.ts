import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { runAudits } from '../../src/domain/audits/queue.js';
import { MOST_BROWSERS } from '../../src/outbound/audit/browser.js';
import { createAuditor } from '../../src/outbound/audit/create.js';
import { outcomeOf } from '../../src/outbound/audit/result.js';
import { Slots } from '../../src/runtime/slots.js';
import { tempFolder } from '../support/cleanup.js';
import { SYSTEM } from '../support/harness.js';
import { installedLighthouse } from '../support/lighthouse.js';
import { listenLocally } from '../support/local-server.js';
import { needs } from '../support/needs.js';
import { type FakePagespeed, fakePagespeed, googleError, result } from '../support/pagespeed.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
let google: FakePagespeed;

beforeEach(async () => {
  google = await fakePagespeed();
  // A Lighthouse path that does not exist: these tests never run a real audit.
  app = await restApp({
    sites: 3,
    config: { pagespeed_url: google.url, lighthouse: '/nowhere/lighthouse', chromium: '/nowhere/chromium' },
  });
});

const KEY = 'AIza-secret-key-0123456789';
const configure = (more: object = {}) => app.rest('PUT /perf-audit/settings/edit', { body: { api_key: KEY, ...more } });
const ctx = (signal?: AbortSignal) => app.ctx({ actor: SYSTEM, signal });
const result_ = async (site: number, query = '') =>
  (await app.rest(`GET /perf-audit/results/${site}${query}`)).body.data;
const DAY = 24 * 3_600_000;

describe('without an engine', () => {
  test('an audit is refused, saying what to install or set', async () => {
    const site = await app.connect(0);
    for (const call of ['POST /perf-audit/audit', `POST /perf-audit/audit/${site}`]) {
      const { status, body } = await app.rest(call);
      expect(status).toBe(409);
      expect(body).toMatchObject({ success: 0, code: 'svc_perf_audit_not_configured' });
      expect(body.data.advice).toContain('PUT /v2/perf-audit/settings/edit');
      expect(body.data.advice).toContain('SITEFLEET_LIGHTHOUSE');
    }
    expect((await app.rest('GET /perf-audit/settings')).body.data).toMatchObject({ engine_in_use: null, api_key: '' });
  });

  test('results are empty, not invented', async () => {
    const site = await app.connect(0);
    expect((await app.rest('GET /perf-audit/results')).body).toMatchObject({ success: 1, total: 0, data: {} });
    expect(await result_(site)).toMatchObject({
      id: site,
      desktop: null,
      mobile: null,
      status: null,
      error: null,
      history: [],
    });
  });

  test('the module can be off', async () => {
    const off = await restApp({ sites: 1, config: { modules: ['logs'] } });
    const { status, body } = await off.rest('GET /perf-audit/results');
    expect([status, body.code, body.data.module]).toEqual([501, 'svc_module_not_available', 'perf-audit']);
  });
});

test('a filter that matches no site is refused, and audits nothing', async () => {
  const site = await app.connect(0);
  await configure();
  for (const body of [
    { include: '' },
    { include: [] },
    { exclude: '' },
    { include: '99' },
    { include: site, exclude: site },
  ]) {
    const reply = await app.rest('POST /perf-audit/audit', { body });
    expect([body, reply.status, reply.body.code]).toEqual([body, 400, 'svc_invalid_input']);
  }
  expect(await result_(site)).toMatchObject({ status: null });
  expect((await app.rest('POST /perf-audit/audit', { body: { include: site } })).body.data).toEqual({
    [site]: 'queued',
  });
});

describe('the settings', () => {
  test('the key is sealed in storage, masked in answers, and kept when its mask comes back', async () => {
    const made = (await configure()).body;
    expect(made.data).toMatchObject({
      api_key: '****6789',
      engine_in_use: 'pagespeed',
      strategy: 'both',
      schedule: 'none',
    });
    expect(JSON.stringify(await app.db.all('SELECT * FROM setting'))).not.toContain(KEY);
    await app.rest('PATCH /perf-audit/settings/edit', { body: { api_key: '****6789', threshold: 50 } });
    expect((await app.rest('GET /perf-audit/settings')).body.data).toMatchObject({
      engine_in_use: 'pagespeed',
      threshold: 50,
    });
    await app.rest('PATCH /perf-audit/settings/edit', { body: { api_key: null, threshold: null } });
    expect((await app.rest('GET /perf-audit/settings')).body.data).toMatchObject({
      engine_in_use: null,
      api_key: '',
      threshold: 0,
    });
  });

  test.each([
    [{ engine: 'magic' }, 'engine'],
    [{ language: 'english!' }, 'language'],
    [{ schedule: 'hourly' }, 'schedule'],
    [{ threshold: 101 }, 'threshold'],
    [{ colour: 1 }, 'colour'],
  ])('%j is refused by name', async (body, name) => {
    const reply = await app.rest('PUT /perf-audit/settings/edit', { body });
    expect(reply).toMatchObject({ status: 400, body: { code: 'rest_invalid_param' } });
    expect(reply.body.data.params).toHaveProperty(name);
  });
});

describe('an audit', () => {
  test('is queued once, measured for both screens, and read back in our words', async () => {
    await configure({ language: 'pt-BR' });
    const site = await app.connect(0);
    const first = await app.rest(`POST /perf-audit/audit/${site}`);
    expect(first.body).toMatchObject({
      success: 1,
      data: { status: 'queued', already_queued: false },
      site: { id: site },
    });
    expect((await app.rest(`POST /perf-audit/audit/${site}`)).body.data).toMatchObject({ already_queued: true });
    expect(await result_(site)).toMatchObject({ status: 'pending', desktop: null });

    expect(await runAudits(ctx())).toBe('0 queued by schedule, 2 audited, 0 not');
    const { url } = app.fleet.site(0);
    expect(google.asked).toEqual(
      ['desktop', 'mobile'].map((strategy) => ({
        url,
        strategy,
        key: KEY,
        locale: 'pt-BR',
        categories: ['performance', 'accessibility', 'best-practices', 'seo'],
      })),
    );
    const found = await result_(site);
    expect(found).toMatchObject({
      status: 'completed',
      error: null,
      strategy: 'both',
      override: false,
      desktop: {
        score: 88,
        seo: 92,
        accessibility: 90,
        best_practices: 100,
        response_code: 200,
        engine: 'pagespeed',
        last_modified: '2026-11-20T12:00:00Z',
      },
    });
    expect(found.mobile.lab_data).toEqual({
      first_contentful_paint: { value: 912, unit: 'ms', score: 0.99, display: '0.9 s' },
      largest_contentful_paint: { value: 2501, unit: 'ms', score: 0.9, display: '2.5 s' },
      speed_index: { value: 1400, unit: 'ms', score: 0.97, display: '1.4 s' },
      total_blocking_time: { value: 0, unit: 'ms', score: 1, display: '0 ms' },
      cumulative_layout_shift: { value: 0.1235, unit: '', score: 0.7, display: '0.123' },
      time_to_interactive: { value: 2600, unit: 'ms', score: 0.95, display: '2.6 s' },
    });
    expect(found.mobile.others_data.map((item: { id: string; group: string }) => [item.id, item.group])).toEqual([
      ['image-alt', 'a11y-names-labels'],
      ['unused-javascript', 'diagnostics'],
      ['cumulative-layout-shift', 'metrics'],
    ]);
    expect(found.mobile.others_data[0].description).toBe(
      'Informative elements should aim for short, descriptive text. Learn more.',
    );
    expect(found.history).toHaveLength(2);
  });

  test('one at a time, however many wait; scores build up over time', async () => {
    await configure();
    const ids = [await app.connect(0), await app.connect(1), await app.connect(2)];
    await app.call('suspend-site', { site_id_or_domain: ids[2] });
    const reply = (await app.rest('POST /perf-audit/audit', { body: { strategy: 'mobile' } })).body;
    expect(reply).toMatchObject({
      total: 3,
      data: { [String(ids[0])]: 'queued', [String(ids[1])]: 'queued', [String(ids[2])]: 'skipped' },
    });
    expect(reply.message).toContain('2 of 3');
    expect(reply.already_queued).toEqual([]);
    const again = (await app.rest('POST /perf-audit/audit', { body: { strategy: 'mobile', include: ids[0] } })).body;
    expect(again).toMatchObject({ success: 1, data: { [String(ids[0])]: 'queued' }, already_queued: [ids[0]] });
    await Promise.all([runAudits(ctx()), runAudits(ctx())]);
    expect([google.asked.length, google.peak()]).toEqual([2, 1]);

    app.clock.move(DAY);
    google.score = 0.4;
    await app.rest(`POST /perf-audit/audit/${ids[0]}?strategy=mobile`);
    await runAudits(ctx());
    const found = await result_(ids[0] as number, '?strategy=mobile');
    expect(found.desktop).toBeNull();
    expect(found.history.map(({ at, performance }: { at: string; performance: number }) => [at, performance])).toEqual([
      ['2026-11-21T12:00:00Z', 40],
      ['2026-11-20T12:00:00Z', 88],
    ]);
    const list = (await app.rest(`GET /perf-audit/results?exclude=${ids[0]}&per_page=1`)).body;
    expect(list).toMatchObject({ total: 1, data: { [String(ids[1])]: { mobile: { score: 88 } } } });
    expect((await app.rest('GET /perf-audit/results?search=nothing-like-it')).body.total).toBe(0);
  });

  test('of a suspended or disconnected site is refused', async () => {
    await configure();
    const site = await app.connect(0);
    await app.call('suspend-site', { site_id_or_domain: site });
    expect(await app.rest(`POST /perf-audit/audit/${site}`)).toMatchObject({
      status: 409,
      body: { code: 'svc_site_suspended' },
    });
    await app.call('unsuspend-site', { site_id_or_domain: site });
    await app.call('disconnect-site', { site_id_or_domain: site });
    expect(await app.rest(`POST /perf-audit/audit/${site}`)).toMatchObject({
      status: 409,
      body: { code: 'svc_site_disconnected' },
    });
    expect(await app.rest('POST /perf-audit/audit/99')).toMatchObject({
      status: 404,
      body: { code: 'svc_rest_invalid_site_id' },
    });
  });

  const failures = [
    [
      'a page that cannot be loaded',
      googleError(500, 'Lighthouse returned error: FAILED_DOCUMENT_REQUEST.', 'lighthouseError'),
      /FAILED_DOCUMENT_REQUEST/,
    ],
    [
      'a wrong key',
      googleError(400, 'API key not valid. Please pass a valid API key.', 'badRequest', 'API_KEY_INVALID'),
      /does not accept the key/,
    ],
    ['a key that may not', googleError(403, 'The caller does not have permission', 'forbidden'), /refused the key/],
    [
      'a result with an error inside',
      {
        status: 200,
        body: {
          lighthouseResult: {
            audits: {},
            categories: {},
            runtimeError: { code: 'NO_FCP', message: 'The page did not paint any content.' },
          },
        },
      },
      /did not paint/,
    ],
  ] as const;
  test.each(failures)('%s fails at once, saying why, without the key', async (_name, answer, reason) => {
    await configure();
    const site = await app.connect(0);
    await app.rest(`POST /perf-audit/audit/${site}?strategy=mobile`);
    google.next(answer);
    await runAudits(ctx());
    const found = await result_(site);
    expect(found).toMatchObject({ status: 'failed', mobile: null });
    expect(found.error).toMatch(reason);
    expect(found.error).not.toContain(KEY);
    expect(google.asked).toHaveLength(1);
  });

  test.each([
    ['used up quota', googleError(429, 'Quota exceeded', 'rateLimitExceeded'), 3_600_000],
    ['a server in trouble', { status: 503, body: '<html>busy</html>' }, 600_000],
    ['an answer that is no JSON', { status: 200, body: 'oops' }, 600_000],
  ])('%s is tried again later, three times in all', async (_name, answer, wait) => {
    await configure();
    const site = await app.connect(0);
    await app.rest(`POST /perf-audit/audit/${site}?strategy=mobile`);
    google.next(answer, answer, answer);
    await runAudits(ctx());
    expect(await result_(site)).toMatchObject({ status: 'pending', error: expect.any(String) });
    app.clock.move(wait - 1);
    await runAudits(ctx());
    expect(google.asked).toHaveLength(1);
    app.clock.move(1);
    await runAudits(ctx());
    app.clock.move(wait);
    await runAudits(ctx());
    expect(google.asked).toHaveLength(3);
    expect(await result_(site)).toMatchObject({ status: 'failed' });
  });

  test('a result of before stays when a later audit fails', async () => {
    await configure();
    const site = await app.connect(0);
    await app.rest(`POST /perf-audit/audit/${site}?strategy=mobile`);
    await runAudits(ctx());
    await app.rest(`POST /perf-audit/audit/${site}?strategy=mobile`);
    google.next(failures[0][1]);
    await runAudits(ctx());
    expect(await result_(site)).toMatchObject({ status: 'failed', mobile: { score: 88 } });
  });

  test('survives a stop in the middle: put back when the service stops, taken over when it died', async () => {
    await configure();
    const site = await app.connect(0);
    await app.rest(`POST /perf-audit/audit/${site}?strategy=mobile`);
    const stop = new AbortController();
    const run = runAudits(ctx(stop.signal));
    while (google.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    stop.abort();
    await run;
    expect(await result_(site)).toMatchObject({ status: 'pending', error: null });

    const store = app.service.store.audits;
    expect(await store.claim(app.clock.now(), app.clock.now() + 300_000)).toMatchObject({ site_id: site, attempts: 1 });
    expect(await runAudits(ctx())).toBe('nothing due');
    app.clock.move(300_000);
    await runAudits(ctx());
    expect(await result_(site)).toMatchObject({ status: 'completed' });
  });

  test('is asked for by schedule, for all sites or as a site has it', async () => {
    await configure({ schedule: 'weekly', strategy: 'mobile' });
    const ids = [await app.connect(0), await app.connect(1), await app.connect(2)];
    await app.rest(`PUT /perf-audit/settings/${ids[1]}/edit`, { body: { schedule: 'daily', strategy: 'both' } });
    await app.rest(`PUT /perf-audit/settings/${ids[2]}/edit`, { body: { schedule: 'none' } });
    expect(await runAudits(ctx())).toBe('2 queued by schedule, 3 audited, 0 not');
    expect(await runAudits(ctx())).toBe('nothing due');
    app.clock.move(DAY);
    expect(await runAudits(ctx())).toBe('1 queued by schedule, 2 audited, 0 not');
    app.clock.move(6 * DAY);
    expect(await runAudits(ctx())).toBe('2 queued by schedule, 3 audited, 0 not');
    expect(await result_(ids[1] as number)).toMatchObject({ schedule: 'daily', strategy: 'both', override: true });
    await app.rest(`PUT /perf-audit/settings/${ids[1]}/edit`, { body: { schedule: null, strategy: null } });
    expect(await result_(ids[1] as number)).toMatchObject({ schedule: 'weekly', strategy: 'mobile', override: false });
  });

  test('below the threshold is reported', async () => {
    await configure({ threshold: 50, strategy: 'mobile' });
    const site = await app.connect(0);
    const events: unknown[] = [];
    app.service.events.subscribe(
      (event) => event.name === 'audit.poor' && events.push([event.site_id, event.facts.performance]),
    );
    google.score = 0.49;
    await app.rest(`POST /perf-audit/audit/${site}`);
    await runAudits(ctx());
    expect(events).toEqual([[site, 49]]);
  });
});

describe('a result', () => {
  test.each([[null], [[]], ['text'], [{ audits: {} }], [{ audits: {}, categories: { performance: { score: 7 } } }]])(
    '%j is no result',
    (raw) => {
      expect(() => outcomeOf(raw, 'lighthouse')).toThrow(/no result|no score/);
    },
  );

  test('takes what is there and leaves out what is broken', () => {
    const raw = result('https://x.example/', 1).lighthouseResult as unknown as { audits: Record<string, unknown> };
    raw.audits.interactive = { numericValue: 'soon' };
    raw.audits['image-alt'] = { score: 0, title: 'a\u0000\u202eb\n c', description: 7 };
    const outcome = outcomeOf(raw, 'lighthouse');
    expect(Object.keys(outcome.lab_data)).not.toContain('time_to_interactive');
    expect(outcome.others_data[0]).toMatchObject({ title: 'a b c', description: '' });
  });
});

describe('Lighthouse is looked for', () => {
  const missingFor = (lighthouse: string | null, chromium: string | null) =>
    createAuditor({
      lighthouse,
      chromium,
      allowPrivate: true,
      slots: new Slots(MOST_BROWSERS),
      pagespeedUrl: 'http://127.0.0.1:9/',
    }).missing();

  test('as a folder, and as the command that npm links; then for a browser', async () => {
    const prefix = tempFolder('lighthouse');
    const folder = join(prefix, 'lib', 'node_modules', 'lighthouse');
    const command = join(prefix, 'lighthouse');
    expect(await missingFor(folder, '/nowhere')).toContain('SITEFLEET_LIGHTHOUSE');
    mkdirSync(join(folder, 'cli'), { recursive: true });
    symlinkSync(join(folder, 'cli', 'index.js'), command);
    for (const path of [folder, command]) expect(await missingFor(path, '/nowhere')).toContain('SITEFLEET_LIGHTHOUSE');
    writeFileSync(join(folder, 'cli', 'index.js'), '');
    for (const path of [folder, command]) expect(await missingFor(path, '/nowhere')).toContain('SITEFLEET_CHROMIUM');
    // Another program is not started as if it were Lighthouse.
    expect(await missingFor(process.execPath, '/nowhere')).toContain('SITEFLEET_LIGHTHOUSE');
  });
});

const auditor = (allowPrivate: boolean) =>
  createAuditor({
    lighthouse: installedLighthouse,
    chromium: null,
    allowPrivate,
    slots: new Slots(MOST_BROWSERS),
    pagespeedUrl: 'http://127.0.0.1:9/',
  });
const real = auditor(true);

describe('Lighthouse on this machine', needs('chromium', 'lighthouse'), () => {
  const requestOf = (url: string, strategy: 'desktop' | 'mobile') =>
    ({ engine: 'lighthouse', url, strategy, locale: 'en', key: null, signal: new AbortController().signal }) as const;

  test('really measures a page', async () => {
    const page = '<!doctype html><html lang="en"><title>Shop</title><h1>Hello</h1><img src="/x.png">';
    const server = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html; charset=utf-8').end(page),
    );
    const { url } = await listenLocally(server);
    const outcome = await real.run(requestOf(`${url}/`, 'desktop'));
    expect(outcome).toMatchObject({ engine: 'lighthouse', response_code: 200 });
    expect(outcome.performance).toBeGreaterThan(50);
    expect(outcome.lab_data.first_contentful_paint?.value).toBeGreaterThan(0);
    expect(outcome.others_data.map(({ id }) => id)).toContain('image-alt');
  });

  test('does not visit private addresses unless it may', async () => {
    const visit = auditor(false).run(requestOf('http://localhost:9/', 'mobile'));
    await expect(visit).rejects.toThrow(/private or local address/);
  });
});
