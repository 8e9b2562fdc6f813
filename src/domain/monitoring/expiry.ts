/** Expiry steps of certificates and domains: when an approaching expiry raises an alert. Pure. */

const DAY_MS = 24 * 3_600_000;

/** Number of days before expiry from which something counts as expiring, and the steps that each raise an alert. */
const EXPIRY = { warn_days: 30, steps: [1, 7, 14, 30] } as const;

/** Whole days until `end`; negative afterwards. */
export function daysLeft(end: number, now: number): number {
  return Math.floor((end - now) / DAY_MS);
}

/** The instant before which everything ends of which at most `days` whole days are left, or that has ended. */
export function endsBefore(days: number, now: number): number {
  return now + (days + 1) * DAY_MS;
}

/**
 * The current step: `expired`, the nearest of the steps in days, or null while the expiry is far away. After a pause
 * only the nearest step counts, not each one that was passed.
 */
export function expiryStep(end: number, now: number): 'expired' | number | null {
  if (end <= now) return 'expired';
  const days = daysLeft(end, now);
  return EXPIRY.steps.find((step) => days <= step) ?? null;
}

/** The instants by which lists determine `expired` and `expiring`. */
export function expiryClock(now: number): { now: number; expiring: number } {
  return { now, expiring: endsBefore(EXPIRY.warn_days, now) - 1 };
}
