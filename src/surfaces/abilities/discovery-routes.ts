/** Route handlers of discovery: the operations and their categories (operations §2). */

import type { GroupedOperation } from '../../operation/operation.js';
import { ServiceError } from '../../runtime/errors.js';
import { once } from '../../runtime/once.js';
import type { Auth } from '../auth/auth.js';
import { queryOf } from '../http/request-url.js';
import {
  categoryEntries,
  categoryNotFound,
  matches,
  operationEntries,
  operationNotFound,
  showCategory,
  showOperation,
} from './discovery-entries.js';
import { collectionResponse, fieldsOf, filtersOf, viewOf } from './discovery-query.js';
import { type RunContext, routeDescription } from './responses.js';

const READ_METHODS = ['GET', 'HEAD'] as const;

/** Answers the four discovery routes. `mount` is the path above the collection, `name` what follows it; '' for all. */
export function createDiscovery({ operations, auth }: { operations: readonly GroupedOperation[]; auth: Auth }) {
  // Built on the first request: the schemas of all operations cost time and memory that most servers never need.
  const byName = once(() => new Map(operationEntries(operations).map((entry) => [entry.name, entry])));
  const categories = categoryEntries();

  return async (c: RunContext, mount: string, collection: string, name: string): Promise<Response> => {
    if (c.req.method === 'OPTIONS') return routeDescription(c, READ_METHODS);
    await auth.basic(c.env.info, 'run').catch((error: unknown) => {
      throw asForbidden(error);
    });
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') throw notAllowed(c.req.method);
    const url = `${c.env.info.base_url}${mount}`;
    if (collection === 'categories') return name === '' ? allCategories(c, url) : oneCategory(c, url, name);
    return name === '' ? allOperations(c, `${url}/abilities`) : oneOperation(c, `${url}/abilities`, name);
  };

  function allOperations(c: RunContext, root: string): Response {
    const query = queryOf(c.req.url);
    const filters = filtersOf(query);
    const view = viewOf(query);
    const fields = fieldsOf(query);
    const found = [...byName().values()].filter((entry) => matches(entry, filters));
    return collectionResponse(c, found, root, (entry) => showOperation(entry, root, view, fields));
  }

  function oneOperation(c: RunContext, root: string, name: string): Response {
    const entry = byName().get(name);
    if (entry === undefined) throw operationNotFound(name, byName().keys());
    const query = queryOf(c.req.url);
    return c.json(showOperation(entry, root, viewOf(query), fieldsOf(query)));
  }

  function allCategories(c: RunContext, url: string): Response {
    const query = queryOf(c.req.url);
    viewOf(query);
    const fields = fieldsOf(query);
    return collectionResponse(c, categories, `${url}/categories`, (entry) => showCategory(entry, url, fields));
  }

  function oneCategory(c: RunContext, url: string, slug: string): Response {
    const entry = categories.find((category) => category.slug === slug);
    if (entry === undefined) throw categoryNotFound(slug);
    const query = queryOf(c.req.url);
    viewOf(query);
    return c.json(showCategory(entry, url, fieldsOf(query)));
  }
}

/** Discovery reports a missing login with the platform's code (operations §2). */
function asForbidden(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'svc_permission_denied') return error;
  return new ServiceError('rest_forbidden', error.message, { advice: error.advice ?? '' });
}

function notAllowed(method: string): ServiceError {
  return new ServiceError('rest_method_not_allowed', `${method} is not supported here.`, {
    advice: 'Use GET.',
    data: { allow: READ_METHODS },
  });
}
