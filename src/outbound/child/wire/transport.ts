import { Agent, Client } from 'undici';
import type { Clock } from '../../../runtime/clock.js';
import type { PrivateReach } from '../../public-address.js';
import { type Connector, createConnector } from './connect.js';
import { perform, type WireAnswer, type WireRequest } from './exchange.js';
import type { Resolver } from './resolve.js';

export interface TransportOptions {
  resolver: Resolver;
  allowPrivate: PrivateReach;
  clock: Pick<Clock, 'after'>;
  connectTimeoutMs: number;
  /** Awaited before each exchange; may abort its signal. */
  beforeSend?: (() => Promise<void> | undefined) | undefined;
  /** How long `close` waits for running changes. */
  finishMs: number;
}

interface Way {
  connector: Connector;
  /** One connection per site. */
  single: Agent;
  /** More connections, for sites that are called while another answer is pending. */
  pool: Agent;
  /** Origins whose single connection is in use. */
  taken: Set<string>;
}

/** One HTTP exchange: no redirects followed, no cookies, everything bounded. Rejects with ChildFailure. */
export class Transport {
  readonly #options: TransportOptions;
  /** One per set of connection options, created when first used: a socket of one set must never serve another. */
  readonly #ways = new Map<string, Way>();
  readonly #alone = new Set<Client>();
  /** Number of running changes. */
  #changing = 0;
  #changesOver: () => void = () => undefined;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  #way({ verify, ipv4Only, minTls }: WireRequest): Way {
    const key = `${verify} ${ipv4Only} ${minTls}`;
    const known = this.#ways.get(key);
    if (known !== undefined) return known;
    const { resolver, allowPrivate, connectTimeoutMs: timeoutMs } = this.#options;
    const connector = createConnector({ resolver, allowPrivate, timeoutMs, verify, ipv4Only, minTls });
    // Servers that offer long keep-alives would leave one open socket per site: at most 2 s.
    const settings = {
      connect: connector,
      pipelining: 1,
      keepAliveTimeout: 1_000,
      keepAliveMaxTimeout: 2_000,
      maxHeaderSize: 32_768,
    };
    const way = {
      connector,
      single: new Agent({ ...settings, connections: 1 }),
      pool: new Agent(settings),
      taken: new Set<string>(),
    };
    this.#ways.set(key, way);
    return way;
  }

  /**
   * Over a kept-alive connection, which the server may be closing just then: what must not be sent twice, and what is judged by whether it
   * is answered, has a connection of its own.
   */
  async exchange(request: WireRequest): Promise<WireAnswer> {
    await this.#options.beforeSend?.();
    const over = this.#watched(request);
    const alone = request.finish === true || request.once === true;
    return alone ? this.#performAlone(request, over) : this.#performKept(request, over);
  }

  /** Called when an exchange is over: changes are counted, as those that run delay `close`. */
  #watched({ finish, onOver }: WireRequest): (status: number) => void {
    const changed = finish === true ? this.#beginChange() : () => undefined;
    return (status) => {
      changed();
      onOver?.(status);
    };
  }

  /**
   * undici's pool takes 16 KB per site, for a queue that is never used without a connection limit; nearly always a site has one call at a
   * time, for which a single connection suffices.
   */
  #performKept(request: WireRequest, over: (status: number) => void): Promise<WireAnswer> {
    const { single, pool, taken } = this.#way(request);
    const { origin } = request.url;
    const { clock } = this.#options;
    if (taken.has(origin)) return perform(pool, request, clock, over);
    taken.add(origin);
    return perform(single, request, clock, (status) => {
      taken.delete(origin);
      over(status);
    });
  }

  #beginChange(): () => void {
    this.#changing++;
    return () => {
      if (--this.#changing === 0) this.#changesOver();
    };
  }

  /** Over a separate connection, so that the result can name the address that answered. */
  async exchangeAlone(request: WireRequest): Promise<WireAnswer> {
    await this.#options.beforeSend?.();
    let address = '';
    const answer = await this.#performAlone(
      request,
      () => undefined,
      (remote) => {
        address = remote;
      },
    );
    return { ...answer, address };
  }

  #performAlone(
    request: WireRequest,
    over: (status: number) => void,
    connected: (address: string) => void = () => undefined,
  ): Promise<WireAnswer> {
    const { connector } = this.#way(request);
    const client = new Client(request.url.origin, {
      maxHeaderSize: 32_768,
      connect: (target, callback) =>
        connector(target, (...result) => {
          connected(result[1]?.remoteAddress ?? '');
          callback(...result);
        }),
    });
    this.#alone.add(client);
    // A change may go on after its caller gave up.
    return perform(client, request, this.#options.clock, (status) => {
      this.#alone.delete(client);
      client.destroy().catch(() => undefined);
      over(status);
    });
  }

  /** Closes all connections, those of running changes after a while; calls fail with `cancelled`. */
  async close(): Promise<void> {
    if (this.#changing > 0) {
      const { clock, finishMs } = this.#options;
      await new Promise<void>((resolve) => {
        const cancel = clock.after(finishMs, resolve);
        this.#changesOver = () => {
          cancel();
          resolve();
        };
      });
    }
    const all = [...[...this.#ways.values()].flatMap(({ single, pool }) => [single, pool]), ...this.#alone];
    await Promise.all(all.map((one) => one.destroy()));
  }
}
