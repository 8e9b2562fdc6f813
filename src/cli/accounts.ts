/** `sitefleet user …` and `sitefleet key …`. A running server notices changes within a second. */

import { text } from 'node:stream/consumers';
import type { Config } from '../config/types.js';
import { systemClock } from '../core/clock.js';
import type { KeyScope } from '../store/access/keys.js';
import type { UserRight } from '../store/access/users.js';
import { hashPassword } from '../store/vault/vault.js';
import { newPassword } from './first-start.js';
import { withDatabase } from './open-database.js';
import { print, printJson, printTable, say } from './output.js';

/** A command that cannot be carried out; reported in one line, exit code 1. */
export class CommandError extends Error {}

interface Json {
  json?: boolean;
}

export async function addUser(
  config: Config,
  name: string,
  options: Json & { readOnly?: boolean; passwordStdin?: boolean },
): Promise<void> {
  if (!/^[^\s:][^:\p{Cc}]{0,59}$/u.test(name))
    throw new CommandError('A user name has 1 to 60 characters, without a colon.');
  const password = await chosenPassword(options.passwordStdin === true);
  const rights: UserRight[] = options.readOnly === true ? ['read'] : ['read', 'write'];
  await withDatabase(config, async ({ users }) => {
    const user = await users.add({ name, password_hash: await hashPassword(password), rights, now: systemClock.now() });
    if (user === undefined)
      throw new CommandError(`There is a user ${name} already. "user password" changes the password.`);
    showPassword({ id: user.id, user: name, rights, password }, options);
  });
}

export async function changePassword(
  config: Config,
  name: string,
  options: Json & { passwordStdin?: boolean },
): Promise<void> {
  const password = await chosenPassword(options.passwordStdin === true);
  await withDatabase(config, async ({ users }) => {
    if (!(await users.setPassword(name, await hashPassword(password)))) throw noUser(name);
    showPassword({ user: name, password }, options);
  });
}

/** A given password is known to who gave it; only a made one is shown. */
async function chosenPassword(fromStdin: boolean): Promise<string> {
  if (!fromStdin) return newPassword();
  const password = (await text(process.stdin)).replace(/\r?\n$/, '');
  if (password.length < 8 || password.length > 200) throw new CommandError('A password has 8 to 200 characters.');
  return password;
}

function showPassword(
  facts: { user: string; password: string } & Record<string, unknown>,
  options: { json?: boolean; passwordStdin?: boolean },
): void {
  const { password, ...rest } = facts;
  if (options.json === true) printJson(options.passwordStdin === true ? rest : facts);
  else if (options.passwordStdin === true) say(`Stored ${facts.user}.`);
  else {
    say(`The password of ${facts.user}, shown only now:`);
    print(password);
  }
}

export async function listUsers(config: Config, options: Json): Promise<void> {
  const users = await withDatabase(config, (stores) => stores.users.list());
  if (options.json === true) printJson(users.map((user) => ({ ...user, created_at: isoTime(user.created_at) })));
  else
    printTable(
      ['ID', 'Name', 'Rights', 'Created'],
      users.map((user) => [user.id, user.name, user.rights.join(','), isoTime(user.created_at)]),
    );
}

export async function removeUser(config: Config, name: string): Promise<void> {
  const outcome = await withDatabase(config, ({ users }) => users.remove(name, true));
  if (outcome === 'absent') throw noUser(name);
  if (outcome === 'last')
    throw new CommandError(
      `${name} is the last user: nobody could log in by name any more. Add another one first: sitefleet user add NAME`,
    );
  say(`Removed ${name}.`);
}

export async function addKey(config: Config, options: Json & { scope: KeyScope; description: string }): Promise<void> {
  const { key, token } = await withDatabase(config, ({ keys }) =>
    keys.add({
      scope: options.scope,
      description: options.description,
      enabled: true,
      user_id: null,
      now: systemClock.now(),
    }),
  );
  if (options.json === true) printJson({ id: key.id, scope: key.scope, description: key.description, token });
  else {
    say(`Key ${key.id} (${key.scope}), shown only now:`);
    print(token);
  }
}

export async function listKeys(config: Config, options: Json): Promise<void> {
  const { items } = await withDatabase(config, ({ keys }) => keys.list(1, 10_000));
  const rows = items.map((key) => ({
    id: key.legacy_id ?? key.id,
    scope: key.scope,
    description: key.description,
    ends_in: key.last7,
    enabled: key.enabled,
    last_access: key.last_access === null ? null : isoTime(key.last_access),
    created_at: isoTime(key.created_at),
  }));
  if (options.json === true) printJson(rows);
  else
    printTable(
      ['ID', 'Scope', 'Description', 'Ends in', 'Enabled', 'Last used', 'Created'],
      rows.map((row) => Object.values(row)),
    );
}

export async function removeKey(config: Config, ref: string): Promise<void> {
  const outcome = await withDatabase(config, ({ keys }) =>
    keys.remove(/^\d{1,15}$/.test(ref) ? Number(ref) : ref, true),
  );
  if (outcome === 'absent') throw new CommandError(`There is no key ${ref}. "key list" shows the keys.`);
  if (outcome === 'last_writer')
    throw new CommandError(
      `Key ${ref} is the last working key that may read and write. Add another one first: sitefleet key add --scope read_write`,
    );
  say(`Removed key ${ref}.`);
}

/** For a name that no user has. */
export function noUser(name: string): CommandError {
  return new CommandError(`There is no user ${name}. "user list" shows the users.`);
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
