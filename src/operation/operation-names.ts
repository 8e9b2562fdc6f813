/**
 * Finds operation names in our own texts (`list-sites-v1`, `svc/list-sites-v1`): each way in says what it calls the
 * same thing.
 */

/** Or a quotation, also one that is cut off: what others wrote stays as it is, so that it names nothing that can be called. */
const NAME = /"[^"]*"?|(?<![\w/-])(?:svc\/)?[a-z]+(?:-[a-z]+)+-v\d+(?![\w-])/g;

/** Replaces names of operations in a text. */
export type Renaming = (text: string) => string;

/** @param wordsFor by id, `svc/list-sites-v1`; names without words stay as they are, and so do those in quotes */
export function renaming(wordsFor: ReadonlyMap<string, string>): Renaming {
  return (text) => text.replace(NAME, (name) => wordsFor.get(name.startsWith('svc/') ? name : `svc/${name}`) ?? name);
}

/** Members of answers and errors that hold texts of ours which advise to call something. */
const TEXTS: ReadonlySet<string> = new Set([
  'message',
  'advice',
  'notice',
  'notices',
  'why_not',
  'warnings',
  'problems',
  'status_reason',
  'next',
  'first',
  'seen',
  'cannot_undo_because',
  'not_checked',
  'held_back',
  'guidance',
  // Cells of a search, of which one is the reason of a status.
  'rows',
]);

export function holdsAdvice(member: string): boolean {
  return TEXTS.has(member);
}

/** An answer or error with such texts renamed, at any depth; the same object if there is nothing to rename. */
export function renamedIn<T>(value: T, rename: Renaming, member?: string): T {
  return withTexts(value, (text, name) => (holdsAdvice(name) ? rename(text) : text), member);
}

/**
 * A JSON value with every text in it changed, at any depth; the same value if nothing changes.
 * @param change also gets the name of the member that holds the text, or the list with it
 */
export function withTexts<T>(value: T, change: (text: string, member: string) => string, member = ''): T {
  if (typeof value === 'string') return change(value, member) as T;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const list = value.map((item) => withTexts(item, change, member));
    return (list.some((item, index) => item !== value[index]) ? list : value) as T;
  }
  const members = Object.entries(value).map(([name, item]) => [name, item, withTexts(item, change, name)] as const);
  if (members.every(([, before, after]) => before === after)) return value;
  return Object.fromEntries(members.map(([name, , after]) => [name, after])) as T;
}
