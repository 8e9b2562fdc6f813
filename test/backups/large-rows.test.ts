/** Rows of tables that are larger than a request, or than can be read: visitors can make such rows with a form. */

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { BackupState } from '../../src/demo/guard/types.js';
import { compareCopy } from '../../src/domain/backups/compare-copy.js';
import { type CheckedApp, checkedApp } from '../operations/checked-app.js';
import { tempFolder } from '../support/cleanup.js';

const SITE = { site_id_or_domain: 1 };
const TABLE = 'wp_entries';
/** Does not compress, so that a request cannot carry it. */
const random = (bytes: number) => randomBytes(Math.ceil((bytes * 3) / 4)).toString('base64');

let app: CheckedApp;

beforeEach(async () => {
  app = await checkedApp({
    sites: 1,
    config: { site_backup_dir: join(tempFolder('large-rows'), 'repository') },
  });
  await app.connectAll(1);
  await app.call('install-site-guard', SITE);
  // Puts the plugin for backups there.
  await app.call('back-up-site', SITE);
  app.clock.move(3_600_000);
});

function state(): BackupState {
  const found = app.fleet.sites[0]?.guard?.backup;
  if (found == null) throw new Error('the site has no plugin for backups');
  return found;
}

const row = (id: number, text: string) => JSON.stringify([String(id), text]);

async function backedUp(rows: string[]) {
  state().tables.set(TABLE, rows);
  const [made] = (await app.call('back-up-site', SITE)).backups;
  return made;
}

describe('a row that is larger than a request', () => {
  const rows = [row(1, 'a'), row(2, random(1_200_000)), row(3, 'b'), row(4, random(5_000_000)), row(5, 'c')];

  it.each([
    ['the table', { what: 'table', name: TABLE }],
    ['the site', { what: 'site' }],
  ])('comes back with %s', async (_whole, what) => {
    const { backup_id } = await backedUp(rows);
    expect(await app.call('verify-backup', { backup_id })).toMatchObject({ sound: true, rows_left_out: 0 });
    state().tables.set(TABLE, []);
    const done = await app.call('restore-backup', { backup_id, ...what, confirm: true });
    expect(done).toMatchObject({ outcome: 'restored' });
    expect(state().tables.get(TABLE)).toEqual(rows);
  });

  it('comes back to a site that takes only small requests', async () => {
    const small = [row(1, 'a'), row(2, random(100_000)), row(3, 'b')];
    const { backup_id } = await backedUp(small);
    state().tables.set(TABLE, []);
    // As where PHP has no folder for temporary files: WordPress sees nothing of the request.
    state().takes = 16_000;
    const done = await app.call('restore-backup', { backup_id, what: 'table', name: TABLE, confirm: true });
    expect(done).toMatchObject({ outcome: 'restored' });
    expect(state().tables.get(TABLE)).toEqual(small);
  });

  it('comes back to a site with an older plugin, which is replaced first', async () => {
    const { backup_id } = await backedUp(rows);
    state().tables.set(TABLE, []);
    const { version } = state();
    state().version = '1.0.3';
    await app.call('restore-backup', { backup_id, what: 'table', name: TABLE, confirm: true });
    expect(state().version).toBe(version);
    expect(state().tables.get(TABLE)).toEqual(rows);
  });
});

describe('a row that is too large to be read', () => {
  // Each quote takes two bytes as JSON.
  const huge = row(2, '"'.repeat(4_500_000));
  const rest = [row(1, 'a'), row(3, 'b')];

  it('is left out and named, in every answer about the backup; everything else is there', async () => {
    const made = await backedUp([rest[0] ?? '', huge, rest[1] ?? '']);
    const { backup_id } = made;
    expect(made).toMatchObject({ rows_left_out: 1, left_out_count: 1 });
    const detail = await app.call('get-backup', { backup_id });
    expect(detail.left_out).toEqual([{ path: `${TABLE}: id 2`, why: 'too_large' }]);
    expect(detail.database).toContainEqual({ name: TABLE, rows: 2, consistency: 'instant' });
    expect((await app.call('list-backups', SITE)).items[0]).toMatchObject({ rows_left_out: 1 });
    expect(await app.call('verify-backup', { backup_id })).toMatchObject({ sound: true, rows_left_out: 1 });
    const { stream } = await app.service.openArchive({ backup_id, site_id: 1 }, new AbortController().signal);
    const parts: Uint8Array[] = [];
    for await (const part of stream) parts.push(part);
    expect(Buffer.concat(parts).toString('latin1')).toContain(
      `too large to be read, not in database.sql either:\n  "${TABLE}: id 2"`,
    );
    // Nothing has changed since, and the next one says so, too.
    app.clock.move(3_600_000);
    expect((await app.call('back-up-site', SITE)).backups[0]).toMatchObject({ rows_left_out: 1 });
  });

  it('is named before a restore, which brings the other rows back', async () => {
    const { backup_id } = await backedUp([rest[0] ?? '', huge, rest[1] ?? '']);
    for (const what of [{ what: 'table', name: TABLE }, { what: 'site' }]) {
      const plan = await app.call('restore-backup', { backup_id, ...what, dry_run: true });
      expect(plan.warnings.join()).toContain(`not in the backup, and are lost: "${TABLE}: id 2".`);
      const done = await app.call('restore-backup', { backup_id, ...what, confirm: true });
      expect(done).toMatchObject({ outcome: 'restored', warnings: plan.warnings });
      expect(state().tables.get(TABLE)).toEqual(rest);
    }
    const other = await app.call('restore-backup', { backup_id, what: 'table', name: 'wp_posts', dry_run: true });
    expect(other.warnings.join()).not.toContain('too large');
  });

  it('makes no drill fail, which says what it did not compare', () => {
    const record = { front: null, posts: 3, users: 1, options: 5, active_plugins: null, php: '8.2.1', unknown: [] };
    const table = (name: string, rows: number, left_out: string[] = []) => ({ name, rows, left_out });
    const tables = [
      table('wp_posts', 2, ['ID 7']),
      table('wp_users', 1),
      table(TABLE, 0, ['id 1']),
      table('wp_options', 5),
    ];
    const rows = new Map(tables.map((one) => [one.name, one.rows]));
    const copy = { rows, options: 5, active_plugins: [], page: null };
    const found = compareCopy({ ...record, filled: ['wp_posts', TABLE] }, 'wp_', tables, copy);
    expect(found).toMatchObject({
      different: [],
      compared: ['rows of tables', 'users', 'options', 'tables with rows'],
      not_compared: ['table wp_posts, "ID 7": not in the backup', `table ${TABLE}, "id 1": not in the backup`],
    });
    // Without such a row it is a difference.
    const whole = compareCopy({ ...record, filled: null }, 'wp_', [table('wp_posts', 2)], copy);
    expect(whole.different).toEqual(['2 posts, 3 were recorded']);
  });
});
