/** Routes of the users who log in to this service, not of the users of a site (REST §7.3). */

import { z } from '../../../../schemas/zod.js';
import { addUser, changeUser, listUsers, removeUser, showUser, withKeys } from '../../../domain/access/users.js';
import { once } from '../../../runtime/once.js';
import { flag, int, paging } from '../params.js';
import { listRoute, type Route, route } from '../route.js';
import { listOf, userShape, writtenOf } from '../schemas/records.js';

const approves = once(() =>
  flag().describe('Whether the user may let changes happen that wait for approval; only people can grant this.'),
);
const right = once(() => z.enum(['read', 'write']).describe('write may also read.'));
/** Validated by the verb. Never returned. */
const password = once(() => z.string().describe('8 to 200 characters.'));
const path = once(() => ({ user_id: int(1).describe('Number of the user.') }));
const where = { user_id: /^[1-9]\d{0,14}$/ };
const withLink = once(() =>
  writtenOf(userShape()).extend({
    login_link: z.string().optional().describe('Logs in once. Shown only here.'),
    expires_at: z.string().optional().describe('When the link expires.'),
  }),
);
const LINK =
  'the answer contains a link that logs in once, within a day; the person who opens it chooses their own password.';

/** Not in the routes document. */
export const users: readonly Route[] = [
  listRoute({
    on: 'GET /users',
    summary: 'List users: people who log in to Sitefleet',
    params: () => z.object(paging(50, 200)),
    returns: () => listOf(userShape()),
    list: ({ page, per_page }, ctx) => listUsers(ctx, page, per_page),
  }),
  route({
    on: 'POST /users/add',
    change: 'users',
    body: 'required',
    changesLogins: true,
    fails: [409],
    summary: 'Create a user',
    description: `Without a password ${LINK} No caller can grant a right it does not have.`,
    params: () =>
      z.object({
        name: z.string().describe('1 to 60 characters, without a colon; case-insensitive.'),
        right: right(),
        may_approve: approves().default(false),
        password: password().nullable().default(null),
      }),
    returns: withLink,
    answer: async (input, ctx) => ({ message: 'The user was created.', ...(await addUser(ctx, input)) }),
  }),
  route({
    on: 'PUT|PATCH /users/{user_id}/edit',
    change: 'users',
    body: 'required',
    changesLogins: true,
    where,
    fails: [404, 409],
    plan: async ({ user_id }, ctx) => ({ user: await showUser(ctx, user_id) }),
    summary: 'Change a user',
    description: `Ends the user's sessions and links. API keys that the user made can do no more than the user. With password null, the password is removed as well, and ${LINK} The last user who may make changes cannot lose that right.`,
    params: () =>
      z.object({
        ...path(),
        right: right().optional(),
        may_approve: approves().optional(),
        password: password().nullable().optional(),
        active: flag().optional().describe('Whether the user may log in.'),
      }),
    returns: withLink,
    answer: async ({ user_id, ...change }, ctx) => ({
      message: 'The user was changed.',
      ...(await changeUser(ctx, user_id, change)),
    }),
  }),
  route({
    on: 'DELETE /users/{user_id}/delete',
    change: 'users',
    changesLogins: true,
    where,
    fails: [404, 409],
    plan: async ({ user_id }, ctx) => ({ user: await showUser(ctx, user_id) }),
    summary: 'Delete a user',
    description:
      "Ends the user's sessions and links, and deletes the API keys that the user made. The last user who may make changes cannot be deleted.",
    params: () => z.object(path()),
    returns: () => writtenOf(userShape()),
    answer: async ({ user_id }, ctx) => {
      const data = await removeUser(ctx, user_id);
      return { message: `The user was deleted${withKeys(data)}.`, data };
    },
  }),
];
