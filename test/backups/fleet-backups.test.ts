/** Which sites of the fleet are backed up, and which lack what, by MCP and REST, against the simulator. */

import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { runBackupTurns } from '../../src/domain/backups/scheduled.js';
import { type RestApp, restApp } from '../rest/client.js';
import { tempFolder } from '../support/cleanup.js';
import { SYSTEM } from '../support/harness.js';

const DAY_MS = 24 * 3_600_000;

let app: RestApp;

beforeEach(async () => {
  app = await restApp({ sites: 4, config: { site_backup_dir: join(tempFolder('fleet-backups'), 'repository') } });
  for (let index = 0; index < 4; index++) await app.connect(index);
  for (const id of [1, 2, 3]) await app.call('install-site-guard', { site_id_or_domain: id });
});

const backUp = (id: number) => app.call('back-up-site', { site_id_or_domain: id });
const list = (input: object = {}) => app.call('list-backup-status', input);
const idsOf = ({ items }: { items: { site_id: number }[] }) => items.map(({ site_id }) => site_id);

it('lists those without a backup first, then the oldest, and what is not known as unknown', async () => {
  const first = (await backUp(2)).backup_id;
  app.clock.move(3 * DAY_MS);
  await backUp(1);
  await backUp(2);
  app.clock.move(DAY_MS);
  const second = (await backUp(3)).backup_id;
  const found = await list();
  expect(idsOf(found)).toEqual([4, 1, 2, 3]);
  const [none, , newer, last] = found.items;
  expect(none).toMatchObject({ newest: null, guarded: null, error: null, proven_at: null, drill: null, next_at: null });
  expect(newer.newest.backup_id).not.toBe(first);
  expect(last).toMatchObject({ newest: { backup_id: second }, guarded: true });
  expect(found).toMatchObject({ total: 4, drills: false });
  expect(found.lacking).toEqual({ sites: 4, any: 1, recent: 1, success: 0, proof: 4 });
  expect(idsOf(await list({ page: 2, per_page: 3 }))).toEqual([3]);
});

it('finds the sites that lack any backup, a recent one, success, or a proof', async () => {
  await backUp(1);
  app.clock.move(8 * DAY_MS);
  await backUp(2);
  app.fleet.site(2).faults.offline = true;
  await expect(backUp(3)).rejects.toThrow();
  expect(idsOf(await list({ lacking: 'any' }))).toEqual([3, 4]);
  expect(idsOf(await list({ lacking: 'recent' }))).toEqual([3, 4, 1]);
  expect(idsOf(await list({ lacking: 'recent', recent_days: 30 }))).toEqual([3, 4]);
  expect(idsOf(await list({ lacking: 'proof' }))).toEqual([3, 4, 1, 2]);
  const answer = await app.rest('GET /backups/sites?lacking=any&per_page=1');
  expect(answer.body).toMatchObject({ total: 2, pages: 2, data: [{ site_id: 3 }], lacking: { sites: 4, any: 2 } });
});

it('tells the next turn of the schedule, and since when it fails', async () => {
  await app.call('schedule-backups', { every: 'daily', hour: 3 });
  const run = () => runBackupTurns(app.ctx({ actor: SYSTEM }));
  await run();
  const of = async (id: number) => (await list()).items.find(({ site_id }: { site_id: number }) => site_id === id);
  const { next_at } = await of(1);
  expect(new Date(next_at).getTime() - app.clock.now()).toBeGreaterThan(0);
  expect(next_at).toBe((await app.call('list-backups', { site_id_or_domain: 1 })).schedule.next_at);
  app.fleet.site(0).faults.offline = true;
  app.clock.move(new Date(next_at).getTime() - app.clock.now());
  await run();
  // The second attempt, after which it counts as failed.
  app.clock.move(60 * 60_000);
  const failed = new Date(app.clock.now()).toISOString().replace('.000', '');
  await run();
  expect(await of(1)).toMatchObject({ newest: null, failing_since: failed });
  expect(idsOf(await list({ lacking: 'success' }))).toEqual([1]);
  expect((await list()).lacking).toMatchObject({ any: 2, success: 1 });
  const brief = await app.call('get-fleet-brief');
  const told = brief.needs_attention.find(({ matter }: { matter: string }) => matter.startsWith('not backed up'));
  // The fourth has no guard.
  expect(told).toMatchObject({ count: 2, next: 'svc-list-backup-status-v1' });
  expect(told.first[0]).toContain(`failing since ${failed.slice(0, 10)}`);
  expect(told.first[1]).toContain('without the guard');
});

it('is in reports, also when the backup itself is gone', async () => {
  const day = 24 * 3_600_000;
  const backup_id = (await backUp(1)).backup_id;
  const at = new Date(app.clock.now()).toISOString().slice(0, 19);
  app.clock.move(2 * day);
  await backUp(1);
  const range = { start_date: at.slice(0, 10), end_date: new Date(app.clock.now()).toISOString().slice(0, 10) };
  const report = async (site_id_or_domain: number) =>
    (await app.call('build-report', { site_id_or_domain, ...range, segments: ['backups'] })).reports[0].text;
  const newest = new Date(app.clock.now()).toISOString().slice(0, 16);
  expect(await report(1)).toContain('Backups: 2');
  expect(await report(1)).toContain(`Last known backup: ${newest}`);
  expect(await report(2)).toMatch(/^Backups: Not known/);
  await app.service.store.siteBackups.remove(backup_id);
  expect(await report(1)).toContain('Backups: 2');
});
