/** Changing the key that seals the stored secrets, also when it is cut off in the middle. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { rotateKey } from '../src/cli/rotate-key.js';
import { nextKeyFile } from '../src/secret-key.js';
import { keyFile } from '../src/store/vault.js';
import { type TestApp, testApp } from './harness.js';

let folder: string;
let file: string;
let app: TestApp | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sitefleet-key-'));
  file = join(folder, 'secret.key');
});
afterEach(async () => {
  await app?.close();
  app = undefined;
  rmSync(folder, { recursive: true, force: true });
});

async function open(change: { secret_key?: string | null; secret_key_file?: string | null } = {}): Promise<TestApp> {
  app = await testApp({
    sites: 1,
    config: { db: `file:${join(folder, 'fleet.db')}`, secret_key: null, secret_key_file: file, ...change },
  });
  return app;
}

async function sealedKeyIds(): Promise<string[]> {
  if (app === undefined) throw new Error('not open');
  const rows = await app.db.all('SELECT private_key, regverify FROM site_secret');
  return rows.flatMap((row) => [row.private_key, row.regverify]).map((text) => String(text).split('.')[1] ?? '');
}

it('seals everything with the new key; the old one no longer opens anything', async () => {
  await (await open()).connect(0);
  const old = readFileSync(file, 'utf8');
  const [before] = await sealedKeyIds();
  const { config } = (app as TestApp).service;
  await (app as TestApp).close();

  await rotateKey(config, { json: false });
  expect(readFileSync(file, 'utf8')).not.toBe(old);
  expect(existsSync(nextKeyFile(file))).toBe(false);

  await open();
  expect(new Set(await sealedKeyIds())).not.toContain(before);
  expect(await (app as TestApp).service.store.sites.unreadableSecrets()).toEqual([]);
  await (app as TestApp).close();

  await open({ secret_key: old.trim(), secret_key_file: null });
  expect(await (app as TestApp).service.store.sites.unreadableSecrets()).toEqual([1]);
});

it('opens with both keys when it was cut off, and the next run goes on', async () => {
  await (await open()).connect(0);
  const { config } = (app as TestApp).service;
  await (app as TestApp).close();
  // Cut off after the new key was written and before anything was sealed with it.
  const next = keyFile(nextKeyFile(file));
  await open();
  expect(await (app as TestApp).service.store.sites.unreadableSecrets()).toEqual([]);
  await (app as TestApp).close();

  await rotateKey(config, { json: false });
  await open();
  expect(new Set(await sealedKeyIds())).toEqual(new Set([next.id]));
});
