/** Statements that write the difference between a stored inventory and a snapshot. */

import type { Snapshot, SnapshotExtension, SnapshotOffer } from '../../../schemas/snapshot.js';
import { type Statement, sql } from '../driver/db.js';
import { idList } from './filter.js';
import {
  CORE_NAME,
  CORE_SLUG,
  type ExtensionRow,
  FLAG,
  KIND,
  type OfferRow,
  type StoredInventory,
  TYPE,
} from './inventory-rows.js';

// Plugins and themes

type WantedExtension = Pick<
  ExtensionRow,
  'kind' | 'slug' | 'name' | 'description' | 'position' | 'version' | 'active' | 'flags' | 'update_version'
>;

export function extensionStatements(
  siteId: number,
  snapshot: Snapshot,
  stored: StoredInventory,
  offers: readonly WantedOffer[],
): Statement[] {
  const wanted = [
    ...wantedExtensions(KIND.plugin, snapshot.plugins, stored.extensions, offersOf(offers, TYPE.plugin)),
    ...wantedExtensions(KIND.theme, snapshot.themes, stored.extensions, offersOf(offers, TYPE.theme)),
  ];
  const key = (item: { kind: number; slug: string; name: string }) => `${item.kind}\0${item.slug}\0${item.name}`;
  const before = new Map(stored.extensions.map((row) => [key(row), row]));
  const changed = wanted.filter((item) => {
    const row = before.get(key(item));
    return row === undefined || FIELDS.some((field) => row[field] !== item[field]);
  });
  const kept = new Set(wanted.map(key));
  const gone = stored.extensions.filter((row) => !kept.has(key(row))).map((row) => row.package_id);
  const statements: Statement[] = [];
  if (gone.length > 0) {
    statements.push(
      sql(
        'DELETE FROM site_extension WHERE site_id = ? AND package_id IN (SELECT value FROM json_each(?))',
        siteId,
        idList(gone),
      ),
    );
  }
  if (changed.length === 0) return statements;
  // Most changes are of versions: their packages are already stored.
  const unknown = changed.filter((item) => !before.has(key(item)));
  if (unknown.length > 0) {
    statements.push(
      sql(
        `INSERT INTO package (kind, slug, name, description)
         SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?) WHERE true
         ON CONFLICT (kind, slug, name) DO NOTHING`,
        JSON.stringify(unknown.map((e) => [e.kind, e.slug, e.name, e.description])),
      ),
    );
  }
  statements.push(
    sql(
      `INSERT INTO site_extension (site_id, kind, package_id, position, version, active, flags, update_version, description)
       SELECT ?, j.value ->> 0, p.id, j.value ->> 3, j.value ->> 4, j.value ->> 5, j.value ->> 6, j.value ->> 7,
         nullif(j.value ->> 8, p.description)
       FROM json_each(?) j JOIN package p ON p.kind = j.value ->> 0 AND p.slug = j.value ->> 1 AND p.name = j.value ->> 2 WHERE true
       ON CONFLICT (site_id, kind, package_id) DO UPDATE SET position = excluded.position, version = excluded.version,
         active = excluded.active, flags = excluded.flags, update_version = excluded.update_version,
         description = excluded.description`,
      siteId,
      JSON.stringify(changed.map((e) => [e.kind, e.slug, e.name, ...FIELDS.map((field) => e[field])])),
    ),
  );
  return statements;
}

const FIELDS = ['position', 'version', 'active', 'flags', 'update_version', 'description'] as const;

function wantedExtensions(
  kind: number,
  seen: readonly SnapshotExtension[] | undefined,
  stored: readonly ExtensionRow[],
  offered: ReadonlyMap<string, string>,
): WantedExtension[] {
  const items =
    seen?.map((item, position) => ({
      kind,
      slug: item.slug,
      name: item.name === '' ? item.slug : item.name,
      description: item.description,
      position,
      version: item.version,
      active: item.active ? 1 : 0,
      flags:
        (item.mu ? FLAG.mu : 0) |
        (item.child_agent ? FLAG.child_agent : 0) |
        (item.parent_active ? FLAG.parent_active : 0),
    })) ?? stored.filter((row) => row.kind === kind);
  const unique = new Map(items.map((item) => [item.slug, item]));
  return [...unique.values()].map((item) => ({ ...item, update_version: offered.get(item.slug) ?? null }));
}

// Offers

type WantedOffer = Pick<OfferRow, 'type' | 'slug' | 'position' | 'name' | 'current_version' | 'new_version' | 'needs'>;

/** The updates after this snapshot: each type that it contains replaces the stored ones of that type. */
export function wantedOffers(snapshot: Snapshot, stored: StoredInventory): WantedOffer[] {
  const of = (type: number, seen: readonly SnapshotOffer[] | undefined): WantedOffer[] => {
    if (seen === undefined) return stored.offers.filter((row) => row.type === type);
    const unique = new Map(seen.map((offer) => [offer.slug, offer]));
    return [...unique.values()].map((offer, position) => ({
      type,
      position,
      ...offer,
      name: offer.name === '' ? offer.slug : offer.name,
      needs: offer.needs ?? '',
    }));
  };
  const core =
    snapshot.core_update === undefined
      ? undefined
      : snapshot.core_update === null
        ? []
        : [
            {
              slug: CORE_SLUG,
              name: CORE_NAME,
              current_version: snapshot.wp_version ?? '',
              new_version: snapshot.core_update,
            },
          ];
  return [
    ...of(TYPE.core, core),
    ...of(TYPE.plugin, snapshot.plugin_updates),
    ...of(TYPE.theme, snapshot.theme_updates),
    ...of(TYPE.translation, snapshot.translation_updates),
  ];
}

function offersOf(offers: readonly WantedOffer[], type: number): Map<string, string> {
  return new Map(offers.filter((offer) => offer.type === type).map((offer) => [offer.slug, offer.new_version]));
}

const OFFER_FIELDS = ['position', 'name', 'current_version', 'new_version', 'needs'] as const;

export function offerStatements(
  siteId: number,
  urlKey: string,
  wanted: readonly WantedOffer[],
  stored: readonly OfferRow[],
  now: number,
): Statement[] {
  const key = (offer: { type: number; slug: string }) => `${offer.type}\0${offer.slug}`;
  const before = new Map(stored.map((row) => [key(row), row]));
  const changed = wanted.filter((offer) => {
    const row = before.get(key(offer));
    return row === undefined || OFFER_FIELDS.some((field) => row[field] !== offer[field]);
  });
  const kept = new Set(wanted.map(key));
  const gone = stored.filter((row) => !kept.has(key(row)));
  const statements: Statement[] = gone.map((row) =>
    sql('DELETE FROM site_update WHERE site_id = ? AND type = ? AND slug = ?', siteId, row.type, row.slug),
  );
  if (changed.length > 0) {
    statements.push(
      sql(
        `INSERT INTO site_update (site_id, type, slug, position, name, current_version, new_version, needs, url_key)
         SELECT ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, ? FROM json_each(?) WHERE true
         ON CONFLICT (site_id, type, slug) DO UPDATE SET position = excluded.position, name = excluded.name,
           current_version = excluded.current_version, new_version = excluded.new_version, needs = excluded.needs`,
        siteId,
        urlKey,
        JSON.stringify(changed.map((o) => [o.type, o.slug, ...OFFER_FIELDS.map((field) => o[field])])),
      ),
      // The first site that offers a version dates it for itself, and the second for the others: one may name what is
      // not out yet.
      sql(
        `INSERT INTO offered_version (type, slug, version, first_seen, first_site)
         SELECT value ->> 0, value ->> 1, value ->> 2, ?, ? FROM json_each(?) WHERE true
         ON CONFLICT DO UPDATE SET second_seen = excluded.first_seen WHERE second_seen IS NULL AND first_site <> excluded.first_site`,
        now,
        siteId,
        JSON.stringify(changed.map((o) => [o.type, o.slug, o.new_version])),
      ),
    );
  }
  return statements;
}
