/**
 * The cost of safe updates on a site that stays healthy: extra requests, seconds and bytes compared with unguarded
 * updates.
 */

import { deepStrictEqual } from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { createService } from '../../src/app/service.js';
import { startFleet } from '../../src/demo/fleet.js';
import { putGuard } from '../../src/demo/guard/state.js';
import { benchConfig, CALLER } from '../lib/config.js';
import { figure, type Measure, type Scenario } from '../lib/scenario.js';
import { rounded } from '../lib/stats.js';

const LATENCY_MS = 300;
const PASSWORD = 'bench';

interface Cost {
  seconds: number;
  requests: number;
  kilobytes: number;
}

export const scenario: Scenario = {
  number: 24,
  name: 'safe-update',
  title: 'Updates of a sound site with a guard against the same without',
  async run({ quick }): Promise<Measure[]> {
    const rows: Measure[] = [];
    for (const items of quick ? [1] : [1, 10]) {
      const [plain, safe] = [await costOf(items, false), await costOf(items, true)];
      const name = `safe update of ${items} plugin${items === 1 ? '' : 's'}`;
      const row = (unit: keyof Cost, goal: number | null) =>
        figure(
          `${name}, ${unit} more`,
          goal === null ? null : { atMost: goal },
          [safe[unit] - plain[unit]],
          `${rounded(safe[unit])} against ${rounded(plain[unit])}; ${LATENCY_MS} ms latency`,
        );
      // For a site with ten successful updates the limit is half a minute more.
      rows.push(
        row('seconds', items === 1 ? 15 : 30),
        row('requests', items === 1 ? 70 : null),
        row('kilobytes', null),
      );
    }
    return rows;
  },
};

/** One run on its own site. Bytes are those of all connections, both ways. */
async function costOf(items: number, guarded: boolean): Promise<Cost> {
  const sockets = new Set<Socket>();
  const connected = (message: unknown) => sockets.add((message as { socket: Socket }).socket);
  channel('undici:client:connected').subscribe(connected);
  const fleet = await startFleet({ sites: 1, seed: 7, plugins: 20, password: PASSWORD });
  const service = await createService({ config: benchConfig({ db: ':memory:' }), engine: 'inline' });
  const call = async (name: string, input: object) => {
    const operation = service.operations.find(({ id }) => id === `svc/${name}-v1`);
    if (operation === undefined) throw new Error(`There is no operation ${name}.`);
    return service.invoke(operation, input, CALLER) as Promise<{ updated: unknown[]; errors: unknown[] }>;
  };
  try {
    const site = fleet.site(0);
    for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
    const own = site.state.plugins.filter(({ slug, mustUse }) => !mustUse && !slug.includes('mainwp'));
    for (const plugin of own.slice(0, items)) {
      Object.assign(plugin, { active: true, premium: false });
      plugin.update = { version: '99.0', requiresPhp: '', requiresWp: '' };
    }
    if (guarded) putGuard(site);
    await call('add-site', { url: site.url, admin: site.admin, admin_password: PASSWORD, unique_id: site.uniqueId });
    await call('sync-sites', {});
    site.faults.latencyMs = LATENCY_MS;
    const bytes = () => [...sockets].reduce((sum, socket) => sum + socket.bytesRead + socket.bytesWritten, 0);
    const before = { requests: fleet.stats().requests, bytes: bytes() };
    const began = performance.now();
    const { updated, errors } = await call('update-site-plugins', { site_id_or_domain: 1 });
    const seconds = (performance.now() - began) / 1_000;
    deepStrictEqual([updated.length, errors.length], [items, 0]);
    return {
      seconds,
      requests: fleet.stats().requests - before.requests,
      kilobytes: (bytes() - before.bytes) / 1_024,
    };
  } finally {
    channel('undici:client:connected').unsubscribe(connected);
    await service.stop();
    await fleet.close();
  }
}
