/** The automatic updates of the settings: a policy that the settings make, that anyone can read, and that acts. */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runPolicies } from '../../src/domain/policies/run.js';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { type RestApp, restApp } from '../rest/client.js';
import { ordinary, running } from '../safety/safety-app.js';
import { tempFolder } from '../support/cleanup.js';
import { SYSTEM } from '../support/harness.js';
import { newKey } from '../support/logins.js';
import { needs } from '../support/needs.js';
import { startSqld } from '../support/sqld.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NAME = 'Automatic updates of the settings';
const OFF = {
  ...{ plugin_automatic_daily_update: 0, theme_automatic_daily_update: 0, trans_automatic_daily_update: 0 },
  ...{ automatic_daily_update: 0, trusted_plugins: null, trusted_themes: null, timezone_string: null },
  ...{ frequency_auto_update: null, time_auto_update: null, dayinweek_auto_update: null, delay_autoupdate: 0 },
};
const ALL = {
  ...{ plugin_automatic_daily_update: 1, theme_automatic_daily_update: 1 },
  ...{ trans_automatic_daily_update: 1, automatic_daily_update: 1 },
};

/** @param another a database of its own, which can be opened again */
function cases(database: () => Promise<string>, another: () => Promise<string>): void {
  let app: RestApp;
  let token = '';

  /** Each of three sites is offered two plugins, a theme, a translation and WordPress; the third takes none by itself. */
  beforeAll(async () => {
    app = await restApp({
      sites: 3,
      fleet: { plugins: 4 },
      config: { db: await database(), job_delay_ms: 0, direct_call_ms: DAY },
      jobs: false,
    });
    for (const [index, site] of app.fleet.sites.entries()) {
      for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
      const [shop, forum] = ordinary(site);
      const [theme] = site.state.themes;
      if (shop === undefined || forum === undefined || theme === undefined) throw new Error('a site with too little');
      Object.assign(shop, { slug: 'shop/shop.php', name: 'Shop', version: '1.0', active: true, premium: false });
      // An item may call itself as it likes: it is not trusted for that.
      Object.assign(forum, { slug: 'forum/forum.php', name: 'shop', version: '1.0', active: true, premium: false });
      Object.assign(theme, { slug: 'paper', name: 'Paper', version: '1.0' });
      shop.update = { version: '1.1', requiresPhp: '', requiresWp: '' };
      forum.update = { version: '1.1', requiresPhp: '', requiresWp: '' };
      Object.assign(theme, { update: { version: '1.1', requiresPhp: '', requiresWp: '' } });
      site.state.wpVersion = '6.7';
      site.state.wpUpdate = '6.8';
      const id = await app.connect(index);
      if (index < 2) await app.rest(`PATCH /sites/${id}/edit`, { body: { automatic_update: 1 } });
    }
    token = (await newKey(app.service.store.keys, { approves: true })).token;
  });

  const own = (call: string, body?: object) => app.rest(call, { token, body });
  async function set(body: object, by = token) {
    const { status, body: reply } = await app.rest('PATCH /settings/general/edit', { token: by, body });
    expect([status, reply.message]).toEqual([200, 'The general settings were changed.']);
    return reply.data;
  }
  const tick = () => runPolicies(app.ctx({ actor: SYSTEM }));
  const listed = async () => (await app.rest('GET /policies')).body.data;
  /** The policy of the settings, as anyone reads it. */
  async function read() {
    const [first] = await listed();
    return (await app.rest(`GET /policies/${first.policy_id}`, { token: app.tokens.read })).body.data;
  }
  const moveTo = (iso: string) => app.clock.move(Date.parse(iso) - app.clock.now());
  const rollouts = async () => (await app.rest('GET /rollouts')).body.total as number;
  /** What the policy would do now: `type slug site`. */
  async function planned(): Promise<string[]> {
    const { policy_id } = await read();
    const { now } = (await app.rest(`GET /policies/${policy_id}/preview`, { token: app.tokens.read })).body.data;
    return now.by_item.map((one: Record<string, unknown>) => `${one.type} ${one.slug} ${one.sites}`).sort();
  }

  describe('the settings', () => {
    it('make no policy while all switches are off, and none is kept after that', async () => {
      await set({ ...OFF, trusted_plugins: 'shop', frequency_auto_update: 'weekly' });
      expect((await app.rest('GET /policies')).body).toMatchObject({ total: 0, data: [] });
      await set({ trans_automatic_daily_update: 1 });
      expect(await listed()).toHaveLength(1);
      await set({ trans_automatic_daily_update: 0 });
      expect(await listed()).toEqual([]);
      app.clock.move(2 * DAY);
      expect([await tick(), await rollouts()]).toEqual(['none', 0]);
    });

    it('take lists of slugs, cleaned and bounded', async () => {
      const data = await set({
        ...OFF,
        trusted_plugins: ' shop/shop.php, akismet,,akismet ',
        trusted_themes: ['paper'],
      });
      expect(data).toMatchObject({ trusted_plugins: ['shop/shop.php', 'akismet'], trusted_themes: ['paper'] });
      for (const trusted_plugins of [
        Array.from({ length: 1001 }, (_, i) => `p${i}`),
        ['a\u0000b'],
        [7],
        'x'.repeat(256),
      ])
        expect((await own('PATCH /settings/general/edit', { trusted_plugins })).status).toBe(400);
      expect(await set({ trusted_plugins: '', trusted_themes: [] })).toMatchObject({
        trusted_plugins: [],
        trusted_themes: [],
      });
      const { meta } = (await app.rest('GET /settings/general')).body;
      expect(Object.keys(meta.notes).filter((name) => /auto|trust/.test(name))).toEqual([]);
    });

    it('make a policy that comes first, says all of it, and is changed nowhere else', async () => {
      await set({
        ...OFF,
        ...ALL,
        trusted_plugins: ['shop', 'gone-since'],
        delay_autoupdate: 3,
        time_auto_update: '4:05',
      });
      const { policy_id: other } = (
        await own('POST /policies', { name: 'A', schedule: { at: '02:00' }, enabled: false })
      ).body.data;
      const [first, second] = await listed();
      expect(first).toMatchObject({ name: NAME, source: 'settings', enabled: true, acts: true, last: null });
      expect(first.summary).toBe(
        'Updates of trusted plugins (shop, gone-since), trusted themes (none are), translations, WordPress, 3 days after they were first offered, on sites whose automatic_update is on. Planned daily at 04:05, and started at once.',
      );
      expect(first.next_at.slice(11, 16)).toBe('04:05');
      expect(second).toMatchObject({ policy_id: other, source: 'person' });
      expect(await app.call('list-policies')).toMatchObject({ policies: [first, second], total: 2 });
      const path = `/policies/${first.policy_id}`;
      for (const reply of [
        await own(`PATCH ${path}`, { enabled: false }),
        await own(`PATCH ${path}`, { minimum_age_days: 0 }),
        await own(`DELETE ${path}`),
      ])
        expect([reply.status, reply.body]).toMatchObject([
          409,
          {
            code: 'svc_rest_conflict',
            message: expect.stringContaining('The general settings make this policy'),
            data: { advice: expect.stringContaining('trusted_plugins') },
          },
        ]);
      expect((await app.rest(`DELETE ${path}`)).status).toBe(403);
      // Nobody can pass a policy off as that one, while it exists or not.
      const named = { name: NAME.toUpperCase(), schedule: { at: '02:00' } };
      expect((await own('POST /policies', named)).body.code).toBe('svc_already_exists');
      await set({ ...OFF });
      expect((await own('POST /policies', named)).body.code).toBe('svc_already_exists');
      expect((await own('POST /policies', { ...named, name: 'B', trusted: { plugins: [], themes: [] } })).status).toBe(
        400,
      );
      expect(
        (await own('POST /policies', { ...named, name: 'B', schedule: { at: '02:00', day_of_month: 1 } })).status,
      ).toBe(400);
      await own(`DELETE /policies/${other}`);
    });

    it('set by someone who may not approve, leave each plan to a person', async () => {
      const { read_write } = app.tokens;
      await set({ ...OFF, trans_automatic_daily_update: 1 }, read_write);
      expect((await read()).approval).toBe('ask');
      await set({ trans_automatic_daily_update: 1 });
      expect((await read()).approval).toBe('auto');
      // What changes nothing of it takes nothing away.
      await set({ trans_automatic_daily_update: 1, date_format: 'Y' }, read_write);
      expect((await read()).approval).toBe('auto');
      await set({ automatic_daily_update: 1 }, read_write);
      const until = await read();
      expect(until).toMatchObject({ approval: 'ask', types: ['translations', 'core'] });
      moveTo(until.next_at);
      const before = await rollouts();
      await tick();
      expect((await read()).last).toMatchObject({ state: 'asked' });
      expect([await rollouts(), (await own('GET /approvals?state=waiting')).body.total]).toEqual([before, 1]);
      await set({ time_auto_update: '05:00' });
      expect((await own('GET /approvals?state=waiting')).body.total).toBe(0);
    });

    it('undone by a program, take the policy back, and what brings it back leaves each plan to a person', async () => {
      await set(OFF);
      const undo = async () => {
        const { actions } = await app.call('list-actions', { contexts: ['settings'], per_page: 1 });
        await app.call('undo-change', { change_id: actions[0].id, confirm: true });
      };
      await set({ plugin_automatic_daily_update: 1, trusted_plugins: 'shop' });
      await undo();
      expect(await listed()).toEqual([]);
      await undo();
      expect(await read()).toMatchObject({ approval: 'ask', trusted: { plugins: ['shop'], themes: [] } });
    });

    it('changed by two at once, say what both have set', async () => {
      await set(OFF);
      for (let turn = 0; turn < 3; turn++) {
        await Promise.all([
          set({ plugin_automatic_daily_update: 1 }),
          set({ time_auto_update: '07:00' }),
          set({ delay_autoupdate: 7 }),
        ]);
        expect(await read()).toMatchObject({ types: ['plugins'], schedule: { at: '07:00' }, minimum_age_days: 7 });
        await Promise.all([set({ plugin_automatic_daily_update: 0 }), set({ time_auto_update: '08:00' })]);
        expect(await listed()).toEqual([]);
        await set(OFF);
      }
    });
  });

  describe('what is planned', () => {
    it('without trust is what needs none, by its switch, on sites that take automatic updates', async () => {
      await set({ ...OFF, plugin_automatic_daily_update: 1, theme_automatic_daily_update: 1 });
      expect(await planned()).toEqual([]);
      await set({ automatic_daily_update: 1 });
      expect(await planned()).toEqual(['core platform 2']);
      await set({ trans_automatic_daily_update: 1 });
      expect((await planned()).filter((one) => !/^(core|translation) .* [12]$/.test(one))).toEqual([]);
      const { body } = await app.rest(`GET /policies/${(await read()).policy_id}/preview`);
      expect(body.data.now.left_out).toMatchObject([{ reason: 'automatic_update_off', sites: 1, site_ids: [3] }]);
    });

    it('is trusted by slug or folder, never by name, and each list holds for its own kind', async () => {
      await set({ ...OFF, plugin_automatic_daily_update: 1, trusted_plugins: 'SHOP, paper', trusted_themes: 'forum' });
      expect(await planned()).toEqual(['plugin shop/shop.php 2']);
      await set({ theme_automatic_daily_update: 1, trusted_themes: 'paper', trusted_plugins: 'forum/forum.php' });
      expect(await planned()).toEqual(['plugin forum/forum.php 2', 'theme paper 2']);
    });

    it('waits for the delay', async () => {
      await set({ ...OFF, plugin_automatic_daily_update: 1, trusted_plugins: 'shop', delay_autoupdate: 30 });
      const now = app.clock.now();
      const seen = (at: number) =>
        app.db.run("UPDATE offered_version SET first_seen = ?1, second_seen = ?1 WHERE slug LIKE 'shop%'", [at]);
      await seen(now - 30 * DAY + 1);
      expect(await planned()).toEqual([]);
      await seen(now - 30 * DAY);
      expect(await planned()).toEqual(['plugin shop/shop.php 2']);
      await set({ delay_autoupdate: 14 });
      const { past } = (await app.rest(`GET /policies/${(await read()).policy_id}/preview`)).body.data;
      expect(past.versions).toMatchObject([{ slug: 'shop/shop.php', version: '1.1', still_offered: 2 }]);
    });
  });

  describe('its times', () => {
    it.each([
      [
        'daily',
        { time_auto_update: '03:30' },
        '2027-02-10T03:00:00Z',
        ['2027-02-11T02:30:00Z', '2027-02-12T02:30:00Z'],
      ],
      // 10 February 2027 is a Wednesday.
      [
        'weekly',
        { time_auto_update: '03:30', dayinweek_auto_update: 0 },
        '2027-02-10T03:00:00Z',
        ['2027-02-14T02:30:00Z', '2027-02-21T02:30:00Z'],
      ],
      [
        'monthly',
        { time_auto_update: '23:45', dayinmonth_auto_update: 31 },
        '2027-02-10T03:00:00Z',
        ['2027-02-28T22:45:00Z', '2027-03-31T21:45:00Z', '2027-04-30T21:45:00Z'],
      ],
    ])('are %s ones of the time zone of the dashboard', async (frequency_auto_update, times, from, expected) => {
      app.clock.step(Date.parse(from) - app.clock.now());
      await set({ ...OFF, ...times, frequency_auto_update, timezone_string: 'Europe/Berlin' });
      await set({ plugin_automatic_daily_update: 1 });
      for (const due of expected) {
        const { next_at, last } = await read();
        expect(next_at).toBe(due);
        moveTo(new Date(Date.parse(due) - 1).toISOString());
        await tick();
        expect((await read()).last).toEqual(last);
        app.clock.move(1);
        await tick();
        await tick();
        expect((await read()).last).toMatchObject({ at: due, state: 'nothing' });
      }
    });
  });

  it('updates what is trusted at its time, once, in its own name', async () => {
    await set({ ...OFF, plugin_automatic_daily_update: 1, trusted_plugins: 'shop', time_auto_update: '06:00' });
    const before = await rollouts();
    moveTo((await read()).next_at);
    await Promise.all([tick(), tick()]);
    await tick();
    const { last } = await read();
    expect([await rollouts(), last.state]).toEqual([before + 1, 'started']);
    for (let turn = 0; turn < 4; turn++) {
      app.clock.move(2 * HOUR);
      for (let step = 0; step < 2; step++) {
        await advanceRollouts(app.ctx({ actor: SYSTEM }));
        await running(app, app.drain());
      }
    }
    const rollout = await app.call('get-rollout', { rollout_id: last.rollout_id });
    expect(rollout).toMatchObject({ state: 'completed', by: `policy ${NAME}` });
    expect(rollout.items.map((one: Record<string, unknown>) => [one.site_id, one.slug]).sort()).toEqual([
      [1, 'shop/shop.php'],
      [2, 'shop/shop.php'],
    ]);
    const versions = app.fleet.sites.map(({ state }) =>
      state.plugins.filter(({ slug }) => /^(shop|forum)/.test(slug)).map(({ version }) => version),
    );
    expect(versions).toEqual([
      ['1.1', '1.0'],
      ['1.1', '1.0'],
      ['1.0', '1.0'],
    ]);
    const { actions } = await app.call('list-actions', { contexts: ['policy'], per_page: 1 });
    expect(actions[0]).toMatchObject({ action: 'ran', name: NAME, actor: `policy ${NAME}`, via: 'jobs' });
  });

  it('outlives the process', async () => {
    const config = { db: await another() };
    const first = await restApp({ sites: 1, config, jobs: false });
    const body = { automatic_daily_update: 1, time_auto_update: '06:00' };
    const by = (await newKey(first.service.store.keys, { approves: true })).token;
    await first.rest('PATCH /settings/general/edit', { token: by, body });
    const { next_at } = (await first.rest('GET /policies')).body.data[0];
    await first.close();
    const second = await restApp({ sites: 1, config, jobs: false });
    second.clock.move(Date.parse(next_at) - second.clock.now());
    await runPolicies(second.ctx({ actor: SYSTEM }));
    expect((await second.rest('GET /policies')).body.data).toMatchObject([
      { name: NAME, acts: true, last: { at: next_at, state: 'nothing' } },
    ]);
  });
}

describe('in memory and in a file', () => {
  const file = async () => `file:${join(tempFolder('of-settings'), 'fleet.db')}`;
  cases(async () => ':memory:', file);
});

describe('on a libSQL server', needs('sqld'), () => {
  const servers: Awaited<ReturnType<typeof startSqld>>[] = [];
  const server = async () => {
    const started = await startSqld();
    servers.push(started);
    return `http://${started.host}`;
  };
  cases(server, server);
  afterAll(async () => {
    for (const one of servers) await one.stop();
  });
});
