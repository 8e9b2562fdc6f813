/** Whether there is work for the process that runs the schedule: queried by processes that do not run it. */

import type { Db } from '../driver/db.js';

export function createWaitingWork(db: Db) {
  return {
    /**
     * Requested work that is not done; with `own`, also due sites, certificates and domains.
     * @param own sites not synced since then, and not checked for abandoned items since then, are due
     */
    async any(now: number, own: { synced: number; looked: number } | null): Promise<boolean> {
      const asked = `EXISTS (SELECT 1 FROM job WHERE completed_at IS NULL AND next_run_at <= ?1)
        OR EXISTS (SELECT 1 FROM tool_job WHERE completed_at IS NULL)
        OR EXISTS (SELECT 1 FROM safe_change WHERE watch_at <= ?1)
        OR EXISTS (SELECT 1 FROM mail WHERE status IN ('queued', 'sending') AND next_try_at <= ?1)
        OR EXISTS (SELECT 1 FROM audit WHERE status IN ('pending', 'running') AND not_before <= ?1)`;
      const due = `EXISTS (SELECT 1 FROM monitor WHERE next_check_at <= ?1)
        OR EXISTS (SELECT 1 FROM certificate_plan p JOIN site s ON s.id = p.site_id WHERE p.next_check_at <= ?1 AND s.suspended = 0)
        OR EXISTS (SELECT 1 FROM domain WHERE next_check_at <= ?1 AND EXISTS (SELECT 1 FROM site_domain x JOIN site s ON s.id = x.site_id
          WHERE x.domain = domain.name AND s.suspended = 0))
        OR EXISTS (SELECT 1 FROM site s JOIN site_detail d ON d.site_id = s.id WHERE s.suspended = 0 AND s.disconnected = 0
          AND (ifnull(d.last_attempt, 0) <= ?2 OR (s.status = 'connected' AND ifnull(d.abandoned_checked_at, 0) <= ?3)))`;
      const row =
        own === null
          ? await db.one(`SELECT ${asked} AS any`, [now])
          : await db.one(`SELECT ${asked} OR ${due} AS any`, [now, own.synced, own.looked]);
      return row?.any === 1;
    },
  };
}
