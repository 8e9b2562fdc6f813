/** REST rows as calls, for either side of the thread border. */

import { ServiceError } from '../core/errors.js';
import { requireModule } from '../domain/settings/modules.js';
import type { Callable } from '../operation/operation.js';
import { type IdempotencyKey, type Performed, runOnce } from './idempotency.js';
import { routes } from './index.js';
import type { Route } from './route.js';

/** Plain data: it crosses the thread border. */
export interface RouteInput {
  /** As `parseParams` returned them. */
  params: unknown;
  idempotency: IdempotencyKey | undefined;
  /** As `membersOf` returned them. */
  fields: readonly string[] | undefined;
  /** Revisions of the answer that the caller has: it need not be made where it is one of them. */
  held: readonly string[];
}

const byKey = new Map(routes.map((route) => [route.key, route]));

/** The row of a key that came over the thread border. */
export function routeOf(key: string): Route {
  const route = byKey.get(key);
  if (route === undefined) throw new ServiceError('rest_no_route', `There is no route ${key}.`);
  return route;
}

/** A row as something that is called by its key, in whichever thread it belongs. */
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
      if (idempotency === undefined) return { answer: await route.answer(params, ctx, fields), replayed: false };
      return runOnce(ctx, idempotency, () => route.answer(params, ctx));
    },
  };
}
