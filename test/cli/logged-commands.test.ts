/** What the log has of commands that change logins: the options without secrets, and what they did. */

import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { firstStartOf } from '../../src/cli/first-start.js';
import { openDb } from '../../src/store/driver/open.js';
import { tempFolder } from '../support/cleanup.js';
import { testConfig } from '../support/config.js';
import { shown } from '../support/printed.js';
import { type Commands, commands } from '../support/processes/commands.js';

const folder = tempFolder('logged-commands');
const db = `file:${join(folder, 'fleet.db')}`;
const env = { SITEFLEET_DB: db, SITEFLEET_LOG_LEVEL: 'fatal' };
const SECRET = 'correct horse battery';

let programs: Commands;
beforeAll(async () => {
  programs = await commands();
});

/** Runs a command and returns what it added to the log. */
async function logged(args: string[], stdin = '') {
  const rows = async () => {
    const opened = await openDb(db, { mode: 'reader' });
    const found = await opened.all('SELECT * FROM action_log ORDER BY id');
    await opened.close();
    return found;
  };
  const before = args[1] === 'add' && args[2] === 'first' ? 0 : (await rows()).length;
  expect(await programs.run(env, args, stdin)).toMatchObject({ code: 0 });
  const added = (await rows()).slice(before);
  expect(JSON.stringify(added)).not.toContain(SECRET);
  const [call, ...done] = added;
  expect(new Set(added.map(({ request_id, operation }) => `${request_id} ${operation}`)).size).toBe(1);
  return {
    call: { operation: call?.operation, ...JSON.parse(String(call?.input)) },
    done: done.map(({ context, action, slug, name, detail }) => [context, action, slug, name, detail].join(' ').trim()),
  };
}

it('users: with what was asked for, and what was done', async () => {
  expect(await logged(['user', 'add', 'first', '--password-stdin'], SECRET)).toEqual({
    call: { operation: 'sitefleet user add', arguments: ['first'], options: { passwordStdin: true } },
    done: ['user created 1 first'],
  });
  await logged(['user', 'add', 'mallory', '--read-only', '--password-stdin'], SECRET);
  for (const [flag, approve] of [
    ['--approve', true],
    ['--no-approve', false],
  ] as const)
    expect(await logged(['user', 'edit', 'mallory', flag])).toEqual({
      call: { operation: 'sitefleet user edit', arguments: ['mallory'], options: { approve } },
      done: ['user updated 2 mallory may_approve'],
    });
  expect((await logged(['user', 'password', 'mallory', '--password-stdin'], SECRET)).done).toEqual([
    'user updated 2 mallory password',
  ]);
  // The user was not named.
  expect((await logged(['login-link'])).done).toEqual(['user updated 1 first login_link']);
  expect((await logged(['user', 'remove', 'mallory'])).done).toEqual(['user deleted 2 mallory']);
});

it('keys: also without invisible characters in their descriptions', async () => {
  const args = ['key', 'add', '--scope', 'read', '--approve', '--description', 'ev\u202Eil'];
  const { call, done } = await logged(args);
  expect(call).toEqual({
    operation: 'sitefleet key add',
    arguments: [],
    options: { scope: 'read', approve: true, description: 'ev\u202Eil' },
  });
  expect(done).toEqual(['key created 1 1']);
  const listed = JSON.parse((await programs.run(env, ['key', 'list', '--json'])).out);
  expect(listed).toMatchObject([{ id: 1, scope: 'read,approve', description: 'evil' }]);
  expect((await logged(['key', 'remove', '1'])).done).toEqual(['key deleted 1 1']);
});

it('the user and the key that a first start makes', async () => {
  const config = testConfig({ db: `file:${join(tempFolder('first-start'), 'fleet.db')}` });
  await shown('sitefleet serve', async () => {
    await firstStartOf(config, 1_000);
  });
  const opened = await openDb(config.db, { mode: 'reader' });
  const rows = await opened.all('SELECT operation, context, action, slug, name FROM action_log ORDER BY id');
  await opened.close();
  expect(rows.map((row) => Object.values(row).join(' ').trim())).toEqual([
    'sitefleet serve call called',
    'sitefleet serve user created 1 admin',
    'sitefleet serve key created 1 1',
  ]);
});
