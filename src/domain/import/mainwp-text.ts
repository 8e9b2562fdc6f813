/** Rich text of a MainWP Dashboard as plain text. Pure. */

import { decodeEntities } from '../../../schemas/text.js';

/** Lines for paragraphs and breaks, characters for entities, no tags. What an entity stands for is text: `&lt;jane@x&gt;` stays. */
export function plainNote(html: string): string {
  const text = html
    .replace(/<br\s*\/?>\s*|<\/(?:p|div|li|h[1-6]|tr)>\s*/gi, '\n')
    .replace(/<[a-z/!][^>]{0,2000}>/gi, '');
  return decodeEntities(text).trim();
}

/** One line for each contact of a client. */
export function contactLines(contacts: readonly Readonly<Record<string, string>>[]): string[] {
  return contacts.map((contact) => {
    const facts = ['contact_name', 'contact_role', 'contact_email', 'contact_phone'];
    const links = ['facebook', 'twitter', 'instagram', 'linkedin'];
    const values = [...facts, ...links].map((name) => contact[name]?.trim() ?? '').filter((value) => value !== '');
    return `Contact: ${values.join(', ')}`;
  });
}
