/** Routes of plans of updates, and of the rollouts that carry them out. */

import {
  planInput,
  planShape,
  ROLLOUT_ITEM_STATES,
  ROLLOUT_STATES,
  rolloutEntry,
  rolloutShape,
  startShape,
  waitingPlan,
} from '../../../../schemas/rollout.js';
import { z } from '../../../../schemas/zod.js';
import {
  controlRollout,
  previewControl,
  type RolloutAction,
  sitesOfRollout,
} from '../../../domain/updates/rollouts/control.js';
import { planUpdatesOf } from '../../../domain/updates/rollouts/plan.js';
import { getRollout, listRollouts } from '../../../domain/updates/rollouts/read.js';
import {
  plannedStart,
  previewStart,
  STARTING,
  sitesOfPlan,
  startRollout,
} from '../../../domain/updates/rollouts/start.js';
import { discardPlan, listWaitingPlans } from '../../../domain/updates/rollouts/waiting-plans.js';
import { once } from '../../../runtime/once.js';
import { csv, flag, paging, text } from '../params.js';
import { listRoute, type Route, type RouteAnswer, route } from '../route.js';
import { listOf, writtenOf } from '../schemas/records.js';

const PAGED = { items: true, total: true, page: true, per_page: true } as const;
const rolloutId = () => text(100).describe('From the answer that started it.');

/** A rollout beside a page of its items. */
const rolloutAnswer = once(() =>
  listOf(rolloutShape().shape.items.element).extend({ rollout: rolloutShape().omit(PAGED) }),
);

function asPage({
  items: data,
  total,
  page,
  per_page,
  ...rollout
}: Awaited<ReturnType<typeof getRollout>>): RouteAnswer {
  return { total, page, per_page, data, rollout };
}

const CONTROLS = [
  ['pause', 'pause', 'Pause a rollout', 'Sites in progress are finished; no other starts.', 'paused'],
  ['resume', 'resume', 'Resume a paused rollout', '', 'resumed'],
  ['abort', 'abort', 'Abort a rollout', 'For good: sites in progress are finished, and no other starts.', 'aborted'],
  [
    'approve',
    'approve_next_wave',
    'Approve the next wave of a rollout',
    'Once the wave before it has soaked.',
    'approved',
  ],
] as const satisfies readonly (readonly [string, RolloutAction, string, string, string])[];

/** Not in the routes document. */
export const rollouts: readonly Route[] = [
  route({
    on: 'POST /updates/plans',
    change: () => [],
    fails: [404],
    summary: 'Plan updates of many sites in waves',
    description: 'Changes nothing and contacts no site. The plan can be started for a day, with its digest.',
    params: () => z.object({ ...planInput(), ...paging(50, 500) }),
    returns: () =>
      listOf(planShape().shape.items.element).extend({ message: z.string(), plan: planShape().omit(PAGED) }),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    async answer({ page, per_page, ...input }, ctx) {
      const { items: data, total, ...plan } = await planUpdatesOf(ctx, input, page, per_page);
      const { page: _page, per_page: _size, ...shown } = plan;
      return { message: shown.summary, total, page, per_page, data, plan: shown };
    },
  }),
  listRoute({
    on: 'GET /updates/plans',
    summary: 'List plans that can still be started, newest first',
    description: 'The 20 newest of each caller, each for a day; without those of policies.',
    params: () => z.object({ ...paging(10, 50) }),
    returns: () => listOf(waitingPlan()),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    list: ({ page, per_page }, ctx) => listWaitingPlans(ctx, page, per_page),
  }),
  route({
    on: 'DELETE /updates/plans/{plan_id}',
    // No site is changed: it only cannot be started any more.
    change: () => [],
    fails: [404, 409],
    summary: 'Discard a plan that was not started',
    params: () => z.object({ plan_id: text(100) }),
    returns: () => writtenOf(z.object({ plan_id: z.string() })),
    answer: async ({ plan_id }, ctx) => ({ message: 'The plan was discarded.', data: await discardPlan(ctx, plan_id) }),
  }),
  listRoute({
    on: 'GET /rollouts',
    summary: 'List rollouts of updates, newest first',
    description: 'Kept for 180 days.',
    params: () => z.object({ state: z.enum(ROLLOUT_STATES).optional(), ...paging(20, 100) }),
    returns: () => listOf(rolloutEntry()),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    async list({ state, page, per_page }, ctx) {
      const { rollouts: items, total } = await listRollouts(ctx, state, page, per_page);
      return { items, total };
    },
  }),
  route({
    on: 'POST /rollouts',
    change: STARTING,
    plan: ({ plan_id, digest }, ctx) => plannedStart(ctx, { plan_id, digest }),
    covers: ({ plan_id }, ctx) => sitesOfPlan(ctx, plan_id),
    fails: [404, 409],
    summary: 'Start the rollout of a plan',
    description:
      'Works in the background, wave by wave. Needs the digest of the plan, before the plan lapses. A plan starts once: starting it again returns the same rollout.',
    params: () =>
      z.object({
        plan_id: text(100),
        digest: text(100).describe('From the plan.'),
        dry_run: flag().default(false).describe('true: says what it would do, and starts nothing.'),
      }),
    returns: () => startShape().extend({ message: z.string() }),
    async answer({ dry_run, ...input }, ctx) {
      if (dry_run) return { message: 'Nothing was started.', ...(await previewStart(ctx, input)) };
      const answer = await startRollout(ctx, input);
      const message = answer.already_started
        ? 'This plan has already started its rollout.'
        : 'The rollout has started.';
      return { message, ...answer };
    },
  }),
  route({
    on: 'GET /rollouts/{rollout_id}',
    fails: [404],
    summary: 'Read a rollout: its waves, and a page of its updates',
    params: () =>
      z.object({
        rollout_id: rolloutId(),
        state: csv(z.enum(ROLLOUT_ITEM_STATES)).default([]).describe('Only items in these states.'),
        ...paging(50, 500),
      }),
    returns: rolloutAnswer,
    headers: () => ({ 'Cache-Control': 'no-store' }),
    answer: async ({ rollout_id, state, page, per_page }, ctx) =>
      asPage(await getRollout(ctx, rollout_id, state, page, per_page)),
  }),
  ...CONTROLS.map(([word, action, summary, description, done]) =>
    route({
      on: `POST /rollouts/{rollout_id}/${word}`,
      // Stopping needs no approval.
      change: word === 'pause' || word === 'abort' ? () => [] : { kind: 'rollouts', sites: 'planned' },
      covers: ({ rollout_id }, ctx) => sitesOfRollout(ctx, rollout_id),
      plan: ({ rollout_id }, ctx) => previewControl(ctx, rollout_id, action),
      fails: [404, 409],
      summary,
      description,
      params: () => z.object({ rollout_id: rolloutId() }),
      returns: () => rolloutAnswer().extend({ message: z.string() }),
      async answer({ rollout_id }, ctx) {
        const rollout = await controlRollout(ctx, rollout_id, action);
        return {
          message: `The ${action === 'approve_next_wave' ? 'wave' : 'rollout'} was ${done}.`,
          ...asPage(rollout),
        };
      },
    }),
  ),
];
