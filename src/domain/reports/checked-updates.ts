/** What a report says of the checks of updates: how many were compared with before, how many rolled back, and the receipts. */

import { wordpressTime } from '../../runtime/time-zones.js';
import type { Ctx } from '../context.js';
import { RUN_DAYS } from '../retention/delete-expired.js';
import { listValue, numberValue, type ReportRequest, type ReportValue } from './types.js';

/** Receipts listed of a range. */
const LISTED = 50;

/** @param token first part of the tokens */
export async function checkedUpdates(
  ctx: Ctx,
  { site, from, to, now, zone }: ReportRequest,
  type: number,
  token: string,
): Promise<{ values: ReportValue[]; notes: string[] }> {
  const known = now - RUN_DAYS * 24 * 3_600_000;
  const { checked, taken_back, runs, newest } = await ctx.store.reportData.checkedUpdates(
    site.id,
    type,
    from,
    to,
    LISTED,
  );
  // Nothing was compared, or what is known of it is gone.
  if (checked === 0) return { values: [], notes: [] };
  const receipts = newest.map(({ run_id, at }) => ({ receipt: run_id, date: wordpressTime(at, zone).slice(0, 10) }));
  return {
    values: [
      numberValue('number', 'updates_checked', `${token}.checked.count`, 'Updates checked', checked),
      numberValue('number', 'updates_taken_back', `${token}.taken-back.count`, 'Rolled back', taken_back),
      listValue('receipts', `${token}.receipts`, 'Signed receipts', receipts),
    ],
    notes: [
      ...(from < known ? [`Checks of updates are known for ${RUN_DAYS} days.`] : []),
      ...(runs > LISTED ? [`The newest ${LISTED} of ${runs} receipts are listed.`] : []),
    ],
  };
}
