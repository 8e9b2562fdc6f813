import { randomBytes } from 'node:crypto';
import type { UserState } from './state.js';

const KEPT_SECRETS = 5;

/** A new secret of the user; the newest five stay valid, across `disconnect` and `deactivate` (child protocol §3.2). */
export function issueSecret(user: UserState): string {
  const secret = `${randomBytes(20).toString('hex')}-${randomBytes(20).toString('hex')}`;
  user.regverify.push(secret);
  if (user.regverify.length > KEPT_SECRETS) user.regverify.shift();
  return secret;
}

export function knowsSecret(user: UserState | undefined, secret: string): boolean {
  return secret !== '' && user !== undefined && user.regverify.includes(secret);
}
