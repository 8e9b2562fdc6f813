/**
 * Strict UTF-8 decoding of request bodies. Decoded leniently, another encoding would be stored with a replacement character for
 * each letter beyond ASCII.
 */

const STRICT = new TextDecoder('utf-8', { fatal: true });

/** Without a byte order mark; undefined when the bytes are not UTF-8. */
export function utf8(bytes: ArrayBuffer): string | undefined {
  try {
    return STRICT.decode(bytes);
  } catch {
    return undefined;
  }
}
