/** A check of a monitor, and what lists say of it right after. */

import { expect, it } from 'vitest';
import { supportApp } from '../operations/support-app.js';

it('says what a check saw, what is recorded since then, and why that differs', async () => {
  const support = await supportApp({ connected: 2 });
  const { app } = support;
  await app.db.run('UPDATE monitor SET active = 1 WHERE site_id = 1');
  for (const place of [0, 1]) app.fleet.site(place).faults.http500 = true;
  const check = async (site: number) => (await support.tool('check-monitor', { site_id_or_domain: site })).uptime;
  const listed = async (site: number) =>
    (await support.tool('list-monitors', {})).monitors.find((one: { site_id: number }) => one.site_id === site).status;
  const first = await check(1);
  expect(first).toMatchObject({ status: 'down', recorded: 'pending', http_code: 500 });
  expect(first.message).toBe(
    'The site answered HTTP 500. It counts as down once it is confirmed: the check is repeated soon.',
  );
  expect(await listed(1)).toBe('pending');
  app.clock.move(60_000);
  expect(await check(1)).toMatchObject({ status: 'down', recorded: 'down', message: 'The site answered HTTP 500.' });
  expect(await listed(1)).toBe('down');
  // One that is off.
  expect(await check(2)).toMatchObject({
    recorded: await listed(2),
    message: 'The site answered HTTP 500. It does not count as an outage: the monitor is off.',
  });
});
