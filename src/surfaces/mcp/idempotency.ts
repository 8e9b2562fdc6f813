/** Keys that clients send with a write, so that one that lost the answer gets it by calling again. */

import { fingerprintOf, type IdempotencyKey, idempotencyKey } from '../../domain/access/idempotency.js';
import type { Caller, GroupedOperation } from '../../operation/operation.js';
import { ServiceError } from '../../runtime/errors.js';
import type { Participant } from './call-deduplication.js';

/** Member of `_meta` of a call. */
export const IDEMPOTENCY_META_KEY = 'sitefleet/idempotency_key';

/** The key of a write that is no preview. Throws `svc_invalid_input` if it is none. */
export function idempotencyOf(
  operation: GroupedOperation,
  args: unknown,
  { idempotency_key: key }: Participant,
): IdempotencyKey | undefined {
  if (key === undefined || operation.needs === 'read' || operation.parse(args)?.dry_run === true) return undefined;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key))
    return {
      key: idempotencyKey(key),
      fingerprint: fingerprintOf([operation.id, JSON.stringify(args)]),
      field: IDEMPOTENCY_META_KEY,
    };
  throw new ServiceError(
    'svc_invalid_input',
    `_meta: ${IDEMPOTENCY_META_KEY} must be 1 to 255 visible ASCII characters.`,
    {
      field: IDEMPOTENCY_META_KEY,
      advice: 'Send a new UUID for each new call, and the same one when you repeat it.',
    },
  );
}

/** The caller as it is now: a participant reads its login each time. */
export function aloneOf({ actor, request_id, client, signal, progress }: Participant): Caller {
  return { actor, request_id, client, signal, progress };
}
