/**
 * Sitefleet is killed repeatedly in the middle of safe updates: no site is left broken, none armed, nothing unfinished.
 */

import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { putGuard } from '../../src/demo/guard/state.js';
import type { PluginState } from '../../src/demo/state.js';
import { shortOrLong } from '../robustness/soak.js';
import { killProcess, tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp, testKey } from '../support/harness.js';
import { type Program, pause, program, random } from '../support/processes/program.js';
import { ordinary } from './safety-app.js';

const SITES = 12;
/** Each kill interrupts all sites, each at its current step. */
const KILLS = shortOrLong(3, 30);
const BREAKAGES = ['fatal', 'login', null, 'white', 'front', null] as const;

let app: TestApp;
let workers: Program;
const plugins: PluginState[] = [];

beforeAll(async () => {
  workers = await program('job-runner');
  app = await testApp({
    sites: SITES,
    jobs: false,
    realClock: true,
    fleet: { plugins: 2 },
    config: {
      db: `file:${join(tempFolder('kills'), 'fleet.db')}`,
      batch_threshold: 1,
      job_delay_ms: 0,
      job_chunk: SITES,
    },
  });
  for (let i = 0; i < SITES; i++) {
    const site = app.fleet.site(i);
    const plugin = ordinary(site)[0];
    if (plugin === undefined) throw new Error('a site without a plugin');
    for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
    const slug = `item-${i}/item-${i}.php`;
    Object.assign(plugin, { slug, name: `Item ${i}`, active: true, premium: false });
    const breakage = BREAKAGES[i % BREAKAGES.length];
    if (breakage) site.faults.breaks = { [`${slug}@2.0`]: breakage };
    site.faults.watchdog = i % 4 < 2;
    // So that one kill hits them at different steps.
    site.faults.latencyMs = 20 + 25 * i;
    putGuard(site);
    plugins.push(plugin);
    await app.connect(i);
  }
});

it(`${KILLS} kills in the middle of updates of ${SITES} sites`, async () => {
  const next = random(17);
  const steps = new Set<string>();
  for (let kills = 0; kills < KILLS; ) {
    for (const plugin of plugins) {
      plugin.version = '1.0';
      plugin.update = { version: '2.0', requiresPhp: '', requiresWp: '' };
    }
    for (const { slug } of plugins) await lift(slug);
    await app.call('sync-sites', {}).then(finished);
    const { job_id } = await app.call('run-updates', { types: ['plugins'] });
    for (let inFlow = true; inFlow && kills < KILLS; ) {
      const before = asked();
      const worker = await start();
      // Progress by the requests to the guards: hello, snapshot, arm, checks, restore.
      const enough = before + Math.floor(SITES * (1.2 + 3 * next()));
      // The last one comes while sites are checked, if none has yet, however busy the machine is.
      const last = kills === KILLS - 1 && !steps.has('probe');
      const isTime = async () => (last ? await isChecking() : asked() >= enough);
      while (!(await isTime()) && (await isUnderWay(job_id))) await pause(50);
      if (!last) await pause(next() * 1_000);
      await killProcess(worker);
      for (const { step } of await app.db.all<{ step: string }>(
        'SELECT step FROM safe_change WHERE settled_at IS NULL',
      ))
        steps.add(step);
      inFlow = await isUnderWay(job_id);
      if (inFlow) kills += 1;
    }
    const worker = await start();
    await ended(job_id);
    await killProcess(worker);
    expect(await app.db.all('SELECT id FROM safe_change WHERE settled_at IS NULL')).toEqual([]);
    const { versions } = await app.call('list-quarantined-versions', { per_page: 100 });
    const held = (versions as { slug: string }[]).map(({ slug }) => slug).sort();
    const broken = plugins.filter((_, i) => BREAKAGES[i % BREAKAGES.length] !== null);
    expect(held).toEqual(broken.map(({ slug }) => slug).sort());
    for (const [i, plugin] of plugins.entries()) {
      expect(app.fleet.site(i).guard?.armed).toEqual([]);
      expect([plugin.slug, plugin.version]).toEqual([plugin.slug, broken.includes(plugin) ? '1.0' : '2.0']);
    }
  }
  // Not all were killed before anything was sent.
  expect(steps).toContain('probe');
});

const start = async () => workers.start({ config: app.service.config, sharedKey: await testKey });

/** Requests that the guards have carried out so far. */
const asked = () => app.fleet.sites.reduce((sum, { guard }) => sum + (guard?.actions.length ?? 0), 0);

const isChecking = async () =>
  (await app.db.all("SELECT 1 FROM safe_change WHERE settled_at IS NULL AND step = 'probe'")).length > 0;

const isUnderWay = async (job_id: string) => /^(queued|processing)$/.test((await status(job_id)).status);

const status = (job_id: string) => app.call('get-batch-job-status', { job_id });

async function ended(job_id: string): Promise<void> {
  await expect.poll(async () => (await status(job_id)).status, { interval: 200 }).toMatch(/^(completed|failed)$/);
}

/** Long calls become jobs, which only a worker runs. */
async function finished({ job_id }: { job_id?: string }): Promise<void> {
  if (job_id === undefined) return;
  const worker = await start();
  await ended(job_id);
  await killProcess(worker);
}

async function lift(slug: string): Promise<void> {
  await app.call('lift-quarantine', { type: 'plugin', slug, version: '2.0' }).catch(() => undefined);
}
