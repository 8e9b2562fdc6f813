/**
 * The history of protected updates of a site, step by step, including running ones, and the known state of its guard.
 */

import { isoTime } from '../../../runtime/iso-time.js';
import type { ChangeRow } from '../../../store/safety/changes.js';
import type { Ctx } from '../../context.js';
import { UPDATE_TYPES, type UpdateType } from '../results.js';
import type { Evidence } from './run-state.js';
import { storedGuard } from './site-guard.js';

function viewOf(row: ChangeRow) {
  const evidence = row.evidence === null ? null : (JSON.parse(row.evidence) as Evidence);
  return {
    change_id: row.id,
    run_id: row.run_id,
    type: UPDATE_TYPES[row.type] as UpdateType,
    slug: row.slug,
    name: row.name,
    old_version: row.old_version,
    new_version: row.new_version,
    protection: row.protection,
    // The current step; for an item that has ended, the last one.
    step: row.step,
    // null = it is in progress.
    outcome: row.outcome,
    seen: evidence?.seen ?? [],
    suspect: evidence?.suspect ?? [],
    put_back_by: evidence?.by ?? null,
    well_after_ms: evidence?.well_after_ms ?? null,
    started_at: isoTime(row.started_at),
    updated_at: isoTime(row.updated_at),
    settled_at: isoTime(row.settled_at),
  };
}

/** One page, newest first; the guard in its stored state: the site is not contacted. */
export async function safeUpdateHistory(ctx: Ctx, siteId: number, page: number, perPage: number) {
  const [{ items, total }, guard] = await Promise.all([
    ctx.store.safeChanges.page(siteId, page, perPage),
    storedGuard(ctx, siteId),
  ]);
  return { items: items.map(viewOf), total, guard };
}
