import { ownMember } from '../../runtime/own-member.js';
import type { ProbeFailure, ProbeFailureKind } from './probe.js';

/** A failed step of a probe. Caught inside the probe and returned as a value. */
export class StepFailure extends Error {
  readonly kind: ProbeFailureKind;
  constructor(kind: ProbeFailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StepFailure';
    this.kind = kind;
  }
}

const WORDS: Readonly<Record<string, [ProbeFailureKind, string]>> = {
  ECONNREFUSED: ['unreachable', 'refuses the connection'],
  ECONNRESET: ['unreachable', 'closed the connection without an answer'],
  EPIPE: ['unreachable', 'closed the connection without an answer'],
  UND_ERR_SOCKET: ['unreachable', 'closed the connection without an answer'],
  EHOSTUNREACH: ['unreachable', 'cannot be reached: no route to the host'],
  ENETUNREACH: ['unreachable', 'cannot be reached: no route to its network'],
  EADDRNOTAVAIL: ['unreachable', 'cannot be reached: no route to its network'],
  ETIMEDOUT: ['timed_out', 'did not accept a connection in time'],
  ENOTFOUND: ['dns', 'has no address: the name does not resolve'],
  EAI_AGAIN: ['dns', 'could not be looked up: the name server does not answer'],
  EPROTO: ['tls', 'does not speak TLS as expected'],
  UND_ERR_HEADERS_OVERFLOW: ['bad_answer', 'sends more headers than are read'],
};

/** Why a connection or exchange with `host` failed, from any thrown value. */
export function failureOf(error: unknown, host: string): ProbeFailure {
  if (error instanceof StepFailure) return { kind: error.kind, message: error.message };
  const code = codeOf(error);
  const known = ownMember(WORDS, code);
  if (known !== undefined) return { kind: known[0], message: `${host} ${known[1]}.` };
  if (/^ERR_(SSL|TLS)|CERT|SELF_SIGNED|UNABLE_TO|HOSTNAME/.test(code)) {
    return { kind: 'tls', message: `The TLS connection to ${host} failed: ${tlsReason(code)}.` };
  }
  if (error instanceof Error && error.name === 'HTTPParserError')
    return { kind: 'bad_answer', message: `${host} does not answer with valid HTTP.` };
  return { kind: 'unreachable', message: `${host} cannot be reached${code === '' ? '' : ` (${code})`}.` };
}

const TLS_REASONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate, or one it was issued by, has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the chain ends in an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the server does not send its whole certificate chain, or its authority is unknown',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate chain is incomplete',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate chain is incomplete, or its authority is unknown',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate does not name this host',
  CERT_REVOKED: 'the certificate was revoked',
  HOSTNAME_MISMATCH: 'the certificate does not name this host',
};

/** A code of OpenSSL or Node in words. */
export function tlsReason(code: string): string {
  if (Object.hasOwn(TLS_REASONS, code)) return TLS_REASONS[code] ?? code;
  return code
    .replace(/^ERR_(SSL|TLS)_/, '')
    .replaceAll('_', ' ')
    .toLowerCase();
}

/** The code of an error, of its cause, or of the first of several attempts. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.length > 0 ? codeOf(error.errors[0]) : '';
  const own = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (typeof own === 'string') return own;
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : '';
}
