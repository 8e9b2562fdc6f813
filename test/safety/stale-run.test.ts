/** A safe update that was cut off and is finished days later: what people have done on the site meanwhile stays. */

import { beforeEach, expect, it } from 'vitest';
import type { Breakage } from '../../src/demo/faults.js';
import type { PluginState } from '../../src/demo/state.js';
import { finishInterruptedRuns } from '../../src/domain/updates/safe/unfinished.js';
import { type SafetyApp, safetyApp } from './safety-app.js';

let app: SafetyApp;
let plugin: PluginState;
beforeEach(async () => {
  app = await safetyApp();
  plugin = app.offer(app.site(0));
  plugin.version = '1.0';
  await app.call('sync-sites', { site_ids_or_domains: [1] });
});

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Cuts the update off once the new version is there, and finishes it this much later. */
async function finishedAfter(ms: number, meanwhile: () => void): Promise<void> {
  const site = app.site(0);
  const cut = new AbortController();
  let requests = 0;
  let after = 0;
  Object.defineProperty(site, 'requests', {
    configurable: true,
    get: () => requests,
    set: (value: number) => {
      requests = value;
      if (plugin.version === '99.0' && ++after === 2) cut.abort();
    },
  });
  const call = app.call('update-site-plugins', { site_id_or_domain: 1 }, { signal: cut.signal });
  await app.running(call.catch(() => undefined));
  expect(plugin.version).toBe('99.0');
  expect(await app.cell('SELECT count(*) FROM safe_change WHERE settled_at IS NULL')).toBe(1);
  app.clock.move(ms);
  meanwhile();
  const ctx = app.ctx();
  // Silence is that of the site.
  const probe = { ...ctx.probe, online: async () => true };
  await app.running(finishInterruptedRuns({ ...ctx, probe }));
  expect(await app.cell('SELECT count(*) FROM safe_change WHERE settled_at IS NULL')).toBe(0);
}

function byHand(version: string, breakage?: Breakage): void {
  const site = app.site(0);
  if (breakage !== undefined) site.faults.breaks = { [`${plugin.slug}@${version}`]: breakage };
  plugin.version = version;
  site.changed(plugin.slug);
}

/** A person takes the posts away that were looked at, and adds an administrator. */
function editors(): void {
  for (const post of app.site(0).inner.posts) if (post.type === 'post') post.status = 'trash';
  app.site(0).guard?.harms.add('adds_administrator');
}

const restored = () => app.site(0).guard?.actions.includes('restore');
const quarantined = async () => (await app.call('list-quarantined-versions')).total;

const armed = () => app.site(0).guard?.armed;

it('is finished on a site that answers the first question only', async () => {
  await finishedAfter(3 * DAY_MS, () => {
    const { faults, guard } = app.site(0);
    const asked = guard?.actions.length ?? 0;
    Object.defineProperty(faults, 'offline', { get: () => (guard?.actions.length ?? 0) > asked });
  });
});

it('a version that a person has installed since is not replaced by the old one', async () => {
  await finishedAfter(3 * DAY_MS, () => {
    byHand('100.0');
    editors();
  });
  expect([plugin.version, restored(), await quarantined()]).toEqual(['100.0', false, 0]);
  expect(armed()).toEqual([]);
  const evidence = String(await app.cell('SELECT evidence FROM safe_change'));
  expect(evidence).toContain('100.0 has been installed since the work was interrupted.');
});

it('nor where that version has taken the site down', async () => {
  await finishedAfter(3 * DAY_MS, () => byHand('100.0', 'fatal'));
  expect([plugin.version, restored(), await quarantined()]).toEqual(['100.0', false, 0]);
  expect(armed()).toEqual([]);
});

it('an update is not undone for what editors have changed since', async () => {
  await finishedAfter(3 * DAY_MS, editors);
  expect([plugin.version, restored(), await quarantined()]).toEqual(['99.0', false, 0]);
  expect(armed()).toEqual([]);
});

it('an update that has left the site broken is still undone', async () => {
  await finishedAfter(3 * DAY_MS, () => byHand('99.0', 'fatal'));
  expect([plugin.version, await quarantined()]).toEqual(['1.0', 1]);
  expect(armed()).toEqual([]);
});

it('within the half hour in which the guard acts, the site is compared with how it was before', async () => {
  await finishedAfter(20 * MINUTE_MS, editors);
  expect(restored()).toBe(true);
  expect(armed()).toEqual([]);
});
