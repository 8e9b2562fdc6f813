/** The permanent address of a run of updates. */
export function runAddress(id: string): string {
  return `/runs/${encodeURIComponent(id)}`;
}
