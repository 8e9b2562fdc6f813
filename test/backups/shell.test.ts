/** The repository of the sites' backups in the shell: its key is printed, and another installation takes it over. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { check, recoverySheet, useKey } from '../../src/cli/backups.js';
import { fileUrl } from '../../src/runtime/file-url.js';
import { tempFolder } from '../support/cleanup.js';
import { testConfig } from '../support/config.js';
import { testApp } from '../support/harness.js';
import { shown } from '../support/printed.js';

const folder = tempFolder('backups-shell');
const config = (name: string) =>
  testConfig({ db: fileUrl(join(folder, `${name}.db`)), site_backup_dir: join(folder, 'repository') });

it('a lost installation is replaced: the recovery sheet opens its backups', async () => {
  const old = config('old');
  const app = await testApp({ sites: 1, realClock: true, config: old });
  await app.connect(0);
  await app.call('install-site-guard', { site_id_or_domain: 1 });
  const { backup_id } = await app.call('back-up-site', { site_id_or_domain: 1 });
  const sheet = await shown('sitefleet backups', () => recoverySheet(old));
  const key = /^Key\s+((?:[0-9a-f]{8} ?){8})$/m.exec(sheet)?.[1] ?? '';
  expect(key).not.toBe('');
  expect(sheet).toContain(join(folder, 'repository'));

  const report = await shown('sitefleet backups', () => check(old, { sample: 50 }));
  expect(report).toMatch(/^\d of 1 packs were read, \d+ bytes, and the lists of 1 backups. 0 problems./);

  const other = config('new');
  const file = (text: string) => {
    const path = join(folder, 'key.txt');
    writeFileSync(path, `${text}\n`);
    return path;
  };
  await expect(useKey(other, file('abc'))).rejects.toThrow('64 hex digits');
  await expect(useKey(other, file('0'.repeat(64)))).rejects.toThrow('another key');
  expect(await shown('sitefleet backups', () => useKey(other, file(key)))).toContain('1 backups were found');
  const taken = await testApp({ sites: 1, realClock: true, config: other });
  expect(await taken.call('verify-backup', { backup_id })).toMatchObject({ sound: true, problems: [] });
});
