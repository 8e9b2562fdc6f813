/** Rich text of a MainWP Dashboard as plain text. Pure. */

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
};

/** Lines for paragraphs and breaks, characters for entities; the schema takes out what markup is left. */
export function plainNote(html: string): string {
  return html
    .replace(/<br\s*\/?>\s*|<\/(?:p|div|li|h[1-6]|tr)>\s*/gi, '\n')
    .replace(/<[a-z/!][^>]{0,2000}>/gi, '')
    .replace(/&(#x?[0-9a-f]{1,6}|[a-z]{2,8});/gi, (whole, name: string) => entity(name) ?? whole)
    .trim();
}

function entity(name: string): string | undefined {
  if (!name.startsWith('#')) return ENTITIES[name.toLowerCase()];
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 31 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
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
