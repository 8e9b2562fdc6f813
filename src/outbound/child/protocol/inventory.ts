import type {
  ExtensionKind,
  SnapshotAbandoned,
  SnapshotExtension,
  SnapshotOffer,
  SnapshotTranslation,
} from '../port.js';
import { missingFor, type Platform } from './requirements.js';
import { exactText, plainText } from './text.js';
import { asMap, countOf, entriesOf, flagOf, get, listOf } from './values.js';

/** Maximum entries taken from any list; a real site has hundreds at most. */
const MAX_ENTRIES = 5_000;
const MAX_SLUG = 255;
const MAX_NAME = 200;

/** A version as text: numbers become text, `false` and other shapes ''. */
export function versionOf(value: unknown): string {
  return plainText(value, 64);
}

/** A slug exactly as the child expects it back; null if it is not an identifier. */
function slugOf(value: unknown): string | null {
  return exactText(value, MAX_SLUG);
}

/** `plugins` or `themes` of a stats answer; null if it is not a list. Of two entries with one slug the first counts. */
export function extensionsOf(value: unknown): SnapshotExtension[] | null {
  const list = listOf(value, MAX_ENTRIES);
  if (list === null) return null;
  const bySlug = new Map<string, SnapshotExtension>();
  for (const item of list) {
    const slug = slugOf(get(item, 'slug'));
    if (slug === null || bySlug.has(slug)) continue;
    bySlug.set(slug, {
      slug,
      name:
        plainText(get(item, 'name'), MAX_NAME) || plainText(get(item, 'title'), MAX_NAME) || plainText(slug, MAX_NAME),
      version: versionOf(get(item, 'version')),
      active: flagOf(get(item, 'active')),
      description: plainText(get(item, 'description'), 500),
      mu: flagOf(get(item, 'mu')),
      child_agent: get(item, 'mainwp') === 'T',
      parent_active: flagOf(get(item, 'parent_active')),
    });
  }
  return [...bySlug.values()];
}

/**
 * Updates from `plugin_updates` or `theme_updates`, with the `premium_updates` of that kind (child protocol §5.1); null
 * if the base list is missing. If known, the installed version comes from the inventory; an update to that same version
 * is ignored.
 * @param platform the site's own versions, which an update may be too new for
 */
export function offersOf(
  value: unknown,
  premium: unknown,
  kind: ExtensionKind,
  installed: readonly SnapshotExtension[] | undefined,
  platform: Platform,
): SnapshotOffer[] | null {
  const base = keyed(value);
  if (base === null) return null;
  const extra = (keyed(premium) ?? []).filter(([, item]) => get(item, 'type') === kind);
  const known = new Map(installed?.map((one) => [one.slug, one]));
  const bySlug = new Map<string, SnapshotOffer>();
  for (const [key, item] of [...base, ...extra]) {
    const offer = asMap(item) === null ? null : offerOf(key, item, known, platform);
    if (offer !== null && !bySlug.has(offer.slug)) bySlug.set(offer.slug, offer);
  }
  return [...bySlug.values()].slice(0, MAX_ENTRIES);
}

/** A map's entries; a list's members under '', because their index is not a slug. */
function keyed(value: unknown): [string, unknown][] | null {
  const entries = entriesOf(value, MAX_ENTRIES);
  return Array.isArray(value) && entries !== null ? entries.map(([, item]) => ['', item]) : entries;
}

function offerOf(
  key: string,
  item: unknown,
  known: ReadonlyMap<string, SnapshotExtension>,
  platform: Platform,
): SnapshotOffer | null {
  const update = get(item, 'update');
  const slug =
    slugOf(key) ?? slugOf(get(update, 'plugin')) ?? slugOf(get(update, 'theme')) ?? slugOf(get(item, 'slug'));
  if (slug === null) return null;
  const owner = known.get(slug);
  const current = owner?.version || versionOf(get(item, 'Version'));
  const offered = versionOf(get(update, 'new_version'));
  if (offered !== '' && offered === current) return null;
  const name = plainText(get(item, 'Name'), MAX_NAME) || owner?.name || plainText(slug, MAX_NAME);
  const needs = missingFor(versionOf(get(update, 'requires')), versionOf(get(update, 'requires_php')), platform);
  return { slug, name, current_version: current, new_version: offered, ...(needs !== '' && { needs }) };
}

/**
 * `translation_updates`, one update per slug: an update by slug covers all its languages (child protocol §6.8), so the
 * languages are listed and the highest version is shown. The child does not report the installed ones.
 */
export function translationsOf(value: unknown): SnapshotOffer[] | null {
  const list = listOf(value, MAX_ENTRIES);
  if (list === null) return null;
  const bySlug = new Map<string, { name: string; version: string; languages: Set<string> }>();
  for (const item of list) {
    const slug = slugOf(get(item, 'slug'));
    if (slug === null) continue;
    const version = versionOf(get(item, 'version'));
    const known = bySlug.get(slug) ?? { name: plainText(get(item, 'name'), 120), version, languages: new Set() };
    bySlug.set(slug, known);
    if (version.localeCompare(known.version, 'en', { numeric: true }) > 0) known.version = version;
    const language = plainText(get(item, 'language'), 20);
    if (language !== '' && known.languages.size < 8) known.languages.add(language);
  }
  return [...bySlug].map(([slug, { name, version, languages }]) => ({
    slug,
    name: plainText(`${name || slug}${languages.size > 0 ? ` (${[...languages].join(', ')})` : ''}`, MAX_NAME),
    current_version: '',
    new_version: version,
  }));
}

const TRANSLATED = ['core', 'plugin', 'theme'] as const;

/** The languages of each slug in `translation_updates`; null if it is not a list. */
export function languagesOf(value: unknown): Record<string, SnapshotTranslation> | null {
  const list = listOf(value, MAX_ENTRIES);
  if (list === null) return null;
  const bySlug = new Map<string, SnapshotTranslation>();
  for (const item of list) {
    const slug = slugOf(get(item, 'slug'));
    const type = TRANSLATED.find((each) => each === get(item, 'type'));
    const language = plainText(get(item, 'language'), 20);
    if (slug === null || type === undefined || language === '') continue;
    const known = bySlug.get(slug) ?? { type, languages: [] };
    bySlug.set(slug, known);
    known.languages.push({ language, version: versionOf(get(item, 'version')) });
  }
  return Object.fromEntries(bySlug);
}

/** `plugins_outdate_info` or `themes_outdate_info` (child protocol §6.6); null when missing. */
export function abandonedOf(value: unknown): SnapshotAbandoned[] | null {
  const entries = entriesOf(value, MAX_ENTRIES);
  if (entries === null) return null;
  const found: SnapshotAbandoned[] = [];
  if (Array.isArray(value)) return found;
  for (const [key, item] of entries) {
    const slug = slugOf(key);
    const released = countOf(get(item, 'last_updated'));
    if (slug === null || released === null) continue;
    const name = plainText(get(item, 'Name'), MAX_NAME) || plainText(slug, MAX_NAME);
    found.push({ slug, name, version: versionOf(get(item, 'Version')), last_updated: released });
  }
  return found;
}
