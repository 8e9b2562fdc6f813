import { siteRef } from '../../schemas/common.js';
import { guidanceEntry } from '../../schemas/guidance.js';
import { z } from '../../schemas/zod.js';
import { integerOrText } from '../../schemas/zod-internals.js';
import { addGuidance } from '../../src/domain/guidance/guidance.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/add-guidance-v1',
  title: 'Add guidance',
  about:
    'Records what to watch out for before sites are changed, such as "no shop updates before Monday". Without a site or client, it is for the whole fleet. What a program adds is unverified until a person confirms it.',
  effect: 'write',
  change: 'other',
  idempotent: false,

  input: () =>
    z.object({
      text: z.string().trim().min(1).max(500).describe('One or two sentences.'),
      site_id_or_domain: siteRef().optional(),
      client_id_or_email: integerOrText().optional().describe('All sites of this client.'),
      until: z.string().trim().max(40).optional().describe('ISO 8601; omit for no end.'),
    }),

  output: () => guidanceEntry().extend({ note: z.string() }),

  handle: (input, ctx) => addGuidance(ctx, input),
});
