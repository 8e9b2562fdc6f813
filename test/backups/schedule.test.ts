/** The schedule of backups: whose turn it is, what becomes of turns that were missed or failed, and what it costs. */

import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { seedFleet } from '../../bench/lib/seed.js';
import { createSchedule } from '../../src/app/schedule/schedule.js';
import { putFile } from '../../src/demo/guard/backup.js';
import type { BackupState } from '../../src/demo/guard/types.js';
import { runBackupTurns } from '../../src/domain/backups/scheduled.js';
import { createClockStepMonitor } from '../../src/domain/clock-steps.js';
import type { Ctx } from '../../src/domain/context.js';
import type { Db } from '../../src/store/driver/db.js';
import { type CheckedApp, checkedApp } from '../operations/checked-app.js';
import { type RestApp, restApp } from '../rest/client.js';
import { tempFolder } from '../support/cleanup.js';
import { type Answer, SYSTEM, type TestApp, testApp } from '../support/harness.js';
import { connect, mcpApp } from '../support/mcp-clients.js';
import { turnsOf } from '../support/turns.js';

const DAY = 86_400_000;
const SITE = { site_id_or_domain: 1 };

let app: CheckedApp;

beforeEach(async () => {
  app = await checkedApp({ sites: 3, config: { site_backup_dir: join(tempFolder('schedule'), 'repository') } });
  await app.connectAll(3);
  for (const id of [1, 2, 3]) await app.call('install-site-guard', { site_id_or_domain: id });
  await setClock(1, 'Europe/Berlin');
  await setClock(2, '', 5.5);
  await setClock(3, '');
});

/** Sets the zone of a site there, and syncs it. */
async function setClock(id: number, timezone: string, gmtOffset = 0): Promise<void> {
  Object.assign(app.site(id - 1).state, { timezone, gmtOffset });
  await app.call('sync-sites', { site_ids_or_domains: [id] });
}

/** The files of a site for backups; there after its first one. */
function filesOf(index: number): BackupState {
  const state = app.site(index).guard?.backup;
  if (state == null) throw new Error('the site has no plugin for backups');
  return state;
}

/** The task, in a process of its own; `ctx` is that of its run. */
const processOf = (of: Pick<TestApp, 'ctx'>, ctx: () => Ctx = () => of.ctx({ actor: SYSTEM })) =>
  createSchedule({
    ctx: () => of.ctx({ actor: SYSTEM }),
    withCtx: (work) => work(ctx()),
    owner: 'test',
    clockSteps: { settle: async () => undefined },
  });
const run = () => processOf(app).runNow('site-backups');

/** Moves the clock to this instant. */
const until = (iso: string) => app.clock.move(Date.parse(iso) - app.clock.now());
const rule = (input: object) => app.call('schedule-backups', input);
const scheduleOf = async (id: number) => (await app.call('list-backups', { site_id_or_domain: id })).schedule;
const nextOf = async (id: number): Promise<string> => (await scheduleOf(id)).next_at;
const nexts = async () => [await nextOf(1), await nextOf(2), await nextOf(3)];
/** When the backups of a site were begun, oldest first. */
const madeOf = async (id: number): Promise<string[]> =>
  (await app.call('list-backups', { site_id_or_domain: id, state: 'done', per_page: 100 })).items
    .map(({ started_at }: Answer) => started_at)
    .reverse();
/** Alerts that were raised, newest first. */
const alerts = async (): Promise<Answer[]> =>
  (await app.call('list-alerts', {})).alerts
    .filter(({ kind }: Answer) => kind === 'site.backup_failed')
    .map(({ site_id, time, facts }: Answer) => ({
      site_id,
      time,
      ...Object.fromEntries(facts.map(({ name, value }: Answer) => [name, value])),
    }));
/** Each turn of site 1 until a time, as it comes. */
async function turnsUntil(end: string): Promise<string[]> {
  for (let next = await nextOf(1); next < end; next = await nextOf(1)) {
    until(next);
    await run();
  }
  return madeOf(1);
}

describe('the turns of a site', () => {
  it('are in its own time: Berlin, a fixed offset, and UTC for one that says nothing', async () => {
    expect(await rule({ every: 'daily' })).toEqual({
      rules: [{ tag_id: null, site_id: null, name: null, every: 'daily', hour: 3 }],
      total_rules: 1,
    });
    await run();
    // 03:07 there, 03:14, 03:21.
    expect(await nexts()).toEqual(['2026-11-21T02:07:00Z', '2026-11-20T21:44:00Z', '2026-11-21T03:21:00Z']);
    await rule({ every: 'weekly', hour: 23 });
    await run();
    // Monday, Tuesday, Wednesday.
    expect(await nexts()).toEqual(['2026-11-23T22:07:00Z', '2026-11-24T17:44:00Z', '2026-11-25T23:21:00Z']);
    await rule({ every: 'monthly', hour: 0 });
    await run();
    // On the 2nd, 3rd and 4th.
    expect(await nexts()).toEqual(['2026-12-01T23:07:00Z', '2026-12-02T18:44:00Z', '2026-12-04T00:21:00Z']);
  });

  it('keep to the clock on the wall when summer time begins and ends', async () => {
    await rule({ every: 'daily' });
    until('2027-03-26T12:00:00Z');
    await run();
    until('2027-03-26T12:01:00Z');
    const [caughtUp, ...spring] = await turnsUntil('2027-03-30');
    expect(caughtUp).toBe('2027-03-27T02:07:00Z');
    expect(spring).toEqual(['2027-03-28T01:07:00Z', '2027-03-29T01:07:00Z']);
  });

  it('at an hour that is skipped come an hour later, at one that comes twice once', async () => {
    await rule({ every: 'daily', hour: 2 });
    until('2027-03-27T12:00:00Z');
    await run();
    expect(await turnsUntil('2027-03-30')).toEqual(['2027-03-28T01:07:00Z', '2027-03-29T00:07:00Z']);
    await rule({ every: 'off' });
    await run();
    until('2027-10-30T12:00:00Z');
    await rule({ every: 'daily', hour: 2 });
    await run();
    expect((await turnsUntil('2027-11-02')).slice(2)).toEqual(['2027-10-31T00:07:00Z', '2027-11-01T01:07:00Z']);
  });

  it('come weekly and monthly', async () => {
    await rule({ ...SITE, every: 'weekly' });
    await run();
    expect(await turnsUntil('2026-12-08')).toEqual([
      '2026-11-23T02:07:00Z',
      '2026-11-30T02:07:00Z',
      '2026-12-07T02:07:00Z',
    ]);
    await rule({ ...SITE, every: 'monthly' });
    await run();
    expect((await turnsUntil('2027-03-03')).slice(3)).toEqual([
      '2027-01-02T02:07:00Z',
      '2027-02-02T02:07:00Z',
      '2027-03-02T02:07:00Z',
    ]);
  });

  it('follow the site when it moves to another zone', async () => {
    await rule({ every: 'daily' });
    await run();
    await setClock(1, 'America/New_York', -5);
    await run();
    expect(await nextOf(1)).toBe('2026-11-21T08:07:00Z');
  });
});

describe('the rule that holds', () => {
  it('is the narrowest: of the site, then of its tags the most frequent, then of the fleet', async () => {
    const [daily, weekly] = [
      (await app.call('add-tag', { name: 'Shops' })).id,
      (await app.call('add-tag', { name: 'Customers' })).id,
    ];
    await rule({ every: 'monthly' });
    await rule({ tag_id: weekly, every: 'weekly', hour: 5 });
    await rule({ tag_id: daily, every: 'daily', hour: 4 });
    await app.call('update-site', { ...SITE, tags: [weekly] });
    await run();
    expect(await scheduleOf(1)).toMatchObject({
      rules: [{ tag_id: weekly, site_id: null, name: 'Customers', every: 'weekly', hour: 5 }],
      next_at: '2026-11-23T04:07:00Z',
      total_rules: 3,
    });
    // A changed tag plans anew.
    await app.call('update-site', { ...SITE, tags: [weekly, daily] });
    await run();
    expect(await scheduleOf(1)).toMatchObject({ rules: [{ name: 'Shops' }], next_at: '2026-11-21T03:07:00Z' });
    await rule({ ...SITE, every: 'off' });
    expect(await scheduleOf(1)).toMatchObject({
      rules: [{ site_id: 1, tag_id: null, every: 'off' }],
      next_at: null,
      why_not: 'Its rule is off.',
    });
    until('2027-01-20T12:00:00Z');
    expect(await run()).toBe('2 backed up, 0 not');
    expect([await madeOf(1), await madeOf(2)]).toEqual([[], [expect.any(String)]]);
    await rule({ ...SITE, every: 'inherit' });
    expect(await scheduleOf(1)).toMatchObject({ rules: [{ name: 'Shops' }], next_at: '2027-01-21T03:07:00Z' });
    await app.call('delete-tag', { tag_id: daily, confirm: true });
    await run();
    expect(await scheduleOf(1)).toMatchObject({ rules: [{ name: 'Customers' }], next_at: '2027-01-25T04:07:00Z' });
    expect((await app.call('list-backups', {})).schedule).toEqual({
      rules: [
        { tag_id: null, site_id: null, name: null, every: 'monthly', hour: 3 },
        { tag_id: weekly, site_id: null, name: 'Customers', every: 'weekly', hour: 5 },
      ],
      total_rules: 2,
    });
  });

  it('is none at first', async () => {
    expect(await run()).toBe('no schedule');
    expect(await scheduleOf(1)).toEqual({ rules: [], total_rules: 0, next_at: null, why_not: expect.any(String) });
  });

  it('of another site leaves a turn that is due', async () => {
    await rule({ every: 'daily' });
    await run();
    until('2026-11-21T12:00:00Z');
    await rule({ site_id_or_domain: 2, every: 'off' });
    await rule({ every: 'weekly' });
    expect(await run()).toBe('2 backed up, 0 not');
    expect(await nextOf(1)).toBe('2026-11-23T02:07:00Z');
  });

  it('is undone, and a change of it is in the log', async () => {
    await rule({ ...SITE, every: 'daily', hour: 4 });
    await rule({ ...SITE, every: 'weekly', hour: 5 });
    const { actions } = await app.call('list-actions', { contexts: 'call' });
    const change_id = actions.find(({ action }: Answer) => action === 'called').id;
    const done = await app.call('undo-change', { change_id, confirm: true });
    expect(done).toMatchObject({ total_undone: 1, errors: [] });
    expect((await scheduleOf(1)).rules).toMatchObject([{ every: 'daily', hour: 4 }]);
  });
});

describe('a turn', () => {
  beforeEach(async () => {
    await rule({ ...SITE, every: 'daily' });
    await run();
  });

  it('that was missed is caught up once', async () => {
    app.clock.move(5 * DAY);
    expect(await run()).toBe('1 backed up, 0 not');
    expect(await run()).toBe('nothing due');
    expect(await madeOf(1)).toEqual(['2026-11-25T12:00:00Z']);
    expect(await nextOf(1)).toBe('2026-11-26T02:07:00Z');
  });

  it('that fails is tried again in an hour; then there is an alert, and the next is a day later', async () => {
    app.site(0).faults.offline = true;
    until('2026-11-21T02:07:00Z');
    expect(await run()).toBe('0 backed up, 1 not');
    expect(await nextOf(1)).toBe('2026-11-21T03:07:00Z');
    expect(await alerts()).toEqual([]);
    until('2026-11-21T03:07:00Z');
    await run();
    const first = {
      site_id: 1,
      time: '2026-11-21T03:07:00Z',
      reason: expect.stringContaining('closed the connection'),
      next_at: '2026-11-22T02:07:00Z',
    };
    expect(await alerts()).toMatchObject([first]);
    // Daily until it succeeds, however seldom its rule has it; an alert a week.
    await rule({ ...SITE, every: 'monthly' });
    await run();
    for (let day = 22; day < 29; day++)
      for (const hour of [2, 3]) {
        until(`2026-11-${day}T0${hour}:07:00Z`);
        expect(await run()).toBe('0 backed up, 1 not');
      }
    expect((await alerts()).map(({ time }) => time)).toEqual(['2026-11-28T03:07:00Z', '2026-11-21T03:07:00Z']);
    app.site(0).faults.offline = false;
    until('2026-11-29T02:07:00Z');
    expect(await run()).toBe('1 backed up, 0 not');
    expect(await nextOf(1)).toBe('2026-12-02T02:07:00Z');
    // A new failure is told of at once.
    app.site(0).faults.offline = true;
    for (const hour of [2, 3]) {
      until(`2026-12-02T0${hour}:07:00Z`);
      await run();
    }
    expect((await alerts())[0]).toMatchObject({ time: '2026-12-02T03:07:00Z', last_backup: '2026-11-29T02:07:00Z' });
  });

  it('that does not end is given up after twelve hours, and others have theirs', async () => {
    await app.call('back-up-site', SITE);
    const path = 'wp-content/uploads/endless.bin';
    putFile(filesOf(0), path, Buffer.alloc(1_500_000), 1_700_000_000);
    let answers = 0;
    filesOf(0).lies = (action, asked) => {
      const [first] = (asked.parts ?? []) as [string, number, number][];
      if (action !== 'read' || first?.[0] !== path) return undefined;
      answers += 1;
      if (answers % 10 === 0) app.clock.move(13 * 3_600_000);
      if (answers > 50) throw new Error('it was asked on and on');
      const bytes = Buffer.alloc(1_000, answers);
      const part = { length: bytes.length, size: 2 ** 40, time: 1, inode: 1, changed: false };
      return { parts: [part], data: bytes.toString('base64'), deflated: false };
    };
    until('2026-11-21T02:07:00Z');
    expect(await run()).toBe('0 backed up, 1 not');
    expect(await nextOf(1)).toBe('2026-11-21T16:07:00Z');
    until('2026-11-21T16:07:00Z');
    expect(await run()).toBe('0 backed up, 1 not');
    expect(await alerts()).toMatchObject([{ site_id: 1, reason: expect.stringContaining('longer than 12 hours') }]);
    expect((await app.call('list-backups', { ...SITE, state: 'interrupted' })).total).toBe(1);
  });

  it('that fails raises no alert where the settings say so', async () => {
    await app.db.run(
      "INSERT INTO setting (key, value, updated_at) VALUES ('general.svc_notification_on_backup_fail', '0', 0)",
    );
    app.site(0).faults.offline = true;
    for (const hour of [2, 3]) {
      until(`2026-11-21T0${hour}:07:00Z`);
      await run();
    }
    expect(await alerts()).toEqual([]);
  });

  it('waits for its site: suspended, disconnected, without a guard', async () => {
    await app.call('suspend-site', SITE);
    until('2026-11-22T12:00:00Z');
    expect(await run()).toBe('nothing due');
    expect(await scheduleOf(1)).toMatchObject({ next_at: null, why_not: expect.stringContaining('connected') });
    await app.call('unsuspend-site', SITE);
    expect(await run()).toBe('1 backed up, 0 not');
    await app.call('remove-site-guard', { ...SITE, confirm: true });
    until('2026-11-23T12:00:00Z');
    expect(await run()).toBe('nothing due');
    await app.call('install-site-guard', SITE);
    expect(await run()).toBe('1 backed up, 0 not');
    expect(await nextOf(1)).toBe('2026-11-24T02:07:00Z');
  });

  it('that a stopping service interrupts stays due, and goes on where it ended', async () => {
    await app.call('back-up-site', SITE);
    // More than the site sends at once.
    for (let index = 0; index < 3; index++)
      putFile(filesOf(0), `wp-content/uploads/${index}.bin`, Buffer.alloc(1_500_000, String(index)), 1_700_000_000);
    until('2026-11-21T02:07:00Z');
    const stop = new AbortController();
    const stopping = processOf(app, () => ({
      ...app.ctx({ actor: SYSTEM, signal: stop.signal }),
      progress: () => stop.abort(),
    }));
    expect(await stopping.runNow('site-backups')).toBe('0 backed up, 1 not');
    const [left] = (await app.call('list-backups', SITE)).items;
    expect(left).toMatchObject({ state: 'interrupted' });
    expect(await nextOf(1)).toBe('2026-11-21T02:07:00Z');
    expect(await run()).toBe('1 backed up, 0 not');
    expect((await app.call('list-backups', SITE)).items[0]).toMatchObject({ backup_id: left.backup_id, state: 'done' });
    expect(await alerts()).toEqual([]);
  });

  it('that breaks off goes on an hour later', async () => {
    await app.call('back-up-site', SITE);
    const state = filesOf(0);
    putFile(state, 'wp-content/uploads/new.bin', Buffer.alloc(5_000, 'x'), 1_700_000_000);
    until('2026-11-21T02:07:00Z');
    state.stopsAfter = 0;
    expect(await run()).toBe('0 backed up, 1 not');
    const [left] = (await app.call('list-backups', SITE)).items;
    expect(left).toMatchObject({ state: 'interrupted' });
    delete state.stopsAfter;
    until('2026-11-21T03:07:00Z');
    expect(await run()).toBe('1 backed up, 0 not');
    expect((await app.call('list-backups', SITE)).items[0]).toMatchObject({ backup_id: left.backup_id, state: 'done' });
  });

  it('is taken by one of two processes', async () => {
    await rule({ every: 'daily' });
    await run();
    until('2026-11-21T12:00:00Z');
    const outcomes = await Promise.all([run(), run()]);
    expect(outcomes.map((text) => Number.parseInt(text, 10) || 0).reduce((sum, n) => sum + n)).toBe(3);
    for (const id of [1, 2, 3]) expect(await madeOf(id)).toHaveLength(1);
  });

  it('that takes hours keeps no other waiting, and is not taken twice', async () => {
    await rule({ every: 'daily' });
    until('2026-11-21T02:07:00Z');
    await app.call('suspend-site', { site_id_or_domain: 2 });
    let [reached, release] = [false, () => {}];
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const timers = app.clock.limitsWithin(60_000);
    const { siteBackups } = app.ctx().store;
    const running = processOf(app, () => {
      const ctx = app.ctx({ actor: SYSTEM });
      const begin: typeof siteBackups.begin = async (row, ...more) => {
        if (row.site_id === 1) {
          reached = true;
          await held;
        }
        return siteBackups.begin(row, ...more);
      };
      return { ...ctx, store: { ...ctx.store, siteBackups: { ...siteBackups, begin } } };
    }).runNow('site-backups');
    // It looks again in a minute, and no request is under way.
    await expect.poll(() => reached && app.clock.limitsWithin(60_000)).toBe(timers + 1);
    until('2026-11-21T03:21:00Z');
    await expect.poll(() => madeOf(3)).toEqual(['2026-11-21T03:21:00Z']);
    release();
    expect(await running).toBe('2 backed up, 0 not');
    expect(await madeOf(1)).toHaveLength(1);
  });

  it('waits ten minutes while another backup of its site is under way', async () => {
    until('2026-11-21T02:07:00Z');
    const { siteBackups } = app.ctx().store;
    const now = app.clock.now();
    await siteBackups.begin(
      { id: `backup_${'1'.repeat(24)}`, site_id: 1, site_url: app.site(0).url },
      now,
      now - 120_000,
    );
    expect(await run()).toBe('0 backed up, 1 not');
    expect(await nextOf(1)).toBe('2026-11-21T02:17:00Z');
    until('2026-11-21T02:17:00Z');
    expect(await run()).toBe('1 backed up, 0 not');
  });

  /** Runs the task in a process that dies once it has asked the site: what it waited for would end with the clock. */
  function die(): Promise<void> {
    const { siteBackups } = app.ctx().store;
    return new Promise<void>((died) => {
      const begin = () => {
        died();
        return new Promise<never>(() => undefined);
      };
      const dying = processOf(app, () => {
        const ctx = app.ctx({ actor: SYSTEM });
        return { ...ctx, store: { ...ctx.store, siteBackups: { ...siteBackups, begin } } };
      });
      void dying.runNow('site-backups');
    });
  }

  it('of a process that died is taken ten minutes later', async () => {
    until('2026-11-21T02:07:00Z');
    await die();
    expect(await nextOf(1)).toBe('2026-11-21T02:17:00Z');
    expect(await run()).toBe('nothing due');
    until('2026-11-21T02:17:00Z');
    expect(await run()).toBe('1 backed up, 0 not');
  });

  it('that ends its process three times has failed: there is an alert, and the next is a day later', async () => {
    for (const minute of ['07', '17', '27']) {
      until(`2026-11-21T02:${minute}:00Z`);
      await die();
    }
    expect(await alerts()).toEqual([]);
    until('2026-11-21T02:37:00Z');
    const asked = app.site(0).calls.length;
    expect(await run()).toBe('0 backed up, 1 not');
    expect(app.site(0).calls).toHaveLength(asked);
    expect(await nextOf(1)).toBe('2026-11-22T02:07:00Z');
    expect(await alerts()).toMatchObject([
      {
        time: '2026-11-21T02:37:00Z',
        reason: expect.stringContaining('ended 3 times'),
        next_at: '2026-11-22T02:07:00Z',
      },
    ]);
    until('2026-11-22T02:07:00Z');
    expect(await run()).toBe('1 backed up, 0 not');
  });

  it('that is begun again while the third process is still at it has not failed', async () => {
    const { siteBackups } = app.ctx().store;
    const site = { id: `backup_${'1'.repeat(24)}`, site_id: 1, site_url: app.site(0).url };
    for (const minute of ['07', '17', '27']) {
      until(`2026-11-21T02:${minute}:00Z`);
      await die();
    }
    until('2026-11-21T02:37:00Z');
    await siteBackups.begin(site, app.clock.now() - 60_000, 0);
    expect(await run()).toBe('0 backed up, 1 not');
    expect(await alerts()).toEqual([]);
    expect(await nextOf(1)).toBe('2026-11-21T02:47:00Z');
  });

  it.each([
    ['while the program ran', true],
    ['while no process ran', false],
  ])('comes at its hour again when a clock that was days ahead is corrected %s', async (_when, seen) => {
    const steps = createClockStepMonitor(() => app.ctx({ actor: SYSTEM }));
    await steps.settle();
    const step = async (by: number) => {
      app.clock.step(by);
      await (seen ? steps.settle() : app.ctx().store.clockSteps.settle(app.clock.now(), { forward: 0, back: 0 }));
    };
    await step(10 * DAY);
    expect(await run()).toBe('1 backed up, 0 not');
    expect(await nextOf(1)).toBe('2026-12-01T02:07:00Z');
    await step(-10 * DAY);
    await run();
    expect(await nextOf(1)).toBe('2026-11-21T02:07:00Z');
    // One that was begun, too: its process dies while the clock is ahead.
    await step(10 * DAY);
    await die();
    await step(-10 * DAY);
    until('2026-11-21T02:07:00Z');
    expect(await run()).toBe('1 backed up, 0 not');
  });

  it('goes on where the clock was set back, also after a process that died when it was ahead', async () => {
    const steps = createClockStepMonitor(() => app.ctx({ actor: SYSTEM }));
    const { siteBackups } = app.ctx().store;
    const ahead = app.clock.now() + 10 * DAY;
    await siteBackups.begin({ id: `backup_${'1'.repeat(24)}`, site_id: 1, site_url: app.site(0).url }, ahead, 0);
    await steps.settle();
    expect((await app.call('list-backups', { ...SITE, state: 'interrupted' })).items).toMatchObject([
      { state: 'interrupted' },
    ]);
    await app.call('back-up-site', SITE);
    const state = filesOf(0);
    for (let index = 0; index < 3; index++)
      putFile(state, `wp-content/uploads/${index}.bin`, Buffer.alloc(1_500_000, String(index)), 1_700_000_000);
    let set = false;
    state.lies = (action) => {
      if (action === 'read' && !set) {
        set = true;
        app.clock.step(-DAY);
        void steps.settle();
      }
      return undefined;
    };
    app.clock.move(3_600_000);
    expect((await app.call('back-up-site', SITE)).backups).toHaveLength(1);
    expect(set).toBe(true);
  });

  it('is not taken while the schedule is off, and the site says so', async () => {
    await app.service.store.settings.write([{ key: 'advanced.svc_wp_cron', value: 0 }], app.clock.now());
    until('2026-11-22T12:00:00Z');
    expect(await run()).toBe('disabled by svc_wp_cron');
    expect(await scheduleOf(1)).toMatchObject({ next_at: null, why_not: expect.stringContaining('svc_wp_cron') });
  });
});

describe('the ways in', () => {
  it('MCP and REST set the same rules', async () => {
    const mcp = await mcpApp({ sites: 2, connected: 2 });
    const client = await connect(['2025-11-25', 'http'], mcp.target);
    const { structuredContent } = await client.call('svc-schedule-backups-v1', { every: 'weekly', hour: 2 });
    expect(structuredContent).toMatchObject({ rules: [{ every: 'weekly', hour: 2 }], total_rules: 1 });
    const rest: RestApp = await restApp({ sites: 1 });
    await rest.connect(0);
    const set = await rest.rest('PUT /backups/schedule', { body: { site: '1', every: 'daily' } });
    expect(set.body).toMatchObject({ success: 1, data: { rules: [{ site_id: 1, every: 'daily', hour: 3 }] } });
    const list = await rest.rest('GET /backups?site=1');
    expect(list.body.schedule).toMatchObject({ rules: [{ site_id: 1 }], next_at: null, why_not: expect.any(String) });
    expect((await rest.rest('PUT /backups/schedule', { body: { every: 'hourly' } })).status).toBe(400);
  });
});

describe('5,000 sites', () => {
  const SITES = 5_000;
  let large: TestApp;

  beforeEach(async () => {
    large = await testApp({ sites: 1, jobs: false });
    await seedFleet(large.db, { sites: SITES, plugins: 0 });
  });
  const count = async (where: string) =>
    Number((await large.db.one(`SELECT count(*) AS n FROM backup_turn WHERE ${where}`))?.n);

  it('are planned within three minutes, a part at a time, while others have their turn', async () => {
    await large.call('schedule-backups', { every: 'monthly' });
    const planned: number[] = [];
    for (let minute = 0; minute < 3; minute++) {
      expect(await turnsOf(() => runBackupTurns(large.ctx()))).toBeGreaterThan(9);
      planned.push(await count('planned = 1'));
    }
    expect(planned).toEqual([2_000, 4_000, SITES]);
    // An exception of one site concerns no other.
    await large.call('schedule-backups', { site_id_or_domain: 7, every: 'off' });
    expect(await count('planned <= 0')).toBe(1);
  });

  it('are not read each minute, also when all turns are due and no site can be backed up', async () => {
    await large.call('schedule-backups', { every: 'daily' });
    for (let minute = 0; minute < 3; minute++) await runBackupTurns(large.ctx());
    large.clock.move(2 * DAY);
    expect(await runBackupTurns(large.ctx())).toBe('nothing due');
    expect(await count('planned = 2')).toBe(SITES);
    large.db.reset();
    await runBackupTurns(large.ctx());
    const asked = large.db.log.filter((text) => /backup_turn/.test(text));
    expect(asked.length).toBeGreaterThan(2);
    for (const text of asked) {
      const args = Array.from({ length: (text.match(/\?/g) ?? []).length }, () => 0);
      const steps = await (large.db as Db).all(`EXPLAIN QUERY PLAN ${text}`, args);
      const plan = steps.map(({ detail }) => detail).join('; ');
      // Both indexes have only the rows that are wanted.
      expect(plan).toMatch(/backup_turn_(due|unplanned)/);
      expect(plan).not.toMatch(/SCAN (s|d|g|r|site|site_detail|backup_rule)\b/);
    }
  });
});
