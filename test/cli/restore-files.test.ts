/** Restoring a database whose file is a link, is mounted, or belongs to another user. */

import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { backupTo } from '../../src/cli/database.js';
import { restore } from '../../src/cli/restore.js';
import type { Config } from '../../src/runtime/config/types.js';
import { openDb } from '../../src/store/driver/open.js';
import { tempFolder } from '../support/cleanup.js';
import { testApp } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { commands } from '../support/processes/commands.js';

const KEY = 'a'.repeat(64);

/** A closed service with a setting that its backup does not have. */
async function changed(file: string, backup: string): Promise<Config> {
  const app = await testApp({ sites: 1, realClock: true, config: { db: `file:${file}`, secret_key: KEY } });
  await backupTo(app.service.config, backup, {});
  await app.service.store.settings.write([{ key: 'since', value: 'the backup', secret: false }], 0);
  await app.close();
  return app.service.config;
}

async function settingsIn(file: string): Promise<unknown[]> {
  const db = await openDb(`file:${file}`, { mode: 'reader' });
  try {
    return await db.all("SELECT value FROM setting WHERE key = 'since'");
  } finally {
    await db.close();
  }
}

it.skipIf(process.platform === 'win32')('replaces the file that a link leads to, and the link stays', async () => {
  const folder = tempFolder('restore');
  const [file, real, backup] = [join(folder, 'fleet.db'), join(folder, 'big', 'real.db'), join(folder, 'backup.db')];
  mkdirSync(dirname(real));
  symlinkSync(join('big', 'real.db'), file);
  const config = await changed(file, backup);
  await expect(restore(config, real, {})).rejects.toThrow('The backup is the database itself.');

  await restore(config, backup, {});
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(await settingsIn(real)).toEqual([]);
  const [kept = ''] = readdirSync(dirname(real)).filter((name) => name.startsWith('real.db.before-'));
  expect(await settingsIn(join(dirname(real), kept))).toHaveLength(1);
  expect(readdirSync(folder).filter((name) => name.startsWith('fleet.db'))).toEqual(['fleet.db']);
});

it('refuses a database file that is mounted, and changes nothing', async () => {
  const folder = tempFolder('restore');
  const [file, backup, preload] = [join(folder, 'fleet.db'), join(folder, 'backup.db'), join(folder, 'fails.cjs')];
  const config = await changed(file, backup);
  writeFileSync(
    preload,
    `require('node:fs').linkSync = () => { throw Object.assign(new Error('EXDEV'), { code: 'EXDEV' }); };
     require('node:module').syncBuiltinESMExports();`,
  );
  const programs = await commands();
  const env = { SITEFLEET_DB: config.db, SITEFLEET_SECRET_KEY: KEY, NODE_OPTIONS: `--require ${preload}` };
  const { code, err } = await programs.run(env, ['restore', backup]);
  expect([code, err]).toEqual([1, expect.stringContaining('it is mounted as a single file. Nothing was changed.')]);
  expect(existsSync(`${file}.restoring`)).toBe(false);
  expect(await settingsIn(file)).toHaveLength(1);
});

it.skipIf(process.platform === 'win32')(
  'the group may do with the new file what it could with the old one',
  async () => {
    const folder = tempFolder('restore');
    const [file, backup] = [join(folder, 'fleet.db'), join(folder, 'backup.db')];
    const config = await changed(file, backup);
    chmodSync(file, 0o664);
    await restore(config, backup, {});
    expect(statSync(file).mode & 0o777).toBe(0o660);
  },
);

it('the new file belongs to the owner of the old one, or of the folder', needs('root'), async () => {
  const folder = tempFolder('restore');
  const [file, backup, other] = [join(folder, 'fleet.db'), join(folder, 'backup.db'), join(folder, 'other')];
  const config = await changed(file, backup);
  chownSync(file, 12_345, 12_346);
  await restore(config, backup, {});
  expect(await settingsIn(file)).toEqual([]);
  expect(statSync(file)).toMatchObject({ uid: 12_345, gid: 12_346 });
  expect(statSync(file).mode & 0o777).toBe(0o600);

  mkdirSync(other);
  chownSync(other, 12_347, 12_348);
  await restore({ ...config, db: `file:${join(other, 'fleet.db')}` }, backup, {});
  expect(statSync(join(other, 'fleet.db'))).toMatchObject({ uid: 12_347, gid: 12_348 });
});
