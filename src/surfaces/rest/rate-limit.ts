/** The rate limit: a token bucket per principal that refills evenly, so that a burst passes and a runaway loop does not. */

import { dropOldest } from '../../runtime/drop-oldest.js';
import { ServiceError } from '../../runtime/errors.js';

export interface Allowance {
  /** Requests that are left now. */
  remaining: number;
  /** Seconds until the bucket is full again. */
  reset: number;
}

export interface RateLimit {
  /** Takes one request of the principal. Throws `svc_rest_too_many_requests` with `data.retry_after` in seconds. */
  take(principal: string): Allowance | undefined;
  /** Value of `RateLimit-Policy`; undefined when there is no limit. */
  readonly policy: string | undefined;
}

const WINDOW_S = 60;
/** Maximum number of remembered principals; the least recently active one is dropped, and starts with a full bucket. */
const MAX_PRINCIPALS = 10_000;

/**
 * @param perMinute requests of one principal; 0 = no limit
 * @param elapsed milliseconds of a monotonic clock
 */
export function createRateLimit(perMinute: number, elapsed: () => number): RateLimit {
  const buckets = new Map<string, { tokens: number; at: number }>();
  const perMs = perMinute / (WINDOW_S * 1000);
  return {
    policy: perMinute === 0 ? undefined : `"default";q=${perMinute};w=${WINDOW_S}`,
    take(principal) {
      if (perMinute === 0) return undefined;
      const at = elapsed();
      const known = buckets.get(principal);
      const tokens = known === undefined ? perMinute : Math.min(perMinute, known.tokens + (at - known.at) * perMs);
      buckets.delete(principal);
      const left = tokens >= 1 ? tokens - 1 : tokens;
      buckets.set(principal, { tokens: left, at });
      dropOldest(buckets, MAX_PRINCIPALS);
      if (tokens < 1) throw tooMany(perMinute, Math.ceil((1 - tokens) / perMs / 1000));
      return { remaining: Math.floor(left), reset: Math.ceil((perMinute - left) / perMs / 1000) };
    },
  };
}

function tooMany(perMinute: number, seconds: number): ServiceError {
  return new ServiceError('svc_rest_too_many_requests', `This key may make ${perMinute} requests a minute.`, {
    advice: `Try again in ${seconds} s.`,
    data: { retry_after: seconds },
  });
}
