/** Expiry steps of certificates and domains: when an approaching end raises an alert. Pure. */

const DAY_MS = 24 * 3_600_000;

/** Days before the end from which something counts as expiring, and the steps that raise an alert each. */
const EXPIRY = { warn_days: 30, steps: [1, 7, 14, 30] } as const;

/** Whole days until `end`; negative once it has passed. */
export function daysLeft(end: number, now: number): number {
  return Math.floor((end - now) / DAY_MS);
}

/**
 * The step that holds now: `expired`, the nearest of the steps in days, or null while the end is far. After a
 * pause only the nearest step counts, not each one that has passed.
 */
export function expiryStep(end: number, now: number): 'expired' | number | null {
  if (end <= now) return 'expired';
  const days = daysLeft(end, now);
  return EXPIRY.steps.find((step) => days <= step) ?? null;
}

/** The instants that lists tell `expired` and `expiring` by. */
export function expiryClock(now: number): { now: number; expiring: number } {
  return { now, expiring: now + (EXPIRY.warn_days + 1) * DAY_MS - 1 };
}
