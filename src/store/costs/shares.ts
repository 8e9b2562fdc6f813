/** Which costs cover a site or the sites of a client (operations §5.9). */

import type { Reads, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { offset } from '../driver/sql-fragments.js';
import type { CostFields } from './fields.js';

/** A cost with the number of sites its targets expand to; null where the price is not shared. */
export interface CoveringCost
  extends Row,
    Pick<
      CostFields,
      'kind' | 'name' | 'type' | 'license_type' | 'cost_status' | 'price' | 'renewal_type' | 'last_renewal'
    > {
  id: number;
  covered_sites: number | null;
}

interface CoveredSite extends Row {
  cost_id: number;
  site_id: number;
  site_name: string;
}

const COVERING = `c.id, c.kind, c.name, c.type, c.license_type, c.cost_status, c.price, c.renewal_type, c.last_renewal,
  CASE c.license_type WHEN 'multi_site' THEN (
    SELECT count(*) FROM (
      SELECT t.site_id FROM cost_target t WHERE t.cost_id = c.id AND t.site_id IS NOT NULL
      UNION SELECT l.site_id FROM cost_target t JOIN site_tag l ON l.tag_id = t.tag_id WHERE t.cost_id = c.id
      UNION SELECT s.id FROM cost_target t JOIN site s ON s.client_id = t.client_id WHERE t.cost_id = c.id
    )
  ) END AS covered_sites`;

/** Pairs (cost_id, site_id), each once, of the sites that `mine` holds. */
const PAIRS = `SELECT t.cost_id, m.id AS site_id FROM mine m JOIN cost_target t ON t.site_id = m.id
  UNION SELECT t.cost_id, m.id FROM mine m JOIN site_tag l ON l.site_id = m.id JOIN cost_target t ON t.tag_id = l.tag_id
  UNION SELECT t.cost_id, m.id FROM mine m JOIN cost_target t ON t.client_id = m.client_id`;

/** What costs are grouped by. */
type CostGroup = 'client' | 'site';
const GROUPS: Readonly<Record<CostGroup, { key: string; name: string; tables: string }>> = {
  client: { key: 'm.client_id', name: 'c.name', tables: 'LEFT JOIN client c ON c.id = g.id' },
  site: { key: 'm.id', name: 's.url', tables: 'JOIN site s ON s.id = g.id' },
};

/** A client or site with the costs of its sites. */
export interface CostGroupRow extends Row {
  /** Null for the sites of no client. */
  id: number | null;
  name: string | null;
  /** JSON of pairs: the cost, and how many of its sites it covers. */
  held: string;
}

export function createCostShares(db: Reads) {
  return {
    /** Every cost and income, with the number of its sites. */
    ofFleet(): Promise<(CoveringCost & { sites: number })[]> {
      return db.all<CoveringCost & { sites: number }>(
        `WITH mine AS (SELECT id, client_id FROM site), held AS (SELECT cost_id, count(*) AS n FROM (${PAIRS}) GROUP BY cost_id)
         SELECT ${COVERING}, coalesce(held.n, 0) AS sites FROM cost c LEFT JOIN held ON held.cost_id = c.id ORDER BY c.id`,
      );
    },

    /**
     * Clients or sites with at least one of these costs, one page, those first that cost most beyond their income.
     * @param weights what each cost is for one site, for the order; income is below 0
     * @param losing only those that cost more than they bring
     */
    async groups(
      by: CostGroup,
      weights: ReadonlyMap<number, number>,
      page: number,
      perPage: number,
      losing = false,
    ): Promise<{ items: CostGroupRow[]; total: number }> {
      const { key, name, tables } = GROUPS[by];
      // The pairs of a fleet are many: they are made once, for the page and for the number of groups.
      const rows = await db.all<Row & CostGroupRow & { total: number }>(
        `WITH w AS MATERIALIZED (SELECT value ->> 0 AS cost_id, value ->> 1 AS weight FROM json_each(?)),
         mine AS (SELECT id, client_id FROM site),
         held AS (SELECT ${key} AS id, p.cost_id, count(*) AS n FROM (${PAIRS}) p JOIN mine m ON m.id = p.site_id
           WHERE p.cost_id IN (SELECT cost_id FROM w) GROUP BY 1, 2),
         g AS MATERIALIZED (SELECT h.id, total(h.n * w.weight) AS cost, json_group_array(json_array(h.cost_id, h.n)) AS held
           FROM w JOIN held h ON h.cost_id = w.cost_id GROUP BY h.id${losing ? ' HAVING total(h.n * w.weight) > 1e-9' : ''})
         SELECT counted.total, p.id, p.name, p.held FROM (SELECT count(*) AS total FROM g) counted
           LEFT JOIN (SELECT g.id, ${name} AS name, g.held, g.cost FROM g ${tables}
             ORDER BY g.cost DESC, name, g.id LIMIT ? OFFSET ?) p ON true
         ORDER BY p.cost DESC, p.name, p.id`,
        [JSON.stringify([...weights]), perPage, offset(page, perPage)],
      );
      // A page behind the last one has the number of groups alone.
      const items = rows.flatMap(({ total: _, ...group }) => (group.held === null ? [] : group));
      return { items, total: rows[0]?.total ?? 0 };
    },

    /** Costs and income whose targets contain the site, once each. */
    ofSite(siteId: number): Promise<CoveringCost[]> {
      return db.all<CoveringCost>(
        `WITH mine AS (SELECT id, client_id FROM site WHERE id = ?)
         SELECT ${COVERING} FROM cost c WHERE c.id IN (SELECT cost_id FROM (${PAIRS})) ORDER BY c.id`,
        [siteId],
      );
    },

    /** Costs and income that touch a client's sites, and every pair of such a record and a site, in one snapshot. */
    async ofClient(clientId: number): Promise<{ costs: CoveringCost[]; sites: CoveredSite[] }> {
      const mine = 'WITH mine AS (SELECT id, client_id FROM site WHERE client_id = ?)';
      const [costs = [], sites = []] = await db.read([
        sql(
          `${mine} SELECT ${COVERING} FROM cost c WHERE c.id IN (SELECT cost_id FROM (${PAIRS})) ORDER BY c.id`,
          clientId,
        ),
        sql(
          `${mine} SELECT p.cost_id, p.site_id, s.name AS site_name FROM (${PAIRS}) p JOIN site s ON s.id = p.site_id`,
          clientId,
        ),
      ]);
      return { costs: costs as CoveringCost[], sites: sites as CoveredSite[] };
    },
  };
}
