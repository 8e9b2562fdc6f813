import {
  type CallOptions,
  type ChildAddress,
  ChildFailure,
  type ChildParams,
  type Door,
  type FailureKind,
} from './child.js';
import type { CallKind } from './pace-types.js';

/** One call of a child function. */
export interface ChildCall {
  at: ChildAddress;
  site_id: number;
  fn: string;
  user: string;
  /** PKCS#8 PEM to sign with; null = unsigned. */
  private_key: string | null;
  params: ChildParams;
  /** The address to ask first; `wp-admin/admin-ajax.php` when it is unknown. */
  door?: Door | undefined;
  /** Asking twice does no harm, so the second URL is tried after any failure that it might avoid. */
  read: boolean;
  /** It changes the site, and the second URL is tried all the same: a repetition comes to the same. */
  repeatable?: boolean;
  timeoutMs: number;
  /** Which limit it counts against beside the one for all. */
  kind?: CallKind | undefined;
  /** A person waits for it: goes ahead of bulk calls. */
  live: boolean;
  options: CallOptions | undefined;
}

/** What one call came to, for logs and metrics. No contents. */
export interface CallFacts {
  /** 0 for calls to a site that has no record yet. */
  site_id: number;
  fn: string;
  /** From the first byte to the end; without the wait. */
  ms: number;
  /** Waited for its turn, milliseconds. */
  queued_ms: number;
  outcome: 'ok' | FailureKind;
  /** Body bytes on the wire. */
  bytes: number;
}

/** The promise's outcome, or `cancelled` as soon as the signal fires; what runs is left to finish. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new ChildFailure('cancelled', 'The call was cancelled before it was sent.'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
