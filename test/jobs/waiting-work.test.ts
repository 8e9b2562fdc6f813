/** When a process that only reads has to run the schedule, and with it an engine. */

import { beforeEach, expect, it } from 'vitest';
import { runBackupTurns } from '../../src/domain/backups/scheduled.js';
import { refreshAbandoned } from '../../src/domain/connection/abandoned.js';
import { syncDueSites } from '../../src/domain/connection/maintenance.js';
import { runDueMonitors } from '../../src/domain/monitoring/due-monitors.js';
import { runCertificates, runDomains } from '../../src/domain/monitoring/expiry-checks.js';
import { type TestApp, testApp } from '../support/harness.js';

const DAY = 24 * 3600_000;

let app: TestApp;
beforeEach(async () => {
  app = await testApp({ sites: 3, jobs: false, config: { batch_threshold: 1 } });
});

const MINUTE = 60_000;
/** Longer than anything due waits for its turn. */
const ANY_TURN = 15 * MINUTE;
const needed = (within = ANY_TURN) => app.service.isScheduleNeeded(within);
const turnOfAll = async () => {
  await syncDueSites(app.ctx());
  await refreshAbandoned(app.ctx());
  await runDueMonitors(app.ctx());
  await runCertificates(app.ctx());
  await runDomains(app.ctx());
};

it('is when the turn of a site has come, not before, and not beside a process that runs it', async () => {
  expect(await needed()).toBe(false);
  for (let i = 0; i < 3; i++) await app.connect(i);
  expect(await needed()).toBe(true);
  await turnOfAll();
  expect(await needed()).toBe(false);

  app.clock.move(DAY);
  expect(await needed()).toBe(true);
  const { leases } = app.service.store;
  await leases.acquire('schedule', 'a server', app.clock.now(), app.clock.now() + 60_000);
  expect(await needed()).toBe(false);
  app.clock.move(60_001);
  expect(await needed()).toBe(true);
});

it('is shortly before the turn of what is due, not as long as that is far off', async () => {
  for (let i = 0; i < 3; i++) await app.connect(i);
  await turnOfAll();
  app.clock.move(DAY);
  // Syncs have their turn each five minutes: from here on in three.
  app.clock.move(5 * MINUTE - (app.clock.now() % (5 * MINUTE)) + 2 * MINUTE);
  expect(await needed(40_000)).toBe(false);
  app.clock.move(2.5 * MINUTE);
  expect(await needed(40_000)).toBe(true);
  await turnOfAll();
  expect(await needed(40_000)).toBe(false);
});

it('is for monitors that are on, not for those that are only in the plan', async () => {
  for (let i = 0; i < 3; i++) await app.connect(i);
  await syncDueSites(app.ctx());
  await refreshAbandoned(app.ctx());
  await runCertificates(app.ctx());
  await runDomains(app.ctx());
  expect(await needed()).toBe(false);
  const switchAll = (value: number) =>
    app.service.store.settings.write([{ key: 'monitoring.svc_uptime_monitoring_active', value }], app.clock.now());
  await switchAll(1);
  expect(await needed(10_000)).toBe(true);
  await runDueMonitors(app.ctx());
  expect(await needed(10_000)).toBe(false);
  // A check has been made: switched off, its state has to end.
  await switchAll(0);
  app.clock.move(2 * 60 * MINUTE);
  expect(await needed(10_000)).toBe(true);
});

it('is for a backup of a site that can be made', async () => {
  for (let i = 0; i < 3; i++) await app.connect(i);
  await app.call('install-site-guard', { site_id_or_domain: 1 });
  await turnOfAll();
  expect(await needed(MINUTE)).toBe(false);
  await app.call('schedule-backups', { every: 'daily' });
  expect(await needed(MINUTE)).toBe(true);
  await runBackupTurns(app.ctx());
  expect(await needed(MINUTE)).toBe(false);
  app.clock.move(DAY);
  await turnOfAll();
  expect(await needed(MINUTE)).toBe(true);
  await app.call('suspend-site', { site_id_or_domain: 1 });
  expect(await needed(MINUTE)).toBe(false);
});

it('is for what was asked for, also while the schedule does nothing of its own accord', async () => {
  for (let i = 0; i < 3; i++) await app.connect(i);
  await app.service.store.settings.write([{ key: 'advanced.svc_wp_cron', value: 0 }], app.clock.now());
  expect(await needed()).toBe(false);
  await app.call('sync-sites', {});
  expect(await needed(0)).toBe(true);
});
