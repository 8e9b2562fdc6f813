/** Parts of an answer that are JSON text already: long lists of many sites come from storage as they leave. */

/** A JSON value as its text. */
export class JsonText {
  constructor(readonly text: string) {}

  /** Where it is serialized among other values it is one of them. */
  toJSON(): unknown {
    return JSON.parse(this.text);
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

/** As `JSON.stringify` of an answer; what is text already in the items of `data` is copied and not read. */
export function jsonOf(answer: Readonly<Record<string, unknown>>): string {
  const { data } = answer;
  if (!Array.isArray(data) || !data.some(hasText)) return JSON.stringify(answer);
  const members = Object.entries(answer).map(([name, value]) =>
    name === 'data' ? `"data":[${data.map(itemText).join(',')}]` : membersText({ [name]: value }),
  );
  return `{${members.filter((member) => member !== '').join(',')}}`;
}

function hasText(item: unknown): item is object {
  return item instanceof Sections || (typeof item === 'object' && item !== null && Object.values(item).some(isText));
}

function isText(value: unknown): value is JsonText {
  return value instanceof JsonText;
}

function itemText(item: unknown): string {
  if (!hasText(item)) return JSON.stringify(item);
  const sections = item instanceof Sections ? item.sections : sectionsOf(item);
  const members = sections.map((section) => (section instanceof Map ? textMembers(section) : membersText(section)));
  return `{${members.filter((text) => text !== '').join(',')}}`;
}

/** Without the braces. */
function membersText(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}

function textMembers(members: ReadonlyMap<string, JsonText>): string {
  return [...members].map(([name, { text }]) => `${JSON.stringify(name)}:${text}`).join(',');
}

function sectionsOf(item: object): object[] {
  return Object.entries(item).map(([name, value]) => (isText(value) ? new Map([[name, value]]) : { [name]: value }));
}
