/** Whether there is work for the process that runs the schedule: queried by processes that do not run it. */

import { READY } from '../backups/schedule.js';
import type { Db } from '../driver/db.js';

/** What is due of the schedule's own accord. */
export interface DueWork {
  syncs: boolean;
  abandoned_checks: boolean;
  monitors: boolean;
  certificates: boolean;
  domains: boolean;
  site_backups: boolean;
}

const OF_SITES = 'FROM site s JOIN site_detail d ON d.site_id = s.id WHERE s.suspended = 0 AND s.disconnected = 0';

export function createWaitingWork(db: Db) {
  return {
    /** Whether anything that was asked for is not done. */
    async asked(now: number): Promise<boolean> {
      const row = await db.one(
        `SELECT EXISTS (SELECT 1 FROM job WHERE completed_at IS NULL AND next_run_at <= ?1)
          OR EXISTS (SELECT 1 FROM tool_job WHERE completed_at IS NULL)
          OR EXISTS (SELECT 1 FROM safe_change WHERE watch_at <= ?1)
          OR EXISTS (SELECT 1 FROM mail WHERE status IN ('queued', 'sending') AND next_try_at <= ?1)
          OR EXISTS (SELECT 1 FROM audit WHERE status IN ('pending', 'running') AND not_before <= ?1) AS any`,
        [now],
      );
      return row?.any === 1;
    },

    /**
     * A monitor that is off and has no state to end waits for nothing, though it is in the plan until the schedule sees it.
     * @param since sites not synced since then, and not checked for abandoned items since then, are due
     * @param monitored whether monitors are on that have no setting of their own
     */
    async due(now: number, since: { synced: number; looked: number }, monitored: boolean): Promise<DueWork> {
      const row = await db.one(
        `SELECT EXISTS (SELECT 1 ${OF_SITES} AND ifnull(d.last_attempt, 0) <= ?2) AS syncs,
          EXISTS (SELECT 1 ${OF_SITES} AND s.status = 'connected' AND ifnull(d.abandoned_checked_at, 0) <= ?3) AS abandoned_checks,
          EXISTS (SELECT 1 FROM monitor m WHERE m.next_check_at <= ?1 AND (m.status <> 99
            OR (coalesce(m.active, ?4) = 1 AND EXISTS (SELECT 1 FROM site s WHERE s.id = m.site_id AND s.suspended = 0)))) AS monitors,
          EXISTS (SELECT 1 FROM certificate_plan p JOIN site s ON s.id = p.site_id WHERE p.next_check_at <= ?1 AND s.suspended = 0) AS certificates,
          EXISTS (SELECT 1 FROM domain WHERE next_check_at <= ?1 AND EXISTS (SELECT 1 FROM site_domain x JOIN site s ON s.id = x.site_id
            WHERE x.domain = domain.name AND s.suspended = 0)) AS domains,
          EXISTS (SELECT 1 FROM backup_rule) AND (EXISTS (SELECT 1 FROM backup_turn WHERE planned <= 0)
            OR EXISTS (SELECT 1 FROM backup_turn t CROSS JOIN site s ON s.id = t.site_id WHERE t.planned = 1 AND t.next_at <= ?1 AND ${READY})) AS site_backups`,
        [now, since.synced, since.looked, monitored],
      );
      const is = (name: keyof DueWork) => row?.[name] === 1;
      return {
        syncs: is('syncs'),
        abandoned_checks: is('abandoned_checks'),
        monitors: is('monitors'),
        certificates: is('certificates'),
        domains: is('domains'),
        site_backups: is('site_backups'),
      };
    },
  };
}
