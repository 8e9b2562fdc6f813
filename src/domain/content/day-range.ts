/** Converts days of the dashboard's calendar to a range in a site's local time. */

import type { LocalRange } from '../../outbound/child/port.js';
import { ServiceError } from '../../runtime/errors.js';
import { dayEnd, dayStart, wordpressTime, zoneOfSite } from '../../runtime/time-zones.js';
import type { SiteRecord } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { dashboardZone } from '../settings/effects.js';

/** Valid days as `YYYY-MM-DD`, both inclusive. */
export interface DayRange {
  dtsstart: string | undefined;
  dtsstop: string | undefined;
}

/** Throws unless both days are given or neither, and the first is not after the last (REST §3.2). */
export function requireRange({ dtsstart, dtsstop }: Partial<DayRange>): void {
  if ((dtsstart === undefined) !== (dtsstop === undefined)) {
    const missing = dtsstart === undefined ? 'dtsstart' : 'dtsstop';
    throw new ServiceError('incomplete_date_range', `${missing} is missing: a range of days needs both ends.`, {
      field: missing,
      advice: 'Send dtsstart and dtsstop, or neither.',
    });
  }
  if (dtsstart !== undefined && dtsstop !== undefined && dtsstart > dtsstop) {
    throw new ServiceError('invalid_date_range', `dtsstart (${dtsstart}) is after dtsstop (${dtsstop}).`, {
      field: 'dtsstart',
      advice: 'Send the earlier day as dtsstart.',
    });
  }
}

/** The range in the site's local time, both ends exclusive. The days are in the dashboard's time zone. */
export async function siteRange(ctx: Ctx, site: SiteRecord, range: Partial<DayRange>): Promise<LocalRange | undefined> {
  if (range.dtsstart === undefined || range.dtsstop === undefined) return undefined;
  const zone = await dashboardZone(ctx);
  const siteZone = zoneOfSite(site);
  return {
    after: wordpressTime(dayStart(range.dtsstart, zone) - 1000, siteZone),
    before: wordpressTime(dayEnd(range.dtsstop, zone), siteZone),
  };
}
