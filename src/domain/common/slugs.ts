/** Names as parts of addresses. Pure. */

/** WordPress' form of an address part; letters of other scripts stay, as WordPress encodes them itself. */
export function slugOf(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_]+/gu, '-')
    .replace(/^-+|-+$/g, '');
}
