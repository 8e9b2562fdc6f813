/**
 * The way in for WordPress-abilities clients: runs and discovery below `/wp-json/wp-abilities/v1`, and the same below
 * the root for short (operations §1, §2).
 */

import { Hono } from 'hono';
import type { Auth } from '../auth/auth.js';
import { UNINTERRUPTED } from '../core/abort-signals.js';
import type { Actor } from '../core/actor.js';
import { asServiceError, isOurFault, ServiceError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { HttpEnv } from '../http/request-info.js';
import { queryOf, withoutTrailingSlashes } from '../http/request-url.js';
import { contractOf } from '../operation/contract.js';
import type { GroupedOperation, Invoke } from '../operation/operation.js';
import { bodyInput } from './body.js';
import { operationNotFound } from './discovery.js';
import { createExplorer } from './explorer.js';
import { hasQueryInput, queryInput } from './query.js';
import { errorAnswer, noRoute, type RunContext, routeDescription, wrongMethod } from './respond.js';

export interface RunParts {
  operations: readonly GroupedOperation[];
  invoke: Invoke;
  auth: Auth;
  log: Log;
  /** Refuses what changes something before its input is looked at. */
  readOnly: boolean;
  /** Ask browsers for a login where one is missing. */
  challenge: boolean;
}

/** Where the collections stand: the namespace of WordPress, and the short alias. */
const MOUNTS = ['/wp-json/wp-abilities/v1', ''] as const;
const RUN_METHODS = ['GET', 'POST', 'DELETE'] as const;

export function createRunApp(parts: RunParts): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const run = runner(parts);
  const discovery = createExplorer(parts);
  // Caught here and not by `onError`: with one of its own, Hono would send each request through a chain of handlers.
  const answering = (mount: string) => async (c: RunContext) => {
    try {
      return await at(c, mount);
    } catch (error) {
      const known = asServiceError(error);
      if (isOurFault(known)) {
        const { request_id } = c.env.info;
        parts.log.error({ err: known.cause ?? known, request_id, path: c.req.path }, 'run endpoint failed');
      }
      return errorAnswer(c, known, parts.challenge);
    }
  };

  function at(c: RunContext, mount: string): Promise<Response> {
    const [, collection] = /^\/(abilities|categories)(?:\/|$)/.exec(c.req.path.slice(mount.length)) ?? [];
    if (collection === undefined) throw noRoute();
    const rest = pathBelow(c, `${mount}/${collection}`);
    if (collection === 'categories')
      return rest === '' ? discovery.categories(c, mount) : discovery.category(c, mount, rest);
    if (rest === '') return discovery.operations(c, mount);
    const runs = /^(.+)\/run$/.exec(rest)?.[1];
    return runs === undefined ? discovery.operation(c, mount, rest) : run(c, runs);
  }

  const [namespace, short] = MOUNTS;
  // Where two patterns fit a path, Hono would chain their handlers: so one for all that is below the namespace.
  app.all(`${namespace}/*`, answering(namespace));
  for (const collection of ['abilities', 'categories']) app.all(`${short}/${collection}/*`, answering(short));
  return app;
}

/** The rest of the path without slashes around it. Names are of `[A-Za-z0-9-/]`; anything else is no route. */
function pathBelow(c: RunContext, prefix: string): string {
  const below = c.req.path.slice(prefix.length).replaceAll(/%2f/gi, '/');
  const rest = withoutTrailingSlashes(below.replace(/^\//, ''));
  if (!/^[A-Za-z0-9/-]*$/.test(rest)) throw noRoute();
  return rest;
}

function runner({ operations, invoke, auth, readOnly }: RunParts) {
  const byId = new Map(operations.map((operation) => [operation.id, operation]));

  return async (c: RunContext, id: string): Promise<Response> => {
    if (c.req.method === 'OPTIONS') return routeDescription(c, RUN_METHODS);
    const { info } = c.env;
    const actor = await auth.basic(info, 'run');
    const operation = byId.get(id);
    requireRight(actor, operation, readOnly);
    if (operation === undefined) throw operationNotFound(id);
    requireMethod(c.req.method, operation);
    const input = await readInput(c, operation);
    // A change that was begun is finished even when its caller hangs up; looking at sites is not.
    const signal = operation.effect === 'read' && operation.engine ? c.req.raw.signal : UNINTERRUPTED;
    return c.json(await invoke(operation, input, { actor, request_id: info.request_id, signal }));
  };
}

/** Login and right come before everything else, so that nobody without them learns what exists (operations §1.6). */
function requireRight(actor: Actor, operation: GroupedOperation | undefined, readOnly: boolean): void {
  const needed = operation === undefined || operation.effect === 'read' ? 'read' : 'write';
  if (readOnly && needed === 'write') {
    throw new ServiceError('svc_permission_denied', 'This server is read-only, so nothing can be changed through it.', {
      advice: 'Ask the operator to unset SITEFLEET_READ_ONLY.',
    });
  }
  if (actor.rights.includes(needed) || (operation === undefined && actor.rights.length > 0)) return;
  throw new ServiceError('svc_permission_denied', `This login lacks the right to ${needed}.`, {
    advice: `Use a login with the ${needed} right.`,
  });
}

function requireMethod(method: string, operation: GroupedOperation): void {
  if (!operation.methods.some((accepted) => accepted === method)) throw wrongMethod(method, operation.methods);
}

async function readInput(c: RunContext, operation: GroupedOperation): Promise<Record<string, unknown>> {
  const query = queryOf(c.req.url);
  if (c.req.method !== 'POST') return queryInput(query, contractOf(operation).input_schema);
  if (hasQueryInput(query)) {
    throw new ServiceError('ability_invalid_input', 'A POST takes its input from the body, not from the address.', {
      field: 'input',
      advice: 'Send the body {"input": {…}} as JSON.',
    });
  }
  return bodyInput(await c.req.arrayBuffer(), c.req.header('content-type'), operation.engine);
}
