/**
 * A fleet whose sites carry guards and whose updates may break them, with a clock that advances while calls wait for
 * it.
 */

import { expect } from 'vitest';
import type { DemoSite } from '../../src/demo/fleet.js';
import { putGuard } from '../../src/demo/guard/state.js';
import type { PluginState } from '../../src/demo/state.js';
import { type CheckedApp, checkedApp } from '../operations/checked-app.js';
import type { Answer, TestApp, TestOptions } from '../support/harness.js';

export interface SafetyApp extends CheckedApp {
  /** Runs a call while time passes wherever it waits. */
  running<T>(work: Promise<T>): Promise<T>;
  safely(name: string, input: object): Promise<Answer>;
  /** Offers an update of the nth ordinary active plugin of a site, and only that; returns the plugin. */
  offer(site: DemoSite, nth?: number, version?: string): PluginState;
}

/** Connects the first sites, gives each a guard, and removes all available updates. */
export async function safetyApp(options: TestOptions & { guards?: boolean } = {}): Promise<SafetyApp> {
  // Time passes for each site by itself, wherever it waits: how far these times overlap depends on the machine.
  const config = { direct_call_ms: 86_400_000, ...options.config };
  const app = await checkedApp({ sites: 3, fleet: { plugins: 8 }, ...options, config });
  const safety: SafetyApp = Object.assign(app, {
    running: <T>(work: Promise<T>) => running(app, work),
    safely: (name: string, input: object) => running(app, app.call(name, input)),
    offer: (site: DemoSite, nth = 0, version = '99.0') => {
      const plugin = ordinary(site)[nth];
      if (plugin === undefined) throw new Error('the site has no such plugin');
      plugin.active = true;
      plugin.premium = false;
      plugin.update = { version, requiresPhp: '', requiresWp: '' };
      return plugin;
    },
  });
  const count = app.fleet.sites.length;
  for (const site of app.fleet.sites) {
    for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
    site.state.translations = [];
    site.state.wpUpdate = null;
    if (options.guards !== false) putGuard(site);
  }
  await app.connectAll(count);
  return safety;
}

/** Plugins that are neither the child nor must-use. */
export function ordinary(site: DemoSite): PluginState[] {
  return site.state.plugins.filter(({ slug, mustUse }) => !mustUse && !slug.includes('mainwp'));
}

export async function running<T>(app: Pick<TestApp, 'clock'>, work: Promise<T>): Promise<T> {
  const stop = app.clock.flow();
  return work.finally(stop);
}

/**
 * Lets the time of a call run out when it looks at its site after the update for the first time.
 * @param harm what the update does besides
 */
export async function cutOff<T>(slow: SafetyApp, site: DemoSite, call: Promise<T>, harm = () => {}): Promise<T> {
  const stop = slow.clock.flow();
  site.faults.latencyMs = (name) => {
    if (name === 'upgradeplugintheme') {
      stop();
      harm();
    }
    return 0;
  };
  await expect.poll(() => slow.cell('SELECT step FROM safe_change'), { interval: 5 }).toBe('probe');
  site.faults.latencyMs = undefined;
  slow.clock.move(slow.service.config.direct_call_ms);
  return call;
}
