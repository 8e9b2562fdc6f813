/** Answering one row, in whichever thread it belongs. main.ts calls this on either side of the thread border. */

import type { Actor } from '../core/actor.js';
import { ServiceError } from '../core/errors.js';
import type { Ctx } from '../domain/context.js';
import { requireModule } from '../domain/settings/modules.js';
import { type IdempotencyKey, type Performed, runOnce } from './idempotency.js';
import { routes } from './index.js';
import type { Route } from './route.js';

export interface RestCaller {
  actor: Actor;
  request_id: string;
  signal: AbortSignal;
}

/** Answers a row here or in the engine thread. Rejects with ServiceError. */
export type Perform = (route: Route, params: unknown, caller: RestCaller, once?: IdempotencyKey) => Promise<Performed>;

const byKey = new Map(routes.map((route) => [route.key, route]));

/** The row of a key that came over the thread border. */
export function routeOf(key: string): Route {
  const route = byKey.get(key);
  if (route === undefined) throw new ServiceError('rest_no_route', `There is no route ${key}.`);
  return route;
}

/** @param params as `parseParams` answered them */
export async function performRoute(route: Route, params: unknown, ctx: Ctx, once?: IdempotencyKey): Promise<Performed> {
  if (route.module !== undefined) requireModule(ctx, route.module);
  if (once === undefined) return { answer: await route.answer(params, ctx), replayed: false };
  return runOnce(ctx, once, () => route.answer(params, ctx));
}
