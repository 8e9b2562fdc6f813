/** Mutual exclusion per site. `cluster/leases.ts` implements it. */

/**
 * Keeps two pieces of work from touching one site at the same time, in this process and in others: the later one waits.
 * `held` is aborted when another process may have taken over, after a pause of ours.
 */
export interface SiteLocks {
  exclusive<T>(siteId: number, signal: AbortSignal, work: (held: AbortSignal) => Promise<T>): Promise<T>;
  /** Keeps apart within this process only, without a word to the database: for looks, which storage tells old from new. */
  local<T>(siteId: number, signal: AbortSignal, work: (waited: boolean) => Promise<T>): Promise<T>;
}
