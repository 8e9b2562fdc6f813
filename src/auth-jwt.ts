/** Access tokens of an external authorization server: JWTs checked against its published keys (RFC 9068, RFC 8707). */

import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Identity, VerifyAccessToken } from './auth.js';
import type { Clock, Right } from './context.js';
import { ServiceError } from './errors.js';

export interface AccessTokenRules {
  issuer: string;
  jwks_url: string;
  /** What `aud` must name. */
  audience: string;
  read_scope: string;
  write_scope: string;
  clock: Clock;
}

/** Only signatures by a key that we do not hold: a shared secret would let any resource server make tokens. */
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
const CLOCK_SKEW_S = 30;
const FETCH_MS = 5000;

/** Rejects with svc_rest_authentication_error (401), svc_rest_insufficient_permission (403) or svc_operation_failed. */
export function createTokenVerifier(rules: AccessTokenRules): VerifyAccessToken {
  // Loaded with the first token, kept, and loaded anew for a key that is not in it, at most every half minute.
  const keys = createRemoteJWKSet(new URL(rules.jwks_url), { timeoutDuration: FETCH_MS });
  return async (token) => identityOf(await verified(token, keys, rules), rules);
}

async function verified(token: string, keys: JWTVerifyGetKey, rules: AccessTokenRules): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer: rules.issuer,
      audience: rules.audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['sub', 'exp'],
      clockTolerance: CLOCK_SKEW_S,
      currentDate: new Date(rules.clock.now()),
    });
    return payload;
  } catch (error) {
    throw isOurs(error) ? keysUnavailable(error) : invalid(error);
  }
}

/** A failure to get the keys says nothing about the token. */
function isOurs(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return true;
  return ['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID'].includes(error.code);
}

function identityOf(payload: JWTPayload, rules: AccessTokenRules): Identity {
  const scopes = scopesOf(payload);
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
  return { type: 'token', id: null, name: `${payload.iss}#${payload.sub}`.slice(0, 500), rights, denied_sites: [] };
}

/** `scope` as RFC 9068 has it, or the list `scp` of some servers. */
function scopesOf({ scope, scp }: JWTPayload): Set<string> {
  if (typeof scope === 'string') return new Set(scope.split(' '));
  if (typeof scp === 'string') return new Set(scp.split(' '));
  return new Set(Array.isArray(scp) ? scp.filter((one) => typeof one === 'string') : []);
}

function invalid(cause: unknown): ServiceError {
  const expired = cause instanceof errors.JWTExpired;
  const claim = cause instanceof errors.JWTClaimValidationFailed ? ` (${cause.claim})` : '';
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
