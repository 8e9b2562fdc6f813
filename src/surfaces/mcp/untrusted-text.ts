/**
 * What every text passes on its way to a model: invisible characters, marks of chat templates and links are removed.
 * Texts of child sites are cleaned of markup when they are stored (`schemas/text.ts`), but what is a name to people
 * may be an instruction to a model.
 */

import { unmarked, unmarkedSlug } from '../../../schemas/site-text.js';
import { INVISIBLE } from '../../../schemas/text.js';
import { withTexts } from '../../operation/operation-names.js';

/** Printable ASCII needs no cleaning, and most texts are that. */
const PRINTABLE = /^[ -~]*$/;

/** Texts that assistants edit and write back: their markup belongs to them. */
const WRITTEN_BACK: ReadonlySet<string> = new Set(['note', 'notes', 'post_content', 'post_excerpt']);
/** Members that name plugins and themes by their slugs. */
const SLUGS: ReadonlySet<string> = new Set([
  'slug',
  'activated',
  'deactivated',
  'deleted',
  'active_theme',
  'previous_theme',
  'plugins_ignored',
  'themes_ignored',
]);

/** The text without invisible characters and without marks that a model could follow. At most `max` characters. */
export function cleanText(text: string, max = Number.POSITIVE_INFINITY): string {
  // The work is bounded by what can remain, not by the length of the text.
  return visibleText(unmarked(text.slice(0, 4 * max + 1000)), max);
}

/** The text without invisible characters, except line breaks and tabs. At most `max` characters. */
export function visibleText(text: string, max = Number.POSITIVE_INFINITY): string {
  const visible = PRINTABLE.test(text)
    ? text
    : text.replace(INVISIBLE, (char) => (char === '\n' || char === '\t' ? char : ''));
  if (visible.length <= max) return visible;
  const cut = visible.slice(0, Math.max(0, max - 1));
  // Does not end in half a surrogate pair.
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** A JSON value with every text in it cleaned; the same value when nothing changes. */
export function cleanValue<T>(value: T): T {
  return withTexts(value, cleanMember);
}

/** A text that is in this member of an answer. */
export function cleanMember(text: string, member: string): string {
  if (WRITTEN_BACK.has(member)) return visibleText(text);
  return SLUGS.has(member) ? visibleText(unmarkedSlug(text)) : cleanText(text);
}
