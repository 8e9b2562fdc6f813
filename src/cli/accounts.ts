/** `sitefleet user …` and `sitefleet key …`. A running server notices changes within a second. */

import { text } from 'node:stream/consumers';
import * as keys from '../domain/access/keys.js';
import * as users from '../domain/access/users.js';
import { systemClock } from '../runtime/clock.js';
import type { Config } from '../runtime/config/types.js';
import type { KeyScope } from '../store/access/keys.js';
import { createLeases, SERVED } from '../store/cluster/leases.js';
import { reachable } from '../surfaces/http/server.js';
import { CommandError } from './command-error.js';
import { newPassword } from './first-start.js';
import { localActor } from './local-actor.js';
import { withDatabase } from './open-database.js';
import { isoTime, type JsonFlag, print, printJson, printTable, say } from './output.js';

/** As these commands have always printed them. */
function rightsOf({ right, may_approve }: Pick<users.UserView, 'right' | 'may_approve'>): string[] {
  return ['read', ...(right === 'write' ? ['write'] : []), ...(may_approve ? ['approve'] : [])];
}

export async function addUser(
  config: Config,
  name: string,
  options: JsonFlag & { readOnly?: boolean; approve?: boolean; passwordStdin?: boolean },
): Promise<void> {
  const password = await chosenPassword(options.passwordStdin === true);
  const right = options.readOnly === true ? 'read' : 'write';
  const { data } = await withUsers(config, (ctx) =>
    users.addUser(ctx, { name, right, may_approve: options.approve, password }),
  );
  showPassword({ id: data.id, user: data.name, rights: rightsOf(data), password }, options);
}

/** Changes an existing user. Sessions and login links of that user end. */
export async function changeUser(
  config: Config,
  name: string,
  { right, approve, on, off }: { right?: users.Level; approve?: boolean; on?: boolean; off?: boolean },
): Promise<void> {
  if (on === true && off === true) throw new CommandError('--on and --off contradict each other.');
  const active = on === true ? true : off === true ? false : undefined;
  if (right === undefined && approve === undefined && active === undefined)
    throw new CommandError('Say what to change: --right, --approve, --no-approve, --on or --off.');
  const change = { right, may_approve: approve, active };
  const { data } = await withUsers(config, (ctx) => users.changeUser(ctx, name, change));
  const may = `may ${data.right === 'write' ? 'make changes' : 'only look'}${data.may_approve ? ', and approve' : ''}`;
  say(`${data.name} ${data.active ? may : 'is disabled'}.`);
}

export async function changePassword(
  config: Config,
  name: string,
  options: JsonFlag & { passwordStdin?: boolean },
): Promise<void> {
  const password = await chosenPassword(options.passwordStdin === true);
  const { data } = await withUsers(config, (ctx) => users.changeUser(ctx, name, { password }));
  showPassword({ user: data.name, password }, options);
}

/** A given password is known to the caller; only a generated one is shown. */
async function chosenPassword(fromStdin: boolean): Promise<string> {
  if (!fromStdin) return newPassword();
  return (await text(process.stdin)).replace(/\r?\n$/, '');
}

function showPassword(
  facts: { user: string; password: string } & Record<string, unknown>,
  options: JsonFlag & { passwordStdin?: boolean },
): void {
  const { password, ...rest } = facts;
  if (options.json === true) printJson(options.passwordStdin === true ? rest : facts);
  else if (options.passwordStdin === true) say(`Stored ${facts.user}.`);
  else {
    say(`The password of ${facts.user}, shown only once:`);
    print(password);
  }
}

export async function listUsers(config: Config, options: JsonFlag): Promise<void> {
  const { items } = await withUsers(config, (ctx) => users.listUsers(ctx, 1, 10_000));
  const rows = items.map(({ right, may_approve, created, ...user }) => ({
    ...user,
    rights: rightsOf({ right, may_approve }),
    created_at: created,
  }));
  if (options.json === true) printJson(rows);
  else
    printTable(
      ['ID', 'Name', 'Rights', 'Active', 'Password', 'Created'],
      rows.map((user) => [
        user.id,
        user.name,
        user.rights.join(','),
        user.active ? 'yes' : 'no',
        user.has_password ? 'yes' : 'no',
        user.created_at,
      ]),
    );
}

export async function removeUser(config: Config, name: string): Promise<void> {
  const removed = await withUsers(config, (ctx) => users.removeUser(ctx, name));
  say(`Removed ${removed.name}${users.withKeys(removed)}.`);
}

/** Works on users in a bare database. Shell access to the server is trusted, and has no caller to name. */
export function withUsers<T>(config: Config, work: (ctx: users.UserCtx) => Promise<T>): Promise<T> {
  return withDatabase(config, async (store) =>
    work({
      store,
      clock: systemClock,
      events: store.events,
      actor: localActor('cli'),
      base_url:
        config.base_url ??
        (await createLeases(store.db).owner(SERVED, systemClock.now())) ??
        `http://${reachable(config.host)}:${config.port}`,
    }),
  );
}

export async function addKey(
  config: Config,
  options: JsonFlag & { scope: KeyScope; approve?: boolean; description: string },
): Promise<void> {
  const { scope, approve: approves = false } = options;
  const { id, data, token } = await withDatabase(config, (store) =>
    keys.addKey(
      {
        // A key that is made here is no user's.
        store: { ...store, settings: { ownerOfKey: async () => null } },
        events: store.events,
        clock: systemClock,
        actor: localActor('cli'),
      },
      { scope, approves, description: options.description, active: true },
    ),
  );
  if (options.json === true) printJson({ id, scope, approves, description: data.description, token });
  else {
    say(`Key ${id} (${scope}), shown only once:`);
    print(token);
  }
}

export async function listKeys(config: Config, options: JsonFlag): Promise<void> {
  const { items } = await withDatabase(config, ({ keys }) => keys.list(1, 10_000));
  const rows = items.map((key) => ({
    id: key.legacy_id ?? key.id,
    scope: key.approves ? `${key.scope},approve` : key.scope,
    description: key.description,
    ends_in: key.last7,
    enabled: key.enabled,
    last_access: isoTime(key.last_access),
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
  const outcome = await withDatabase(config, async ({ keys, events }) => {
    const key = await keys.find(/^\d{1,15}$/.test(ref) ? Number(ref) : ref);
    if (key === undefined) return 'absent';
    const removed = await keys.remove(key.id, true);
    if (removed === 'done') events.emit({ name: 'key.deleted', facts: { key_id: key.id, by: localActor('cli').name } });
    return removed;
  });
  if (outcome === 'absent') throw new CommandError(`There is no key ${ref}. "key list" shows the keys.`);
  if (outcome === 'last_writer')
    throw new CommandError(
      `Key ${ref} is the last working key that may read and write. Add another one first: sitefleet key add --scope read_write`,
    );
  say(`Removed key ${ref}.`);
}
