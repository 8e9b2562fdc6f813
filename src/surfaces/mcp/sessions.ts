/**
 * The MCP session store: a bounded number of sessions, closed when idle, each bound to the principal that opened it.
 * The places are shared: a principal with more than an equal share loses its own sessions first, and none can take all
 * places. A session that was closed to make room is restored from its id when its client returns.
 */

import { randomUUID } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Actor } from '../../runtime/actor.js';
import type { Clock } from '../../runtime/clock.js';
import { dropOldest } from '../../runtime/drop-oldest.js';
import type { Log } from '../../runtime/log.js';
import { principalOf } from './confirm.js';
import { initializeParams, issueSessionId, openSessionId, type SessionFacts, type SessionSeal } from './session-ids.js';
import { SessionTransport } from './session-transport.js';

export interface Session {
  readonly transport: SessionTransport;
  /** The principal with the rights of its latest request. */
  actor: Actor;
  lastUsed: number;
  /** Resolves when calls may be made: a restored session first has to receive its client's capabilities. */
  ready: Promise<void>;
  /** Whether its client can put a question to its user. */
  canAsk(): boolean;
}

export interface SessionsParts {
  createServer(actor: () => Actor): Server;
  clock: Clock;
  log: Log;
  /** Maximum number of open sessions; each takes about 50 kB. */
  max: number;
  /** Milliseconds without a request or an open stream after which a session is closed. */
  idleMs: number;
  /** Seals the facts of a session into its id. Without it, a closed session cannot be restored. */
  seal?: SessionSeal | undefined;
}

const SWEEP_EVERY_MS = 60_000;
/** Largest share of the places for one principal, so that others always find room. */
const MAX_SHARE = 0.9;
/** How many ids of sessions ended by their clients are remembered, so that they are not restored. */
const MAX_ENDED = 10_000;

export class Sessions {
  readonly #parts: SessionsParts;
  /** Ordered by last use. */
  readonly #open = new Map<string, Session>();
  readonly #ended = new Set<string>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_EVERY_MS);
    this.#sweeper.unref();
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * The session of an id if it belongs to the caller, restored if it was closed meanwhile. Undefined for an unknown id,
   * for a session of another principal, and when it cannot be restored because all places are taken.
   */
  async use(id: string, actor: Actor): Promise<Session | undefined> {
    let session = this.#open.get(id);
    if (session !== undefined && !isSame(session.actor, actor)) return undefined;
    if (session !== undefined && this.#isExpired(session)) {
      this.#close(session);
      session = undefined;
    }
    session ??= this.#restore(id, actor);
    if (session === undefined) return undefined;
    session.actor = actor;
    this.#touch(id, session);
    await session.ready;
    return session;
  }

  /**
   * Opens a session. When there are too many, another one is closed: an idle one before one that a client listens to,
   * the least recently used first. Undefined when all that could be closed have running calls.
   */
  async open(actor: Actor, facts: SessionFacts): Promise<Session | undefined> {
    if (!this.#makeRoom(actor)) return undefined;
    const { seal, clock } = this.#parts;
    const id = seal === undefined ? randomUUID() : issueSessionId(seal, principalOf(actor), facts, clock.now());
    const session = this.#add(id, actor);
    await session.ready;
    return session;
  }

  /** Restores a closed session from its id. */
  #restore(id: string, actor: Actor): Session | undefined {
    const { seal, clock } = this.#parts;
    if (seal === undefined || this.#ended.has(id)) return undefined;
    const facts = openSessionId(seal, principalOf(actor), id, clock.now());
    return facts === undefined || !this.#makeRoom(actor) ? undefined : this.#add(id, actor, facts);
  }

  /** @param facts of a restored session; a new one gets them with its first request */
  #add(id: string, actor: Actor, facts?: SessionFacts): Session {
    const transport = new SessionTransport(id);
    const lastUsed = this.#parts.clock.elapsed();
    const canAsk = () => server.getClientCapabilities()?.elicitation !== undefined;
    const session: Session = { transport, actor, lastUsed, ready: Promise.resolve(), canAsk };
    const server = this.#parts.createServer(() => session.actor);
    // A restored session may already be open under the same id.
    server.onclose = () => void (this.#open.get(id) === session && this.#open.delete(id));
    server.onerror = (error) => this.#parts.log.debug({ err: error }, 'mcp session');
    this.#open.set(id, session);
    session.ready = server.connect(transport).then(() => {
      if (facts !== undefined) return transport.restore(initializeParams(facts));
    });
    return session;
  }

  /** Remembers that the client ended a session, so that it is not restored. */
  forget(id: string): void {
    this.#ended.add(id);
    dropOldest(this.#ended, MAX_ENDED);
  }

  /** Closes a session whose initialize was refused, or whose login has ended. */
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
