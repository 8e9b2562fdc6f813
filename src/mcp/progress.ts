/** Progress of a call as the protocol wants it: rising numbers, not too many, and the last one always. */

import type { Clock } from '../core/clock.js';
import type { Progress } from '../core/progress.js';
import { cleanText } from './untrusted-text.js';

/** Notifications per call at most every this many milliseconds, besides the last one. */
const PROGRESS_EVERY_MS = 100;

export type ProgressParams = { progressToken: string | number; progress: number; total: number; message: string };

/** @param send may reject: a client that went away misses its progress, and the call goes on */
export function progressReporter(
  progressToken: string | number | undefined,
  clock: Clock,
  send: (params: ProgressParams) => Promise<void>,
): ((progress: Progress) => void) | undefined {
  if (progressToken === undefined) return undefined;
  let sentAt = Number.NEGATIVE_INFINITY;
  let sentDone = -1;
  return ({ done, total, message }) => {
    const now = clock.elapsed();
    const last = done >= total;
    if (done <= sentDone || (!last && now - sentAt < PROGRESS_EVERY_MS)) return;
    sentAt = now;
    sentDone = done;
    send({ progressToken, progress: done, total, message: cleanText(message, 200) }).catch(() => undefined);
  };
}
