/**
 * HTTP app for WordPress Abilities clients: run endpoint and discovery below `/wp-json/wp-abilities/v1`, with the root
 * as a short alias (operations §1, §2).
 */

import { Hono } from 'hono';
import { contractOf } from '../../operation/contract.js';
import type { GroupedOperation, Invoke } from '../../operation/operation.js';
import { UNINTERRUPTED } from '../../runtime/abort-signals.js';
import type { Actor } from '../../runtime/actor.js';
import { asServiceError, invalidInput, isOurFault } from '../../runtime/errors.js';
import type { Log } from '../../runtime/log.js';
import { requirePermission } from '../../runtime/permission.js';
import type { Auth } from '../auth/auth.js';
import { textResponse } from '../http/compression.js';
import { foreignPage } from '../http/gate.js';
import type { HttpEnv } from '../http/request-info.js';
import { queryOf, withoutTrailingSlashes } from '../http/request-url.js';
import { bodyInput } from './body.js';
import { operationNotFound } from './discovery-entries.js';
import { createDiscovery } from './discovery-routes.js';
import { hasQueryInput, queryInput, refuseStrayParameters } from './query.js';
import { errorResponse, noRoute, type RunContext, routeDescription, wrongMethod } from './responses.js';

export interface RunParts {
  operations: readonly GroupedOperation[];
  invoke: Invoke;
  auth: Auth;
  log: Log;
  /** Refuses every operation that changes something. */
  readOnly: boolean;
  /** Send `WWW-Authenticate`, so that browsers ask for a missing login. */
  challenge: boolean;
}

/** Base paths of the collections: the namespace of WordPress, and the short alias. */
const BASE_PATHS = ['/wp-json/wp-abilities/v1', ''] as const;

export function createRunApp(parts: RunParts): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const run = createRunner(parts);
  const discover = createDiscovery(parts);
  const handlerAt = (mount: string) => async (c: RunContext) => {
    try {
      return await route(c, mount);
    } catch (error) {
      const known = asServiceError(error);
      if (isOurFault(known)) {
        const { request_id } = c.env.info;
        parts.log.error({ err: known.cause ?? known, request_id, path: c.req.path }, 'run endpoint failed');
      }
      return errorResponse(c, known, parts.challenge);
    }
  };

  function route(c: RunContext, mount: string): Promise<Response> {
    const [, collection] = /^\/(abilities|categories)(?:\/|$)/.exec(c.req.path.slice(mount.length)) ?? [];
    if (collection === undefined) throw noRoute();
    const rest = pathBelow(c, `${mount}/${collection}`);
    const runs = collection === 'abilities' ? /^(.+)\/run$/.exec(rest)?.[1] : undefined;
    return runs === undefined ? discover(c, mount, collection, rest) : run(c, runs);
  }

  const [namespace, short] = BASE_PATHS;
  app.all(`${namespace}/*`, handlerAt(namespace));
  for (const collection of ['abilities', 'categories']) app.all(`${short}/${collection}/*`, handlerAt(short));
  return app;
}

/** The rest of the path without surrounding slashes. Names consist of `[A-Za-z0-9-/]`; for anything else there is no route. */
function pathBelow(c: RunContext, prefix: string): string {
  const below = c.req.path.slice(prefix.length).replaceAll(/%2f/gi, '/');
  const rest = withoutTrailingSlashes(below.replace(/^\//, ''));
  if (!/^[A-Za-z0-9/-]*$/.test(rest)) throw noRoute();
  return rest;
}

function createRunner({ operations, invoke, auth, readOnly }: RunParts) {
  const byId = new Map(operations.map((operation) => [operation.id, operation]));

  return async (c: RunContext, id: string): Promise<Response> => {
    const operation = byId.get(id);
    if (c.req.method === 'OPTIONS') {
      // Without a login, too: which operations there are is public, see /docs/openapi.json.
      if (operation === undefined) throw operationNotFound(id, byId.keys());
      return routeDescription(c, operation.methods);
    }
    const { info } = c.env;
    const actor = await auth.basic(info, 'run');
    requireRight(actor, operation, readOnly);
    if (operation === undefined) throw operationNotFound(id, byId.keys());
    requireMethod(c.req.method, operation);
    // A read that contacts a site may use GET, to which browsers add a remembered login.
    if (info.foreign && operation.engine) throw foreignPage();
    const input = await readInput(c, operation);
    // A change runs to its end even if the caller hangs up; a live read is cancelled.
    const signal = operation.effect === 'read' && operation.engine ? c.req.raw.signal : UNINTERRUPTED;
    const answer = await invoke(operation, input, {
      actor,
      request_id: info.request_id,
      signal,
      client: c.req.header('user-agent'),
    });
    const type = { 'content-type': 'application/json' };
    return textResponse(JSON.stringify(answer), c.req.header('accept-encoding') ?? null, type);
  };
}

/** Login and right are checked first, so that a caller without them cannot learn what exists (operations §1.6). */
function requireRight(actor: Actor, operation: GroupedOperation | undefined, readOnly: boolean): void {
  if (operation === undefined && actor.rights.length > 0) return;
  requirePermission(actor, operation?.needs ?? 'read', readOnly);
}

function requireMethod(method: string, operation: GroupedOperation): void {
  if (!operation.methods.some((accepted) => accepted === method)) throw wrongMethod(method, operation.methods);
}

async function readInput(c: RunContext, operation: GroupedOperation): Promise<Record<string, unknown>> {
  const query = queryOf(c.req.url);
  if (c.req.method !== 'POST') {
    refuseStrayParameters(query, (field) => `Send input[${field}]=value, or input[${field}][]=value for a list.`);
    return queryInput(query, contractOf(operation).input_schema);
  }
  if (hasQueryInput(query)) {
    throw invalidInput(
      'input',
      'A POST takes its input from the body, not from the URL.',
      'Send the body {"input": {…}} as JSON.',
    );
  }
  refuseStrayParameters(query, (field) => `Send the body {"input": {"${field}": …}} as JSON.`);
  return bodyInput(await c.req.arrayBuffer(), c.req.header('content-type'), operation.engine);
}
