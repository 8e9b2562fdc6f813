/**
 * Why a site is not connected and since when, and the result of the latest check of its front page (operations §5.1,
 * §5.12).
 */

import type { SiteRecord } from '../../store/sites/sites.js';
import type { StatusFacts } from '../../store/sites/status.js';
import type { Ctx } from '../context.js';
import { isoTime } from './times.js';

export interface StatusReason {
  status_reason: string;
  /** null = unknown. */
  status_since: string | null;
}

const DOWN = 0;
const UP = 1;

/** Reasons of the sites among these that are not connected, by id. One round trip; none if all are connected. */
export async function statusReasons(
  ctx: Ctx,
  sites: readonly { id: number; status: string }[],
): Promise<Map<number, StatusReason>> {
  const ids = sites.filter(({ status }) => status !== 'connected').map(({ id }) => id);
  const facts = await ctx.store.siteStatus.facts(ids);
  return new Map(
    [...facts.values()]
      .filter(({ status }) => status !== 'connected')
      .map((one) => [one.id, { status_reason: reasonOf(one), status_since: isoTime(one.status_since) }]),
  );
}

/** Every reason that applies, the one shown by the status first; '' for a connected site. */
export function reasonOf(
  facts: Pick<StatusFacts, 'suspended' | 'disconnected' | 'sync_error' | 'suspended_with' | 'suspended_client'>,
): string {
  const byHand = 'Disconnected by hand; reconnect-site-v1 connects it again.';
  const suspended =
    facts.suspended_with === null
      ? 'Suspended; unsuspend-site-v1 lifts that.'
      : `Suspended with its client ${facts.suspended_client ?? ''} (${facts.suspended_with}); unsuspend-client-v1 or unsuspend-site-v1 lifts that.`;
  const failed = `The last sync failed: ${facts.sync_error}`;
  return [
    ...(facts.disconnected === 2 ? [byHand] : []),
    ...(facts.suspended === 1 ? [suspended] : []),
    ...(facts.disconnected === 1 ? [byHand] : []),
    ...(facts.sync_error === '' ? [] : [failed]),
  ].join(' ');
}

export interface LastVisit {
  /** null = undecided: WordPress' maintenance page, or a monitor whose result is not confirmed yet. */
  reachable: boolean | null;
  /** 0 = no response; null = unknown. */
  http_status: number | null;
  /** Null = never checked. */
  checked_at: number | null;
}

/** The latest check of the front page, by a visit or by the site's monitor. */
export function lastVisit(
  site: Pick<
    SiteRecord,
    'reachable' | 'http_status' | 'checked_at' | 'monitor_status' | 'monitor_http_status' | 'monitor_checked_at'
  >,
): LastVisit {
  const { monitor_checked_at, monitor_status, checked_at } = site;
  if (monitor_checked_at !== null && monitor_checked_at > (checked_at ?? 0)) {
    const reachable = monitor_status === UP ? true : monitor_status === DOWN ? false : null;
    return { reachable, http_status: site.monitor_http_status ?? 0, checked_at: monitor_checked_at };
  }
  const reachable = site.reachable === null ? null : site.reachable === 1;
  return { reachable, http_status: site.http_status, checked_at };
}
