/** A call that updates a site is killed while the site is at work: its run does not stay under way, and is told truly. */

import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { finishInterruptedRuns } from '../../src/domain/updates/safe/unfinished.js';
import { killProcess, tempFolder } from '../support/cleanup.js';
import { testApp } from '../support/harness.js';
import { type Commands, commands } from '../support/processes/commands.js';

let programs: Commands;
beforeAll(async () => {
  programs = await commands();
});

it('is unknown at the next start, and known with the next sync', async () => {
  const db = `file:${join(tempFolder('killed-call'), 'fleet.db')}`;
  const app = await testApp({ sites: 1, realClock: true, jobs: false, config: { db } });
  await app.connect(0);
  const site = app.fleet.site(0);
  const { state } = site;
  for (const item of [...state.plugins, ...state.themes]) item.update = null;
  Object.assign(state, { translations: [], wpVersion: '7.0', wpUpdate: '7.1' });
  await app.call('sync-sites');
  // The site works on for as long as the test lets it.
  let asked = 0;
  site.faults.latencyMs = (name) => {
    if (name !== 'upgrade') return 0;
    asked += 1;
    return 600_000;
  };
  const env = {
    SITEFLEET_DB: db,
    SITEFLEET_SECRET_KEY: String(app.service.config.secret_key),
    SITEFLEET_ALLOW_PRIVATE_SITES: '1',
  };
  const { child, ended } = programs.begin(env, ['call', 'update-site-core', '{"site_id_or_domain":1}']);
  await expect.poll(() => asked, { interval: 20 }).toBe(1);
  const [under] = (await app.call('list-runs', {})).runs;
  expect(under).toMatchObject({ state: 'running', via: 'cli', counts: { updating: 1 } });
  await killProcess(child);
  await ended;
  await finishInterruptedRuns(app.ctx());
  const run = () => app.call('get-run', { run_id: under.run_id });
  expect(await run()).toMatchObject({ state: 'ended', items: [{ type: 'core', state: 'unknown' }] });
  site.faults.latencyMs = undefined;
  Object.assign(state, { wpVersion: '7.1', wpUpdate: null });
  await app.call('sync-sites');
  expect(await run()).toMatchObject({ state: 'ended', items: [{ type: 'core', state: 'kept', new_version: '7.1' }] });
});
