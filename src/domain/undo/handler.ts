/** The job handler of an undo: plans it again for each site, by what the site is then, and does it. */

import type { JobHandler } from '../actions/handler.js';
import { outcomeOfItems } from '../actions/outcomes.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from '../sites/load.js';
import { type StepResult, undoOnSite } from './on-site.js';
import { type Left, type Plan, planOf, refused } from './plan.js';
import { changesOf, type Selected } from './select.js';
import { type Restored, siteStates } from './site-states.js';

export interface SiteUndo {
  results: StepResult[];
  left: Left[];
}

/** What would be restored on a site, and what not. */
export async function planSite(ctx: Ctx, target: LoadedSite, selected: Selected, restored?: Restored): Promise<Plan> {
  const { changes, refusals } = await changesOf(ctx, selected, target.site.id);
  const { steps, left } = planOf(changes, await siteStates(ctx, target, changes, restored));
  return { steps, left: [...left, ...refusals.map(refused)] };
}

async function undo(ctx: Ctx, target: LoadedSite, selected: Selected): Promise<SiteUndo> {
  const { steps, left } = await planSite(ctx, target, selected);
  return { results: await undoOnSite(ctx, target, steps), left };
}

export const undoHandler: JobHandler<Selected, SiteUndo> = {
  type: 'undo',
  failure: 'svc_operation_failed',
  run: undo,
  // What the interrupted run did is as it was before by now.
  async resume(ctx, target, selected) {
    const { results, left } = await undo(ctx, target, selected);
    return { results, left: left.filter(({ code }) => code !== 'svc_already_undone') };
  },
  outcomeOf: ({ results, left }) =>
    outcomeOfItems([
      ...results.map(({ step: { slug }, error }) =>
        error === null
          ? { done: true, facts: { slug } }
          : { done: false, facts: { slug, code: error.code, message: error.message } },
      ),
      ...left.map(({ slug, code, reason }) => ({ done: false, facts: { slug, code, message: reason } })),
    ]),
};
