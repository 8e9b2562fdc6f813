/**
 * The whole chain from a site that breaks to the webhook that says so: monitors and deliveries run at the times of the
 * timetable, on a clock that only this test moves.
 */

import { Cron } from 'croner';
import { beforeEach, expect, it } from 'vitest';
import { timetable } from '../../src/app/schedule/timetable.js';
import { ALONE } from '../../src/runtime/cluster/members.js';
import { type RestApp, restApp } from '../rest/client.js';
import { SYSTEM } from '../support/harness.js';
import { type Receiver, receiver } from '../support/receiver.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const ROUNDS = 4;
const CHAIN = timetable.filter(({ name }) => ['monitors', 'alert-deliveries'].includes(name));

let app: RestApp;
let box: Receiver;

beforeEach(async () => {
  box = await receiver();
  app = await restApp({ sites: 1, jobs: false });
  await app.connect(0);
});

/** The next time of a pattern after an instant. */
const nextRun = (pattern: string, after: number) =>
  new Cron(pattern, { paused: true, timezone: 'UTC' }).nextRun(new Date(after))?.getTime();

/** Runs the tasks of the chain at their times, until then. */
async function until(end: number): Promise<void> {
  for (;;) {
    const next = CHAIN.map((task) => ({ task, at: nextRun(task.pattern, app.clock.now()) ?? end }));
    const at = Math.min(...next.map((one) => one.at));
    if (at > end) break;
    app.clock.move(at - app.clock.now());
    for (const { task } of next.filter((one) => one.at === at)) await task.run(app.ctx({ actor: SYSTEM }), ALONE);
  }
  app.clock.move(end - app.clock.now());
}

it.each([
  [1, 'one minute, the shortest'],
  [5, 'five minutes'],
])('an interval of %i: a broken site is told within it and a minute (%s)', async (interval) => {
  const edited = await app.rest('PATCH /settings/monitoring/edit', {
    body: { svc_uptime_monitoring_active: 1, svc_uptime_monitoring_interval: interval },
  });
  expect([edited.status, edited.body.message ?? '']).toEqual([200, expect.any(String)]);
  const added = await app.rest('POST /alerts/recipients/add', {
    body: { type: 'webhook', name: 'Box', url: `${box.url}/hook` },
  });
  expect(added.status).toBe(200);
  await until(app.clock.now() + interval * MINUTE + MINUTE);
  const site = app.fleet.site(0);
  const waits: number[] = [];
  // Breaks at moments spread over the interval, with other phases to the timetable each time.
  for (let round = 0; round < ROUNDS; round++) {
    await until(app.clock.now() + Math.round((interval * MINUTE * round) / ROUNDS) + round * 1300);
    const before = box.received.length;
    const broke = app.clock.now();
    site.faults.http500 = true;
    while (box.received.length === before) {
      await until(app.clock.now() + SECOND);
      expect(app.clock.now() - broke).toBeLessThanOrEqual(interval * MINUTE + MINUTE);
    }
    expect(box.received.at(-1)?.body).toMatchObject({ type: 'monitor.down', data: { site: { id: 1 } } });
    waits.push((app.clock.now() - broke) / SECOND);
    site.faults.http500 = false;
    // Up again, and for so long that it is not flapping: nothing ran meanwhile.
    app.clock.move(3 * 60 * MINUTE);
    await until(app.clock.now() + interval * MINUTE);
    expect(box.received.at(-1)?.body).toMatchObject({ type: 'monitor.up' });
  }
  expect(waits).toHaveLength(ROUNDS);
});
