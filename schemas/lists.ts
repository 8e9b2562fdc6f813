/** Lists as callers may write them: an array, comma-separated text, or one number. */

/** Maximum number of parts read from a text. */
const MAX_PARTS = 5000;

/**
 * Splits such a list, for `z.preprocess`. Members are trimmed; empty and repeated ones are dropped. A list of more than
 * 5,000 members is unchanged: the array schema refuses it by its length.
 */
export function listMembers(value: unknown): unknown {
  const parts =
    typeof value === 'string' ? value.split(',', MAX_PARTS + 1) : typeof value === 'number' ? [value] : value;
  if (!Array.isArray(parts) || parts.length > MAX_PARTS) return parts;
  const trimmed = parts.map((part: unknown) => (typeof part === 'string' ? part.trim() : part));
  return [...new Set(trimmed.filter((part) => part !== ''))];
}
