/**
 * Turns at reading from sites while the caller waits. A read of many sites holds what all of them answer until it ends,
 * and fills the queue to them: one login that asks a hundred times at once must not take memory and sites from others.
 */

import { credentialOf } from '../../runtime/actor.js';
import { ServiceError } from '../../runtime/errors.js';
import { Slots } from '../../runtime/slots.js';
import type { Ctx } from '../context.js';

/** How many reads of one login run at once, and how many more may wait for them. */
const LIMITS = { many: { running: 2, waiting: 8 }, one: { running: 10, waiting: 200 } } as const;

interface Turns {
  slots: Slots;
  asked: number;
}

/** By login; only those that read at the moment. */
const reading = new Map<string, Turns>();

/**
 * Runs a read of one site or of many when it is the login's turn. Throws `svc_rest_too_many_requests` where too many of
 * the same login wait already, or it did not get one in the first half of a direct call's time.
 */
export async function inTurn<T>(
  { actor, config, signal }: Pick<Ctx, 'actor' | 'config' | 'signal'>,
  sites: keyof typeof LIMITS,
  read: () => Promise<T>,
): Promise<T> {
  const { running, waiting } = LIMITS[sites];
  const key = `${sites} ${credentialOf(actor)}`;
  const turns = reading.get(key) ?? { slots: new Slots(running), asked: 0 };
  if (turns.asked >= running + waiting) throw tooMany();
  turns.asked++;
  reading.set(key, turns);
  try {
    const end = await turns.slots.take(config.direct_call_ms / 2, signal);
    if (end === null) throw tooMany();
    try {
      return await read();
    } finally {
      end();
    }
  } finally {
    turns.asked--;
    if (turns.asked === 0) reading.delete(key);
  }
}

function tooMany(): ServiceError {
  return new ServiceError(
    'svc_rest_too_many_requests',
    'This login reads from its sites already, and other calls wait.',
    {
      advice: 'Wait until those calls have ended, or ask for fewer sites at once.',
      data: { retry_after: 30 },
    },
  );
}
