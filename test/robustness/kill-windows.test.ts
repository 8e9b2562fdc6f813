/**
 * Processes that end themselves by SIGKILL at chosen moments: between the renames of a key rotation, and inside a step
 * of the schema. Whatever the moment, the next run goes on and nothing is lost.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { nextKeyFile } from '../../src/app/secret-key.js';
import { openDb } from '../../src/store/driver/open.js';
import { migrations } from '../../src/store/schema/index.js';
import { tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp } from '../support/harness.js';
import { type Commands, commands } from '../support/processes/commands.js';

const folder = tempFolder('windows');
let programs: Commands;
beforeAll(async () => {
  programs = await commands();
}, 60_000);

let preloads = 0;
/** NODE_OPTIONS that load this code before the program. */
function preload(code: string): string {
  const path = join(folder, `preload${++preloads}.cjs`);
  writeFileSync(path, `const die = () => process.kill(process.pid, 'SIGKILL');\n${code}`);
  return `--require ${path}`;
}

/** Ends the process before or after a function of `fs` is called with the new key's file. */
const atFile = (name: string, when: 'before' | 'after') =>
  preload(`
    const fs = require('node:fs');
    const { ${name}: real } = fs;
    fs.${name} = (...args) => {
      const ours = args.some((arg) => String(arg).endsWith('.key.next'));
      if (ours && '${when}' === 'before') die();
      const result = real(...args);
      if (ours && '${when}' === 'after') die();
      return result;
    };
    require('node:module').syncBuiltinESMExports();`);

/** Ends the process around the commit of the transaction whose script has these words. */
const atCommit = (words: string, when: 'before' | 'after') =>
  preload(`
    const Database = require(${JSON.stringify(createRequire(import.meta.url).resolve('libsql'))});
    const real = Database.prototype.exec;
    let armed = false;
    Database.prototype.exec = function exec(sql) {
      const last = armed && sql === 'COMMIT';
      if (last && '${when}' === 'before') die();
      const result = real.call(this, sql);
      if (last) die();
      armed ||= sql.includes(${JSON.stringify(words)});
      return result;
    };`);

describe('rotate-key', () => {
  it.each([
    ['before the new key has its name', atFile('linkSync', 'before')],
    ['when the new key was just written', atFile('linkSync', 'after')],
    ['before the new key takes the place of the old one', atFile('renameSync', 'before')],
    ['when it just has', atFile('renameSync', 'after')],
  ])('killed %s: all secrets open, and the next run completes it', async (_moment, options) => {
    const home = join(folder, `rotate${preloads}-${options.length}-${_moment.length}`);
    const [db, file] = [join(home, 'fleet.db'), join(home, 'secret.key')];
    const open = (): Promise<TestApp> =>
      testApp({
        sites: 1,
        realClock: true,
        config: { db: `file:${db}`, secret_key: null, secret_key_file: file },
      });
    const before = await open();
    await before.connect(0);
    await before.service.store.settings.write([{ key: 'pagespeed-key', value: 'from Google', secret: true }], 0);
    await before.close();
    const old = readFileSync(file, 'utf8');
    const env = { SITEFLEET_DB: `file:${db}`, SITEFLEET_SECRET_KEY_FILE: file, SITEFLEET_LOG_LEVEL: 'warn' };

    const killed = await programs.run({ ...env, NODE_OPTIONS: options }, ['rotate-key']);
    expect(killed.signal).toBe('SIGKILL');
    const check = await programs.run(env, ['check', '--json']);
    expect([check.code, JSON.parse(check.out)]).toMatchObject([0, { ok: true, secrets: { unreadable: 0 } }]);

    const done = await programs.run(env, ['rotate-key', '--json']);
    expect([done.code, done.err]).toEqual([0, '']);
    expect(readFileSync(file, 'utf8')).not.toBe(old);
    expect(existsSync(nextKeyFile(file))).toBe(false);
    const after = await open();
    expect(await after.service.store.settings.secret('pagespeed-key')).toBe('from Google');
    await after.close();
  });
});

describe('a step of the schema', () => {
  const STEPS = [...new Set([migrations[0], migrations[Math.floor(migrations.length / 2)], migrations.at(-1)])].flatMap(
    (step) => step ?? [],
  );
  it.each(STEPS.flatMap((step) => [[step.id, 'before', step] as const, [step.id, 'after', step] as const]))(
    'step %i, killed %s its commit, is whole or absent, and the next start goes on',
    { timeout: 60_000 },
    async (id, when, step) => {
      const file = join(folder, `step${id}-${when}.db`);
      const env = { SITEFLEET_DB: `file:${file}`, SITEFLEET_LOG_LEVEL: 'warn' };
      const words = `VALUES (${id}, '${step.name}'`;
      const killed = await programs.run({ ...env, NODE_OPTIONS: atCommit(words, when) }, ['migrate']);
      expect(killed.signal).toBe('SIGKILL');
      const there = await openDb(`file:${file}`, { mode: 'reader' });
      const [highest] = await there.all('SELECT max(id) AS id FROM migration');
      await there.close();
      const index = migrations.findIndex((one) => one.id === id);
      expect(highest?.id).toBe(when === 'after' ? id : (migrations[index - 1]?.id ?? null));

      const done = await programs.run(env, ['migrate', '--json']);
      expect([done.code, JSON.parse(done.out).to]).toEqual([0, migrations.at(-1)?.id]);
      const check = await programs.run(env, ['check', '--json']);
      expect(JSON.parse(check.out)).toMatchObject({ ok: true, integrity: ['ok'] });
    },
  );
});
