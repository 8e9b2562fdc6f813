/** Changes that go on at a site although their caller gave up: whether the site is still at work on the last one. */

import { GATEWAY_LOST } from './child.js';

/** `answered` = the site has ended it with an answer of its own, so that nothing more comes of it. */
export type Leftover = 'running' | 'answered';

/** How long it is known after the end: the job that goes on with the call asks within seconds. */
const KEPT_MS = 120_000;

export class Leftovers {
  /** One entry for each site whose last change was given up, until a while after its end. */
  readonly #sites = new Map<number, { state: Leftover }>();

  /**
   * A change is sent to a site.
   * @returns `abandoned`: its caller gave up; `over`: it has ended with this HTTP status, 0 = without an answer
   */
  begin(siteId: number): { abandoned(): void; over(status: number): void } {
    this.#sites.delete(siteId);
    const entry: { state: Leftover } = { state: 'running' };
    const forget = () => {
      if (this.#sites.get(siteId) === entry) this.#sites.delete(siteId);
    };
    let ended = false;
    return {
      abandoned: () => {
        if (!ended) this.#sites.set(siteId, entry);
      },
      over: (status) => {
        ended = true;
        if (status === 0 || GATEWAY_LOST.has(status)) return forget();
        entry.state = 'answered';
        setTimeout(forget, KEPT_MS).unref();
      },
    };
  }

  /** Null = nothing was given up, or what became of it is unknown. */
  of(siteId: number): Leftover | null {
    return this.#sites.get(siteId)?.state ?? null;
  }
}
