import { ChildFailure, type FailureKind } from '../failure.js';
import type { CallKind, Turn } from '../pacing/types.js';
import type { CallOptions, ChildAddress, ChildParams, Door, VisitMethod } from '../port.js';

/** One call of a child function. */
export interface ChildCall {
  at: ChildAddress;
  site_id: number;
  fn: string;
  user: string;
  /** PKCS#8 PEM to sign with; null = unsigned. */
  private_key: string | null;
  params: ChildParams;
  /** The address to try first; `wp-admin/admin-ajax.php` if unknown. */
  door?: Door | undefined;
  /** Repeating it is harmless, so the second URL is tried after any failure that it might avoid. */
  read: boolean;
  /** It changes the site, but the second URL is tried anyway: a repetition has the same result. */
  repeatable?: boolean;
  timeoutMs: number;
  /** The kind whose limit applies, besides the limit for all calls. */
  kind?: CallKind | undefined;
  turn: Turn;
  options: CallOptions | undefined;
  /** The method of a visit; default GET. */
  visitBy?: VisitMethod | undefined;
}

/** The outcome of one call, for logs and metrics. No contents. */
export interface CallFacts {
  /** 0 for calls to a site that has no record yet. */
  site_id: number;
  fn: string;
  /** From the first byte to the end; without waiting time. */
  ms: number;
  /** Waiting time, in milliseconds. */
  queued_ms: number;
  outcome: 'ok' | FailureKind;
  /** Body bytes on the wire. */
  bytes: number;
}

/** The promise's outcome, or `cancelled` as soon as the signal fires; running work is left to finish. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new ChildFailure('cancelled', 'The call was cancelled before it was sent.'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
