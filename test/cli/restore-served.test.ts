/** A server that starts while a backup is being restored keeps its database. */

import { spawnSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readdirSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { backupTo } from '../../src/cli/database.js';
import { tempFolder } from '../support/cleanup.js';
import { testApp } from '../support/harness.js';
import { type Commands, commands } from '../support/processes/commands.js';

const KEY = 'a'.repeat(64);

let shell: Commands | undefined;
afterAll(() => shell?.close());

/** Waits until a process wants to read the pipe, and holds it there until something is written. */
async function wanted(pipe: string): Promise<number> {
  let handle = -1;
  // Refused while there is no reader.
  await expect.poll(() => (handle = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK))).toBeGreaterThan(0);
  return handle;
}

it('is noticed before the database is replaced', async () => {
  const folder = tempFolder('restore');
  const [file, backup, pipe] = ['fleet.db', 'backup.db', 'key'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const config = { db: `file:${file}`, secret_key: KEY };
  const app = await testApp({ sites: 1, realClock: true, config });
  await backupTo(app.service.config, backup, {});
  await app.service.store.settings.write([{ key: 'since', value: 'kept', secret: false }], 0);

  // The key is read while the copy is prepared.
  spawnSync('mkfifo', ['-m', '600', pipe]);
  shell = await commands();
  const restore = shell.begin({ SITEFLEET_DB: config.db, SITEFLEET_SECRET_KEY_FILE: pipe }, ['restore', backup]);
  const reader = await wanted(pipe);
  await app.service.start();
  // It is read once more, then without waiting.
  writeFileSync(`${pipe}.file`, KEY, { mode: 0o600 });
  renameSync(`${pipe}.file`, pipe);
  writeSync(reader, KEY);
  closeSync(reader);
  const { code, err } = await restore.ended;
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('A server is running') });

  expect(existsSync(file)).toBe(true);
  expect(readdirSync(folder).filter((name) => /restoring|before/.test(name))).toEqual([]);
  await app.close();
  const again = await testApp({ sites: 1, realClock: true, config });
  expect(await again.db.one("SELECT value FROM setting WHERE key = 'since'")).toEqual({ value: '"kept"' });
  await again.close();
});
