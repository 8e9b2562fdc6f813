/** `sitefleet login-link`: an address that logs a person in once, without a password. */

import { newToken } from '../auth/sessions.js';
import type { Config } from '../config/types.js';
import { systemClock } from '../core/clock.js';
import { reachable } from '../http/server.js';
import type { LoginLinks } from '../store/access/login-links.js';
import type { UserRight } from '../store/access/users.js';
import { hashToken } from '../store/vault/vault.js';
import { CommandError, noUser } from './accounts.js';
import { withDatabase } from './open-database.js';
import { print, printJson, say } from './output.js';

/** How long a link lasts, unless it is used before. */
export const LINK_MS = 15 * 60_000;

/** Keeps a new link of a user and answers its token, which can be read only now. Undefined: there is no such user. */
export async function newLoginLink(
  links: LoginLinks,
  user: string,
  now: number,
  ms: number,
): Promise<string | undefined> {
  const token = newToken();
  return (await links.add(hashToken(token), user, now, now + ms)) ? token : undefined;
}

/** The address to open. The token stands behind `#`, which browsers send nowhere, so no log ever holds it. */
export function loginLinkUrl(url: string, token: string): string {
  return `${url}/login#${token}`;
}

/** Prints a link for the named user, or for the first one who may change things. */
export async function showLoginLink(config: Config, options: { user?: string; json?: boolean }): Promise<void> {
  const now = systemClock.now();
  await withDatabase(config, async ({ users, loginLinks }) => {
    const user = options.user ?? firstOf(await users.list());
    const token = await newLoginLink(loginLinks, user, now, LINK_MS);
    if (token === undefined) throw noUser(user);
    const login_link = loginLinkUrl(config.base_url ?? `http://${reachable(config.host)}:${config.port}`, token);
    const expires_at = new Date(now + LINK_MS).toISOString();
    if (options.json === true) return printJson({ user, login_link, expires_at });
    say(`Logs in once as ${user}, until ${expires_at}:`);
    print(login_link);
  });
}

function firstOf(users: readonly { id: number; name: string; rights: readonly UserRight[] }[]): string {
  const [first] = [...users].sort(
    (a, b) => Number(b.rights.includes('write')) - Number(a.rights.includes('write')) || a.id - b.id,
  );
  if (first === undefined) throw new CommandError('There is no user yet. Add one first: sitefleet user add NAME');
  return first.name;
}
