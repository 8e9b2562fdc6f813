/**
 * Advances rollouts: one wave after the other, each site in its window, with a pause between waves. Run by the schedule.
 * Every step is stored before its effect, so that another process goes on after any crash, and no step is taken twice.
 */

import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../../../runtime/errors.js';
import type { Origin } from '../../../runtime/events.js';
import type { RolloutRow, WaveRow } from '../../../store/rollouts/rollouts.js';
import { loggedStep } from '../../action-log/step.js';
import { newJobId, queueJob } from '../../actions/jobs.js';
import type { Ctx } from '../../context.js';
import { updateHandler } from '../handler.js';
import type { UpdateParams } from '../params.js';
import { queueRun } from '../runs/call.js';
import { applyHaltRules, halt } from './halt-rules.js';
import { countsWords } from './plan-words.js';
import { isOpen, MINUTE_MS, type Rules } from './rules.js';

/** Advances every rollout that is not settled. A read-only server begins no wave. */
export async function advanceRollouts(ctx: Ctx): Promise<string> {
  if (ctx.config.read_only) return 'read only';
  const open = await ctx.store.rollouts.open();
  for (const { id } of open) {
    if (ctx.signal.aborted) break;
    try {
      await advance(ctx, id);
    } catch (error) {
      ctx.signal.throwIfAborted();
      ctx.log.error({ err: error, rollout: id }, 'a rollout could not be advanced and will be tried again');
    }
  }
  return `${open.length} open`;
}

/** Takes every step of a rollout that can be taken now. */
export async function advance(caller: Ctx, id: string): Promise<void> {
  for (;;) {
    const rollout = await caller.store.rollouts.find(id);
    if (rollout === undefined || !(await step(asStarter(caller, rollout), rollout))) return;
  }
}

/** What a rollout does is done in the name of its starter. */
function asStarter(ctx: Ctx, rollout: Pick<RolloutRow, 'origin'>): Ctx {
  const origin = JSON.parse(rollout.origin) as Origin;
  const { type, id, name, via, operation, request_id, client = '' } = origin;
  const actor = { type, id, name, via, rights: ctx.actor.rights };
  return { ...ctx, actor, operation, request_id, client, run_id: '', events: ctx.events.from(origin) };
}

/** One step; false if there is none until something happens or time has passed. */
async function step(ctx: Ctx, rollout: RolloutRow): Promise<boolean> {
  const { rollouts } = ctx.store;
  const { id } = rollout;
  if (rollout.settled_at !== null) return false;
  await queueRuns(ctx, id);
  const waves = await rollouts.waves(id);
  const wave = waves.find(({ state }) => state !== 'done');
  if (rollout.ended_at !== null) {
    await tellEnd(ctx, rollout, () => rollouts.settle(id, ctx.clock.now()));
    return false;
  }
  if (wave === undefined) {
    const reason = 'Every wave is done.';
    return tellEnd(ctx, { id, state: 'completed', reason }, () => rollouts.complete(id, reason, ctx.clock.now()));
  }
  if (await applyHaltRules(ctx, rollout, wave.wave)) return true;
  if (rollout.state !== 'running') return false;
  const rules = JSON.parse(rollout.rules) as Rules;
  if (wave.state === 'waiting') return beginWave(ctx, id, wave, rules);
  if (wave.state === 'running') return workWave(ctx, id, wave, rules, waves.length);
  const soaked = rules.soak_minutes * MINUTE_MS;
  // A clock that was set forward shortens no pause.
  if (ctx.clock.now() - ctx.clock.steps(soaked).forward < (wave.soak_until ?? 0)) return false;
  if (!(await isChecked(ctx, id, wave))) return false;
  if (await applyHaltRules(ctx, rollout, wave.wave)) return true;
  // Left alone by an ignored update, a cancelled job or a newer version, the first sites have shown nothing.
  const isFirst = wave.wave === 1 && (await rollouts.anythingLeft(id));
  if (isFirst && !(await rollouts.hasKept(id, wave.wave)))
    return halt(ctx, id, 'None of the updates of the first wave was made, so nothing is known about them.');
  return rollouts.endWave(id, wave.wave);
}

/** Visits the sites of a wave that has soaked, as a job: whether all were visited, so that their state can be judged. */
async function isChecked(ctx: Ctx, id: string, { wave, check_job }: WaveRow): Promise<boolean> {
  const { rollouts, jobs } = ctx.store;
  if (check_job === null) {
    await rollouts.nameCheck(id, wave, newJobId('check'));
    const named = (await rollouts.waves(id)).find((one) => one.wave === wave);
    return named !== undefined && named.check_job !== null && isChecked(ctx, id, named);
  }
  const job = await jobs.find(check_job);
  if (job !== undefined) {
    if (job.completed_at === null) return false;
    if (!(await jobs.wasCancelled(check_job))) return true;
    // A cancelled check is made again, as the sites were not visited. A rollout is stopped by pausing or aborting it.
    await rollouts.nameCheck(id, wave, newJobId('check'), check_job);
    return false;
  }
  const sites = (await rollouts.keptSites(id, wave)).map((site) => ({ id: site }));
  if (sites.length === 0) return true;
  await queueJob(ctx, 'check', { sites, errors: [] }, {}, { id: check_job }).catch(async (error: unknown) => {
    // Another process was faster.
    if ((await jobs.find(check_job)) === undefined) throw error;
  });
  return false;
}

async function beginWave(ctx: Ctx, id: string, { wave, sites, items, approved_by }: WaveRow, rules: Rules) {
  const { rollouts } = ctx.store;
  if (!(await rollouts.anythingLeft(id))) return halt(ctx, id, 'Every update that is left broke a site before.');
  if (wave > 1 && rules.approve_waves && approved_by === null) return false;
  const detail = `Wave ${wave}: ${items} updates on ${sites} sites.`;
  return loggedStep(ctx, { name: 'rollout.wave_started', facts: { rollout_id: id, detail } }, () =>
    rollouts.beginWave(id, wave, ctx.clock.now()),
  );
}

/** Windows that a site may miss because its turn came too late, and how long its wave waits for it at least. */
const MOST_MISSED = 2;
const WAIT_MS = 8 * 24 * 60 * MINUTE_MS;
const MISSED: { code: ErrorCode; message: string } = {
  code: 'svc_window_missed',
  message: 'Its turn came more than once when its window was over, so the rollout went on without it.',
};

/** Gives the sites whose window is open their turn; once all had it, and nothing is at work, the wave soaks. */
async function workWave(ctx: Ctx, id: string, { wave, started_at }: WaveRow, rules: Rules, waves: number) {
  const { rollouts } = ctx.store;
  const now = ctx.clock.now();
  // Every window opens within a week. A pause, or a service that stood still, is no window that was missed.
  if (now - ctx.clock.steps(WAIT_MS).forward - (started_at ?? now) > WAIT_MS)
    await rollouts.giveUp(id, wave, MOST_MISSED, MISSED);
  const ready = (await rollouts.waiting(id, wave)).filter((site) => isOpen(rules, site, now));
  if (ready.length > 0) {
    const sites = ready.map(({ site_id }) => site_id);
    await rollouts.assign(id, wave, sites, `run_${randomUUID()}`);
    await queueRuns(ctx, id);
    return false;
  }
  const counts = await rollouts.worked(id, wave);
  if (counts === undefined) return false;
  const until = wave === waves ? now : now + rules.soak_minutes * MINUTE_MS;
  const detail = `Wave ${wave}: ${countsWords(counts)}.`;
  return loggedStep(ctx, { name: 'rollout.wave_ended', facts: { rollout_id: id, detail } }, () =>
    rollouts.soakWave(id, wave, now, until),
  );
}

/** Queues the jobs of runs that have none: also of a process that died before it came to that. */
async function queueRuns(ctx: Ctx, id: string): Promise<void> {
  const { rollouts, updateRuns } = ctx.store;
  const params: UpdateParams & { rollout: string } = {
    types: [],
    specific_items: [],
    rollout: id,
    safe: { on_suspect: 'keep', least_protection: 'none', paths: [] },
  };
  for (const { run_id, site_ids } of await rollouts.unqueued(id)) {
    const sites = site_ids.map((site) => ({ id: site }));
    await queueRun({ ...ctx, run_id }, updateHandler, { sites, errors: [] }, params).catch(async (error: unknown) => {
      // Another process was faster.
      if ((await updateRuns.find(run_id)) === undefined) throw error;
    });
  }
}

/** Once nothing of an ended rollout is at work, its outcome is told: it does not change any more. */
async function tellEnd(
  ctx: Ctx,
  { id, state, reason }: Pick<RolloutRow, 'id' | 'state' | 'reason'>,
  settle: () => Promise<boolean>,
): Promise<boolean> {
  const counts = await ctx.store.rollouts.outcome(id);
  if (counts === undefined) return false;
  const detail = `${state}: ${countsWords(totalOf(counts))}. ${reason}`;
  return loggedStep(ctx, { name: 'rollout.ended', facts: { rollout_id: id, detail } }, settle);
}

/** The counts of all waves. */
export function totalOf(waves: ReadonlyMap<number, Readonly<Record<string, number>>>): Record<string, number> {
  const total: Record<string, number> = {};
  for (const counts of waves.values())
    for (const [state, n] of Object.entries(counts)) total[state] = (total[state] ?? 0) + n;
  return total;
}
