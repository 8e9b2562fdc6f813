/** Keeps what the service changed on sites, for reports: listens to events and writes them in batches. */

import type { Event } from '../../core/events.js';
import type { Log } from '../../core/log.js';
import type { HistoryContext, HistoryEntry } from '../../store/sites/change-history.js';
import type { Store } from '../../store/store.js';

/** `plugin.updated` and its kind: what was done, never what was begun or failed. */
const KEPT = /^(plugin|theme|core|translation)\.(updated|installed|activated|deactivated|deleted)$/;
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
      const [, context, action] = KEPT.exec(event.name) ?? [];
      if (context === undefined || action === undefined || event.site_id === undefined) return;
      waiting.push({
        site_id: event.site_id,
        context: context as HistoryContext,
        action,
        slug: textOf(event.facts.slug),
        old_version: textOf(event.facts.old_version),
        new_version: textOf(event.facts.new_version),
        at: event.at,
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

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 255) : '';
}
