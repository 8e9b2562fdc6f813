/** Performance audits: requesting them, and their results (REST §6.7). The queue is processed in queue.ts. */

import type { AuditStrategyChoice } from '../../../schemas/audit.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import { setFields } from '../../runtime/set-fields.js';
import type { AuditChoice, AuditRow, AuditSite, AuditStatus, AuditStrategy } from '../../store/audits/audits.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { allSites } from '../sites/sites.js';
import { auditSettings, requireEngine } from './settings.js';

const STRATEGIES: readonly AuditStrategy[] = ['desktop', 'mobile'];
/** Number of score history points returned with one site. */
const HISTORY = 100;
const AT_ONCE = 5000;

export function strategiesOf(choice: AuditStrategyChoice): readonly AuditStrategy[] {
  return choice === 'both' ? STRATEGIES : [choice];
}

/**
 * Queues audits of all supported sites, or of the named ones. `queued` includes the sites of `already_queued`, of which
 * every audit that was asked for was queued before.
 */
export async function requestAudits(
  ctx: Ctx,
  filter: { include?: readonly number[] | undefined; exclude?: readonly number[] | undefined },
  strategy: AuditStrategyChoice | undefined,
): Promise<{
  states: Record<number, 'queued' | 'skipped'>;
  queued: number;
  already_queued: number[];
  total: number;
}> {
  const { settings } = await requireEngine(ctx);
  const excluded = new Set(filter.exclude ?? []);
  const include = filter.include === undefined || filter.include.length === 0 ? null : new Set(filter.include);
  const sites = (await allSites(ctx)).filter(
    (site) => !excluded.has(site.id) && (include === null || include.has(site.id)),
  );
  const chosen = sites.filter(supported);
  const choices = await ctx.store.audits.choices(chosen.map(({ id }) => id));
  const wanted = chosen.flatMap((site) => {
    const own = strategy ?? choices.get(site.id)?.strategy ?? settings.strategy;
    return strategiesOf(own).map((name) => ({ site_id: site.id, strategy: name }));
  });
  const added = new Set<number>();
  for (let i = 0; i < wanted.length; i += AT_ONCE) {
    const some = await ctx.store.audits.request(wanted.slice(i, i + AT_ONCE), ctx.clock.now());
    for (const id of some) added.add(id);
  }
  const already_queued = chosen.map(({ id }) => id).filter((id) => !added.has(id));
  const states = Object.fromEntries(sites.map((site) => [site.id, supported(site) ? 'queued' : 'skipped'] as const));
  return { states, queued: chosen.length, already_queued, total: sites.length };
}

/**
 * Queues the audit of one site; `already_queued` if it was queued before. Throws `svc_perf_audit_not_configured`,
 * `svc_site_suspended`, `svc_site_disconnected`.
 */
export async function requestAudit(
  ctx: Ctx,
  site: SiteRow,
  strategy: AuditStrategyChoice | undefined,
): Promise<{ already_queued: boolean }> {
  const { settings } = await requireEngine(ctx);
  if (site.status === 'suspended')
    throw refused('svc_site_suspended', site.id, 'suspended', 'Lift the suspension first.');
  if (site.status === 'disconnected')
    throw refused('svc_site_disconnected', site.id, 'disconnected', 'Reconnect it first.');
  const own = strategy ?? (await ctx.store.audits.choices([site.id])).get(site.id)?.strategy ?? settings.strategy;
  const wanted = strategiesOf(own).map((name) => ({ site_id: site.id, strategy: name }));
  const queued = await ctx.store.audits.request(wanted, ctx.clock.now());
  return { already_queued: queued.size === 0 };
}

/** Connected sites only: suspended ones are left alone, disconnected ones may be gone. */
function supported(site: SiteRow): boolean {
  return site.status === 'connected';
}

function refused(code: 'svc_site_suspended' | 'svc_site_disconnected', siteId: number, state: string, advice: string) {
  return new ServiceError(code, `Site ${siteId} is ${state}, so it is not audited.`, {
    advice,
    data: { site_id: siteId },
  });
}

/** Results of audited sites, one page. */
export async function listResults(
  ctx: Ctx,
  filter: {
    include?: readonly number[] | undefined;
    exclude?: readonly number[] | undefined;
    search?: string | undefined;
  },
  strategy: AuditStrategyChoice,
  page: number,
  perPage: number,
) {
  const { items, total } = await ctx.store.audits.sites(filter, page, perPage);
  return { items: await views(ctx, items, strategy), total, page, per_page: perPage };
}

/** The result of one site, with its scores over time, newest first. */
export async function siteResult(ctx: Ctx, site: AuditSite | SiteRow, strategy: AuditStrategyChoice) {
  const [[view], scores] = await Promise.all([
    views(ctx, [site], strategy),
    ctx.store.audits.scores(site.id, 0, Number.MAX_SAFE_INTEGER, HISTORY),
  ]);
  const shown = new Set(strategiesOf(strategy));
  const history = scores
    .filter((point) => shown.has(point.strategy))
    .map((point) => ({ ...point, at: isoTime(point.at) }));
  return { ...view, history };
}

/** Null restores the module's setting. */
export async function chooseForSite(
  ctx: Ctx,
  site: SiteRow,
  change: { strategy?: AuditChoice['strategy'] | undefined; schedule?: AuditChoice['schedule'] | undefined },
): Promise<void> {
  const before = (await ctx.store.audits.choices([site.id])).get(site.id) ?? { strategy: null, schedule: null };
  await ctx.store.audits.choose(site.id, {
    strategy: change.strategy === undefined ? before.strategy : change.strategy,
    schedule: change.schedule === undefined ? before.schedule : change.schedule,
  });
  const fields = setFields(change);
  ctx.events.emit({ name: 'site.audits_chosen', site_id: site.id, facts: { fields } });
}

async function views(
  ctx: Ctx,
  sites: readonly { id: number; url: string; name: string }[],
  strategy: AuditStrategyChoice,
) {
  const ids = sites.map(({ id }) => id);
  const [rows, choices, settings] = await Promise.all([
    ctx.store.audits.newest(ids),
    ctx.store.audits.choices(ids),
    auditSettings(ctx),
  ]);
  const shown = new Set(strategiesOf(strategy));
  return sites.map(({ id, url, name }) => {
    const audits = (rows.get(id) ?? []).filter((row) => shown.has(row.strategy));
    const choice = choices.get(id) ?? { strategy: null, schedule: null };
    return {
      id,
      url,
      name,
      desktop: resultOf(audits, 'desktop'),
      mobile: resultOf(audits, 'mobile'),
      ...stateOf(audits),
      strategy: choice.strategy ?? settings.strategy,
      schedule: choice.schedule ?? settings.schedule,
      override: choice.strategy !== null || choice.schedule !== null,
    };
  });
}

/** The latest result; a running or failed audit since then does not remove it. */
function resultOf(audits: readonly AuditRow[], strategy: AuditStrategy) {
  const row = audits.find((audit) => audit.strategy === strategy && audit.status === 'completed');
  if (row === undefined) return null;
  return {
    score: row.performance,
    seo: row.seo,
    accessibility: row.accessibility,
    best_practices: row.best_practices,
    lab_data: JSON.parse(row.lab_data) as unknown,
    others_data: JSON.parse(row.others_data) as unknown,
    last_modified: isoTime(row.finished_at),
    response_code: row.response_code,
    engine: row.engine,
  };
}

/** Of the latest audit of each strategy, the state with the longest wait; with the reason if it failed. */
const ORDER: readonly AuditStatus[] = ['running', 'pending', 'failed', 'completed'];

function stateOf(audits: readonly AuditRow[]): { status: AuditStatus | null; error: string | null } {
  const newest = STRATEGIES.flatMap((strategy) => audits.find((audit) => audit.strategy === strategy) ?? []);
  const [first] = [...newest].sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));
  if (first === undefined) return { status: null, error: null };
  return { status: first.status, error: first.status === 'completed' ? null : first.error };
}
