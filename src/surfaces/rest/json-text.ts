/**
 * Parts of an answer that are already JSON: long lists of many sites come from storage as the bytes to be sent. Handing the
 * values over from the driver one by one costs more than finding them.
 */

/** A JSON value as text, or as UTF-8 bytes if it is long. */
export class JsonText {
  constructor(readonly text: string | Uint8Array) {}

  /** Parses the text, so that `JSON.stringify` works on values that contain it. */
  toJSON(): unknown {
    return JSON.parse(typeof this.text === 'string' ? this.text : Buffer.from(this.text).toString());
  }
}

/** A record in the order of its members: sections of plain values, and sections of members that are JSON text. */
export class Sections {
  constructor(readonly sections: readonly (object | ReadonlyMap<string, JsonText>)[]) {}

  /** As one object. */
  toJSON(): object {
    const objects = this.sections.map((section) => (section instanceof Map ? Object.fromEntries(section) : section));
    return Object.assign({}, ...objects) as object;
  }

  /** As one object of plain values, with the texts parsed. */
  plain(): object {
    return Object.fromEntries(
      Object.entries(this.toJSON()).map(([name, value]) => [name, isText(value) ? value.toJSON() : value]),
    );
  }
}

/**
 * Same as `JSON.stringify` of an answer, but as UTF-8 if it has parts that are JSON text: these are copied unparsed.
 */
export function jsonOf(answer: Readonly<Record<string, unknown>>): string | Uint8Array<ArrayBuffer> {
  const { data } = answer;
  if (!Array.isArray(data) || !data.some(hasText)) return JSON.stringify(answer);
  const json = new Json();
  json.add('{');
  for (const [name, value] of Object.entries(answer)) {
    if (name === 'data') {
      json.member('"data":[');
      data.forEach((item, index) => {
        if (index > 0) json.add(',');
        addItem(json, item);
      });
      json.add(']');
    } else json.members({ [name]: value });
  }
  json.add('}');
  return json.utf8();
}

function hasText(item: unknown): item is object {
  return item instanceof Sections || (typeof item === 'object' && item !== null && Object.values(item).some(isText));
}

function isText(value: unknown): value is JsonText {
  return value instanceof JsonText;
}

function addItem(json: Json, item: unknown): void {
  if (!hasText(item)) {
    json.add(JSON.stringify(item));
    return;
  }
  json.add('{');
  for (const section of item instanceof Sections ? item.sections : sectionsOf(item)) {
    if (section instanceof Map)
      for (const [name, text] of section as ReadonlyMap<string, JsonText>) json.text(name, text);
    else json.members(section);
  }
  json.add('}');
}

function sectionsOf(item: object): object[] {
  return Object.entries(item).map(([name, value]) => (isText(value) ? new Map([[name, value]]) : { [name]: value }));
}

/** Builds JSON from strings and UTF-8 bytes. */
class Json {
  readonly #pieces: (string | Uint8Array)[] = [];
  /** Consecutive strings, which are encoded together. */
  #text = '';

  add(text: string): void {
    this.#text += text;
  }

  /** Adds a member, with a comma if it follows another one. */
  member(text: string): void {
    this.#text += this.#text.endsWith('{') ? text : `,${text}`;
  }

  /** Adds all members of an object. */
  members(object: object): void {
    const text = JSON.stringify(object);
    if (text !== '{}') this.member(text.slice(1, -1));
  }

  text(name: string, { text }: JsonText): void {
    this.member(`${JSON.stringify(name)}:`);
    if (typeof text === 'string') this.#text += text;
    else {
      this.#pieces.push(this.#text, text);
      this.#text = '';
    }
  }

  /** The result as UTF-8, in one allocation. */
  utf8(): Uint8Array<ArrayBuffer> {
    this.#pieces.push(this.#text);
    const bytes = Buffer.allocUnsafe(this.#pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0));
    let at = 0;
    for (const piece of this.#pieces) {
      if (typeof piece === 'string') at += bytes.write(piece, at);
      else {
        bytes.set(piece, at);
        at += piece.length;
      }
    }
    return bytes;
  }
}
