import type { Clock } from '../../../runtime/clock.js';

/** The purpose of a call. Syncs and updates have their own limits within the limit for all. */
export type CallKind = 'sync' | 'update' | 'other';
export const CALL_KINDS = ['sync', 'update', 'other'] as const satisfies readonly CallKind[];

/** Priorities of calls, the highest first: a user waits for one site, a user waits for many, no one waits (jobs, the schedule). */
export type Turn = 'one' | 'many' | 'bulk';
export const TURNS = ['one', 'many', 'bulk'] as const satisfies readonly Turn[];

export interface PaceLimits {
  /** Total concurrent calls. */
  concurrency: number;
  /** Concurrent calls of one kind; omitted = no separate limit. */
  kinds?: Partial<Record<CallKind, number>>;
  /** Concurrent calls to one host. */
  perHost: number;
  /** Minimum milliseconds between two starts to one host. */
  perHostDelayMs: number;
  /** Minimum milliseconds between any two starts. */
  minDelayMs: number;
}

/** Monotonic milliseconds. */
export interface PaceClock {
  now(): number;
  /** Calls back once after `ms`; the returned function cancels. */
  after(ms: number, callback: () => void): () => void;
}

export interface PaceRequest {
  /** Calls with the same host share a limit; the address that the site's name resolves to. */
  host: string;
  /** The site whose latency to expect. */
  site: string;
  /** Default 0 = a site without a record. */
  site_id?: number | undefined;
  /** Default other. */
  kind?: CallKind | undefined;
  /** Default bulk. */
  turn?: Turn | undefined;
  signal?: AbortSignal | undefined;
}

/** The readings of a process's clock that never step. */
export function paceClock({ elapsed, after }: Pick<Clock, 'elapsed' | 'after'>): PaceClock {
  return { now: elapsed, after };
}
