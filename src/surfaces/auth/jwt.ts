/**
 * Verifies access tokens of an external authorization server: JWTs checked against its published keys (RFC 9068, RFC
 * 8707).
 */

import { createHash } from 'node:crypto';
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { cleanLine } from '../../../schemas/text.js';
import type { Right } from '../../runtime/actor.js';
import type { Clock } from '../../runtime/clock.js';
import { ServiceError } from '../../runtime/errors.js';
import { wholeBody } from '../../runtime/whole-body.js';
import type { Identity, VerifyAccessToken } from './auth.js';

export interface AccessTokenRules {
  issuer: string;
  jwks_url: string;
  /** The value that `aud` must contain. */
  audience: string;
  read_scope: string;
  write_scope: string;
  clock: Clock;
}

/** Asymmetric signatures only: with a shared secret any resource server could create tokens. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Accepted `typ` headers of access tokens (RFC 9068 §4, RFC 8725 §3.11): many servers still send JWT, or nothing. */
const TYPES = new Set(['at+jwt', 'application/at+jwt', 'jwt', 'application/jwt']);
const CLOCK_SKEW_S = 30;
const FETCH_MS = 5000;
const KEYS_MS = 600_000;
/** Between two reads because of an unknown key, and after one that failed: anybody can send a token. */
const UNKNOWN_KEY_MS = 30_000;
const FAILED_MS = 5_000;
const MAX_KEYS_BYTES = 1024 * 1024;

/** Rejects with svc_rest_authentication_error (401), svc_rest_insufficient_permission (403) or svc_operation_failed. */
export function createTokenVerifier(rules: AccessTokenRules): VerifyAccessToken {
  const keys = publishedKeys(rules);
  return async (token) => identityOf(await verified(token, keys, rules), rules);
}

/** The keys of the server, read with the first token, again after ten minutes, and for an unknown key at most every half minute. */
function publishedKeys({ jwks_url, clock }: AccessTokenRules): JWTVerifyGetKey {
  // Their age is measured here: the library goes by the wall clock, and where that is set back it would accept removed keys.
  const keys = createRemoteJWKSet(new URL(jwks_url), {
    timeoutDuration: FETCH_MS,
    cacheMaxAge: Number.POSITIVE_INFINITY,
    cooldownDuration: Number.POSITIVE_INFINITY,
    [customFetch]: readWhole,
  });
  let read: { at: number; elapsed: number } | null = null;
  let failed: { elapsed: number; error: unknown } | null = null;
  const reload = async () => {
    const began = { at: clock.now(), elapsed: clock.elapsed() };
    if (failed !== null && began.elapsed - failed.elapsed < FAILED_MS) throw failed.error;
    try {
      await keys.reload();
      read = began;
      failed = null;
    } catch (error) {
      failed = { elapsed: clock.elapsed(), error };
      throw error;
    }
  };
  // Monotonic time stands still while the machine sleeps.
  const isOlder = (ms: number) =>
    read === null || Math.max(clock.elapsed() - read.elapsed, clock.now() - read.at) >= ms;
  return async (header, token) => {
    if (isOlder(KEYS_MS)) await reload();
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !isOlder(UNKNOWN_KEY_MS)) throw error;
      await reload();
      return keys(header, token);
    }
  };
}

/** Reads the answer to its end: the client of Node 24 ends the process where a long one that was not read is closed. */
const readWhole: FetchImplementation = async (url, options) => {
  const { status, body } = await fetch(url, options);
  const whole = await wholeBody(body, MAX_KEYS_BYTES);
  if (whole === null) throw new Error(`The answer is longer than ${MAX_KEYS_BYTES} bytes.`);
  return new Response(status === 200 ? whole : null, { status });
};

async function verified(token: string, keys: JWTVerifyGetKey, rules: AccessTokenRules): Promise<JWTPayload> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer: rules.issuer,
      audience: rules.audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['sub', 'exp'],
      clockTolerance: CLOCK_SKEW_S,
      currentDate: new Date(rules.clock.now()),
    });
    requireAccessToken(payload, protectedHeader.typ);
    return payload;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw isOurs(error) ? keysUnavailable(error) : invalid(error);
  }
}

/**
 * Refuses tokens that the same server signs for other purposes, such as ID, refresh and logout tokens. Some servers
 * mark them in the payload: `typ` (Keycloak), `token_use` (Cognito).
 */
function requireAccessToken({ sub, typ: kind, token_use: use }: JWTPayload, type: string | undefined): void {
  if (typeof sub !== 'string' || sub.trim() === '') throw invalid(undefined, 'sub');
  if (type !== undefined && !TYPES.has(type.toLowerCase())) throw invalid(undefined, 'typ');
  if (kind !== undefined && String(kind).toLowerCase() !== 'bearer') throw invalid(undefined, 'typ');
  if (use !== undefined && use !== 'access') throw invalid(undefined, 'token_use');
}

/** A failure to fetch the keys says nothing about the token. */
function isOurs(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return true;
  return ['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID'].includes(error.code);
}

function identityOf(payload: JWTPayload, rules: AccessTokenRules): Identity {
  const scopes = scopesOf(payload, rules);
  const rights: Right[] = scopes.has(rules.write_scope)
    ? ['read', 'write']
    : scopes.has(rules.read_scope)
      ? ['read']
      : [];
  if (rights.length === 0) {
    throw new ServiceError('svc_rest_insufficient_permission', 'The access token lacks the scopes of this service.', {
      advice: `Ask the authorization server for ${rules.read_scope}, or ${rules.write_scope} to change things.`,
      data: { needed_scope: rules.read_scope },
    });
  }
  return { type: 'token', id: null, name: nameOf(`${payload.iss}#${payload.sub}`), rights };
}

/** With the digest it is as long as names in the log. */
const MAX_NAME = 190;

/**
 * The name identifies the caller, in the log too: a long one, or one with what is not shown there, ends in a digest of
 * the whole.
 */
function nameOf(subject: string): string {
  if (subject.length <= MAX_NAME && cleanLine(subject, MAX_NAME) === subject) return subject;
  // JSON tells apart what UTF-8 cannot: halves of pairs.
  const digest = createHash('sha256').update(JSON.stringify(subject)).digest('hex');
  return `${cleanLine(subject, MAX_NAME)}…${digest}`;
}

/**
 * `scope` as RFC 9068 defines it or as a list, and the `scp` of some servers. If these contain no scope of this
 * service, Auth0's `permissions`: those are all that the user may do, of which this client was granted the scopes.
 */
function scopesOf({ scope, scp, permissions }: JWTPayload, rules: AccessTokenRules): Set<string> {
  const granted = new Set([...words(scope), ...words(scp)]);
  const named = granted.has(rules.read_scope) || granted.has(rules.write_scope);
  return named ? granted : new Set(words(permissions));
}

function words(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim.filter((one) => typeof one === 'string') : [];
}

/** @param at the claim or header at fault, if the cause does not name it */
function invalid(cause: unknown, at?: string): ServiceError {
  const expired = cause instanceof errors.JWTExpired;
  const fault = cause instanceof errors.JWTClaimValidationFailed ? cause.claim : at;
  const claim = fault === undefined ? '' : ` (${fault})`;
  return new ServiceError(
    'svc_rest_authentication_error',
    expired ? 'The access token has expired.' : `The access token is not valid${claim}.`,
    { advice: 'Get a new access token for this service from its authorization server.', cause },
  );
}

function keysUnavailable(cause: unknown): ServiceError {
  return new ServiceError('svc_operation_failed', 'The keys of the authorization server could not be read.', {
    advice: 'Try again in a minute; then ask the operator to check SITEFLEET_OAUTH_JWKS_URL.',
    cause,
  });
}
