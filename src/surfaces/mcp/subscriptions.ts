/** `subscriptions/listen` of 2026-07-28: the jobs that a request subscribes to. */

import type { Actor } from '../../runtime/actor.js';
import type { JobNotifications } from './job-notifications.js';
import { jobOf } from './resources.js';

const MAX_JOBS = 50;

/** Whether a message is a `subscriptions/listen` request. */
export function isListenRequest(message: unknown): boolean {
  return (message as { method?: unknown } | null)?.method === 'subscriptions/listen';
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
