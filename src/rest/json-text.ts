/** Parts of an answer that are JSON already: long lists of many sites come from storage as the bytes that leave. */

/** A JSON value as its text in UTF-8. */
export class JsonText {
  constructor(readonly utf8: Uint8Array) {}

  /** Where it is serialized among other values it is one of them. */
  toJSON(): unknown {
    return JSON.parse(Buffer.from(this.utf8).toString());
  }
}

/** A record in the order of its members: sections of plain values, and sections of members that are text. */
export class Sections {
  constructor(readonly sections: readonly (object | ReadonlyMap<string, JsonText>)[]) {}

  /** As one object. */
  toJSON(): object {
    const objects = this.sections.map((section) => (section instanceof Map ? Object.fromEntries(section) : section));
    return Object.assign({}, ...objects) as object;
  }
}

type Piece = string | Uint8Array;

/** As `JSON.stringify` of an answer, in UTF-8 where it has parts that are text: these are copied and not read. */
export function jsonOf(answer: Readonly<Record<string, unknown>>): string | Uint8Array<ArrayBuffer> {
  const { data } = answer;
  if (!Array.isArray(data) || !data.some(hasText)) return JSON.stringify(answer);
  const members = Object.entries(answer).map(([name, value]) =>
    name === 'data' ? ['"data":[', ...between(',', data.map(itemPieces)), ']'] : [membersText({ [name]: value })],
  );
  return utf8Of(['{', ...between(',', members.filter(isFilled)), '}']);
}

function hasText(item: unknown): item is object {
  return item instanceof Sections || (typeof item === 'object' && item !== null && Object.values(item).some(isText));
}

function isText(value: unknown): value is JsonText {
  return value instanceof JsonText;
}

function itemPieces(item: unknown): Piece[] {
  if (!hasText(item)) return [JSON.stringify(item)];
  const sections = item instanceof Sections ? item.sections : sectionsOf(item);
  const members = sections.map((section) => (section instanceof Map ? textMembers(section) : [membersText(section)]));
  return ['{', ...between(',', members.filter(isFilled)), '}'];
}

/** Without the braces. */
function membersText(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}

function textMembers(members: ReadonlyMap<string, JsonText>): Piece[] {
  return between(
    ',',
    [...members].map(([name, { utf8 }]) => [`${JSON.stringify(name)}:`, utf8]),
  );
}

function sectionsOf(item: object): object[] {
  return Object.entries(item).map(([name, value]) => (isText(value) ? new Map([[name, value]]) : { [name]: value }));
}

function isFilled(pieces: readonly Piece[]): boolean {
  return pieces.length > 1 || pieces[0] !== '';
}

function between(separator: string, parts: readonly (readonly Piece[])[]): Piece[] {
  return parts.flatMap((part, index) => (index === 0 ? part : [separator, ...part]));
}

/** All pieces one after the other, by one allocation. */
function utf8Of(pieces: readonly Piece[]): Uint8Array<ArrayBuffer> {
  const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') at += bytes.write(piece, at);
    else {
      bytes.set(piece, at);
      at += piece.length;
    }
  }
  return bytes;
}
