/** Slugs: names as parts of URLs. Pure. */

/** A slug as WordPress forms it; letters of other scripts stay, because WordPress encodes them itself. */
export function slugOf(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_]+/gu, '-')
    .replace(/^-+|-+$/g, '');
}
