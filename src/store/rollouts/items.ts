/** What became of the items of a rollout, in SQL: also of those that have no entry in a run. */

/** Items `p` of the plan of a rollout `r`, with what became of each in the run of its site. */
export const ITEMS = `rollout r JOIN rollout_plan_item p ON p.plan_id = r.plan_id
  JOIN rollout_site o ON o.rollout_id = r.id AND o.site_id = p.site_id
  LEFT JOIN update_run_item i ON i.run_id = o.run_id AND i.site_id = p.site_id AND i.type = p.type AND i.slug = p.slug
  LEFT JOIN update_run_item w ON i.run_id IS NULL AND w.run_id = o.run_id AND w.site_id = p.site_id AND w.type = 4
  LEFT JOIN update_run u ON u.id = o.run_id`;
/** The safe update of an item `i`. */
export const CHANGE = 'LEFT JOIN safe_change c ON c.id = i.change_id';
/** Of an item without an entry: its site gets no turn, was not touched, its turn comes, or its run ended without a word about it. */
export const STATE = `coalesce(i.state, w.state, CASE WHEN o.code <> '' THEN 'skipped' WHEN o.run_id IS NULL THEN 'untouched' WHEN u.ended_at IS NULL THEN 'queued' ELSE 'unknown' END)`;
export const CODE = 'coalesce(i.code, w.code, o.code)';

/** Items `i` of the runs of a rollout that show that their update does harm. */
export const HARMED = `(i.state = 'rolled_back' OR (i.state = 'failed' AND i.code = 'svc_update_broke_site'))`;

/** The turn of the site `o` is to come. */
export const WAITS = "o.run_id IS NULL AND o.code = ''";

/** Codes of items that were left because of another site, or of its version everywhere. */
export const ANOTHER = "'svc_rollout_halted', 'svc_version_quarantined'";
/**
 * Codes of items that a person has left: ignored, or on a site that was suspended, put on trial or removed. None of them can
 * come of what a site answers, or it could hide its trouble.
 */
const BY_PERSON = "'svc_update_ignored', 'svc_site_suspended', 'svc_site_on_trial', 'svc_site_not_found'";

/** Of a run that a person has cancelled only harm counts. */
const OF_SITE = `${CODE} NOT IN (${ANOTHER}, ${BY_PERSON}) AND (coalesce(u.cancelled, 0) = 0 OR ${HARMED})`;
/** The item, or its site, could not be updated or did not stay well: enough of these halt a rollout, whatever other sites do. */
const FAILED = `(${STATE} IN ('failed', 'rolled_back', 'unknown') OR (${STATE} = 'kept' AND ${CODE} <> '') OR o.down = 1
  OR EXISTS (SELECT 1 FROM update_run_item t WHERE t.run_id = o.run_id AND t.site_id = o.site_id AND t.type = 4 AND t.state IN ('failed', 'unknown')))`;
/** An item that may have halted its rollout, for a reason that may lie with its site. */
export const HALTING = `(${FAILED} AND ${OF_SITE})`;
/** The same, or it was left as it was: that halts a rollout where nothing else was updated. */
export const TROUBLED = `((${FAILED} OR ${STATE} = 'skipped') AND ${OF_SITE})`;
