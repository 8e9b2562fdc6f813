import type { ChildParams, Registration, StatsRequest } from '../port.js';
import { passwordValue } from '../wire/form.js';
import { MAX_CHANGES } from './changes.js';

/**
 * Parts of a stats answer that are not stored here, or that cost the child much: `securityStats` makes it run two more
 * update checks, `dbsize` crashes some. The child remembers the choice for later answers, so it is sent each time
 * (child protocol §5.2). Everything not named is sent by the child.
 */
const LEFT_OUT = { users: 0, directories: 0, totalsize: 0, dbsize: 0, securityStats: 0, othersData: 0 };

function syncdata(parts: Readonly<Record<string, boolean>> | undefined): string {
  const chosen = Object.entries(parts ?? {}).map(([name, on]) => [name, on ? 1 : 0] as const);
  return JSON.stringify({ ...LEFT_OUT, ...Object.fromEntries(chosen) });
}

/**
 * Parameters of `stats` (child protocol §5). `server` overwrites the dashboard that the child has stored: always the
 * same string. `owner` null = another dashboard owns the site: values that the child would remember are left out, so it
 * sends what that dashboard asked it for.
 */
export function statsParams(request: StatsRequest, owner: { server: string; siteId: number } | null): ChildParams {
  return {
    // 0 = without the list of users.
    optimize: 0,
    // What the child would remember: its dashboard, and what to send at a sync.
    ...(owner === null
      ? {}
      : {
          ...owner,
          numberdaysOutdatePluginTheme: request.abandonedAfterDays,
          syncdata: syncdata(request.parts),
          child_actions_saved_days_number: 30,
        }),
    othersData: '[]',
    cloneSites: 0,
    primaryBackup: request.backupPlugin || 0,
    recent_number: 5,
    child_actions_last_created: request.changesAfter,
    params_logs: {
      newer_than: request.changesAfter,
      events_count: MAX_CHANGES,
      ignore_sync_changes_logs: -1,
      ignore_sync_nonmainwp_actions: -1,
      ...(owner === null ? {} : { child_logs_ttl: 30, child_logs_enabled: 1 }),
    },
    ...(request.renewRegverify === true && owner !== null ? { sync_regverify: 1 } : {}),
  };
}

/**
 * Parameters of `register` (child protocol §3.2). An empty `regverify` must not be sent: it changes the child's
 * verdict.
 */
export function registerParams(registration: Registration, server: string): ChildParams {
  const { public_key, unique_id, password, regverify } = registration;
  return {
    pubkey: public_key,
    server,
    uniqueId: unique_id,
    ...(password === undefined || password === '' ? {} : { userpwd: passwordValue(password) }),
    ...(regverify === undefined || regverify === '' ? {} : { regverify }),
    syncdata: syncdata(undefined),
  };
}
