/**
 * Acknowledged data stays: after kill -9, in a copy of the files, with a full disk, a read-only database, and in a
 * backup.
 */

import { once } from 'node:events';
import { copyFileSync, existsSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { backupTo, check } from '../../src/cli/database.js';
import { restore } from '../../src/cli/restore.js';
import type { Config } from '../../src/runtime/config/types.js';
import { asServiceError } from '../../src/runtime/errors.js';
import type { Db } from '../../src/store/driver/db.js';
import { openDb } from '../../src/store/driver/open.js';
import { killProcess, tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp, testConfig } from '../support/harness.js';
import { holdBack } from '../support/hold-back.js';
import { type Program, pause, program, random } from '../support/processes/program.js';
import { shortOrLong } from './soak.js';

const folder = tempFolder('durable');
const fileOf = (name: string) => join(folder, name);
const urlOf = (name: string) => `file:${fileOf(name)}`;

async function tagsIn(url: string): Promise<Set<string>> {
  const db = await openDb(url);
  try {
    expect(await db.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    return new Set((await db.all('SELECT name FROM tag')).map(({ name }) => String(name)));
  } finally {
    await db.close();
  }
}

describe('kill -9', () => {
  const RUNS = shortOrLong(4, 100);
  let writers: Program;
  beforeAll(async () => {
    writers = await program('tag-writer');
  });

  it(`loses nothing that was acknowledged, in the files nor in a copy of them at that moment, in ${RUNS} runs`, async () => {
    const next = random(99);
    const config = testConfig({ db: urlOf('killed.db') });
    const acknowledged: string[] = [];
    for (let run = 0; run < RUNS; run++) {
      const child = await writers.start({ config, prefix: `run${run}` });
      let said = '';
      child.stdout?.on('data', (chunk) => {
        said += String(chunk);
      });
      await expect.poll(() => said.split('\n').length, { interval: 5 }).toBeGreaterThan(10);
      await pause(next() * 300);
      child.kill('SIGSTOP');
      await pause(20);
      for (const end of ['', '-wal']) copyFileSync(fileOf(`killed.db${end}`), fileOf(`copy.db${end}`));
      await killProcess(child);
      acknowledged.push(...said.split('\n').filter((line) => line.startsWith('run')));
      const [now, copied] = [await tagsIn(urlOf('killed.db')), await tagsIn(urlOf('copy.db'))];
      expect(acknowledged.filter((name) => !now.has(name))).toEqual([]);
      expect(acknowledged.filter((name) => !copied.has(name))).toEqual([]);
      rmSync(fileOf('copy.db'));
      rmSync(fileOf('copy.db-wal'), { force: true });
      rmSync(fileOf('copy.db-shm'), { force: true });
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(RUNS * 10);
    process.stderr.write(`${JSON.stringify({ runs: RUNS, acknowledged: acknowledged.length, lost: 0 })}\n`);
  });
});

it('a check of the file that is ended at any moment does not end the process', async () => {
  const db = await openDb(urlOf('checked.db'));
  // Each is read by a call of native code.
  await db.batch(Array.from({ length: 200 }, (_, n) => ({ sql: `CREATE TABLE t${n} (a, b, c)`, args: [] })));
  await db.close();
  const checks = await program('integrity-ends');
  const child = await checks.start({ db: urlOf('checked.db'), rounds: shortOrLong(10, 50) });
  const ended = once(child, 'exit');
  child.stdin?.write('.');
  expect(await ended).toEqual([0, null]);
});

describe('storage that refuses', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await testApp({ sites: 3, jobs: false, realClock: true, config: { db: urlOf('full.db') } });
    for (let i = 0; i < 3; i++) await app.connect(i);
  });

  /** Simulates a full disk: SQLite reports the same error when the page limit is reached. */
  async function full(db: Db): Promise<() => Promise<unknown>> {
    const [pages] = await db.all('PRAGMA page_count');
    await db.all(`PRAGMA max_page_count=${Number(pages?.page_count)}`);
    return () => db.all('PRAGMA max_page_count=4294967294');
  }
  async function readOnly(db: Db): Promise<() => Promise<unknown>> {
    await db.all('PRAGMA query_only=ON');
    return () => db.all('PRAGMA query_only=OFF');
  }
  const note = 'n'.repeat(60_000);

  it.each([
    ['a full disk', full, 'full'],
    ['a read-only database', readOnly, 'read-only'],
  ] as const)('%s is told, changes nothing, and the process goes on when it is over', async (_name, break_, words) => {
    const before = await app.call('get-site', { site_id_or_domain: 1 });
    const mend = await break_(app.db);
    try {
      const error = asServiceError(
        await app
          .call('add-client', { name: 'Big', note: note.slice(0, 4000), client_email: 'a@example.com' })
          .then(
            async () => {
              // A page may have had room left: the next ones have none.
              for (let i = 0; i < 200; i++)
                await app.call('add-client', { name: `Big ${i}`, note: note.slice(0, 4000) });
            },
            (caught: unknown) => caught,
          )
          .catch((caught: unknown) => caught),
      );
      expect(error).toMatchObject({ code: 'svc_storage_unavailable', status: 503 });
      expect(error.message).toContain(words);
      expect(error.advice).toBeTruthy();
      expect(await app.call('get-site', { site_id_or_domain: 1 })).toEqual(before);
      expect((await app.call('list-sites', {})).total).toBe(3);
    } finally {
      await mend();
    }
    await app.call('update-site', { site_id_or_domain: 1, notes: `room again after ${words}` });
    expect(await app.call('get-site', { site_id_or_domain: 1 })).toMatchObject({ notes: `room again after ${words}` });
  });

  it('a job waits while the disk is full, and reports no site for it', async () => {
    const job = await testApp({
      sites: 6,
      realClock: true,
      config: { db: urlOf('fulljob.db'), batch_threshold: 1, job_chunk: 3, job_delay_ms: 0 },
    });
    for (let i = 0; i < 6; i++) await job.connect(i);
    const held = job.fleet.sites.map((site) => holdBack(site, /^stats$/));
    const { job_id } = await job.call('sync-sites', {});
    // Of one of its two chunks.
    await Promise.race(held.map(({ waiting }) => waiting));
    const mend = await readOnly(job.db);
    const from = job.db.log.length;
    for (const each of held) each.letGo();
    const refused = () => job.db.log.slice(from).some((sql) => /^\s*(INSERT|UPDATE|DELETE)/.test(sql));
    await expect.poll(refused).toBe(true);
    await mend();
    await expect
      .poll(() => job.call('get-batch-job-status', { job_id }), { interval: 100 })
      .toMatchObject({ status: 'completed', total: 6, succeeded: 6, failed: 0, errors: [] });
  });
});

describe('backup, check and restore', () => {
  const config = (name: string, key: string): Config => testConfig({ db: urlOf(name), secret_key: key });
  const key = 'a'.repeat(64);

  async function said(work: () => Promise<void>): Promise<Record<string, unknown>> {
    let out = '';
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      out += String(chunk);
      return true;
    });
    try {
      await work();
    } finally {
      write.mockRestore();
    }
    return JSON.parse(out) as Record<string, unknown>;
  }
  async function checked(name: string, with_ = key): Promise<Record<string, unknown>> {
    const report = await said(() => check(config(name, with_), { json: true }));
    process.exitCode = 0;
    return report;
  }

  it('a backup taken while others write is one moment of the database', async () => {
    const app = await testApp({ sites: 1, config: { db: urlOf('busy.db'), secret_key: key } });
    await app.connect(0);
    let writing = true;
    const writer = (async () => {
      // Two rows in one batch: a copy must never contain only one of them.
      for (let n = 0; writing; n++) {
        await app.db.batch(
          ['a', 'b'].map((half) => ({
            sql: 'INSERT INTO tag (name, name_key, created_at, updated_at) VALUES (?, ?, 0, 0)',
            args: [`${half}${n}`, `${half}${n}`],
          })),
        );
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let copy = 0; copy < shortOrLong(5, 100); copy++) {
      await pause(20);
      await said(() => backupTo(config('busy.db', key), fileOf(`backup${copy}.db`), { json: true }));
      const names = await tagsIn(urlOf(`backup${copy}.db`));
      const halves = [...names].filter((name) => !names.has(`${name.startsWith('a') ? 'b' : 'a'}${name.slice(1)}`));
      expect(halves).toEqual([]);
      if (copy > 0) expect(names.size).toBeGreaterThan(0);
      expect(await checked(`backup${copy}.db`)).toMatchObject({ ok: true, secrets: { unreadable: 0 } });
    }
    writing = false;
    await writer;
  });

  it('restores a backup, keeps what was there, and takes nothing that is damaged', async () => {
    const app = await testApp({ sites: 2, realClock: true, config: { db: urlOf('live.db'), secret_key: key } });
    await app.connect(0);
    await said(() => backupTo(config('live.db', key), fileOf('good.db'), { json: true }));
    await app.connect(1);
    await app.call('add-tag', { name: 'after the backup' });
    await app.service.start();
    // The database of a running server is not replaced.
    await expect(restore(config('live.db', key), fileOf('good.db'), {})).rejects.toThrow('server is running');
    await app.close();

    writeFileSync(fileOf('nonsense.db'), 'this is no database'.repeat(1000));
    await expect(restore(config('live.db', key), fileOf('nonsense.db'), {})).rejects.toThrow();
    copyFileSync(fileOf('good.db'), fileOf('cut.db'));
    truncateSync(fileOf('cut.db'), 40_960);
    await expect(restore(config('live.db', key), fileOf('cut.db'), {})).rejects.toThrow();
    await expect(restore(config('live.db', key), fileOf('nowhere.db'), {})).rejects.toThrow('no backup');
    await expect(restore(config('live.db', key), fileOf('live.db'), {})).rejects.toThrow('the database itself');
    expect([...(await tagsIn(urlOf('live.db')))]).toEqual(['after the backup']);

    const done = await said(() => restore(config('live.db', key), fileOf('good.db'), { json: true }));
    expect(done).toMatchObject({ secrets: { unreadable: 0 } });
    expect([...(await tagsIn(urlOf('live.db')))]).toEqual([]);
    expect(await checked('live.db')).toMatchObject({ ok: true });
    const kept = String(done.kept);
    expect(existsSync(kept)).toBe(true);
    expect([...(await tagsIn(`file:${kept}`))]).toEqual(['after the backup']);
    expect(readdirSync(folder).filter((name) => name.includes('.restoring'))).toEqual([]);
    const again = await testApp({ sites: 1, config: { db: urlOf('live.db'), secret_key: key } });
    expect((await again.call('list-sites', {})).total).toBe(1);
  });

  it('check names secrets that do not open, rows that point to nothing, and damage', async () => {
    expect(await checked('good.db', 'b'.repeat(64))).toMatchObject({
      ok: false,
      secrets: { sealed: expect.any(Number), unreadable: expect.any(Number) },
    });
    const foreign = (await checked('good.db', 'b'.repeat(64))).secrets as { sealed: number; unreadable: number };
    expect(foreign.sealed).toBeGreaterThan(0);
    expect(foreign.unreadable).toBe(foreign.sealed);

    const db = await openDb(urlOf('good.db'));
    await db.all('PRAGMA foreign_keys=OFF');
    await db.run("INSERT INTO site_security (site_id, check_id, value) VALUES (777, 'x', 'y')");
    await db.close();
    expect(await checked('good.db')).toMatchObject({ ok: false, integrity: ['ok'], foreign_keys: 1 });
  });
});
