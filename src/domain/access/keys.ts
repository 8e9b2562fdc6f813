/** API keys of the REST interface (REST §1, §6.1). */

import { cleanLine } from '../../../schemas/text.js';
import type { Right } from '../../runtime/actor.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { KeyChange, KeyOutcome, KeyRef, KeyRow, KeyScope } from '../../store/access/keys.js';
import type { Ctx } from '../context.js';
import { withStorageError } from '../storage-messages.js';
import { requireGrant } from './grants.js';
import { userOfCaller } from './user-of-caller.js';

/** Most characters of the description of a key. */
const DESCRIPTION = 200;

const TITLES: Record<Right, string> = { read: 'Read', write: 'Write & Delete', approve: 'Approve' };

const RIGHTS: Record<KeyScope, Right[]> = { read: ['read'], write: ['write'], read_write: ['read', 'write'] };

const rightsOf = ({ scope, approves }: Pick<KeyRow, 'scope' | 'approves'>): Right[] =>
  approves ? [...RIGHTS[scope], 'approve'] : RIGHTS[scope];

/** What adding one uses, so that a command can do it on a bare database. */
export type KeyCtx = Pick<Ctx, 'actor' | 'clock'> & {
  store: Pick<Ctx['store'], 'keys' | 'users'> & { settings: Pick<Ctx['store']['settings'], 'ownerOfKey'> };
  events: Pick<Ctx['events'], 'emit'>;
};

/** As shown to callers. `permissions` are titles for people. */
function keyView(key: KeyRow) {
  const rights = rightsOf(key);
  return {
    id: key.legacy_id ?? key.id,
    user_id: key.user_id,
    version: key.version,
    description: key.description,
    permissions: rights.map((right) => TITLES[right]),
    permissions_raw: rights.join(','),
    truncated_key: key.last7,
    active: key.enabled,
    last_access: isoTime(key.last_access),
  };
}

/** One page; a page past the end is the last one. */
export async function listKeys(ctx: Ctx, page: number, perPage: number) {
  let shown = page;
  let found = await ctx.store.keys.list(shown, perPage);
  const last = Math.max(1, Math.ceil(found.total / perPage));
  if (shown > last) {
    shown = last;
    found = await ctx.store.keys.list(shown, perPage);
  }
  return { items: found.items.map(keyView), total: found.total, page: shown };
}

/**
 * Creates a key of the caller's user; its token is returned only here. Throws `svc_rest_insufficient_permission` for a scope the caller
 * lacks.
 */
export async function addKey(
  ctx: KeyCtx,
  input: { active: boolean; scope: KeyScope; approves: boolean; description: string },
) {
  // Otherwise a write-only key could create a key that can read.
  await requireGrant(ctx, rightsOf(input), 'permissions');
  const user_id = await userOfCaller(ctx);
  const { key, token } = await withStorageError('create_key_failed', 'The key was not stored.', () =>
    ctx.store.keys.add({
      scope: input.scope,
      approves: input.approves,
      description: cleanLine(input.description, DESCRIPTION),
      enabled: input.active,
      user_id,
      now: ctx.clock.now(),
    }),
  );
  ctx.events.emit({ name: 'key.created', facts: { key_id: key.id, scope: key.scope, by: ctx.actor.name } });
  return { token, id: key.id, data: keyView(key) };
}

/** Throws `api_key_not_found`, `svc_rest_insufficient_permission`, `svc_rest_conflict` (last key that can read and write). */
export async function changeKey(ctx: Ctx, ref: KeyRef, change: KeyChange) {
  const { scope, approves } = { ...(await known(ctx, ref)), ...definedOf(change) };
  await requireGrant(ctx, rightsOf({ scope, approves }), 'permissions');
  const outcome = await withStorageError('update_key_failed', 'The key was not changed.', () =>
    ctx.store.keys.change(ref, { ...change, ...described(change) }, true),
  );
  requireDone(outcome, ref);
  const key = await ctx.store.keys.find(ref);
  if (key === undefined) throw notFound(ref);
  const fields = Object.keys(change).filter((name) => change[name as keyof KeyChange] !== undefined);
  ctx.events.emit({ name: 'key.updated', facts: { key_id: key.id, fields, by: ctx.actor.name } });
  return keyView(key);
}

/** The log names a key by its description: without what turns or hides text. */
function described({ description }: KeyChange): KeyChange {
  return description === undefined ? {} : { description: cleanLine(description, DESCRIPTION) };
}

/** The given members. */
function definedOf<T extends object>(change: T): Partial<{ [K in keyof T]: NonNullable<T[K]> }> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<{
    [K in keyof T]: NonNullable<T[K]>;
  }>;
}

/** Returns the removed key. Throws as `changeKey`. */
export async function removeKey(ctx: Ctx, ref: KeyRef) {
  const key = await known(ctx, ref);
  const outcome = await withStorageError('delete_key_failed', 'The key was not deleted.', () =>
    ctx.store.keys.remove(ref, true),
  );
  requireDone(outcome, ref);
  ctx.events.emit({ name: 'key.deleted', facts: { key_id: key.id, by: ctx.actor.name } });
  return keyView(key);
}

/** Throws as `changeKey`. */
export async function showKey(ctx: Ctx, ref: KeyRef) {
  // Each call with the key changes when it was last used: that is no part of what is approved.
  const { last_access: _, ...key } = keyView(await known(ctx, ref));
  return key;
}

/** A key that the caller may change or remove: one with no more rights than the caller. */
async function known(ctx: Ctx, ref: KeyRef): Promise<KeyRow> {
  const key = await ctx.store.keys.find(ref);
  if (key === undefined) throw notFound(ref);
  await requireGrant(ctx, rightsOf(key), 'key_identifier');
  return key;
}

function requireDone(outcome: KeyOutcome, ref: KeyRef): void {
  if (outcome === 'done') return;
  if (outcome === 'absent') throw notFound(ref);
  throw new ServiceError(
    'svc_rest_conflict',
    'This is the last working key that may read and write, or the last that may write: without it, keys could no longer be created through this interface.',
    { field: 'key_identifier', advice: 'Create another key with the permissions read,write first.' },
  );
}

function notFound(ref: KeyRef): ServiceError {
  return new ServiceError('api_key_not_found', `There is no API key ${JSON.stringify(ref)}.`, {
    field: 'key_identifier',
    advice: 'Find the right one with GET /v2/rest-api/keys.',
  });
}
