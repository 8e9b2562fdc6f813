import type { DemoSite } from './site.js';

/** What happened on the wire since the start or the last reset. */
export interface FleetStats {
  requests: number;
  /** Those of the method HEAD. */
  headRequests: number;
  inFlight: number;
  maxInFlight: number;
  /** By the host name a client sees, without the port. */
  maxInFlightByHost: Record<string, number>;
  /** Protocol calls by function name. */
  calls: Record<string, number>;
  openConnections: number;
  maxConnections: number;
  /** Mistakes of the simulator itself, at most twenty; always empty in a healthy test. */
  errors: string[];
}

interface HostCount {
  now: number;
  most: number;
}

/** Counts requests from their first byte until their answer is finished or cut. */
export class Counters {
  private requests = 0;
  private headRequests = 0;
  private inFlight = 0;
  private maxInFlight = 0;
  private connections = 0;
  private maxConnections = 0;
  private readonly errors: string[] = [];
  private readonly hosts = new Map<string, HostCount>();
  private readonly functions = new Map<string, number>();

  begin(site: DemoSite, method: string): () => void {
    const host = this.host(site.host);
    this.requests += 1;
    if (method === 'HEAD') this.headRequests += 1;
    this.inFlight += 1;
    this.maxInFlight = Math.max(this.maxInFlight, this.inFlight);
    host.now += 1;
    host.most = Math.max(host.most, host.now);
    site.requests += 1;
    site.inFlight += 1;
    site.maxInFlight = Math.max(site.maxInFlight, site.inFlight);
    return () => {
      this.inFlight -= 1;
      host.now -= 1;
      site.inFlight -= 1;
    };
  }

  call(name: string): void {
    this.functions.set(name, (this.functions.get(name) ?? 0) + 1);
  }

  failed(error: unknown): void {
    if (this.errors.length < 20) this.errors.push(error instanceof Error ? error.message : String(error));
  }

  connected(): void {
    this.connections += 1;
    this.maxConnections = Math.max(this.maxConnections, this.connections);
  }

  disconnected(): void {
    this.connections -= 1;
  }

  /** Peaks start again from what is in flight now. */
  reset(): void {
    this.requests = 0;
    this.headRequests = 0;
    this.maxInFlight = this.inFlight;
    this.maxConnections = this.connections;
    this.functions.clear();
    for (const host of this.hosts.values()) host.most = host.now;
  }

  snapshot(): FleetStats {
    return {
      requests: this.requests,
      headRequests: this.headRequests,
      inFlight: this.inFlight,
      maxInFlight: this.maxInFlight,
      maxInFlightByHost: Object.fromEntries([...this.hosts].map(([name, count]) => [name, count.most])),
      calls: Object.fromEntries(this.functions),
      openConnections: this.connections,
      maxConnections: this.maxConnections,
      errors: [...this.errors],
    };
  }

  private host(name: string): HostCount {
    let count = this.hosts.get(name);
    if (count === undefined) {
      count = { now: 0, most: 0 };
      this.hosts.set(name, count);
    }
    return count;
  }
}
