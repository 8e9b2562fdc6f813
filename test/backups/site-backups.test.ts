/** Backups of sites, through the operations, against the simulator: what is read, stored, verified and restored. */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { putFile } from '../../src/demo/guard/backup.js';
import type { BackupState } from '../../src/demo/guard/types.js';
import { adoptBackups } from '../../src/domain/backups/adopt.js';
import { checkBackups } from '../../src/domain/backups/check.js';
import { pruneBackups } from '../../src/domain/backups/retention.js';
import { type CheckedApp, checkedApp } from '../operations/checked-app.js';
import { tempFolder } from '../support/cleanup.js';

const SITE = { site_id_or_domain: 1 };
const UPLOAD = 'wp-content/uploads/2026/a b 🌱.txt';

let app: CheckedApp;
let folder: string;

beforeEach(async () => {
  folder = join(tempFolder('site-backups'), 'repository');
  app = await checkedApp({ sites: 3, config: { site_backup_dir: folder } });
  await app.connectAll(3);
  for (const id of [1, 2, 3]) await app.call('install-site-guard', { site_id_or_domain: id });
});

/** The plugin's state on a site; there after its first backup. */
function stateOf(index: number): BackupState {
  const state = app.fleet.sites[index]?.guard?.backup;
  if (state == null) throw new Error('the site has no plugin for backups');
  return state;
}

const contents = (state: BackupState) =>
  new Map([...state.files].map(([path, { bytes }]) => [path, bytes.toString('hex')]));
const rowsOf = (state: BackupState) => Object.fromEntries(state.tables);
const later = () => Math.floor(app.clock.now() / 1000) + 5;

function packs(): string[] {
  const place = join(folder, 'packs');
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .map((name) => join(place, name))
    .filter((path) => statSync(path).isFile());
}

describe('a backup', () => {
  it('has all files and rows, and says what it is', async () => {
    const made = await app.call('back-up-site', SITE);
    const state = stateOf(0);
    const bytes = [...state.files.values()].reduce((sum, file) => sum + file.bytes.length, 0);
    const [view] = made.backups;
    expect(view).toMatchObject({
      backup_id: made.backup_id,
      site_id: 1,
      files: state.files.size,
      file_bytes: bytes,
      tables: 3,
      rows: [...state.tables.values()].flat().length,
      consistency: 'one_instant',
      changed_count: 0,
      left_out_count: 0,
    });
    const list = await app.call('list-backups', SITE);
    expect(list).toMatchObject({ total: 1, items: [{ backup_id: made.backup_id, state: 'done', sound: null }] });
    const detail = await app.call('get-backup', { backup_id: made.backup_id });
    expect(detail.database).toContainEqual({ name: 'wp_options', rows: 1, consistency: 'instant' });
    expect(detail.folders).toContainEqual({
      path: 'wp-content/uploads/2026',
      files: 1,
      bytes: state.files.get(UPLOAD)?.bytes.length,
    });
  });

  it('reads only what has changed, and stores what sites have in common once', async () => {
    const first = (await app.call('back-up-site', SITE)).backups[0];
    const state = stateOf(0);
    const before = state.read;
    app.clock.move(3_600_000);
    const changed = 'x'.repeat(5_000);
    putFile(state, UPLOAD, Buffer.from(changed), later());
    const second = (await app.call('back-up-site', SITE)).backups[0];
    // Of files that seem unchanged one in a hundred is read again.
    expect(state.read - before).toBeLessThan(before / 2);
    expect(second.added_bytes).toBeLessThan(first.added_bytes);
    const stored = packs().reduce((sum, path) => sum + statSync(path).size, 0);
    expect(stored).toBe(first.added_bytes + second.added_bytes);
    const other = (await app.call('back-up-site', { site_id_or_domain: 2 })).backups[0];
    const plugins = [...stateOf(1).files].filter(([path]) => path.startsWith('wp-content/plugins/'));
    const foreign = plugins.filter(([path, file]) => state.files.get(path)?.bytes.equals(file.bytes) !== true);
    const unshared = foreign.reduce((sum, [, file]) => sum + file.bytes.length, 0);
    expect(plugins.length).toBeGreaterThan(0);
    expect(other.added_bytes).toBeLessThan(unshared + 20_000);
  });

  it('asks the site to rest while it reads everything, not for the little that a day changes', async () => {
    await app.call('back-up-site', SITE);
    const state = stateOf(0);
    const { gentle } = state;
    expect(gentle).toBeGreaterThan(0);
    app.clock.move(3_600_000);
    putFile(state, UPLOAD, Buffer.from('changed'), later());
    await app.call('back-up-site', SITE);
    expect(state.gentle).toBe(gentle);
  });

  it('says what changed since the one before', async () => {
    const first = await app.call('back-up-site', SITE);
    expect((await app.call('get-backup', { backup_id: first.backup_id })).changes).toBeNull();
    const state = stateOf(0);
    app.clock.move(3_600_000);
    putFile(state, UPLOAD, Buffer.from('edited'), later());
    putFile(state, 'wp-content/uploads/2026/new.txt', Buffer.from('new'), later());
    const [removed = ''] = [...state.files.keys()].filter((path) => path.startsWith('wp-content/plugins/'));
    state.files.delete(removed);
    const [table = '', rows = []] = [...state.tables].find(([, all]) => all.length > 0) ?? [];
    state.tables.set(table, rows.slice(1));
    const { backup_id } = await app.call('back-up-site', SITE);
    const { changes } = await app.call('get-backup', { backup_id });
    expect(changes).toEqual({
      since_backup_id: first.backup_id,
      since: expect.any(String),
      files_added: 1,
      files_changed: 1,
      files_removed: 1,
      folders: [
        { path: 'wp-content/uploads/2026', added: 1, changed: 1, removed: 0 },
        { path: removed.split('/').slice(0, 3).join('/'), added: 0, changed: 0, removed: 1 },
      ],
      tables_changed: 1,
      tables: [{ name: table, rows_before: rows.length, rows: rows.length - 1 }],
    });
  });

  it('is stored sealed: no text of the site is in the repository', async () => {
    await app.call('back-up-site', SITE);
    const all = Buffer.concat(packs().map((path) => readFileSync(path)));
    expect(all.includes('readme')).toBe(false);
    expect(all.includes('wp_options')).toBe(false);
  });

  it('is refused for a site without the guard, with the way to it', async () => {
    await app.call('remove-site-guard', { site_id_or_domain: 3, confirm: true });
    const error = await app.fail('back-up-site', { site_id_or_domain: 3 });
    expect(error).toMatchObject({ code: 'svc_guard_unavailable' });
    expect(error.advice).toContain('install-site-guard-v1');
    const answer = await app.call('back-up-site', { site_ids_or_domains: [1, 3] });
    expect(answer.backups).toMatchObject([{ site_id: 1 }]);
    expect(answer.errors).toMatchObject([{ site_id: 3, code: 'svc_guard_unavailable' }]);
  });
});

describe('verification', () => {
  it('finds a flipped bit and a missing pack, and names what they concern', async () => {
    const { backup_id } = await app.call('back-up-site', SITE);
    expect(await app.call('verify-backup', { backup_id })).toMatchObject({
      sound: true,
      files: stateOf(0).files.size,
      files_read: stateOf(0).files.size,
      tables_read: 3,
      problems: [],
    });
    expect((await app.call('list-backups', {})).items[0]).toMatchObject({ sound: true });
    const [pack = ''] = packs();
    const bytes = readFileSync(pack);
    const bent = Buffer.from(bytes);
    bent[20] = (bent[20] ?? 0) ^ 1;
    writeFileSync(pack, bent);
    const damaged = await app.call('verify-backup', { backup_id });
    expect(damaged.sound).toBe(false);
    expect(damaged.problems_count).toBe(1);
    rmSync(pack);
    const missing = await app.call('verify-backup', { backup_id });
    expect(missing.sound).toBe(false);
    expect(JSON.stringify(missing.problems)).toContain('missing');
    writeFileSync(pack, bytes);
    expect(await app.call('verify-backup', { backup_id })).toMatchObject({ sound: true });
  });
});

describe('a restore', () => {
  it('brings a destroyed site back, equal by digest, and shows its plan first', async () => {
    const { backup_id } = await app.call('back-up-site', SITE);
    const state = stateOf(0);
    const [files, rows] = [contents(state), rowsOf(state)];
    const plugin = [...files.keys()].find((path) => path.startsWith('wp-content/plugins/')) ?? '';
    state.files.delete(plugin);
    putFile(state, UPLOAD, Buffer.from('defaced'), later());
    putFile(state, 'wp-content/uploads/shell.php', Buffer.from('<?php evil();'), later());
    state.tables.set('wp_posts', []);
    const destroyed = contents(state);
    const plan = await app.call('restore-backup', { backup_id, what: 'site', dry_run: true });
    expect(plan).toMatchObject({
      dry_run: true,
      outcome: 'planned',
      files_added: 1,
      files_replaced: 1,
      files_removed: 1,
      tables: ['wp_options', 'wp_posts', 'wp_users'],
    });
    expect(contents(state)).toEqual(destroyed);
    await expect(app.fail('restore-backup', { backup_id, what: 'site' })).resolves.toMatchObject({
      code: 'svc_confirmation_required',
    });
    const done = await app.call('restore-backup', { backup_id, what: 'site', confirm: true });
    expect(done).toMatchObject({ outcome: 'restored', findings: [] });
    expect(contents(state)).toEqual(files);
    expect(rowsOf(state)).toEqual(rows);
    expect(state.restore).toBeNull();
  });

  it('follows a destroyed site into a new WordPress, in either way that the refused reconnection names', async () => {
    const { backup_id } = await app.call('back-up-site', SITE);
    const files = contents(stateOf(0));
    const site = app.site(0);
    /** The same administrator with another password, MainWP Child just activated, and nothing else. */
    const installAnew = () => {
      site.state.connection = null;
      for (const user of site.state.users) user.regverify = [];
      site.guard = null;
    };
    const restored = async () => {
      await app.call('install-site-guard', { site_id_or_domain: site.url });
      // The preview only looks: without the plugin for backups it has nothing to compare.
      const preview = await app.call('restore-backup', { backup_id, what: 'site', dry_run: true });
      expect(site.guard?.backup).toBeNull();
      expect(preview).toMatchObject({ outcome: 'planned', files_replaced: 0, kept_count: 0 });
      expect(preview.files_added).toBeGreaterThan(0);
      expect(preview.warnings[0]).toContain('the restore would install it first');
      const done = await app.call('restore-backup', { backup_id, what: 'site', confirm: true });
      expect(done).toMatchObject({ outcome: 'restored', site_url: site.url });
      const swapped = (all: typeof files) => [...all].filter(([path]) => path.startsWith('wp-content/'));
      expect(swapped(contents(stateOf(0)))).toEqual(swapped(files));
    };
    installAnew();
    const refused = await app.fail('reconnect-site', SITE);
    expect(refused).toMatchObject({ code: 'svc_reconnect_failed' });
    expect(refused.advice).toMatch(/password.*try again.*delete-site-v1.*add-site-v1.*admin_password.*backups stay/);

    const administrator = site.state.users.find(({ login }) => login === site.admin);
    if (administrator === undefined) throw new Error('the site has no administrator');
    administrator.passwordRequired = false;
    expect(await app.call('reconnect-site', SITE)).toMatchObject({ status: 'connected' });
    administrator.passwordRequired = true;
    await restored();

    installAnew();
    expect(await app.fail('reconnect-site', SITE)).toMatchObject({ code: 'svc_reconnect_failed' });
    await app.call('delete-site', { ...SITE, confirm: true });
    await app.call('add-site', { url: site.url, admin: site.admin, admin_password: site.password });
    await restored();
  });

  it('says what a new WordPress with a unique id, or without that administrator, needs to be reconnected', async () => {
    const site = app.site(0);
    site.state.connection = null;
    site.state.uniqueId = 'another-id';
    const withId = await app.fail('reconnect-site', SITE);
    expect(withId.advice).toMatch(/^Switch off the unique security ID.*add-site-v1.*unique_id/);
    site.state.uniqueId = '';
    const administrator = site.state.users.find(({ login }) => login === site.admin);
    if (administrator === undefined) throw new Error('the site has no administrator');
    Object.assign(administrator, { role: 'editor', passwordRequired: false });
    expect((await app.fail('reconnect-site', SITE)).advice).toMatch(/^Make this user an administrator/);
  });

  it('restores one plugin, one table, or files by a pattern, and leaves the rest', async () => {
    const { backup_id } = await app.call('back-up-site', SITE);
    const state = stateOf(0);
    const whole = contents(state);
    const plugin = [...whole.keys()].find((path) => path.startsWith('wp-content/plugins/')) ?? '';
    const slug = plugin.split('/')[2];
    for (const path of [...whole.keys()].filter((one) => one.startsWith('wp-content/'))) state.files.delete(path);
    state.tables.set('wp_posts', []);
    state.tables.set('wp_users', []);
    await app.call('restore-backup', { backup_id, what: 'plugin', name: slug, confirm: true });
    const back = [...contents(state).keys()].filter((path) => path.startsWith('wp-content/'));
    expect(back.sort()).toEqual(
      [...whole.keys()].filter((one) => one.startsWith(`wp-content/plugins/${slug}/`)).sort(),
    );
    await app.call('restore-backup', { backup_id, what: 'files', name: 'wp-content/uploads/**', confirm: true });
    expect(contents(state).get(UPLOAD)).toBe(whole.get(UPLOAD));
    await app.call('restore-backup', { backup_id, what: 'table', name: 'wp_posts', confirm: true });
    expect(state.tables.get('wp_posts')).not.toEqual([]);
    expect(state.tables.get('wp_users')).toEqual([]);
    const again = await app.call('restore-backup', { backup_id, what: 'files', name: UPLOAD, confirm: true });
    expect(again).toMatchObject({ outcome: 'nothing_to_do', files_replaced: 0 });
  });

  it('refuses what the backup does not have, and a damaged backup before anything is changed', async () => {
    const { backup_id } = await app.call('back-up-site', SITE);
    const state = stateOf(0);
    const unknown = { backup_id, what: 'table', name: 'wp_nothing', confirm: true };
    await expect(app.fail('restore-backup', unknown)).resolves.toMatchObject({
      code: 'svc_invalid_input',
      field: 'name',
    });
    const absent = { backup_id: `backup_${'0'.repeat(24)}`, what: 'site', confirm: true };
    await expect(app.fail('restore-backup', absent)).resolves.toMatchObject({ code: 'svc_backup_not_found' });
    state.files.delete(UPLOAD);
    const before = contents(state);
    for (const pack of packs()) {
      const bytes = readFileSync(pack);
      writeFileSync(pack, Buffer.concat([bytes.subarray(0, 8), Buffer.alloc(200), bytes.subarray(208)]));
    }
    const files = { backup_id, what: 'site', confirm: true };
    await expect(app.fail('restore-backup', files)).resolves.toMatchObject({ code: 'svc_backup_storage' });
    expect(contents(state)).toEqual(before);
    expect(
      createHash('sha256')
        .update(JSON.stringify(rowsOf(state)))
        .digest('hex'),
    ).toHaveLength(64);
  });
});

describe('what goes wrong', () => {
  it('an interrupted backup goes on where it ended, and is listed meanwhile', async () => {
    await app.call('back-up-site', SITE);
    const state = stateOf(0);
    const large = 'z'.repeat(70 * 1024);
    for (let index = 0; index < 1_200; index++)
      putFile(
        state,
        `wp-content/uploads/large/${String(index).padStart(4, '0')}.txt`,
        Buffer.from(`${index} ${large}`),
        later() - 60,
      );
    const row = JSON.stringify(['7', 'a row that is read once', 'r'.repeat(400 * 1024)]);
    state.tables.set('wp_large', [row]);
    app.clock.move(3_600_000);
    const site = app.site(0);
    // Reading ends when most of it is done.
    state.stopsAfter = state.read + 70 * 1024 * 1024;
    const error = await app.fail('back-up-site', SITE);
    expect(error).toMatchObject({ code: 'svc_backup_failed', data: { reason: 'busy' } });
    expect((await app.call('list-backups', { ...SITE, per_page: 1 })).items[0]).toMatchObject({ state: 'interrupted' });
    delete state.stopsAfter;
    const before = state.read;
    const sent = state.sentRows;
    const [view] = (await app.call('back-up-site', SITE)).backups;
    // Rows are compared, and not sent again.
    expect(state.sentRows - sent).toBe(0);
    // The bytes of both calls.
    expect(view.sent_bytes).toBeGreaterThan(1_200 * 70 * 1024);
    expect(site.guard).not.toBeNull();
    expect(view).toMatchObject({ files: state.files.size });
    expect(state.read - before).toBeLessThan(30 * 1024 * 1024);
    const { items } = await app.call('list-backups', SITE);
    expect(items.map((one: { state: string }) => one.state)).toEqual(['done', 'done']);
    expect(await app.call('verify-backup', { backup_id: view.backup_id, percent: 5 })).toMatchObject({ sound: true });
  });

  it('a repository of another key is refused, and nothing is written into it', async () => {
    await app.call('back-up-site', SITE);
    const files = packs();
    const other = await checkedApp({ sites: 1, config: { site_backup_dir: folder } });
    await other.connectAll(1);
    await other.call('install-site-guard', SITE);
    const error = await other.fail('back-up-site', SITE);
    expect(error).toMatchObject({ code: 'svc_backup_storage', data: { reason: 'wrong_key' } });
    expect(error.message).toContain('another key');
    expect(packs()).toEqual(files);
  });

  it('another installation takes the repository over by its key, with all backups', async () => {
    const { backup_id } = await app.call('back-up-site', SITE);
    const key = await app.ctx().backupStorage.key();
    const other = await checkedApp({ sites: 1, config: { site_backup_dir: folder } });
    await other.connectAll(1);
    const ctx = other.ctx();
    await ctx.backupStorage.useKey(key);
    expect(await (await ctx.backupStorage.open()).rebuildIndex()).toMatchObject({ damage: [] });
    expect(await adoptBackups(ctx)).toBe(1);
    expect(await adoptBackups(ctx)).toBe(0);
    expect(await other.call('verify-backup', { backup_id })).toMatchObject({ sound: true, tables_read: 3 });
  });

  it('backups past their time go, and with them what no other one needs; what is kept stays sound', async () => {
    const day = 24 * 3_600_000;
    const made: string[] = [];
    for (let at = 0; at < 12; at++) {
      const state = at === 0 ? null : stateOf(0);
      if (state !== null) putFile(state, UPLOAD, Buffer.from(`of day ${at} `.repeat(2_000)), later());
      made.push(String((await app.call('back-up-site', SITE)).backup_id));
      app.clock.move(day);
    }
    const count = packs().length;
    expect(await pruneBackups(app.ctx())).toContain('removed');
    const { items } = await app.call('list-backups', SITE);
    const left = items.map((one: { backup_id: string }) => one.backup_id);
    expect(left).toEqual(expect.arrayContaining(made.slice(-7)));
    expect(left.length).toBeLessThan(made.length);
    // Marked first, removed a day later.
    expect(packs()).toHaveLength(count);
    app.clock.move(2 * day);
    await pruneBackups(app.ctx());
    expect(packs().length).toBeLessThan(count);
    for (const backup_id of left) expect(await app.call('verify-backup', { backup_id })).toMatchObject({ sound: true });
    // The same contents are stored again, as what had them is gone.
    expect(await app.call('back-up-site', SITE)).toMatchObject({ total_errors: 0 });
  });

  it('a sweep spares what a backup under way may have found, until that is given up', async () => {
    const hour = 3_600_000;
    const first = await app.call('back-up-site', SITE);
    const { siteBackups } = app.service.store;
    await siteBackups.begin({ id: 'backup_x', site_id: 2, site_url: 'http://x/' }, app.clock.now(), 0);
    // Nothing needs its packs any more, but what is under way.
    await (await app.ctx().backupStorage.open()).removeSnapshot(String(first.backup_id));
    await siteBackups.remove(String(first.backup_id));
    const count = packs().length;
    for (let sweep = 0; sweep < 2; sweep++) {
      app.clock.move(sweep === 0 ? 1_000 : 25 * hour);
      await pruneBackups(app.ctx());
      expect(packs()).toHaveLength(count);
    }
    // A backup that begins now takes nothing from them.
    const second = await app.call('back-up-site', SITE);
    app.clock.move(30 * hour);
    await pruneBackups(app.ctx());
    expect(packs().length).toBeLessThanOrEqual(count);
    expect(await app.call('verify-backup', { backup_id: second.backup_id })).toMatchObject({ sound: true });
  });

  it('a backup that never ends, though it is at work each night, spares nothing for longer than two weeks', async () => {
    const day = 24 * 3_600_000;
    const { siteBackups } = app.service.store;
    const first = await app.call('back-up-site', SITE);
    const begun = await siteBackups.begin({ id: 'backup_x', site_id: 2, site_url: 'http://x/' }, app.clock.now(), 0);
    await (await app.ctx().backupStorage.open()).removeSnapshot(String(first.backup_id));
    await siteBackups.remove(String(first.backup_id));
    const left: number[] = [];
    for (let [night, alive] = [0, begun?.alive_at ?? 0]; night < 17; night++) {
      app.clock.move(day);
      await siteBackups.advance('backup_x', alive, app.clock.now());
      alive = app.clock.now();
      await pruneBackups(app.ctx());
      left.push(packs().length);
    }
    expect([left[13], left[16]]).toEqual([left[0], 0]);
    expect((await app.call('list-backups', { site_id_or_domain: 2, state: 'failed' })).items).toMatchObject([
      { backup_id: 'backup_x', error: 'It took too long.' },
    ]);
  });

  it('a list that is lost for good keeps nothing else from being deleted; one that may still be repaired does', async () => {
    const first = await app.call('back-up-site', SITE);
    const [path = ''] = packs();
    const sound = readFileSync(path);
    writeFileSync(path, Buffer.alloc(sound.length));
    await expect(pruneBackups(app.ctx())).rejects.toThrow(`${first.backup_id}: `);
    expect(packs()).toHaveLength(1);
    await checkBackups(app.ctx(), 100, true);
    expect(await pruneBackups(app.ctx())).toContain('removed');
    expect((await app.call('verify-backup', { backup_id: first.backup_id })).sound).toBe(false);
  });

  it('many sites are a job, which says how each fared', async () => {
    const queued = await checkedApp({
      sites: 3,
      jobs: false,
      config: { site_backup_dir: join(folder, 'many'), batch_threshold: 2 },
    });
    await queued.connectAll(3);
    for (const id of [1, 2]) await queued.call('install-site-guard', { site_id_or_domain: id });
    const answer = await queued.call('back-up-site', { site_ids_or_domains: [1, 2, 3] });
    expect(answer).toMatchObject({ queued: true, sites_queued: 3 });
    expect(answer.job_id).toMatch(/^backup_/);
    await queued.drain();
    const status = await queued.call('get-batch-job-status', { job_id: answer.job_id });
    expect(status).toMatchObject({ succeeded: 2, failed: 1, errors: [{ site_id: 3, code: 'svc_guard_unavailable' }] });
    expect((await queued.call('list-backups', { state: 'done' })).total).toBe(2);
  });
});

describe('a site that does not end', () => {
  /** More answers than it takes. */
  const MOST = 50;
  let answers = 0;

  beforeEach(async () => {
    await app.call('back-up-site', SITE);
    app.clock.move(3_600_000);
    answers = 0;
  });

  function count(): void {
    answers += 1;
    if (answers > MOST) throw new Error('it was asked on and on');
  }

  it('has a file that grows with each part that is read: it is read as long as it was', async () => {
    const path = 'wp-content/uploads/growing.log';
    putFile(stateOf(0), path, Buffer.alloc(1_500_000), later());
    stateOf(0).lies = (action, asked) => {
      const [first] = (asked.parts ?? []) as [string, number, number][];
      if (action !== 'read' || first?.[0] !== path) return undefined;
      count();
      const bytes = Buffer.alloc(Math.min(first[2], 1_000_000), answers);
      const part = { length: bytes.length, size: first[1] + 4_000_000, time: answers, inode: 1, changed: false };
      return { parts: [part], data: bytes.toString('base64'), deflated: false };
    };
    const [made] = (await app.call('back-up-site', SITE)).backups;
    expect(made).toMatchObject({ changed_count: 1 });
    expect(await app.call('verify-backup', { backup_id: made.backup_id })).toMatchObject({ sound: true });
  });

  it('sends a file a little at a time: it is stored in pieces as large as others', async () => {
    const path = 'wp-content/uploads/dripping.bin';
    const contents = Buffer.from(Array.from({ length: 2_500_000 }, (_, at) => (at * at) % 251));
    putFile(stateOf(0), path, contents, later());
    stateOf(0).lies = (action, asked) => {
      const [first] = (asked.parts ?? []) as [string, number, number][];
      if (action !== 'read' || first?.[0] !== path) return undefined;
      const { time = 0, inode } = stateOf(0).files.get(path) ?? {};
      const bytes = contents.subarray(first[1], first[1] + 50_000);
      const part = { length: bytes.length, size: contents.length, time, inode, changed: false };
      return { parts: [part], data: bytes.toString('base64'), deflated: false };
    };
    const chunks = async () => Number((await app.db.one('SELECT count(*) AS n FROM backup_chunk'))?.n);
    const before = await chunks();
    const [made] = (await app.call('back-up-site', SITE)).backups;
    expect(await app.call('verify-backup', { backup_id: made.backup_id })).toMatchObject({ sound: true });
    // Three of the file; the others are of the lists.
    expect((await chunks()) - before).toBeLessThan(10);
  });

  const listed = (path: string) => [path, 0, 1, 1, 1, 0o644];
  it.each([
    ['goes back and forth', (after: string) => ({ entries: [listed('x')], next: after === 'b' ? 'a' : 'b' })],
    ['goes on and on with no file', (after: string) => ({ entries: [], next: `${after}a` })],
    ['stays where it is', (after: string) => ({ entries: [listed('x')], next: after })],
    ['goes back into a folder', (after: string) => ({ entries: [listed('x')], next: after === 'a-b' ? 'a/b' : 'a-b' })],
  ])('has a list of files that %s: the backup fails', async (_how, page) => {
    stateOf(0).lies = (action, asked) => {
      if (action !== 'manifest') return undefined;
      count();
      return { left_out: [], ...page(String(asked.after)) };
    };
    expect(await app.fail('back-up-site', SITE)).toMatchObject({
      code: 'svc_backup_failed',
      message: expect.stringContaining('does not get further'),
    });
    expect(answers).toBeLessThan(4);
  });

  it('never ends to remove what was replaced: its restore is over in a quarter of an hour, and says so', async () => {
    const { backup_id } = await app.call('back-up-site', SITE).then(({ backups }) => backups[0]);
    putFile(stateOf(0), UPLOAD, Buffer.from('defaced'), later());
    stateOf(0).lies = (action) => {
      if (action !== 'finish') return undefined;
      count();
      app.clock.move(60_000);
      return { finished: false };
    };
    const restore = () => app.call('restore-backup', { backup_id, what: 'site', confirm: true });
    const done = await restore();
    expect(done).toMatchObject({ outcome: 'restored' });
    expect(done.warnings.join()).toContain('repeat the call to remove it');
    expect(answers).toBe(15);
    delete stateOf(0).lies;
    expect((await restore()).warnings.join()).not.toContain('repeat the call');
    expect(stateOf(0).restore).toBeNull();
  });

  it('has names that are not UTF-8 where pages of its list end: it is listed further, by their bytes', async () => {
    const ends = ['d%2Fz', 'd%2F%81', 'd%2F%C3%A9', 'd%2F%E9', 'd%2F%FC'];
    const asked: string[] = [];
    stateOf(0).lies = (action, { after }) => {
      if (action !== 'manifest') return undefined;
      const at = asked.push(String(after)) - 1;
      return { entries: [listed(`d/${at}`)], left_out: [], next: ends[at] ?? null };
    };
    expect((await app.call('back-up-site', SITE)).backups[0]).toMatchObject({ files: 6 });
    // Each page is asked for by what the site said, as it said it.
    expect(asked).toEqual(['', ...ends]);
    // Back to a lower byte is not further, though the text of it is longer.
    asked.length = 0;
    ends.splice(0, ends.length, 'd%2F%FC', 'd%2Fzz');
    expect((await app.fail('back-up-site', SITE)).message).toContain('does not get further');
  });

  it.each([
    ['an object that makes no text', [[{ toString: 1 }, 'link']]],
    ['a reason that is none', [['a', [{ toString: 1 }]]]],
    ['no pair', [null]],
  ])('names what it left out by %s: the backup fails, and says why', async (_what, left_out) => {
    stateOf(0).lies = (action) => (action === 'manifest' ? { entries: [], left_out, next: null } : undefined);
    expect(await app.fail('back-up-site', SITE)).toMatchObject({
      code: 'svc_backup_failed',
      message: expect.stringContaining("no usable 'left_out'"),
    });
  });

  it('has a thousand names that take 24 MB as JSON: its backup can be read, and others are still deleted', async () => {
    // A control character takes six in JSON.
    const path = (at: number) => `z${String(at).padStart(4, '0')}/${'\u0001'.repeat(4_080)}`;
    stateOf(0).lies = (action) => {
      if (action !== 'manifest') return undefined;
      const first = answers * 200;
      const entries = Array.from({ length: 200 }, (_, at) => [path(first + at), 0, 1, 1, 1, 0o644]);
      count();
      return { entries, left_out: [], next: answers === 5 ? null : path(first + 199) };
    };
    const [made] = (await app.call('back-up-site', SITE)).backups;
    expect(made).toMatchObject({ files: 1_000 });
    expect(await app.call('verify-backup', { backup_id: made.backup_id })).toMatchObject({ sound: true });
    expect(await pruneBackups(app.ctx())).toContain('removed');
  });

  it('has names that would fill the memory: the backup fails long before', async () => {
    // Two bytes a letter: a list of 500 takes 4 MB.
    const path = (at: number) => `z${String(at).padStart(5, '0')}/${'ā'.repeat(4_080)}`;
    stateOf(0).lies = (action) => {
      if (action !== 'manifest') return undefined;
      const first = answers * 500;
      const entries = Array.from({ length: 500 }, (_, at) => [path(first + at), 0, 1, 1, 1, 0o644]);
      count();
      return { entries, left_out: [], next: answers === 30 ? null : path(first + 499) };
    };
    expect(await app.fail('back-up-site', SITE)).toMatchObject({ message: expect.stringContaining('too long') });
    expect(answers).toBeLessThan(20);
  });

  it('has a table with a definition that no table has: the backup fails', async () => {
    const defined = (length: number) => (action: string) => {
      const create = `CREATE TABLE \`t\` (${' '.repeat(length)}`;
      const tables = [{ name: 't', engine: 'InnoDB', rows: 0, bytes: 0, create, ordered: true }];
      return action === 'tables' ? { prefix: 'wp_', server: 'simulated', tables, others: [] } : undefined;
    };
    stateOf(0).lies = defined(260_000);
    await app.call('back-up-site', SITE);
    app.clock.move(3_600_000);
    stateOf(0).lies = defined(270_000);
    expect((await app.fail('back-up-site', SITE)).message).toContain('backups');
  });

  it('has a table whose slices have no rows and no end: the backup fails', async () => {
    stateOf(0).lies = (action) => {
      if (action !== 'rows') return undefined;
      count();
      const sha256 = createHash('sha256').digest('hex');
      const slice = { range: 0, after: null, to: ['31'], end: false, rows: 0, bytes: 0, sha256, same: false };
      return { slices: [slice], data: '', deflated: false };
    };
    expect(await app.fail('back-up-site', SITE)).toMatchObject({
      code: 'svc_backup_failed',
      message: expect.stringContaining('do not match the request'),
    });
  });
});
