/** Updates that work at first: failures that come later are read from the guard's record, and rolled back or told. */

import { beforeEach, describe, expect, it } from 'vitest';
import { createSchedule } from '../../src/app/schedule/schedule.js';
import type { Breakage } from '../../src/demo/faults.js';
import type { PluginState } from '../../src/demo/state.js';
import { fleetAttention } from '../../src/domain/fleet/attention.js';
import { finishInterruptedRuns } from '../../src/domain/updates/safe/unfinished.js';
import { watchUpdates } from '../../src/domain/updates/safe/watch.js';
import { type SafetyApp, safetyApp } from './safety-app.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let app: SafetyApp;
let plugin: PluginState;
let before: string;
const one = { site_id_or_domain: 1 };

beforeEach(async () => {
  app = await safetyApp();
  plugin = app.offer(app.site(0));
  before = plugin.version;
  await app.call('sync-sites', { site_ids_or_domains: [1] });
  expect((await app.safely('update-site-plugins', one)).errors).toEqual([]);
});

/** A schedule as any process may start it. */
const watching = () =>
  createSchedule({
    ctx: () => app.ctx(),
    withCtx: (work) => work(app.ctx()),
    owner: 'test',
    clockSteps: { settle: async () => undefined },
  });

/** The schedule after this time. */
async function later(ms: number): Promise<void> {
  app.clock.move(ms);
  await app.running(watching().runNow('watch-updates'));
}

/** From now on the installed version fails in this way. */
function fails(breakage: Breakage): void {
  app.site(0).faults.breaks = { [`${plugin.slug}@99.0`]: breakage };
}

const visit = (path = '') => fetch(`${app.site(0).url}${path}`).then(({ status }) => status);
const reads = () => app.site(0).guard?.actions.filter((action) => action === 'faults').length ?? 0;
const requests = () => app.fleet.stats().requests;
const held = async () => (await app.call('list-quarantined-versions')).versions;
const outcome = () => app.cell('SELECT outcome FROM safe_change');
const alerts = () => app.db.all<{ kind: string; facts: string }>('SELECT kind, facts FROM alert');
const matters = async () => (await fleetAttention(app.ctx(), 5)).matters;

describe('an update that stays well', () => {
  it('costs five requests within a day, at 1, 5, 15 and 60 minutes and a day, and none afterwards', async () => {
    const [asked, read] = [requests(), reads()];
    const at: number[] = [];
    const began = app.clock.now();
    for (let seen = reads(); app.clock.now() - began < 2 * DAY; seen = reads()) {
      await later(app.clock.now() - began < 2 * 60 * MINUTE ? MINUTE / 2 : 30 * MINUTE);
      if (reads() > seen) at.push(Math.floor((app.clock.now() - began) / MINUTE));
    }
    expect(at).toEqual([1, 5, 15, 60, expect.any(Number)]);
    expect(Math.abs((at[4] ?? 0) - 24 * 60)).toBeLessThanOrEqual(31);
    expect([requests() - asked, reads() - read]).toEqual([5, 5]);
    expect(plugin.version).toBe('99.0');
  });

  it('is one look for all items of a run, and none for sites without a new update', async () => {
    for (const nth of [1, 2]) app.offer(app.site(1), nth);
    await app.call('sync-sites', { site_ids_or_domains: [2] });
    await app.safely('update-site-plugins', { site_id_or_domain: 2 });
    const asked = requests();
    app.clock.move(MINUTE + 30_000);
    // Two processes share the looks.
    await Promise.all([watching().runNow('watch-updates'), watching().runNow('watch-updates')]);
    expect(requests() - asked).toBe(2);
  });
});

describe('a fatal error after a minute', () => {
  it.each(['fatal', 'front', 'login'] as const)('%s: is rolled back when our own looks meet it', async (breakage) => {
    fails(breakage);
    expect(await visit(breakage === 'login' ? 'wp-login.php' : '')).toBe(500);
    await later(MINUTE);
    expect([plugin.version, await outcome()]).toEqual([before, 'rolled_back']);
    expect(await visit()).toBe(200);
    const { runs } = await app.call('list-runs', { state: 'rolled_back' });
    const { items } = await app.call('get-run', { run_id: runs[0].run_id });
    expect(items).toMatchObject([{ state: 'rolled_back', code: 'svc_update_rolled_back', can_roll_back: false }]);
    const [entry] = await held();
    expect(entry).toMatchObject({ slug: plugin.slug, version: '99.0', scope: 'fleet', sites: 1 });
    expect(entry.evidence.join(' ')).toContain('HTTP 500');
    expect((await matters()).map(({ matter }) => matter)).toEqual(['update_undone']);
    expect((await app.call('list-updates', {})).total).toBe(0);
    expect(app.site(0).guard?.armed).toEqual([]);
    expect(await app.cell('SELECT count(*) FROM safe_change WHERE settled_at IS NULL OR watch_at IS NOT NULL')).toBe(0);
    expect(await app.cell('SELECT count(*) FROM safe_change_run')).toBe(0);
  });

  it('in a scheduled task is rolled back on its site', async () => {
    fails('task');
    await visit('wp-cron.php');
    await later(MINUTE);
    expect([plugin.version, await outcome()]).toEqual([before, 'rolled_back']);
    expect(await held()).toMatchObject([{ slug: plugin.slug, scope: 'site' }]);
  });

  it('is found at the next look', async () => {
    await later(MINUTE);
    fails('front');
    await visit();
    await later(MINUTE);
    expect(plugin.version).toBe('99.0');
    await later(3 * MINUTE);
    expect(plugin.version).toBe(before);
  });

  it('that has gone by the second look is told, not rolled back', async () => {
    fails('front');
    await visit();
    const { faults } = app.site(0);
    const { breaks } = faults;
    // The record is read before the first look, and after it.
    const upTo = reads() + 2;
    Object.defineProperty(faults, 'breaks', { get: () => (reads() < upTo ? breaks : {}) });
    await later(MINUTE);
    expect([plugin.version, await outcome()]).toEqual(['99.0', 'kept']);
    expect((await matters()).map(({ matter }) => matter)).toEqual(['suspect_update']);
  });
});

describe('a fatal error that only visitors meet', () => {
  it('is never rolled back: an alert, the brief and the page name the change, once', async () => {
    fails('cart');
    expect(await visit('cart/')).toBe(500);
    await later(MINUTE);
    await visit('cart/');
    await later(4 * MINUTE);
    expect([plugin.version, await outcome()]).toEqual(['99.0', 'kept']);
    expect(await held()).toEqual([]);
    const change = await app.cell('SELECT id FROM safe_change');
    await expect.poll(alerts).toMatchObject([{ kind: 'update.suspect' }]);
    expect(JSON.parse((await alerts())[0]?.facts ?? '')).toMatchObject({ change_id: change, slug: plugin.slug });
    const [matter] = (await app.call('get-fleet-brief')).needs_attention;
    expect(matter).toMatchObject({ count: 1, next: `svc-roll-back-v1 {"change_id":"${change}"}` });
    expect(await matters()).toMatchObject([{ matter: 'suspect_update', cases: [{ change_id: change }] }]);
    await app.safely('roll-back', { change_id: change });
    expect(plugin.version).toBe(before);
    expect((await matters()).map(({ matter: name }) => name)).toEqual(['update_undone']);
  });

  it('is not new when the version before had it, and means nothing when memory or time ran out', async () => {
    const fault = {
      ...{
        time: 0,
        first: 0,
        count: 2,
        message: 'Uncaught Error: x',
        file: `wp-content/plugins/${plugin.slug}`,
        line: 1,
      },
      ...{ kind: 'plugin' as const, item: plugin.slug.split('/')[0] ?? '', armed: false, blames: null, ours: null },
      ...{ cron: false, restored: null, waited: null },
    };
    const now = Math.floor(app.clock.now() / 1000) + 20;
    app
      .site(0)
      .guard?.faults.push(
        { ...fault, time: now },
        { ...fault, line: 2, time: now, first: now, message: 'Allowed memory size of 1 bytes exhausted' },
      );
    const asked = requests();
    await later(MINUTE);
    expect([requests() - asked, plugin.version, (await matters()).length]).toEqual([1, '99.0', 0]);
    // In another plugin: looked for, and neither met nor told.
    app.site(0).guard?.faults.push({ ...fault, line: 3, time: now, first: now, item: 'another' });
    await later(4 * MINUTE);
    expect(requests() - asked).toBeGreaterThan(2);
    expect([plugin.version, await held(), await matters()]).toEqual(['99.0', [], []]);
  });
});

describe('is watched no longer', () => {
  const unread = async () => {
    const read = reads();
    await later(MINUTE);
    await later(DAY);
    return reads() - read;
  };

  it('what a person has updated since, on the site itself', async () => {
    plugin.version = '99.1';
    fails('front');
    app.site(0).faults.breaks = { [`${plugin.slug}@99.1`]: 'front' };
    await visit();
    await later(MINUTE);
    expect([plugin.version, await held(), await outcome()]).toEqual(['99.1', [], 'kept']);
  });

  it('what a person has rolled back, or deleted', async () => {
    await app.safely('roll-back', { change_id: await app.cell('SELECT id FROM safe_change') });
    expect(await unread()).toBe(0);
  });

  it('what is on a site that is suspended: it is not contacted', async () => {
    await app.call('suspend-site', one);
    const asked = requests();
    expect(await unread()).toBe(0);
    expect(requests() - asked).toBe(0);
  });
});

it('a process that dies while it rolls back leaves nothing undone', async () => {
  fails('front');
  await visit();
  app.clock.move(MINUTE);
  const dead = new AbortController();
  const { changed } = app.site(0);
  app.site(0).changed = (slug) => {
    changed.call(app.site(0), slug);
    dead.abort();
  };
  await app.running(watchUpdates(app.ctx({ signal: dead.signal })).catch(() => undefined));
  expect(await app.cell('SELECT outcome FROM safe_change')).toBeNull();
  app.site(0).changed = changed;
  await app.running(finishInterruptedRuns(app.ctx()));
  expect([plugin.version, await outcome()]).toEqual([before, 'rolled_back']);
  expect(await held()).toMatchObject([{ slug: plugin.slug, version: '99.0' }]);
});
