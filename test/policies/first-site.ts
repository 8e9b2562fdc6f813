/** A fleet whose sites all get the same update, one with an update more, so that it is the first canary; and the hours of a policy. */

import type { Faults } from '../../src/demo/faults.js';
import { putGuard } from '../../src/demo/guard/state.js';
import { runPolicies } from '../../src/domain/policies/run.js';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { type RestApp, restApp } from '../rest/client.js';
import { ordinary, running } from '../safety/safety-app.js';
import { type Answer, SYSTEM } from '../support/harness.js';
import { newKey } from '../support/logins.js';

export const SHOP = 'shop/shop.php';
export const OTHER = 'other/other.php';
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export interface FirstSite extends RestApp {
  faults: Faults;
  own(call: string, body?: object): ReturnType<RestApp['rest']>;
  /** The installed version of the shop, site by site. */
  versions(): string;
  weekly(waves?: object, more?: object): Promise<unknown>;
  /** The hours one by one, as the timetable would go through them. */
  hours(count: number): Promise<void>;
  /** Up to the next full hour of this weekday. */
  until(day: number, hour: number): Promise<void>;
  /** Newest first. */
  rollouts(): Promise<Answer[]>;
}

/** @param first the index of the first canary; a second site has as many updates */
export async function firstSite(sites: number, first: number, second: number): Promise<FirstSite> {
  const app = await restApp({
    sites,
    fleet: { plugins: 4 },
    config: { job_delay_ms: 0, direct_call_ms: DAY },
    jobs: false,
  });
  for (const [index, site] of app.fleet.sites.entries()) {
    for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
    site.state.translations = [];
    site.state.wpUpdate = null;
    putGuard(site);
    const [shop, other] = ordinary(site);
    if (shop === undefined || other === undefined) throw new Error('a site without plugins');
    const told = { version: '1.0', active: true, premium: false };
    const update = { version: '2.0', requiresPhp: '', requiresWp: '' };
    Object.assign(shop, { ...told, slug: SHOP, name: 'Shop', update });
    // With an update more than the others have it is the first canary.
    if (index === first || index === second)
      Object.assign(other, { ...told, slug: OTHER, name: 'Other', update: { ...update } });
    await app.connect(index);
  }
  const { token } = await newKey(app.service.store.keys, { approves: true });
  for (let id = 1; id <= sites; id++) await app.call('get-site-guard', { site_id_or_domain: id });

  const own = (call: string, body?: object) => app.rest(call, { token, body });
  const hours = async (count: number) => {
    for (let hour = 0; hour < count; hour++) {
      app.clock.move(HOUR);
      await app.service.store.quarantine.narrow(app.clock.now());
      await runPolicies(app.ctx({ actor: SYSTEM }));
      for (let turns = 0; turns < 3; turns++) {
        await advanceRollouts(app.ctx({ actor: SYSTEM }));
        await running(app, app.drain());
      }
    }
  };
  return Object.assign(app, {
    faults: app.fleet.site(first).faults,
    own,
    hours,
    versions: () =>
      app.fleet.sites.map(({ state }) => state.plugins.find(({ slug }) => slug === SHOP)?.version).join(' '),
    weekly: (waves?: object, more: object = {}) =>
      own('POST /policies', {
        ...{ name: 'weekly', schedule: { at: '02:00', days: ['mon'] }, approval: 'auto' },
        ...(waves !== undefined && { waves }),
        ...more,
      }),
    until: async (day: number, hour: number) => {
      const now = new Date(app.clock.now());
      const days = (day - now.getUTCDay() + 7) % 7 || 7;
      const time = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + days, hour);
      app.clock.move(time - app.clock.now() - HOUR);
      await hours(1);
    },
    rollouts: async () => (await own('GET /rollouts')).body.data,
  });
}
