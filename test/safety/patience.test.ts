/** How long an updated site has for its answers: slow ones are no sign that it is broken. */

import { expect, it } from 'vitest';
import { type Baseline, NO_BASELINE, type SiteCheck } from '../../src/domain/updates/safe/compare-health.js';
import { FRONT, LOGIN } from '../../src/domain/updates/safe/looked-pages.js';
import { visitsAfter } from '../../src/domain/updates/safe/probe.js';

/** @param front how long the front page took, in milliseconds */
const check = (front: number): SiteCheck =>
  ({ at: 0, child: true, pages: { '': { ms: front } } }) as unknown as SiteCheck;

it.each([
  [300, 200, 8_300],
  [300, 14_000, 20_000],
])('pages that took %i and %i ms have 8 s more, but never more than 20 s', (first, second, most) => {
  const before: Baseline = { ...NO_BASELINE, first: check(first), second: check(second) };
  expect(visitsAfter(before, null)(FRONT).timeoutMs).toBe(most);
  // What it took is not known: it is compared with the others.
  expect(visitsAfter(before, null)(LOGIN).timeoutMs).toBe(Math.min(second + 8_000, 20_000));
});

it('the child plugin has all of that time, as nobody knows how long it took before', () => {
  // A real site under load: its pages took 13 s, and the child plugin, which had 8 s more than a page of before, 11.2 s.
  const before: Baseline = { ...NO_BASELINE, first: check(4_256), second: check(3_197) };
  expect(visitsAfter(before, null)().timeoutMs).toBe(20_000);
});
