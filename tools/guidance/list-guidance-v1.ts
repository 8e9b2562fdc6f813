import { paged, paging, siteRef } from '../../schemas/common.js';
import { guidanceEntry } from '../../schemas/guidance.js';
import { z } from '../../schemas/zod.js';
import { integerOrText } from '../../schemas/zod-internals.js';
import { listGuidance } from '../../src/domain/guidance/guidance.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-guidance-v1',
  title: 'List guidance',
  about:
    'Lists what to watch out for before sites are changed: for the fleet, a client or a site. Unverified entries were proposed by programs.',
  run: 'POST',
  effect: 'read',

  input: () =>
    z.object({
      site_id_or_domain: siteRef().optional().describe('Everything that applies to this site.'),
      client_id_or_email: integerOrText().optional().describe('For this client and for the fleet.'),
      ...paging(20, 50),
    }),

  output: () => z.object({ guidance: z.array(guidanceEntry()), ...paged() }),

  handle: ({ page, per_page, ...about }, ctx) => listGuidance(ctx, about, page, per_page),
});
