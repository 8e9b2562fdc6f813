/** Users: people who log in with a name and a password, or once by a link (REST §7.3). */

import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import { requirePassword } from '../../runtime/password.js';
import { setFields } from '../../runtime/set-fields.js';
import type { UserOutcome, UserRef, UserRight, UserRow } from '../../store/access/users.js';
import type { Store } from '../../store/store.js';
import type { Ctx } from '../context.js';
import { requireGrant } from './grants.js';

/** What these verbs use, so that commands can run them on a bare database. */
export type UserCtx = Pick<Ctx, 'actor' | 'base_url' | 'clock'> & {
  store: Pick<Store, 'loginLinks' | 'users'>;
  events: Pick<Ctx['events'], 'emit'>;
};

export type UserView = ReturnType<typeof userView>;

/** A link that logs in once. The token follows `#`, which browsers send to no server, so it never appears in logs. */
interface LoginLink {
  login_link: string;
  /** ISO 8601. */
  expires_at: string;
}

/** Lifetime of a link that is sent to someone, unless it is used before. */
const INVITATION_MS = 24 * 3600_000;
/** What a user may do with the records; the right to approve comes besides. */
export type Level = 'read' | 'write';

const RIGHTS: Record<Level, UserRight[]> = { read: ['read'], write: ['read', 'write'] };

const rightsWith = (level: Level, approves: boolean): UserRight[] =>
  approves ? [...RIGHTS[level], 'approve'] : RIGHTS[level];

const levelOf = (rights: readonly UserRight[]): Level => (rights.includes('write') ? 'write' : 'read');

/** As shown to callers. Without a password, only a login link lets the user in, until one is chosen. */
function userView({ id, name, rights, enabled, has_password, api_keys, created_at }: UserRow) {
  const may_approve = rights.includes('approve');
  return {
    id,
    name,
    right: levelOf(rights),
    may_approve,
    active: enabled,
    has_password,
    api_keys,
    created: isoTime(created_at),
  };
}

/** One page, by name. */
export async function listUsers(ctx: Pick<UserCtx, 'store'>, page: number, perPage: number) {
  const { items, total } = await ctx.store.users.list(page, perPage);
  return { items: items.map(userView), total };
}

/** Throws `svc_user_not_found`. */
export async function showUser(ctx: UserCtx, ref: UserRef): Promise<UserView> {
  return userView(await known(ctx, ref));
}

interface NewUser {
  name: string;
  right: Level;
  may_approve?: boolean | undefined;
  /** Null for none: the answer has a link, and the person who opens it chooses a password. */
  password: string | null;
}

/** Throws `svc_invalid_input`, `svc_already_exists`, `svc_rest_insufficient_permission`. */
export async function addUser(ctx: UserCtx, input: NewUser): Promise<{ data: UserView } & Partial<LoginLink>> {
  const { name, right, may_approve = false, password } = input;
  const rights = rightsWith(right, may_approve);
  await requireGrant(ctx, rights, 'right');
  requireName(name);
  const { users } = ctx.store;
  const password_hash = await hashOf(ctx, password);
  const user = await users.add({ name, password_hash, rights, now: ctx.clock.now() });
  if (user === undefined)
    throw new ServiceError('svc_already_exists', `There is a user ${JSON.stringify(name)} already. Nothing changed.`, {
      field: 'name',
      advice: 'Choose another name, or change the user.',
    });
  ctx.events.emit({ name: 'user.created', facts: { user_id: user.id, user_name: user.name, right } });
  const link = password === null ? await makeLoginLink(ctx, user.id, INVITATION_MS) : {};
  return { data: userView(user), ...link };
}

interface UserChange {
  right?: Level | undefined;
  may_approve?: boolean | undefined;
  /** Null removes it: the answer has a link, and the person who opens it chooses a new one. */
  password?: string | null | undefined;
  active?: boolean | undefined;
}

/**
 * Changes a user and ends their sessions and links. Throws `svc_user_not_found`, `svc_invalid_input`,
 * `svc_rest_insufficient_permission`, `svc_rest_conflict` (the last user who can change anything; a link for a disabled
 * user).
 */
export async function changeUser(
  ctx: UserCtx,
  ref: UserRef,
  { right, may_approve, password, active }: UserChange,
): Promise<{ data: UserView } & Partial<LoginLink>> {
  const before = await known(ctx, ref);
  // A caller who sets a password can log in as that user: this must not lead to a right that the caller lacks.
  const rights = rightsWith(right ?? levelOf(before.rights), may_approve ?? before.rights.includes('approve'));
  await requireGrant(ctx, [...before.rights, ...rights], 'user_id');
  if (password === null && !(active ?? before.enabled)) throw switchedOff(before.name);
  const change = {
    rights: right === undefined && may_approve === undefined ? undefined : rights,
    password_hash: password === undefined ? undefined : await hashOf(ctx, password),
    enabled: active,
  };
  requireDone(await ctx.store.users.change(before.id, change, true), before.name);
  const fields = setFields({ right, may_approve, password, active });
  ctx.events.emit({ name: 'user.updated', facts: { user_id: before.id, user_name: before.name, fields } });
  const link = password === null ? await makeLoginLink(ctx, before.id, INVITATION_MS) : {};
  return { data: userView(await known(ctx, before.id)), ...link };
}

/** Removes a user with the API keys that the user made; returns the user with their number. Throws as `changeUser`. */
export async function removeUser(ctx: UserCtx, ref: UserRef): Promise<UserView> {
  const user = await known(ctx, ref);
  await requireGrant(ctx, user.rights, 'user_id');
  const { outcome, api_keys } = await ctx.store.users.remove(user.id, true);
  requireDone(outcome, user.name);
  ctx.events.emit({ name: 'user.deleted', facts: { user_id: user.id, user_name: user.name } });
  return userView({ ...user, api_keys });
}

/** How many keys went with a user, in words to follow: `, with 2 API keys`; '' for none. */
export function withKeys({ api_keys }: Pick<UserView, 'api_keys'>): string {
  return api_keys === 0 ? '' : `, with ${api_keys} API key${api_keys === 1 ? '' : 's'}`;
}

/**
 * Throws `svc_user_not_found`, and `svc_rest_conflict` for a disabled user. @param ms lifetime, unless it is used
 * before
 */
export async function makeLoginLink(ctx: UserCtx, ref: UserRef, ms: number): Promise<LoginLink> {
  const now = ctx.clock.now();
  const token = await ctx.store.loginLinks.add(ref, now, now + ms);
  if (token === undefined) throw switchedOff((await known(ctx, ref)).name);
  return { login_link: loginLinkUrl(ctx.base_url, token), expires_at: new Date(now + ms).toISOString() };
}

/** The URL to open for the token of a link. */
export function loginLinkUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/login#${token}`;
}

/** Two names that look alike would be one in the log. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

function requireName(name: string): void {
  if (/^(?=.{1,60}$)[^\s:](?:[^:]*[^\s:])?$/u.test(name) && !HIDDEN.test(name)) return;
  const rule = 'A user name has 1 to 60 characters, without a colon or what cannot be seen. Nothing changed.';
  throw new ServiceError('svc_invalid_input', rule, {
    field: 'name',
    advice: 'Choose another one.',
  });
}

async function hashOf(ctx: UserCtx, password: string | null): Promise<string> {
  if (password === null) return '';
  requirePassword(password);
  return ctx.store.users.hash(password);
}

async function known(ctx: UserCtx, ref: UserRef): Promise<UserRow> {
  const user = await ctx.store.users.find(ref);
  if (user === undefined) throw noUser(ref);
  return user;
}

function requireDone(outcome: UserOutcome, name: string): void {
  if (outcome === 'done') return;
  if (outcome === 'absent') throw noUser(name);
  throw new ServiceError(
    'svc_rest_conflict',
    `${JSON.stringify(name)} is the last user who may make changes: no other user could add users. Nothing changed.`,
    {
      field: 'user_id',
      advice: 'Add another user with the right write first (POST /v2/users/add, or "sitefleet user add").',
    },
  );
}

function noUser(ref: UserRef): ServiceError {
  return new ServiceError('svc_user_not_found', `There is no user ${JSON.stringify(ref)}.`, {
    field: 'user_id',
    advice: 'GET /v2/users, or "sitefleet user list", shows the users.',
  });
}

function switchedOff(name: string): ServiceError {
  return new ServiceError('svc_rest_conflict', `The user ${JSON.stringify(name)} is disabled. Nothing changed.`, {
    field: 'active',
    advice: 'Enable the user first.',
  });
}
