/**
 * Lists of sites as storage returns them: every order in both directions, near and far pages, and text built by SQLite.
 */

import { beforeAll, describe, expect, it } from 'vitest';
import { benchVault, openWriter } from '../../bench/lib/database.js';
import { seedFleet } from '../../bench/lib/seed.js';
import { type Db, type Row, sql } from '../../src/store/driver/db.js';
import { jsonRows } from '../../src/store/driver/json-rows.js';
import { createSiteRecords, type SiteListFilter, type SiteOrder } from '../../src/store/sites/records.js';
import { createSites } from '../../src/store/sites/sites.js';
import { closing } from '../support/cleanup.js';

interface Known extends Row {
  id: number;
  url_key: string;
  search: string;
  name: string;
  status: string;
  last_sync: number | null;
  offers: number;
}

let db: Db;
let known: Known[];

beforeAll(async () => {
  db = closing(await openWriter(':memory:'));
  await seedFleet(db, { sites: 300, plugins: 2 });
  await db.batch([
    sql('UPDATE site SET name = lower(name) WHERE id % 3 = 0'),
    sql("UPDATE site SET name = 'Twin' WHERE id % 50 < 2"),
    sql('UPDATE site SET search = lower(name) || char(31) || lower(url)'),
    sql('UPDATE site SET suspended = 1 WHERE id % 7 = 0'),
    sql('UPDATE site_detail SET last_sync = NULL WHERE site_id % 5 = 0'),
    sql('UPDATE site_detail SET last_sync = 1700000000000 WHERE site_id % 5 = 1'),
  ]);
  known = await db.all<Known>(
    `SELECT s.id, s.url_key, s.search, s.name, s.status, d.last_sync, (SELECT count(*) FROM site_update u WHERE u.site_id = s.id AND NOT u.ignored) AS offers
     FROM site s JOIN site_detail d ON d.site_id = s.id`,
  );
});

const KEYS: Record<SiteOrder, (site: Known) => (string | number)[]> = {
  name: (site) => [site.name.toLowerCase(), site.url_key],
  url: (site) => [site.url_key],
  id: (site) => [site.id],
  last_sync: (site) => [site.last_sync ?? -1, site.url_key],
};

function sorted(sites: readonly Known[], by: SiteOrder, descending: boolean): number[] {
  const before = (a: Known, b: Known) => {
    const [left, right] = [KEYS[by](a), KEYS[by](b)];
    const at = left.findIndex((value, i) => value !== right[i]);
    if (at < 0) return 0;
    return (left[at] as string) < (right[at] as string) ? -1 : 1;
  };
  const ids = sites.toSorted(before).map(({ id }) => id);
  return descending ? ids.reverse() : ids;
}

const FILTERS: [string, SiteListFilter, (site: Known) => boolean][] = [
  ['all', {}, () => true],
  ['suspended', { status: 'suspended' }, (site) => site.status === 'suspended'],
  ['two states', { status: ['suspended', 'connected'] }, (site) => site.status !== 'disconnected'],
  ['named ids', { ids: [3, 250, 77, 9999] }, (site) => [3, 250, 77].includes(site.id)],
  ['all but some', { exclude: [1, 2, 3] }, (site) => site.id > 3],
  ['with updates', { with_updates: true }, (site) => site.offers > 0],
  [
    'suspended or with updates',
    { status: 'suspended', or_with_updates: true },
    (site) => site.status === 'suspended' || site.offers > 0,
  ],
  ['by a letter', { search: 'w' }, (site) => site.search.includes('w')],
];

describe.each(FILTERS)('a list of sites: %s', (_what, filter, fits) => {
  it.each(Object.keys(KEYS) as SiteOrder[])('by %s, both ways, is the same cut into any pages', async (by) => {
    const records = createSiteRecords(db);
    for (const descending of [false, true]) {
      const wanted = sorted(known.filter(fits), by, descending);
      for (const perPage of [7, 100, 500]) {
        const pages = [1, 2, Math.ceil(wanted.length / perPage), 40];
        for (const page of pages) {
          const { items, total } = await records.list(
            filter,
            { by, descending },
            { skip: (page - 1) * perPage },
            perPage,
          );
          const at = (page - 1) * perPage;
          expect([items.map(({ id }) => id), total]).toEqual([wanted.slice(at, at + perPage), wanted.length]);
        }
      }
      const walked: number[] = [];
      let after: (string | number)[] | undefined;
      do {
        const { items, total } = await records.list(filter, { by, descending }, { after }, 41);
        expect(total).toBe(wanted.length);
        walked.push(...items.map(({ id }) => id));
        after = items.length < 41 ? undefined : JSON.parse(String(items.at(-1)?.place));
      } while (after !== undefined);
      expect(walked).toEqual(wanted);
    }
  });
});

it('a list in the order of addresses is the same in pages and as a whole', async () => {
  const sites = createSites(db, benchVault());
  const wanted = sorted(known, 'url', false);
  expect((await sites.all({})).map(({ id }) => id)).toEqual(wanted);
  const pages = await Promise.all([1, 2, 3, 4].map((page) => sites.list({}, page, 90)));
  expect(pages.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(wanted);
});

it('no page of an order that has an index sorts all sites', async () => {
  const plans: string[] = [];
  const watched = {
    one: async (text: string, args: readonly never[]) => {
      const steps = await db.all(`EXPLAIN QUERY PLAN ${text}`, args);
      plans.push(steps.map(({ detail }) => detail).join('; '));
      return { items: '[]', total: 0 };
    },
  } as unknown as Db;
  const records = createSiteRecords(watched);
  for (const by of ['name', 'url', 'id'] as const) {
    for (const descending of [false, true]) await records.list({}, { by, descending }, { skip: 0 }, 20);
  }
  expect(plans).toHaveLength(6);
  for (const plan of plans) expect(plan).not.toContain('TEMP B-TREE');
  // After a site: its place in the index is found directly, not by scanning.
  plans.length = 0;
  for (const by of ['name', 'url', 'id'] as const) {
    // No index has the sites of a status by id.
    for (const filter of by === 'id' ? [{}] : [{}, { status: 'connected' } as const]) {
      for (const descending of [false, true])
        await records.list(filter, { by, descending }, { after: ['m', 'm', 1] }, 20);
    }
  }
  expect(plans).toHaveLength(10);
  for (const plan of plans) {
    expect(plan).not.toContain('TEMP B-TREE');
    expect(plan).toMatch(/SEARCH s USING (COVERING )?(INDEX|INTEGER PRIMARY KEY) .*[<>]\?/);
  }
});

describe('rows in one text', () => {
  const rows = jsonRows<{ n: number | null; text: string | null }>(['n', 'text']);
  const texts = [
    '',
    'plain',
    '"quoted" \\ back',
    'tab\t line\n \u2028 \u007f \u0001',
    'ß 漢 🦊',
    '{"a":[1]}',
    '[1]',
    'null',
  ];

  it('are what they are without it', async () => {
    const list = sql(
      'SELECT value ->> 0 AS n, value ->> 1 AS text FROM json_each(?) ORDER BY key DESC',
      JSON.stringify([...texts.map((text, i) => [i - 3, text]), [Number.MAX_SAFE_INTEGER, null], [null, 'x']]),
    );
    const plain = await db.all(list.sql, list.args);
    expect(plain).toHaveLength(texts.length + 2);
    expect(await rows.all(db, list)).toEqual(plain);
    const paged = await rows.page(db, sql(`${list.sql} LIMIT ?`, ...list.args, 3), sql('SELECT ?', 41));
    expect(paged).toEqual({ items: plain.slice(0, 3), total: 41 });
  });

  it('may be none', async () => {
    const none = sql('SELECT 1 AS n, NULL AS text WHERE 0');
    expect(await rows.page(db, none, sql('SELECT 0'))).toEqual({ items: [], total: 0 });
  });

  it('hold no number that was rounded', async () => {
    await expect(rows.all(db, sql('SELECT 9007199254740993 AS n, NULL AS text'))).rejects.toThrow('beyond 2^53');
  });
});
