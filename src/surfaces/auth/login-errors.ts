/** Errors for refused logins, with advice (REST §1.4). */

import { ServiceError } from '../../runtime/errors.js';

export function loginNeeded(): ServiceError {
  return new ServiceError('svc_permission_denied', 'A login is needed.', {
    status: 401,
    advice: 'Send HTTP Basic credentials: the user name and password of a Sitefleet user.',
  });
}

export function wrongLogin(): ServiceError {
  return new ServiceError('svc_permission_denied', 'The user name or the password is wrong.', {
    status: 401,
    advice: 'Check both. "sitefleet user list" shows the users of this server.',
  });
}

export function tokenNeeded(): ServiceError {
  return new ServiceError('svc_rest_authentication_error', 'An API key is needed.', {
    advice: 'Send the header "Authorization: Bearer <token>". "sitefleet key add" creates one.',
  });
}

export function tokenIncomplete(): ServiceError {
  return new ServiceError('svc_rest_authentication_missing_parameter', 'The API key is incomplete.', {
    advice: 'Send the whole token as it was shown: two parts of 40 characters joined by "==".',
  });
}

/** For an access token of an authorization server where only API keys are accepted. */
export function accessTokenMisplaced(): ServiceError {
  return new ServiceError(
    'svc_rest_authentication_error',
    'This is an access token, but an API key is required here.',
    {
      advice:
        'Send an API key: "sitefleet key add" creates one. Access tokens are for /mcp, where SITEFLEET_OAUTH_ISSUER is set.',
    },
  );
}

export function wrongToken(): ServiceError {
  return new ServiceError('svc_rest_authentication_error', 'The API key is not valid.', {
    advice: 'Check the token. "sitefleet key list" shows the keys of this server.',
  });
}

export function disabledKey(): ServiceError {
  return new ServiceError('svc_rest_authentication_disabled_key', 'This API key is disabled.', {
    advice: 'Enable it, or use another key.',
  });
}

export function plainHttp(): ServiceError {
  return new ServiceError('svc_rest_authentication_bad_request', 'An API key is only accepted over HTTPS.', {
    advice: 'Use https://, or a loopback address. Behind a TLS proxy set SITEFLEET_TRUST_PROXY=1.',
  });
}

export function tooManyRequests(waitMs: number): ServiceError {
  const seconds = Math.ceil(waitMs / 1000);
  return new ServiceError('svc_rest_too_many_requests', 'Too many failed logins from this address.', {
    advice: `Try again in ${seconds} s.`,
    data: { retry_after: seconds },
  });
}

export function waitingLogins(): ServiceError {
  return new ServiceError('svc_rest_too_many_requests', 'Too many logins are being checked right now.', {
    advice: 'Try again in 2 s.',
    data: { retry_after: 2 },
  });
}

/** For a link that was used, has expired, or never existed. */
export function deadLink(): ServiceError {
  return new ServiceError('svc_permission_denied', 'This login link was already used or has expired.', {
    status: 401,
    advice: '"sitefleet login-link" creates a new one.',
  });
}

/** For a logged-in user who gives a wrong current password. */
export function wrongPassword(): ServiceError {
  return new ServiceError('svc_permission_denied', 'The current password is wrong. Nothing changed.', {
    field: 'current_password',
    advice: 'Someone who manages users can set a new one.',
  });
}

/** For a password that was replaced by another call, or a user who was disabled, while this call was running. */
export function changedMeanwhile(): ServiceError {
  return new ServiceError('svc_rest_conflict', 'The login was changed by another call in the meantime.', {
    advice: 'Log in again.',
  });
}

export function sessionEnded(): ServiceError {
  return new ServiceError('svc_rest_authentication_error', 'The session has ended.', { advice: 'Log in again.' });
}

/** For a password or a cookie sent over an unencrypted connection. */
export function plainLogin(): ServiceError {
  return new ServiceError('svc_rest_authentication_bad_request', 'Browsers can log in only over HTTPS.', {
    advice: 'Use https://, or a loopback address. Behind a TLS proxy set SITEFLEET_TRUST_PROXY=1.',
  });
}

/** For a change sent with the cookie alone, as a page of another origin could do. */
export function forgeable(what: 'Origin' | 'X-Sitefleet-CSRF'): ServiceError {
  const fault = what === 'Origin' ? 'its Origin is not this server' : 'its X-Sitefleet-CSRF does not match the session';
  return new ServiceError('svc_csrf_refused', `This change came with a session cookie, but ${fault}.`, {
    advice: 'Reload the page. Programs should send an API key instead of a cookie.',
  });
}

/** For what may approve, over MCP, while it cannot be stored that it is an assistant's. */
export function unmarked(cause: unknown): ServiceError {
  return new ServiceError(
    'svc_storage_unavailable',
    'This login may approve, which no assistant may; that an assistant uses it could not be stored.',
    { advice: 'Try again in a minute, or use a login without that right.', cause },
  );
}
