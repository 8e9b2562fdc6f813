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

/** A page of a list (`ListObjectsV2`); null if the text is something else. */
export function pageOf(text: string): ListPage | null {
  if (!/<ListBucketResult[\s>]/.test(text)) return null;
  const objects: Listed[] = [];
  for (const [, object = ''] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
    const [name, size] = [textOf(object, 'Key'), textOf(object, 'Size')];
    if (name === null || size === null || !/^\d{1,15}$/.test(size)) return null;
    objects.push({ name, bytes: Number(size) });
  }
  if (textOf(text, 'IsTruncated') !== 'true') return { objects, token: null };
  const token = textOf(text, 'NextContinuationToken');
  return token === null ? null : { objects, token };
}

/** The code of an error. */
export function codeOf(text: string): string | null {
  const code = textOf(text, 'Code');
  return code !== null && /^\w{1,60}$/.test(code) ? code : null;
}

function textOf(text: string, name: string): string | null {
  const value = new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1];
  return value === undefined ? null : unescaped(value);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}
