/**
 * Why a site is not connected and since when, and the result of the latest check of its front page (operations §5.1,
 * §5.12).
 */

import { isoTime, timestampOf } from '../../runtime/iso-time.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { StatusFacts, VisitFacts } from '../../store/sites/status.js';
import type { Ctx } from '../context.js';

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
    [...facts.values()].filter(({ status }) => status !== 'connected').map((one) => [one.id, reasonSince(one)]),
  );
}

/** What lists say of a site beside its status. */
export interface Standing extends Partial<StatusReason> {
  /** Only where the newest visit did not reach the site, or found it not as expected. */
  last_check?: Omit<LastVisit, 'checked_at'> & { checked_at: string };
}

/**
 * Of each site why it is not connected, and the newest visit unless it reached the site and missed nothing. One round trip; none if all are
 * connected and were reached.
 */
export async function standings(
  ctx: Ctx,
  sites: readonly Pick<SiteRow, 'id' | 'status' | 'unreached'>[],
): Promise<Map<number, Standing>> {
  const remarkable = sites.filter(({ status, unreached }) => status !== 'connected' || unreached !== 0);
  const facts = await ctx.store.siteStatus.facts(remarkable.map(({ id }) => id));
  return new Map([...facts.values()].map((one) => [one.id, standingOf(one)]));
}

/** The members of a standing of a listed site. */
export function standingIn({ status_reason, status_since, last_check }: Standing): Standing {
  return {
    ...(status_reason === undefined ? {} : { status_reason, status_since: status_since ?? null }),
    ...(last_check === undefined ? {} : { last_check }),
  };
}

function standingOf(facts: StatusFacts): Standing {
  const { checked_at, ...visit } = lastVisit(facts);
  const reached = checked_at === null || (visit.reachable === true && visit.misses === undefined);
  return {
    ...(facts.status === 'connected' ? {} : reasonSince(facts)),
    ...(reached ? {} : { last_check: { ...visit, checked_at: timestampOf(checked_at) } }),
  };
}

function reasonSince(facts: StatusFacts): StatusReason {
  return { status_reason: reasonOf(facts), status_since: isoTime(facts.status_since) };
}

/** The reason of a site whose front page gave no answer. It is called like any other. */
export const SILENT = 'The front page gave no answer to the last check.';

/** Every reason that applies, the one shown by the status first; '' for a connected site. */
export function reasonOf(
  facts: Pick<
    StatusFacts,
    'suspended' | 'disconnected' | 'sync_error' | 'unreached' | 'suspended_with' | 'suspended_client'
  >,
): string {
  const byHand = 'Disconnected manually; reconnect it with reconnect-site-v1.';
  const suspended =
    facts.suspended_with === null
      ? 'Suspended; lift it with unsuspend-site-v1.'
      : `Suspended with its client ${facts.suspended_client ?? ''} (${facts.suspended_with}); lift it with unsuspend-client-v1 or unsuspend-site-v1.`;
  const failed = `The last sync failed: ${facts.sync_error}`;
  return [
    ...(facts.disconnected === 2 ? [byHand] : []),
    ...(facts.suspended === 1 ? [suspended] : []),
    ...(facts.disconnected === 1 ? [byHand] : []),
    ...(facts.sync_error === '' ? [] : [failed]),
    ...(facts.unreached === 2 ? [SILENT] : []),
  ].join(' ');
}

/** The page of a site that is down was answered all the same: its status alone would say that it is well. */
export const unwell = ({ last_http_code: code, last_msg }: { last_http_code?: unknown; last_msg?: unknown }) =>
  typeof code === 'number' && code >= 200 && code < 400 && typeof last_msg === 'string' && last_msg !== '';

export interface LastVisit {
  /** null = undecided: WordPress' maintenance page, or a monitor whose result is not confirmed yet. */
  reachable: boolean | null;
  /** 0 = no response; null = unknown. */
  http_status: number | null;
  /** What its monitor misses on a page that was answered, as that it lacks the keyword; absent = nothing. */
  misses?: string;
  /** Null = never checked. */
  checked_at: number | null;
}

/** The latest check of the front page, by a visit or by the site's monitor. */
export function lastVisit(site: VisitFacts): LastVisit {
  const { monitor_checked_at, monitor_status, checked_at } = site;
  if (monitor_checked_at !== null && monitor_checked_at > (checked_at ?? 0)) {
    const seen = { http_status: site.monitor_http_status ?? 0, checked_at: monitor_checked_at };
    if (monitor_status !== DOWN) return { reachable: monitor_status === UP ? true : null, ...seen };
    const misses = unwell({ last_http_code: seen.http_status, last_msg: site.monitor_msg }) ? site.monitor_msg : null;
    return misses === null ? { reachable: false, ...seen } : { reachable: true, ...seen, misses };
  }
  const reachable = site.reachable === null ? null : site.reachable === 1;
  return { reachable, http_status: site.http_status, checked_at };
}
