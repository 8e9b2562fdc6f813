/** How a guard is called. */

export interface GuardCallOptions {
  signal?: AbortSignal | undefined;
  /** For the whole call, over all addresses. */
  timeoutMs?: number | undefined;
}
