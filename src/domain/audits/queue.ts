/** Processes the queue of performance audits, one at a time: each takes a browser and most of a processor. */

import type { AuditEngine, AuditFailure } from '../../outbound/audit/audit.js';
import { ServiceError } from '../../runtime/errors.js';
import type { ClaimedAudit } from '../../store/audits/audits.js';
import type { Ctx } from '../context.js';
import { isScheduleOn } from '../settings/effects.js';
import { strategiesOf } from './audits.js';
import { auditSettings, requireEngine } from './settings.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Longer than the longest audit: an older lease belongs to a dead process. */
const LEASE_MS = 5 * MINUTE_MS;
/** One run of the queue ends after this, so that its outcome is recorded regularly. */
const RUN_MS = 10 * MINUTE_MS;
const TRIES = 3;
/** Maximum number of sites that one run queues by schedule. */
const DUE_AT_ONCE = 200;

/** Queues the audits that are due by schedule, then runs audits until the queue is empty or the time is up. */
export async function runAudits(ctx: Ctx): Promise<string> {
  if (!ctx.config.modules.includes('perf-audit')) return 'the module is disabled';
  const scheduled = (await isScheduleOn(ctx)) ? await queueDue(ctx) : 0;
  const began = ctx.clock.elapsed();
  let done = 0;
  let failed = 0;
  while (!ctx.signal.aborted && ctx.clock.elapsed() - began < RUN_MS) {
    const now = ctx.clock.now();
    const audit = await ctx.store.audits.claim(now, now + LEASE_MS, now - ctx.clock.steps(LEASE_MS).forward);
    if (audit === undefined) break;
    if (await runOne(ctx, audit)) done++;
    else failed++;
  }
  if (scheduled + done + failed === 0) return 'nothing due';
  return `${scheduled} queued by schedule, ${done} audited, ${failed} not`;
}

/** False if the audit brought no result, temporarily or finally. */
async function runOne(ctx: Ctx, audit: ClaimedAudit): Promise<boolean> {
  let engine: AuditEngine | '' = '';
  try {
    if (audit.site_status !== 'connected')
      throw new ServiceError('svc_site_offline', `The site is ${audit.site_status}.`);
    const chosen = await requireEngine(ctx);
    engine = chosen.engine;
    const outcome = await ctx.auditor.run({
      engine,
      url: audit.url,
      strategy: audit.strategy,
      locale: chosen.settings.language,
      key: chosen.key,
      signal: ctx.signal,
    });
    await ctx.store.audits.complete(audit.id, outcome, ctx.clock.now());
    const facts = { strategy: audit.strategy, performance: outcome.performance };
    ctx.events.emit({ name: 'audit.completed', site_id: audit.site_id, facts });
    if (outcome.performance !== null && outcome.performance < chosen.settings.threshold)
      ctx.events.emit({
        name: 'audit.poor',
        site_id: audit.site_id,
        facts: { ...facts, threshold: chosen.settings.threshold },
      });
    return true;
  } catch (error) {
    await settleFailure(ctx, audit, engine, error);
    return false;
  }
}

async function settleFailure(ctx: Ctx, audit: ClaimedAudit, engine: string, error: unknown): Promise<void> {
  const now = ctx.clock.now();
  if (ctx.signal.aborted) {
    // The service is stopping: the audit did not fail, and waits for the next start.
    await ctx.store.audits.postpone(audit.id, now, null, false);
    return;
  }
  const failure = isAuditFailure(error) ? error : null;
  if (failure?.cause !== undefined || (failure === null && !(error instanceof ServiceError)))
    ctx.log.warn({ err: failure?.cause ?? error, site_id: audit.site_id }, 'a performance audit failed');
  const known = failure ?? (error instanceof ServiceError ? error : null);
  const message = known?.message ?? 'The audit failed; see the log for the reason.';
  const retry = failure?.retryAfterMs ?? null;
  if (retry !== null && audit.attempts < TRIES) {
    await ctx.store.audits.postpone(audit.id, now + retry, message, true);
    return;
  }
  await ctx.store.audits.fail(audit.id, engine, message, now);
  ctx.events.emit({
    name: 'audit.failed',
    site_id: audit.site_id,
    facts: { strategy: audit.strategy, reason: message },
  });
}

/** Recognized by name: the class belongs to the engines, which no verb imports. */
function isAuditFailure(error: unknown): error is AuditFailure {
  return error instanceof Error && error.name === 'AuditFailure';
}

async function queueDue(ctx: Ctx): Promise<number> {
  const settings = await auditSettings(ctx);
  const now = ctx.clock.now();
  // An hour less than the period: the next day's run must not find the last audit a minute too recent.
  const since = {
    daily: now - DAY_MS + 3_600_000,
    weekly: now - 7 * DAY_MS + 3_600_000,
    monthly: now - 30 * DAY_MS + 3_600_000,
  };
  const due = await ctx.store.audits.due(settings.schedule, since, DUE_AT_ONCE);
  if (due.length === 0) return 0;
  const wanted = due.flatMap(({ site_id, strategy }) =>
    strategiesOf(strategy ?? settings.strategy).map((name) => ({ site_id, strategy: name })),
  );
  return (await ctx.store.audits.request(wanted, now)).size;
}
