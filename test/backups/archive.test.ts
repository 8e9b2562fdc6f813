/** Backups leave as plain archives: what is in one, who may have it, and how one ends that cannot be completed. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { putFile } from '../../src/demo/guard/backup.js';
import { dumpTable } from '../../src/domain/backups/sql-dump.js';
import { type RestApp, restApp } from '../rest/client.js';
import { tempFolder } from '../support/cleanup.js';

const LONG = `wp-content/uploads/${'sehr lang '.repeat(24)}/${'ü🌱'.repeat(30)}.txt`;

let app: RestApp;
let folder: string;
let id: string;

beforeEach(async () => {
  folder = join(tempFolder('archive'), 'repository');
  app = await restApp({ sites: 1, config: { site_backup_dir: folder } });
  await app.connect(0);
  await app.call('install-site-guard', { site_id_or_domain: 1 });
  await app.call('back-up-site', { site_id_or_domain: 1 });
  const { files } = state();
  putFile(state(), LONG, Buffer.from('long'), 1_700_000_000);
  putFile(state(), 'wp-content/uploads/large.bin', Buffer.alloc(3_000_000, 'abc'), 1_700_000_001);
  putFile(state(), 'wp-content/uploads/empty', Buffer.alloc(0), 1_700_000_002);
  // Names by which a site would have files written elsewhere.
  for (const name of ['../outside.txt', '/etc/outside', 'wp-content/../../outside'])
    files.set(name, { ...(files.get(LONG) as never as object), bytes: Buffer.from('bad') } as never);
  app.clock.move(3_600_000);
  id = (await app.call('back-up-site', { site_id_or_domain: 1 })).backup_id;
});

function state() {
  const found = app.fleet.sites[0]?.guard?.backup;
  if (found == null) throw new Error('the site has no plugin for backups');
  return found;
}

const get = (token = app.tokens.read_write, backup = id) =>
  app.http.request(`/v2/backups/${backup}/archive`, { headers: { authorization: `Bearer ${token}` } });
const logged = async () =>
  (await app.call('list-actions', { per_page: 20 })).actions.map(({ action }: { action: string }) => action);

describe('an archive', () => {
  it('has the files as they are, the tables as SQL, and how to restore them', async () => {
    const answer = await get();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/x-tar');
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="[a-z0-9.-]+-20\d\d-\d\d-\d\d\.tar"$/,
    );
    const place = tempFolder('archive-out');
    writeFileSync(join(place, 'all.tar'), Buffer.from(await answer.arrayBuffer()));
    mkdirSync(join(place, 'out'));
    execFileSync('tar', ['-xf', join(place, 'all.tar'), '--no-same-owner', '-C', join(place, 'out')]);
    const found = readdirSync(join(place, 'out', 'files'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      statSync(join(place, 'out', 'files', name)).isFile(),
    );
    const expected = [...state().files.keys()].filter((path) => !path.includes('outside'));
    expect(found.sort()).toEqual(expected.sort());
    for (const path of expected) {
      const file = join(place, 'out', 'files', path);
      expect(readFileSync(file).equals(state().files.get(path)?.bytes ?? Buffer.alloc(0))).toBe(true);
      expect(Math.floor(statSync(file).mtimeMs / 1000)).toBe(state().files.get(path)?.time);
    }
    expect(readFileSync(join(place, 'out', 'README.txt'), 'utf8')).toContain('mariadb --binary-mode DATABASE');
    const sql = readFileSync(join(place, 'out', 'database.sql'), 'utf8');
    for (const table of state().tables.keys()) expect(sql).toContain(`CREATE TABLE \`${table}\``);
    expect(await logged()).toContain('backup-exported');
  });

  it('can be unpacked whatever times the site gives its files', async () => {
    for (const time of [2 ** 53 - 1, 9e12, 8 ** 11, -1]) putFile(state(), `odd-${time}`, Buffer.from('odd'), time);
    app.clock.move(3_600_000);
    id = (await app.call('back-up-site', { site_id_or_domain: 1 })).backup_id;
    const place = tempFolder('archive-times');
    writeFileSync(join(place, 'all.tar'), Buffer.from(await (await get()).arrayBuffer()));
    execFileSync('tar', ['-xf', join(place, 'all.tar'), '--no-same-owner', '--touch', '-C', place]);
    expect(readdirSync(join(place, 'files')).filter((name) => name.startsWith('odd-'))).toHaveLength(4);
  });

  it('leaves out, and names, a table whose definition would run something where it is loaded', async () => {
    const create = "CREATE TABLE `wp_evil` (\n  `a` int COMMENT 'a\\ */'\n);\n\\! touch evil\n-- '\n)";
    state().lies = (action) => {
      if (action !== 'tables') return undefined;
      const good = { name: 'wp_good', engine: 'InnoDB', rows: 0, bytes: 0, ordered: true };
      const tables = [
        { ...good, create: 'CREATE TABLE `wp_good` (\n  `a` int\n)' },
        { ...good, name: 'wp_evil', create },
      ];
      return { prefix: 'wp_', server: 'simulated', tables, others: [] };
    };
    app.clock.move(3_600_000);
    const { backup_id } = await app.call('back-up-site', { site_id_or_domain: 1 });
    const all = Buffer.from(await (await get(app.tokens.read_write, backup_id)).arrayBuffer()).toString('latin1');
    expect(all).toContain('CREATE TABLE `wp_good`');
    expect(all).not.toContain('touch evil');
    expect(all).toMatch(/^Not in database\.sql, .*: wp_evil$/m);
  });

  it('is for those who may restore, and of backups that are complete', async () => {
    expect((await get(app.tokens.read)).status).toBe(403);
    expect((await app.http.request(`/v2/backups/${id}/archive`)).status).toBe(401);
    expect((await get(app.tokens.read_write, `backup_${'0'.repeat(24)}`)).status).toBe(404);
    expect((await get(app.tokens.read_write, '..%2F..')).status).toBe(400);
    expect(await logged()).not.toContain('backup-exported');
  });

  it('ends early, and says so before it begins where it can, when something of it is damaged', async () => {
    const packs = readdirSync(join(folder, 'packs'), { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, 'packs', name))
      .filter((path) => statSync(path).isFile());
    const large =
      packs.find((path) => readFileSync(path).length === Math.max(...packs.map((one) => statSync(one).size))) ?? '';
    const bytes = readFileSync(large);
    // The first chunk is of a table: it is read before the answer begins.
    writeFileSync(large, Buffer.concat([bytes.subarray(0, 20), Buffer.alloc(1), bytes.subarray(21)]));
    const refused = await get();
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ code: 'svc_backup_storage' });
    // What comes later is of files.
    writeFileSync(large, Buffer.concat([bytes.subarray(0, 3_000), Buffer.alloc(300), bytes.subarray(3_300)]));
    const cut = await get();
    expect(cut.status).toBe(200);
    await expect(cut.arrayBuffer()).rejects.toThrow('damaged');
  });

  it('is limited to four downloads at a time, and one that is cancelled makes room for another', async () => {
    const answers = [await get(), await get(), await get(), await get()];
    expect((await get()).status).toBe(429);
    await answers[0]?.body?.cancel();
    const again = await get();
    expect(again.status).toBe(200);
    for (const one of [...answers.slice(1), again]) await one.body?.cancel();
    const headers = { authorization: `Bearer ${app.tokens.read_write}` };
    for (let times = 0; times < 5; times++) {
      const head = await app.http.request(`/v2/backups/${id}/archive`, { method: 'HEAD', headers });
      expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
        200,
        'application/x-tar',
        '',
      ]);
    }
    expect((await get()).status).toBe(200);
  });
});

describe('the SQL of a table', () => {
  const table = (create: string) => ({
    name: 'wp_`x',
    engine: 'InnoDB',
    create,
    consistency: 'instant' as const,
    slices: [],
  });
  const dumped = async (create: string, lines: string) => {
    async function* slices() {
      yield Buffer.from(lines);
    }
    const parts: Buffer[] = [];
    for await (const part of dumpTable(table(create), slices())) parts.push(part);
    return Buffer.concat(parts).toString('utf8');
  };

  it.each([
    ['a length', '[{"length":300000000}]'],
    ['a list of bytes', '[[5]]'],
    ['two texts', '[["QQ==","QQ=="]]'],
    ['no base64', '[["<?php"]]'],
    ['a number', '[5]'],
    ['no row', 'null'],
    ['no JSON', 'wp'],
    ['no end', '['.repeat(200_000)],
  ])('is none where a cell is what no table has: %s', async (_, line) => {
    const create = 'CREATE TABLE `wp_``x` (\n  `a` longblob\n) ENGINE=InnoDB';
    const refused = { code: 'svc_backup_storage', data: { reason: 'damaged' } };
    await expect(dumped(create, `${line}\n`)).rejects.toMatchObject(refused);
  });

  it('keeps every byte, and leaves out what the server computes', async () => {
    const create =
      "CREATE TABLE `wp_``x` (\n  `id` int(11) NOT NULL COMMENT 'GENERATED ALWAYS AS',\n  `a``b` text,\n  `twice` int(11) GENERATED ALWAYS AS (`id` * 2) VIRTUAL,\n  `flags` bit(3),\n  `doc` json,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB";
    const line = JSON.stringify(['1', "a'b\\\n\r\0\x1a🌱", '5', '{"a":"\\u0000"}']);
    const sql = await dumped(create, `${line}\n${JSON.stringify(['2', ['AP8='], null, null])}\n`);
    expect(sql).toContain('DROP TABLE IF EXISTS `wp_``x`;\nSET NAMES utf8mb4;\nCREATE TABLE `wp_``x` (\n');
    expect(sql).toContain('INSERT INTO `wp_``x` (`id`, `a``b`, `flags`, `doc`) VALUES\n');
    expect(sql).toContain(
      `('1','a\\'b\\\\\\n\\r\\0\\Z🌱',5,CONVERT('{"a":"\\\\u0000"}' USING utf8mb4)),\n('2',0x00ff,NULL,NULL);\n`,
    );
  });
});
