/** Changing the secret key where its file is a link, is mounted, cannot be replaced, or belongs to another user. */

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { nextKeyFile, presentKeys } from '../../src/app/secret-key.js';
import { backupTo } from '../../src/cli/database.js';
import { rotateKey } from '../../src/cli/rotate-key.js';
import type { Config } from '../../src/runtime/config/types.js';
import { realPath } from '../../src/runtime/real-path.js';
import { keyFile } from '../../src/store/vault/vault.js';
import { tempFolder } from '../support/cleanup.js';
import { testApp } from '../support/harness.js';
import { IN_NAMESPACE, needs } from '../support/needs.js';
import { type Commands, commands } from '../support/processes/commands.js';

let programs: Commands;
beforeAll(async () => {
  programs = await commands();
}, 60_000);
afterAll(() => programs.close());

let folder: string;
let file: string;
beforeEach(() => {
  folder = realPath(tempFolder('key'));
  file = join(folder, 'secret.key');
});

/** A closed service with a sealed setting. */
async function used(change: Partial<Config> = {}): Promise<Config> {
  const app = await testApp({
    realClock: true,
    config: { db: `file:${join(folder, 'fleet.db')}`, secret_key: null, secret_key_file: file, ...change },
  });
  await app.service.store.settings.write([{ key: 'pagespeed-key', value: 'from Google', secret: true }], 0);
  await app.close();
  return app.service.config;
}

const environment = (key = file) => ({
  SITEFLEET_DB: `file:${join(folder, 'fleet.db')}`,
  SITEFLEET_SECRET_KEY_FILE: key,
  SITEFLEET_LOG_LEVEL: 'warn',
});

/** What `check` finds of the stored secrets, with the key in this file. */
async function secrets(key = file): Promise<unknown> {
  return JSON.parse((await programs.run(environment(key), ['check', '--json'])).out).secrets;
}

/** Settings with which a function of `fs` fails for files whose name ends so. */
function failing(name: string, ending: string, code: string) {
  const preload = join(folder, 'fails.cjs');
  writeFileSync(
    preload,
    `const fs = require('node:fs');
     const { ${name}: real } = fs;
     fs.${name} = (from, to) => {
       if (String(from).endsWith('${ending}')) throw Object.assign(new Error('${code}'), { code: '${code}' });
       return real(from, to);
     };
     require('node:module').syncBuiltinESMExports();`,
  );
  return { ...environment(), NODE_OPTIONS: `--require ${preload}` };
}

it.skipIf(process.platform === 'win32')('replaces the file that a link leads to, and the link stays', async () => {
  const volume = join(folder, 'volume');
  const real = join(volume, 'secret.key');
  mkdirSync(volume);
  symlinkSync(join('volume', 'secret.key'), file);
  // Its file does not exist yet: the first start makes it there.
  const config = await used();
  const old = keyFile(real).id;
  expect(readdirSync(volume)).toEqual(['secret.key']);

  // Interrupted after the new key was written, when the folder with the link is made anew.
  const next = keyFile(nextKeyFile(file)).id;
  expect(readdirSync(volume)).toEqual(['secret.key', 'secret.key.next']);
  expect(presentKeys(config).map(({ id }) => id)).toEqual([old, next]);

  await rotateKey(config, { json: false });
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(readdirSync(volume)).toEqual(['secret.key']);
  expect(keyFile(real).id).toBe(next);
  expect(await secrets(real)).toMatchObject({ unreadable: 0, keys: [{ id: next }] });
});

it('refuses a file that is mounted, before anything is encrypted', async () => {
  await used();
  const { id } = keyFile(file);
  const { code, err } = await programs.run(failing('linkSync', 'secret.key', 'EXDEV'), ['rotate-key']);
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`The key file ${file} cannot be replaced`) });
  expect(err).toContain('it is mounted as a single file. Nothing was changed.');
  expect(err).toContain('Mount the folder that it is in instead.');
  expect(err).toContain('--old-key-stdin');
  expect(existsSync(nextKeyFile(file))).toBe(false);
  expect(await secrets()).toMatchObject({ unreadable: 0, keys: [{ id }] });

  // As an older version left it: everything is encrypted with this one.
  keyFile(nextKeyFile(file));
  const again = await programs.run(failing('linkSync', 'secret.key', 'EXDEV'), ['rotate-key']);
  expect(again.err).toContain(`Keep ${nextKeyFile(file)}, too`);
});

it('refuses a file that is really mounted', needs('a namespace'), async () => {
  await used();
  const { id } = keyFile(file);
  const outside = join(folder, 'outside');
  mkdirSync(outside);
  renameSync(file, join(outside, 'secret.key'));
  writeFileSync(file, '');
  const script = `mount --bind "$1" "$2" && exec "$3" "$4" rotate-key`;
  const args = [join(outside, 'secret.key'), file, process.execPath, join(programs.folder, 'cli.js')];
  const [unshare = '', ...options] = [...IN_NAMESPACE, 'sh', '-c', script, 'sh', ...args];
  const done = spawnSync(unshare, options, { env: { PATH: process.env.PATH, ...environment() }, encoding: 'utf8' });
  expect([done.status, done.stderr]).toEqual([1, expect.stringContaining('it is mounted as a single file')]);
  expect(readdirSync(folder).filter((name) => name.startsWith('secret.key'))).toEqual(['secret.key']);
  expect(await secrets(join(outside, 'secret.key'))).toMatchObject({ unreadable: 0, keys: [{ id }] });
});

it('says which file has the new key if the last step fails', async () => {
  await used();
  const { code, err } = await programs.run(failing('renameSync', '.key.next', 'EBUSY'), ['rotate-key']);
  const next = nextKeyFile(file);
  const { id } = keyFile(next);
  expect(code).toBe(1);
  expect(err).toContain(`All secrets are encrypted with the new key ${id}, but ${file} could not be replaced`);
  expect(err).toContain(`Only ${next} has that key: keep it, and put it in the place of ${file}.`);
  expect(await secrets(next)).toMatchObject({ unreadable: 0, keys: [{ id }] });
});

it('says that backups made before need the old key', async () => {
  const config = await used();
  const old = keyFile(file).id;
  const backup = join(folder, 'backup.db');
  await backupTo(config, backup, {});
  const said = await programs.run(environment(), ['rotate-key']);
  expect(said.err).toContain(
    `Backups made before need the old key ${old}, which is no longer kept here. Make one now: "sitefleet backup".`,
  );
  const refused = await programs.run(environment(), ['restore', backup]);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(`sealed with the secret key ${old}`)]);

  const current = keyFile(file).id;
  const { out } = await programs.run(environment(), ['rotate-key', '--json']);
  expect(JSON.parse(out)).toMatchObject({ key_id: keyFile(file).id, old_key_ids: [current] });
});

it.skipIf(process.platform === 'win32')('the group may read the new file as it could the old one', async () => {
  const config = await used();
  chmodSync(file, 0o644);
  await rotateKey(config, {});
  expect(statSync(file).mode & 0o777).toBe(0o640);
});

it('the new file belongs to the owner of the old one, or of the folder', needs('root'), async () => {
  const config = await used();
  const old = readFileSync(file, 'utf8');
  chownSync(file, 12_345, 12_346);
  await rotateKey(config, {});
  expect(readFileSync(file, 'utf8')).not.toBe(old);
  expect(statSync(file)).toMatchObject({ uid: 12_345, gid: 12_346 });
  expect(statSync(file).mode & 0o777).toBe(0o600);

  // As in a container without that right.
  const { code, err } = await programs.run(failing('fchownSync', '', 'EPERM'), ['rotate-key']);
  expect([code, err]).toEqual([0, expect.stringContaining(`As root: chown 12345:12346 ${file}`)]);

  // The key is lost.
  chownSync(folder, 12_347, 12_348);
  renameSync(file, `${file}.lost`);
  await rotateKey(config, { lostKey: true });
  expect(statSync(file)).toMatchObject({ uid: 12_347, gid: 12_348 });
});
