import { actionRow, headShape, WAYS_IN } from '../../schemas/action.js';
import { called, paged, paging, siteRef, timestamp } from '../../schemas/common.js';
import { listOrOne, logWords } from '../../schemas/search.js';
import { z } from '../../schemas/zod.js';
import { listActions, shortActions } from '../../src/domain/action-log/list.js';
import { defineOperation } from '../../src/operation/operation.js';

const time = () => z.string().trim().max(40).optional();

export default defineOperation({
  id: 'svc/list-actions-v1',
  title: 'List actions',
  about:
    'Reads the log of everything done through Sitefleet, newest first: who called what, with which input, and what it did. "sitefleet log verify" proves that no entry was changed.',
  run: 'POST',
  effect: 'read',

  input: () =>
    z.object({
      since: time().describe('ISO 8601; default: 7 days before until.'),
      until: time().describe('Default: now.'),
      site_id_or_domain: siteRef().optional(),
      operation: called().optional().describe('Such as svc/run-updates-v1.'),
      request_id: called().optional().describe('All of one call.'),
      by: called().optional().describe('Part of the name of who did it.'),
      via: listOrOne(z.enum(WAYS_IN)).default([]).describe('Ways in.'),
      contexts: logWords().describe('call, plugin, theme, core, site, client, tag, user, key, …'),
      result: z.enum(['done', 'failed']).optional().describe('Omit for both.'),
      details: z.boolean().default(false).describe('Every member of each entry.'),
      ...paging(20, 100),
    }),

  output: () =>
    z.object({
      since: timestamp(),
      until: timestamp(),
      note: z.string().optional(),
      actions: z.array(actionRow()),
      head: headShape(),
      ...paged(),
    }),

  async handle({ details, ...input }, ctx) {
    const found = await listActions(ctx, input);
    return details ? found : { ...found, actions: shortActions(found.actions) };
  },
});
