/** Quiet hours of a recipient: from one time of day to another, which may be on the next day. Pure. */

import { wallOf } from '../../runtime/time-zones.js';
import type { RecipientFields } from '../../store/monitoring/alert-recipients.js';

/** Whether an instant is within the quiet hours, which are minutes of the day in a zone; null = none. */
export function isQuiet(
  { quiet_from, quiet_to }: Pick<RecipientFields, 'quiet_from' | 'quiet_to'>,
  at: number,
  zone: string,
): boolean {
  if (quiet_from === null || quiet_to === null || quiet_from === quiet_to) return false;
  const { hour, minute } = wallOf(at, zone);
  const now = hour * 60 + minute;
  return quiet_from < quiet_to ? now >= quiet_from && now < quiet_to : now >= quiet_from || now < quiet_to;
}
