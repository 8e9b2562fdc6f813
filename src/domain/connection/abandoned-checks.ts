/**
 * Checks for abandoned items after a connection or a sync, in the process that runs the schedule. A new site is checked
 * right away. After syncs the check waits until none has ended for a while: it makes several calls to each site, and
 * must not compete for the allowed calls with syncs that users wait for.
 */

import type { Clock } from '../../runtime/clock.js';
import type { EventBus } from '../../runtime/events.js';

/** If no sync ends for this long, a run over many sites has ended. */
const QUIET_MS = 3_000;
/** Minimum time between checks that follow syncs. */
const PAUSE_MS = 60_000;

export interface AbandonedChecks {
  /** Starts listening to events. */
  start(): void;
  /** Resolves when the running check has ended. */
  stop(): Promise<void>;
}

/** @param look checks all sites that are due */
export function startAbandonedChecks(events: EventBus, clock: Clock, look: () => Promise<unknown>): AbandonedChecks {
  let started = false;
  let looking: Promise<unknown> | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let quiet: NodeJS.Timeout | null = null;

  const begin = () => {
    if (quiet !== null) clearTimeout(quiet);
    quiet = null;
    if (!started || looking !== null) return;
    lookedAt = clock.elapsed();
    looking = look()
      .catch(() => undefined)
      .finally(() => {
        looking = null;
      });
  };
  events.subscribe(({ name }) => {
    if (!started) return;
    if (name === 'site.added' || name === 'site.reconnected') begin();
    else if (name === 'site.synced' && quiet !== null) quiet.refresh();
    else if (name === 'site.synced' && clock.elapsed() - lookedAt >= PAUSE_MS)
      quiet = setTimeout(begin, QUIET_MS).unref();
  });
  return {
    start() {
      started = true;
    },
    async stop() {
      started = false;
      if (quiet !== null) clearTimeout(quiet);
      await looking;
    },
  };
}
