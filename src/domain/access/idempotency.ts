/**
 * Idempotency keys: a write that carries one runs once, and a repeat gets the answer of the first run. The key is claimed
 * in storage before the work starts, so that two simultaneous calls do not both run, even in different processes.
 */

import { createHash } from 'node:crypto';
import { credentialOf } from '../../runtime/actor.js';
import { asServiceError, type ErrorCode, type ErrorDetails, ServiceError } from '../../runtime/errors.js';
import type { Ctx } from '../context.js';

/** Members of an answer. */
type Answer = Record<string, unknown>;

/** Identifies a repeatable call. Plain data, because it is passed between threads. */
export interface IdempotencyKey {
  /** As the caller sent it. */
  key: string;
  /** Digest of method, path, query and body. */
  fingerprint: string;
  /** Where the caller sends it, if not in the header. */
  field?: string;
}

export interface Performed {
  answer: Answer;
  /** The answer is that of an earlier call. */
  replayed: boolean;
  /** The caller already has this answer, so it contains only the revision. */
  unchanged?: boolean;
}

/** How long the first answer is kept for repeats. */
const KEPT_MS = 24 * 3600_000;
/** A run of another process that has not ended after this time is considered dead. */
const ABANDONED_MS = 15 * 60_000;
const HEADER = 'Idempotency-Key';
const FORM = /^[\x21-\x7e]{1,255}$/;

/** The key from a header value, bare or as a quoted string. Throws `rest_invalid_param`. */
export function idempotencyKey(header: string): string {
  const trimmed = header.trim();
  const bare = /^"(.*)"$/.exec(trimmed)?.[1] ?? trimmed;
  if (FORM.test(bare)) return bare;
  throw new ServiceError('rest_invalid_param', 'Idempotency-Key must be 1 to 255 visible ASCII characters.', {
    field: 'Idempotency-Key',
    advice: 'Send a new UUID for each new call, and the same one when you repeat it.',
    data: { params: { 'Idempotency-Key': 'must be 1 to 255 visible ASCII characters' } },
  });
}

export function fingerprintOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

const WAITS: ReadonlySet<ErrorCode> = new Set(['svc_approval_required', 'svc_approval_refused']);

type Stored = { answer: Answer } | { error: { code: ErrorCode; message: string; details: ErrorDetails } };

/**
 * Runs `work` unless the key has been used. Cancellations (499), failures of ours or of a site (5xx), and what waits for an approval are not stored:
 * a repeat tries again.
 * Throws `svc_idempotency_key_reused` 422 and `svc_idempotency_in_progress` 409.
 */
export async function runOnce(ctx: Ctx, idempotent: IdempotencyKey, work: () => Promise<Answer>): Promise<Performed> {
  const { idempotency } = ctx.store;
  const principal = credentialOf(ctx.actor);
  const now = ctx.clock.now();
  // A forward step of the clock does not count as elapsed time.
  const adjusted = now - ctx.clock.steps(ABANDONED_MS).forward;
  await idempotency.forget(adjusted - KEPT_MS);
  const claim = await idempotency.claim(principal, idempotent, now, adjusted - ABANDONED_MS);
  if (claim.state === 'reused') throw keyReused(idempotent);
  if (claim.state === 'running') throw stillRunning(idempotent);
  if (claim.state === 'done') return replay(JSON.parse(claim.body) as Stored);
  try {
    const answer = await work();
    await idempotency.finish(principal, idempotent.key, JSON.stringify({ answer } satisfies Stored));
    return { answer, replayed: false };
  } catch (error) {
    const known = asServiceError(error);
    // Once it is approved, the repeat has to run.
    if (known.status >= 499 || WAITS.has(known.code)) await idempotency.release(principal, idempotent.key);
    else await idempotency.finish(principal, idempotent.key, storedError(known));
    throw error;
  }
}

/** The answer of the work, or of the first call with this key; without a key of the work. Throws as `runOnce`. */
export async function answerOnce<T>(ctx: Ctx, key: IdempotencyKey | undefined, work: () => Promise<T>): Promise<T> {
  if (key === undefined) return work();
  return (await runOnce(ctx, key, work as () => Promise<Answer>)).answer as T;
}

function storedError({ code, message, status, field, advice, data }: ServiceError): string {
  const details = {
    status,
    data,
    ...(field === undefined ? {} : { field }),
    ...(advice === undefined ? {} : { advice }),
  };
  return JSON.stringify({ error: { code, message, details } } satisfies Stored);
}

function replay(stored: Stored): Performed {
  if ('answer' in stored) return { answer: stored.answer, replayed: true };
  const { code, message, details } = stored.error;
  throw new ServiceError(code, message, details);
}

function keyReused({ field = HEADER }: IdempotencyKey): ServiceError {
  return new ServiceError('svc_idempotency_key_reused', `This ${field} was used for another call.`, {
    field,
    advice: 'Send a new key: a key belongs to one call with one input.',
  });
}

function stillRunning({ field = HEADER }: IdempotencyKey): ServiceError {
  return new ServiceError('svc_idempotency_in_progress', `The first call with this ${field} is still running.`, {
    field,
    advice: 'Repeat the call in a few seconds to get its answer.',
    data: { retry_after: 5 },
  });
}
