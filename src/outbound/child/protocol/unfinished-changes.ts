/** Changes that continue on a site although their caller gave up: whether the site is still working on the last one. */

import { GATEWAY_LOST } from '../failure.js';
import type { UnfinishedChange } from '../port.js';

/** How long it is remembered after the end: the job that continues the call asks within seconds. */
const KEPT_MS = 120_000;

export class UnfinishedChanges {
  /** One entry per site whose last change was abandoned, kept for a while after its end. */
  readonly #sites = new Map<number, { state: UnfinishedChange }>();

  /**
   * Records a change sent to a site.
   * @returns `abandoned`: its caller gave up; `over`: it has ended with this HTTP status, 0 = without an answer
   */
  begin(siteId: number): { abandoned(): void; over(status: number): void } {
    this.#sites.delete(siteId);
    const entry: { state: UnfinishedChange } = { state: 'running' };
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

  /** Null = nothing was abandoned, or its outcome is unknown. */
  of(siteId: number): UnfinishedChange | null {
    return this.#sites.get(siteId)?.state ?? null;
  }
}
