import { dropOldest } from '../../../runtime/drop-oldest.js';

const CAPACITY = 50_000;

/** Learns how long a site's calls take: an exponentially weighted mean per site and per host. */
export class LatencyBook {
  readonly #means = new Map<string, number>();

  /** Expected milliseconds: the site's own mean, otherwise its host's, otherwise one second. */
  estimate(site: string, host: string): number {
    return this.#means.get(`s ${site}`) ?? this.#means.get(`h ${host}`) ?? 1_000;
  }

  learn(site: string, host: string, ms: number): void {
    this.#learn(`s ${site}`, ms);
    this.#learn(`h ${host}`, ms);
  }

  #learn(key: string, ms: number): void {
    const old = this.#means.get(key);
    this.#means.delete(key);
    this.#means.set(key, old === undefined ? ms : old * 0.7 + ms * 0.3);
    dropOldest(this.#means, CAPACITY);
  }
}
