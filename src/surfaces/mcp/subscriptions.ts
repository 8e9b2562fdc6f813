/** `subscriptions/listen` of 2026-07-28: the jobs that a request subscribes to. */

import type { JSONRPCErrorResponse } from '@modelcontextprotocol/sdk/types.js';
import type { Actor } from '../../runtime/actor.js';
import type { JobNotifications } from './job-notifications.js';
import { jobOf } from './resources.js';
import { declaresTasks, TASKS_REQUIRED } from './tasks.js';

const MAX_JOBS = 50;
/** Of the `_meta` of a request. Its name in the SDK is not imported, as that loads the SDK. */
const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

interface ListenParams {
  notifications?: { taskIds?: unknown };
  _meta?: Record<string, unknown>;
}

/** Whether a message is a `subscriptions/listen` request. */
export function isListenRequest(message: unknown): boolean {
  return (message as { method?: unknown } | null)?.method === 'subscriptions/listen';
}

/**
 * The error for a `subscriptions/listen` that asks for tasks without declaring them; undefined for any other message. The
 * SDK answers such requests itself, and knows only resources and lists, so tasks are polled.
 */
export function refusedListen(message: unknown): JSONRPCErrorResponse | undefined {
  if (!isListenRequest(message)) return undefined;
  const { id, params } = message as { id?: unknown; params?: ListenParams };
  if (params?.notifications?.taskIds === undefined || declaresTasks(params._meta?.[CLIENT_CAPABILITIES]))
    return undefined;
  const error = { code: -32021, message: 'Missing required client capability', data: TASKS_REQUIRED };
  return { jsonrpc: '2.0', id: typeof id === 'string' || typeof id === 'number' ? id : (null as never), error };
}

/** URIs of the jobs that a message subscribes to; none for any other message. */
export function subscribedUris(message: unknown): string[] {
  if (!isListenRequest(message)) return [];
  const { params } = message as { params?: { notifications?: unknown } };
  const uris = (params?.notifications as { resourceSubscriptions?: unknown } | null | undefined)?.resourceSubscriptions;
  if (!Array.isArray(uris)) return [];
  const jobs = uris.filter((uri): uri is string => typeof uri === 'string' && jobOf(uri) !== undefined);
  return [...new Set(jobs)].slice(0, MAX_JOBS);
}

/** Subscribes to the jobs that the principal may read and ignores the others. Returns a function that unsubscribes. */
export function subscribeAll(
  jobs: JobNotifications,
  uris: readonly string[],
  actor: Actor,
  onChange: (uri: string) => void,
): () => void {
  let stopped = false;
  const stops: (() => void)[] = [];
  for (const uri of uris) {
    jobs
      .subscribe(uri, actor, () => onChange(uri))
      .then(
        (stop) => (stopped ? stop() : stops.push(stop)),
        () => undefined,
      );
  }
  return () => {
    stopped = true;
    for (const stop of stops.splice(0)) stop();
  };
}
