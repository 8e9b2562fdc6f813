/** Entries of the action log. */

import { once } from '../src/runtime/once.js';
import { called, siteRef, timestamp } from './common.js';
import { listOrOne, logWords } from './search.js';
import { z } from './zod.js';
import { integerOrText } from './zod-internals.js';

export const WAYS_IN = ['mcp', 'run', 'rest', 'cli', 'jobs'] as const;

const entryShape = once(() =>
  z.object({
    id: z.number().int().describe('Without gaps.'),
    at: timestamp(),
    actor: z.string(),
    actor_id: z.number().int().nullable(),
    actor_type: z.string().describe('user, key, token, local or system.'),
    via: z.string(),
    client: z.string().describe('The program that called, as it names itself.'),
    operation: z.string(),
    request_id: z.string(),
    site_id: z.number().int().nullable(),
    context: z.string().describe('call = the call as a whole; otherwise what it acted on.'),
    action: z.string(),
    slug: z.string(),
    name: z.string(),
    detail: z.string(),
    old_version: z.string(),
    new_version: z.string(),
    code: z.string().describe("'' = done; otherwise why not."),
    input: z.string().describe('JSON of the input, without secrets.'),
    hash: z.string().describe('Of the entry and the previous hash.'),
  }),
);

export const actionShape = once(() =>
  entryShape().extend({
    can_undo: z.boolean().nullable().describe('By its kind and what the log keeps; null = a call: see its preview.'),
    cannot_undo_because: z.string().optional(),
    undoes: z.array(z.number().int()).describe('Entries it undid.'),
  }),
);

/**
 * As lists of an assistant have it: members that are empty are left out, and a long input is cut. What is always there is
 * declared first.
 */
export const actionRow = once(() => {
  const { id, at, context, action, ...others } = actionShape().shape;
  return z.object({ id, at, context, action }).extend(z.object(others).partial().shape);
});

/** As it is stored, so that its hash can be verified. */
export const storedActionShape = once(() =>
  entryShape().extend({
    at: z.number().int().describe('Milliseconds.'),
    fields: z.string().describe('JSON: each field before and after.'),
    undoes: z.string().describe('Ids of entries that it undid.'),
    previous: z.string().describe('The hash of the previous entry.'),
  }),
);

export const headShape = once(() =>
  z.object({ id: z.number().int(), hash: z.string() }).nullable().describe('The end of the log; null = it is empty.'),
);

const time = () => z.string().trim().max(40).optional();

/** By what entries of the log are chosen. */
export const actionFilters = once(() => ({
  since: time().describe('ISO 8601; default: 7 days before until.'),
  until: time().describe('Default: now.'),
  site_id_or_domain: siteRef().optional(),
  operation: called().optional().describe('Such as svc/run-updates-v1.'),
  request_id: called().optional().describe('All of one call.'),
  by: called().optional().describe('Part of the name of who did it.'),
  via: listOrOne(z.enum(WAYS_IN)).default([]).describe('Ways in.'),
  contexts: logWords().describe('call, plugin, theme, core, site, client, tag, user, key, …'),
  result: z.enum(['done', 'failed']).optional().describe('Omit for both.'),
}));
export type ActionFilters = z.output<z.ZodObject<ReturnType<typeof actionFilters>>>;

/** By what changes of the fleet are chosen. */
export const changeFilters = once(() => ({
  since: time().describe('ISO 8601; default: 30 days before until.'),
  until: time().describe('ISO 8601; default: now.'),
  site_id_or_domain: siteRef().optional(),
  client_id_or_email: integerOrText().optional().describe('Sites of this client.'),
  tag: integerOrText().optional().describe('Sites with this tag: id or name.'),
  by: called().optional().describe('Part of the name of who did it.'),
  kinds: logWords().describe('plugin, theme, core, user, post, site, setting, client, tag, …'),
  exclude_kinds: logWords().describe('Kinds or actions, such as login.'),
  actions: logWords().describe('updated, activated, installed, deleted, role-changed, …'),
  item: called().optional().describe('Part of a name or slug.'),
  new_role: called().optional().describe('Users who got this role, such as administrator.'),
  result: z.enum(['done', 'failed']).optional().describe('Omit for both.'),
  via: listOrOne(z.enum(['site', ...WAYS_IN]))
    .default([])
    .describe('site = on the site itself.'),
}));
export type ChangeFilters = z.output<z.ZodObject<ReturnType<typeof changeFilters>>>;
