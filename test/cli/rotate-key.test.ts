/** Changing the key that seals the stored secrets, also when interrupted, refused, or with the old key lost. */

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nextKeyFile, presentVault } from '../../src/app/secret-key.js';
import { rotateKey } from '../../src/cli/rotate-key.js';
import type { Config } from '../../src/runtime/config/types.js';
import { asServiceError } from '../../src/runtime/errors.js';
import { createInstance } from '../../src/store/settings/instance.js';
import { SEALED, surveySealed } from '../../src/store/vault/sealed.js';
import { keyFile } from '../../src/store/vault/vault.js';
import { tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp } from '../support/harness.js';
import { newKey } from '../support/logins.js';

let folder: string;
let file: string;
let app: TestApp | undefined;

beforeEach(() => {
  folder = tempFolder('key');
  file = join(folder, 'secret.key');
});
afterEach(async () => {
  app = undefined;
});

async function open(change: { secret_key?: string | null; secret_key_file?: string | null } = {}): Promise<TestApp> {
  app = await testApp({
    sites: 2,
    realClock: true,
    config: { db: `file:${join(folder, 'fleet.db')}`, secret_key: null, secret_key_file: file, ...change },
  });
  return app;
}

/**
 * Creates and closes a used service: a site with secrets, a sealed setting, a key, and the answer of a repeatable call.
 */
async function used(): Promise<{ config: Config; token: string; answer: string }> {
  const opened = await open();
  await opened.connect(0);
  const { store, config } = opened.service;
  await store.settings.write([{ key: 'pagespeed-key', value: 'from Google', secret: true }], 0);
  const { token } = await newKey(store.keys);
  const answer = await once(opened, token);
  await opened.close();
  return { config, token, answer };
}

/** The same call with the same Idempotency-Key. */
async function once(opened: TestApp, token: string): Promise<string> {
  const http = await opened.service.http();
  const reply = await http.request('http://127.0.0.1:8787/v2/tags/add', {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'Idempotency-Key': 'the-same' },
    body: JSON.stringify({ name: 'Once' }),
  });
  return `${reply.status} ${await reply.text()}`;
}

const survey = (opened: TestApp, change: Partial<Config> = {}) =>
  surveySealed(opened.db, presentVault({ ...opened.service.config, ...change }));

it('seals everything with the new key; the old one no longer opens anything', async () => {
  const { config, token, answer } = await used();
  const old = readFileSync(file, 'utf8');
  const before = keyFile(file).id;
  expect(answer).toMatch(/^200 .*"Once"/);

  await rotateKey(config, { json: false });
  expect(readFileSync(file, 'utf8')).not.toBe(old);
  expect(existsSync(nextKeyFile(file))).toBe(false);

  const opened = await open();
  const found = await survey(opened);
  expect(found).toMatchObject({ unreadable: 0, places: [], keys: [{ id: keyFile(file).id, sealed: found.sealed }] });
  // At least two secrets of the site, the setting, and the answer.
  expect(found.sealed).toBeGreaterThanOrEqual(4);
  expect(await once(opened, token)).toBe(answer);
  expect(await opened.service.store.settings.secret('pagespeed-key')).toBe('from Google');
  await opened.close();

  await expect(open({ secret_key: old.trim(), secret_key_file: null })).rejects.toThrow(
    `sealed with the secret key ${keyFile(file).id}, but SITEFLEET_SECRET_KEY is the key ${before}`,
  );
});

it('opens with both keys when it was cut off, and the next run goes on', async () => {
  const { config } = await used();
  // Interrupted after the new key was written and before anything was sealed with it.
  const next = keyFile(nextKeyFile(file));
  expect(await survey(await open())).toMatchObject({ unreadable: 0 });
  await (app as TestApp).connect(1);
  await (app as TestApp).close();

  await rotateKey(config, { json: false });
  expect(await survey(await open())).toMatchObject({ unreadable: 0, keys: [{ id: next.id }] });
});

it('runs twice at the same time, and what is left is one key that opens everything', async () => {
  const { config, token, answer } = await used();
  await Promise.all([rotateKey(config, {}), rotateKey(config, {})]);
  expect(existsSync(nextKeyFile(file))).toBe(false);
  const again = await open();
  expect(await surveySealed(again.db, presentVault(config))).toMatchObject({
    unreadable: 0,
    sealed: expect.any(Number),
  });
  expect(await once(again, token)).toBe(answer);
  await again.close();
});

it('refused, it changes nothing and leaves no new key', async () => {
  const { config } = await used();
  const serving = await open();
  await serving.service.start();
  await expect(rotateKey(config, {})).rejects.toThrow('A server is running');
  expect(existsSync(nextKeyFile(file))).toBe(false);
  const before = await survey(serving);
  await serving.close();

  // One site is sealed with a lost key.
  const first = `${file}.first`;
  renameSync(file, first);
  const stray = keyFile(file);
  const other = await open({ secret_key_file: first });
  await createInstance(other.db).noteSecretKey(stray.id);
  await other.db.run(`UPDATE site_secret SET http_user = 'v1.${stray.id}.${'A'.repeat(16)}.${'A'.repeat(40)}'`);
  await other.close();
  renameSync(first, file);
  await expect(rotateKey(config, {})).rejects.toThrow(
    new RegExp(`1 of ${before.sealed + 1} stored secrets .*${stray.id}.*site_secret:1:http_user.*Nothing was changed`),
  );
  expect(existsSync(nextKeyFile(file))).toBe(false);
  const { keys } = await survey(await open());
  expect(keys).toContainEqual({ id: keyFile(file).id, sealed: before.sealed, unreadable: 0 });
});

it('without the key it names the one that is needed, and gives up what it sealed only when asked to', async () => {
  const { config } = await used();
  const { id } = keyFile(file);
  rmSync(file);
  await expect(rotateKey(config, {})).rejects.toThrow(`sealed with the secret key ${id}, but ${file} does not exist`);
  expect([existsSync(file), existsSync(nextKeyFile(file))]).toEqual([false, false]);

  await rotateKey(config, { lostKey: true });
  const opened = await open();
  expect(await survey(opened)).toEqual({ sealed: 0, unreadable: 0, keys: [], places: [] });
  expect(await opened.call('get-site', { site_id_or_domain: 1 })).toMatchObject({ id: 1 });
  const sync = await opened.call('sync-sites', { site_ids_or_domains: [1] });
  expect(sync.errors).toMatchObject([{ code: 'svc_site_offline', message: expect.stringContaining('connection key') }]);
});

it('a used database makes no other key where its own is missing, also with nothing sealed', async () => {
  const fresh = await open();
  const { config } = fresh.service;
  await fresh.close();
  const { id } = keyFile(file);
  rmSync(file);
  await expect(open()).rejects.toThrow(`was used with the secret key ${id}, but ${file} does not exist`);
  // As when the database was copied to a new folder and its key was not.
  const elsewhere = join(folder, 'new', 'secret.key');
  await expect(open({ secret_key_file: elsewhere })).rejects.toThrow(`${elsewhere} does not exist`);
  expect([existsSync(file), existsSync(elsewhere)]).toEqual([false, false]);

  await rotateKey(config, { lostKey: true });
  await (await open()).close();
  expect(keyFile(file).id).not.toBe(id);
});

describe('a process that was not stopped', () => {
  const failure = (call: Promise<unknown>) => call.then(() => null, asServiceError);
  const REPLACED = {
    code: 'svc_storage_unavailable',
    message: 'The secret key was replaced while this process was running, so it can store no secrets.',
  };

  it('stores no secret with the old key, and no site gets a key that is not stored', async () => {
    const { config } = await used();
    // It has contacted no site yet, so the command does not know of it.
    const idle = await open();
    await rotateKey(config, { json: false });

    const { url, admin, password: admin_password } = idle.fleet.site(1);
    expect(await failure(idle.call('add-site', { url, admin, admin_password }))).toMatchObject(REPLACED);
    expect(await failure(idle.call('reconnect-site', { site_id_or_domain: 1 }))).toMatchObject(REPLACED);
    expect(
      await failure(idle.call('update-site', { site_id_or_domain: 1, http_user: 'a', http_pass: 'b' })),
    ).toMatchObject(REPLACED);
    expect(idle.fleet.stats().requests).toBe(0);
    await idle.call('add-tag', { name: 'v1.is no secret' });

    expect(await survey(idle)).toMatchObject({ unreadable: 0, keys: [{ id: keyFile(file).id }] });
    await idle.close();
    const opened = await open();
    expect([...(await opened.service.store.sites.connections([1])).keys()]).toEqual([1]);
    await opened.connect(1);
  });

  it('is refused for every column that has secrets', async () => {
    const { config } = await used();
    const { id } = keyFile(file);
    const idle = await open();
    await idle.db.run(
      `INSERT INTO alert_recipient (uid, name, type, target, host, created_at) VALUES ('a', '', '', '', '', 0)`,
    );
    await rotateKey(config, { json: false });
    const stale = `v1.${id}.${'A'.repeat(16)}.${'A'.repeat(40)}`;
    for (const { table, columns } of SEALED)
      for (const column of columns) {
        const stored = (text: string) => idle.db.run(`UPDATE ${table} SET ${column} = ?`, [text]);
        await expect(stored(stale), `${table}.${column}`).rejects.toThrow('secret_key_replaced');
        expect((await stored('plain')).changes, `${table}.${column}`).toBeGreaterThan(0);
      }
  });

  it('that starts while the key is replaced has the new one', async () => {
    const { config } = await used();
    const old = readFileSync(file, 'utf8');
    await rotateKey(config, { json: false });
    // As it was before the last step of the command.
    renameSync(file, nextKeyFile(file));
    writeFileSync(file, old);
    const starting = await open();
    await starting.connect(1);
    renameSync(nextKeyFile(file), file);
    await starting.close();
    expect(await survey(await open())).toMatchObject({ unreadable: 0, keys: [{ id: keyFile(file).id }] });
  });
});
