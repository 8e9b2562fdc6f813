/**
 * Strict UTF-8 decoding of request bodies. Lenient decoding would store text in another encoding with replacement
 * characters in place of letters beyond ASCII.
 */

const STRICT = new TextDecoder('utf-8', { fatal: true });

/** The text without a byte order mark; undefined when the bytes are not UTF-8. */
export function utf8(bytes: ArrayBuffer): string | undefined {
  try {
    return STRICT.decode(bytes);
  } catch {
    return undefined;
  }
}
