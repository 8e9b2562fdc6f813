/**
 * Detects pages that fail now and then: compares how many requests of a page fail after an update with before. A page
 * that fails for a while and then recovers is not one of them: checks decide on it.
 */

import type { Baseline, Finding } from './compare-health.js';
import { FRONT, keyOf, type LookedPage, nameOf } from './looked-pages.js';
import { isTurnedAway, type PageFacts } from './page-facts.js';

interface Requests {
  page: LookedPage;
  status: number;
  /** In the order of the requests: it failed. */
  failed: boolean[];
}

/** Failures in no more than this share of the requests are none of the update's, where there were some before. */
const MORE = 0.1;
/**
 * A host that fails now and then did so before, too, and few requests may not have met it: so many requests, and such a share of
 * failures, show that it is more often now.
 */
const ENOUGH = [
  { requests: 20, share: 0.25 },
  { requests: 40, share: 0.15 },
] as const;
export const MOST_REQUESTS = 40;

/** The requests of pages since an update. */
export class FailureRates {
  readonly #requests = new Map<string, Requests>();

  constructor(private readonly before: Baseline) {}

  /** Counts a request. Silence is not counted: it may be our own network. Nor is what a limit of requests turned away. */
  note(page: LookedPage, facts: PageFacts): void {
    if (facts.status === 0 || facts.away || isTurnedAway(facts)) return;
    // The front page of a phone is the front page, too.
    const key = page.kind === 'phone' ? keyOf(FRONT) : keyOf(page);
    const known = this.#requests.get(key) ?? { page: page.kind === 'phone' ? FRONT : page, status: 0, failed: [] };
    known.failed.push(isFailure(facts));
    if (isFailure(facts)) known.status = facts.status;
    this.#requests.set(key, known);
  }

  /** Pages of which at least one request failed. */
  failing(): LookedPage[] {
    return [...this.#requests.values()].filter(({ failed }) => failed.includes(true)).map(({ page }) => page);
  }

  /** Pages that both failed and answered. */
  unsteady(): LookedPage[] {
    return this.failing().filter((page) => this.#of(page).failed.includes(false));
  }

  /** Keys of pages that have answered since they failed. */
  recovered(): ReadonlySet<string> {
    const has = ({ failed }: Requests) => failed.slice(failed.indexOf(true)).includes(false);
    return new Set(this.failing().flatMap((page) => (has(this.#of(page)) ? keyOf(page) : [])));
  }

  /** Pages that seem to fail more often than before, of which more requests will tell. */
  undecided(): LookedPage[] {
    return this.#moreOften().flatMap(({ page, isClear }) =>
      isClear || this.#of(page).failed.length >= MOST_REQUESTS ? [] : page,
    );
  }

  /** Pages that failed, answered, and failed again, more often than before: broken if that is clear, otherwise only told. */
  findings(): Finding[] {
    return this.#moreOften().map(({ page, what, isClear }) =>
      isClear
        ? { severity: 'broken', path: keyOf(page), what }
        : { severity: 'suspect', path: keyOf(page), what, hearsay: true },
    );
  }

  #of(page: LookedPage): Requests {
    return this.#requests.get(keyOf(page)) ?? { page, status: 0, failed: [] };
  }

  #moreOften(): { page: LookedPage; what: string; isClear: boolean }[] {
    return [...this.#requests.values()].flatMap(({ page, status, failed }) => {
      const failures = failed.filter(Boolean).length;
      const again = failed.slice(failed.indexOf(true), failed.lastIndexOf(true)).includes(false);
      const then = this.#earlier(page);
      const usual = then.requests === 0 ? 0 : then.failures / then.requests;
      const rate = failures / failed.length - 2 * usual;
      if (!again || rate <= (usual > 0 ? MORE : 0)) return [];
      const what = `${nameOf(page)} answers HTTP ${status} to ${failures} of ${failed.length} requests; before, to ${then.failures} of ${then.requests}.`;
      const isClear = ENOUGH.some(({ requests, share }) => failed.length >= requests && rate >= share);
      return [{ page, what, isClear }];
    });
  }

  #earlier(page: LookedPage): { requests: number; failures: number } {
    const { first, second, between } = this.before;
    const keys = page.kind === 'front' ? [keyOf(FRONT), keyOf({ kind: 'phone', path: '' })] : [keyOf(page)];
    const answers = keys.flatMap((key) => [first.pages[key] ?? [], second.pages[key] ?? []].flat());
    const more = page.kind === 'front' ? between : { requests: 0, failures: 0 };
    return {
      requests: answers.length + more.requests,
      failures: answers.filter(isFailure).length + more.failures,
    };
  }
}

export function isFailure({ status }: Pick<PageFacts, 'status'>): boolean {
  return status >= 500;
}
