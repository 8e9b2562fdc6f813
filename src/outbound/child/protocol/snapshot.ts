import type { Snapshot } from '../port.js';
import { changesOf } from './changes.js';
import { abandonedOf, extensionsOf, languagesOf, offersOf, translationsOf, versionOf } from './inventory.js';
import type { Platform } from './requirements.js';
import { decodeEntities, plainText, richText } from './text.js';
import { asMap, countOf, entriesOf, flagOf, get, listOf, numberOf, secondsOf } from './values.js';

/**
 * Converts a stats answer, or the `sync` of another answer (child protocol §5.1). Never throws, whatever a site sends:
 * a value of the wrong shape counts as missing, and what is missing stays absent. null if nothing known is in it.
 * `complete` = a full stats answer, in which a missing core update means none.
 */
export function snapshotOf(answer: unknown, complete: boolean): Snapshot | null {
  if (asMap(answer) === null) return null;
  // A literal with several spreads creates new hidden classes each time: 10 KB per site until the next full collection.
  const facts = factsOf(answer);
  const platform = { php: facts.php_version ?? '', wp: facts.wp_version ?? '' };
  const snapshot: Snapshot = Object.assign(facts, inventoryOf(answer, platform), contentOf(answer));
  if (Object.keys(snapshot).length === 0) return null;
  const core = coreOffer(answer, snapshot.wp_version ?? '');
  if (core !== undefined) snapshot.core_update = core;
  else if (complete) snapshot.core_update = null;
  return snapshot;
}

/** Members that are neither undefined nor null: absent is absent, also under `exactOptionalPropertyTypes`. */
type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined | null> };

function present<T extends object>(members: T): Present<T> {
  const kept: Present<T> = {};
  for (const key of Object.keys(members) as (keyof T)[]) {
    const value = members[key];
    if (value !== undefined && value !== null) kept[key] = value as Exclude<T[typeof key], undefined | null>;
  }
  return kept;
}

function factsOf(answer: unknown): Snapshot {
  const info = get(answer, 'site_info');
  const dates = get(info, 'format_datetime');
  const text = (value: unknown, max: number): string | undefined => plainText(value, max) || undefined;
  const flag = (value: unknown): boolean | undefined =>
    value === undefined || value === null ? undefined : flagOf(value);
  const regverify = get(answer, 'regverify_info');
  return present({
    child_version: versionOf(get(answer, 'version')) || versionOf(get(info, 'child_version')) || undefined,
    wp_version: versionOf(get(answer, 'wpversion')) || versionOf(get(info, 'wpversion')) || undefined,
    php_version: versionOf(get(info, 'phpversion')) || undefined,
    mysql_version: versionOf(get(info, 'mysql_version')) || undefined,
    memory_limit: text(get(info, 'memory_limit'), 32),
    database_size: text(get(info, 'db_size'), 32),
    language: text(get(info, 'site_lang'), 32),
    ip: text(get(info, 'ip'), 64),
    debug_mode: flag(get(info, 'debug_mode')),
    search_visible: flag(get(info, 'site_public')),
    // An empty name is a fact: the site uses an offset now.
    timezone:
      typeof get(dates, 'timezone_string') === 'string' ? plainText(get(dates, 'timezone_string'), 64) : undefined,
    gmt_offset: text(get(dates, 'gmt_offset'), 16),
    site_url: text(get(answer, 'siteurl'), 500),
    // An empty ID is a fact: the child no longer has one.
    unique_id: typeof get(answer, 'uniqueId') === 'string' ? plainText(get(answer, 'uniqueId'), 200) : undefined,
    admin_email: text(get(answer, 'admin_useremail'), 254),
    regverify: secretOf(regverify) ?? undefined,
    last_post: countOf(get(answer, 'last_post_gmt')) || undefined,
  });
}

/**
 * The last backup that the child has recorded of a plugin. It sends nothing, or `false`, if the plugin is not active, and 0
 * if it knows of none. BackWPup's times are those of the site's clock (child protocol §5.1).
 */
export function backupOf(answer: unknown, plugin: string, gmtOffset: string | undefined) {
  const told = secondsOf(get(answer, 'primaryLasttimeBackup'));
  const hours = plugin === 'backwpup' ? Number(gmtOffset ?? Number.NaN) : 0;
  const known = told !== null && Math.abs(hours) <= 14;
  return { plugin, last: known ? Math.trunc(told - hours * 3600) : null };
}

/** A registration secret as children generate them (child protocol §3.2), null for anything else. */
export function secretOf(value: unknown): string | null {
  return typeof value === 'string' && /^[0-9A-Za-z-]{8,200}$/.test(value) ? value : null;
}

function inventoryOf(answer: unknown, platform: Platform): Snapshot {
  const plugins = extensionsOf(get(answer, 'plugins')) ?? undefined;
  const themes = extensionsOf(get(answer, 'themes')) ?? undefined;
  const premium = get(answer, 'premium_updates');
  return present({
    plugins,
    themes,
    plugin_updates: offersOf(get(answer, 'plugin_updates'), premium, 'plugin', plugins, platform),
    theme_updates: offersOf(get(answer, 'theme_updates'), premium, 'theme', themes, platform),
    translation_updates: translationsOf(get(answer, 'translation_updates')),
    translations: languagesOf(get(answer, 'translation_updates')),
    abandoned_plugins: abandonedOf(get(answer, 'plugins_outdate_info')),
    abandoned_themes: abandonedOf(get(answer, 'themes_outdate_info')),
  });
}

function contentOf(answer: unknown): Snapshot {
  return present({
    health: healthOf(get(answer, 'health_site_status')),
    security: securityOf(get(answer, 'securityStats')),
    changes: changesOf(answer),
    recent_posts: recordsOf(get(answer, 'recent_posts')),
    recent_pages: recordsOf(get(answer, 'recent_pages')),
    recent_comments: recordsOf(get(answer, 'recent_comments')),
    categories: categoriesOf(get(answer, 'categories')),
  });
}

/** undefined = the answer does not contain it; null = no update. */
function coreOffer(answer: unknown, installed: string): string | null | undefined {
  const map = asMap(answer);
  if (map === null || !Object.hasOwn(map, 'wp_updates')) return undefined;
  const offered = versionOf(map.wp_updates);
  return offered === '' || offered === installed ? null : offered;
}

function healthOf(value: unknown): Snapshot['health'] | null {
  const good = countOf(get(value, 'good'));
  const recommended = countOf(get(value, 'recommended'));
  const critical = countOf(get(value, 'critical'));
  return good === null || recommended === null || critical === null ? null : { good, recommended, critical };
}

/** Check key → the child's value; also the answer of the `security` function. null if there is no such map. */
function securityOf(value: unknown): Record<string, string> | null {
  const entries = asMap(value) === null ? null : entriesOf(value, 100);
  if (entries === null) return null;
  const checks = entries
    .filter(
      ([key, state]) => /^[a-z][a-z0-9_]{0,63}$/.test(key) && typeof state === 'string' && /^[A-Z_]{1,20}$/.test(state),
    )
    .map(([key, state]) => [key, String(state)] as const);
  return checks.length === 0 ? null : Object.fromEntries(checks);
}

/** Characters of the posts, or comments, that are kept of a site: lists of sites show them all. */
const RECORDS_CHARACTERS = 60_000;

/** Posts and comments with the child's names, but flat, bounded, and without invisible characters. */
function recordsOf(value: unknown): unknown[] | null {
  const list = listOf(value, 150);
  if (list === null) return null;
  let left = RECORDS_CHARACTERS;
  return list.flatMap((item) => {
    if (asMap(item) === null || left <= 0) return [];
    const record = flatRecord(entriesOf(item, 40) ?? []);
    left -= JSON.stringify(record).length;
    return left < 0 ? [] : [record];
  });
}

function flatRecord(entries: [string, unknown][]): Record<string, string | number | boolean> {
  const kept: [string, string | number | boolean][] = [];
  for (const [key, value] of entries) {
    // Lower- or camel-case words only: `__proto__` never becomes a member that a later copy would be affected by.
    if (!/^[A-Za-z][A-Za-z0-9_]{0,39}$/.test(key)) continue;
    // WordPress encodes addresses as entities, differently each time: unless decoded, every site with a comment would
    // always count as changed.
    if (typeof value === 'string' && key === 'author_email') kept.push([key, plainText(decodeEntities(value), 254)]);
    else if (typeof value === 'string') kept.push([key, richText(value, 2_000)]);
    else if (typeof value === 'boolean' || numberOf(value) !== null) kept.push([key, value as number | boolean]);
  }
  return Object.fromEntries(kept);
}

function categoriesOf(value: unknown): string[] | null {
  const list = listOf(value, 1_000);
  return list === null ? null : list.map((name) => plainText(name, 200)).filter((name) => name !== '');
}
