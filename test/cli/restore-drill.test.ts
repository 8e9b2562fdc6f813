/** Runs the restore drill of docs/production.md line by line. */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { builtProgram } from '../support/processes/built-program.js';

const cli = await builtProgram();

it.skipIf(process.platform === 'win32')('the drill brings a fleet back in another place', () => {
  const folder = tempFolder('drill');
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'sitefleet'), `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`, { mode: 0o755 });
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: folder,
    SITEFLEET_DB: `file:${join(folder, 'live', 'fleet.db')}`,
    SITEFLEET_SECRET_KEY_FILE: join(folder, 'live', 'secret.key'),
    SITEFLEET_BACKUP_DIR: join(folder, 'backups'),
    SITEFLEET_LOG_LEVEL: 'warn',
  };
  const sitefleet = (...args: string[]) => execFileSync(join(bin, 'sitefleet'), args, { env, encoding: 'utf8' });
  // A tag to find again, and a sealed import key, which can only be read with the secret key.
  sitefleet('call', 'add-tag', '{"name":"Bakery"}');
  sitefleet('import', 'key');

  const [, drill = ''] =
    /<!-- drill:start -->\n```sh\n([\s\S]*?)```\n<!-- drill:end -->/.exec(readFileSync('docs/production.md', 'utf8')) ??
    [];
  expect(drill).toContain('sitefleet restore');
  // The drill removes its result at the end; the test inspects it before.
  const looking = drill.replace(
    /^rm -r drill$/m,
    'sitefleet call list-tags --json\nsitefleet check --json\nrm -r drill',
  );
  expect(looking).not.toBe(drill);
  const done = spawnSync('sh', ['-eu', '-c', looking], { env, cwd: folder, encoding: 'utf8' });
  expect(done.status, done.stderr).toBe(0);
  expect(done.stderr).toContain(`Restored ${join(folder, 'drill', 'sitefleet.db')}`);
  expect(done.stdout).toContain('No problems found.');
  expect(done.stdout).toContain('"name":"Bakery"');
  const report = JSON.parse(done.stdout.trim().split('\n').at(-1) ?? '{}');
  expect(report).toMatchObject({ ok: true, secrets: { unreadable: 0 } });
  expect(report.secrets.sealed).toBeGreaterThan(0);
  expect(existsSync(join(folder, 'drill'))).toBe(false);
});
