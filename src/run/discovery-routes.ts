/** Route handlers of discovery: the operations and their categories (operations §2). */

import type { Auth } from '../auth/auth.js';
import { ServiceError } from '../core/errors.js';
import { once } from '../core/once.js';
import { queryOf } from '../http/request-url.js';
import type { GroupedOperation } from '../operation/operation.js';
import {
  type CategoryEntry,
  categoryEntries,
  categoryNotFound,
  matches,
  type OperationEntry,
  operationEntries,
  operationNotFound,
  showCategory,
  showOperation,
} from './discovery-entries.js';
import { collectionResponse, fieldsOf, filtersOf, viewOf } from './discovery-query.js';
import { type RunContext, routeDescription } from './responses.js';

const READ_METHODS = ['GET', 'HEAD'] as const;

/** Handlers of the four discovery routes. `mount` is the path above `…/abilities`. */
export function createDiscovery({ operations, auth }: { operations: readonly GroupedOperation[]; auth: Auth }) {
  // Built on the first request: the schemas of all operations cost time and memory that most servers never need.
  const byName = once(() => new Map(operationEntries(operations).map((entry) => [entry.name, entry])));
  const categories = categoryEntries();

  /** Checks login and method of a discovery request. Returns the response to an OPTIONS request. */
  async function authorize(c: RunContext): Promise<Response | undefined> {
    if (c.req.method === 'OPTIONS') return routeDescription(c, READ_METHODS);
    await auth.basic(c.env.info, 'run').catch((error: unknown) => {
      throw asForbidden(error);
    });
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') throw notAllowed(c.req.method);
    return undefined;
  }

  const mountUrl = (c: RunContext, mount: string) => `${c.env.info.base_url}${mount}`;

  return {
    async operations(c: RunContext, mount: string): Promise<Response> {
      const early = await authorize(c);
      if (early !== undefined) return early;
      const query = queryOf(c.req.url);
      const filters = filtersOf(query);
      const view = viewOf(query);
      const fields = fieldsOf(query);
      const root = `${mountUrl(c, mount)}/abilities`;
      const found = [...byName().values()].filter((entry) => matches(entry, filters));
      return collectionResponse(c, found, root, (entry: OperationEntry) => showOperation(entry, root, view, fields));
    },

    async operation(c: RunContext, mount: string, name: string): Promise<Response> {
      const early = await authorize(c);
      if (early !== undefined) return early;
      const entry = byName().get(name);
      if (entry === undefined) throw operationNotFound(name, byName().keys());
      const query = queryOf(c.req.url);
      return c.json(showOperation(entry, `${mountUrl(c, mount)}/abilities`, viewOf(query), fieldsOf(query)));
    },

    async categories(c: RunContext, mount: string): Promise<Response> {
      const early = await authorize(c);
      if (early !== undefined) return early;
      const query = queryOf(c.req.url);
      viewOf(query);
      const fields = fieldsOf(query);
      const root = mountUrl(c, mount);
      return collectionResponse(c, categories, `${root}/categories`, (entry: CategoryEntry) =>
        showCategory(entry, root, fields),
      );
    },

    async category(c: RunContext, mount: string, slug: string): Promise<Response> {
      const early = await authorize(c);
      if (early !== undefined) return early;
      const entry = categories.find((category) => category.slug === slug);
      if (entry === undefined) throw categoryNotFound(slug);
      const query = queryOf(c.req.url);
      viewOf(query);
      return c.json(showCategory(entry, mountUrl(c, mount), fieldsOf(query)));
    },
  };
}

/** Discovery reports a missing login with the platform's code (operations §2). */
function asForbidden(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'svc_permission_denied') return error;
  return new ServiceError('rest_forbidden', error.message, { advice: error.advice ?? '' });
}

function notAllowed(method: string): ServiceError {
  return new ServiceError('rest_method_not_allowed', `${method} is not a method of this address.`, {
    advice: 'Use GET.',
    data: { allow: READ_METHODS },
  });
}
