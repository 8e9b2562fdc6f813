/**
 * Calls on a site that accepts connections and does not answer within the time of a call: what each way in answers, and
 * that the job which follows tells the same story.
 */

import { afterEach, describe, expect, it } from 'vitest';
import type { DemoSite } from '../../src/demo/fleet.js';
import type { Answer } from '../support/harness.js';
import { type HeldBack, holdBack, neverAnswers, runOutOfTime } from '../support/hold-back.js';
import { newUser } from '../support/logins.js';
import { connect, type Driver, type McpApp, mcpApp, textOf } from '../support/mcp-clients.js';
import { basic } from '../support/surfaces.js';
import { offers } from './checked-app.js';

/** Of a direct call. A request has a third of it, an update twice as much. */
const LIMIT = 300;
const OF = { site_id_or_domain: 1 };
const LOGIN = basic('operator', 'correct horse');

interface Silent extends McpApp {
  site: DemoSite;
  /** A call by each way in: its answer, or the body of its error; over MCP, the text of its error as `message`. */
  mcp(name: string, input?: object): Promise<Answer>;
  run(name: string, input?: object): Promise<Answer>;
  rest(path: string, body?: object): Promise<Answer>;
  get(path: string): Promise<Answer>;
  /** The status of a job that has ended. */
  ended(jobId: string): Promise<Answer>;
}

let stopClock = () => {};
let client: Driver | undefined;
afterEach(async () => {
  stopClock();
  await client?.close();
});

/** One site with updates of each type. Time passes where a call waits for it. */
async function silentApp(): Promise<Silent> {
  const made = await mcpApp({
    realClock: false,
    jobs: false,
    sites: 1,
    connected: 1,
    config: { update_wait_ms: 10_000 },
  });
  const { app } = made;
  const site = app.fleet.site(0);
  offers(site, { plugins: 2, themes: 1, core: true, translations: true });
  await app.call('sync-sites');
  Object.assign(app.service.config, { direct_call_ms: LIMIT, site_timeout_ms: LIMIT / 3 });
  app.ctx().child.configure({ callTimeoutMs: LIMIT / 3, updateTimeoutMs: 2 * LIMIT });
  stopClock = app.clock.flow();
  await newUser(app.service.store.users, 'operator', 'correct horse');
  const driver = await connect(['2025-11-25', 'http'], made.target);
  client = driver;
  const post = async (path: string, body: object) => {
    const reply = await fetch(new URL(path, made.url), {
      method: 'POST',
      headers: { authorization: path.startsWith('/v2') ? made.all : LOGIN, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await reply.json()) as Answer;
  };
  const get = async (path: string) => {
    const authorization = path.startsWith('/v2') ? made.all : LOGIN;
    return (await (await fetch(new URL(path, made.url), { headers: { authorization } })).json()) as Answer;
  };
  const mcp = async (name: string, input: object = OF) => {
    const result = await driver.call(`svc-${name}-v1`, { ...input });
    return result.isError === true ? { message: textOf(result) } : result.structuredContent;
  };
  return Object.assign(made, {
    site,
    mcp,
    get,
    run: (name: string, input: object = OF) => post(`/abilities/svc/${name}-v1/run`, { input }),
    rest: (path: string, body: object = {}) => post(`/v2${path}`, body),
    ended: async (jobId: string) => {
      await app.drain();
      return mcp('get-batch-job-status', { job_id: jobId });
    },
  });
}

/** The site never answers. */
const silence = ({ site, app }: Silent) => neverAnswers(site, app.clock, 2 * LIMIT, 6);

/** The job that an answer or an error names, wherever that way in does so. */
function jobOf(answer: Answer): string {
  const [id = ''] = /(update|extension)_[\da-f-]{36}/.exec(JSON.stringify(answer)) ?? [];
  expect(id).not.toBe('');
  return id;
}

const plugins = ({ site }: Silent) =>
  site.state.plugins.filter(({ update }) => update !== null).map(({ slug }) => slug);
const otherTheme = ({ site }: Silent) =>
  site.state.themes.find(({ slug }) => slug !== site.state.activeTheme)?.slug ?? '';
const running = { code: 'svc_still_running' };
/** Times in which a request to a site was not answered differ; the rest is the same story. */
const NOT_KNOWN = /not (known|shown).*The site may still be working on it/;

describe('a site that never answers', () => {
  const changes: [string, (app: Silent) => Promise<Answer>, object, string[]][] = [
    [
      'update-site-core over MCP',
      (app) => app.mcp('update-site-core'),
      { updated: false, errors: [running] },
      ['core'],
    ],
    ['update-site-core', (app) => app.run('update-site-core'), { updated: false, errors: [running] }, ['core']],
    [
      'update-site-translations over MCP',
      (app) => app.mcp('update-site-translations'),
      { updated: false, translations_updated: 0, errors: [running] },
      ['translation'],
    ],
    [
      'update-site-translations',
      (app) => app.run('update-site-translations'),
      { updated: false, translations_updated: 0, errors: [running] },
      ['translation'],
    ],
    [
      'update-site-plugins',
      (app) => app.run('update-site-plugins'),
      { updated: [], total_updated: 0, errors: [running] },
      ['plugin', 'plugin'],
    ],
    ['update/wp over REST', (app) => app.rest('/updates/1/update/wp'), { ...running, data: { status: 504 } }, ['core']],
    [
      'update/plugins over REST',
      (app) => app.rest('/updates/1/update/plugins'),
      { ...running, data: { status: 504 } },
      ['plugin', 'plugin'],
    ],
  ];
  it.each(changes)(
    '%s: names its job, which ends with the outcome of each item unknown',
    async (_, change, told, types) => {
      const app = await silentApp();
      silence(app);
      const answer = await change(app);
      expect(answer).toMatchObject(told);
      const status = await app.ended(jobOf(answer));
      expect(status).toMatchObject({
        status: 'failed',
        failed: 1,
        summary: { total_updated: 0, total_errors: types.length, sites_updated: 0 },
        errors: [{ site_id: 1, code: 'svc_still_running', message: expect.stringMatching(NOT_KNOWN) }],
      });
      expect(status.items.map(({ type, code }: Answer) => [type, code])).toEqual(
        types.map((type) => [type, 'svc_still_running']),
      );
      // Nothing is sent a second time.
      expect(app.site.calls.filter(({ function: name }) => name.startsWith('upgrade'))).toHaveLength(1);
    },
  );

  const switches: [string, (app: Silent) => Promise<Answer>, object][] = [
    [
      'activate-site-theme over MCP',
      (app) => app.mcp('activate-site-theme', { ...OF, slug: otherTheme(app) }),
      { message: expect.stringMatching(/svc_still_running.*get-batch-job-status/s) },
    ],
    [
      'activate-site-theme',
      (app) => app.run('activate-site-theme', { ...OF, slug: otherTheme(app) }),
      { ...running, data: { status: 504, advice: expect.stringContaining('get-batch-job-status') } },
    ],
    [
      'themes/activate over REST',
      (app) => app.rest('/sites/1/themes/activate', { slug: otherTheme(app) }),
      { ...running, data: { status: 504, advice: expect.stringContaining('GET /v2/jobs/{job_id}') } },
    ],
    [
      'plugins/deactivate over REST',
      (app) => app.rest('/sites/1/plugins/deactivate', { slug: plugins(app)[0] }),
      {
        ...running,
        data: {
          status: 504,
          job_id: expect.stringMatching(/^extension_/),
          status_url: expect.stringContaining('/v2/jobs/extension_'),
          advice: expect.stringContaining('GET /v2/jobs/{job_id}'),
        },
      },
    ],
  ];
  it.each(switches)('%s: is an error that names the job', async (_, change, told) => {
    const app = await silentApp();
    silence(app);
    const answer = await change(app);
    expect(answer).toMatchObject(told);
    const status = await app.ended(jobOf(answer));
    expect(status).toMatchObject({
      status: 'failed',
      errors: [{ site_id: 1, code: 'svc_still_running', message: expect.stringMatching(NOT_KNOWN) }],
      items: [{ code: 'svc_still_running' }],
    });
  });
});

describe('a site that answers after the call', () => {
  /** The update is held back until the time of the call has run out. Returns the call's answer. */
  const slowly = async (
    app: Silent,
    change: (app: Silent) => Promise<Answer>,
    functions = /^upgrade/,
  ): Promise<[Answer, HeldBack]> => {
    app.app.ctx().child.configure({ callTimeoutMs: 1_200_000, updateTimeoutMs: 1_200_000 });
    Object.assign(app.app.service.config, { direct_call_ms: 600_000, site_timeout_ms: 1_200_000 });
    const held = holdBack(app.site, functions);
    return [await runOutOfTime(app.app, held, change(app)), held];
  };
  const changes: [string, (app: Silent) => Promise<Answer>, (app: Silent) => [string, string][]][] = [
    ['update-site-core over MCP', (app) => app.mcp('update-site-core'), () => [['core', 'platform']]],
    ['update-site-translations', (app) => app.run('update-site-translations'), () => [['translation', 'akismet']]],
    [
      'update/plugins over REST',
      (app) => app.rest('/updates/1/update/plugins'),
      (app) => plugins(app).map((slug) => ['plugin', slug]),
    ],
  ];

  it.each(changes)('%s: the job tells what was installed, also if a sync saw it first', async (_, change, items) => {
    const app = await silentApp();
    const wanted = items(app);
    const [answer, held] = await slowly(app, change);
    const jobId = jobOf(answer);
    held.letGo();
    const { child } = app.app.ctx();
    await expect.poll(() => child.leftRunning(1)).toBe('answered');
    await app.app.call('sync-sites');
    const status = await app.ended(jobId);
    expect(status).toMatchObject({
      status: 'completed',
      succeeded: 1,
      errors: [],
      summary: { total_updated: wanted.length, total_errors: 0, sites_updated: 1 },
    });
    expect(status.items.map(({ type, slug }: Answer) => [type, slug])).toEqual(wanted);
    const log = await app.app.db.all("SELECT slug FROM action_log WHERE action = 'updated' ORDER BY id");
    expect(log.map(({ slug }) => slug)).toEqual(wanted.map(([, slug]) => slug));
  });

  it.each(changes)('%s: the job tells what the site said, if the update fails', async (_, change, items) => {
    const app = await silentApp();
    const wanted = items(app);
    app.site.faults.failUpdates = true;
    const [answer, held] = await slowly(app, change);
    held.letGo();
    const status = await app.ended(jobOf(answer));
    expect(status).toMatchObject({
      status: 'failed',
      errors: [{ code: 'svc_update_failed' }],
      summary: { total_updated: 0, total_errors: wanted.length },
    });
    expect(status.items.map(({ type, slug, code }: Answer) => [type, slug, code])).toEqual(
      wanted.map((item) => [...item, 'svc_update_failed']),
    );
  });

  it('tells in its job only once what the call had done', async () => {
    const app = await silentApp();
    const [answer, held] = await slowly(
      app,
      () => app.run('run-updates', { types: ['core', 'plugins'] }),
      /^upgradeplugintheme$/,
    );
    held.letGo();
    expect(answer).toMatchObject({ updated: [{ type: 'core' }], errors: [running] });
    const status = await app.ended(jobOf(answer));
    expect(status).toMatchObject({ status: 'completed', summary: { total_updated: 3, total_errors: 0 } });
    expect(status.items.map(({ type }: Answer) => type)).toEqual(['core', 'plugin', 'plugin']);
  });
});

describe('a site that does not answer in time is not called offline', () => {
  const NEW_POST = { post_title: 'T', post_content: 'C', post_status: 'draft' };
  const listed = { errors: [{ site_id: 1, code: 'svc_still_running' }] };
  const late = { code: 'svc_still_running', data: { status: 504 } };
  const reads: [string, (app: Silent) => Promise<Answer>, object][] = [
    ['sync-sites over MCP', (app) => app.mcp('sync-sites', {}), listed],
    ['sync-sites', (app) => app.run('sync-sites', {}), listed],
    ['sync over REST', (app) => app.rest('/sites/1/sync'), late],
    ['a security check over REST', (app) => app.get('/v2/sites/1/security'), late],
    [
      'reconnect-site over MCP',
      (app) => app.mcp('reconnect-site'),
      { message: expect.stringMatching(/still_running/) },
    ],
    ['posts over REST', (app) => app.get('/v2/posts'), listed],
    ['one post over REST', (app) => app.get('/v2/posts/1/1'), late],
    ['a new post over REST', (app) => app.rest('/posts/1/create', NEW_POST), late],
    ['comments over REST', (app) => app.get('/v2/comments?status=all'), listed],
    ['comments of one site over REST', (app) => app.get('/v2/comments/1'), late],
    ['list-comments', (app) => app.get('/abilities/svc/list-comments-v1/run'), listed],
    ['list-posts', (app) => app.get('/abilities/svc/list-posts-v1/run'), listed],
  ];
  it.each(reads)('%s', async (_, read, told) => {
    const app = await silentApp();
    silence(app);
    expect(await read(app)).toMatchObject(told);
  });

  it('nor disconnected, however often: what a visit found stands beside the status', async () => {
    const app = await silentApp();
    // No more time than one sync waits: the next one would begin late.
    neverAnswers(app.site, app.app.clock, LIMIT / 3);
    for (const _ of ['once', 'again', 'and again']) await app.run('sync-sites', {});
    app.site.faults.latencyMs = undefined;
    app.site.faults.http500 = true;
    await app.run('check-site');
    const seen = { id: 1, status: 'connected', last_check: { reachable: false, http_status: 500 } };
    expect(await app.mcp('get-site')).toMatchObject(seen);
    expect((await app.get('/abilities/svc/list-sites-v1/run')).items).toMatchObject([seen]);
    expect((await app.get('/v2/sites/1')).data).toMatchObject({ id: 1, status: 'connected' });
    expect((await app.get('/v2/sites')).data).toMatchObject([{ id: 1, status: 'connected' }]);
  });

  it('nor offline by the error of a check', async () => {
    const app = await silentApp();
    silence(app);
    Object.assign(app.app.service.config, { batch_threshold: 0 });
    const { job_id } = await app.run('check-sites', {});
    expect(await app.ended(job_id)).toMatchObject({
      errors: [{ code: 'svc_still_running', message: 'The front page did not answer in time.' }],
    });
  });

  it('and one that refuses connections still is', async () => {
    const app = await silentApp();
    app.site.faults.offline = true;
    expect(await app.run('sync-sites', {})).toMatchObject({ errors: [{ site_id: 1, code: 'svc_site_offline' }] });
    expect(await app.mcp('get-site')).toMatchObject({ status: 'disconnected' });
  });
});

describe('a site whose own update job runs', () => {
  it.each(['in maintenance', 'without an answer'])('is not disconnected while it is %s', async (how) => {
    const app = await silentApp();
    const { child } = app.app.ctx();
    child.configure({ callTimeoutMs: 600_000, updateTimeoutMs: 600_000 });
    Object.assign(app.app.service.config, { batch_threshold: 0, site_timeout_ms: 600_000 });
    const { job_id } = await app.run('run-updates', { site_ids_or_domains: [1], types: ['plugins'] });
    // The connection breaks in the middle of the update. The site is read until it answers; one of these reads waits.
    let reads = how === 'in maintenance' ? 0 : 1;
    let letGo = () => {};
    const waits = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let arrived = () => {};
    const second = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    app.site.faults = {
      dieMidUpdate: true,
      ...(how === 'in maintenance' ? { maintenanceAfterUpdate: true } : {}),
      latencyMs: (name) => {
        if (name !== 'stats') return 0;
        reads += 1;
        if (reads !== 2) return 0;
        arrived();
        return waits;
      },
    };
    const ended = app.ended(job_id);
    await Promise.race([second, ended]);
    app.site.faults.offline = how === 'without an answer';
    const connected = { id: 1, status: 'connected' };
    expect(await app.mcp('get-site')).toMatchObject(connected);
    // A visit by someone who does not know of the update.
    await app.run('check-site');
    expect((await app.get('/v2/sites/1')).data).toMatchObject(connected);
    app.site.faults = {};
    letGo();
    expect(await ended).toMatchObject({ job_id, status: 'completed' });
    expect(await app.mcp('get-site')).toMatchObject(connected);
  });
});

describe('a child whose version is not known', () => {
  it.each<[string, (app: Silent) => Promise<Answer>]>([
    ['over MCP', (app) => app.mcp('update-site-plugins')],
    ['by the run endpoint', (app) => app.run('run-updates', { types: ['plugins'] })],
    ['over REST', (app) => app.rest('/updates/1/update/plugins')],
    ['over REST, a comment', (app) => app.get('/v2/comments/1')],
  ])('is not called outdated: %s', async (_, call) => {
    const app = await silentApp();
    await app.app.db.run("UPDATE site_detail SET child_version = ''");
    const answer = JSON.stringify(await call(app));
    expect(answer).not.toMatch(/outdated|unknown version/);
    expect(answer).not.toContain('"errors":[{');
    expect(answer).not.toMatch(/"code"/);
  });
});

describe('the progress of an update job on one site', () => {
  it('counts its updates, as far as their outcome is known', async () => {
    const app = await silentApp();
    const { child } = app.app.ctx();
    child.configure({ callTimeoutMs: 600_000, updateTimeoutMs: 600_000 });
    Object.assign(app.app.service.config, { batch_threshold: 0, site_timeout_ms: 600_000 });
    const { job_id } = await app.run('update-all', {});
    const held = holdBack(app.site, /^upgradeplugintheme$/);
    const ended = app.ended(job_id);
    await Promise.race([held.waiting, ended]);
    // WordPress is done; two plugins are under way in one request; a theme and a translation wait for them.
    const told = {
      status: 'processing',
      progress: 20,
      processed: 0,
      in_progress: { sites: 1, items_done: 1, items_total: 5 },
    };
    await expect.poll(() => app.mcp('get-batch-job-status', { job_id })).toMatchObject(told);
    expect(await app.get(`/v2/jobs/${job_id}`)).toMatchObject(told);
    held.letGo();
    const status = await ended;
    expect(status).toMatchObject({ status: 'completed', progress: 100, processed: 1 });
    expect(status).not.toHaveProperty('in_progress');
  });
});
