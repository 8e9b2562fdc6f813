/**
 * The inventory data of a page of sites. The long members of a record are read as the bytes of the JSON that is sent:
 * plugins and themes are stored that way, because building them takes most of the time of a page; recent content is
 * stored as JSON anyway.
 */

import { type Db, type Row, type Statement, sql } from '../driver/db.js';
import { jsonRows } from '../driver/json-rows.js';
import { idList } from './filter.js';
import { FLAG, KIND, type OfferRow } from './inventory-rows.js';

const OFFER = ['site_id', 'type', 'slug', 'position', 'name', 'current_version', 'new_version', 'needs', 'ignored'];
const offerRows = jsonRows<OfferRow>(OFFER);

export const DOCUMENTS = ['recent_posts', 'recent_pages', 'recent_comments', 'categories'] as const;

/** The long members of one site's record. */
export interface SiteTexts extends Record<(typeof DOCUMENTS)[number], string> {
  /** Name and version; null = none. */
  active_theme: string | null;
  plugins: Uint8Array;
  themes: Uint8Array;
}

interface WantedTexts {
  plugins: boolean;
  themes: boolean;
  documents: boolean;
}

/** A plugin as shown by REST (REST §4.3): the members of `pluginEntry` in their order. */
const PLUGIN = `json_object('slug', p.slug, 'name', p.name, 'version', e.version, 'description', ifnull(e.description, p.description), 'active', e.active,
  'mu', (e.flags & ${FLAG.mu}) <> 0, 'is_child_agent', json(iif(e.flags & ${FLAG.child_agent}, 'true', 'false')),
  'update_version', e.update_version)`;

/** A theme: the members of `themeEntries`. `parent` is the slug of the parent of an active child theme. */
const THEME = `json_object('slug', p.slug, 'name', p.name, 'title', p.name, 'version', e.version, 'description', ifnull(e.description, p.description),
  'active', e.active, 'parent_active', e.parent IS e.package_id, 'child_active', e.active = 1 AND e.parent IS NOT NULL,
  'child_theme', iif(e.active = 1, (SELECT slug FROM package WHERE id = e.parent), NULL), 'update_version', e.update_version)`;

const INSTALLED = 'FROM site_extension WHERE site_id =';

// Sorted per site: one sort of all plugins of a page takes longer.
const pluginsOf = (site: string) => `(SELECT json_group_array(${PLUGIN}) FROM (
  SELECT package_id, version, active, flags, update_version, description ${INSTALLED} ${site} AND kind = ${KIND.plugin} ORDER BY position
) e CROSS JOIN package p ON p.id = e.package_id)`;

const themesOf = (site: string) => `(SELECT json_group_array(${THEME}) FROM (
  SELECT package_id, version, active, update_version, description, (SELECT package_id ${INSTALLED} ${site} AND kind = ${KIND.theme}
    AND flags & ${FLAG.parent_active} ORDER BY position LIMIT 1) AS parent
  ${INSTALLED} ${site} AND kind = ${KIND.theme} ORDER BY position
) e CROSS JOIN package p ON p.id = e.package_id)`;

const activeThemeOf = (site: string) => `(SELECT trim(p.name || ' ' || e.version) FROM (
  SELECT package_id, version ${INSTALLED} ${site} AND kind = ${KIND.theme} AND active = 1 ORDER BY position LIMIT 1
) e CROSS JOIN package p ON p.id = e.package_id)`;

/** Stores the texts of a site that has none: the rows they are made from have changed, or they were never stored. */
export function keepRecordTexts(siteId: number): Statement {
  return sql(
    `INSERT INTO site_record_text (site_id, plugins, themes, active_theme)
     SELECT id, ${pluginsOf('id')}, ${themesOf('id')}, ${activeThemeOf('id')}
     FROM site s WHERE id = ? AND NOT EXISTS (SELECT 1 FROM site_record_text WHERE site_id = s.id)`,
    siteId,
  );
}

const SITE = 'j.value';
const bytes = (text: string, name: string) => `CAST(${text} AS BLOB) AS ${name}`;
const documentOf = (kind: string) =>
  `coalesce((SELECT body FROM site_document WHERE site_id = ${SITE} AND kind = '${kind}'), '[]')`;
const COLUMNS: Readonly<Record<keyof WantedTexts, readonly string[]>> = {
  plugins: [bytes(`coalesce(t.plugins, ${pluginsOf(SITE)})`, 'plugins')],
  themes: [
    bytes(`coalesce(t.themes, ${themesOf(SITE)})`, 'themes'),
    `iif(t.site_id IS NULL, ${activeThemeOf(SITE)}, t.active_theme) AS active_theme`,
  ],
  documents: DOCUMENTS.map((kind) => `${documentOf(kind)} AS ${kind}`),
};

const NONE = Buffer.from('[]');
const EMPTY: SiteTexts = {
  active_theme: null,
  plugins: NONE,
  themes: NONE,
  recent_posts: '[]',
  recent_pages: '[]',
  recent_comments: '[]',
  categories: '[]',
};

export function createInventoryLists(db: Db) {
  return {
    /** Texts of any number of sites, by id. Unwanted ones are an empty list. */
    async texts(siteIds: readonly number[], wanted: WantedTexts): Promise<Map<number, SiteTexts>> {
      const columns = (['plugins', 'themes', 'documents'] as const).flatMap((part) =>
        wanted[part] ? COLUMNS[part] : [],
      );
      if (columns.length === 0) return new Map(siteIds.map((id) => [id, EMPTY]));
      const rows = await db.all<Row & Partial<SiteTexts>>(
        `SELECT ${[`${SITE} AS site_id`, ...columns].join(', ')}
         FROM json_each(?) j LEFT JOIN site_record_text t ON t.site_id = ${SITE}`,
        [idList(siteIds)],
      );
      return new Map(rows.map(({ site_id, ...texts }) => [Number(site_id), { ...EMPTY, ...texts }]));
    },

    /** Available updates of each site, including ignored ones. */
    async offers(siteIds: readonly number[]): Promise<Map<number, OfferRow[]>> {
      const offers = sql(
        `SELECT ${OFFER.join(', ')} FROM site_update WHERE site_id IN (SELECT value FROM json_each(?))
         ORDER BY site_id, type, position`,
        idList(siteIds),
      );
      const found = new Map<number, OfferRow[]>(siteIds.map((id) => [id, []]));
      for (const row of await offerRows.all(db, offers)) found.get(row.site_id)?.push(row);
      return found;
    },
  };
}
