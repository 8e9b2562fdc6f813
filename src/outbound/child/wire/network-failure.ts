/** Names what went wrong on the network: sockets, TLS and the HTTP parser. */

import { ChildFailure, type FailureKind } from '../failure.js';

const TIMEOUTS = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERROR_IN_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_|EPROTO)/;
/** The two sides have no TLS version in common; no certificate was checked. */
const TLS_VERSION = /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS/;
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_ABORTED']);
/** This process closed the connections. */
const ENDED = new Set(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED']);

/** Converts a socket, TLS or HTTP parser error to a ChildFailure. `sent` = the request had been sent. */
export function networkFailure(error: unknown, host: string, sent: boolean): ChildFailure {
  if (error instanceof ChildFailure) return error;
  const code = codeOf(error);
  const make = (kind: FailureKind, message: string, advice: string, adviceBeforeAdded?: string): ChildFailure =>
    new ChildFailure(kind, message, { advice, adviceBeforeAdded, mayHaveRun: sent, cause: error });
  if (TIMEOUTS.has(code))
    return make('timed_out', `${host} did not answer in time.`, 'Try again later, or raise the time limit.');
  if (TLS_CODE.test(code) && TLS_VERSION.test(code)) {
    return make(
      'tls',
      `${host} offers no TLS version that is allowed for it (${code}).`,
      "Update the site's TLS, or set ssl_version of this site to 0 (automatic) in its settings.",
      "Bring the site's TLS up to date, then add it again.",
    );
  }
  if (TLS_CODE.test(code)) {
    return make(
      'tls',
      `The TLS connection to ${host} failed (${code}).`,
      "Renew or correct the site's certificate, or disable certificate verification for this site if you accept the risk: ssl_verify in update-site-v1.",
      "Renew or correct the site's certificate, or, if you accept the risk, add the site with ssl_verify: false, which switches certificate verification off for it.",
    );
  }
  if (ENDED.has(code)) return make('cancelled', 'The call was ended because the service is stopping.', '');
  if (code === 'ECONNREFUSED')
    return make('unreachable', `${host} refuses connections.`, 'Check that the web server is running.');
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return make('too_large', `${host} sent too many HTTP headers.`, '');
  if (code.startsWith('HPE_'))
    return make('unreachable', `${host} does not answer in HTTP.`, 'Check the port in the site URL.');
  const what = CLOSED.has(code)
    ? 'closed the connection without an answer'
    : `cannot be reached (${code || 'unknown error'})`;
  return make('unreachable', `${host} ${what}.`, 'Check that the site is up, then try again.');
}

function codeOf(error: unknown): string {
  const own = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (typeof own === 'string') return own;
  // Several addresses were tried: the first one's reason is reported.
  if (error instanceof AggregateError) return error.errors.length > 0 ? codeOf(error.errors[0]) : '';
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : '';
}
