/** Facts that happened, told to whoever in this process listens. The log is the first listener. */

import type { Clock } from './clock.js';
import type { Log } from './log.js';

/** A fact that happened (operations §5.13). Names are `<noun>.<past participle>`. */
export interface Event {
  name: string;
  at: number;
  site_id?: number;
  facts: Record<string, unknown>;
}

export interface Events {
  emit(event: Omit<Event, 'at'>): void;
}

export interface EventBus extends Events {
  subscribe(listener: (event: Event) => void): void;
}

export function createEvents(clock: Clock, log: Log): EventBus {
  const listeners: ((event: Event) => void)[] = [];
  return {
    subscribe: (listener) => {
      listeners.push(listener);
    },
    emit(partial) {
      const event: Event = { ...partial, at: clock.now() };
      log.debug({ event: event.name, site_id: event.site_id, ...event.facts }, 'event');
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          log.error({ err: error, event: event.name }, 'an event listener failed');
        }
      }
    },
  };
}
