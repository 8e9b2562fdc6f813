/** Backups into a folder whose disk is full: what is said, that nothing is lost, and that it goes on once there is room. */

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { putFile } from '../../src/demo/guard/backup.js';
import { checkBackups } from '../../src/domain/backups/check.js';
import { type CheckedApp, checkedApp } from '../operations/checked-app.js';
import { needs } from '../support/needs.js';
import { mountVolume, type Volume } from '../support/processes/volume.js';

const SITE = { site_id_or_domain: 1 };
/** More than the 512 MB that are left free, by what a small backup takes. */
const MEGABYTES = 524;

let app: CheckedApp;
let volume: Volume;

describe('a full disk', needs('a volume'), () => {
  beforeEach(async () => {
    volume = mountVolume('memory', MEGABYTES);
    app = await checkedApp({ sites: 1, config: { site_backup_dir: join(volume.folder, 'repository') } });
    await app.connectAll(1);
    await app.call('install-site-guard', SITE);
  });
  afterEach(() => volume?.close());

  it('ends a backup with a sentence, keeps the earlier ones, and lets it go on once there is room', async () => {
    const { backup_id } = await app.call('back-up-site', SITE);
    const state = app.fleet.sites[0]?.guard?.backup;
    if (state == null) throw new Error('the site has no plugin for backups');
    const time = Math.floor(app.clock.now() / 1000) + 5;
    // More than one pack, so that a part of it is stored.
    const bytes = 20 * 1024 * 1024;
    const path = 'wp-content/uploads/large.bin';
    putFile(state, path, randomBytes(bytes), time);
    app.clock.move(3_600_000);
    const error = await app.fail('back-up-site', SITE);
    expect(error).toMatchObject({
      code: 'svc_backup_storage',
      message: expect.stringContaining('has less than 512 MB left'),
    });
    expect((await app.call('list-backups', { state: 'interrupted' })).total).toBe(1);
    expect(await app.call('verify-backup', { backup_id })).toMatchObject({ sound: true });

    putFile(state, path, randomBytes(1024), time + 5);
    app.clock.move(3_600_000);
    const [made] = (await app.call('back-up-site', SITE)).backups;
    expect(await app.call('verify-backup', { backup_id: made.backup_id })).toMatchObject({ sound: true, problems: [] });
    expect(await checkBackups(app.ctx(), 100, false)).toMatchObject({ sound: true, backups: 2 });
    expect((await app.call('list-backups', { state: 'done' })).total).toBe(2);
  });

  it('leaves a restore to its site as it is: nothing of it is written here', async () => {
    const { backup_id } = await app.call('back-up-site', SITE);
    const state = app.fleet.sites[0]?.guard?.backup;
    const [path] = [...(state?.files.keys() ?? [])].filter((name) => name.startsWith('wp-content/plugins/'));
    if (state == null || path === undefined) throw new Error('the site has no plugin');
    const was = state.files.get(path)?.bytes.toString('hex');
    app.clock.move(60_000);
    putFile(state, path, Buffer.from('damaged'), Math.floor(app.clock.now() / 1000));
    volume.fill();
    const done = await app.call('restore-backup', { backup_id, what: 'files', name: path, confirm: true });
    expect(done).toMatchObject({ outcome: 'restored' });
    expect(state.files.get(path)?.bytes.toString('hex')).toBe(was);
  });
});
