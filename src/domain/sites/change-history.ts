/** Keeps what the service changed on sites, for reports: listens to events and writes them in batches. */

import type { Event, SiteChange } from '../../core/events.js';
import type { Log } from '../../core/log.js';
import type { HistoryContext, HistoryEntry } from '../../store/sites/change-history.js';
import type { Store } from '../../store/store.js';

/** The events that are kept: what was done, never what was begun or failed. A kind that is missing here does not compile. */
const KEPT: Record<SiteChange, { context: HistoryContext; action: string }> = {
  'core.updated': { context: 'core', action: 'updated' },
  'translation.updated': { context: 'translation', action: 'updated' },
  'plugin.updated': { context: 'plugin', action: 'updated' },
  'plugin.activated': { context: 'plugin', action: 'activated' },
  'plugin.deactivated': { context: 'plugin', action: 'deactivated' },
  'plugin.deleted': { context: 'plugin', action: 'deleted' },
  'theme.updated': { context: 'theme', action: 'updated' },
  'theme.activated': { context: 'theme', action: 'activated' },
  'theme.deactivated': { context: 'theme', action: 'deactivated' },
  'theme.deleted': { context: 'theme', action: 'deleted' },
};
const FLUSH_MS = 250;
const BATCH = 500;

export interface HistoryRecorder {
  listen(event: Event): void;
  /** Writes what is waiting. Never rejects: a change that happened is not undone by a full disk. */
  flush(): Promise<void>;
}

export function createHistoryRecorder(parts: { store: Pick<Store, 'history'>; log: Log }): HistoryRecorder {
  let waiting: HistoryEntry[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const entries = waiting;
    waiting = [];
    for (let i = 0; i < entries.length; i += BATCH) {
      try {
        await parts.store.history.add(entries.slice(i, i + BATCH));
      } catch (error) {
        parts.log.error({ err: error, entries: entries.length - i }, 'the history of sites could not be written');
        return;
      }
    }
  };
  const flush = (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    // One after the other, so that entries stay in order.
    writing = writing.then(write);
    return writing;
  };
  return {
    listen(event) {
      if (!isSiteChange(event)) return;
      const { site_id, at, facts } = event;
      waiting.push({
        ...KEPT[event.name],
        site_id,
        slug: clipped(facts.slug),
        old_version: 'old_version' in facts ? clipped(facts.old_version) : '',
        new_version: 'new_version' in facts ? clipped(facts.new_version) : '',
        at,
      });
      if (waiting.length >= BATCH) void flush();
      else if (timer === null) {
        timer = setTimeout(() => void flush(), FLUSH_MS);
        timer.unref();
      }
    },
    flush,
  };
}

function isSiteChange(event: Event): event is Event<SiteChange> {
  return event.name in KEPT;
}

function clipped(text: string): string {
  return text.slice(0, 255);
}
