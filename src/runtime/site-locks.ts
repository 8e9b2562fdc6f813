/** Mutual exclusion per site. `runtime/cluster/leases.ts` implements it. */

/**
 * Prevents two pieces of work from touching one site at the same time, in this process and across processes: the later
 * one waits. `held` is aborted when another process may have taken the lock over, after this process was paused.
 */
export interface SiteLocks {
  exclusive<T>(siteId: number, signal: AbortSignal, work: (held: AbortSignal) => Promise<T>): Promise<T>;
  /** Excludes within this process only, without a database call: for reads, whose age storage can compare itself. */
  local<T>(siteId: number, signal: AbortSignal, work: (waited: boolean) => Promise<T>): Promise<T>;
}
