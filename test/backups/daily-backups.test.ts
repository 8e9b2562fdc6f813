/** Scheduled backups: when they are made, which are kept, and the alert when one fails. Real files, manual clock. */

import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { backUpByClock, keptOf } from '../../src/domain/backups/daily-backups.js';
import { openDb } from '../../src/store/driver/open.js';
import { tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp } from '../support/harness.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

async function started(folder: string): Promise<{ app: TestApp; run: () => Promise<string> }> {
  const app = await testApp({
    sites: 1,
    config: { db: `file:${join(tempFolder('backed-up'), 'fleet.db')}`, backup_dir: folder },
  });
  return { app, run: () => backUpByClock(app.ctx()) };
}

const copies = (folder: string) => readdirSync(folder).sort();
const nameAt = (at: number) => `sitefleet-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '')}Z.db`;

describe('a folder for backups', () => {
  test('gets one a day, whole and for nobody else to read', async () => {
    const folder = join(tempFolder('backups'), 'new');
    const { app, run } = await started(folder);
    const site = await app.connect(0);
    const first = app.clock.now();
    expect(await run()).toContain('1 are kept');
    expect(copies(folder)).toEqual([nameAt(first)]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, nameAt(first))).mode & 0o777).toBe(0o600);
    const copy = await openDb(`file:${join(folder, nameAt(first))}`, { mode: 'reader' });
    expect(await copy.all('SELECT id FROM site')).toEqual([{ id: site }]);
    await copy.close();

    // The task checks every hour whether one is due.
    for (let hour = 1; hour <= 23; hour++) {
      app.clock.move(HOUR);
      expect(await run()).toContain('the last one is from');
    }
    app.clock.move(HOUR);
    await run();
    expect(copies(folder)).toEqual([nameAt(first), nameAt(first + DAY)]);
  });

  test('keeps the last seven days and four weeks, and leaves strange files alone', async () => {
    const folder = tempFolder('backups');
    const { app, run } = await started(folder);
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    writeFileSync(join(folder, 'sitefleet-old.db'), 'mine');
    const made: number[] = [];
    for (let day = 0; day < 40; day++) {
      made.push(app.clock.now());
      await run();
      app.clock.move(DAY);
    }
    const kept = copies(folder).filter((name) => /^sitefleet-\d/.test(name));
    const last = made.slice(-7);
    // The last backup before each of the four newest Mondays and now: computed from the calendar, independently of the
    // code.
    const sundays = made.filter((at) => new Date(at).getUTCDay() === 0);
    const weekly = new Date(made.at(-1) ?? 0).getUTCDay() === 0 ? sundays.slice(-4) : sundays.slice(-3);
    expect(kept).toEqual([...new Set([...weekly, ...last])].sort((a, b) => a - b).map(nameAt));
    expect(copies(folder)).toEqual(expect.arrayContaining(['notes.txt', 'sitefleet-old.db']));
  });

  test('catches up after a machine was off, and is not held up by a file of the future', async () => {
    const folder = tempFolder('backups');
    const { app, run } = await started(folder);
    writeFileSync(join(folder, nameAt(app.clock.now() + 400 * DAY)), 'by a wrong clock');
    await run();
    app.clock.move(9 * DAY);
    await run();
    expect(copies(folder)).toHaveLength(3);
  });

  test('is told of once a day when it cannot be written to, with the newest good one', async () => {
    const parent = tempFolder('backups');
    const folder = join(parent, 'taken');
    const { app, run } = await started(folder);
    const first = app.clock.now();
    await run();
    app.clock.move(2 * DAY);
    // Simulates a broken disk: a folder is in place of the copy to be written.
    mkdirSync(join(folder, `${nameAt(app.clock.now())}.unverified`));
    await expect(run()).rejects.toThrow();
    await expect(run()).rejects.toThrow();
    const { items } = await app.service.store.alerts.list({}, 1, 10);
    expect(items.map(({ kind, site_id }) => ({ kind, site_id }))).toEqual([{ kind: 'backup.failed', site_id: null }]);
    const facts = JSON.parse(items[0]?.facts ?? '{}');
    expect(facts.last_backup).toBe(`${new Date(first).toISOString().slice(0, 19)}Z`);
    expect(facts.reason).not.toContain(parent);
    // An unfinished copy does not count as a backup.
    expect(copies(folder).filter((name) => name.endsWith('.db'))).toEqual([nameAt(first)]);
  });

  test('a copy that is not whole does not count', async () => {
    const folder = tempFolder('backups');
    const { app, run } = await started(folder);
    await app.connect(0);
    // A dangling row, as damage leaves it.
    const db = await openDb(app.service.config.db, { mode: 'writer' });
    await db.run('PRAGMA foreign_keys=OFF');
    await db.run('INSERT INTO site_tag (site_id, tag_id) SELECT id, 999 FROM site');
    await db.close();
    await expect(run()).rejects.toThrow(/point to nothing/);
    expect(copies(folder)).toEqual([]);
    const { items } = await app.service.store.alerts.list({}, 1, 10);
    expect(JSON.parse(items[0]?.facts ?? '{}')).toMatchObject({
      reason: expect.stringContaining('damaged'),
      last_backup: null,
    });
  });
});

test('of one day and one week only the newest is kept', () => {
  const at = (text: string) => ({ path: text, at: Date.parse(text), bytes: 1 });
  const files = ['2026-01-05T01:00Z', '2026-01-05T13:00Z', '2026-01-11T23:59Z', '2026-01-12T00:00Z'].map(at);
  // Monday 5 to Sunday 11 is one week; all four days are among the last seven.
  expect([...keptOf(files)].map(({ path }) => path).sort()).toEqual([
    '2026-01-05T13:00Z',
    '2026-01-11T23:59Z',
    '2026-01-12T00:00Z',
  ]);
});
