import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimal, over, plus, rounded, times, ZERO } from '../../src/domain/costs/money.js';
import { nextRenewal, plusMonths } from '../../src/domain/costs/periods.js';

describe('money', () => {
  test.each([
    ['0.005', 0.01],
    ['0.00499999', 0],
    ['-0.005', -0.01],
    ['-0.004', 0],
    ['1.005', 1.01],
    ['2.675', 2.68],
    ['999999999999.994', 999_999_999_999.99],
    ['10', 10],
  ])('%s rounds to %d, half away from zero', (text, expected) => {
    expect(Object.is(rounded(decimal(text)), expected)).toBe(true);
  });

  test('is exact where binary fractions are not', () => {
    const tenths = Array.from({ length: 10 }, () => decimal('0.1')).reduce(plus, ZERO);
    expect(tenths).toEqual({ n: 1n, d: 1n });
    const third = over(decimal('100'), 3);
    expect(rounded(plus(plus(third, third), third))).toBe(100);
    expect(rounded(times(third, 3))).toBe(100);
    expect(rounded(over(times(decimal('0.00000001'), 12), 12))).toBe(0);
  });

  test('refuses what is no decimal and divisors that are no counts', () => {
    for (const text of ['', '1e5', ' 1', '1.', '.5', 'NaN', '1,5']) expect(() => decimal(text)).toThrow(RangeError);
    for (const divisor of [0, -1, 1.5, Number.NaN]) expect(() => over(ZERO, divisor)).toThrow(RangeError);
  });

  test('shares add up to the whole, for any price and number of sites', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 20n), fc.integer({ min: 1, max: 500 }), (units, sites) => {
        const price = { n: units, d: 100_000_000n };
        const share = over(price, sites);
        const sum = Array.from({ length: sites }, () => share).reduce(plus, ZERO);
        expect(sum.n * price.d).toBe(price.n * sum.d);
      }),
      { numRuns: 50 },
    );
  });
});

describe('periods', () => {
  test.each([
    ['2025-01-31', 1, '2025-02-28'],
    ['2024-01-31', 1, '2024-02-29'],
    ['2025-01-31', 2, '2025-03-31'],
    ['2024-02-29', 12, '2025-02-28'],
    ['2024-02-29', 48, '2028-02-29'],
    ['2025-11-30', 3, '2026-02-28'],
    ['2025-12-15', 1, '2026-01-15'],
  ])('%s plus %i months is %s', (date, months, expected) => {
    expect(plusMonths(date, months)).toBe(expected);
  });

  test.each([
    // A typo, but a valid date: it is not read as a year of the 20th century.
    ['0025-01-31', 'monthly', '2026-02-01', '2026-02-28'],
    // [last, every, today, due]
    ['2025-01-31', 'monthly', '2025-02-10', '2025-02-28'],
    ['2025-01-31', 'monthly', '2025-03-01', '2025-03-31'],
    ['2025-01-31', 'monthly', '2025-03-31', '2025-03-31'],
    ['2025-06-15', 'monthly', '2025-06-15', '2025-07-15'],
    ['2025-05-15', 'monthly', '2025-06-15', '2025-06-15'],
    ['2025-05-14', 'monthly', '2025-06-15', '2025-07-14'],
    ['2025-06-08', 'weekly', '2025-06-15', '2025-06-15'],
    ['2025-06-07', 'weekly', '2025-06-15', '2025-06-21'],
    ['2025-06-15', 'weekly', '2025-06-15', '2025-06-22'],
    ['2019-11-30', 'quarterly', '2025-06-15', '2025-08-30'],
    ['2024-11-30', 'quarterly', '2025-02-01', '2025-02-28'],
    ['2024-02-29', 'yearly', '2025-01-01', '2025-02-28'],
    ['2024-02-29', 'yearly', '2027-03-01', '2028-02-29'],
    ['1970-01-01', 'yearly', '2025-06-15', '2026-01-01'],
    ['2026-01-01', 'yearly', '2025-06-15', '2026-01-01'],
  ] as const)('%s, %s, on %s falls due on %s', (last, every, today, due) => {
    expect(nextRenewal(last, every, today)).toBe(due);
  });

  test('a due date is the first of its series from today on, for any dates', () => {
    const day = fc.date({ min: new Date('1990-01-01'), max: new Date('2060-12-31'), noInvalidDate: true });
    const every = fc.constantFrom('monthly', 'quarterly', 'yearly' as const);
    const months = { monthly: 1, quarterly: 3, yearly: 12 };
    fc.assert(
      fc.property(day, day, every as fc.Arbitrary<keyof typeof months>, (a, b, period) => {
        const [last, today] = [a, b].map((date) => date.toISOString().slice(0, 10)) as [string, string];
        fc.pre(last <= today);
        let n = 1;
        while (plusMonths(last, n * months[period]) < today) n++;
        expect(nextRenewal(last, period, today)).toBe(plusMonths(last, n * months[period]));
      }),
    );
  });
});
