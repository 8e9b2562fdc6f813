/** Formats stored times for callers. */

/** ISO 8601 in UTC, to the second; null stays null. */
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
