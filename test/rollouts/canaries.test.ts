/** Canaries that are chosen by what is known of their sites: the newest backups, the fewest visits. */

import { beforeAll, describe, expect, it } from 'vitest';
import { putGuard } from '../../src/demo/guard/state.js';
import { inactivePlugin } from '../../src/demo/inventory.js';
import type { PluginState } from '../../src/demo/state.js';
import { type RestApp, restApp } from '../rest/client.js';
import { ordinary } from '../safety/safety-app.js';
import { newKey } from '../support/logins.js';

const SITES = 6;
const HOUR = 3600;
const DAY_MS = 86_400_000;
const UPDRAFT = 'updraftplus/updraftplus.php';

let app: RestApp;
/** Unix seconds at the beginning. */
let began: number;

function stateOf(id: number) {
  const site = app.fleet.sites[id - 1];
  if (site === undefined) throw new Error(`no site ${id}`);
  return site.inner;
}

/** Gives a site a backup plugin. `made` 0 = it has made no backup. */
function install(id: number, slug: string, name: string, made: number, active = true): void {
  const state = stateOf(id);
  const plugin: PluginState = { ...inactivePlugin([slug, 'Backups', '1.0', '', '']), active };
  state.plugins.push(plugin);
  // The child learns of UpdraftPlus' backups at once, of others at the end of a sync.
  state.backups = new Map([[name, { made, noted: name === 'updraftplus' ? made : 0 }]]);
}

const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
const syncs = async () => {
  app.clock.move(60_000);
  await app.call('sync-sites', {});
};
const backupOf = async (id: number) => (await app.rest(`GET /sites/${id}`)).body.data.last_backup;
const plan = (waves: object, more: object = {}) =>
  app.call('plan-updates', { waves: { sizes: [], ...waves }, per_page: 50, ...more });
const firstOf = ({ items }: { items: { wave: number; site_id: number }[] }) =>
  items.filter(({ wave }) => wave === 1).map(({ site_id }) => site_id);

beforeAll(async () => {
  app = await restApp({ sites: SITES, fleet: { plugins: 3 }, jobs: false });
  began = Math.floor(app.clock.now() / 1000);
  for (const [index, site] of app.fleet.sites.entries()) {
    const { state } = site;
    for (const item of [...state.plugins, ...state.themes]) item.update = null;
    state.plugins = state.plugins.filter(({ slug }) => slug !== UPDRAFT);
    Object.assign(state, { translations: [], wpUpdate: null, backups: new Map() });
    const [plugin] = ordinary(site);
    if (plugin === undefined) throw new Error('a site without a plugin');
    const update = { version: '2.0', requiresPhp: '', requiresWp: '' };
    Object.assign(plugin, {
      slug: 'shop/shop.php',
      name: 'Shop',
      version: '1.0',
      active: true,
      premium: false,
      update,
    });
    await app.connect(index);
  }
  install(1, UPDRAFT, 'updraftplus', began - 5 * HOUR);
  stateOf(2).gmtOffset = 5.5;
  install(2, 'backwpup-pro/backwpup.php', 'backwpup', began - 6 * HOUR);
  install(3, UPDRAFT, 'updraftplus', began - HOUR, false);
  install(5, UPDRAFT, 'updraftplus', began + 3 * 24 * HOUR);
  install(6, UPDRAFT, 'updraftplus', 0);
});

describe('the last backup of a site', () => {
  it('is asked for by the sync after the one that found its plugin', async () => {
    await syncs();
    expect(await backupOf(1)).toEqual({ plugin: 'updraftplus', made_at: null, looked_at: null });
    await syncs();
    const looked_at = iso(Math.floor(app.clock.now() / 1000));
    expect(await backupOf(1)).toEqual({ plugin: 'updraftplus', made_at: iso(began - 5 * HOUR), looked_at });
    // Its first answer was given before it had looked into the log.
    expect((await backupOf(2)).plugin).toBe('backwpup');
    await syncs();
    expect((await backupOf(2)).made_at).toBe(iso(began - 6 * HOUR));
  });

  it('is not known of a plugin that is not active, has made none, or whose clock is ahead; the look is told all the same', async () => {
    const looked_at = iso(Math.floor(app.clock.now() / 1000));
    for (const id of [3, 4]) expect(await backupOf(id)).toEqual({ plugin: null, made_at: null, looked_at: null });
    for (const id of [5, 6]) expect(await backupOf(id)).toEqual({ plugin: 'updraftplus', made_at: null, looked_at });
  });

  it('has the time of the newest look where nothing else has changed', async () => {
    await syncs();
    await syncs();
    const looked_at = iso(Math.floor(app.clock.now() / 1000));
    expect(await backupOf(1)).toEqual({ plugin: 'updraftplus', made_at: iso(began - 5 * HOUR), looked_at });
  });
});

describe('canaries', () => {
  it('are the sites with the newest backups, told with their times', async () => {
    const one = await plan({ canaries: 1, canary_choice: 'newest_backup' });
    expect(firstOf(one)).toEqual([1]);
    expect(one.summary).toContain(` 1 canary: the site with the newest backup (`);
    const two = await plan({ canaries: 2, canary_choice: 'newest_backup' });
    expect(firstOf(two)).toEqual([1, 2]);
    const [a, b] = [1, 2].map((id) => new URL(app.fleet.site(id - 1).url).host);
    expect(two.summary).toMatch(/ 2 canaries: the sites with the newest backups \(/);
    expect(two.summary).toContain(`${a}`);
    expect(two.summary).toContain(`${iso(began - 5 * HOUR)}; `);
    expect(two.summary).toContain(`${iso(began - 6 * HOUR)}).`);
    expect(two.summary).toContain(`${b}`);
    expect(two.summary).not.toContain('Fewer');
    expect((await plan({ canaries: 2, canary_choice: 'newest_backup' })).digest).toBe(two.digest);
  });

  it('are fewer, and the plan says so, where fewer backups are known than asked for', async () => {
    const { summary, ...found } = await plan({ canaries: 4, canary_choice: 'newest_backup' });
    expect(firstOf(found as never)).toEqual([1, 2]);
    expect(summary).toContain('Fewer than the 4 asked for: for the other sites, no backup is known');
    const tagged = await plan({ canary_sites: [2, 3], canary_choice: 'newest_backup' });
    expect(firstOf(tagged)).toEqual([2]);
    expect(tagged.summary).toContain('Fewer than the 2 asked for');
  });

  it('are none that are guessed: a plan without any is refused, and what is unknown is named', async () => {
    const refused = await app.fail('plan-updates', {
      waves: { canary_sites: [3, 4, 6], canary_choice: 'newest_backup' },
    });
    expect(refused).toMatchObject({ code: 'svc_invalid_input', field: 'waves.canary_choice' });
    const traffic = await app.fail('plan-updates', { waves: { canary_choice: 'least_traffic' } });
    expect(traffic).toMatchObject({ code: 'svc_invalid_input', field: 'waves.canary_choice' });
    const unknown = await app.fail('plan-updates', { waves: { canary_choice: 'newest' } });
    expect(unknown).toMatchObject({ field: 'waves.canary_choice' });
  });

  it('are sites that are up, if any of them is', async () => {
    await app.db.run('UPDATE site SET unreached = 1 WHERE id = 1');
    expect(firstOf(await plan({ canaries: 1, canary_choice: 'newest_backup' }))).toEqual([2]);
    await app.db.run('UPDATE site SET unreached = 0 WHERE id = 1');
  });

  it('are the sites whose guards have counted the fewest visits a day', async () => {
    const visits = [{ days: 7, count: 700 }, { days: 1, count: 140 }, null];
    for (const [index, seen] of visits.entries()) putGuard(app.fleet.site(index)).visits = seen;
    for (const id of [1, 2, 3]) await app.call('get-site-guard', { site_id_or_domain: id });
    expect(await app.call('get-site-guard', { site_id_or_domain: 1 })).toMatchObject({ visits_per_day: 100 });
    // A guard that has not counted for a whole day yet is not one without visitors.
    expect(await app.call('get-site-guard', { site_id_or_domain: 3 })).toMatchObject({ visits_per_day: null });
    const one = await plan({ canaries: 1, canary_choice: 'least_traffic' });
    expect(firstOf(one)).toEqual([1]);
    expect(one.summary).toMatch(/ 1 canary: the site with the fewest visits \([^)]*: about 100 a day\)\./);
    const all = await plan({ canaries: 5, canary_choice: 'least_traffic' });
    expect(firstOf(all)).toEqual([1, 2]);
    expect(all.summary).toContain('about 140 a day');
    expect(all.summary).toContain('Fewer than the 5 asked for: for the other sites, the visits are not known');
  });

  it('can be what a policy asks for', async () => {
    const { token } = await newKey(app.service.store.keys, { approves: true });
    const { body } = await app.rest('POST /policies', {
      token,
      body: {
        ...{ name: 'Nightly', approval: 'ask', schedule: { at: '03:00' } },
        waves: { canaries: 1, canary_choice: 'newest_backup' },
      },
    });
    const policy = (await app.rest(`GET /policies/${body.data.policy_id}`)).body.data;
    expect(policy.waves.canary_choice).toBe('newest_backup');
    expect(policy.summary).toContain('First on the sites with the newest backups.');
    const preview = await app.rest(`GET /policies/${policy.policy_id}/preview`);
    expect(JSON.stringify(preview.body)).toContain('1 canary: the site with the newest backup');
  });

  it('are not chosen by a count that is a month old', async () => {
    app.clock.move(31 * DAY_MS);
    expect(await app.fail('plan-updates', { waves: { canary_choice: 'least_traffic' } })).toMatchObject({
      field: 'waves.canary_choice',
    });
  });
});

describe('a newer backup', () => {
  it('is stored although nothing else of the site has changed, and when it was looked for', async () => {
    await syncs();
    const made = began - 2 * HOUR;
    stateOf(1).backups = new Map([['updraftplus', { made, noted: made }]]);
    await syncs();
    const looked_at = iso(Math.floor(app.clock.now() / 1000));
    expect(await backupOf(1)).toEqual({ plugin: 'updraftplus', made_at: iso(made), looked_at });
  });
});
