/** Connections of an audit to sites: each to a checked address, counted and limited, and ended together. */

import { Agent, type ClientRequestArgs } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Lookup, ResolvedAddress } from '../name-lookup.js';
import { dial } from '../probe/dial.js';
import { StepFailure } from '../probe/failure.js';
import { Names } from '../probe/names.js';
import type { PrivateReach } from '../public-address.js';

export interface OutletParts {
  allowPrivate: PrivateReach;
  lookup?: Lookup;
  limits?: Partial<OutletLimits>;
}

/** Far above what a page needs for a measurement; a page that exceeds them is cut off. */
export interface OutletLimits {
  /** Concurrent connections of the browser. */
  open: number;
  /** Total connections to sites. */
  connections: number;
  /** Total host names. */
  names: number;
  /** Total bytes in both directions. */
  bytes: number;
  /** Time limit for opening a connection, in milliseconds. */
  connectMs: number;
  /** Time limit for a connection without traffic, in milliseconds. */
  idleMs: number;
}

const LIMITS: OutletLimits = {
  open: 256,
  connections: 4_000,
  names: 400,
  bytes: 512 * 1024 * 1024,
  connectMs: 10_000,
  idleMs: 60_000,
};
const COUNT_EVERY_MS = 100;

/** The names of one run, each resolved once: many connections go to few hosts. */
class NamesOfRun extends Names {
  readonly #known = new Map<string, Promise<{ addresses: readonly ResolvedAddress[]; ms: number | null }>>();
  readonly #max: number;

  constructor(parts: OutletParts, max: number) {
    super(parts);
    this.#max = max;
  }

  override resolve(host: string): Promise<{ addresses: readonly ResolvedAddress[]; ms: number | null }> {
    let answer = this.#known.get(host);
    if (answer === undefined) {
      if (this.#known.size >= this.#max) return Promise.reject(new StepFailure('dns', 'Too many host names.'));
      answer = super.resolve(host);
      this.#known.set(host, answer);
    }
    return answer;
  }
}

/** Connections to sites: checked, counted, and ended together. */
export class Outlet {
  readonly limits: OutletLimits;
  readonly agent: Agent;
  refusal: string | null = null;
  readonly #names: Names;
  readonly #closing = new AbortController();
  readonly #held = new Set<Socket>();
  readonly #counted = new Set<Socket>();
  readonly #timer: NodeJS.Timeout;
  #opened = 0;
  #bytes = 0;

  constructor(parts: OutletParts) {
    this.limits = { ...LIMITS, ...parts.limits };
    this.#names = new NamesOfRun(parts, this.limits.names);
    this.agent = new CheckedAgent(this);
    this.#timer = setInterval(() => this.#count(), COUNT_EVERY_MS).unref();
  }

  /** Opens a connection to an allowed address. Rejects with the reason if there is none. */
  async open(host: string, port: number): Promise<Socket> {
    this.#closing.signal.throwIfAborted();
    this.#opened++;
    if (this.#opened > this.limits.connections) throw new StepFailure('unreachable', 'Too many connections.');
    const timeout = new AbortController();
    const stop = () => timeout.abort(new StepFailure('timed_out', `${host} did not accept a connection in time.`));
    const timer = setTimeout(stop, this.limits.connectMs);
    this.#closing.signal.addEventListener('abort', stop, { once: true });
    try {
      const { socket } = await dial(this.#names, { host, port, tls: null, signal: timeout.signal });
      socket.setTimeout(this.limits.idleMs, () => socket.destroy());
      this.#counted.add(socket);
      socket.once('close', () => {
        this.#bytes += bytesOf(socket);
        this.#counted.delete(socket);
      });
      this.hold(socket);
      return socket;
    } catch (error) {
      if (error instanceof StepFailure && error.kind === 'blocked_address') this.refusal ??= error.message;
      throw error;
    } finally {
      clearTimeout(timer);
      this.#closing.signal.removeEventListener('abort', stop);
    }
  }

  /** Registers a connection to be ended with all the others. */
  hold(socket: Socket): void {
    if (this.#closing.signal.aborted) socket.destroy();
    socket.on('error', () => undefined);
    this.#held.add(socket);
    socket.once('close', () => this.#held.delete(socket));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#closing.abort();
    this.agent.destroy();
    for (const socket of this.#held) socket.destroy();
  }

  #count(): void {
    let bytes = this.#bytes;
    for (const socket of this.#counted) bytes += bytesOf(socket);
    if (bytes > this.limits.bytes) this.close();
  }
}

function bytesOf(socket: Socket): number {
  return socket.bytesRead + socket.bytesWritten;
}

/** Keep-alive connections, each opened through the check. */
class CheckedAgent extends Agent {
  readonly #outlet: Outlet;

  constructor(outlet: Outlet) {
    super({ keepAlive: true, maxFreeSockets: 32 });
    this.#outlet = outlet;
  }

  override createConnection(
    target: ClientRequestArgs,
    callback?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    this.#outlet.open(target.host ?? '', Number(target.port)).then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, undefined as never),
    );
  }
}
