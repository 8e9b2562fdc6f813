/** Computes when a scheduled backup of a site is due: on which day, and at which minute of the hour. Pure. */

import { momentOf, wallOf, zoneOfSite } from '../../runtime/time-zones.js';
import type { BackupRule, UnplannedSite } from '../../store/backups/schedule.js';

/** There is a turn in so many days. */
const WITHIN_DAYS = 32;
/** Every month has these days. */
const DAYS = 28;

/**
 * The first turn after an instant, in milliseconds; null = never. Sites are spread out by their ids: over the minutes of the
 * hour, the days of the week and those of the month.
 */
export function nextTurn({ every, hour }: BackupRule, siteId: number, zone: string, after: number): number | null {
  if (every === 'off') return null;
  const { year, month, day } = wallOf(after, zone);
  for (let ahead = 0; ahead <= WITHIN_DAYS; ahead++) {
    const date = new Date(Date.UTC(year, month - 1, day + ahead));
    if (every === 'weekly' && date.getUTCDay() !== siteId % 7) continue;
    if (every === 'monthly' && date.getUTCDate() !== 1 + (siteId % DAYS)) continue;
    const wall = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
    const at = momentOf({ ...wall, hour, minute: (siteId * 7) % 60, second: 0 }, zone);
    if (at > after) return at;
  }
  throw new Error('there is a turn within so many days');
}

/** The next turn of a site; null = it has none. One whose backups fail is tried daily. */
export function turnOf(site: UnplannedSite, now: number): number | null {
  const { site_id, every, hour, failing_since } = site;
  if (every === null || every === 'off') return null;
  return nextTurn({ every: failing_since === null ? every : 'daily', hour: hour ?? 0 }, site_id, zoneOfSite(site), now);
}
