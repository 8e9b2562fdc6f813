import { Agent, Client } from 'undici';
import { type Connector, createConnector } from './connect.js';
import { perform, type WireAnswer, type WireRequest } from './exchange.js';
import type { Resolver } from './resolve.js';

export interface TransportOptions {
  resolver: Resolver;
  allowPrivate: boolean;
  connectTimeoutMs: number;
}

/** One HTTP exchange: no redirects followed, no cookies, nothing retried, everything bounded. Rejects with ChildFailure. */
export class Transport {
  readonly #connectors: { verify: Connector; lenient: Connector };
  readonly #agents: { verify: Agent; lenient: Agent };
  readonly #alone = new Set<Client>();

  constructor(options: TransportOptions) {
    const connector = (verify: boolean): Connector =>
      createConnector({
        resolver: options.resolver,
        allowPrivate: options.allowPrivate,
        timeoutMs: options.connectTimeoutMs,
        verify,
      });
    this.#connectors = { verify: connector(true), lenient: connector(false) };
    // Servers that promise long keep-alives would leave one open socket per site behind: at most 2 s.
    const agent = (connect: Connector): Agent =>
      new Agent({ connect, pipelining: 1, keepAliveTimeout: 1_000, keepAliveMaxTimeout: 2_000, maxHeaderSize: 32_768 });
    this.#agents = { verify: agent(this.#connectors.verify), lenient: agent(this.#connectors.lenient) };
  }

  /** Over a pooled connection. */
  exchange(request: WireRequest): Promise<WireAnswer> {
    return perform(request.verify ? this.#agents.verify : this.#agents.lenient, request);
  }

  /** Over a connection of its own, so that the answer can name the address that gave it. */
  async exchangeAlone(request: WireRequest): Promise<WireAnswer> {
    const connector = request.verify ? this.#connectors.verify : this.#connectors.lenient;
    let address = '';
    const client = new Client(request.url.origin, {
      maxHeaderSize: 32_768,
      connect: (target, callback) =>
        connector(target, (...result) => {
          address = result[1]?.remoteAddress ?? '';
          callback(...result);
        }),
    });
    this.#alone.add(client);
    try {
      return { ...(await perform(client, request)), address };
    } finally {
      this.#alone.delete(client);
      client.destroy().catch(() => undefined);
    }
  }

  /** Ends all connections; calls under way fail with `cancelled`. */
  async close(): Promise<void> {
    const all = [this.#agents.verify, this.#agents.lenient, ...this.#alone];
    await Promise.all(all.map((one) => one.destroy()));
  }
}
