/** The failures of a call to a child site, whichever layer notices them. */

export type FailureKind =
  /** DNS, refused, reset, no route. */
  | 'unreachable'
  | 'timed_out'
  | 'tls'
  /** The resolved address is private, loopback, link-local or metadata, and that is not allowed. */
  | 'blocked_address'
  | 'redirected'
  /** HTTP Basic authentication in front of the site. */
  | 'http_auth'
  /** HTTP response without the child's frame: firewall page, inactive plugin, PHP fatal error. */
  | 'unframed'
  | 'plugin_missing'
  /** WordPress' maintenance page: WordPress itself did not run. */
  | 'maintenance'
  /** Frame present but empty or unparsable. */
  | 'bad_answer'
  | 'too_large'
  /** Signature not accepted: wrong key, disconnected, or another dashboard's key. */
  | 'refused'
  /** The function is unknown to this child version. */
  | 'outdated'
  /** The child returned its own error. */
  | 'child_error'
  /** Nothing was sent: the site may only be read. */
  | 'reads_only'
  | 'cancelled';

/**
 * Statuses of a gateway that lost its connection to the site, which may still be at work; 520 to 524 are those of a
 * CDN.
 */
export const GATEWAY_LOST: ReadonlySet<number> = new Set([408, 502, 503, 504, 520, 521, 522, 523, 524]);

/** A failed call. `message` is safe to show: no secrets, child text only quoted as the site's words. */
export class ChildFailure extends Error {
  readonly kind: FailureKind;
  readonly httpStatus: number;
  /** The child's own error code, '' if it sent none. */
  readonly childCode: string;
  /** Advice for the caller. */
  readonly advice: string;
  /** Advice while the site is not added: there is nothing yet that could be changed or reconnected. */
  readonly adviceBeforeAdded: string;
  /** The request had been sent: a write may have run, and the site must be read before it is repeated. */
  readonly mayHaveRun: boolean;

  constructor(
    kind: FailureKind,
    message: string,
    details: {
      httpStatus?: number;
      childCode?: string;
      advice?: string;
      /** Default: as `advice`. */
      adviceBeforeAdded?: string | undefined;
      mayHaveRun?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ChildFailure';
    this.kind = kind;
    this.httpStatus = details.httpStatus ?? 0;
    this.childCode = details.childCode ?? '';
    this.advice = details.advice ?? '';
    this.adviceBeforeAdded = details.adviceBeforeAdded ?? this.advice;
    this.mayHaveRun = details.mayHaveRun ?? false;
  }

  /** The connection ended after the request was sent: it may be one that was kept open, and that the server was just closing. */
  get brokeOff(): boolean {
    return this.kind === 'unreachable' && this.mayHaveRun;
  }
}
