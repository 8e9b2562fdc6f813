/** Rollouts as callers read them: one with its waves and items, and the list. */

import type { rolloutEntry, rolloutShape } from '../../../../schemas/rollout.js';
import { cut } from '../../../../schemas/text.js';
import type { z } from '../../../../schemas/zod.js';
import { ServiceError } from '../../../runtime/errors.js';
import { isoTime } from '../../../runtime/iso-time.js';
import type {
  RolloutItem,
  RolloutItemState,
  RolloutRow,
  RolloutState,
  ToldRollout,
  WaveRow,
} from '../../../store/rollouts/rollouts.js';
import type { Ctx } from '../../context.js';
import { UPDATE_TYPES } from '../results.js';
import { totalOf } from './advance.js';
import { countsWords } from './plan-words.js';
import type { Rules } from './rules.js';

type Rollout = z.input<ReturnType<typeof rolloutShape>>;
type Entry = z.input<ReturnType<typeof rolloutEntry>>;

/** Runs named per wave, items that are halted, and characters of a reason: an answer is bounded. */
const RUNS = 5;
const HALTED = 10;
const LONGEST = 240;

/** Throws `svc_rollout_not_found`. */
export async function knownRollout(ctx: Ctx, id: string): Promise<RolloutRow> {
  const rollout = await ctx.store.rollouts.find(id);
  if (rollout === undefined) throw notFound();
  return rollout;
}

function notFound(): ServiceError {
  return new ServiceError('svc_rollout_not_found', 'There is no rollout with this id.', {
    field: 'rollout_id',
    advice: 'Find the id with list-rollouts-v1.',
  });
}

/** Nothing goes on in a rollout that has ended. */
function shownState({ state }: WaveRow, { ended_at }: ToldRollout): Rollout['waves'][number]['state'] {
  if (ended_at === null || state === 'done') return state;
  return state === 'waiting' ? 'not_begun' : 'stopped';
}

/** One rollout with a page of its items. Throws `svc_rollout_not_found`. */
export async function getRollout(
  ctx: Ctx,
  id: string,
  states: readonly RolloutItemState[],
  page: number,
  perPage: number,
): Promise<Rollout> {
  const { rollouts } = ctx.store;
  const { rollout, waves, counts, suspects, runs, halted } = await rollouts.details(id);
  if (rollout === undefined) throw notFound();
  const { items, total } = await rollouts.items(rollout.id, states, page, perPage);
  return {
    ...entryOf(rollout, totalOf(counts), suspects),
    next: nextOf(rollout, waves),
    waves: waves.map((wave) => ({
      ...{ wave: wave.wave, state: shownState(wave, rollout), sites: wave.sites, updates: wave.items },
      counts: counts.get(wave.wave) ?? {},
      started_at: isoTime(wave.started_at),
      // Nothing waits for it any more.
      soak_until: rollout.ended_at === null ? isoTime(wave.soak_until) : null,
      approved_by: wave.approved_by,
      run_ids: runs
        .filter((run) => run.wave === wave.wave)
        .slice(0, RUNS)
        .map(({ run_id }) => run_id),
    })),
    halted_items: halted.slice(0, HALTED).map(({ type, slug, version, site_id, at }) => {
      return { type: wordOf(type), slug, version, site_id, at: isoTime(at) ?? '' };
    }),
    items: items.map(itemOf),
    total,
    page,
    per_page: perPage,
  };
}

/** Newest first, one page. */
export async function listRollouts(ctx: Ctx, state: RolloutState | undefined, page: number, perPage: number) {
  const { items, total } = await ctx.store.rollouts.page(state, page, perPage);
  const rollouts = await Promise.all(
    items.map(async (rollout) => {
      const { counts, suspects } = await ctx.store.rollouts.tally(rollout.id);
      return entryOf(rollout, totalOf(counts), suspects);
    }),
  );
  return { rollouts, total, page, per_page: perPage };
}

function entryOf(rollout: ToldRollout, counts: Entry['counts'] & object, suspects: number): Entry {
  const { id, plan_id, digest, state, reason, actor } = rollout;
  return {
    ...{ rollout_id: id, plan_id, digest, state, reason, by: actor },
    started_at: isoTime(rollout.started_at) ?? '',
    ended_at: isoTime(rollout.ended_at),
    summary: `Updates: ${countsWords(counts)}.${suspects === 0 ? '' : ` Suspect, though kept: ${suspects}.`}`,
    counts,
    approval_wave: rollout.approval_wave,
  };
}

/** What it waits for, in a sentence; '' = it has ended. */
function nextOf({ state, rules, settled_at }: RolloutRow, waves: readonly WaveRow[]): string {
  if (state === 'paused') return 'It is paused: sites in progress are finished, and no other starts.';
  if (state !== 'running') return settled_at === null ? 'Sites in progress are finished; no other starts.' : '';
  const wave = waves.find((one) => one.state !== 'done');
  if (wave === undefined) return '';
  if (wave.check_job !== null) return `The sites of wave ${wave.wave} are being checked.`;
  if (wave.state === 'soaking') return `Wave ${wave.wave} soaks until ${isoTime(wave.soak_until)}.`;
  if (wave.state === 'running') return `Wave ${wave.wave} is in progress, or is waiting for the windows of its sites.`;
  const { approve_waves } = JSON.parse(rules) as Rules;
  return approve_waves && wave.wave > 1 && wave.approved_by === null
    ? `Wave ${wave.wave} is waiting for approval.`
    : `Wave ${wave.wave} begins.`;
}

function wordOf(type: number) {
  return UPDATE_TYPES[type] ?? ('plugin' as const);
}

function itemOf({ type, code, suspect, ...row }: RolloutItem): Rollout['items'][number] {
  const findings = JSON.parse(suspect ?? '[]') as string[];
  const message = findings.length === 0 ? row.message : `Suspect, though kept: ${findings.join(' ')}`;
  const { wave, site_id, site_url, site_name, slug, old_version, new_version, state, run_id, change_id } = row;
  return {
    ...{ wave, site_id, site_url, site_name, type: wordOf(type), slug, old_version, new_version, state },
    ...(code === '' ? {} : { code }),
    ...(message === '' ? {} : { message: cut(message, LONGEST) }),
    ...{ run_id, change_id },
  };
}
