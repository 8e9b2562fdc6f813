/**
 * The MCP session store: a bounded number of sessions, closed when idle, each bound to the principal that opened it. The places
 * are shared: a principal with more than an equal share loses its own sessions first, and none can take all places.
 */

import { randomUUID } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Actor } from '../core/actor.js';
import type { Clock } from '../core/clock.js';
import type { Log } from '../core/log.js';
import { principalOf } from './confirm.js';
import { SessionTransport } from './session-transport.js';

export interface Session {
  readonly transport: SessionTransport;
  /** The principal with the rights of its latest request. */
  actor: Actor;
  lastUsed: number;
}

export interface SessionsParts {
  createServer(actor: () => Actor): Server;
  clock: Clock;
  log: Log;
  /** Sessions at once at most; each takes about 50 kB. */
  max: number;
  /** Milliseconds without a request or an open stream. */
  idleMs: number;
}

const SWEEP_EVERY_MS = 60_000;
/** Largest part of the places that one principal can have, so that others always find room. */
const MAX_SHARE = 0.9;

export class Sessions {
  readonly #parts: SessionsParts;
  /** Ordered by last use. */
  readonly #open = new Map<string, Session>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_EVERY_MS);
    this.#sweeper.unref();
  }

  get size(): number {
    return this.#open.size;
  }

  /** The session of an id when it belongs to the caller. One of another principal is undefined, as an unknown one is. */
  use(id: string, actor: Actor): Session | undefined {
    const session = this.#open.get(id);
    if (session === undefined || !isSame(session.actor, actor)) return undefined;
    if (this.#isExpired(session)) {
      this.#close(session);
      return undefined;
    }
    session.actor = actor;
    this.#touch(id, session);
    return session;
  }

  /**
   * Opens a session. When there are too many, another one is closed: an idle one before one that a client listens to, the least
   * recently used first. Undefined when all that could be closed have calls running.
   */
  async open(actor: Actor): Promise<Session | undefined> {
    if (!this.#makeRoom(actor)) return undefined;
    const id = randomUUID();
    const transport = new SessionTransport(id);
    const session: Session = { transport, actor, lastUsed: this.#parts.clock.elapsed() };
    const server = this.#parts.createServer(() => session.actor);
    server.onclose = () => this.#open.delete(id);
    server.onerror = (error) => this.#parts.log.debug({ err: error }, 'mcp session');
    this.#open.set(id, session);
    await server.connect(transport);
    return session;
  }

  /** Closes a session whose initialize was refused. */
  discard(session: Session): void {
    this.#close(session);
  }

  close(): void {
    clearInterval(this.#sweeper);
    for (const session of [...this.#open.values()]) this.#close(session);
  }

  #touch(id: string, session: Session): void {
    session.lastUsed = this.#parts.clock.elapsed();
    this.#open.delete(id);
    this.#open.set(id, session);
  }

  #isExpired(session: Session): boolean {
    return !session.transport.connected && this.#parts.clock.elapsed() - session.lastUsed > this.#parts.idleMs;
  }

  #sweep(): void {
    for (const session of [...this.#open.values()]) if (this.#isExpired(session)) this.#close(session);
  }

  #makeRoom(actor: Actor): boolean {
    const { max } = this.#parts;
    const me = principalOf(actor);
    const counts = new Map<string, number>([[me, 0]]);
    for (const session of this.#open.values()) {
      const principal = principalOf(session.actor);
      counts.set(principal, (counts.get(principal) ?? 0) + 1);
    }
    const mine = counts.get(me) ?? 0;
    const own = (session: Session) => principalOf(session.actor) === me;
    if (mine >= Math.ceil(max * MAX_SHARE)) return this.#evict(own);
    if (this.#open.size < max) return true;
    const share = max / counts.size;
    if (mine + 1 > share && mine > 0) return this.#evict(own);
    // The principal with the most sessions loses one first. When all have an equal share, only idle sessions are closed.
    const most = Math.max(...counts.values());
    return (
      this.#evict((session) => most > share && counts.get(principalOf(session.actor)) === most) ||
      this.#evict((session) => (counts.get(principalOf(session.actor)) ?? 0) > share) ||
      this.#evict((session) => !session.transport.connected)
    );
  }

  /** Closes one of these sessions that has no call running. Returns whether there was one. */
  #evict(may: (session: Session) => boolean): boolean {
    const idle = [...this.#open.values()].filter((session) => session.transport.pending === 0 && may(session));
    const chosen = idle.find(({ transport }) => !transport.connected) ?? idle[0];
    if (chosen !== undefined) this.#close(chosen);
    return chosen !== undefined;
  }

  #close(session: Session): void {
    // `onclose` removes it from the map.
    session.transport.close().catch((error: unknown) => this.#parts.log.debug({ err: error }, 'mcp session close'));
  }
}

function isSame(a: Actor, b: Actor): boolean {
  return principalOf(a) === principalOf(b);
}
