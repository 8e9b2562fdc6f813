/** No site keeps a wave open by its clock: its zone is the one it had when the rollout started, and turns that came too late end. */

import { expect, it } from 'vitest';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { rolloutApp } from '../rollouts/rollout-app.js';
import { running } from '../safety/safety-app.js';
import { SYSTEM } from '../support/harness.js';
import { DAY, type FirstSite, firstSite, HOUR } from './first-site.js';

const MOVER = 5;

/** Each day's sync: up to Sunday the site is west of the date line, from then on east of it. */
async function days(app: FirstSite, count: number) {
  for (let day = 0; day < count; day++) {
    await app.hours(24);
    const isSunday = new Date(app.clock.now()).getUTCDay() === 0;
    for (const [index, { state }] of app.fleet.sites.entries())
      Object.assign(state, { timezone: '', gmtOffset: index !== MOVER ? 0 : isSunday ? 14 : -12 });
    await running(app, app.call('sync-sites', {}));
  }
}

it.each([[{ canaries: 1 }], [undefined]])('a site that moves through the zones (waves: %j)', async (waves) => {
  const app = await firstSite(8, MOVER, 6);
  await app.until(5, 4);
  await days(app, 1);
  await app.weekly(waves, {
    schedule: { at: '12:00', days: ['sat'] },
    window: { days: ['sun'], from: '02:00', to: '05:00' },
  });
  await days(app, 16);
  expect((await app.rollouts()).map(({ state }) => state)).toContain('completed');
  expect(app.versions()).toBe('2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0');
});

it('a site whose turn always comes after its window is left, and the rollout goes on', async () => {
  const app = await rolloutApp(8);
  const at = new Date(app.clock.now());
  // Tomorrow at two; the sites are in UTC.
  for (const { state } of app.fleet.sites) Object.assign(state, { timezone: '', gmtOffset: 0 });
  await app.call('sync-sites', {});
  app.clock.move(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + 1, 1) - app.clock.now());
  const { rollout_id: id } = await app.start({
    waves: { canaries: 2, sizes: [6], soak_minutes: 1 },
    window: { from: '02:00', to: '03:00' },
  });
  /** The turn of a site comes when its window is over: the jobs of others took so long. */
  const late = async () => {
    app.clock.move(HOUR);
    await advanceRollouts(app.ctx({ actor: SYSTEM }));
    app.clock.move(HOUR);
    await app.running(app.drain());
    app.clock.move(DAY - 2 * HOUR);
  };
  for (let night = 1; night <= 7; night++) await late();
  // For a week a site is waited for.
  expect((await app.read(id)).counts).toEqual({ untouched: 8 });
  await late();
  await late();
  await advanceRollouts(app.ctx({ actor: SYSTEM }));
  const { state, reason, counts, items, next } = await app.read(id, { per_page: 50 });
  expect({ state, counts, next }).toEqual({ state: 'halted', counts: { skipped: 2, untouched: 6 }, next: '' });
  expect(reason).toContain('None of the updates of the first wave was made');
  expect(items[0]).toMatchObject({
    ...{ state: 'skipped', code: 'svc_window_missed', run_id: null },
    message: expect.stringContaining('when its window was over'),
  });
});
