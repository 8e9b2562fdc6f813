/**
 * What a site has installed and on offer. A look at a site is compared with what is stored, and only differences are
 * written; an unchanged site is recognised by a digest and costs one small write.
 */

import { createHash } from 'node:crypto';
import type { Snapshot, SnapshotAbandoned, SnapshotExtension, SnapshotOffer } from '../../schemas/snapshot.js';
import type { Db, Row, Statement, Value } from './db.js';
import { StorageError, sql } from './db.js';
import { idList } from './sites.js';

export const KIND = { plugin: 0, theme: 1 } as const;
export const TYPE = { core: 0, plugin: 1, theme: 2, translation: 3 } as const;
export type UpdateType = keyof typeof TYPE;
export const TYPE_NAMES: readonly UpdateType[] = ['core', 'plugin', 'theme', 'translation'];

/** Slug of the core offer everywhere (operations §5.5). */
export const CORE_SLUG = 'platform';
const CORE_NAME = 'WordPress';

const FLAG = { mu: 1, child_agent: 2, parent_active: 4 } as const;

export interface ExtensionRow extends Row {
  site_id: number;
  kind: number;
  package_id: number;
  slug: string;
  name: string;
  description: string;
  position: number;
  version: string;
  active: number;
  flags: number;
  update_version: string | null;
}

export interface OfferRow extends Row {
  site_id: number;
  type: number;
  slug: string;
  position: number;
  name: string;
  current_version: string;
  new_version: string;
  ignored: number;
}

export interface StoredInventory {
  extensions: ExtensionRow[];
  offers: OfferRow[];
}

export const NO_INVENTORY: StoredInventory = { extensions: [], offers: [] };

/** Where a site stands before a look is stored. */
export interface SaveTarget {
  site_id: number;
  url_key: string;
  content_hash: string;
  /** 1 = disconnected by hand before the look: its success lifts the mark. A mark set meanwhile stays. */
  disconnected?: number;
}

/** One expression decides what ignoring means (operations §5.6); it is kept in the row, so that lists never compute it. */
const IGNORED = `(
  EXISTS (SELECT 1 FROM site_detail d WHERE d.site_id = site_update.site_id AND
    ((type = 0 AND d.ignore_core = 1) OR (type = 1 AND d.ignore_plugins = 1) OR (type = 2 AND d.ignore_themes = 1)))
  OR EXISTS (SELECT 1 FROM ignored_update i WHERE i.site_id = site_update.site_id AND i.type = site_update.type
    AND i.slug = site_update.slug AND i.version IN ('*', site_update.new_version))
  OR EXISTS (SELECT 1 FROM ignored_everywhere g WHERE g.type = site_update.type
    AND g.slug = site_update.slug AND g.version IN ('*', site_update.new_version))
)`;

/** Brings the stored `ignored` of a site's offers in line with the ignore lists. Part of every write that touches either. */
export function refreshIgnored(siteId: number): Statement {
  return sql(`UPDATE site_update SET ignored = ${IGNORED} WHERE site_id = ? AND ignored <> ${IGNORED}`, siteId);
}

/** The same for every site, after a change of the global lists. */
export function refreshIgnoredEverywhere(type: number, slug: string): Statement {
  return sql(
    `UPDATE site_update SET ignored = ${IGNORED} WHERE type = ? AND slug = ? AND ignored <> ${IGNORED}`,
    type,
    slug,
  );
}

const EXTENSION_COLUMNS = `e.site_id, e.kind, e.package_id, p.slug, p.name, p.description, e.position, e.version, e.active, e.flags, e.update_version`;

export function createInventory(db: Db) {
  return {
    async read(siteId: number): Promise<StoredInventory> {
      const [extensions = [], offers = []] = await db.read([
        sql(
          `SELECT ${EXTENSION_COLUMNS} FROM site_extension e JOIN package p ON p.id = e.package_id WHERE e.site_id = ? ORDER BY e.kind, e.position`,
          siteId,
        ),
        sql(
          'SELECT site_id, type, slug, position, name, current_version, new_version, ignored FROM site_update WHERE site_id = ? ORDER BY type, position',
          siteId,
        ),
      ]);
      return { extensions: extensions as ExtensionRow[], offers: offers as OfferRow[] };
    },

    /** Inventories of many sites in one round trip. */
    async readMany(siteIds: readonly number[]): Promise<Map<number, StoredInventory>> {
      const [extensions = [], offers = []] = await db.read([
        sql(
          `SELECT ${EXTENSION_COLUMNS} FROM site_extension e JOIN package p ON p.id = e.package_id WHERE e.site_id IN (SELECT value FROM json_each(?)) ORDER BY e.site_id, e.kind, e.position`,
          idList(siteIds),
        ),
        sql(
          'SELECT site_id, type, slug, position, name, current_version, new_version, ignored FROM site_update WHERE site_id IN (SELECT value FROM json_each(?)) ORDER BY site_id, type, position',
          idList(siteIds),
        ),
      ]);
      const found = new Map<number, StoredInventory>(siteIds.map((id) => [id, { extensions: [], offers: [] }]));
      for (const row of extensions as ExtensionRow[]) found.get(row.site_id)?.extensions.push(row);
      for (const row of offers as OfferRow[]) found.get(row.site_id)?.offers.push(row);
      return found;
    },

    /** Plugins or themes of one site in the child's order. */
    extensions(siteId: number, kind: number): Promise<ExtensionRow[]> {
      return db.all<ExtensionRow>(
        `SELECT ${EXTENSION_COLUMNS} FROM site_extension e JOIN package p ON p.id = e.package_id WHERE e.site_id = ? AND e.kind = ? ORDER BY e.position`,
        [siteId, kind],
      );
    },

    /** Statements that store the first look at a new site. */
    first(siteId: number, urlKey: string, snapshot: Snapshot, now: number): Statement[] {
      return [
        ...saveStatements({ site_id: siteId, url_key: urlKey, content_hash: '' }, snapshot, NO_INVENTORY),
        ...succeededStatements(siteId, now, false),
      ];
    },

    /**
     * Stores a full or partial look. `succeeded` says that the site answered a sync: it clears the sync error and stamps
     * last_sync; a look that came along with an action does not. With `since`, the last attempt as it was when the look was
     * asked for, nothing is stored and the answer is false when somebody else looked at the site meanwhile: a process that
     * was paused must not bring old news.
     */
    async save(
      target: SaveTarget,
      snapshot: Snapshot,
      now: number,
      succeeded: boolean,
      since?: { last_attempt: number | null },
    ): Promise<boolean> {
      const digest = contentHash(snapshot);
      const marks = succeededStatements(target.site_id, now, target.disconnected === 1);
      const guard = since === undefined ? [] : [unlessLookedAt(target.site_id, since.last_attempt)];
      if (digest === target.content_hash) {
        const changes = changeStatements(target.site_id, snapshot);
        return guarded(db, [...guard, ...(succeeded ? marks : []), ...changes]);
      }
      const stored = await this.read(target.site_id);
      const statements = saveStatements(target, snapshot, stored);
      return guarded(db, [...guard, ...statements, ...(succeeded ? marks : [])]);
    },

    /** A sync that failed: the reason, and when it was tried. The last known versions stay (operations §11.15). For `since` see `save`. */
    async saveFailure(
      siteId: number,
      code: string,
      message: string,
      now: number,
      since?: { last_attempt: number | null },
    ): Promise<boolean> {
      return guarded(db, [
        ...(since === undefined ? [] : [unlessLookedAt(siteId, since.last_attempt)]),
        sql('UPDATE site SET sync_error = ? WHERE id = ? AND sync_error <> ?', message, siteId, message),
        sql('UPDATE site_detail SET last_attempt = ?, sync_error_code = ? WHERE site_id = ?', now, code, siteId),
      ]);
    },
  };
}

/** Breaks a rule of the table, and with it the whole batch, when the site was looked at since: a batch has no other "if". */
function unlessLookedAt(siteId: number, lastAttempt: number | null): Statement {
  return sql(
    `UPDATE site SET check_state = 9 WHERE id = ?
     AND EXISTS (SELECT 1 FROM site_detail d WHERE d.site_id = site.id AND d.last_attempt IS NOT ?)`,
    siteId,
    lastAttempt,
  );
}

async function guarded(db: Db, statements: readonly Statement[]): Promise<boolean> {
  try {
    await db.batch(statements);
    return true;
  } catch (error) {
    if (error instanceof StorageError && error.kind === 'check' && error.message.includes('check_state')) return false;
    throw error;
  }
}

function succeededStatements(siteId: number, now: number, reconnects: boolean): Statement[] {
  return [
    reconnects
      ? sql("UPDATE site SET sync_error = '', disconnected = 0 WHERE id = ?", siteId)
      : sql("UPDATE site SET sync_error = '' WHERE id = ? AND sync_error <> ''", siteId),
    sql(
      "UPDATE site_detail SET last_sync = ?, last_attempt = ?, sync_error_code = '' WHERE site_id = ?",
      now,
      now,
      siteId,
    ),
  ];
}

/** Digest of everything but the change list, which is appended and never replaced. */
function contentHash(snapshot: Snapshot): string {
  const { changes: _appended, regverify: _secret, ...content } = snapshot;
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url');
}

function saveStatements(target: SaveTarget, snapshot: Snapshot, stored: StoredInventory): Statement[] {
  const { site_id: siteId, url_key: urlKey } = target;
  const offers = wantedOffers(snapshot, stored);
  const extensions = extensionStatements(siteId, snapshot, stored, offers);
  const updates = offerStatements(siteId, urlKey, offers, stored.offers);
  return [
    ...extensions,
    ...updates,
    ...(updates.length > 0 ? [refreshIgnored(siteId)] : []),
    ...securityStatements(siteId, snapshot.security),
    ...abandonedStatements(siteId, urlKey, KIND.plugin, snapshot.abandoned_plugins, snapshot.plugins),
    ...abandonedStatements(siteId, urlKey, KIND.theme, snapshot.abandoned_themes, snapshot.themes),
    ...documentStatements(siteId, snapshot),
    ...changeStatements(siteId, snapshot),
    detailStatement(siteId, snapshot),
  ];
}

// Plugins and themes ------------------------------------------------------------------------------------------------

interface WantedExtension {
  kind: number;
  slug: string;
  name: string;
  description: string;
  position: number;
  version: string;
  active: number;
  flags: number;
  update_version: string | null;
}

function extensionStatements(
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
  if (changed.length > 0) {
    const rows = JSON.stringify(
      changed.map((e) => [
        e.kind,
        e.slug,
        e.name,
        e.description,
        e.position,
        e.version,
        e.active,
        e.flags,
        e.update_version,
      ]),
    );
    statements.push(
      sql(
        `INSERT INTO package (kind, slug, name, description)
         SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?) WHERE true
         ON CONFLICT (kind, slug, name) DO UPDATE SET description = excluded.description WHERE excluded.description <> '' AND description <> excluded.description`,
        rows,
      ),
      sql(
        `INSERT INTO site_extension (site_id, kind, package_id, position, version, active, flags, update_version)
         SELECT ?, j.value ->> 0, p.id, j.value ->> 4, j.value ->> 5, j.value ->> 6, j.value ->> 7, j.value ->> 8
         FROM json_each(?) j JOIN package p ON p.kind = j.value ->> 0 AND p.slug = j.value ->> 1 AND p.name = j.value ->> 2 WHERE true
         ON CONFLICT (site_id, kind, package_id) DO UPDATE SET position = excluded.position, version = excluded.version,
           active = excluded.active, flags = excluded.flags, update_version = excluded.update_version`,
        siteId,
        rows,
      ),
    );
  }
  return statements;
}

const FIELDS = ['position', 'version', 'active', 'flags', 'update_version'] as const;

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
  return [...unique.values()].map((item) => ({
    kind,
    slug: item.slug,
    name: item.name,
    description: item.description,
    position: item.position,
    version: item.version,
    active: item.active,
    flags: item.flags,
    update_version: offered.get(item.slug) ?? null,
  }));
}

// Offers ------------------------------------------------------------------------------------------------------------

interface WantedOffer {
  type: number;
  slug: string;
  position: number;
  name: string;
  current_version: string;
  new_version: string;
}

/** Offers after this look: parts the look brought replace the stored ones of their type. */
function wantedOffers(snapshot: Snapshot, stored: StoredInventory): WantedOffer[] {
  const of = (type: number, seen: readonly SnapshotOffer[] | undefined): WantedOffer[] => {
    if (seen === undefined) return stored.offers.filter((row) => row.type === type);
    const unique = new Map(seen.map((offer) => [offer.slug, offer]));
    return [...unique.values()].map((offer, position) => ({
      type,
      position,
      ...offer,
      name: offer.name === '' ? offer.slug : offer.name,
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

function offerStatements(
  siteId: number,
  urlKey: string,
  wanted: readonly WantedOffer[],
  stored: readonly OfferRow[],
): Statement[] {
  const key = (offer: { type: number; slug: string }) => `${offer.type}\0${offer.slug}`;
  const before = new Map(stored.map((row) => [key(row), row]));
  const changed = wanted.filter((offer) => {
    const row = before.get(key(offer));
    return (
      row === undefined ||
      row.position !== offer.position ||
      row.name !== offer.name ||
      row.current_version !== offer.current_version ||
      row.new_version !== offer.new_version
    );
  });
  const kept = new Set(wanted.map(key));
  const gone = stored.filter((row) => !kept.has(key(row)));
  const statements: Statement[] = gone.map((row) =>
    sql('DELETE FROM site_update WHERE site_id = ? AND type = ? AND slug = ?', siteId, row.type, row.slug),
  );
  if (changed.length > 0) {
    statements.push(
      sql(
        `INSERT INTO site_update (site_id, type, slug, position, name, current_version, new_version, url_key)
         SELECT ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, ? FROM json_each(?) WHERE true
         ON CONFLICT (site_id, type, slug) DO UPDATE SET position = excluded.position, name = excluded.name,
           current_version = excluded.current_version, new_version = excluded.new_version`,
        siteId,
        urlKey,
        JSON.stringify(changed.map((o) => [o.type, o.slug, o.position, o.name, o.current_version, o.new_version])),
      ),
    );
  }
  return statements;
}

// The rest of a look ------------------------------------------------------------------------------------------------

function securityStatements(siteId: number, security: Record<string, string> | undefined): Statement[] {
  if (security === undefined) return [];
  const rows = JSON.stringify(Object.entries(security));
  return [
    sql(
      'DELETE FROM site_security WHERE site_id = ? AND check_id NOT IN (SELECT value ->> 0 FROM json_each(?))',
      siteId,
      rows,
    ),
    sql(
      `INSERT INTO site_security (site_id, check_id, value) SELECT ?, value ->> 0, value ->> 1 FROM json_each(?) WHERE true
       ON CONFLICT (site_id, check_id) DO UPDATE SET value = excluded.value WHERE value <> excluded.value`,
      siteId,
      rows,
    ),
  ];
}

/**
 * A sync reads only the child's cache, which is empty until a check ran and two days after: an empty list beside an inventory
 * says nothing. What is no longer installed goes all the same (child protocol §6.6).
 */
function abandonedStatements(
  siteId: number,
  urlKey: string,
  kind: number,
  items: readonly SnapshotAbandoned[] | undefined,
  installed: readonly SnapshotExtension[] | undefined,
): Statement[] {
  if (installed !== undefined && (items === undefined || items.length === 0)) {
    return [
      sql(
        'DELETE FROM site_abandoned WHERE site_id = ? AND kind = ? AND slug NOT IN (SELECT value FROM json_each(?))',
        siteId,
        kind,
        JSON.stringify(installed.map((item) => item.slug)),
      ),
    ];
  }
  if (items === undefined) return [];
  const present = installed === undefined ? null : new Set(installed.map((item) => item.slug));
  const rows = JSON.stringify(
    items
      .filter((item) => present?.has(item.slug) ?? true)
      .map((item) => [
        item.slug,
        item.name === '' ? item.slug : item.name,
        item.version,
        Math.trunc(item.last_updated),
      ]),
  );
  return [
    sql(
      'DELETE FROM site_abandoned WHERE site_id = ? AND kind = ? AND slug NOT IN (SELECT value ->> 0 FROM json_each(?))',
      siteId,
      kind,
      rows,
    ),
    sql(
      `INSERT INTO site_abandoned (site_id, kind, slug, name, version, last_updated, url_key)
       SELECT ?, ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3, ? FROM json_each(?) WHERE true
       ON CONFLICT (site_id, kind, slug) DO UPDATE SET name = excluded.name, version = excluded.version, last_updated = excluded.last_updated`,
      siteId,
      kind,
      urlKey,
      rows,
    ),
  ];
}

const DOCUMENTS = ['recent_posts', 'recent_pages', 'recent_comments', 'categories'] as const;

function documentStatements(siteId: number, snapshot: Snapshot): Statement[] {
  return DOCUMENTS.flatMap((kind) => {
    const body = snapshot[kind];
    if (body === undefined) return [];
    return [
      sql(
        `INSERT INTO site_document (site_id, kind, body) VALUES (?, ?, ?)
         ON CONFLICT (site_id, kind) DO UPDATE SET body = excluded.body WHERE body <> excluded.body`,
        siteId,
        kind,
        JSON.stringify(body),
      ),
    ];
  });
}

/** WordPress' own timers fill the child's log; nobody made those changes. */
const TIMERS: ReadonlySet<string> = new Set(['cron-job']);

function changeStatements(siteId: number, snapshot: Snapshot): Statement[] {
  const changes = snapshot.changes ?? [];
  if (changes.length === 0) return [];
  // Where the next look goes on: all entries count, also those that are not kept.
  const newest = Math.max(...changes.map((change) => change.created));
  const kept = changes.filter((change) => !TIMERS.has(change.context));
  return [
    sql(
      `INSERT OR IGNORE INTO site_change (site_id, source, child_id, context, action, item, user_login, user_id, created, duration)
       SELECT ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8 FROM json_each(?)`,
      siteId,
      JSON.stringify(
        kept.map((c) => [
          c.source,
          c.child_id,
          c.context,
          c.action,
          c.item,
          c.user_login,
          c.user_id,
          c.created,
          c.duration,
        ]),
      ),
    ),
    sql('UPDATE site_detail SET changes_after = max(changes_after, ?) WHERE site_id = ?', newest, siteId),
  ];
}

/** Columns of `site_detail` that a look fills, where it brought them. */
function detailStatement(siteId: number, snapshot: Snapshot): Statement {
  const bit = (value: boolean | undefined) => (value === undefined ? undefined : value ? 1 : 0);
  const columns: Record<string, Value | undefined> = {
    child_version: snapshot.child_version,
    wp_version: snapshot.wp_version,
    php_version: snapshot.php_version,
    mysql_version: snapshot.mysql_version,
    memory_limit: snapshot.memory_limit,
    database_size: snapshot.database_size,
    language: snapshot.language,
    ip: snapshot.ip,
    timezone: snapshot.timezone,
    gmt_offset: snapshot.gmt_offset,
    debug_mode: bit(snapshot.debug_mode),
    search_visible: bit(snapshot.search_visible),
    health_good: snapshot.health?.good,
    health_recommended: snapshot.health?.recommended,
    health_critical: snapshot.health?.critical,
    last_post: snapshot.last_post,
    content_hash: contentHash(snapshot),
  };
  const given = Object.entries(columns).filter((entry): entry is [string, Value] => entry[1] !== undefined);
  return sql(
    `UPDATE site_detail SET ${given.map(([name]) => `${name} = ?`).join(', ')} WHERE site_id = ?`,
    ...given.map(([, value]) => value),
    siteId,
  );
}
