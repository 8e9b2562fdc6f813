/** Lists as callers may write them: as an array, a comma-separated text or one number. */

/** A longer text is cut off after this many parts. */
const MAX_PARTS = 5000;

/**
 * Takes such a list apart, for `z.preprocess`. Members are trimmed; empty and repeated ones are left out. A list of more than
 * 5,000 members stays as it is: the array schema refuses it by its length.
 */
export function listMembers(value: unknown): unknown {
  const parts =
    typeof value === 'string' ? value.split(',', MAX_PARTS + 1) : typeof value === 'number' ? [value] : value;
  if (!Array.isArray(parts) || parts.length > MAX_PARTS) return parts;
  const trimmed = parts.map((part: unknown) => (typeof part === 'string' ? part.trim() : part));
  return [...new Set(trimmed.filter((part) => part !== ''))];
}
