import { ChildFailure } from '../failure.js';

/** An update is often silent for a while; a call that is given up sooner says nothing of its site. */
const SILENT_AFTER_MS = 10_000;

/** Sites whose last call failed after a long time: without an answer, or with that of a gateway that waited in vain. */
export class SilentSites {
  readonly #ids = new Set<number>();

  has(siteId: number): boolean {
    return this.#ids.has(siteId);
  }

  /**
   * @param siteId 0 or undefined = a site without a record
   * @param failure null = it was answered
   */
  learn(siteId: number | undefined, ms: number, failure: unknown): void {
    if (siteId === undefined || siteId === 0) return;
    if (failure !== null && ms >= SILENT_AFTER_MS) this.#ids.add(siteId);
    else if (!(failure instanceof ChildFailure && failure.kind === 'cancelled')) this.#ids.delete(siteId);
  }
}
