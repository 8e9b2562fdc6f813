/** Maps members of a site's REST record to the data they need: with `_fields`, only requested data is read. */

import type { RecordPart } from '../../../domain/sites/records.js';

const MEMBERS: Readonly<Record<RecordPart, readonly string[]>> = {
  tags: ['tags', 'tag_list'],
  client: ['client_name'],
  ignored: ['ignored_plugins', 'ignored_themes'],
  documents: ['recent_posts', 'recent_pages', 'recent_comments', 'categories'],
  plugins: ['plugins'],
  themes: ['active_theme', 'themes'],
  offers: ['wp_upgrades', 'plugin_upgrades', 'theme_upgrades', 'translation_upgrades', 'stats'],
  reason: ['status_reason', 'status_since'],
};
const PARTS = new Map(
  Object.entries(MEMBERS).flatMap(([part, names]) => names.map((name) => [name, part as RecordPart] as const)),
);

/** The data that a member needs; undefined for members from the site's own columns. */
export function partOf(name: string): RecordPart | undefined {
  return PARTS.get(name);
}

const LISTED = new Set(['id', 'name', 'url', 'status', 'client_id', ...MEMBERS.tags]);

/** Whether a member is available without the full record. */
export function isListed(name: string): boolean {
  return LISTED.has(name);
}
