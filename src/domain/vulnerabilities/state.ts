/**
 * The state of vulnerability data: since when it is known, and why it may be incomplete. Without a feed nothing is
 * known, which is not "none".
 */

import { dateOf, isoTime } from '../../runtime/iso-time.js';
import type { FeedRow } from '../../store/vulnerabilities/feed.js';
import type { Ctx } from '../context.js';

const DAY_MS = 86_400_000;
/** The feed is read daily: after this many days without success it is reported as old. */
const OLD_DAYS = 3;

export interface FeedState {
  /** Whether any data is known. */
  known: boolean;
  /** Time of the last successful read; null = never. */
  checked_at: string | null;
  /** Why the data may be incomplete; null = it is complete. */
  note: string | null;
}

const HOW =
  'Set SITEFLEET_VULNERABILITY_FEED to the URL or file of a feed in the format of Wordfence Intelligence v3 (key: SITEFLEET_VULNERABILITY_KEY) and restart.';

export async function feedState({ store, config, clock }: Pick<Ctx, 'store' | 'config' | 'clock'>): Promise<FeedState> {
  const row = await store.vulnerabilityFeeds.state();
  return {
    known: row?.read_at != null,
    checked_at: isoTime(row?.checked_at ?? null),
    note: noteOf(row, config.vulnerability_feed !== null, clock.now()),
  };
}

function noteOf(row: FeedRow | undefined, set: boolean, now: number): string | null {
  const failure = row === undefined || row.failure === '' ? '' : ` The last read failed: ${row.failure}`;
  if (row?.checked_at == null)
    return set
      ? `The vulnerability feed has not been read yet, so nothing is known.${failure}`
      : `No vulnerability feed is configured, so nothing is known. ${HOW}`;
  const days = Math.floor((now - row.checked_at) / DAY_MS);
  if (!set && days < OLD_DAYS)
    return `The vulnerability feed is no longer configured; this is the copy from ${dateOf(row.checked_at)}. ${HOW}`;
  if (days < OLD_DAYS) return null;
  return `The vulnerability feed was last read on ${dateOf(row.checked_at)}, ${days} days ago: newer vulnerabilities are missing.${failure}${set ? '' : ` ${HOW}`}`;
}
