/**
 * Looks for abandoned items that follow a connection or a sync, where the schedule runs. A new site is looked at right away. After
 * syncs the look waits until none has ended for a while: it makes several calls to each site, and must not share the calls that are
 * allowed at once with the syncs that somebody waits for.
 */

import type { Clock } from '../core/clock.js';
import type { EventBus } from '../core/events.js';

/** Without a sync for so long, a run over many sites has ended. */
const QUIET_MS = 3_000;
/** Between looks that follow syncs. */
const PAUSE_MS = 60_000;

export interface LooksAfterSyncs {
  /** From now on events are followed. */
  start(): void;
  /** Resolves when the look under way has ended. */
  stop(): Promise<void>;
}

/** @param look looks at all sites whose turn has come */
export function startLooksAfterSyncs(events: EventBus, clock: Clock, look: () => Promise<unknown>): LooksAfterSyncs {
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
