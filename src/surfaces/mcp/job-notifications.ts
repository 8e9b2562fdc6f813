/**
 * Notifies subscribers of the progress of jobs. A job may run in another thread or process, so its status is polled; one poll
 * serves all subscribers of a job.
 */

import type { Caller } from '../../operation/operation.js';
import type { Actor } from '../../runtime/actor.js';
import type { Log } from '../../runtime/log.js';
import type { ToolRegistry } from './registry.js';
import { jobOf, UnknownResource } from './resources.js';

export interface JobNotificationsParts {
  registry: ToolRegistry;
  log: Log;
  newRequestId(): string;
}

interface WatchedJob {
  readonly listeners: Set<() => void>;
  readonly caller: Caller;
  lastSnapshot: string;
  timer: NodeJS.Timeout | undefined;
}

/** Milliseconds between two polls. */
const POLL_MS = 1000;
const STATUS = 'svc/get-batch-job-status-v1';

export class JobNotifications {
  readonly #parts: JobNotificationsParts;
  readonly #watched = new Map<string, WatchedJob>();
  readonly #closing = new AbortController();

  constructor(parts: JobNotificationsParts) {
    this.#parts = parts;
  }

  /** Number of polled jobs. */
  get size(): number {
    return this.#watched.size;
  }

  /**
   * Calls `onChange` at each change of a job, until it has ended or the returned function is called.
   * Rejects with UnknownResource unless the address is that of a job this principal may read.
   */
  async subscribe(uri: string, actor: Actor, onChange: () => void): Promise<() => void> {
    const id = jobOf(uri);
    if (id === undefined) throw new UnknownResource(uri);
    const caller: Caller = { actor, request_id: this.#parts.newRequestId(), signal: this.#closing.signal };
    const snapshot = await this.#snapshot(id, caller).catch(() => undefined);
    if (snapshot === undefined) throw new UnknownResource(uri);
    // Not by the address, of which a job has many spellings.
    let watched = this.#watched.get(id);
    if (watched === undefined) {
      watched = { listeners: new Set(), caller, lastSnapshot: snapshot.text, timer: undefined };
      this.#watched.set(id, watched);
      if (!snapshot.ended) this.#schedule(id, watched);
    }
    const { listeners } = watched;
    listeners.add(onChange);
    return () => {
      listeners.delete(onChange);
      if (listeners.size === 0 && this.#watched.get(id)?.listeners === listeners) this.#drop(id);
    };
  }

  close(): void {
    this.#closing.abort();
    for (const id of [...this.#watched.keys()]) this.#drop(id);
  }

  #schedule(id: string, watched: WatchedJob): void {
    watched.timer = setTimeout(() => void this.#poll(id, watched), POLL_MS);
    watched.timer.unref();
  }

  async #poll(id: string, watched: WatchedJob): Promise<void> {
    const snapshot = await this.#snapshot(id, watched.caller).catch((error: unknown) => {
      this.#parts.log.debug({ err: error, job_id: id }, 'a subscribed job cannot be read');
      return undefined;
    });
    if (this.#watched.get(id) !== watched) return;
    if (snapshot !== undefined && snapshot.text !== watched.lastSnapshot) {
      watched.lastSnapshot = snapshot.text;
      for (const listener of watched.listeners) listener();
    }
    if (snapshot?.ended !== true) this.#schedule(id, watched);
  }

  async #snapshot(id: string, caller: Caller): Promise<{ text: string; ended: boolean }> {
    const output = await this.#parts.registry.read(STATUS, { job_id: id }, caller);
    return { text: JSON.stringify(output), ended: output.status === 'completed' || output.status === 'failed' };
  }

  #drop(id: string): void {
    clearTimeout(this.#watched.get(id)?.timer);
    this.#watched.delete(id);
  }
}
