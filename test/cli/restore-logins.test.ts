/** A login that was taken away after the backup was made does not return with the backup. */

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { backupTo } from '../../src/cli/database.js';
import { restore } from '../../src/cli/restore.js';
import { cheapHash } from '../support/cheap-hash.js';
import { tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp } from '../support/harness.js';
import { newKey, newUser } from '../support/logins.js';

let folder: string;
beforeEach(() => {
  folder = tempFolder('logins');
});
const fileOf = (name: string) => join(folder, name);

async function open(): Promise<TestApp> {
  const config = { db: `file:${fileOf('fleet.db')}`, secret_key: 'a'.repeat(64) };
  return testApp({ sites: 1, realClock: true, config });
}

/** What the command says, on either output. */
async function said(work: () => Promise<void>): Promise<string> {
  let text = '';
  const take = (piece: unknown) => {
    text += String(piece);
    return true;
  };
  const outputs = [process.stdout, process.stderr].map((output) => vi.spyOn(output, 'write').mockImplementation(take));
  try {
    await work();
  } finally {
    for (const output of outputs) output.mockRestore();
  }
  return text;
}

const NAMES = ['boss', 'removed', 'disabled', 'narrowed', 'changed'] as const;
const SCOPES = { stays: 'read_write', removed: 'read_write', disabled: 'read_write', narrowed: 'read_write' } as const;

/** A service with these users and keys, and its backup; tokens by the names of the keys. */
async function backedUp(): Promise<{ app: TestApp; tokens: Record<string, string> }> {
  const app = await open();
  const { keys, users } = app.service.store;
  for (const name of NAMES) await newUser(users, name, `password of ${name}`);
  const tokens: Record<string, string> = {};
  for (const [description, scope] of Object.entries(SCOPES))
    tokens[description] = (await newKey(keys, { description, scope })).token;
  await said(() => backupTo(app.service.config, fileOf('backup.db'), {}));
  return { app, tokens };
}

async function takeAway({ service }: TestApp): Promise<void> {
  const { keys, users } = service.store;
  await keys.remove(2);
  await keys.change(3, { enabled: false });
  await keys.change(4, { scope: 'read' });
  await users.remove('removed');
  await users.change('disabled', { enabled: false });
  await users.change('narrowed', { rights: ['read'] });
  await users.change('changed', { password_hash: await users.hash('another password') });
}

/** By name: the status of a read and of a write with a key, and of a login with a password and what it may do. */
async function allowed(app: TestApp, tokens: Record<string, string>) {
  const http = await app.service.http();
  const base = 'http://127.0.0.1:8787';
  const json = { 'Content-Type': 'application/json' };
  const keys: Record<string, number[]> = {};
  for (const [name, token] of Object.entries(tokens)) {
    const headers = { ...json, Authorization: `Bearer ${token}` };
    const read = await http.request(`${base}/v2/sites/count`, { headers });
    const write = await http.request(`${base}/v2/tags/add`, { method: 'POST', headers, body: `{"name":"${name}"}` });
    keys[name] = [read.status, write.status];
  }
  const users: Record<string, string> = {};
  for (const username of NAMES) {
    const body = JSON.stringify({ username, password: `password of ${username}` });
    const reply = await http.request(`${base}/session`, { method: 'POST', headers: json, body });
    users[username] =
      reply.status === 200 ? ((await reply.json()) as { user: { right: string } }).user.right : String(reply.status);
  }
  return { keys, users };
}

it('keeps away the keys and users that were removed, disabled or narrowed since, and names them', async () => {
  const { app, tokens } = await backedUp();
  await takeAway(app);
  await app.close();

  const text = await said(() => restore(app.service.config, fileOf('backup.db'), {}));
  expect(text).toContain('API keys that keep fewer rights than in the backup: #2 removed, #3 disabled, #4 narrowed');
  expect(text).toContain('Users who keep fewer rights than in the backup: disabled, narrowed, removed');
  expect(text).toContain('Passwords that are again those of the backup: changed');
  expect(await allowed(await open(), tokens)).toEqual({
    keys: { stays: [200, 200], removed: [401, 401], disabled: [401, 401], narrowed: [200, 403] },
    users: { boss: 'write', removed: '401', disabled: '401', narrowed: 'read', changed: 'write' },
  });
});

it('names them as data, too', async () => {
  const { app } = await backedUp();
  await takeAway(app);
  await app.close();
  const text = await said(() => restore(app.service.config, fileOf('backup.db'), { json: true }));
  expect(JSON.parse(text)).toMatchObject({
    logins: {
      keys: ['#2 removed', '#3 disabled', '#4 narrowed'],
      users: ['disabled', 'narrowed', 'removed'],
      passwords: ['changed'],
    },
  });
});

it('lets nothing approve that an assistant has used since, or may have, and no approval be used twice', async () => {
  const app = await open();
  const { keys, users, approvals, settings } = app.service.store;
  const rights = ['read', 'write', 'approve'] as const;
  for (const name of ['person', 'assisted', 'renewed', 'marked', 'writer', 'gone'])
    await users.add({
      name,
      password_hash: cheapHash(name),
      rights: name === 'writer' ? ['read', 'write'] : rights,
      now: 1,
    });
  for (const description of ['program', 'assisted']) await newKey(keys, { description, approves: true });
  const idOf = (name: string) => idOfIn(app.service, name);
  await users.markAssistant(await idOf('marked'), 5);
  const facts = {
    asker: 'key:9',
    asker_name: 'k',
    via: 'rest',
    client: '',
    title: 't',
    kind: 'updates',
    sites: 1,
    changes: '[]',
  } as const;
  const call = { operation: 'o', plan_digest: 'p', input: '{}', plan: '{}', asked_at: 1, expires_at: 9e12 };
  for (const id of ['given', 'waits']) await approvals.add({ ...facts, ...call, id, input_digest: id }, undefined);
  await approvals.decide('given', { state: 'approved', by: 'person', note: '', now: 2, expires_at: 9e12 });
  await settings.write([{ key: 'approvals', value: { preset: 'open', few_sites: 5 } }], 1);
  await said(() => backupTo(app.service.config, fileOf('backup.db'), {}));

  await approvals.use('given', 'p', 3);
  await settings.write([{ key: 'approvals', value: { preset: 'strict', few_sites: 5 } }], 2);
  for (const name of ['assisted', 'renewed', 'writer']) await users.markAssistant(await idOf(name), 7);
  for (const name of ['renewed', 'writer']) await users.change(name, { password_hash: cheapHash('another') });
  await keys.markAssistant(2, 7);
  await users.markAssistant(await idOf('gone'), 7);
  await users.change('gone', { enabled: false });
  await app.close();

  const text = await said(() => restore(app.service.config, fileOf('backup.db'), {}));
  expect(text).toMatch(/^Cannot approve, because .*: #2 assisted, assisted, gone, renewed\.$/m);
  expect(text).toContain('Approvals that were given and have to be asked for again: 1.');
  expect(text).toContain('The approval rules are those of the backup again');
  const { service } = await open();
  const marked = (name: string) => idOfIn(service, name).then((id) => service.store.users.isAssistants(id));
  const found = await Promise.all(['person', 'assisted', 'renewed', 'marked', 'writer', 'gone'].map(marked));
  expect(found).toEqual([false, true, true, true, false, true]);
  expect([await service.store.keys.isAssistants(1), await service.store.keys.isAssistants(2)]).toEqual([false, true]);
  const states = await service.store.approvals.list({ states: [] }, 4, 1, 10);
  expect(states.items.map(({ id, state }) => [id, state]).sort()).toEqual([
    ['given', 'replaced'],
    ['waits', 'waiting'],
  ]);
});

const idOfIn = async ({ store }: TestApp['service'], name: string) => Number((await store.users.find(name))?.id);

it('leaves the first user of the backup what it has, and says so, where none of them may make changes any more', async () => {
  const { app, tokens } = await backedUp();
  await app.db.run('DELETE FROM user');
  await app.close();
  const text = await said(() => restore(app.service.config, fileOf('backup.db'), {}));
  expect(text).toContain('may make changes again, as nobody else of the backup may: boss');
  expect(text).toContain('Users who keep fewer rights than in the backup: changed, disabled, narrowed, removed');
  const { users } = await allowed(await open(), tokens);
  expect(Object.values(users)).toEqual(NAMES.map((name) => (name === 'boss' ? 'write' : '401')));
});

it('takes nothing from another installation: a backup may be restored over a new one', async () => {
  const { app, tokens } = await backedUp();
  await app.close();
  renameSync(fileOf('fleet.db'), fileOf('moved.db'));
  const other = await open();
  await newUser(other.service.store.users, 'boss', 'a new one');
  await other.close();
  const text = await said(() => restore(app.service.config, fileOf('backup.db'), {}));
  expect(text).not.toMatch(/API keys|Users|Passwords/);
  const { keys, users } = await allowed(await open(), tokens);
  expect(Object.values(keys)).toEqual(Object.keys(SCOPES).map(() => [200, 200]));
  expect(Object.values(users)).toEqual(NAMES.map(() => 'write'));
});

it('says when it cannot know', async () => {
  const { app, tokens } = await backedUp();
  await takeAway(app);
  await app.close();
  renameSync(fileOf('fleet.db'), fileOf('moved.db'));
  writeFileSync(fileOf('fleet.db'), 'this is no database'.repeat(1000));
  const text = await said(() => restore(app.service.config, fileOf('backup.db'), {}));
  expect(text).toContain(
    'The previous database cannot be read: every user and API key of the backup may log in again.',
  );
  expect((await allowed(await open(), tokens)).keys.removed).toEqual([200, 200]);
});
