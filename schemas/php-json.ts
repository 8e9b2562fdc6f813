/** Reads JSON as PHP writes it: `[]` for an empty map, maps for lists with holes, numbers as strings (child protocol §1.1). */

export type JsonMap = { readonly [key: string]: unknown };

/** An object as a map; PHP's `[]`, null, scalars and lists as null. Read members with `get`, never by spreading. */
export function asMap(value: unknown): JsonMap | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonMap) : null;
}

/** Own member of a map, undefined if absent: `constructor` and `__proto__` find nothing inherited. */
export function get(value: unknown, key: string): unknown {
  const map = asMap(value);
  return map !== null && Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Key and value of a map's first `limit` entries, or null if the value is neither a map nor `[]`. */
export function entriesOf(value: unknown, limit: number): [string, unknown][] | null {
  if (typeof value !== 'object' || value === null) return null;
  return Object.entries(value).slice(0, limit);
}

/** First `limit` members of a list, or of a map that PHP made of one; null if it is neither. */
export function listOf(value: unknown, limit: number): unknown[] | null {
  if (Array.isArray(value)) return value.slice(0, limit);
  return typeof value === 'object' && value !== null ? Object.values(value).slice(0, limit) : null;
}

/** A finite number from a number or numeric string, otherwise null. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || !/^\s*-?\d{1,15}(\.\d{1,17})?\s*$/.test(value)) return null;
  return Number(value);
}

/** A count: whole, not negative, at most 2^31-1; null if it is not a number. */
export function countOf(value: unknown): number | null {
  const number = numberOf(value);
  return number === null ? null : Math.min(Math.max(Math.trunc(number), 0), 0x7fffffff);
}

/** What PHP considers true, for flags: 1, "1", true, "yes", "T". */
export function flagOf(value: unknown): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^(1|true|yes|t)$/i.test(value));
}
