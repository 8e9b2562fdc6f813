import { fleetBriefAnswer } from '../../schemas/brief.js';
import { z } from '../../schemas/zod.js';
import { fleetBrief } from '../../src/domain/fleet/brief.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-fleet-brief-v1',
  title: 'Fleet brief',
  about: 'What needs attention now, worst first, then what was done since a time. Each line names the next call.',
  instructions: 'Start here when asked how the sites are.',
  run: 'POST',
  effect: 'read',

  input: () =>
    z.object({
      since: z.string().trim().max(40).optional().describe('ISO 8601; default: 24 hours ago.'),
    }),

  output: fleetBriefAnswer,

  handle: ({ since }, ctx) => fleetBrief(ctx, since),
});
