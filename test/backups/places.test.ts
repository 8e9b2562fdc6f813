/**
 * Where the backups are: processes of one database that have folders of their own are refused all but the first one, until
 * somebody says which one it is to be.
 */

import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { usePlace } from '../../src/cli/backups.js';
import { fileUrl } from '../../src/runtime/file-url.js';
import { tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp, testKey } from '../support/harness.js';
import { shown } from '../support/printed.js';
import { program } from '../support/processes/program.js';

const SITE = { site_id_or_domain: 1 };

let folder: string;
let app: TestApp;

const place = (name: string) => join(folder, name);

beforeEach(async () => {
  folder = tempFolder('places');
  app = await testApp({
    sites: 1,
    jobs: false,
    realClock: true,
    config: { db: fileUrl(join(folder, 'fleet.db')), site_backup_dir: place('first') },
  });
  await app.connect(0);
  await app.call('install-site-guard', SITE);
});

const settings = (name: string) => ({ ...app.service.config, site_backup_dir: place(name) });

/** Another process with the same database, and a folder of this name. Returns what it was refused; '' = nothing. */
async function elsewhere(name: string, step: string, input: object): Promise<string> {
  const steps = await program('backup-step');
  const refusal = join(folder, 'refusal');
  writeFileSync(refusal, '');
  await steps.start({ config: settings(name), sharedKey: await testKey, step, input, refusal });
  return readFileSync(refusal, 'utf8');
}

const backUp = async (): Promise<string> => (await app.call('back-up-site', SITE)).backup_id;
const total = async (): Promise<number> => (await app.call('list-backups', { state: 'done' })).total;

describe('two processes with folders of their own', () => {
  it('share the backups of the first one, and the other says where they are; it makes no folder', async () => {
    const backup_id = await backUp();
    const { id } = (await app.ctx().backupStorage.home()) ?? {};
    for (const [step, input] of [
      ['back-up-site', SITE],
      ['restore-backup', { backup_id, what: 'site', confirm: true }],
    ] as const) {
      const said = await elsewhere('second', step, input);
      expect(said).toContain(`repository ${id}, the folder ${place('first')} of machine ${hostname()}`);
      expect(said).toContain(`In the folder ${place('second')} of machine ${hostname()} there is none.`);
    }
    expect(existsSync(place('second'))).toBe(false);
    expect(await total()).toBe(1);
    expect(await app.call('verify-backup', { backup_id })).toMatchObject({ sound: true });
    // The same folder, or a place from which it was moved, is the same repository.
    expect(await elsewhere('first', 'back-up-site', SITE)).toBe('');
    renameSync(place('first'), place('moved'));
    expect(await elsewhere('moved', 'back-up-site', SITE)).toBe('');
  });

  it('are refused alike when the folder is gone, say of a disk that is not mounted', async () => {
    await backUp();
    renameSync(place('first'), place('away'));
    const refused = await app.fail('back-up-site', SITE);
    expect(refused).toMatchObject({
      code: 'svc_backup_storage',
      advice: expect.stringContaining('sitefleet backups use-place'),
      data: { reason: 'elsewhere' },
    });
    expect(existsSync(place('first'))).toBe(false);
    renameSync(place('away'), place('first'));
    await backUp();
    expect(await total()).toBe(2);
  });
});

describe('backups use-place', () => {
  it('makes a new repository where the old one is lost, and finds the old one when it is back', async () => {
    const old = await backUp();
    const said = await shown('sitefleet backups', () => usePlace(settings('second')));
    expect(said).toContain(`${place('second')}. 0 backups were found in it.`);
    expect(said).toContain('1 earlier backups are not in it');
    expect(await total()).toBe(0);
    // The process that has the old place open is refused now, too.
    expect(await app.fail('back-up-site', SITE)).toMatchObject({ data: { reason: 'elsewhere' } });
    expect(await elsewhere('second', 'back-up-site', SITE)).toBe('');
    expect(readdirSync(join(place('second'), 'snapshots'))).toHaveLength(1);
    await shown('sitefleet backups', () => usePlace(settings('first')));
    expect(await total()).toBe(1);
    expect(await app.call('verify-backup', { backup_id: old })).toMatchObject({ sound: true });
    await backUp();
    expect(await total()).toBe(2);
  });
});
