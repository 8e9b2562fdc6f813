/** The two dates of a post: the site's own time, and UTC. */

import type { EditablePost } from '../../outbound/child/port.js';
import { momentOf, wordpressTime, zoneOfSite } from '../../runtime/time-zones.js';
import type { SiteRecord } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { wrongField } from '../settings/settings.js';

type Dated = { post_date?: string | undefined; post_date_gmt?: string | undefined; post_status?: string | undefined };

/** Derives either date from the other by the site's time zone; a scheduled post needs a date in the future. */
export function withDates<T extends Dated>(ctx: Ctx, site: SiteRecord, fields: T, before?: EditablePost): T {
  const zone = zoneOfSite(site);
  const gmt = fields.post_date_gmt ?? (fields.post_date === undefined ? undefined : toGmt(fields.post_date, zone));
  if (fields.post_status === 'future') {
    const date = gmt ?? before?.post_date_gmt ?? undefined;
    if (date === undefined || momentOf(wall(date), 'UTC') <= ctx.clock.now()) {
      throw wrongField(
        'post_date',
        'rest_invalid_param',
        'must be a time in the future: post_status is future',
        "Send post_date in the site's time zone, or post_date_gmt.",
      );
    }
  }
  if (gmt === undefined) return fields;
  const local = fields.post_date ?? wordpressTime(momentOf(wall(gmt), 'UTC'), zone);
  return { ...fields, post_date: local, post_date_gmt: gmt };
}

function toGmt(local: string, zone: string): string {
  return wordpressTime(momentOf(wall(local), zone), 'UTC');
}

function wall(text: string) {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = text.split(/[- :]/).map(Number);
  return { year, month, day, hour, minute, second };
}
