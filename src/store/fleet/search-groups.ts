/** Counts of sites by a value, as SQL: by a column, by clients and tags, by installed items or available updates. */

import { type Fragment, fragment, join } from '../driver/sql-fragments.js';
import { anyOffer, type FleetFilter, type ItemFilter, itemRows, siteCondition, where } from './search-filter.js';

export type GroupColumn = 'php' | 'wp' | 'slug' | 'client' | 'tag' | 'status' | 'level' | 'backup';

/** `SELECT value, id, count` of a grouping. */
export function groupQuery(filter: FleetFilter, by: GroupColumn): Fragment {
  if (by === 'slug' || by === 'level') return byOffer(filter, by);
  const condition = siteCondition(filter);
  const ofDetail = (column: string) =>
    join([
      // By the column as it is: an index has it in order.
      fragment(
        `SELECT nullif(v, '') AS value, NULL AS id, count FROM (SELECT ${column} AS v, count(*) AS count FROM site_detail d WHERE 1`,
      ),
      within('d.site_id', condition),
      fragment(` GROUP BY ${column})`),
    ]);
  switch (by) {
    case 'php':
      return ofDetail('d.php_version');
    case 'wp':
      return ofDetail('d.wp_version');
    case 'backup':
      return ofDetail("iif(d.last_backup IS NULL, 'unknown', 'known')");
    case 'status':
      return join([
        fragment('SELECT s.status AS value, NULL AS id, count(*) AS count FROM site s'),
        where(condition),
        fragment(' GROUP BY 1'),
      ]);
    case 'client':
      return owners(
        condition,
        'SELECT s.client_id AS id, count(*) AS n FROM site s WHERE s.client_id IS NOT NULL',
        's.id',
        'SELECT sum(n) FROM g',
        'client',
      );
    case 'tag':
      return owners(
        condition,
        'SELECT l.tag_id AS id, count(*) AS n FROM site_tag l WHERE 1',
        'l.site_id',
        'SELECT count(DISTINCT l.site_id) FROM site_tag l WHERE 1',
        'tag',
      );
  }
}

/** `AND column IN (the sites)`; empty if every site matches. */
function within(column: string, condition: Fragment): Fragment {
  return condition.text === ''
    ? condition
    : join([fragment(` AND ${column} IN (SELECT s.id FROM site s WHERE `), condition, fragment(')')]);
}

/** Clients or tags with their sites, and as null the remaining sites, which have none. */
function owners(
  condition: Fragment,
  counted: string,
  column: string,
  owned: string,
  table: 'client' | 'tag',
): Fragment {
  return join([
    fragment(`WITH g AS (${counted}`),
    within(column, condition),
    fragment(` GROUP BY 1)
      SELECT o.name AS value, g.id AS id, g.n AS count FROM g JOIN ${table} o ON o.id = g.id
      UNION ALL SELECT NULL, NULL, n FROM (SELECT (SELECT count(*) FROM site s`),
    where(condition),
    fragment(`) - ifnull((${owned}`),
    ...(table === 'tag' ? [within(column, condition)] : []),
    fragment('), 0) AS n) WHERE n > 0'),
  ]);
}

const LEVEL = "CASE u.level WHEN 0 THEN 'patch' WHEN 1 THEN 'minor' WHEN 2 THEN 'major' END";

/** By slug or level: of the updates that were searched for, otherwise, for slugs, of what is installed. */
function byOffer(filter: FleetFilter, by: 'slug' | 'level'): Fragment {
  const [item, ...others] = filter.items;
  const asked = item?.offer === undefined ? filter.offers : [{ types: [], levels: item.offer }];
  if (by === 'slug' && asked === undefined) return installed({ ...filter, items: others }, item);
  const offers = asked ?? [{ types: [], levels: [] }];
  return join([
    fragment(
      `SELECT ${by === 'level' ? LEVEL : 'u.slug'} AS value, NULL AS id, count(DISTINCT u.site_id) AS count FROM site_update u WHERE (`,
    ),
    anyOffer(offers),
    fragment(')'),
    ...(item === undefined ? [] : [ofItem(item)]),
    // Without an item, the conditions on updates are already included above.
    within('u.site_id', siteCondition(item === undefined ? { ...filter, offers: undefined } : filter)),
    fragment(' GROUP BY 1'),
  ]);
}

/** Updates of the installs that were searched for: a term may mean several items, of which a site has one as asked. */
function ofItem(item: ItemFilter): Fragment {
  const { versions, active, vulnerable, quarantined, packages } = item;
  if ([versions, active, vulnerable, quarantined].every((asked) => asked === undefined))
    return fragment(
      ' AND (u.type, u.slug) IN (SELECT kind + 1, slug FROM package WHERE id IN (SELECT value FROM json_each(?)))',
      JSON.stringify(packages),
    );
  return join([
    fragment(' AND (u.site_id, u.type, u.slug) IN (SELECT m.site_id, p.kind + 1, p.slug FROM ('),
    itemRows(item),
    fragment(') m JOIN package p ON p.id = m.package_id)'),
  ]);
}

/** Slugs of installed items. A site has a slug once, so rows are sites. */
function installed(filter: FleetFilter, item: ItemFilter | undefined): Fragment {
  const rows =
    item === undefined
      ? fragment('SELECT e.site_id, e.package_id FROM site_extension e WHERE e.kind = 0')
      : itemRows(item);
  return join([
    fragment('SELECT p.slug AS value, NULL AS id, sum(n) AS count FROM (SELECT m.package_id, count(*) AS n FROM ('),
    rows,
    fragment(') m WHERE 1'),
    within('m.site_id', siteCondition(filter)),
    fragment(' GROUP BY 1) g JOIN package p ON p.id = g.package_id GROUP BY 1'),
  ]);
}
