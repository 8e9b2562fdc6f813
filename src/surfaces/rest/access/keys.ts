/** Routes of the API keys (REST §6.1). */

import { z } from '../../../../schemas/zod.js';
import { addKey, changeKey, listKeys, removeKey, showKey } from '../../../domain/access/keys.js';
import { once } from '../../../runtime/once.js';
import type { KeyScope } from '../../../store/access/keys.js';
import { invalidParam } from '../parameter-errors.js';
import { flag, paging, text } from '../params.js';
import { type Route, route } from '../route.js';
import { keyShape, listOf, writtenOf } from '../schemas/records.js';

const identifier = once(() => ({
  key_identifier: z.string().describe('Number of the key, or ck_… of a legacy key.'),
}));
const where = { key_identifier: /^(?:[1-9]\d{0,14}|ck_[0-9a-f]{40})$/ };

const permissions = once(() =>
  text(60).describe(
    'read, write and approve, comma-separated. write includes deleting; approve includes read, and only people can grant it.',
  ),
);
const description = once(() => text(200).nullable().describe('What the key is for.'));

const example = {
  id: 3,
  user_id: null,
  version: 'v2',
  description: 'Reporting',
  permissions: ['Read'],
  permissions_raw: 'read',
  truncated_key: '90ab12f',
  active: true,
  last_access: '2026-11-20T12:00:00Z',
};

export const keys: readonly Route[] = [
  route({
    on: 'GET /rest-api/keys',
    summary: 'List API keys',
    description:
      'Legacy keys first, then the newest. Tokens are never shown again. A page past the end is the last one.',
    params: () => z.object(paging(20, 200)),
    example: { total: 1, page: 1, per_page: 20, pages: 1, data: [example] },
    returns: () => listOf(keyShape()),
    answer: async ({ page, per_page }, ctx) => {
      const { items, total, page: shown } = await listKeys(ctx, page, per_page);
      return { total, page: shown, per_page, data: items };
    },
  }),
  route({
    on: 'POST /rest-api/add-key',
    change: 'users',
    body: 'required',
    changesLogins: true,
    summary: 'Create an API key',
    description: 'The token is shown only in this answer. A key cannot grant a permission it does not have.',
    params: () =>
      z.object({
        active: flag().describe('Whether the key is active right away.'),
        permissions: permissions(),
        description: description().default(''),
      }),
    example: { message: 'The key was created.', token: '<ACCESS_TOKEN>', id: 3, data: example },
    returns: () =>
      writtenOf(keyShape()).extend({ token: z.string().describe('Shown only here.'), id: z.number().int() }),
    answer: async ({ active, permissions: asked, description: about }, ctx) => {
      const made = await addKey(ctx, { active, ...scopeOf(asked), description: about ?? '' });
      return { message: 'The key was created. Keep its token: it is not shown again.', ...made };
    },
  }),
  route({
    on: 'PUT|PATCH /rest-api/edit-key/{key_identifier}',
    change: 'users',
    body: 'required',
    changesLogins: true,
    where,
    summary: 'Change an API key',
    description:
      'Takes effect with the next request. A key cannot change one whose permissions it lacks. The last working key with the permissions read and write cannot lose them.',
    params: () =>
      z.object({
        ...identifier(),
        active: flag().optional(),
        permissions: permissions().optional(),
        description: description().optional(),
      }),
    example: { message: 'The key was changed.', data: example },
    returns: () => writtenOf(keyShape()),
    plan: async ({ key_identifier }, ctx) => ({ key: await showKey(ctx, refOf(key_identifier)) }),
    answer: async ({ key_identifier, active, permissions: asked, description: about }, ctx) => {
      const data = await changeKey(ctx, refOf(key_identifier), {
        enabled: active,
        ...(asked === undefined ? {} : scopeOf(asked)),
        description: about === undefined ? undefined : (about ?? ''),
      });
      return { message: 'The key was changed.', data };
    },
  }),
  route({
    on: 'DELETE /rest-api/delete-key/{key_identifier}',
    change: 'users',
    changesLogins: true,
    where,
    summary: 'Delete an API key',
    description:
      'A key cannot delete one whose permissions it lacks. The last working key with the permissions read and write cannot be deleted.',
    params: () => z.object(identifier()),
    example: { message: 'The key was deleted.', data: example },
    returns: () => writtenOf(keyShape()),
    plan: async ({ key_identifier }, ctx) => ({ key: await showKey(ctx, refOf(key_identifier)) }),
    answer: async ({ key_identifier }, ctx) => ({
      message: 'The key was deleted.',
      data: await removeKey(ctx, refOf(key_identifier)),
    }),
  }),
];

/** Any of `read`, `write`, `approve` in any order; anything else is refused. */
function scopeOf(text_: string): { scope: KeyScope; approves: boolean } {
  const parts = new Set(text_.split(',').map((part) => part.trim().toLowerCase()));
  const approves = parts.delete('approve');
  const write = parts.delete('write');
  // What waits can be judged only by reading it.
  const read = parts.delete('read') || approves;
  if (parts.size > 0 || !(read || write))
    throw invalidParam('permissions', 'must be read, write or approve, or several of them separated by commas');
  return { scope: read && write ? 'read_write' : read ? 'read' : 'write', approves };
}

function refOf(identifier_: string): number | string {
  return identifier_.startsWith('ck_') ? identifier_ : Number(identifier_);
}
