/** The job handler of an undo: plans it again for each site, from the site's state at that time, and carries it out. */

import type { Earlier, JobHandler } from '../actions/handler.js';
import { outcomeOfItems } from '../actions/outcomes.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from '../sites/load.js';
import { type Progress, type StepResult, undoOnSite } from './on-site.js';
import { type Left, type Plan, planOf, refused, type Step } from './plan.js';
import { changesOf, type Selected } from './select.js';
import { type Restored, siteStates } from './site-states.js';

export interface SiteUndo {
  results: StepResult[];
  left: Left[];
  /** What an earlier run, which was interrupted, had restored, or had begun to. */
  earlier?: Left[];
  /** The call ran out of time: what was under way then. Of the rest nothing is known yet. */
  interrupted?: readonly Step[];
}

interface Planning {
  restored?: Restored;
  /**
   * A job comes after what the call did to records: a site that was not its client's then did not follow the suspension of
   * the client, so it does now.
   */
  inJob?: boolean;
}

/** What would be restored on a site, and what not. */
export async function planSite(
  ctx: Ctx,
  target: LoadedSite,
  selected: Selected,
  { restored, inJob = false }: Planning = {},
): Promise<Plan> {
  const meant = await changesOf(ctx, selected, target.site.id);
  const following = inJob ? meant.following : [];
  const changes = [...meant.changes, ...following];
  const { steps, left } = planOf(changes, await siteStates(ctx, target, changes, restored));
  const followed = new Set(following.map(({ entry }) => entry));
  return { steps, left: [...left.filter(({ entry }) => !followed.has(entry)), ...meant.refusals.map(refused)] };
}

const planInJob = (ctx: Ctx, target: LoadedSite, selected: Selected) =>
  planSite(ctx, target, selected, { inJob: true });

async function undo(ctx: Ctx, target: LoadedSite, { steps, left }: Plan): Promise<SiteUndo> {
  const progress: Progress = { results: [], under: [] };
  try {
    await undoOnSite(ctx, target, steps, progress);
  } catch (error) {
    if (!ctx.signal.aborted) throw error;
    return { results: progress.results, left: [], interrupted: progress.under };
  }
  return { results: progress.results, left };
}

/**
 * What is as it was before because the interrupted run restored it: by the log, or by what it reported, which also names
 * what the site had not answered yet.
 */
async function restoredBefore(ctx: Ctx, siteId: number, left: readonly Left[], told: Earlier['items']) {
  const isTold = ({ slug, field }: Left) =>
    told.some(({ done, facts }) => done !== false && facts.slug === slug && facts.field === field);
  const own = ctx.events.origin;
  const rows =
    own === undefined
      ? []
      : await ctx.store.actionLog.undoneBy({ ...own, actor_type: own.type, actor_id: own.id, actor: own.name }, siteId);
  const undone = new Set(rows.flatMap(({ undoes }) => undoes.split(',').filter(Boolean).map(Number)));
  const isLogged = ({ entry, kind, slug }: Left) =>
    entry > 0
      ? undone.has(entry)
      : rows.some((row) => row.action === 'rolled-back' && row.context === kind && row.slug === slug);
  return left.filter((one) => one.code === 'svc_already_undone' && (isTold(one) || isLogged(one)));
}

export const undoHandler: JobHandler<Selected, SiteUndo> = {
  type: 'undo',
  failure: 'svc_operation_failed',
  // As updates, which it rolls back.
  waitsAfterMs: 60_000,
  run: async (ctx, target, selected) => undo(ctx, target, await planInJob(ctx, target, selected)),
  interrupted: (result) => result.interrupted !== undefined,
  // What the interrupted run did is as it was before by now, and counts as done.
  async resume(ctx, target, selected, { items }) {
    const { left, ...rest } = await undo(ctx, target, await planInJob(ctx, target, selected));
    const earlier = await restoredBefore(ctx, target.site.id, left, items);
    return { ...rest, left: left.filter((one) => !earlier.includes(one)), earlier };
  },
  outcomeOf: ({ results, left, earlier = [], interrupted = [] }) =>
    outcomeOfItems([
      ...byItem(earlier).map(({ slug, field }) => ({ done: true, facts: { slug, field } })),
      ...results.map(({ step: { slug, field }, error }) =>
        error === null
          ? { done: true, facts: { slug, field } }
          : { done: false, facts: { slug, field, code: error.code, message: error.message } },
      ),
      ...interrupted.map(({ slug, field }) => ({ done: null, facts: { slug, field, ...UNDER_WAY } })),
      ...left.map(({ slug, field, code, reason }) => ({ done: false, facts: { slug, field, code, message: reason } })),
    ]),
};

/** The same in the call itself, which suspends clients after their sites. */
export const directUndo: typeof undoHandler = {
  ...undoHandler,
  run: async (ctx, target, selected) => undo(ctx, target, await planSite(ctx, target, selected)),
};

const UNDER_WAY = { code: 'svc_still_running', message: 'The site did not answer in time.' } as const;

/** Several changes of one field are one item. */
function byItem(left: readonly Left[]): Left[] {
  return [...new Map(left.map((one) => [JSON.stringify([one.slug, one.field]), one])).values()];
}
