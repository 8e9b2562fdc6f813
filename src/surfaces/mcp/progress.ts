/** Progress notifications of a call: increasing numbers, throttled; the last one is always sent. */

import type { Clock } from '../../runtime/clock.js';
import type { Progress } from '../../runtime/progress.js';
import { cleanText } from './untrusted-text.js';

/** Minimum milliseconds between two notifications of a call, except for the last one. */
const PROGRESS_EVERY_MS = 100;

export type ProgressParams = { progressToken: string | number; progress: number; total: number; message: string };

/**
 * A throttled sender of progress; undefined when the client did not request it.
 * @param send may reject: a client that disconnected misses its progress, and the call continues
 */
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
