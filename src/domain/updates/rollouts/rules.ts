/** The rules of a rollout, as they are stored with its plan: how long a wave soaks, when it halts, and when sites may be changed. */

import { minutesOf } from '../../../runtime/time-of-day.js';
import { zoneOfSite } from '../../../runtime/time-zones.js';
import { occurrencesOf } from '../../monitoring/windows.js';

interface Window {
  /** 0 Sunday to 6 Saturday; never empty. */
  days: number[];
  /** `HH:MM` in the zone of the site; may end on the next day. */
  from: string;
  to: string;
}

export interface Rules {
  soak_minutes: number;
  /** Each wave after the first waits until it is approved. */
  approve_waves: boolean;
  halt_sites: number;
  halt_percent: number;
  window: Window | null;
  /** The plan was not narrowed to some sites. */
  every_site: boolean;
}

export const MINUTE_MS = 60_000;

/** Whether a site may be changed now. Without a window, always. A site whose zone is not known counts as in UTC. */
export function isOpen({ window }: Rules, clock: { timezone: string; gmt_offset: string }, now: number): boolean {
  if (window === null) return true;
  const zone = zoneOfSite(clock);
  const [from_min, to_min] = [minutesOf(window.from), minutesOf(window.to)];
  return window.days.some((weekday) => occurrencesOf({ weekday, from_min, to_min }, zone, now).current !== null);
}
