/** REST rows as callables, for both sides of the thread boundary. */

import type { ChangeKind } from '../../../schemas/approval.js';
import { type IdempotencyKey, type Performed, runOnce } from '../../domain/access/idempotency.js';
import type { Ctx } from '../../domain/context.js';
import { requireModule } from '../../domain/settings/modules.js';
import type { Callable } from '../../operation/operation.js';
import { ServiceError } from '../../runtime/errors.js';
import { routes } from './index.js';
import type { Route, RouteAnswer } from './route.js';

/** Plain data, because it is passed between threads. */
export interface RouteInput {
  /** As `parseParams` returned them. */
  params: unknown;
  idempotency: IdempotencyKey | undefined;
  /** As `membersOf` returned them. */
  fields: readonly string[] | undefined;
  /** Revisions of the answer that the caller already has: if the current one is among them, no answer is built. */
  held: readonly string[];
}

const byKey = new Map(routes.map((route) => [route.key, route]));

/** The row of a key received from another thread. Throws `rest_no_route`. */
export function routeOf(key: string): Route {
  const route = byKey.get(key);
  if (route === undefined) throw new ServiceError('rest_no_route', `There is no route ${key}.`);
  return route;
}

/** A row as a callable, with its key as id. */
export function routeCall(route: Route): Callable<RouteInput, Performed> {
  return {
    id: route.key,
    engine: route.engine,
    async call({ params, idempotency, fields, held }, ctx) {
      if (route.module !== undefined) requireModule(ctx, route.module);
      if (route.revision !== undefined && held.length > 0) {
        const revision = await route.revision(ctx);
        if (held.includes(revision)) return { answer: { revision }, replayed: false, unchanged: true };
      }
      const answer = () => route.answer(params, ctx, fields);
      const { change } = route;
      const plan = () => route.plan(params, ctx);
      const work = async () => {
        if (change === null) return answer();
        const input = route.recorded(params);
        const covers = coversOf(ctx, route, params);
        const done = await ctx.change(ctx, { title: route.summary, input, change, plan, covers }, answer);
        return isPreview(params) ? { ...done, needs_approval: await approvalAhead(ctx, route, params, done) } : done;
      };
      if (idempotency === undefined) return { answer: await work(), replayed: false };
      return runOnce(ctx, idempotency, work);
    },
  };
}

function isPreview(params: unknown): params is { dry_run: true } {
  return (params as { dry_run?: unknown } | null)?.dry_run === true;
}

/** Why the call that was previewed would wait for a person; null: it would be made. */
async function approvalAhead(ctx: Ctx, route: Route, params: { dry_run: true }, preview: RouteAnswer) {
  const called = { ...params, dry_run: false, ...('confirm' in route.params().shape && { confirm: true }) };
  const { change, summary: title } = route;
  if (change === null) return null;
  const plan = () => route.plan(called, ctx, preview);
  const covers = coversOf(ctx, route, called);
  return ctx.foretell(ctx, { title, input: route.recorded(called), change, plan, covers });
}

function coversOf(ctx: Ctx, { covers }: Route, params: unknown) {
  return covers === undefined ? undefined : (kind: ChangeKind) => covers(params, ctx, kind);
}
