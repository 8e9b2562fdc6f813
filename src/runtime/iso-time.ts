/** Formats stored times for callers. */

/** ISO 8601 in UTC, to the second; null stays null. */
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** The UTC date of an instant in milliseconds. */
export function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** An instant in milliseconds as ISO 8601 UTC in whole seconds, `2025-12-03T10:00:00Z` (operations §5.3). */
export function timestampOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
