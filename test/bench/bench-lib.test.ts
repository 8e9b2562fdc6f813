import { describe, expect, it } from 'vitest';
import { compare } from '../../bench/lib/ab.js';
import { openWriter } from '../../bench/lib/database.js';
import { SeededRandom } from '../../bench/lib/random.js';
import { jsonLine, markdown } from '../../bench/lib/report.js';
import { figure, type Measure, measureOf, met } from '../../bench/lib/scenario.js';
import { seedFleet } from '../../bench/lib/seed.js';
import { median, middleHalf, quantile, rounded } from '../../bench/lib/stats.js';
import { scenarios } from '../../bench/scenarios/index.js';

describe('statistics', () => {
  it('interpolate between neighbours and leave the sample as it is', () => {
    const sample = [9, 1, 5, 3];
    expect(median(sample)).toBe(4);
    expect(quantile(sample, 0)).toBe(1);
    expect(quantile(sample, 1)).toBe(9);
    expect(middleHalf([1, 2, 3, 4, 5])).toEqual([2, 4]);
    expect(sample).toEqual([9, 1, 5, 3]);
    expect(median([])).toBeNaN();
  });

  it('tell three digits', () => {
    expect([rounded(1234.5), rounded(0.0012345), rounded(2)]).toEqual([1230, 0.00123, 2]);
  });
});

describe('seeds', () => {
  it('choose different numbers, low ones more often', () => {
    const random = new SeededRandom(1);
    const chosen = Array.from({ length: 200 }, () => random.popular(10, 100));
    for (const list of chosen) expect(new Set(list).size).toBe(10);
    const low = chosen.flat().filter((n) => n < 50).length;
    expect(low).toBeGreaterThan(chosen.flat().length * 0.6);
    expect(() => random.popular(5, 4)).toThrow('popular');
  });

  it('fill a database with the same rows, and with counters that agree with them', async () => {
    const dump = async () => {
      const db = await openWriter(':memory:');
      await seedFleet(db, { sites: 60, seed: 3, plugins: 12 });
      const sites = await db.all('SELECT * FROM site ORDER BY id');
      const offers = await db.all('SELECT * FROM site_update ORDER BY site_id, type, slug');
      const [counts = [], real = [], statuses = [], realStatuses = []] = await db.read([
        { sql: 'SELECT type, n FROM update_count WHERE n > 0 ORDER BY type', args: [] },
        { sql: 'SELECT type, count(*) AS n FROM site_update WHERE ignored = 0 GROUP BY type ORDER BY type', args: [] },
        { sql: 'SELECT status, n FROM site_count WHERE n > 0 ORDER BY status', args: [] },
        { sql: 'SELECT status, count(*) AS n FROM site GROUP BY status ORDER BY status', args: [] },
      ]);
      const extensions = await db.one('SELECT count(*) AS n FROM site_extension');
      await db.close();
      expect(counts).toEqual(real);
      expect(statuses).toEqual(realStatuses);
      expect(extensions?.n).toBe(60 * (12 + 3));
      return { sites, offers };
    };
    const first = await dump();
    expect(first.sites).toHaveLength(60);
    expect(await dump()).toEqual(first);
  });
});

describe('comparing', () => {
  it('measures A, B, B, A in each round and takes the median of the ratios', async () => {
    const order: string[] = [];
    const costs = [2, 4, 30];
    let round = 0;
    const a = () => {
      order.push('a');
      return costs[Math.floor(round++ / 2)] ?? 0;
    };
    const b = () => {
      order.push('b');
      return 2;
    };
    const compared = await compare(a, b, { rounds: 3, warmups: 0, calibrate: false });
    expect(order.join('')).toBe('abbaabbaabba');
    expect(compared.ratio).toBe(2);
    expect(compared.spread).toEqual([1.5, 8.5]);
    expect(compared).toMatchObject({ rounds: 3, discarded: 0, disturbed: false, b: 2 });
  });
});

describe('results', () => {
  const measure: Measure = measureOf(
    'lists',
    { atMost: 1.5 },
    { ratio: 1.6, spread: [1.55, 1.7], a: 0.16, b: 0.1, rounds: 5, discarded: 2, disturbed: false },
    'ms',
  );

  it('are judged by their goal, with or without tolerance', () => {
    expect([met(measure), met(measure, 0.15)]).toEqual([false, true]);
    const share = figure('fan-out', { atLeast: 0.95 }, [0.93, 0.99, 0.97], '');
    expect([share.ratio, share.spread, met(share)]).toEqual([0.97, [0.93, 0.99], true]);
    expect(met({ ratio: 99, goal: null })).toBe(true);
  });

  it('are one JSON line each for programs, and a row for people', () => {
    expect(JSON.parse(jsonLine(measure))).toEqual({
      name: 'lists',
      ratio: 1.6,
      goal: '<= 1.5',
      ok: false,
      spread: [1.55, 1.7],
    });
    const [scenario] = scenarios;
    if (scenario === undefined) throw new Error('no scenario');
    const text = markdown(
      [
        { scenario, measures: [measure], error: null },
        { scenario, measures: [], error: 'It | broke\nhere' },
      ],
      { quick: true, partial: false, minutes: 1 },
    );
    expect(text).toContain(
      '| 11 | lists | 1.6 | 1.55 – 1.7 | <= 1.5 | **no** | 0.16 against 0.1 ms; 5 rounds, 2 discarded |',
    );
    expect(text).toContain('| failed | | | | It / broke |');
  });

  it('come from scenarios whose numbers ascend, numbered and named once each', () => {
    const numbers = scenarios.map((scenario) => scenario.number);
    expect(numbers.length).toBeGreaterThanOrEqual(9);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    expect(new Set(scenarios.map((scenario) => scenario.name)).size).toBe(numbers.length);
  });
});
