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
