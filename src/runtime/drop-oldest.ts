/** Bounds a map or set. */

/** Drops the oldest entries until at most `most` are left; the order is that of insertion. */
export function dropOldest<K>(entries: Pick<Map<K, unknown>, 'size' | 'keys' | 'delete'>, most: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= most) return;
    entries.delete(oldest);
  }
}
