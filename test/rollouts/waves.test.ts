/** How the sites of a plan are divided into waves, and when the window of a site is open. */

import { describe, expect, it } from 'vitest';
import { isOpen, type Rules } from '../../src/domain/updates/rollouts/rules.js';
import { divided } from '../../src/domain/updates/rollouts/waves.js';

const site = (site_id: number, items: string[], more: object = {}) => ({
  site_id,
  items,
  down: false,
  guarded: true,
  troubled: false,
  ...more,
});
const any = { canaries: undefined, candidates: undefined, sizes: [] };

describe('waves', () => {
  const fleet = (n: number) => Array.from({ length: n }, (_, at) => site(at + 1, ['a']));
  const sizes = (waves: number[][]) => waves.map((wave) => wave.length);

  it('are a few canaries, a tenth, three tenths and the rest, unless sizes are given', () => {
    expect(sizes(divided(fleet(1000), any))).toEqual([20, 98, 294, 588]);
    expect(sizes(divided(fleet(60), any))).toEqual([3, 6, 18, 33]);
    expect(sizes(divided(fleet(3), any))).toEqual([1, 2]);
    expect(divided([], any)).toEqual([]);
    expect(sizes(divided(fleet(60), { ...any, canaries: 5, sizes: [10, 15, 15] }))).toEqual([5, 10, 15, 15, 15]);
    expect(sizes(divided(fleet(10), { ...any, canaries: 4, sizes: [50] }))).toEqual([4, 6]);
  });

  it('begin with sites that are up, and try as many versions as they can', () => {
    const sites = [
      site(1, ['a']),
      site(2, ['a', 'b', 'c'], { down: true }),
      site(3, ['a', 'b']),
      site(4, ['c'], { guarded: false }),
      site(5, ['a']),
    ];
    expect(divided(sites, { ...any, canaries: 2 })).toEqual([
      [3, 4],
      [1, 2, 5],
    ]);
    expect(divided(sites, { ...any, canaries: 5 })[0]).toEqual([1, 2, 3, 4, 5]);
  });

  it('choose no canary for a version that no other site gets', () => {
    const sites = [site(1, ['a']), site(2, ['a']), site(3, ['own', 'mine', 'a'])];
    expect(divided(sites, { ...any, canaries: 1 })[0]).toEqual([1]);
  });

  it('end with sites on which alone an update failed', () => {
    const sites = [1, 2, 3, 4, 5, 6].map((id) => site(id, ['a'], { troubled: id < 3 }));
    expect(divided(sites, { ...any, canaries: 1, sizes: [3] })).toEqual([[3], [4, 5, 6], [1, 2]]);
    expect(divided(sites, { ...any, canaries: 1, candidates: new Set([2]) })[0]).toEqual([2]);
    const ranked = sites.map((one) => ({ ...one, rank: one.site_id }));
    expect(divided(ranked, { ...any, canaries: 2, ranked: true })[0]).toEqual([3, 4]);
  });

  it('look at the versions of a site no more often for many canaries than for one', () => {
    const looks = (canaries: number) => {
      let count = 0;
      const watched = Array.from({ length: 200 }, (_, at) => ({
        ...site(at + 1, []),
        get items() {
          count++;
          return [`a${at % 50}`, 'b'];
        },
      }));
      expect(divided(watched, { ...any, canaries })[0]).toHaveLength(canaries);
      return count;
    };
    expect(looks(150)).toBe(looks(1));
  });
});

describe('a window', () => {
  const rules = (days: number[], from: string, to: string) => ({ window: { days, from, to } }) as Rules;
  const open = (given: Rules, timezone: string, at: string) =>
    isOpen(given, { timezone, gmt_offset: '' }, Date.parse(at));

  it('follows the clock of the site over summer time', () => {
    const nights = rules([0], '02:30', '04:00');
    // In Berlin, the clocks go from 02:00 to 03:00 on 29 March 2026, and from 03:00 to 02:00 on 25 October.
    for (const [at, is] of [
      ['2026-03-22T01:29:00Z', false],
      ['2026-03-22T01:30:00Z', true],
      ['2026-03-22T03:00:00Z', false],
      ['2026-03-29T01:29:00Z', false],
      ['2026-03-29T01:30:00Z', true],
      ['2026-03-29T01:59:00Z', true],
      ['2026-03-29T02:00:00Z', false],
      ['2026-10-25T00:29:00Z', false],
      ['2026-10-25T00:30:00Z', true],
      ['2026-10-25T02:59:00Z', true],
      ['2026-10-25T03:00:00Z', false],
    ] as const)
      expect([at, open(nights, 'Europe/Berlin', at)]).toEqual([at, is]);
  });

  it('may end on the next day, and is in UTC for a site whose zone is not known', () => {
    const late = rules([5], '23:00', '01:00');
    expect(open(late, 'UTC', '2026-11-27T23:30:00Z')).toBe(true);
    expect(open(late, 'UTC', '2026-11-28T00:59:00Z')).toBe(true);
    expect(open(late, 'UTC', '2026-11-28T01:00:00Z')).toBe(false);
    expect(open(late, 'UTC', '2026-11-28T23:30:00Z')).toBe(false);
    expect(open(late, 'America/New_York', '2026-11-28T04:30:00Z')).toBe(true);
    expect(isOpen(late, { timezone: '', gmt_offset: '' }, Date.parse('2026-11-27T23:30:00Z'))).toBe(true);
  });
});
