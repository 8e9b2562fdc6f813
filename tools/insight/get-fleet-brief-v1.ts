import { timestamp } from '../../schemas/common.js';
import { guidanceLines } from '../../schemas/guidance.js';
import { updateSummary } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { fleetBrief } from '../../src/domain/fleet/brief.js';
import { defineOperation } from '../../src/operation/operation.js';

const count = () => z.number().int();

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

  output: () =>
    z.object({
      left_out: z.string().optional(),
      as_of: timestamp(),
      since: timestamp(),
      sites: z.object({ total: count(), connected: count(), disconnected: count(), suspended: count() }),
      needs_attention: z.array(
        z.object({
          matter: z.string(),
          count: count(),
          first: z.array(z.string()),
          next: z.string(),
        }),
      ),
      updates_on_offer: updateSummary()
        .omit({ total: true })
        .extend({ on_suspended_sites: count().optional(), next: z.string() }),
      done: z.array(z.object({ what: z.string(), count: count(), sites: count(), newest: z.string().optional() })),
      not_known: z.array(z.string()),
      guidance: guidanceLines(),
      log_head: z.string().optional(),
    }),

  handle: ({ since }, ctx) => fleetBrief(ctx, since),
});
