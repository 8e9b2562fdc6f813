/** Weekly maintenance: on the clock of each site, also when summer time begins and ends; nothing is checked meanwhile. */

import { describe, expect, it } from 'vitest';
import { runDueMonitors } from '../../src/domain/monitoring/due-monitors.js';
import { beginWindows, readWindows, saveWindows } from '../../src/domain/monitoring/windows.js';
import { handClock } from '../support/harness.js';
import { answers, type MonitoringApp, monitoringApp } from './monitoring-app.js';

const MINUTE = 60_000;
let app: MonitoringApp;
let asked: number[];
let id: number;

/** An app at an instant, with one site in this zone, checked each minute. */
async function start(at: string, zone: string): Promise<void> {
  asked = [];
  const clock = handClock(Date.parse(at));
  app = await monitoringApp(
    {
      http() {
        asked.push(clock.now());
        return answers(200);
      },
    },
    { clock },
  );
  [id = 0] = await app.addSites(1);
  await app.settings({ svc_uptime_monitoring_active: 1, svc_uptime_monitoring_interval: 1 });
  await app.db.run('UPDATE site_detail SET timezone = ? WHERE site_id = ?', [zone, id]);
}

/** Lets the timetable run for so many minutes; the minutes in which the site was checked, as HH:MM in UTC. */
async function checkedWithin(minutes: number): Promise<string[]> {
  asked = [];
  for (let minute = 0; minute < minutes; minute++) {
    await beginWindows(app.ctx());
    await runDueMonitors(app.ctx());
    app.clock.move(MINUTE);
  }
  return asked.map((at) => new Date(at).toISOString().slice(11, 16));
}

const clockTimes = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => new Date((from + i) * MINUTE).toISOString().slice(11, 16));

describe('weekly maintenance', () => {
  it.each([
    // Berlin, on an ordinary Sunday: 02:00 to 04:00 are 01:00 to 03:00 UTC.
    ['2026-11-22T00:30:00Z', 'Europe/Berlin', ['sun 02:00-04:00'], 60, 180],
    // Summer time begins at 02:00, which is 03:00 at once: only until 04:00, an hour later.
    ['2026-03-29T00:30:00Z', 'Europe/Berlin', ['sun 02:00-04:00'], 60, 120],
    // It ends at 03:00, which is 02:00 again: three hours.
    ['2026-10-24T23:30:00Z', 'Europe/Berlin', ['sun 02:00-04:00'], 24 * 60, 27 * 60],
    // Over midnight, in a zone of half an hour: 23:30 to 00:30 there is 18:00 to 19:00 UTC.
    ['2026-11-21T17:30:00Z', 'Asia/Kolkata', ['sat 23:30-00:30'], 18 * 60, 19 * 60],
  ])('at %s in %s: %j', async (at, zone, windows, from, to) => {
    await start(at, zone);
    await saveWindows(app.ctx(), id, windows);
    const first = Math.floor((Date.parse(at) % 86_400_000) / MINUTE);
    const checked = await checkedWithin(240);
    // The first check is at once, and the one after the maintenance within the interval.
    const quiet = new Set(clockTimes(from, to));
    expect(checked.filter((time) => quiet.has(time))).toEqual([]);
    const others = clockTimes(first, first + 240).filter((time) => !quiet.has(time));
    // At its two ends a check may be a minute early or late, as the minute of the site's turn is.
    expect(checked.length).toBeGreaterThanOrEqual(others.length - 4);
    await app.close();
  });

  it('begins each time once: what a person ends is not begun again', async () => {
    await start('2026-11-22T00:59:00Z', 'Europe/Berlin');
    await saveWindows(app.ctx(), id, ['sun 02:00-04:00', 'wed 22:00-23:00']);
    expect((await readWindows(app.ctx(), id)).next).toBe('2026-11-22T01:00:00Z');
    expect(await checkedWithin(30)).toEqual([]);
    await app.db.run('UPDATE monitor SET maintenance_until = NULL, next_check_at = 0');
    expect((await checkedWithin(90)).length).toBeGreaterThan(85);
    const { windows, zone, next } = await readWindows(app.ctx(), id);
    expect({ windows, zone, next }).toEqual({
      windows: [
        { day: 'wed', from: '22:00', to: '23:00' },
        { day: 'sun', from: '02:00', to: '04:00' },
      ],
      zone: 'Europe/Berlin',
      next: '2026-11-25T21:00:00Z',
    });
    await app.close();
  });
});
