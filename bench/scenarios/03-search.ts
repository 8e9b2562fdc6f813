/** An indexed search against a full scan with the same result. */

import { deepStrictEqual } from 'node:assert/strict';
import { openDb } from '../../src/store/driver/open.js';
import { createSites } from '../../src/store/sites/sites.js';
import { compare, repeated } from '../lib/ab.js';
import { benchVault, seeded } from '../lib/database.js';
import { type Measure, measureOf, type Scenario } from '../lib/scenario.js';

const ITEMS = `SELECT s.id, s.url, s.name, s.status, s.client_id FROM site s
  WHERE s.search LIKE ? ORDER BY s.url_key, s.id LIMIT 20`;
const COUNT = 'SELECT count(*) AS n FROM site s WHERE s.search LIKE ?';

export const scenario: Scenario = {
  number: 3,
  name: 'search',
  title: '`list-sites` search of 3 and more characters, page and total, against `LIKE`',
  async run({ quick, dir }) {
    const sites = quick ? 2_000 : 10_000;
    const db = await openDb(await seeded(dir, sites), { mode: 'reader' });
    const store = createSites(db, benchVault());
    const needles = [
      { word: `-${sites - 23}.`, goal: { atMost: 0.25 } },
      { word: 'tonvitmouth', goal: { atMost: 0.25 } },
      { word: 'bakery', goal: { atMost: 0.25 } },
      { word: 'example', goal: null },
    ];
    const measures: Measure[] = [];
    for (const { word, goal } of needles) {
      const like = () =>
        db.read([
          { sql: ITEMS, args: [`%${word}%`] },
          { sql: COUNT, args: [`%${word}%`] },
        ]);
      const indexed = () => store.list({ search: word }, 1, 20);
      const [items, counts] = await like();
      const found = await indexed();
      deepStrictEqual(found, { items, total: counts?.[0]?.n });
      if (found.total === 0) throw new Error(`No site is called ${word}: the comparison would be of nothing.`);
      const compared = await compare(repeated(indexed, 30), repeated(like, 30), { rounds: quick ? 5 : 9 });
      measures.push(measureOf(`search "${word}", ${found.total} of ${sites} sites`, goal, compared, 'ms'));
    }
    await db.close();
    return measures;
  },
};
