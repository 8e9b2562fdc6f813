/** What a call is for. Syncs and updates have limits of their own within the limit for all. */
export type CallKind = 'sync' | 'update' | 'other';
export const CALL_KINDS = ['sync', 'update', 'other'] as const satisfies readonly CallKind[];

export interface PaceLimits {
  /** Calls in flight in all. */
  concurrency: number;
  /** Calls of one kind in flight; left out = no limit of its own. */
  kinds?: Partial<Record<CallKind, number>>;
  /** Calls in flight to one host. */
  perHost: number;
  /** Least milliseconds between two starts to one host. */
  perHostDelayMs: number;
  /** Least milliseconds between any two starts. */
  minDelayMs: number;
}

export interface PaceClock {
  now(): number;
  /** Calls back once after `ms`; the result cancels. */
  after(ms: number, callback: () => void): () => void;
}

export interface PaceRequest {
  /** Calls with the same host share a limit; the address that the site's name resolves to. */
  host: string;
  /** Whose latency to expect. */
  site: string;
  /** Default 0 = a site without a record. */
  site_id?: number | undefined;
  /** Default other. */
  kind?: CallKind | undefined;
  /** A person waits: goes ahead of bulk work. */
  live?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export const systemClock: PaceClock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
