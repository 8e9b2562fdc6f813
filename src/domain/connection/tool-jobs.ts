/**
 * Tools that run on all sites in the background: end sessions, renew connections, disconnect (REST §6.10.8). Their
 * state is stored, so a job outlives the process that started it.
 */

import { randomUUID } from 'node:crypto';
import { siteWord } from '../../../schemas/site-text.js';
import { ChildFailure } from '../../outbound/child/port.js';
import { type ErrorCode, ServiceError } from '../../runtime/errors.js';
import type { Origin } from '../../runtime/events.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { ToolKind } from '../../store/jobs/tool-jobs.js';
import { type Ctx, originOf } from '../context.js';
import { liveSiteError, requireLive } from '../sites/live.js';
import { type LoadedSite, loadSites, requireConnection, requireNotOnTrial } from '../sites/load.js';
import { allSites } from '../sites/sites.js';
import { renewRegistration } from './connection.js';

interface Tool {
  /** Member of the start answer that contains the id, and last part of the status path. */
  id_name: string;
  path: string;
  missing: ErrorCode;
  /** Throws if the work on the site failed. */
  run(ctx: Ctx, target: LoadedSite): Promise<void>;
}

const TOOLS: Record<ToolKind, Tool> = {
  destroy: {
    id_name: 'destroy_id',
    path: 'destroy-sessions-status',
    missing: 'destroy_session_job_not_found',
    run: destroySessions,
  },
  renew: {
    id_name: 'renew_id',
    path: 'renew-connections-status',
    missing: 'renew_connection_job_not_found',
    run: renewConnection,
  },
  disconnect: {
    id_name: 'disconnect_id',
    path: 'disconnect-all-sites-status',
    missing: 'disconnect_job_not_found',
    run: disconnect,
  },
};

/** Starts the tool on all sites except suspended ones, or returns the running job. Throws `no_website_found`. */
export async function startTool(ctx: Ctx, kind: ToolKind) {
  const sites = await allSites(ctx, { not_suspended: true });
  if (sites.length === 0) {
    throw new ServiceError('no_website_found', 'No site matches.', {
      advice: 'Add a site, or unsuspend one.',
    });
  }
  const id = `${kind}_${randomUUID()}`;
  const job = await ctx.store.toolJobs.add(
    { id, kind, sites: sites.map((site) => site.id), origin: originOf(ctx) },
    ctx.clock.now(),
  );
  if (job.added) ctx.events.emit({ name: 'tool_job.queued', facts: { job_id: id, kind, sites: sites.length } });
  const { id_name, path } = TOOLS[kind];
  return {
    [id_name]: job.id,
    status_url: `${ctx.base_url}/v2/settings/tools/${path}/${job.id}`,
    already_running: !job.added,
  };
}

const SHOWN_ERRORS = 10;

/** The progress of a run. Throws the tool's own 404 code. */
export async function toolStatus(ctx: Ctx, kind: ToolKind, id: string) {
  const job = await ctx.store.toolJobs.find(kind, id);
  if (job === undefined) {
    throw new ServiceError(TOOLS[kind].missing, 'This tool has no job with this id. Jobs are kept for a day.', {
      field: TOOLS[kind].id_name,
      advice: `Use the ${TOOLS[kind].id_name} returned when the tool was started.`,
    });
  }
  const errors = await ctx.store.toolJobs.errors(id, SHOWN_ERRORS);
  const processed = job.succeeded + job.failed;
  return {
    status: job.status,
    total: job.total,
    processed,
    failed: job.failed,
    progress: job.total === 0 ? 100 : Math.floor((1000 * processed) / job.total) / 10,
    errors: errors.map(({ site_id, message }) => ({ site_id, error: message })),
    started_at: isoTime(job.started_at),
    completed_at: isoTime(job.completed_at),
  };
}

const STEP = 5;
const STEP_PAUSE_MS = 3000;
const LEASE_MS = 120_000;
const KEPT_MS = 24 * 3600_000;
/** A job that has not ended by then was left by an outage, or is that of a backup: nobody expects it to go on. */
const LONGEST_MS = 24 * 3600_000;

/** Runs every tool job that no other process holds, step by step. Called when one is started, and by the schedule. */
export async function runToolJobs(ctx: Ctx): Promise<string> {
  const began = ctx.clock.now();
  await ctx.store.toolJobs.expire(began - KEPT_MS);
  const oldest = began - ctx.clock.steps(LONGEST_MS).forward - LONGEST_MS;
  for (const { id, kind } of await ctx.store.toolJobs.endOld(oldest, began))
    ctx.events.emit({ name: 'tool_job.completed', facts: { job_id: id, kind } });
  const owner = randomUUID();
  let worked = 0;
  for (;;) {
    const now = ctx.clock.now();
    const job = await ctx.store.toolJobs.claim(owner, now, now + LEASE_MS, now - ctx.clock.steps(LEASE_MS).forward);
    if (job === undefined) return worked === 0 ? 'nothing to do' : `${worked} worked on`;
    worked++;
    try {
      const events = job.origin === '' ? ctx.events : ctx.events.from(JSON.parse(job.origin) as Origin);
      await workOff({ ...ctx, events }, job.id, job.kind, owner);
    } finally {
      if (ctx.signal.aborted) await ctx.store.toolJobs.release(job.id, owner);
    }
  }
}

async function workOff(ctx: Ctx, id: string, kind: ToolKind, owner: string): Promise<void> {
  for (let first = true; ; first = false) {
    const entries = await ctx.store.toolJobs.next(id, STEP);
    if (entries.length === 0) break;
    if (!first) await ctx.clock.sleep(STEP_PAUSE_MS, ctx.signal);
    const targets = await loadSites(
      ctx,
      entries.map((entry) => entry.site_id),
    );
    const outcomes = await Promise.all(
      entries.map(async ({ position, site_id }) => ({
        position,
        message: await onOne(ctx, kind, targets.get(site_id), site_id),
      })),
    );
    ctx.signal.throwIfAborted();
    if (!(await ctx.store.toolJobs.note(id, owner, outcomes, ctx.clock.now() + LEASE_MS))) return;
  }
  await ctx.store.toolJobs.finish(id, owner, ctx.clock.now());
  ctx.events.emit({ name: 'tool_job.completed', facts: { job_id: id, kind } });
}

/** The error on one site; '' = none. */
async function onOne(ctx: Ctx, kind: ToolKind, target: LoadedSite | undefined, siteId: number): Promise<string> {
  if (target === undefined) return 'The site was removed before its turn came.';
  try {
    requireNotOnTrial(target);
    if (target.site.suspended === 1) requireLive(target);
    await ctx.locks.exclusive(siteId, ctx.signal, (held) =>
      TOOLS[kind].run({ ...ctx, signal: AbortSignal.any([ctx.signal, held]) }, target),
    );
    return '';
  } catch (error) {
    const failure = liveSiteError(error, siteId);
    if (failure.code === 'svc_internal_error' && !ctx.signal.aborted)
      ctx.log.error({ err: failure.cause ?? error, site_id: siteId, tool: kind }, 'unexpected failure of a tool');
    return failure.message;
  }
}

/** Maximum number of administrators processed per site. */
const MAX_ADMINS = 100;

/** Ends the logins of all administrators: the child ends those of the user it is called as, and only lets administrators in. */
async function destroySessions(ctx: Ctx, target: LoadedSite): Promise<void> {
  requireLive(target);
  const connection = requireConnection(target);
  const options = { signal: ctx.signal };
  const admins = (await ctx.child.users(connection, ['administrator'], options)).slice(0, MAX_ADMINS);
  const logins = admins.map(({ login }) => login).filter((login) => login !== '');
  const others = logins.filter((login) => login !== connection.user);
  // Our own user last: its sessions are those of these calls, too.
  for (const user of [...others, connection.user]) {
    if (!(await ctx.child.endSessions(connection, user, options)))
      throw new ServiceError(
        'svc_child_error',
        `The site did not confirm that the sessions of ${siteWord(user)} were ended.`,
      );
  }
  ctx.events.emit({ name: 'site.sessions_destroyed', site_id: target.site.id, facts: { users: others.length + 1 } });
}

/** A fresh key, registered straight over the old one: that cannot strand the site (child protocol §4). */
async function renewConnection(ctx: Ctx, target: LoadedSite): Promise<void> {
  await renewRegistration(ctx, target);
  await ctx.store.sites.markConnected(target.site.id, ctx.clock.now());
  ctx.events.emit({ name: 'site.connection_renewed', site_id: target.site.id, facts: {} });
}

/** Marks the site first, so that it is not contacted again even when it cannot be reached now. */
async function disconnect(ctx: Ctx, target: LoadedSite): Promise<void> {
  const { site } = target;
  const changed = await ctx.store.sites.mark([site.id], { disconnected: true }, ctx.clock.now());
  if (changed.length > 0) ctx.events.emit({ name: 'site.disconnected', site_id: site.id, facts: {} });
  try {
    await ctx.child.disconnect(requireConnection(target), { signal: ctx.signal });
  } catch (error) {
    // It no longer accepts our key, which was the aim.
    if (error instanceof ChildFailure && error.kind === 'refused') return;
    const { message } = liveSiteError(error, site.id);
    throw new ServiceError(
      'svc_disconnect_failed',
      `Marked as disconnected here, but the site did not confirm it: ${message}`,
    );
  }
}
