/** The action log: listens to events and writes those caused by a user, in batches. */

import { setImmediate } from 'node:timers/promises';
import { cleanLine } from '../../../schemas/text.js';
import type { Event, EventFacts, EventName, Origin } from '../../runtime/events.js';
import type { Log } from '../../runtime/log.js';
import type { LogEntry, LogOrigin } from '../../store/action-log/action-log.js';
import type { Store } from '../../store/store.js';
import { keptFields } from './fields.js';
import { LOGGED_ACTIONS, type LoggedAction } from './logged-actions.js';

const FLUSH_MS = 250;
const BATCH = 500;

export interface ActionRecorder {
  listen(event: Event): void;
  /** Writes pending entries. Never rejects: a full disk does not undo a change that happened. */
  flush(): Promise<void>;
}

export function createActionRecorder(parts: { store: Pick<Store, 'actionLog'>; log: Log }): ActionRecorder {
  let waiting: LogEntry[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const entries = waiting;
    waiting = [];
    for (let i = 0; i < entries.length; i += BATCH) {
      try {
        await parts.store.actionLog.add(entries.slice(i, i + BATCH));
        // A call may name thousands of items: other work gets a turn between two batches.
        if (entries.length >= BATCH) await setImmediate();
      } catch (error) {
        parts.log.error({ err: error, entries: entries.length - i }, 'the log of actions could not be written');
        return;
      }
    }
  };
  const flush = (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    // Sequentially, so that entries stay in order.
    if (waiting.length > 0) writing = writing.then(write);
    return writing;
  };
  return {
    listen(event) {
      if (event.logged === true) return;
      const entry = entryOf(event);
      if (entry === null) return;
      waiting.push(entry);
      if (waiting.length >= BATCH) void flush();
      else if (timer === null) {
        timer = setTimeout(() => void flush(), FLUSH_MS);
        timer.unref();
      }
    },
    flush,
  };
}

/** The entry of an event; null if it is none of those that are logged. */
export function entryOf(event: Event): LogEntry | null {
  const logged = actionOf(event.name, event.facts);
  if (logged === null) return null;
  const { context, action, slug = '', name = '', detail = '', old_version = '', new_version = '', code = '' } = logged;
  const short = (text: string) => cleanLine(text, 255);
  return {
    ...originColumns(event.origin),
    // Its id would lead to a site that is gone; its address is in the entry.
    site_id: event.name === 'site.deleted' ? null : (event.site_id ?? null),
    context,
    action,
    slug: short(slug),
    name: short(name),
    detail: short(detail),
    old_version: short(old_version),
    new_version: short(new_version),
    code,
    fields: event.changed === undefined ? '' : keptFields(event.changed),
    at: event.at,
  };
}

function actionOf<K extends EventName>(name: K, facts: EventFacts[K]): LoggedAction | null {
  const describe = (LOGGED_ACTIONS as Partial<Record<EventName, (facts: never) => LoggedAction>>)[name];
  return describe === undefined ? null : describe(facts as never);
}

/** Who did it, and by which way in; without an origin the service itself. */
export function originColumns(origin: Origin | undefined): LogOrigin {
  if (origin === undefined)
    return { actor_type: 'system', actor_id: null, actor: 'service', via: 'jobs', operation: '', request_id: '' };
  const { type, id, name, via, client = '', operation, request_id, undoes = [] } = origin;
  return {
    actor_type: type,
    actor_id: id,
    actor: cleanLine(name, 255),
    via,
    client: cleanLine(client, 255),
    operation,
    request_id,
    undoes: undoes.join(','),
  };
}
