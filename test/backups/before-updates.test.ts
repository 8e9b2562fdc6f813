/** Updates of sites that must have a recent backup: it is made first, or the site is left as it is; by MCP and by REST. */

import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { putGuard } from '../../src/demo/guard/state.js';
import { offer } from '../../src/demo/inventory.js';
import type { PluginState, TranslationState } from '../../src/demo/state.js';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { type SupportApp, supportApp } from '../operations/support-app.js';
import { type RestApp, type RestReply, restOver } from '../rest/client.js';
import { ordinary, running } from '../safety/safety-app.js';
import { tempFolder } from '../support/cleanup.js';
import { type Answer, SYSTEM } from '../support/harness.js';

const DAY_MS = 86_400_000;
/** The fourth site has no guard. */
const SITES = 4;
const BARE = 4;
const OFFERS = 5;

let mcp: SupportApp;
let rest: RestApp;

beforeEach(async () => {
  mcp = await supportApp({
    connected: SITES,
    fleet: { plugins: 8 },
    jobs: false,
    config: {
      site_backup_dir: join(tempFolder('before-updates'), 'repository'),
      direct_call_ms: DAY_MS,
      batch_threshold: 20,
      job_delay_ms: 0,
    },
    prepare: ({ fleet }) => {
      for (const site of fleet.sites) {
        for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
        site.state.translations = [];
        site.state.wpUpdate = null;
        for (const plugin of ordinary(site).slice(0, OFFERS)) {
          Object.assign(plugin, { active: true, premium: false });
          plugin.update = offer('99.0');
        }
        if (site !== fleet.sites[BARE - 1]) putGuard(site);
      }
    },
  });
  rest = await restOver(mcp.app);
});

const site = (id: number) => mcp.app.fleet.site(id - 1);
const plugins = (id: number): PluginState[] => ordinary(site(id)).slice(0, OFFERS);
const updatedOn = (id: number) => plugins(id).filter(({ version }) => version === '99.0').length;
/** What the simulated guard was asked, in order. */
const asked = (id: number): string[] => site(id).guard?.actions ?? [];
/** Changes that were sent to a site. */
const sent = (id: number) => site(id).calls.filter(({ function: name }) => name.startsWith('upgrade'));

const call = (name: string, input: Record<string, unknown> = {}): Promise<Answer> => mcp.tool(name, input);
const sendRest = (path: string, body?: unknown): Promise<RestReply> =>
  running(mcp.app, rest.rest(path, body === undefined ? {} : { body }));
const setAll = async (backup_before_upgrade: number, more: object = {}) => {
  const { status } = await sendRest('PUT /settings/general/edit', { backup_before_upgrade, ...more });
  expect(status).toBe(200);
};
const setOwn = async (id: number, backup_before_upgrade: number) => {
  const { status } = await sendRest(`PUT /sites/${id}/edit`, { backup_before_upgrade });
  expect(status).toBe(200);
};
/** The error of a call over MCP. */
const refused = async (name: string, input: Record<string, unknown>): Promise<string> =>
  mcp.tool(name, input).then(
    () => '',
    (error: Error) => error.message,
  );
const backupsOf = async (id: number): Promise<{ backup_id: string; state: string }[]> =>
  (await mcp.app.call('list-backups', { site_id_or_domain: id })).items;
const runAll = (ids: number[], more: object = {}) => call('run-updates', { site_ids_or_domains: ids, ...more });
const codes = ({ errors }: Answer): unknown[] => errors.map(({ site_id, slug, code }: Answer) => [site_id, slug, code]);
const translation: TranslationState = {
  type: 'plugin',
  slug: 'akismet',
  language: 'de_DE',
  version: '5.3.1',
  name: 'Akismet',
};

describe('a site without a recent backup', () => {
  it('gets one first, and only one for all of its updates, which the run names', async () => {
    expect((await runAll([1])).summary).toMatchObject({ total_updated: OFFERS });
    expect(await backupsOf(1)).toEqual([]);
    await setAll(1);
    const answer = await runAll([2]);
    expect(answer.summary).toMatchObject({ total_updated: OFFERS, total_errors: 0 });
    const made = await backupsOf(2);
    expect(made).toMatchObject([{ state: 'done' }]);
    const steps = asked(2);
    expect(steps.filter((step) => step === 'tables')).toHaveLength(1);
    expect(steps.lastIndexOf('read')).toBeGreaterThan(-1);
    expect(steps.lastIndexOf('read')).toBeLessThan(steps.indexOf('arm'));
    const { items } = await mcp.app.call('get-run', { run_id: answer.run_id });
    expect(items.map(({ backup_id }: Answer) => backup_id)).toEqual(Array(OFFERS).fill(made[0]?.backup_id));
  });

  it('gets a new one once the last is older than the limit', async () => {
    await setAll(1, { backup_before_upgrade_days: 3 });
    const { backup_id } = await mcp.app.call('back-up-site', { site_id_or_domain: 1 });
    mcp.app.clock.move(3 * DAY_MS);
    const first = await runAll([1], { specific_items: [plugins(1)[0]?.slug] });
    const { items } = await mcp.app.call('get-run', { run_id: first.run_id });
    expect(items).toMatchObject([{ backup_id }]);
    expect(await backupsOf(1)).toHaveLength(1);
    mcp.app.clock.move(1);
    await runAll([1]);
    expect(updatedOn(1)).toBe(OFFERS);
    expect(await backupsOf(1)).toHaveLength(2);
  });

  it('is left as it is where that takes longer than half a day', async () => {
    await setAll(1);
    const path = 'wp-content/uploads/endless.bin';
    await mcp.app.call('back-up-site', { site_id_or_domain: 1 });
    mcp.app.clock.move(8 * DAY_MS);
    const began = mcp.app.clock.now();
    const guard = site(1).guard?.backup;
    if (guard == null) throw new Error('the site has no plugin for backups');
    // One file that goes on and on, some bytes with each answer.
    guard.lies = (action, { parts }) => {
      if (action === 'manifest') return { entries: [[path, 2 ** 40, 1, 1, 1, 420]], left_out: [], next: null };
      if (action !== 'read' || (parts as [string][] | undefined)?.[0]?.[0] !== path) return undefined;
      mcp.app.clock.move(200_000);
      const read = { length: 3, size: 2 ** 40, time: 1, inode: 1, changed: false };
      return { parts: [read], data: Buffer.from('abc').toString('base64'), deflated: false };
    };
    const answer = await runAll([1]);
    expect(codes(answer)).toEqual([[1, '', 'svc_backup_required']]);
    expect(answer.errors[0].message).toContain('longer than 12 hours');
    expect(updatedOn(1)).toBe(0);
    expect(mcp.app.clock.now() - began).toBeLessThan(13 * 3_600_000);
  });

  it('gets a new one if the last was found to be damaged', async () => {
    await setAll(1);
    await mcp.app.call('back-up-site', { site_id_or_domain: 1 });
    await mcp.app.db.run("UPDATE backup SET checked_at = 1, checked = 'a chunk is missing'");
    mcp.app.clock.move(1000);
    await runAll([1]);
    expect(await backupsOf(1)).toHaveLength(2);
  });

  it('gets one on every way in', async () => {
    await setAll(1);
    const slug = plugins(1)[0]?.slug ?? '';
    const ways: [number, () => Promise<unknown>][] = [
      [1, () => call('update-site-plugins', { site_id_or_domain: 1, slugs: [slug] })],
      [2, () => call('update-all', { site_ids_or_domains: [2] })],
      [3, () => sendRest('POST /updates/3/update/plugins')],
    ];
    for (const [id, way] of ways) {
      await way();
      expect([id, updatedOn(id) > 0, (await backupsOf(id)).length]).toEqual([id, true, 1]);
    }
    const core = site(1).state;
    core.wpUpdate = '98.0';
    await call('sync-sites', { site_ids_or_domains: [1] });
    mcp.app.clock.move(8 * DAY_MS);
    expect((await sendRest('POST /updates/1/update/wp')).status).toBe(200);
    expect(await backupsOf(1)).toHaveLength(2);
    mcp.app.clock.move(8 * DAY_MS);
    const plan = await mcp.app.call('safe-update-site', { site_id_or_domain: 1, dry_run: true });
    expect(plan.notices).toContain('A backup of the site is made first.');
    const safe = await running(mcp.app, mcp.app.call('safe-update-site', { site_id_or_domain: 1 }));
    const made = await backupsOf(1);
    expect(made).toHaveLength(3);
    expect(safe.notices.join(' ')).toContain(made[0]?.backup_id);
    expect(updatedOn(1)).toBe(OFFERS);
  });

  it('gets one in a job', async () => {
    Object.assign(mcp.app.service.config, { batch_threshold: 1 });
    await setAll(1);
    const { queued, job_id } = await call('update-all', { site_ids_or_domains: [1, 2, BARE] });
    expect(queued).toBe(true);
    await running(mcp.app, mcp.app.drain());
    expect([1, 2, BARE].map(updatedOn)).toEqual([OFFERS, OFFERS, 0]);
    expect([await backupsOf(1), await backupsOf(2)].map(({ length }) => length)).toEqual([1, 1]);
    const status = await mcp.app.call('get-batch-job-status', { job_id });
    expect(status).toMatchObject({ succeeded: 2, failed: 1 });
    expect(JSON.stringify(status)).toContain('svc_backup_required');
  });
});

describe('a site that cannot be backed up', () => {
  it('is refused, with what prevents it and what to do, and nothing is sent to it; others go on', async () => {
    await setAll(1);
    const preview = await call('run-updates', { site_ids_or_domains: [1, BARE], dry_run: true });
    const requests = site(BARE).requests;
    const answer = await runAll([1, BARE]);
    expect(site(BARE).requests).toBe(requests);
    expect(codes(answer)).toEqual([[BARE, '', 'svc_backup_required']]);
    expect(answer.errors[0].message).toContain('install-site-guard-v1');
    expect(answer.errors[0].message).toContain('it has none');
    expect([updatedOn(1), updatedOn(BARE)]).toEqual([OFFERS, 0]);
    // The preview has said the same.
    expect(preview.would_affect).toMatchObject({ sites: 1, total: OFFERS, backups_first: 1 });
    expect(preview.will_be_skipped).toEqual([{ code: 'svc_backup_required', count: OFFERS }]);
    expect(preview.errors).toEqual(answer.errors);
    const { items } = await mcp.app.call('get-run', { run_id: answer.run_id, state: 'skipped' });
    expect(items).toMatchObject([{ site_id: BARE, type: 'site', code: 'svc_backup_required' }]);
  });

  it('is left out of the plan of the page, with the reason, and of what that counts', async () => {
    site(BARE).state.translations = [translation];
    await call('sync-sites', { site_ids_or_domains: [BARE] });
    await setAll(1);
    const { body } = await rest.rest('GET /fleet/updates/plan?per_page=50');
    expect(body.totals).toMatchObject({ sites: SITES, plugins: (SITES - 1) * OFFERS, translations: 1 });
    const needs = (id: number) => {
      const row = body.data.find(({ site_id }: Answer) => site_id === id);
      return row.cells.map((cell: Answer) => [body.items[cell.item].type, cell.needs]);
    };
    expect(needs(1)).toEqual(Array(OFFERS).fill(['plugin', null]));
    expect(needs(BARE).sort()).toEqual([...Array(OFFERS).fill(['plugin', 'a recent backup']), ['translation', null]]);
    const answer = await sendRest('POST /updates/update');
    expect(answer.body.summary.total_updated).toBe((SITES - 1) * OFFERS + 1);
  });

  it('is 409 where one site is meant', async () => {
    await setAll(1);
    site(BARE).state.wpUpdate = '98.0';
    await call('sync-sites', { site_ids_or_domains: [BARE] });
    const requests = site(BARE).requests;
    const id = BARE;
    const ways = ['', '/plugins', '/wp'].map((type) => `POST /updates/${id}/update${type}`);
    for (const way of ways) {
      const { status, body } = await sendRest(way);
      expect([way, status, body.code]).toEqual([way, 409, 'svc_backup_required']);
    }
    for (const name of ['update-site-plugins', 'update-site-core', 'safe-update-site'])
      expect([
        name,
        await refused(name, {
          site_id_or_domain: id,
          ...(name === 'safe-update-site' && { least_protection: 'none' }),
        }),
      ]).toEqual([name, expect.stringContaining('svc_backup_required')]);
    expect(site(BARE).requests).toBe(requests);
  });

  it('is refused when the backup fails, with its reason', async () => {
    await setAll(1);
    site(1).faults.guardRefuses = { manifest: 'unreadable' };
    const answer = await runAll([1]);
    expect(codes(answer)).toEqual([[1, '', 'svc_backup_required']]);
    expect(answer.errors[0].message).toContain('This site cannot: unreadable');
    expect(updatedOn(1)).toBe(0);
    expect(sent(1)).toEqual([]);
    const { status, body } = await sendRest('POST /updates/1/update/plugins');
    expect([status, body.code]).toEqual([409, 'svc_backup_required']);
    site(1).faults.guardRefuses = {};
    // What failed can be tried again.
    const again = await call('retry-run', { run_id: answer.run_id });
    expect(again.summary).toMatchObject({ total_updated: OFFERS });
  });

  it('still gets its translations', async () => {
    await setAll(1);
    site(BARE).state.translations = [translation];
    await call('sync-sites', { site_ids_or_domains: [BARE] });
    const preview = await call('run-updates', { site_ids_or_domains: [BARE], dry_run: true });
    const answer = await runAll([BARE]);
    expect(answer.updated).toMatchObject([{ type: 'translation' }]);
    expect(answer.errors).toHaveLength(OFFERS);
    expect(new Set(codes(answer).map((each) => (each as unknown[])[2]))).toEqual(new Set(['svc_backup_required']));
    expect(preview.would_affect).toMatchObject({ total: 1, translations: 1 });
    expect(codes(preview).sort()).toEqual(codes(answer).sort());
    expect(updatedOn(BARE)).toBe(0);
  });
});

describe('the setting', () => {
  it('of a site overrides the general one', async () => {
    await setAll(1);
    await setOwn(1, 0);
    await runAll([1]);
    expect([updatedOn(1), await backupsOf(1)]).toEqual([OFFERS, []]);
    await setAll(0);
    await setOwn(2, 1);
    await runAll([2, 3]);
    expect([updatedOn(2), (await backupsOf(2)).length]).toEqual([OFFERS, 1]);
    expect([updatedOn(3), await backupsOf(3)]).toEqual([OFFERS, []]);
  });

  it('says nothing of having no effect', async () => {
    const general = await sendRest('PUT /settings/general/edit', { backup_before_upgrade: 1 });
    expect(general.body.message).toBe('The general settings were changed.');
    expect(Object.keys(general.body.meta.notes)).not.toContain('backup_before_upgrade');
    const own = await sendRest('PUT /sites/1/edit', { backup_before_upgrade: 1 });
    expect([own.body.message, own.body.meta]).toEqual(['The site was changed.', undefined]);
  });

  it('makes no backup for translations, or for what is left as it is anyway', async () => {
    await setAll(1);
    site(1).state.translations = [translation];
    for (const plugin of plugins(1)) plugin.update = { ...offer('99.0'), requiresPhp: '9.9' };
    await call('sync-sites', { site_ids_or_domains: [1] });
    const answer = await runAll([1]);
    expect(answer.updated).toMatchObject([{ type: 'translation' }]);
    expect(new Set(answer.errors.map(({ code }: Answer) => code))).toEqual(new Set(['svc_requirement_missing']));
    expect(await backupsOf(1)).toEqual([]);
  });
});

describe('two processes and interruptions', () => {
  it('two calls at the same time make one backup', async () => {
    // What waits here is moved on by hand: time that passes by itself would take the first for dead.
    Object.assign(mcp.app.service.config, { safe_updates: 'off' });
    const { status } = await rest.rest('PUT /settings/general/edit', { body: { backup_before_upgrade: 1 } });
    expect(status).toBe(200);
    const [first, second] = plugins(1).map(({ slug }) => slug);
    const { isReading, goOn } = holdBackup(1);
    const one = mcp.app.call('run-updates', { site_ids_or_domains: [1], specific_items: [first] });
    await isReading;
    const other = rest.rest('POST /updates/1/update/plugins', { body: { slug: second } });
    while (mcp.app.clock.sleeping() === 0) await nextTurn();
    goOn();
    expect((await one).summary).toMatchObject({ total_updated: 1, total_errors: 0 });
    mcp.app.clock.move(15_000);
    expect((await other).status).toBe(200);
    expect([updatedOn(1), (await backupsOf(1)).length]).toEqual([2, 1]);
  });

  it('a call whose time is over goes on as a job, which continues the backup, and then updates', async () => {
    await setAll(1);
    Object.assign(mcp.app.service.config, { direct_call_ms: 40_000 });
    const { isReading, goOn } = holdBackup(1);
    const cut = mcp.app.call('run-updates', { site_ids_or_domains: [1] });
    await isReading;
    mcp.app.clock.move(40_000);
    const answer = await cut;
    expect(answer.updated).toEqual([]);
    expect(codes(answer)).toEqual([[1, '', 'svc_still_running']]);
    expect(updatedOn(1)).toBe(0);
    const [left] = await backupsOf(1);
    goOn();
    await running(mcp.app, mcp.app.drain());
    expect(await mcp.app.call('get-batch-job-status', { job_id: answer.job_id })).toMatchObject({ succeeded: 1 });
    expect(updatedOn(1)).toBe(OFFERS);
    expect(await backupsOf(1)).toMatchObject([{ backup_id: left?.backup_id, state: 'done' }]);
  });

  it('a call that is cancelled leaves a backup that the next one continues, and then updates', async () => {
    await setAll(1);
    const stop = new AbortController();
    const guard = site(1).guard;
    if (guard === null) throw new Error('no guard');
    // The time of the call is over while the files are read.
    Object.defineProperty(guard, 'actions', { value: watched((action) => action === 'read' && stop.abort()) });
    const failed = await mcp.app
      .call('run-updates', { site_ids_or_domains: [1] }, { signal: stop.signal })
      .catch((error: Error & { code?: string }) => error.code);
    expect(failed).toBe('svc_cancelled');
    expect(updatedOn(1)).toBe(0);
    const [left] = await backupsOf(1);
    expect(left).toMatchObject({ state: 'interrupted' });
    Object.defineProperty(guard, 'actions', { value: [] });
    await runAll([1]);
    expect(updatedOn(1)).toBe(OFFERS);
    expect(await backupsOf(1)).toMatchObject([{ backup_id: left?.backup_id, state: 'done' }]);
  });
});

describe('a rollout', () => {
  it('plans what is backed up first and what is left out, makes the backups, and passes over what fails', async () => {
    await setAll(1);
    const plan = await mcp.app.call('plan-updates', { waves: { canary_sites: [1], soak_minutes: 0 }, per_page: 50 });
    expect(plan.summary).toContain('A backup of 3 sites is made first.');
    expect(plan.summary).toContain('on sites that have no recent backup and cannot be backed up');
    expect(plan.left_out).toEqual([{ reason: 'backup_required', updates: OFFERS, sites: 1, site_ids: [BARE] }]);
    expect(new Set(plan.items.map(({ site_id }: Answer) => site_id))).toEqual(new Set([1, 2, 3]));
    // One of the sites cannot be backed up when its turn has come.
    site(2).faults.guardRefuses = { tables: 'database' };
    const { plan_id, digest } = plan;
    const { rollout_id } = await running(mcp.app, mcp.app.call('start-rollout', { plan_id, digest, confirm: true }));
    for (let turn = 0; turn < 6; turn++) {
      await advanceRollouts(mcp.app.ctx({ actor: SYSTEM }));
      await running(mcp.app, mcp.app.drain());
    }
    expect(await mcp.app.call('get-rollout', { rollout_id })).toMatchObject({ state: 'completed' });
    expect([1, 2, 3, BARE].map(updatedOn)).toEqual([OFFERS, 0, OFFERS, 0]);
    expect((await Promise.all([1, 3].map(backupsOf))).map(({ length }) => length)).toEqual([1, 1]);
    expect(sent(2)).toEqual([]);
  });
});

/** From now on a backup of the site waits after its first request of the tables, until it may go on. */
function holdBackup(id: number): { isReading: Promise<void>; goOn: () => void } {
  let goOn = () => {};
  let arrived = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const isReading = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  site(id).faults.latencyMs = (name) => {
    if (name !== '' || !asked(id).includes('tables')) return 0;
    arrived();
    return held;
  };
  return { isReading, goOn: () => goOn() };
}

/** A list that tells of what is added to it. */
function watched(added: (action: string) => unknown): string[] {
  const list: string[] = [];
  list.push = (...actions) => {
    for (const action of actions) added(action);
    return Array.prototype.push.apply(list, actions);
  };
  return list;
}
