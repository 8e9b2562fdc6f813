/** Whether `list-updates` stays as fast in a larger fleet and on the last pages. */

import { compare, repeated } from '../lib/ab.js';
import { seeded } from '../lib/database.js';
import { measureOf, type Scenario } from '../lib/scenario.js';
import { openService } from '../lib/service.js';

export const scenario: Scenario = {
  number: 2,
  name: 'growth',
  title:
    '`list-updates` at 100,000 sites against 1,000, its last page against its first, and the middle of all sites by cursor',
  async run({ quick, dir }) {
    const large = quick ? 10_000 : 100_000;
    const rounds = quick ? 5 : 11;
    const small = await openService(await seeded(dir, 1_000));
    const big = await openService(await seeded(dir, large));
    const first = () => big.call('list-updates', {});
    const { total } = (await first()) as { total: number };
    const pages = Math.ceil(total / 50);
    const at = (page: number) => repeated(() => big.call('list-updates', { page }), 30);
    const grown = await compare(
      repeated(first, 30),
      repeated(() => small.call('list-updates', {}), 30),
      { rounds },
    );
    const last = await compare(at(pages), at(1), { rounds });
    const middle = await compare(at(Math.ceil(pages / 2)), at(1), { rounds: 5 });
    const sites = { per_page: 100 };
    const half = Math.ceil(large / 2 / sites.per_page);
    let cursor = '';
    for (let page = 1; page < half; page++) {
      const { next_cursor } = await big.call('list-sites', { ...sites, cursor });
      cursor = String(next_cursor);
    }
    const from = (place: object) => repeated(() => big.call('list-sites', { ...sites, ...place }), 30);
    const byCursor = await compare(from({ cursor }), from({ cursor: '' }), { rounds });
    const byNumber = await compare(from({ page: half }), from({ page: 1 }), { rounds });
    await small.stop();
    await big.stop();
    return [
      measureOf(`list-updates, ${large} sites against 1000`, { atMost: 1.5 }, grown, 'ms'),
      measureOf(`last page against first, ${large} sites`, { atMost: 4 }, last, 'ms', `${pages} pages`),
      measureOf(
        `middle page against first, ${large} sites`,
        null,
        middle,
        'ms',
        'the page that is furthest from both ends',
      ),
      measureOf(
        `list-sites from the middle by its cursor against the beginning, ${large} sites`,
        { atMost: 1.5 },
        byCursor,
        'ms',
      ),
      measureOf(`the same by page numbers, ${large} sites`, null, byNumber, 'ms'),
    ];
  },
};
