/** Restores text as a MainWP Dashboard stores it: rich text, entities, and leftover backslashes. Pure. */

import { decodeEntities } from '../../../schemas/text.js';

/**
 * Lines for paragraphs and breaks, characters for entities, no tags. A decoded entity is text: `&lt;jane@x&gt;` stays.
 */
export function plainNote(html: string): string {
  const text = html
    .replace(/<br\s*\/?>\s*|<\/(?:p|div|li|h[1-6]|tr)>\s*/gi, '\n')
    .replace(/<[a-z/!][^<>]{0,2000}>/gi, '');
  return decodeEntities(text).trim();
}

/**
 * A name. The dashboard escapes some for MySQL and then stores the escapes (`O\'Neill`), or stores entities; a name
 * that was changed later is stored as typed. So only quotes and backslashes lose a backslash: `C:\new` stays.
 */
export function plainName(stored: string): string {
  return plainNote(stored.replace(/\\(['"\\])/g, '$1'));
}

const MYSQL_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', '0': '', Z: '' };

/** The note of a site, which is always stored escaped for MySQL. */
export function siteNote(stored: string): string {
  return plainNote(stored.replace(/\\(.)/gs, (_all, char: string) => MYSQL_ESCAPES[char] ?? char));
}

/**
 * The password of an HTTP login as the dashboard sends it: without backslashes, as PHP's `stripslashes` removes them.
 */
export function sentPassword(stored: string): string {
  return stored.replace(/\\(.?)/gs, '$1');
}

/** One line per contact of a client. */
export function contactLines(contacts: readonly Readonly<Record<string, string>>[]): string[] {
  return contacts.map((contact) => {
    const facts = ['contact_name', 'contact_role', 'contact_email', 'contact_phone'];
    const links = ['facebook', 'twitter', 'instagram', 'linkedin'];
    const values = [...facts, ...links].map((name) => contact[name]?.trim() ?? '').filter((value) => value !== '');
    return `Contact: ${values.map(plainName).join(', ')}`;
  });
}
