/** Keys and users that tests log in with. */

import type { Keys } from '../../src/store/access/keys.js';
import type { Users } from '../../src/store/access/users.js';
import type { Sessions } from '../../src/surfaces/auth/sessions.js';
import type { RequestInfo } from '../../src/surfaces/http/request-info.js';
import { cheapHash } from './cheap-hash.js';

/** A new key, by default one of no user that may read and write. */
export function newKey(keys: Keys, given: Partial<Parameters<Keys['add']>[0]> = {}): ReturnType<Keys['add']> {
  return keys.add({ scope: 'read_write', description: 'test', enabled: true, user_id: null, now: 0, ...given });
}

/** A new user who may read and write. */
export function newUser(users: Users, name: string, password: string): ReturnType<Users['add']> {
  return users.add({ name, password_hash: cheapHash(password), rights: ['read', 'write'], now: 0 });
}

/** The headers of a browser in which a new user has logged in to the page. */
export async function newSession(users: Users, sessions: Sessions, name: string): Promise<Record<string, string>> {
  await newUser(users, name, 'correct horse');
  const info = { secure: true, address: '127.0.0.1' } as unknown as RequestInfo;
  const { cookie, csrf } = await sessions.login(info, name, 'correct horse');
  return { Cookie: `sitefleet_session=${cookie}`, Origin: 'http://127.0.0.1', 'X-Sitefleet-CSRF': csrf };
}
