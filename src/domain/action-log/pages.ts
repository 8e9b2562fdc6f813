/** The action log read from its beginning, page by page. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ActionRow } from '../../store/action-log/action-log.js';
import type { Ctx } from '../context.js';

/** Rows that are read at once. */
const PAGE = 250;

/** Entries after an id, oldest first, at most so many; other work gets a turn before each page. */
export async function* logPages(
  ctx: Ctx,
  after: number,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<ActionRow[]> {
  let [last, left] = [after, limit];
  while (left > 0) {
    await nextTurn();
    const size = Math.min(PAGE, left);
    const page = await ctx.store.actionLog.rowsAfter(last, size);
    yield page;
    last = page.at(-1)?.id ?? last;
    left -= page.length;
    if (page.length < size) return;
  }
}
