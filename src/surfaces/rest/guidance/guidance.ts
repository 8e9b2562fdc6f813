/** Routes for guidance: what to watch out for before sites are changed (REST §7). */

import { guidanceEntry } from '../../../../schemas/guidance.js';
import { z } from '../../../../schemas/zod.js';
import { integerOrText } from '../../../../schemas/zod-internals.js';
import { addGuidance, decideGuidance, listGuidance } from '../../../domain/guidance/guidance.js';
import { once } from '../../../runtime/once.js';
import { int, paging, text } from '../params.js';
import { listRoute, type Route, route } from '../route.js';
import { listOf, writtenOf } from '../schemas/records.js';

const where = { guidance_id: /^[1-9]\d{0,14}$/ };
const path = once(() => ({ guidance_id: int(1).describe('Id of the entry.') }));
const about = once(() => ({
  site_id_or_domain: integerOrText().optional(),
  client_id_or_email: integerOrText().optional(),
}));

/** With the names of what it is of. */
const entry = once(() =>
  guidanceEntry().extend({ site_name: z.string().nullable(), client_name: z.string().nullable() }),
);

const example = {
  id: 3,
  site_id: 12,
  site_name: 'Example',
  client_id: null,
  client_name: null,
  text: 'No updates of the shop before Monday.',
  by: 'ada',
  at: '2026-11-20T12:00:00Z',
  until: null,
  verified: true,
};

/** Not in the routes document. */
export const guidance: readonly Route[] = [
  listRoute({
    on: 'GET /guidance',
    fails: [404],
    summary: 'List what to watch out for before sites are changed',
    description:
      'All entries, those that apply to a site, or those of a client and of the fleet. What programs proposed is not verified until a person confirms it.',
    params: () => z.object({ ...about(), ...paging(20, 50) }),
    example: { total: 1, page: 1, per_page: 20, pages: 1, data: [example] },
    returns: () => listOf(entry()),
    async list({ page, per_page, ...asked }, ctx) {
      const { guidance: items, total } = await listGuidance(ctx, asked, page, per_page);
      return { items, total };
    },
  }),
  route({
    on: 'POST /guidance/add',
    change: 'other',
    body: 'required',
    fails: [404],
    summary: 'Add guidance',
    description:
      'For a site, for a client, or for the fleet if neither is named. Verified if a person adds it on the page.',
    params: () =>
      z.object({
        text: text(500, 1).describe('One or two sentences.'),
        ...about(),
        until: text(40, 1).nullable().optional().describe('ISO 8601; null = no end.'),
      }),
    example: { message: 'The guidance was added.', data: example },
    returns: () => writtenOf(entry()),
    async answer({ until, ...input }, ctx) {
      const { note, ...data } = await addGuidance(ctx, { ...input, until: until ?? undefined });
      return { message: `The guidance was added. ${note}`, data };
    },
  }),
  route({
    on: 'POST /guidance/{guidance_id}/confirm',
    change: 'other',
    where,
    summary: 'Confirm guidance that a program proposed',
    description: 'Only for people, on the page.',
    params: () => z.object(path()),
    example: { message: 'The guidance was confirmed.', data: example },
    returns: () => writtenOf(entry()),
    answer: async ({ guidance_id }, ctx) => ({
      message: 'The guidance was confirmed.',
      data: await decideGuidance(ctx, guidance_id, 'confirm'),
    }),
  }),
  route({
    on: 'DELETE /guidance/{guidance_id}/remove',
    change: 'other',
    where,
    summary: 'Remove guidance',
    description: 'Only for people, on the page.',
    params: () => z.object(path()),
    example: { message: 'The guidance was removed.', data: example },
    returns: () => writtenOf(entry()),
    answer: async ({ guidance_id }, ctx) => ({
      message: 'The guidance was removed.',
      data: await decideGuidance(ctx, guidance_id, 'remove'),
    }),
  }),
];
