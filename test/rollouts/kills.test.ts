/** Rollouts on a file and on a libSQL server, by processes of which one after the other is killed: each update is sent once, or undone. */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putGuard } from '../../src/demo/guard/state.js';
import type { PluginState } from '../../src/demo/state.js';
import { SOAK } from '../robustness/soak.js';
import { ordinary } from '../safety/safety-app.js';
import { killProcess, tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp, testKey } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { type Program, pause, program, random } from '../support/processes/program.js';
import { type Sqld, startSqld } from '../support/sqld.js';

const SITES = 8;
const SLUG = 'shop/shop.php';
const KILLS = Number(process.env.SITEFLEET_ROLLOUT_KILLS ?? 50);

describe.skipIf(!SOAK).each(['a file', 'a libSQL server'] as const)('on %s', (kind) => {
  const processes = kind === 'a file' ? 1 : 3;
  let app: TestApp;
  let workers: Program;
  let server: Sqld | undefined;
  const plugins: PluginState[] = [];

  beforeAll(async () => {
    workers = await program('job-runner');
    server = kind === 'a file' ? undefined : await startSqld();
    const db = server === undefined ? `file:${join(tempFolder('rollout-kills'), 'fleet.db')}` : `http://${server.host}`;
    app = await testApp({
      sites: SITES,
      jobs: false,
      realClock: true,
      fleet: { plugins: 2 },
      config: { db, job_delay_ms: 0, job_chunk: SITES },
    });
    for (let i = 0; i < SITES; i++) {
      const site = app.fleet.site(i);
      const [plugin] = ordinary(site);
      if (plugin === undefined) throw new Error('a site without a plugin');
      for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
      Object.assign(site.state, { translations: [], wpUpdate: null });
      Object.assign(plugin, { slug: SLUG, name: 'Shop', active: true, premium: false });
      site.faults.latencyMs = 20 + 10 * i;
      putGuard(site);
      plugins.push(plugin);
      await app.connect(i);
    }
  });
  afterAll(() => server?.stop());

  it(`${KILLS} kills`, needs(...(kind === 'a file' ? [] : (['sqld'] as const))), async () => {
    const next = random(23);
    for (let kills = 0, round = 0; kills < KILLS; round++) {
      for (const plugin of plugins) {
        plugin.version = `${round}.0`;
        plugin.update = { version: `${round + 1}.0`, requiresPhp: '', requiresWp: '' };
      }
      await app.call('sync-sites', {});
      const { plan_id, digest } = await app.call('plan-updates', {
        waves: { canaries: 3, sizes: [2], soak_minutes: 0 },
      });
      const { rollout_id } = await app.call('start-rollout', { plan_id, digest, confirm: true });
      const read = () => app.call('get-rollout', { rollout_id });
      const running = await Promise.all(Array.from({ length: processes }, start));
      while ((await read()).next !== '') {
        await pause(500 + next() * 9_000);
        if (kills >= KILLS) continue;
        const [victim] = running.splice(Math.floor(next() * running.length), 1);
        if (victim !== undefined) await killProcess(victim);
        kills += 1;
        running.push(await start());
      }
      await Promise.all(running.map(killProcess));
      const { state, counts, waves } = await read();
      expect([round, state, counts]).toEqual([round, 'completed', { kept: SITES }]);
      for (const { version } of plugins) expect(version).toBe(`${round + 1}.0`);
      for (const { guard } of app.fleet.sites) expect(guard?.armed).toEqual([]);
      const runs = JSON.stringify(waves.flatMap(({ run_ids }: { run_ids: string[] }) => run_ids));
      const of = 'FROM update_run_item WHERE run_id IN (SELECT value FROM json_each(?))';
      expect(await app.db.all(`SELECT site_id, count(*) AS n ${of} GROUP BY 1`, [runs])).toEqual(
        plugins.map((_, index) => ({ site_id: index + 1, n: 1 })),
      );
    }
  });

  const start = async () => workers.start({ config: app.service.config, sharedKey: await testKey });
});
