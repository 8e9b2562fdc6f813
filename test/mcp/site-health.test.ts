/** WordPress' own Site Health of a site that does not work. */

import { expect, it } from 'vitest';
import { supportApp } from '../operations/support-app.js';

it('is unknown while a site is not reached, and told as what it is', async () => {
  const support = await supportApp({ connected: 2 });
  const { app } = support;
  await app.db.run('UPDATE site_detail SET health_good = 20, health_recommended = 0, health_critical = 0');
  const scores = async () => {
    const { rows, note } = await support.ask('search-fleet', { fields: ['id', 'health'] });
    expect(note).toMatch(/^health: WordPress' own Site Health as of the last sync, .* not whether the site is up/);
    return rows;
  };
  const stats = async () =>
    (await app.call('get-site', { site_id_or_domain: 2, include_stats: true })).stats.health_score;
  expect(await scores()).toEqual([
    [1, 100],
    [2, 100],
  ]);
  expect(await stats()).toBe(100);
  app.fleet.site(1).faults.http500 = true;
  await support.tool('check-site', { site_id_or_domain: 2 });
  expect(await scores()).toEqual([
    [1, 100],
    [2, null],
  ]);
  expect(await stats()).toBeNull();
});
