/**
 * What updating the fleet would do, as a matrix of sites and items: a window of it, and the totals of all. Suspended sites
 * and ignored updates are left out; quarantined ones, and those that need more than the site has, are listed, and outside
 * every count.
 */

import type { Reads, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { type Fragment, fragment, IN, join, offset } from '../driver/sql-fragments.js';
import { idList } from '../sites/filter.js';
import { ON_OFFER, WANTED } from '../sites/ignored-updates.js';
import { TYPE } from '../sites/inventory-rows.js';
import { type NarrowedQuery, narrowedCondition } from './filters.js';

interface PlanQuery extends Pick<NarrowedQuery, 'narrowing' | 'types'> {
  /** Versions of the child plugin that take no updates. */
  outdated: readonly string[];
  /** Sites on which only translations are applied. */
  refused: readonly number[];
}

interface PlanItem extends Row {
  type: number;
  slug: string;
  /** What a site calls it on which it is not applied; null = nowhere. */
  name: string | null;
  /** Of the largest step. */
  level: number | null;
  /** On which it would be applied, and of those, where the first number of its version changes. */
  sites: number;
  major: number;
  /** Sites on which its version is quarantined. */
  quarantined: number;
}

interface PlanSite extends Row {
  site_id: number;
  site_name: string;
  site_url: string;
  site_status: string;
  /** State of `site_guard`; null = never checked. */
  guard: number | null;
  /** 1 = its monitor, or the last look at it, found it down. */
  down: number;
  /** 1 = another site has the same name. */
  namesake: number;
}

interface PlanCell extends Row {
  site_id: number;
  type: number;
  slug: string;
  current_version: string;
  new_version: string;
  level: number | null;
  /** 1 = its version is quarantined on this site. */
  quarantined: number;
  /** 1 = its version is quarantined on another site. */
  elsewhere: number;
  /** What it needs that the site does not have; '' = nothing. */
  needs: string;
}

export interface PlanWindow {
  page: number;
  per_page: number;
  item_page: number;
  items_per_page: number;
}

const GUARDED = 'SELECT site_id FROM site_guard WHERE present = 1';
/** Sites that are shown, and those of them that may be changed, with the outdated versions of the child plugin as argument. */
const SHOWN = 'SELECT id FROM site WHERE suspended = 0';
const USABLE = `SELECT s.id FROM site s JOIN site_detail d ON d.site_id = s.id
  WHERE s.suspended = 0 AND s.disconnected = 0 AND d.on_trial = 0 AND d.child_version NOT ${IN}`;
const APPLIED = `${ON_OFFER} AND u.needs = ''`;
const HELD = 'u.ignored = 2';
/** Of a site of `refused`, and no translation. The plus leaves the order of reading to the index that covers it. */
const refusedAmong = ({ refused }: PlanQuery) =>
  fragment(`(u.type <> ${TYPE.translation} AND +u.site_id ${IN})`, idList(refused));
const NEEDY = `${ON_OFFER} AND u.needs <> ''`;
/** Whether its monitor, or the last look at it, found a site `s` down. */
export const DOWN =
  's.unreached > 0 OR EXISTS (SELECT 1 FROM incident i WHERE i.site_id = s.id AND i.ended_at IS NULL)';

export function createUpdatePlans(db: Reads) {
  async function appliedCondition(query: PlanQuery): Promise<Fragment> {
    return join([await narrowedCondition(db, query, APPLIED), fragment(' AND NOT '), refusedAmong(query)]);
  }

  /** All items, with WordPress first, then those on most sites. */
  async function itemsOf(query: PlanQuery): Promise<PlanItem[]> {
    const outdated = JSON.stringify(query.outdated);
    const offered = await appliedCondition(query);
    const [held, needy] = [await narrowedCondition(db, query, HELD), await narrowedCondition(db, query, NEEDY)];
    const refused = join([await narrowedCondition(db, query, APPLIED), fragment(' AND '), refusedAmong(query)]);
    // Read in the order of a covering index, which the plus leaves to SQLite: by site, all rows would be sorted.
    return db.all<PlanItem>(
      `SELECT type, slug, max(name) AS name, max(level) AS level, sum(sites) AS sites, sum(major) AS major, sum(quarantined) AS quarantined FROM (
         SELECT u.type, u.slug, NULL AS name, max(CASE WHEN +u.site_id IN (${USABLE}) THEN u.level END) AS level,
           sum(+u.site_id IN (${USABLE})) AS sites, sum(u.level = 2 AND +u.site_id IN (${USABLE})) AS major, 0 AS quarantined
         FROM site_update u WHERE ${offered.text} AND +u.site_id IN (${SHOWN}) GROUP BY u.type, u.slug
         UNION ALL
         SELECT u.type, u.slug, max(u.name), NULL, 0, 0, count(*) FROM site_update u WHERE ${held.text} AND u.site_id IN (${SHOWN}) GROUP BY 1, 2
         UNION ALL
         SELECT u.type, u.slug, max(u.name), NULL, 0, 0, 0 FROM site_update u WHERE ${needy.text} AND u.site_id IN (${SHOWN}) GROUP BY 1, 2
         UNION ALL
         SELECT u.type, u.slug, max(u.name), NULL, 0, 0, 0 FROM site_update u WHERE ${refused.text} AND u.site_id IN (${SHOWN}) GROUP BY 1, 2
       ) GROUP BY type, slug ORDER BY type <> ${TYPE.core}, type = ${TYPE.translation}, sites DESC, slug`,
      [outdated, outdated, outdated, ...offered.args, ...held.args, ...needy.args, ...refused.args],
    );
  }

  async function sitesOf(query: PlanQuery, page: number, perPage: number) {
    const any = await narrowedCondition(db, query, WANTED);
    const offered = await appliedCondition(query);
    const has = ({ text }: Fragment, more = '') =>
      `EXISTS (SELECT 1 FROM site_update u WHERE u.site_id = s.id AND ${text}${more})`;
    const usable = `s.id IN (${USABLE})`;
    const outdated = JSON.stringify(query.outdated);
    const guardable = ` AND u.type IN (${TYPE.plugin}, ${TYPE.theme})`;
    const [sites = [], [counts] = []] = await db.read([
      sql(
        `SELECT s.id AS site_id, s.name AS site_name, s.url AS site_url, s.status AS site_status,
           (SELECT g.present FROM site_guard g WHERE g.site_id = s.id) AS guard,
           ${DOWN} AS down,
           EXISTS (SELECT 1 FROM site o WHERE o.name = s.name COLLATE NOCASE AND o.id <> s.id) AS namesake
         FROM site s WHERE s.suspended = 0 AND ${has(any)} ORDER BY s.name COLLATE NOCASE, s.url_key, s.id LIMIT ? OFFSET ?`,
        ...any.args,
        perPage,
        offset(page, perPage),
      ),
      sql(
        `SELECT count(CASE WHEN ${has(any)} THEN 1 END) AS shown, count(CASE WHEN ${usable} AND ${has(offered)} THEN 1 END) AS sites,
           count(CASE WHEN ${usable} AND s.id NOT IN (${GUARDED}) AND ${has(offered, guardable)} THEN 1 END) AS unguarded
         FROM site s WHERE s.suspended = 0`,
        ...any.args,
        outdated,
        ...offered.args,
        outdated,
        ...offered.args,
      ),
    ]);
    return { sites: sites as PlanSite[], counts: counts as Record<'shown' | 'sites' | 'unguarded', number> };
  }

  return {
    /** A window of the matrix, and what is counted over all of it. */
    async window(query: PlanQuery, { page, per_page, item_page, items_per_page }: PlanWindow) {
      const all = await itemsOf(query);
      const { sites, counts } = await sitesOf(query, page, per_page);
      const items = all.slice(offset(item_page, items_per_page)).slice(0, items_per_page);
      const sum = (of: (item: PlanItem) => number) => all.reduce((total, item) => total + of(item), 0);
      const ofType = (type: number) => sum((item) => (item.type === type ? item.sites : 0));
      return {
        total: counts.shown,
        total_items: all.length,
        totals: {
          updates: sum((item) => item.sites),
          sites: counts.sites,
          unguarded_sites: counts.unguarded,
          quarantined: sum((item) => item.quarantined),
          major: sum((item) => item.major),
          core: ofType(TYPE.core),
          plugins: ofType(TYPE.plugin),
          themes: ofType(TYPE.theme),
          translations: ofType(TYPE.translation),
        },
        items,
        sites,
        cells: await cellsOf(query, sites, items),
      };
    },

    /** Ids of sites whose guard answered the last check. */
    async guarded(): Promise<Set<number>> {
      return new Set((await db.all(GUARDED)).map((row) => Number(row.site_id)));
    },

    /** The versions of the child plugin that sites have. */
    async childVersions(): Promise<string[]> {
      return (await db.all('SELECT DISTINCT child_version FROM site_detail')).map((row) => String(row.child_version));
    },
  };

  async function cellsOf(
    query: PlanQuery,
    sites: readonly PlanSite[],
    items: readonly PlanItem[],
  ): Promise<PlanCell[]> {
    const any = await narrowedCondition(db, query, WANTED);
    return db.all<PlanCell>(
      `SELECT u.site_id, u.type, u.slug, u.current_version, u.new_version, u.level, u.ignored = 2 AS quarantined,
         u.ignored = 0 AND EXISTS (SELECT 1 FROM quarantined_version q WHERE q.type = u.type AND q.slug = u.slug
           AND q.version = u.new_version AND q.lifted_at IS NULL) AS elsewhere, u.needs
       FROM site_update u WHERE u.site_id ${IN} AND u.type || ' ' || u.slug ${IN} AND ${any.text}`,
      [
        idList(sites.map(({ site_id }) => site_id)),
        JSON.stringify(items.map(({ type, slug }) => `${type} ${slug}`)),
        ...any.args,
      ],
    );
  }
}
