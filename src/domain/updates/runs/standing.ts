/** How the sites of a run stand: the one reckoning that every answer about it goes by. */

import type { RunRow } from '../../../store/updates/runs.js';
import type { Ctx } from '../../context.js';

/** Ids of sites by how they stand. What is still working may finish after its run has ended. */
export interface Standing {
  total: number;
  succeeded: number[];
  failed: number[];
  still_working: number[];
  /** As far as they are named; `countsOf` counts all. */
  not_begun: number[];
}

/** @param known sites of its job or call that are at work or wait, of which the run may have no item yet */
export async function standingOf(
  { store }: Ctx,
  { id, sites: total }: Pick<RunRow, 'id' | 'sites'>,
  known: { started?: readonly number[]; waiting?: readonly number[] } = {},
): Promise<Standing> {
  const atWork = new Set(known.started);
  // A site may be at work before what it is to do is recorded.
  const rows = (await store.updateRuns.sitesOf(id)).filter(
    (row) => row.state !== 'waiting' || !atWork.has(row.site_id),
  );
  const among = (state: (typeof rows)[number]['state']) =>
    rows.filter((row) => row.state === state).map(({ site_id }) => site_id);
  const told = new Set(rows.map(({ site_id }) => site_id));
  const untold = (ids: readonly number[] = []) => ids.filter((site_id) => !told.has(site_id));
  return {
    total,
    succeeded: among('done'),
    failed: among('failed'),
    still_working: [...among('started'), ...untold(known.started)],
    not_begun: [...among('waiting'), ...untold(known.waiting)],
  };
}

/** They add up to the sites of the run. */
export function countsOf({ total, ...ids }: Standing) {
  const [succeeded, failed, still_working] = [ids.succeeded.length, ids.failed.length, ids.still_working.length];
  return { succeeded, failed, still_working, not_begun: Math.max(0, total - succeeded - failed - still_working) };
}
