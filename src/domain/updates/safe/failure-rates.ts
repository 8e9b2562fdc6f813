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
    return this.failing().filter((page) => this.#requests.get(keyOf(page))?.failed.includes(false));
  }

  /** Pages that failed, answered, and failed again, more often than before. */
  findings(): Finding[] {
    return [...this.#requests.values()].flatMap(({ page, status, failed }): Finding[] => {
      const failures = failed.filter(Boolean).length;
      const again = failed.slice(failed.indexOf(true), failed.lastIndexOf(true)).includes(false);
      const then = this.#earlier(page);
      const usual = then.requests === 0 ? 0 : then.failures / then.requests;
      if (!again || failures / failed.length <= 2 * usual + (usual > 0 ? MORE : 0)) return [];
      const what = `${nameOf(page)} answers HTTP ${status} to ${failures} of ${failed.length} requests; before, to ${then.failures} of ${then.requests}.`;
      return [{ severity: 'broken', path: keyOf(page), what }];
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

export function isFailure({ status }: PageFacts): boolean {
  return status >= 500;
}
