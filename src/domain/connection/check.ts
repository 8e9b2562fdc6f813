/** Checks whether the public site responds: one visit, as a browser would make it (operations §5.12). */

import { MOST_REDIRECTS, type Visit, type VisitOptions } from '../../outbound/child/port.js';
import { ServiceError } from '../../runtime/errors.js';
import type { Ctx } from '../context.js';
import { isLate, type LoadedSite } from '../sites/load.js';

export interface CheckResult {
  site_id: number;
  site_url: string;
  reachable: boolean;
  response_time_ms: number;
  /** 0 = no response. */
  http_status: number;
  /** WordPress' maintenance page: neither up nor down. */
  maintenance: boolean;
  /** It took the request, and did not answer in time. */
  late: boolean;
  /** It redirects within the site without end. */
  endless: boolean;
  /** Why it is not reachable, in one sentence; absent if it is. */
  reason?: string;
}

/** Why a front page is not reachable, by what was seen of it. */
export function whyUnreachable({ http_status, maintenance, late, endless }: Omit<CheckResult, 'reason'>): string {
  if (maintenance) return "The front page shows WordPress' maintenance page.";
  if (http_status === 0) return `The front page did not answer${late ? ' in time' : ''}.`;
  if (endless) return `The front page redirects more than ${MOST_REDIRECTS} times.`;
  return `The front page answered with HTTP ${http_status}.`;
}

/**
 * Up: a normal response, or a redirect to another site, whose state says nothing about this one. Redirects within the
 * site were followed before.
 */
function isUp({ http_status, redirect }: Visit): boolean {
  return (http_status >= 200 && http_status <= 206) || redirect === 'elsewhere';
}

/**
 * Visits the site and stores the outcome, which says nothing about the connection to the child and prevents no call to
 * it. An unreachable site is a result, not an error; `svc_check_failed` only if no visit could be made at all.
 * @param how `timeoutMs`: default is the time limit of a sync; `method`: GET
 */
export async function checkSite(
  ctx: Ctx,
  { site, connection }: LoadedSite,
  how: Omit<VisitOptions, 'signal'> = {},
): Promise<CheckResult> {
  const visit = await ctx.child.visit(
    {
      url: site.url,
      http_user: connection?.http_user ?? null,
      http_pass: connection?.http_pass ?? null,
      ssl_verify: site.ssl_verify === 1,
      ipv4_only: connection?.ipv4_only,
      min_tls: connection?.min_tls,
    },
    { ...how, signal: ctx.signal },
  );
  if (visit.failure?.kind === 'blocked_address') {
    throw new ServiceError('svc_check_failed', visit.failure.message, {
      advice: visit.failure.advice,
      data: { site_id: site.id },
    });
  }
  const { http_status, response_time_ms, maintenance } = visit;
  const reachable = maintenance ? null : isUp(visit);
  await ctx.store.siteStatus.recordVisit(site.id, {
    reachable,
    http_status,
    response_time_ms,
    at: ctx.clock.now(),
  });
  ctx.events.emit({ name: 'site.checked', site_id: site.id, facts: { reachable, http_status } });
  const result = {
    site_id: site.id,
    site_url: site.url,
    reachable: reachable === true,
    response_time_ms,
    http_status,
    maintenance,
    late: isLate(visit.failure),
    endless: visit.redirect === 'endless',
  };
  if (result.reachable) return result;
  // Without an answer, what happened on the network says more.
  const seen = http_status === 0 ? visit.failure?.message : undefined;
  return { ...result, reason: seen ?? whyUnreachable(result) };
}
