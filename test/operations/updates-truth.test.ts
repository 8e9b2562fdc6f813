/**
 * Reports of an update that went wrong on the site: a broken site, a cut connection, maintenance mode, another main
 * file.
 */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DemoSite } from '../../src/demo/fleet.js';
import { answersLate, type HeldBack, holdBack, neverAnswers, runOutOfTime } from '../support/hold-back.js';
import { type CheckedApp, checkedApp, offeredPlugins, offers, ordinary } from './checked-app.js';

const OF = { site_id_or_domain: 1 };
const WAIT = 60_000;

let app: CheckedApp;
let site: DemoSite;
let slugs: string[];
/** Ends that time passes while a call waits for a site. */
let stopClock: () => void;
beforeEach(async () => {
  app = await checkedApp({ sites: 2, config: { update_wait_ms: WAIT } });
  site = app.site(0);
  await app.connectAll(2);
  for (const each of app.fleet.sites) offers(each, { plugins: 3, themes: 1, core: true });
  slugs = offeredPlugins(site);
  await app.call('sync-sites');
  stopClock = app.clock.flow();
});
afterEach(() => stopClock());

type Entry = { type: string; slug: string; code: string; message: string };
const asked = (name: string) => site.calls.filter((call) => call.function === name);
const plugin = (slug: string) => site.state.plugins.find((each) => each.slug === slug);
/** A call that runs out of time while the site holds back its answer. */
const late = (held: HeldBack, name: string, input: object) => runOutOfTime(app, held, app.call(name, input));
/**
 * Runs the job of a call that ran out of time. The site answers that call only after the job has looked for longer than
 * it looks for a silent site.
 */
async function drainWhile(held: HeldBack): Promise<void> {
  const began = app.clock.elapsed();
  const drained = app.drain();
  await expect.poll(() => app.clock.elapsed() - began).toBeGreaterThan(WAIT);
  held.letGo();
  await drained;
}
const stored = async (slug: string) =>
  (await app.call('get-site-plugins', OF)).plugins.find((each: { slug: string }) => each.slug === slug);

describe('an update that breaks the site', () => {
  it('is installed, and the site is said to be broken by it: in the answer, the lists, the score and an alert', async () => {
    const [killer = ''] = slugs;
    site.faults.killedBy = [killer];
    const name = plugin(killer)?.name ?? '';
    expect(await app.call('get-site', { ...OF, include_stats: true })).toMatchObject({
      stats: { health_score: expect.any(Number) },
    });
    const answer = await app.call('update-site-plugins', { ...OF, slugs: [killer] });
    expect(answer).toMatchObject({ updated: [], total_updated: 0 });
    expect(answer.errors).toMatchObject([
      { site_id: 1, type: 'plugin', slug: killer, code: 'svc_update_broke_site', new_version: '2.0' },
    ]);
    expect(answer.errors[0].message).toContain(name);
    expect(answer.errors[0].message).toMatch(
      /2\.0 was installed, but the site has answered HTTP 500 since: it is probably broken by this update\.$/,
    );

    expect(await stored(killer)).toMatchObject({ version: '2.0', update_version: null });
    const { updates } = await app.call('get-site-updates', OF);
    expect(updates.map((each: { slug: string }) => each.slug)).not.toContain(killer);
    expect(await app.call('get-site', { ...OF, include_stats: true })).toMatchObject({
      status: 'disconnected',
      stats: { health_score: null },
    });

    const facts = () => app.cell("SELECT facts FROM alert WHERE kind = 'site.http_check_failed'");
    await expect.poll(facts).toBeDefined();
    expect(JSON.parse(String(await facts()))).toEqual({
      http_status: 500,
      part: 'front_page',
      items: expect.stringContaining(name),
    });
  });

  it('is distinguished from an update after which the child plugin alone does not answer', async () => {
    const [a = ''] = slugs;
    const name = plugin(a)?.name ?? '';
    Object.defineProperty(site.faults, 'pluginMissing', { get: () => plugin(a)?.version === '2.0' });
    const { errors } = await app.call('update-site-plugins', { ...OF, slugs: [a] });
    expect(errors).toContainEqual(
      expect.objectContaining({
        type: 'site',
        message: expect.stringContaining('the child plugin has not answered since'),
      }),
    );
    const alert = () => app.db.one<{ id: number; facts: string }>('SELECT id, facts FROM alert');
    await expect.poll(alert).toBeDefined();
    // The front page answers 200: that is not the problem.
    expect(JSON.parse((await alert())?.facts ?? '')).toEqual({
      http_status: 400,
      part: 'child_plugin',
      items: expect.stringContaining(name),
    });
  });

  it('stops there: what was left is not sent, and said so', async () => {
    const [killer = ''] = slugs;
    site.faults.killedBy = [killer];
    const answer = await app.call('run-updates', { site_ids_or_domains: [1], types: ['plugins', 'themes'] });
    expect(answer.updated).toEqual([]);
    expect(answer.summary).toEqual({ total_updated: 0, total_errors: 4, sites_updated: 0 });
    expect(answer.errors.map(({ type, code }: Entry) => [type, code])).toEqual([
      ['theme', 'svc_site_offline'],
      ...slugs.map(() => ['plugin', 'svc_update_broke_site']),
    ]);
    expect(answer.errors[1].message).toMatch(/ 2\.0 was installed, .* broken by one of these updates\.$/);
    expect(asked('upgradeplugintheme')).toHaveLength(1);
  });

  it('is reported by a core update too', async () => {
    const app500 = { get: () => (site.state.wpVersion === '7.1' ? true : undefined), configurable: true };
    Object.defineProperty(site.faults, 'http500', app500);
    await expect(app.call('update-site-core', OF)).rejects.toMatchObject({
      code: 'svc_update_broke_site',
      data: { errors: [{ type: 'core', new_version: '7.1' }] },
    });
    expect(await app.call('get-site', OF)).toMatchObject({ wp_version: '7.1' });
  });

  it('leaves a front page alone that was as bad before', async () => {
    await app.db.run('UPDATE site_detail SET http_status = 404 WHERE site_id = 1');
    expect((await app.call('update-site-plugins', OF)).errors).toEqual([]);
  });
});

describe('a connection that breaks while an update runs', () => {
  it('counts what went through behind the gateway', async () => {
    site.faults.gatewayTimeout = true;
    expect(await app.call('update-site-plugins', OF)).toMatchObject({ total_updated: 3, errors: [] });
    expect(await app.call('update-site-core', OF)).toMatchObject({ updated: true, new_version: '7.1' });
  });

  it('looks again while the update runs on, and while the maintenance page is shown', async () => {
    site.faults = { gatewayTimeout: 3, maintenanceAfterUpdate: 2 };
    expect(await app.call('update-site-plugins', OF)).toMatchObject({ total_updated: 3, errors: [] });
    expect(asked('upgradeplugintheme')).toHaveLength(1);
  });

  it('says so when the update did not go through, after a minute', async () => {
    const [a = ''] = slugs;
    site.faults = { gatewayTimeout: 10_000 };
    const began = app.clock.now();
    const { updated, errors } = await app.call('update-site-plugins', { ...OF, slugs: [a] });
    expect(updated).toEqual([]);
    expect(errors).toMatchObject([{ slug: a, code: 'svc_still_running' }]);
    expect(errors[0]).not.toHaveProperty('unknown');
    expect(errors[0].message).toMatch(/^The connection broke during the update .*version 1\.0/);
    expect(app.clock.now() - began).toBeGreaterThanOrEqual(WAIT / 2);
  });

  it('names maintenance mode that does not end, with its remedy, and says that the outcome is unknown', async () => {
    const [a = ''] = slugs;
    site.faults = { gatewayTimeout: true, maintenanceAfterUpdate: true };
    const { updated, errors } = await app.call('update-site-plugins', { ...OF, slugs: [a] });
    expect(updated).toEqual([]);
    expect(errors).toMatchObject([
      {
        type: 'plugin',
        slug: a,
        code: 'svc_site_offline',
        message: expect.stringMatching(/connection broke.*unknown/),
      },
      {
        type: 'site',
        code: 'svc_site_offline',
        message: expect.stringMatching(/maintenance.*\.maintenance.*10 minutes/),
      },
    ]);
  });

  it('tells of a site that shows an error page since, and raises the alert, though the outcome is unknown', async () => {
    const [killer = ''] = slugs;
    site.faults = { gatewayTimeout: true, killedBy: [killer] };
    const { updated, errors } = await app.call('update-site-plugins', { ...OF, slugs: [killer] });
    expect(updated).toEqual([]);
    expect(errors).toMatchObject([
      {
        type: 'plugin',
        slug: killer,
        code: 'svc_site_offline',
        message: expect.stringMatching(/connection broke.*the site has answered HTTP 500 since: .*unknown/),
      },
      {
        type: 'site',
        code: 'svc_site_offline',
        message: expect.stringMatching(
          / 2\.0 was sent, but the site has answered HTTP 500 since: it is probably broken/,
        ),
      },
    ]);
    const facts = () => app.cell("SELECT facts FROM alert WHERE kind = 'site.http_check_failed'");
    await expect.poll(facts).toContain('"http_status":500');
  });

  it('never says "the old version still" of a site that did not answer', async () => {
    const [a = '', b = ''] = slugs;
    Object.defineProperty(site.faults, 'http500', {
      get: () => asked('upgradeplugintheme').length > 0 && asked('stats').length > 2,
    });
    const wanted = plugin(b);
    if (wanted?.update) wanted.update.requiresPhp = '9.9';
    const { errors } = await app.call('update-site-plugins', { ...OF, slugs: [a, b] });
    const [error] = errors.filter(({ slug }: Entry) => slug === b);
    expect(error).toMatchObject({ code: 'svc_site_offline', message: expect.stringMatching(/did not answer|unknown/) });
  });
});

describe('a main file that an update renames', () => {
  it('is recognised, and the plugin that was active and is not now is offered for activation', async () => {
    const active = ordinary(site).find(({ update }) => update !== null);
    const [a = ''] = [active?.slug];
    Object.assign(active ?? {}, { active: true });
    await app.call('sync-sites');
    const renamed = `${a.split('/')[0]}/other-main.php`;
    site.faults.renames = { [a]: renamed };
    const answer = await app.call('update-site-plugins', { ...OF, slugs: [a] });
    expect(answer.updated).toMatchObject([{ slug: a, old_version: '1.0', new_version: '2.0' }]);
    expect(answer.errors).toMatchObject([{ type: 'plugin', slug: renamed, code: 'svc_activation_failed' }]);
    expect(answer.errors[0].message).toContain('inactive');
    expect(answer.errors[0].message).toContain('activate-site-plugins');
    const { changes } = await app.call('get-site-changes', { ...OF, source: 'dashboard', per_page: 2 });
    const name = plugin(renamed)?.name;
    expect(changes.map((each: { description: string }) => each.description)).toEqual([
      `Deactivated plugin: ${name}`,
      `Updated plugin: ${name} (from 1.0 to 2.0)`,
    ]);
    expect(await app.call('activate-site-plugins', { ...OF, slugs: [renamed] })).toMatchObject({
      activated: [renamed],
    });
  });
});

describe('the reason of a failed update', () => {
  it('is asked for once, for that slug alone, when the bulk call had none', async () => {
    const [a = '', b = '', c = ''] = slugs;
    for (const slug of [a, b]) Object.assign(plugin(slug)?.update ?? {}, { requiresPhp: '9.9' });
    const answer = await app.call('update-site-plugins', { ...OF, slugs: [a, b, c] });
    expect(answer.updated).toMatchObject([{ slug: c }]);
    for (const { message } of answer.errors) expect(message).toMatch(/^The site says: /);
    expect(asked('upgradeplugintheme').map(({ params }) => params.list)).toEqual([[a, b, c].join(','), a, b]);
  });

  it('does not cost what the bulk call has done when the site refuses the second call', async () => {
    const [a = '', b = '', c = ''] = slugs;
    for (const slug of [a, b]) Object.assign(plugin(slug)?.update ?? {}, { requiresPhp: '9.9' });
    Object.defineProperty(site.faults, 'httpAuth', {
      get: () => (asked('upgradeplugintheme').length > 1 ? { user: 'u', pass: 'p' } : undefined),
    });
    const answer = await app.call('update-site-plugins', { ...OF, slugs: [a, b, c] });
    expect(answer.updated).toMatchObject([{ slug: c }]);
    expect(answer.errors).toMatchObject([{ slug: a }, { slug: b }]);
  });
});

describe('an update job', () => {
  it('counts the same errors as the call it stands for: of items, of sites as a whole, of unknown sites', async () => {
    const [a = ''] = slugs;
    await app.call('suspend-site', { site_id_or_domain: 2 });
    for (const each of app.fleet.sites) each.faults.failUpdates = [a];
    const input = { site_ids_or_domains: [1, 2, 99], types: ['plugins'] };
    Object.assign(app.service.config, { batch_threshold: 0 });
    const { job_id } = await app.call('run-updates', input);
    await app.drain();
    const { summary, errors, items } = await app.call('get-batch-job-status', { job_id, per_page: 50 });
    const failed = items.filter((item: { code?: string }) => item.code !== undefined);
    expect(errors).toHaveLength(3);
    expect(failed).toMatchObject([{ site_id: 1, slug: a, code: 'svc_update_failed' }]);
    expect(summary).toEqual({ total_updated: items.length - 1, total_errors: 3, sites_updated: 1 });
  });

  it('has succeeded on a site with one applied item, keeps the errors, and tells each item by page', async () => {
    const [a = ''] = slugs;
    for (const each of app.fleet.sites) each.faults.failUpdates = [a];
    Object.assign(app.service.config, { batch_threshold: 0 });
    const { job_id } = await app.call('run-updates', { types: ['plugins', 'core'] });
    await app.drain();
    const status = await app.call('get-batch-job-status', { job_id, per_page: 3 });
    expect(status).toMatchObject({ status: 'completed', succeeded: 2, failed: 0, total: 2, processed: 2 });
    const failing = app.fleet.sites.filter((each) =>
      each.state.plugins.some(({ slug, update }) => slug === a && update),
    );
    expect(status.errors).toHaveLength(failing.length);
    expect(status.errors[0]).toMatchObject({ site_id: 1, code: 'svc_update_failed' });
    const total_updated = 8 - failing.length;
    expect(status.summary).toEqual({ total_updated, total_errors: failing.length, sites_updated: 2 });
    expect(status.items).toHaveLength(3);
    expect(status).toMatchObject({ items_total: 8, page: 1, per_page: 3 });
    expect(status.items[0]).toEqual({
      site_id: 1,
      type: 'core',
      slug: 'platform',
      name: 'WordPress',
      old_version: '7.0',
      new_version: '7.1',
      change_id: expect.stringMatching(/^change_/),
      checked: ['/'],
    });
    const all = [1, 2, 3].map((page) => app.call('get-batch-job-status', { job_id, per_page: 3, page }));
    const items = (await Promise.all(all)).flatMap((each) => each.items);
    expect(items).toHaveLength(8);
    expect(items.find(({ slug, site_id }) => slug === a && site_id === 1)).toMatchObject({ code: 'svc_update_failed' });
  });

  it('has failed on a site where nothing was applied', async () => {
    site.faults.failUpdates = true;
    Object.assign(app.service.config, { batch_threshold: 0 });
    const { job_id } = await app.call('run-updates', { site_ids_or_domains: [1], types: ['plugins'] });
    await app.drain();
    expect(await app.call('get-batch-job-status', { job_id })).toMatchObject({
      status: 'failed',
      succeeded: 0,
      failed: 1,
      summary: { total_updated: 0, total_errors: 3, sites_updated: 0 },
    });
  });
});

describe('a change that is not known yet when its job ends', () => {
  const inLog = (action: string) =>
    app.db.all<{ slug: string; actor: string; operation: string }>(
      "SELECT slug, actor, operation FROM action_log WHERE action = ? AND code = '' AND site_id = 1",
      [action],
    );
  const sync = () => app.call('sync-sites', { site_ids_or_domains: [1] });

  it('is reported as updated by the sync that shows it, in the job and in the log of actions', async () => {
    const [a = ''] = slugs;
    Object.assign(app.service.config, { batch_threshold: 0 });
    const { job_id } = await app.call('run-updates', {
      site_ids_or_domains: [1],
      types: ['plugins'],
      specific_items: [a],
    });
    // PHP continues behind the gateway, for longer than any check waits.
    site.faults = { gatewayTimeout: 1_000 };
    await app.drain();
    stopClock();
    expect(await app.call('get-batch-job-status', { job_id })).toMatchObject({
      status: 'failed',
      summary: { total_updated: 0, total_errors: 1, sites_updated: 0 },
      items: [{ slug: a, code: 'svc_still_running', message: expect.stringContaining('next sync') }],
    });
    Object.assign(app.service.config, { batch_threshold: 10 });
    await sync();
    expect((await app.call('get-batch-job-status', { job_id })).status).toBe('failed');

    Object.assign(plugin(a) ?? {}, { version: '2.0', update: null });
    await sync();
    const status = await app.call('get-batch-job-status', { job_id });
    expect(status).toMatchObject({
      status: 'completed',
      succeeded: 1,
      failed: 0,
      errors: [],
      summary: { total_updated: 1, total_errors: 0, sites_updated: 1 },
    });
    expect(status.items).toEqual([
      { site_id: 1, type: 'plugin', slug: a, name: plugin(a)?.name, old_version: '1.0', new_version: '2.0' },
    ]);
    await expect.poll(() => inLog('updated')).toHaveLength(1);
    expect(await inLog('updated')).toMatchObject([{ slug: a, operation: 'svc/run-updates-v1' }]);
    await sync();
    expect(await inLog('updated')).toHaveLength(1);
  });

  it('is reported once when a second call does it', async () => {
    const [a = ''] = slugs;
    site.faults = { gatewayTimeout: 1_000 };
    await app.call('update-site-plugins', { ...OF, slugs: [a] });
    site.faults = {};
    expect(await app.call('update-site-plugins', { ...OF, slugs: [a] })).toMatchObject({ total_updated: 1 });
    await sync();
    await expect.poll(() => inLog('updated')).toHaveLength(1);
    expect(await app.cell('SELECT count(*) FROM open_change')).toBe(0);
  });

  it('has failed when the site shows the old version still after the longest time a call may take', async () => {
    const [a = ''] = slugs;
    Object.assign(app.service.config, { batch_threshold: 0 });
    const { job_id } = await app.call('run-updates', {
      site_ids_or_domains: [1],
      types: ['plugins'],
      specific_items: [a],
    });
    site.faults = { gatewayTimeout: 1_000 };
    await app.drain();
    app.clock.move(10 * 60_000);
    Object.assign(app.service.config, { batch_threshold: 10 });
    await sync();
    expect(await app.call('get-batch-job-status', { job_id })).toMatchObject({
      status: 'failed',
      errors: [{ site_id: 1, code: 'svc_update_failed' }],
      items: [{ slug: a, code: 'svc_update_failed', message: expect.stringContaining('not shown the change since') }],
    });
    expect(await app.cell('SELECT count(*) FROM open_change')).toBe(0);
  });

  it('holds for an activation after which the site was silent', async () => {
    const [each] = ordinary(site);
    const slug = each?.slug ?? '';
    Object.assign(each ?? {}, { active: false, breaksOnActivation: false });
    await sync();
    const held = holdBack(site, /^plugin_action$/);
    const { job_id } = await late(held, 'activate-site-plugins', { ...OF, slugs: [slug] });
    held.letGo();
    await expect.poll(() => each?.active).toBe(true);
    site.faults = { offline: true };
    await app.drain();
    stopClock();
    expect(await app.call('get-batch-job-status', { job_id })).toMatchObject({
      status: 'failed',
      items: [{ slug, code: 'svc_site_offline', message: expect.stringContaining('not known yet') }],
    });
    site.faults = {};
    await sync();
    const status = await app.call('get-batch-job-status', { job_id });
    expect(status).toMatchObject({ status: 'completed', succeeded: 1, errors: [] });
    expect(status.items).toEqual([{ site_id: 1, slug }]);
    await expect.poll(() => inLog('activated')).toMatchObject([{ slug, operation: 'svc/activate-site-plugins-v1' }]);
  });
});

describe('a call on a slow site', () => {
  it('tells in its job that an update renamed a main file, and what is off now', async () => {
    const [a = ''] = ordinary(site).flatMap(({ slug, update }) => (update === null ? [] : [slug]));
    Object.assign(plugin(a) ?? {}, { active: true });
    await app.call('sync-sites');
    const renamed = `${a.split('/')[0]}/other-main.php`;
    site.faults.renames = { [a]: renamed };
    const held = holdBack(site, /^upgrade/);
    const { job_id } = await late(held, 'update-site-plugins', { ...OF, slugs: [a] });
    await drainWhile(held);
    expect(plugin(renamed)).toMatchObject({ version: '2.0', active: false });
    const status = await app.call('get-batch-job-status', { job_id, per_page: 10 });
    expect(status.summary).toMatchObject({ total_updated: 1, sites_updated: 1 });
    expect(status.items).toContainEqual(expect.objectContaining({ slug: a, old_version: '1.0', new_version: '2.0' }));
    expect(status.items).toContainEqual(expect.objectContaining({ slug: renamed, code: 'svc_activation_failed' }));
    expect(status.errors).toMatchObject([{ message: expect.stringContaining('is now inactive') }]);
    expect(asked('upgradeplugintheme')).toHaveLength(1);
  });

  it('ends in time and goes on as a job, which the same call finds; what had been applied is reported', async () => {
    const held = holdBack(site, /^upgrade/);
    const first = await late(held, 'update-site-plugins', OF);
    expect(first).toMatchObject({
      updated: [],
      total_updated: 0,
      errors: [{ type: 'site', code: 'svc_still_running', message: expect.stringContaining(first.job_id) }],
      status_url: `http://127.0.0.1:8787/v2/jobs/${first.job_id}`,
    });
    const again = await app.call('update-site-plugins', OF);
    expect(again.job_id).toBe(first.job_id);
    expect(await app.call('run-updates', { site_ids_or_domains: [1, 2], types: ['plugins'] })).toMatchObject({
      job_id: first.job_id,
      errors: [{ site_id: 1, code: 'svc_still_running' }],
      summary: { sites_updated: 1 },
    });
    expect(asked('upgradeplugintheme')).toHaveLength(1);
    // The site is still working when the job begins: it must not be called a second time.
    await drainWhile(held);
    const status = await app.call('get-batch-job-status', { job_id: first.job_id });
    expect(status).toMatchObject({ status: 'completed', succeeded: 1, summary: { total_updated: 3, total_errors: 0 } });
    expect(asked('upgradeplugintheme')).toHaveLength(1);
    expect(await app.call('update-site-plugins', OF)).not.toHaveProperty('job_id');
  });

  it('lists in its job what the call itself had done, and the site has succeeded by it', async () => {
    const held = holdBack(site, /^upgradeplugintheme$/);
    const first = await late(held, 'run-updates', { site_ids_or_domains: [1], types: ['core', 'plugins'] });
    expect(first.updated).toMatchObject([{ type: 'core', old_version: '7.0', new_version: '7.1' }]);
    const { job_id } = first;
    const core = {
      site_id: 1,
      type: 'core',
      slug: 'platform',
      name: 'WordPress',
      old_version: '7.0',
      new_version: '7.1',
      change_id: first.updated[0].change_id,
    };
    expect((await app.call('get-batch-job-status', { job_id })).items).toEqual([core]);
    await drainWhile(held);
    const status = await app.call('get-batch-job-status', { job_id });
    expect(status).toMatchObject({
      status: 'completed',
      succeeded: 1,
      summary: { total_updated: 4, total_errors: 0, sites_updated: 1 },
      items_total: 4,
    });
    expect(status.items[0]).toEqual(core);
    // It takes longer than the wait for a silent site: the job knows that it is still running, and sends nothing twice.
    expect(asked('upgradeplugintheme')).toHaveLength(1);
  });

  it('does not look for long for what will not come, once the site has answered the call', async () => {
    const [a = '', b = ''] = slugs;
    site.faults.failUpdates = [a];
    const held = holdBack(site, /^upgradeplugintheme$/);
    const { job_id } = await late(held, 'update-site-plugins', { ...OF, slugs: [a, b] });
    held.letGo();
    await expect.poll(() => plugin(b)?.version).toBe('2.0');
    const { child } = app.ctx();
    await expect.poll(() => child.leftRunning(1)).toBe('answered');
    const before = asked('stats').length;
    await app.drain();
    // One sync after the update, one after the repeated call.
    expect(asked('stats').length - before).toBeLessThanOrEqual(2);
    const status = await app.call('get-batch-job-status', { job_id });
    expect(status).toMatchObject({ status: 'completed', summary: { total_updated: 1, total_errors: 1 } });
    expect(status.items).toContainEqual(expect.objectContaining({ slug: a, code: 'svc_update_failed' }));
  });

  it('counts a site by what the call had done, when its job could do no more', async () => {
    const held = holdBack(site, /^upgradeplugintheme$/);
    const { job_id } = await late(held, 'run-updates', { site_ids_or_domains: [1], types: ['core', 'plugins'] });
    site.faults = { offline: true };
    await drainWhile(held);
    const status = await app.call('get-batch-job-status', { job_id });
    expect(status).toMatchObject({ status: 'completed', succeeded: 1, failed: 0, summary: { total_updated: 1 } });
    expect(status.errors).toMatchObject([{ site_id: 1, code: 'svc_site_offline' }]);
  });

  it('does not hang up on the site, whose WordPress would die in the middle of the update', async () => {
    site.faults = { flushesUpdates: true };
    const held = holdBack(site, /^upgrade/);
    const { job_id } = await late(held, 'update-site-plugins', OF);
    held.letGo();
    await expect.poll(() => plugin(slugs[0] ?? '')?.version).toBe('2.0');
    expect(site.faults.maintenance).toBeUndefined();
    await app.drain();
    expect(await app.call('get-batch-job-status', { job_id })).toMatchObject({
      status: 'completed',
      summary: { total_updated: 3, total_errors: 0 },
    });
    expect(asked('upgradeplugintheme')).toHaveLength(1);
  });

  it('tells each item when the site does not come back, and sends nothing more', async () => {
    const held = holdBack(site, /^upgrade/);
    const { job_id } = await late(held, 'run-updates', { site_ids_or_domains: [1], types: ['plugins', 'themes'] });
    held.letGo();
    await expect.poll(() => plugin(slugs[0] ?? '')?.version).toBe('2.0');
    site.faults.maintenance = true;
    await app.drain();
    const status = await app.call('get-batch-job-status', { job_id });
    expect(status).toMatchObject({ status: 'failed', failed: 1, errors: [{ site_id: 1, code: 'svc_site_offline' }] });
    expect(
      status.items.map(({ type, code, message }: Entry) => [type, code, /\.maintenance.*10 minutes/.test(message)]),
    ).toEqual([...slugs.map(() => ['plugin', 'svc_site_offline', true]), ['theme', 'svc_site_offline', false]]);
    expect(asked('upgradeplugintheme')).toHaveLength(1);
  });

  it('answers with the job where nothing is done yet: core and translations', async () => {
    const held = holdBack(site, /^upgrade/);
    const first = await late(held, 'update-site-core', OF);
    const { job_id } = first;
    expect(first).toMatchObject({
      updated: false,
      errors: [{ type: 'site', code: 'svc_still_running', message: expect.stringContaining(job_id) }],
      status_url: expect.stringContaining(job_id),
    });
    expect(first.old_version).toBe(first.new_version);
    expect((await app.call('update-site-core', OF)).job_id).toBe(job_id);
    held.letGo();
    await expect.poll(() => site.state.wpVersion).toBe('7.1');
    await app.drain();
    expect(await app.call('get-batch-job-status', { job_id })).toMatchObject({
      items: [{ type: 'core', new_version: '7.1' }],
    });
    site.state.translations = [{ type: 'core', slug: 'default', name: 'WordPress', version: '7.1', language: 'de_DE' }];
    await app.call('sync-sites');
    const translating = holdBack(site, /^upgrade/);
    expect(await late(translating, 'update-site-translations', OF)).toMatchObject({
      updated: false,
      translations_updated: 0,
      errors: [{ type: 'site', code: 'svc_still_running' }],
      job_id: expect.stringMatching(/^update_/),
    });
    await drainWhile(translating);
  });

  it('throws where an answer has no place for it, with the job: the switch of a theme', async () => {
    const theme = site.state.themes.find(({ slug }) => slug !== site.state.activeTheme)?.slug ?? '';
    const held = holdBack(site, /^theme_action$/);
    const error = await runOutOfTime(app, held, app.fail('activate-site-theme', { ...OF, slug: theme }));
    expect(error).toMatchObject({ code: 'svc_still_running', status: 504 });
    const { job_id } = error.data;
    expect((await app.fail('activate-site-theme', { ...OF, slug: theme })).data.job_id).toBe(job_id);
    held.letGo();
    await expect.poll(() => site.state.activeTheme).toBe(theme);
    await app.drain();
    expect(await app.call('get-batch-job-status', { job_id })).toMatchObject({ status: 'completed', succeeded: 1 });
  });

  it('holds for plugin changes too', async () => {
    const inactive = ordinary(site).slice(0, 2);
    for (const each of inactive) Object.assign(each, { active: false, breaksOnActivation: false });
    const wanted = inactive.map(({ slug }) => slug);
    await app.call('sync-sites');
    const held = holdBack(site, /^plugin_action$/);
    const first = await late(held, 'activate-site-plugins', { ...OF, slugs: wanted });
    expect(first).toMatchObject({
      activated: [],
      errors: wanted.map((slug) => ({ slug, code: 'svc_still_running' })),
    });
    expect((await app.call('activate-site-plugins', { ...OF, slugs: wanted })).job_id).toBe(first.job_id);
    held.letGo();
    await expect.poll(() => inactive.every(({ active }) => active)).toBe(true);
    await app.drain();
    const { job_id } = first;
    expect(await app.call('get-batch-job-status', { job_id })).toMatchObject({
      type: 'extension',
      status: 'completed',
      succeeded: 1,
      items: wanted.map((slug) => ({ slug })),
    });
    expect(asked('plugin_action')).toHaveLength(1);
  });

  /** Makes syncs wait this long for the site. */
  function patience(ms: number): void {
    Object.assign(app.service.config, { site_timeout_ms: ms });
    app.ctx().child.configure({ callTimeoutMs: ms });
  }

  it('waits for the look at a change as for the change, and does not disconnect a site for being slow', async () => {
    const inactive = ordinary(site).slice(0, 2);
    for (const each of inactive) Object.assign(each, { active: false, breaksOnActivation: false });
    const wanted = inactive.map(({ slug }) => slug);
    await app.call('sync-sites');
    // Later than a sync waits, and long before a look at a change gives up.
    patience(2_000);
    const activating = holdBack(site, /^plugin_action$/);
    const { job_id } = await late(activating, 'activate-site-plugins', { ...OF, slugs: wanted });
    activating.letGo();
    answersLate(site, app.clock, /^stats$/, 2_100);
    await app.drain();
    expect(await app.call('get-batch-job-status', { job_id })).toMatchObject({
      status: 'completed',
      succeeded: 1,
      errors: [],
      items: wanted.map((slug) => ({ slug })),
    });
    const updating = holdBack(site, /^upgrade/);
    const update = await late(updating, 'update-site-plugins', { ...OF, slugs: slugs.slice(0, 1) });
    updating.letGo();
    answersLate(site, app.clock, /^stats$/, 2_100);
    await app.drain();
    expect(await app.call('get-batch-job-status', { job_id: update.job_id })).toMatchObject({
      status: 'completed',
      summary: { total_updated: 1, total_errors: 0 },
    });
    expect(await app.call('get-site', OF)).toMatchObject({ status: 'connected' });
  });

  it('does not disconnect a site whose syncs get no answer in time', async () => {
    const status = async () => (await app.call('get-site', OF)).status;
    /** It answers, but too late for any sync. */
    const slow = () => {
      patience(100);
      neverAnswers(site, app.clock, 100);
    };
    const quick = () => {
      patience(120_000);
      site.faults = {};
    };
    slow();
    expect((await app.call('sync-sites', { site_ids_or_domains: [1] })).errors).toMatchObject([{ site_id: 1 }]);
    expect(await status()).toBe('connected');
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    expect(await app.call('get-site', OF)).toMatchObject({ status: 'connected', status_reason: null });
    // A site that refuses connections is not slow.
    quick();
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    expect(await status()).toBe('connected');
    site.faults.offline = true;
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    expect(await status()).toBe('disconnected');
  });

  it('holds for reconnect-site', async () => {
    await app.call('disconnect-site', OF);
    const held = holdBack(site, /^stats$/);
    const first = await runOutOfTime(app, held, app.fail('reconnect-site', OF));
    expect(first).toMatchObject({ code: 'svc_still_running', status: 504 });
    const { job_id } = first.data;
    expect((await app.fail('reconnect-site', OF)).data.job_id).toBe(job_id);
    held.letGo();
    await app.drain();
    expect(await app.call('get-batch-job-status', { job_id })).toMatchObject({ type: 'reconnect', succeeded: 1 });
    expect((await app.call('get-site', OF)).status).toBe('connected');
  });

  it('holds for safe-update-site', async () => {
    const input = { ...OF, types: ['plugins'], least_protection: 'none' };
    const held = holdBack(site, /^upgrade/);
    const first = await runOutOfTime(app, held, app.fail('safe-update-site', input));
    expect(first).toMatchObject({ code: 'svc_still_running', status: 504 });
    const { job_id } = first.data;
    expect((await app.fail('safe-update-site', input)).data.job_id).toBe(job_id);
    expect(asked('upgradeplugintheme')).toHaveLength(1);
    held.letGo();
    // The running update has ended.
    await expect.poll(() => slugs.map((slug) => plugin(slug)?.version)).toContain('2.0');
    await app.drain();
    const status = await app.call('get-batch-job-status', { job_id });
    expect(status).toMatchObject({
      type: 'update',
      status: 'completed',
      summary: { total_updated: 3, total_errors: 0 },
    });
    // One item at a time, each of them once.
    expect(asked('upgradeplugintheme')).toHaveLength(3);
    for (const slug of slugs) expect(plugin(slug)?.version).toBe('2.0');
  });

  it('gives up a plan of safe-update-site whose time is up, and starts no job for it', async () => {
    const { signal } = new AbortController();
    const { locks } = app.ctx();
    let release = () => {};
    const busy = locks.exclusive(1, signal, () => new Promise<void>((resolve) => (release = resolve)));
    const planning = app.fail('safe-update-site', { ...OF, dry_run: true });
    let error: unknown;
    void planning.then((failure) => {
      error = failure;
    });
    // The clock is moved until the time of the call has begun, and is up.
    const after = () => {
      app.clock.move(app.service.config.direct_call_ms);
      return error;
    };
    await expect
      .poll(after)
      .toMatchObject({ code: 'svc_still_running', advice: expect.stringContaining('Nothing was changed') });
    expect(await app.cell('SELECT count(*) FROM job')).toBe(0);
    release();
    await busy;
    expect(await app.call('safe-update-site', { ...OF, dry_run: true })).toMatchObject({ dry_run: true, updated: [] });
  });

  it('keeps a slow site in the summary of check-sites, and does not call it offline', async () => {
    const held = holdBack(site, /^/);
    let done = 0;
    const progress = (made: { done: number }) => {
      done = made.done;
    };
    const call = app.call('check-sites', {}, { progress });
    // The other site has been checked.
    await expect.poll(() => done).toBe(1);
    const answer = await runOutOfTime(app, held, call);
    expect(answer).toMatchObject({
      summary: { total_checked: 1, reachable: 1, unreachable: 0, still_running: 1 },
      errors: [{ site_id: 1, code: 'svc_still_running', message: expect.stringContaining(answer.job_id) }],
    });
  });
});
