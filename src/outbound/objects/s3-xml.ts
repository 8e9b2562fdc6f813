/** Reads the answers of S3-compatible servers. Names of our objects and codes of errors need no more than this. */

export interface Listed {
  name: string;
  bytes: number;
}

export interface ListPage {
  objects: Listed[];
  /** Of the next page; null = this is the last one. */
  token: string | null;
}

const LIST_ENDS = '</ListBucketResult>';
const [OBJECT, OBJECT_ENDS] = ['<Contents>', '</Contents>'];
/** S3 allows no longer names. */
const MAX_NAME = 1_024;

/**
 * A page of a list (`ListObjectsV2`); null if it is something else, is not complete, or names more objects than were asked
 * for. Every byte is looked at a few times, whatever they are: a pattern that looks for an end from each beginning would take
 * minutes for a page without ends.
 */
export function pageOf(page: Buffer, most: number): ListPage | null {
  // Without its end a list that was cut would be taken for a shorter one.
  if (
    !page
      .toString('latin1', page.length - 100)
      .trimEnd()
      .endsWith(LIST_ENDS)
  )
    return null;
  if (!/<ListBucketResult[\s>]/.test(page.toString('latin1', 0, 1_000))) return null;
  const objects: Listed[] = [];
  /** What is not part of an object. */
  const about: Buffer[] = [];
  let at = 0;
  for (let start = page.indexOf(OBJECT); start >= 0; start = page.indexOf(OBJECT, at)) {
    const end = page.indexOf(OBJECT_ENDS, start);
    if (end < 0 || objects.length === most) return null;
    const object = page.subarray(start + OBJECT.length, end);
    if (object.includes(OBJECT)) return null;
    const [name, size] = [textOf(object, 'Key'), textOf(object, 'Size')];
    if (name === null || name.length > MAX_NAME || size === null || !/^\d{1,15}$/.test(size)) return null;
    objects.push({ name, bytes: Number(size) });
    about.push(page.subarray(at, start));
    at = end + OBJECT_ENDS.length;
  }
  const rest = Buffer.concat([...about, page.subarray(at)]);
  const more = textOf(rest, 'IsTruncated');
  if (more === 'false') return { objects, token: null };
  const token = textOf(rest, 'NextContinuationToken');
  return more !== 'true' || token === null ? null : { objects, token };
}

/** The code of an error. */
export function codeOf(answer: Buffer): string | null {
  const code = textOf(answer, 'Code');
  return code !== null && /^\w{1,60}$/.test(code) ? code : null;
}

/** The text of the first element of a name. It is a copy: a part of a text would keep all of that text in memory. */
function textOf(bytes: Buffer, name: string): string | null {
  const start = bytes.indexOf(`<${name}>`) + name.length + 2;
  if (start < name.length + 2) return null;
  const end = bytes.indexOf('<', start);
  return bytes.indexOf(`</${name}>`, start) === end && end >= 0 ? unescaped(bytes.toString('utf8', start, end)) : null;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}
