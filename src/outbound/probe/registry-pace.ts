import { setTimeout as delay } from 'node:timers/promises';
import { Slots } from '../../runtime/slots.js';

/** A registry that asked us to pause, and until when. */
export class Paused extends Error {
  readonly retryAfterMs: number;
  constructor(server: string, retryAfterMs: number) {
    super(`${server} limits how often it may be asked; the next attempt is in ${Math.ceil(retryAfterMs / 1000)} s.`);
    this.name = 'Paused';
    this.retryAfterMs = retryAfterMs;
  }
}

const SHORTEST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 3_600_000;

interface Server {
  slots: Slots;
  nextAt: number;
  pausedUntil: number;
}

/** Queries each registry one request at a time, with a gap, and not at all during a pause it asked for. */
export class RegistryPace {
  readonly #servers = new Map<string, Server>();
  readonly #gapMs: number;

  constructor(gapMs: number) {
    this.#gapMs = gapMs;
  }

  async ask<T>(name: string, signal: AbortSignal, question: () => Promise<T>): Promise<T> {
    const server = this.#server(name);
    this.#refusePaused(name, server);
    return server.slots.run(async () => {
      this.#refusePaused(name, server);
      const wait = server.nextAt - performance.now();
      if (wait > 0) await delay(wait, undefined, { signal });
      signal.throwIfAborted();
      try {
        return await question();
      } finally {
        server.nextAt = performance.now() + this.#gapMs;
      }
    });
  }

  /** The server said "too many": it is not queried again before the pause is over. Returns the pause. */
  pause(name: string, askedForMs: number | null): Paused {
    const ms = Math.min(Math.max(askedForMs ?? SHORTEST_PAUSE_MS * 2, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
    this.#server(name).pausedUntil = performance.now() + ms;
    return new Paused(name, ms);
  }

  #refusePaused(name: string, server: Server): void {
    const left = server.pausedUntil - performance.now();
    if (left > 0) throw new Paused(name, left);
  }

  #server(name: string): Server {
    const known = this.#servers.get(name);
    if (known !== undefined) return known;
    const fresh: Server = { slots: new Slots(1), nextAt: 0, pausedUntil: 0 };
    this.#servers.set(name, fresh);
    return fresh;
  }
}

/** `Retry-After` as milliseconds: seconds or a date, taken as GMT even without a zone; null if absent or unparsable. */
export function retryAfterMs(header: string | undefined): number | null {
  if (header === undefined || header.trim() === '') return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const at = Date.parse(/(?:GMT|UTC|Z|[+-]\d{2}:?\d{2})\s*$/.test(header) ? header : `${header} GMT`);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
