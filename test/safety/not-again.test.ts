/** A run that goes on after an interruption does not install again what its earlier part saw to harm the site. */

import { beforeEach, describe, expect, it } from 'vitest';
import type { DemoSite } from '../../src/demo/fleet.js';
import { finishInterruptedRuns } from '../../src/domain/updates/safe/unfinished.js';
import { rolloutApp } from '../rollouts/rollout-app.js';
import type { Answer } from '../support/harness.js';
import { cutOff, type SafetyApp, safetyApp } from './safety-app.js';

/** Within it an interrupted run is compared with how the site was before. */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const CALL_MS = 20 * MINUTE_MS;
const ONE = { site_ids_or_domains: [1], types: ['plugins'] };

let app: SafetyApp;
let site: DemoSite;

/** The plugins that were sent to the site, in that order. */
const sent = () =>
  site.calls.flatMap(({ function: name, params }) => (name === 'upgradeplugintheme' ? [String(params.list)] : []));

/** No file that is restored brings posts back. */
function takePosts(): void {
  for (const post of site.inner.posts) post.status = 'trash';
}

const told = ({ items }: Answer) => items.map(({ slug, code = '' }: Answer) => [slug, code]).sort();
const logged = () =>
  app.db.all("SELECT slug FROM action_log WHERE context = 'plugin' AND action = 'updated' AND code = ''");

async function drained(job_id: string): Promise<Answer> {
  await app.running(app.drain());
  return app.call('get-batch-job-status', { job_id });
}

/** Runs the queued work of a process that dies when it first looks at the site after an update. */
async function killed(harm = () => {}): Promise<void> {
  const { run, batch } = app.db;
  let dead = false;
  const living = <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    (async (...args: A) => {
      if (dead) throw new Error('killed');
      return work(...args);
    }) as (...args: A) => Promise<R>;
  app.db.run = living(run);
  app.db.batch = living(batch);
  site.faults.latencyMs = (name) => {
    if (name === 'upgradeplugintheme') {
      dead = true;
      harm();
    }
    return 0;
  };
  await app.running(app.drain()).catch(() => undefined);
  Object.assign(app.db, { run, batch });
  site.faults.latencyMs = undefined;
  // The lease of the dead lapses.
  app.clock.move(6 * 60_000);
}

it('a site whose roll-backs get nowhere is given up after two hours', async () => {
  const many = 80;
  app = await safetyApp({ sites: 1, fleet: { plugins: many + 5 }, config: { direct_call_ms: CALL_MS } });
  site = app.site(0);
  const plugins = Array.from({ length: many }, (_, nth) => app.offer(site, nth));
  await app.call('sync-sites', { site_ids_or_domains: [1] });
  const stop = app.clock.flow();
  const call = app.call('run-updates', ONE);
  let last = 0;
  site.faults.latencyMs = (name) => {
    if (name === 'upgradeplugintheme' && ++last === many) {
      stop();
      site.faults.pages = (made) => ({ ...made, status: 500 });
      site.faults.guardRefuses = { restore: 'updating' };
    }
    return 0;
  };
  await expect.poll(() => last).toBe(many);
  app.clock.move(CALL_MS);
  await call;
  const began = app.clock.now();
  await app.running(finishInterruptedRuns(app.ctx()));
  expect(app.clock.now() - began).toBeGreaterThan(2 * HOUR_MS - MINUTE_MS);
  expect(app.clock.now() - began).toBeLessThan(2.5 * HOUR_MS);
  expect(await app.cell('SELECT count(*) FROM safe_change WHERE outcome IS NULL')).toBe(0);
  expect(plugins.every(({ version }) => version === '99.0')).toBe(true);
});

describe.each(['a call that was cut off', 'a job whose process was killed'])('%s', (how) => {
  beforeEach(async () => {
    const queued = how.startsWith('a job');
    app = await safetyApp({
      sites: 1,
      config: { job_delay_ms: 0, direct_call_ms: CALL_MS, ...(queued && { batch_threshold: 0 }) },
    });
    site = app.site(0);
  });

  async function interrupted(harm?: () => void): Promise<string> {
    const call = app.call('run-updates', ONE);
    if (how.startsWith('a call')) return (await cutOff(app, site, call, harm)).job_id;
    const { job_id } = await call;
    await killed(harm);
    return job_id;
  }

  it.each(['the job', 'the schedule'])('tries nothing more on a site left unhealthy, as %s saw', async (who) => {
    const [first, second] = [app.offer(site), app.offer(site, 1)];
    const before = [first.version, second.version];
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    const job_id = await interrupted(takePosts);
    if (who === 'the schedule') await app.running(finishInterruptedRuns(app.ctx()));
    const status = await drained(job_id);
    expect([sent().length, [first.version, second.version]]).toEqual([1, before]);
    expect(status.summary).toMatchObject({ total_updated: 0, total_errors: 2 });
    expect(told(status)).toEqual(
      [
        [first.slug, 'svc_update_broke_site'],
        [second.slug, 'svc_site_unhealthy'],
      ].sort(),
    );
    expect(await logged()).toEqual([]);
    const run = await app.call('get-run', { run_id: status.run_id });
    expect(run).toMatchObject({ state: 'ended', counts: { failed: 1, skipped: 1 }, total: 2 });
  });

  it('goes on with the others after one that was rolled back, which it tells', async () => {
    const [bad, good] = [app.offer(site), app.offer(site, 1)];
    const before = bad.version;
    site.faults.breaks = { [`${bad.slug}@99.0`]: 'fatal' };
    site.faults.watchdog = false;
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    const status = await drained(await interrupted());
    expect([bad.version, good.version]).toEqual([before, '99.0']);
    expect(told(status)).toEqual(
      [
        [bad.slug, 'svc_update_rolled_back'],
        [good.slug, ''],
      ].sort(),
    );
  });
});

it('a version that was rolled back as doubtful is not installed again by the job that goes on', async () => {
  app = await safetyApp({ sites: 1, config: { job_delay_ms: 0, direct_call_ms: CALL_MS } });
  site = app.site(0);
  const [bad, good] = [app.offer(site), app.offer(site, 1)];
  const before = bad.version;
  site.faults.breaks = { [`${bad.slug}@99.0`]: 'suspect' };
  await app.call('sync-sites', { site_ids_or_domains: [1] });
  const call = app.fail('safe-update-site', { site_id_or_domain: 1, on_suspect: 'roll_back' });
  const { data } = await cutOff(app, site, call);
  const status = await drained(String(data.job_id));
  expect([bad.version, good.version, sent().length]).toEqual([before, '99.0', 2]);
  expect(status.summary).toMatchObject({ total_updated: 1, total_errors: 1 });
  expect(told(status)).toEqual(
    [
      [bad.slug, 'svc_update_rolled_back'],
      [good.slug, ''],
    ].sort(),
  );
  expect(await app.cell('SELECT count(*) FROM quarantined_version')).toBe(0);
});

it('a rollout whose process was killed does not install again what broke the site', async () => {
  const rollout = await rolloutApp(1, { fleet: { keepCalls: true } });
  app = rollout;
  site = app.site(0);
  const { rollout_id } = await rollout.start({ waves: { canaries: 1, sizes: [], soak_minutes: 5 } });
  await killed(takePosts);
  await rollout.turn();
  expect([sent().length, rollout.plugins[0]?.version]).toEqual([1, '1.0']);
  expect((await rollout.read(rollout_id)).counts).toEqual({ failed: 1 });
});

it('a job whose process was killed tries nothing more on a site without a guard that it finds down', async () => {
  app = await safetyApp({ sites: 1, guards: false, config: { job_delay_ms: 0, batch_threshold: 0 } });
  site = app.site(0);
  const plugin = app.offer(site);
  const [theme] = site.state.themes;
  if (theme === undefined) throw new Error('the site has no theme');
  theme.update = { version: '99.0', requiresPhp: '', requiresWp: '' };
  site.faults.breaks = { [`${plugin.slug}@99.0`]: 'front' };
  await app.call('sync-sites', { site_ids_or_domains: [1] });
  const { job_id } = await app.call('run-updates', { ...ONE, types: ['plugins', 'themes'] });
  await killed();
  const status = await drained(job_id);
  expect([plugin.version, sent().length]).toEqual(['99.0', 1]);
  expect(told(status)).toEqual(
    [
      [plugin.slug, 'svc_update_broke_site'],
      [theme.slug, 'svc_site_unhealthy'],
    ].sort(),
  );
});

it('what was rolled back without fault is tried again by the job that goes on', async () => {
  app = await safetyApp({ sites: 1, config: { job_delay_ms: 0, direct_call_ms: CALL_MS } });
  site = app.site(0);
  const [bad, good] = [app.offer(site), app.offer(site, 1)];
  const before = bad.version;
  // Only the last look shows it.
  site.faults.breaks = { [`${bad.slug}@99.0`]: 'login' };
  site.faults.watchdog = false;
  await app.call('sync-sites', { site_ids_or_domains: [1] });
  const call = app.call('run-updates', ONE);
  const stop = app.clock.flow();
  site.faults.latencyMs = (name) => {
    if (name === 'upgradeplugintheme' && sent().length === 2) stop();
    return 0;
  };
  const probed = () => app.cell("SELECT count(*) FROM safe_change WHERE step = 'probe'");
  await expect.poll(probed, { interval: 5 }).toBe(2);
  site.faults.latencyMs = undefined;
  app.clock.move(CALL_MS);
  const status = await drained((await call).job_id);
  expect([bad.version, good.version]).toEqual([before, '99.0']);
  expect(sent()).toHaveLength(3);
  expect(told(status)).toEqual(
    [
      [bad.slug, 'svc_update_rolled_back'],
      [good.slug, ''],
    ].sort(),
  );
});

it('a new call on a site that an interrupted one has left unhealthy says so, and installs nothing', async () => {
  app = await safetyApp({ sites: 1 });
  site = app.site(0);
  const plugin = app.offer(site);
  const before = plugin.version;
  await app.call('sync-sites', { site_ids_or_domains: [1] });
  const given = new AbortController();
  site.faults.latencyMs = (name) => {
    if (name === 'upgradeplugintheme') {
      takePosts();
      given.abort();
    }
    return 0;
  };
  const update = (signal?: AbortSignal) =>
    app.running(app.call('update-site-plugins', { site_id_or_domain: 1 }, signal && { signal }));
  await expect(update(given.signal)).rejects.toThrow();
  site.faults.latencyMs = undefined;
  expect(await app.cell('SELECT count(*) FROM safe_change WHERE settled_at IS NULL')).toBe(1);
  await expect(update()).rejects.toMatchObject({ code: 'svc_site_unhealthy' });
  expect([plugin.version, sent().length]).toEqual([before, 1]);
});
