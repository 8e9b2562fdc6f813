/** What JSON texts and values are, for those that check nothing more. */

/** Whether it is an object, as JSON writes one: neither a list nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a text; null if it is no JSON. The parser's own message may quote a secret. */
export function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
