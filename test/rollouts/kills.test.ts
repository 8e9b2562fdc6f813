/**
 * Rollouts on a file and on a libSQL server, by processes of which one after the other is killed: each update is sent once, or
 * undone, and no approval of a start is used twice.
 */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localActor } from '../../src/cli/local-actor.js';
import { putGuard } from '../../src/demo/guard/state.js';
import type { PluginState } from '../../src/demo/state.js';
import { decideApproval } from '../../src/domain/approvals/approvals.js';
import { setApprovalRules } from '../../src/domain/approvals/rules.js';
import { SOAK } from '../robustness/soak.js';
import { ordinary } from '../safety/safety-app.js';
import { killProcess, tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp, testKey } from '../support/harness.js';
import { newKey } from '../support/logins.js';
import { needs } from '../support/needs.js';
import { type Program, pause, program, random } from '../support/processes/program.js';
import { type Sqld, startSqld } from '../support/sqld.js';

/** More than the preset "careful" lets happen unasked. */
const SITES = 8;
const SLUG = 'shop/shop.php';
const KILLS = Number(process.env.SITEFLEET_ROLLOUT_KILLS ?? 50);
/** Of the kills of a rollout, so many fall on those who start it. */
const AT_START = 3;

describe.skipIf(!SOAK).each(['a file', 'a libSQL server'] as const)('on %s', (kind) => {
  const processes = kind === 'a file' ? 2 : 3;
  let app: TestApp;
  let workers: Program;
  let server: Sqld | undefined;
  let token: string;
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
    await setApprovalRules(person(), { preset: 'careful' });
    ({ token } = await newKey(app.service.store.keys, { description: 'assistant' }));
  });
  afterAll(() => server?.stop());

  const person = () => app.ctx({ actor: localActor('cli') });

  it(`${KILLS} kills`, needs(...(kind === 'a file' ? [] : (['sqld'] as const))), async () => {
    const next = random(23);
    let kills = 0;
    for (let round = 0; kills < KILLS; round++) {
      for (const plugin of plugins) {
        plugin.version = `${round}.0`;
        plugin.update = { version: `${round + 1}.0`, requiresPhp: '', requiresWp: '' };
      }
      await app.call('sync-sites', {});
      const { plan_id, digest } = await app.call('plan-updates', {
        waves: { canaries: 3, sizes: [2], soak_minutes: 0 },
      });
      // Every process repeats the start until it gets an answer.
      const call = { path: '/rollouts', body: { plan_id, digest }, token };
      const start = async () => workers.start({ config: app.service.config, sharedKey: await testKey, call });
      const running = await Promise.all(Array.from({ length: processes }, start));
      const kill = async () => {
        const [victim] = running.splice(Math.floor(next() * running.length), 1);
        if (victim !== undefined) await killProcess(victim);
        kills += 1;
        running.push(await start());
      };
      for (let here = 0; (await rolloutOf(plan_id)) === undefined; ) {
        const approved = await approveAll();
        await pause(next() * 60);
        if (approved === 0 || here === AT_START || kills >= KILLS) continue;
        here += 1;
        await kill();
      }
      const rollout_id = String(await rolloutOf(plan_id));
      const read = () => app.call('get-rollout', { rollout_id });
      while ((await read()).next !== '') {
        await pause(500 + next() * 9_000);
        if (kills < KILLS) await kill();
      }
      await Promise.all(running.map(killProcess));
      const { state, reason, counts, waves } = await read();
      expect([round, state, counts], reason).toEqual([round, 'completed', { kept: SITES }]);
      for (const { version } of plugins) expect(version).toBe(`${round + 1}.0`);
      for (const { guard } of app.fleet.sites) expect(guard?.armed).toEqual([]);
      const runs = JSON.stringify(waves.flatMap(({ run_ids }: { run_ids: string[] }) => run_ids));
      const of = 'FROM update_run_item WHERE run_id IN (SELECT value FROM json_each(?))';
      expect(await app.db.all(`SELECT site_id, count(*) AS n ${of} GROUP BY 1`, [runs])).toEqual(
        plugins.map((_, index) => ({ site_id: index + 1, n: 1 })),
      );
      await expectApprovalsUsedOnce(round + 1);
    }
    expect(kills).toBe(KILLS);
  });

  async function rolloutOf(planId: string): Promise<unknown> {
    return (await app.db.one('SELECT id FROM rollout WHERE plan_id = ?', [planId]))?.id;
  }

  /** A person approves whatever waits. */
  async function approveAll(): Promise<number> {
    const waiting = await app.db.all("SELECT id FROM approval WHERE state = 'waiting'");
    // One may be replaced by the next call meanwhile.
    for (const { id } of waiting) await decideApproval(person(), String(id), 'approved', '').catch(() => undefined);
    return waiting.length;
  }

  /** By the log, whose entries are stored with what they tell. */
  async function expectApprovalsUsedOnce(rollouts: number): Promise<void> {
    const used = await app.db.all(
      "SELECT slug AS id, count(*) AS n FROM action_log WHERE context = 'approval' AND action = 'used' GROUP BY slug",
    );
    expect(used.filter(({ n }) => n !== 1)).toEqual([]);
    expect(used.map(({ id }) => id).sort()).toEqual(
      (await app.db.all("SELECT id FROM approval WHERE state = 'used' ORDER BY id")).map(({ id }) => id),
    );
    // Each start follows an approval of its own.
    const starts = await app.db.all(
      `SELECT s.slug, (SELECT count(*) FROM action_log u WHERE u.context = 'approval' AND u.action = 'used'
           AND u.request_id = s.request_id AND u.id < s.id) AS approvals
       FROM action_log s WHERE s.context = 'rollout' AND s.action = 'started'`,
    );
    expect(starts.map(({ approvals }) => approvals)).toEqual(Array(rollouts).fill(1));
    expect(new Set(starts.map(({ slug }) => slug)).size).toBe(rollouts);
  }
});
