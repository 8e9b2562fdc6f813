/** Backups of sites, through the operations, against the simulator: what is read, stored, verified and restored. */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { putFile } from '../../src/demo/guard/backup.js';
import type { BackupState } from '../../src/demo/guard/types.js';
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
