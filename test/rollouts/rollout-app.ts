/** A fleet with a guard on each site, on which one plugin has an update, and what moves its rollouts on. */

import type { PluginState } from '../../src/demo/state.js';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { ordinary, type SafetyApp, safetyApp } from '../safety/safety-app.js';
import { type Answer, SYSTEM, type TestOptions } from '../support/harness.js';

export const SHOP = 'shop/shop.php';

export interface RolloutApp extends SafetyApp {
  /** The plugin of site `index + 1`. */
  plugins: PluginState[];
  plan(input?: object): Promise<Answer>;
  /** Plans, and starts what was planned. */
  start(input?: object): Promise<Answer>;
  read(rollout_id: string, more?: object): Promise<Answer>;
  /** One turn of the schedule, and all jobs that are queued then. */
  turn(): Promise<void>;
  /** Lets `minutes` pass, and takes a turn. */
  after(minutes: number): Promise<void>;
  sites(rollout_id: string, state: string): Promise<number[]>;
}

export async function rolloutApp(sites: number, options: TestOptions & { guards?: boolean } = {}): Promise<RolloutApp> {
  const { config, fleet, ...more } = options;
  const app = await safetyApp({
    sites,
    ...more,
    fleet: { plugins: 3, keepCalls: false, ...fleet },
    config: { batch_threshold: sites + 1, job_delay_ms: 0, job_chunk: 50, ...config },
  });
  const plugins = app.fleet.sites.map((site) => {
    const plugin = ordinary(site)[0];
    if (plugin === undefined) throw new Error('a site without a plugin');
    Object.assign(plugin, { slug: SHOP, name: 'Shop', version: '1.0', active: true, premium: false });
    plugin.update = { version: '2.0', requiresPhp: '', requiresWp: '' };
    return plugin;
  });
  await app.call('sync-sites', {});
  if (options.guards !== false)
    for (let id = 1; id <= sites; id++) await app.call('get-site-guard', { site_id_or_domain: id });
  const rollouts: RolloutApp = Object.assign(app, {
    plugins,
    plan: (input: object = {}) => app.call('plan-updates', input),
    async start(input: object = {}) {
      const { plan_id, digest } = await rollouts.plan(input);
      return app.safely('start-rollout', { plan_id, digest, confirm: true });
    },
    read: (rollout_id: string, input: object = {}) => app.call('get-rollout', { rollout_id, ...input }),
    async turn() {
      // A wave that has soaked is checked by a job, and the next one begins with another.
      for (let jobs = 0; jobs < 3; jobs++) {
        await advanceRollouts(app.ctx({ actor: SYSTEM }));
        await app.running(app.drain());
      }
      await advanceRollouts(app.ctx({ actor: SYSTEM }));
    },
    async after(minutes: number) {
      app.clock.move(minutes * 60_000);
      await rollouts.turn();
    },
    async sites(rollout_id: string, state: string) {
      const { items } = await rollouts.read(rollout_id, { state, per_page: 50 });
      return items.map(({ site_id }: { site_id: number }) => site_id);
    },
  });
  return rollouts;
}
