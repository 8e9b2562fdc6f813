/** `sitefleet login-link`: a URL that logs a user in once, without a password. */

import { listUsers, makeLoginLink, showUser, type UserView } from '../domain/access/users.js';
import type { Config } from '../runtime/config/types.js';
import { withUsers } from './accounts.js';
import { CommandError } from './command-error.js';
import { LINK_MS } from './first-start.js';
import { type JsonFlag, print, printJson, say } from './output.js';

/** Prints a link for the named user, or for the first one who can change things. */
export async function showLoginLink(config: Config, options: JsonFlag & { user?: string }): Promise<void> {
  await withUsers(config, async (ctx) => {
    const user = options.user ?? firstOf((await listUsers(ctx, 1, 10_000)).items);
    const link = await makeLoginLink(ctx, user, LINK_MS);
    const { id, name } = await showUser(ctx, user);
    ctx.events.emit({ name: 'user.updated', facts: { user_id: id, user_name: name, fields: ['login_link'] } });
    if (options.json === true) return printJson({ user, ...link });
    say(`Logs in once as ${user}, until ${link.expires_at}:`);
    print(link.login_link);
  });
}

function firstOf(users: readonly UserView[]): string {
  const [first] = users
    .filter(({ active }) => active)
    .sort((a, b) => Number(b.right === 'write') - Number(a.right === 'write') || a.id - b.id);
  if (first === undefined) throw new CommandError('There is no user yet. Add one first: sitefleet user add NAME');
  return first.name;
}
