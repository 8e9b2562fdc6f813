import { guidanceEntry } from '../../schemas/guidance.js';
import { z } from '../../schemas/zod.js';
import { decideGuidance } from '../../src/domain/guidance/guidance.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/decide-guidance-v1',
  title: 'Confirm or remove guidance',
  about: 'Confirms what a program proposed, or removes an entry. Only for people, in the shell or on the page.',
  effect: 'write',
  change: 'other',
  idempotent: true,

  input: () =>
    z.object({
      guidance_id: z.number().int().positive().describe('From list-guidance-v1.'),
      decision: z.enum(['confirm', 'remove']).describe('What to do.'),
    }),

  output: guidanceEntry,

  handle: ({ guidance_id, decision }, ctx) => decideGuidance(ctx, guidance_id, decision),
});
