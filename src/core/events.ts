/** Facts that happened, told to whoever in this process listens. The log is the first listener. */

import type { Clock, Event, Events, Log } from '../domain/context.js';

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
