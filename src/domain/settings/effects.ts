/** The effects of the stored settings on the rest of the service. Plain getters; each reads the current value. */

import type { JobType } from '../../../schemas/job.js';
import { MONITORING } from '../../../schemas/monitoring.js';
import {
  ADVANCED,
  COST_TRACKER,
  type Fields,
  GENERAL,
  INSIGHTS,
  TOOLS,
  type ValuesOf,
} from '../../../schemas/settings.js';
import { isObject } from '../../runtime/plain-json.js';
import { momentOf, wallOf } from '../../runtime/time-zones.js';
import type { Ctx } from '../context.js';

export const GROUPS = {
  general: GENERAL,
  advanced: ADVANCED,
  monitoring: MONITORING,
  'cost-tracker': COST_TRACKER,
  'dashboard-insights': INSIGHTS,
  tools: TOOLS,
} as const satisfies Record<string, Fields>;
export type Group = keyof typeof GROUPS;
export type GroupValues<G extends Group> = ValuesOf<(typeof GROUPS)[G]>;

type Source = Pick<Ctx, 'store' | 'config'>;

/** The values of a group, with defaults for those not stored. `owner` selects whose personal values. */
export async function groupValues<G extends Group>(ctx: Source, group: G, owner = ''): Promise<GroupValues<G>> {
  const stored = await ctx.store.settings.group(`${group}.`);
  const values = Object.entries(GROUPS[group] as Fields).map(([name, { schema, standard, personal }]) => {
    const found = stored.get(personal === true ? `${name}@${owner}` : name);
    const parsed = found === undefined ? undefined : schema().safeParse(found);
    // A value of an older version that is no longer allowed is replaced by the default.
    const normal = standard(ctx.config);
    if (parsed === undefined || !parsed.success) return [name, normal];
    return [name, isObject(parsed.data) && isObject(normal) ? { ...normal, ...parsed.data } : parsed.data];
  });
  return Object.fromEntries(values) as GroupValues<G>;
}

/** One value; cheaper than its group. */
export async function settingOf<G extends Group, K extends keyof GroupValues<G> & string>(
  ctx: Source,
  group: G,
  name: K,
): Promise<GroupValues<G>[K]> {
  return storedOrStandard(ctx, group, name, await ctx.store.settings.one(`${group}.${name}`));
}

function storedOrStandard<G extends Group, K extends keyof GroupValues<G> & string>(
  ctx: Source,
  group: G,
  name: K,
  stored: unknown,
): GroupValues<G>[K] {
  const { schema, standard } = (GROUPS[group] as Fields)[name] as Fields[string];
  const parsed = stored === undefined ? undefined : schema().safeParse(stored);
  return (parsed?.success === true ? parsed.data : standard(ctx.config)) as GroupValues<G>[K];
}

/** Calls on more sites than this become jobs. */
export function batchThreshold(ctx: Source): Promise<number> {
  return settingOf(ctx, 'advanced', 'svc_abilities_batch_threshold');
}

/** Time zone of the dashboard, as `time-zones.ts` takes it. */
export function dashboardZone(ctx: Source): Promise<string> {
  return settingOf(ctx, 'general', 'timezone_string');
}

/** Whether the timetable may work on sites unasked. */
export async function isScheduleOn(ctx: Source): Promise<boolean> {
  return (await settingOf(ctx, 'advanced', 'svc_wp_cron')) === 1;
}

/**
 * Sites not synced since this time are due for their sync. Without a start time the syncs are spread over the day; with
 * one, a round begins then, and the day's other rounds follow at equal intervals.
 */
export async function syncDueSince(ctx: Source, now: number): Promise<{ since: number; per_day: number }> {
  const general = await groupValues(ctx, 'general');
  const per_day = general.frequency_daily_update;
  const between = DAY_MS / per_day;
  const [hour, minute] = general.time_daily_update.split(':').map(Number);
  if (hour === undefined || minute === undefined) return { since: now - between, per_day };
  const zone = general.timezone_string;
  const date = wallOf(now, zone);
  const today = momentOf({ ...date, hour, minute, second: 0 }, zone);
  const yesterday = momentOf({ ...date, day: date.day - 1, hour, minute, second: 0 }, zone);
  const first = today <= now ? today : yesterday;
  // The day on which summer time ends has 25 hours, but no additional round.
  const round = Math.min(per_day - 1, Math.floor((now - first) / between));
  return { since: first + round * between, per_day };
}

const DAY_MS = 24 * 3600_000;

/** A plugin or theme without a release for this long counts as abandoned by default (operations §5.7). */
export const ABANDONED_AFTER_DAYS = 730;

const ABANDONED_AFTER = 'numberdays_outdate_plugin_theme';

/** Days without a release after which a plugin or theme counts as abandoned. */
export function abandonedAfterDays(ctx: Source): Promise<number> {
  return settingOf(ctx, 'general', ABANDONED_AFTER);
}

export interface HealthRule {
  notify: boolean;
  /** Scores below this are bad health. */
  threshold: number;
}

/** Whether bad site health raises alerts, and below which score, for sites without their own rule. */
export async function healthRule(ctx: Source): Promise<HealthRule> {
  const values = await groupValues(ctx, 'monitoring');
  return { notify: values.svc_disable_sites_health_monitoring !== 1, threshold: values.svc_sitehealth_threshold };
}

/** Whether sites are visited after updates. */
export async function checksAfterUpdate(ctx: Source): Promise<boolean> {
  return (await settingOf(ctx, 'general', 'check_http_response')) === 1;
}

/** How sites are visited after updates; null = they are not. */
export async function visitAfterUpdate(ctx: Source): Promise<'GET' | 'HEAD' | null> {
  if (!(await checksAfterUpdate(ctx))) return null;
  return (await settingOf(ctx, 'general', 'check_http_response_method')) === 'head' ? 'HEAD' : 'GET';
}

/** What a sync requests from a child, read in one statement, because every site's sync reads it. */
export async function syncSettings(ctx: Source): Promise<{
  abandonedAfterDays: number;
  /** Parts that differ from what this service requests anyway (child protocol §5.2). */
  parts: Record<string, boolean>;
}> {
  const stored = await ctx.store.settings.several([`general.${ABANDONED_AFTER}`, 'advanced.sync_data']);
  const chosen = stored.get('advanced.sync_data');
  const parsed = chosen === undefined ? undefined : ADVANCED.sync_data.schema().safeParse(chosen);
  return {
    abandonedAfterDays: storedOrStandard(ctx, 'general', ABANDONED_AFTER, stored.get(`general.${ABANDONED_AFTER}`)),
    parts: Object.fromEntries(Object.entries(parsed?.data ?? {}).map(([part, on]) => [part, on === 1])),
  };
}

/** Steps of a read over many sites; one step without a pause. */
export async function fanOutPace(ctx: Source): Promise<{ chunk: number; pause_ms: number }> {
  const pause = await settingOf(ctx, 'advanced', 'svc_chunksleepinterval');
  if (pause === 0) return { chunk: Number.MAX_SAFE_INTEGER, pause_ms: 0 };
  return { chunk: await settingOf(ctx, 'advanced', 'svc_chunksitesnumber'), pause_ms: pause * 1000 };
}

/**
 * The defaults of a monitor without its own settings (REST §6.11.2). Minutes, seconds (0 = no limit), retries before
 * down.
 */
export interface MonitoringDefaults {
  active: boolean;
  interval: number;
  type: 'http' | 'ping' | 'keyword';
  method: string;
  timeout: number;
  maxretries: number;
  expected_status: readonly number[];
  keyword: string;
  /** Concurrent checks. */
  concurrency: number;
}

export async function monitoringDefaults(ctx: Source): Promise<MonitoringDefaults> {
  const values = await groupValues(ctx, 'monitoring');
  const type = values.svc_uptime_monitoring_type;
  const method = values.svc_uptime_monitoring_method;
  return {
    active: values.svc_uptime_monitoring_active === 1,
    interval: values.svc_uptime_monitoring_interval,
    type,
    // A HEAD request has no page in which to look for a keyword.
    method: type === 'keyword' && method === 'head' ? 'get' : method,
    timeout: values.svc_uptime_monitoring_timeout,
    maxretries: values.svc_uptime_monitoring_down_confirmation_check,
    expected_status: values.svc_uptime_monitoring_up_status_codes,
    keyword: values.svc_uptime_monitoring_keyword,
    concurrency: await settingOf(ctx, 'advanced', 'svc_maximum_uptime_monitoring_requests'),
  };
}

/** How many concurrent calls to child sites are allowed, in total and by kind. */
async function callLimits(ctx: Source): Promise<{ concurrency: number; maxSyncs: number; maxUpdates: number }> {
  const values = await groupValues(ctx, 'advanced');
  const stored = await ctx.store.settings.group('advanced.');
  const { concurrency } = ctx.config;
  return {
    // Without a stored setting the environment's number applies, even one beyond the range of the setting.
    concurrency: stored.has('svc_maximum_requests') ? values.svc_maximum_requests : concurrency,
    maxSyncs: stored.has('svc_maximum_sync_requests')
      ? values.svc_maximum_sync_requests
      : Math.max(values.svc_maximum_sync_requests, concurrency),
    maxUpdates: values.svc_maximum_install_update_requests,
  };
}

/** How many sites a job of this type can work on at once. */
export async function callsAtOnce(ctx: Source, type: JobType): Promise<number> {
  const { concurrency, maxSyncs, maxUpdates } = await callLimits(ctx);
  return Math.min(concurrency, type === 'sync' ? maxSyncs : type === 'update' ? maxUpdates : concurrency);
}

/** Applies the limits and checks to the connection to the child sites. At start, and after every change. */
export async function applyConnectionSettings(ctx: Pick<Ctx, 'store' | 'config' | 'child'>): Promise<void> {
  const values = await groupValues(ctx, 'advanced');
  const stored = await ctx.store.settings.group('advanced.');
  ctx.child.configure({
    ...(await callLimits(ctx)),
    perHost: stored.has('svc_maximum_ip_requests') ? values.svc_maximum_ip_requests : ctx.config.per_host,
    minDelayMs: values.svc_minimum_delay,
    perHostDelayMs: values.svc_minimum_ip_delay,
    verify: values.svc_ssl_verify_certificate === 1,
    ipv4Only: values.svc_force_use_ipv4 === 1,
    hash: values.svc_connect_signature_algo,
  });
}
