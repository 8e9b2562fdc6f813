/** Schema of the brief of the fleet. */

import { once } from '../src/runtime/once.js';
import { timestamp } from './common.js';
import { guidanceLines } from './guidance.js';
import { updateSummary } from './update.js';
import { z } from './zod.js';

const count = () => z.number().int();

/** `left_out`: what is, so that it stays small; `guidance`: what to watch out for; `log_head`: the log's last entry. All absent = none. */
export const fleetBriefAnswer = once(() =>
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
);
export type Brief = z.output<ReturnType<typeof fleetBriefAnswer>>;
