/** Updates by site, as the REST interface lists them, and ignored updates. */

import { needle } from '../../../schemas/fold.js';
import type { Db, Reads, Row, Statement } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { jsonRows } from '../driver/json-rows.js';
import { among, except, type Fragment, fragment, IN, join, offset } from '../driver/sql-fragments.js';
import { idList } from '../sites/filter.js';
import { type OfferRow, TYPE } from '../sites/inventory-rows.js';
import type { IgnoredEntry } from '../sites/records.js';
import type { SiteRow } from '../sites/sites.js';
import { type Narrowing, narrowingCondition, TEXT, unfoldedTexts } from './filters.js';

export interface SiteOffer
  extends Row,
    Pick<OfferRow, 'site_id' | 'type' | 'slug' | 'position' | 'name' | 'current_version' | 'new_version' | 'needs'> {
  site_status: SiteRow['status'];
  /** 1 = active on the site; 0 for items without such a state. */
  active: number;
  /** Of a translation: JSON of what is translated and its languages. Null if the site has not said. */
  translation: string | null;
}

interface SiteOfferFilter {
  /** Numbers of the update types; empty = all. */
  types: readonly number[];
  search: string;
  ids?: readonly number[] | undefined;
  exclude?: readonly number[] | undefined;
  narrowing?: Narrowing | undefined;
}

interface Chosen extends SiteOfferFilter {
  /** The texts that match the search, for letters that SQLite cannot fold. */
  texts?: readonly string[] | undefined;
}

/** Which sites, with `s` as the site. */
function siteParts({ ids, exclude }: SiteOfferFilter): Fragment {
  return join([
    fragment('TRUE'),
    ids === undefined ? fragment('') : fragment(` AND s.id ${IN}`, idList(ids)),
    except('s.id', exclude),
  ]);
}

/** Which updates, with `u` as the update. */
function offerParts({ types, search, texts, narrowing }: Chosen): Fragment {
  const part = needle(search);
  return join([
    fragment('u.ignored = 0'),
    narrowing === undefined ? fragment('') : narrowingCondition(narrowing),
    among('u.type', types),
    part === '' || texts !== undefined ? fragment('') : fragment(` AND instr(lower(${TEXT}), ?) > 0`, part),
    texts === undefined ? fragment('') : fragment(` AND ${TEXT} ${IN}`, JSON.stringify(texts)),
  ]);
}

const REVISION = sql("SELECT mark FROM revision WHERE name = 'updates'");

interface SitesWithOffers {
  /** Their ids in URL order; its last arguments are the page size and the number of sites to skip. */
  sites: Statement;
  count: Statement;
}

function isWholeFleet({ types, search, ids, exclude = [], narrowing }: Chosen): boolean {
  if (narrowing !== undefined) return false;
  return types.length + exclude.length === 0 && ids === undefined && needle(search) === '';
}

/** Reads updates in the order of their sites up to the end of the page: sites without any are not read. */
const wholeFleet: SitesWithOffers = {
  sites: sql(
    `SELECT site_id FROM site_update INDEXED BY site_update_page WHERE ignored = 0
     GROUP BY url_key, site_id ORDER BY url_key, site_id LIMIT ? OFFSET ?`,
  ),
  count: sql('SELECT n FROM offering_site_count'),
};

function filtered(filter: Chosen): SitesWithOffers {
  const [chosen, offered] = [siteParts(filter), offerParts(filter)];
  // By site, not by update: it stops at the end of the page, and each site is one seek in the primary key.
  const from = `FROM site s WHERE ${chosen.text}
    AND EXISTS (SELECT 1 FROM site_update u WHERE u.site_id = s.id AND ${offered.text})`;
  const args = [...chosen.args, ...offered.args];
  return {
    sites: sql(`SELECT s.id AS site_id ${from} ORDER BY s.url_key, s.id LIMIT ? OFFSET ?`, ...args),
    count: sql(`SELECT count(*) AS n ${from}`, ...args),
  };
}

const OFFER = [
  'site_id',
  'site_status',
  'type',
  'slug',
  'position',
  'name',
  'current_version',
  'new_version',
  'needs',
  'active',
  'translation',
];
const offerRows = jsonRows<SiteOffer>(OFFER);

/** All matching updates, in no order: sorting rows as long as these takes SQLite a third of the time, and `inOrder` little. */
function offersStatement({ text, args }: Fragment): Statement {
  return sql(
    `SELECT u.site_id, s.status AS site_status, u.type, u.slug, u.position, u.name, u.current_version, u.new_version,
       u.needs, ifnull((SELECT e.active FROM package p JOIN site_extension e ON e.package_id = p.id
         WHERE p.kind = u.type - 1 AND p.slug = u.slug AND e.site_id = u.site_id AND e.kind = p.kind), 0) AS active,
       iif(u.type = ${TYPE.translation}, (SELECT t.value FROM site_document d JOIN json_each(d.body) t ON t.key = u.slug
         WHERE d.site_id = u.site_id AND d.kind = 'translations'), NULL) AS translation
     FROM site_update u JOIN site s ON s.id = u.site_id WHERE ${text}`,
    ...args,
  );
}

function inOrder(offers: SiteOffer[]): SiteOffer[] {
  return offers.sort((a, b) => a.type - b.type || a.position - b.position);
}

export function createSiteUpdates(db: Db, aside: Reads) {
  return {
    /** Identifies the state of the list: different after every change that the list shows. */
    async revision(): Promise<string> {
      const row = await db.one(REVISION.sql);
      return String(row?.mark ?? '');
    },

    /**
     * Updates of one page of sites in URL order, by type and position; how many sites have any, and the revision. In one
     * snapshot.
     */
    async page(
      asked: SiteOfferFilter,
      page: number,
      perPage: number,
    ): Promise<{ offers: SiteOffer[]; total: number; revision: string }> {
      const filter = { ...asked, texts: await unfoldedTexts(db, asked.search) };
      const whole = isWholeFleet(filter);
      const { sites, count } = whole ? wholeFleet : filtered(filter);
      const skip = offset(page, perPage);
      const ofPage = fragment(`s.id IN (SELECT site_id FROM (${sites.sql})) AND `, ...sites.args, perPage, skip);
      const [revisions, counts, offers] = await (whole ? db : aside).read([
        REVISION,
        count,
        offerRows.statement(offersStatement(join([ofPage, offerParts(filter)]))),
      ]);
      return {
        offers: inOrder(offerRows.parse(offers)),
        total: Number(counts?.[0]?.n ?? 0),
        revision: String(revisions?.[0]?.mark ?? ''),
      };
    },

    /** Ignored on every site. */
    ignoredEverywhere(): Promise<IgnoredEntry[]> {
      return db.all('SELECT type, slug, name, version FROM ignored_everywhere ORDER BY type, slug, version');
    },

    /** Ignored on one site: its own entries, and the global ones that they do not override. */
    ignoredOn(siteId: number): Promise<IgnoredEntry[]> {
      return db.all(
        `SELECT type, slug, name, version FROM ignored_update WHERE site_id = ?
         UNION ALL SELECT type, slug, name, version FROM ignored_everywhere g WHERE NOT EXISTS (
           SELECT 1 FROM ignored_update i WHERE i.site_id = ? AND i.type = g.type AND i.slug = g.slug)
         ORDER BY 1, 2, 4`,
        [siteId, siteId],
      );
    },

    /** An unfinished job of a type: the newest, or the one that has this site left to do. */
    runningJob(type: string, siteId?: number): Promise<{ id: string; run_id: string; created_at: number } | undefined> {
      return siteId === undefined
        ? db.one(
            'SELECT id, run_id, created_at FROM job WHERE completed_at IS NULL AND type = ? ORDER BY created_at DESC LIMIT 1',
            [type],
          )
        : db.one(
            `SELECT j.id, j.run_id, j.created_at FROM job_site s JOIN job j ON j.id = s.job_id
             WHERE s.site_id = ? AND s.state IN (0, 1) AND j.completed_at IS NULL AND j.type = ? LIMIT 1`,
            [siteId, type],
          );
    },
  };
}
