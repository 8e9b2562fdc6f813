/**
 * Fits the output of a tool into a token budget: smaller pages, then shorter lists, then shorter texts. A page of the size
 * that the caller named keeps its items. Never fails.
 */

import { contractOf } from '../../operation/contract.js';
import type { GroupedOperation } from '../../operation/operation.js';
import { type Page, totalOf } from './list-totals.js';
import { type TextWindow, textNote, textWindow } from './long-texts.js';
import { insteadOf } from './next-call.js';
import { estimateTextTokens, MOST_PER_CODE_UNIT, tokenWeight } from './token-estimate.js';
import { listsOf } from './tool.js';
import type { JsonObject, SerializedOutput } from './tool-result.js';

/** Tokens reserved for the note that says what was cut. */
const NOTE_TOKENS = 180;
/** A list of so few tokens is whole beside a page whose size the caller named: the page may take all of the room. */
const SHORT_LIST = 300;
const TEXT_CAPS = [32_000, 16_000, 8000, 4000, 2000, 1000, 500, 250, 80] as const;
/** Those above the length of names, which a page keeps whole. */
const LONG_TEXT_CAPS = TEXT_CAPS.filter((cap) => cap > 255);

export function estimateTokens(value: unknown): number {
  return estimateTextTokens(JSON.stringify(value) ?? '');
}

export interface BudgetParts {
  operation: GroupedOperation;
  /** As the caller sent it. */
  input: JsonObject;
  output: JsonObject;
  /** Whether the caller named the number of items of a page. */
  sizeChosen: boolean;
  /** Offset at which long texts start, in characters. */
  textFrom: number;
  maxTokens: number;
  /** Runs the operation again with another page size. */
  rerun(input: JsonObject): Promise<JsonObject>;
}

/** An output that fits, and the page it is; undefined = the operation has no pages. */
export interface Fitted extends SerializedOutput {
  page?: Page | undefined;
}

/** Returns the output, or a smaller one with `truncated` in front, which says what is missing and how to get it. */
export async function fitToBudget(parts: BudgetParts): Promise<Fitted> {
  const text = JSON.stringify(parts.output);
  const page = pageOf(parts);
  // Beside a page of no chosen size there must be room for what says how to go on.
  const most = page === undefined || parts.sizeChosen ? parts.maxTokens : parts.maxTokens - NOTE_TOKENS;
  // The length alone shows that most outputs fit, so few have to be estimated.
  const short = text.length * MOST_PER_CODE_UNIT <= most || estimateTextTokens(text) <= most;
  if (parts.textFrom === 0 && short) return { output: parts.output, text, page };
  const cut =
    parts.textFrom === 0
      ? await shrink(parts)
      : { output: shorterTexts(parts, parts.output, parts.maxTokens - NOTE_TOKENS) };
  return { page, ...cut, text: JSON.stringify(cut.output) };
}

async function shrink(parts: BudgetParts): Promise<Omit<Fitted, 'text'>> {
  const room = parts.maxTokens - NOTE_TOKENS;
  if (parts.sizeChosen && pageOf(parts) !== undefined) return { output: wholePage(parts, room) };
  const smaller = await smallerPage(parts, room);
  if (smaller !== undefined && estimateTokens(smaller.output) <= parts.maxTokens) return smaller;
  const lists = shorterLists(parts, smaller?.output ?? parts.output, room);
  return { ...smaller, output: estimateTokens(lists) <= parts.maxTokens ? lists : shorterTexts(parts, lists, room) };
}

/**
 * A page of the size that the caller named, which the operation has checked: it keeps every item. Only texts longer than
 * any name, and the list of errors beside it, are cut.
 */
function wholePage(parts: BudgetParts, room: number): JsonObject {
  const page = mainList(parts.operation, parts.output)?.name;
  const texts = shorterTexts(parts, parts.output, room, LONG_TEXT_CAPS);
  return estimateTokens(texts) <= parts.maxTokens ? texts : shorterLists(parts, texts, room, page);
}

/** Reruns a paged operation with a smaller page that fits and, if possible, starts at the same item. */
async function smallerPage(parts: BudgetParts, room: number): Promise<Omit<Fitted, 'text'> | undefined> {
  const requested = pageOf(parts);
  if (requested === undefined) return undefined;
  let output = parts.output;
  for (let tries = 0; tries < 4; tries += 1) {
    const list = mainList(parts.operation, output);
    if (list === undefined || list.items.length < 2) return undefined;
    const each = estimateTokens(list.items) / list.items.length;
    const rest = estimateTokens(output) - each * list.items.length;
    // Items differ in size, so each retry leaves a larger margin.
    const size = Math.max(1, Math.floor(((room - rest) / each) * (1 - 0.15 * tries)));
    const next = pageFrom((requested.page - 1) * requested.per_page, size);
    output = await parts.rerun({ ...parts.input, ...next });
    const truncated = `per_page was lowered from ${requested.per_page} to ${next.per_page}, so that the answer fits.`;
    if (estimateTokens(output) <= room) return { output: { truncated, ...output }, page: next };
  }
  return undefined;
}

function pageOf({ operation, input }: BudgetParts): Page | undefined {
  const { page, per_page } = (operation.parse(input) ?? {}) as { page?: number; per_page?: number };
  return page === undefined || per_page === undefined ? undefined : { page, per_page };
}

/** A page of at most `size` items that starts at `offset`, or, if there is none, the page that contains it. */
export function pageFrom(offset: number, size: number): Page {
  for (let per_page = size; per_page > size / 2; per_page -= 1) {
    if (offset % per_page === 0) return { page: offset / per_page + 1, per_page };
  }
  return { page: Math.floor(offset / size) + 1, per_page: size };
}

/** The largest list of an output. `errors` is not paged: a page sized by it could be larger than the requested one. */
function mainList(operation: GroupedOperation, output: JsonObject): { name: string; items: unknown[] } | undefined {
  return listsOf(contractOf(operation).output_schema)
    .filter((name) => name !== 'errors')
    .map((name) => ({ name, items: output[name] }))
    .filter((list): list is { name: string; items: unknown[] } => Array.isArray(list.items) && list.items.length > 0)
    .sort((a, b) => estimateTokens(b.items) - estimateTokens(a.items))[0];
}

/**
 * Cuts the heaviest lists down to one common weight, so that short ones, such as what is not known, stay whole. Errors
 * matter more than successes, so they are cut last, but hundreds of them leave half of the room.
 * @param kept the page whose size the caller named: neither it nor a list that weighs less is cut
 */
function shorterLists({ operation }: BudgetParts, output: JsonObject, room: number, kept?: string): JsonObject {
  const names = listsOf(contractOf(operation).output_schema)
    .filter((name) => name !== kept)
    .sort((a, b) => Number(a === 'errors') - Number(b === 'errors') || lengthOf(output[b]) - lengthOf(output[a]));
  const shorter = { ...output };
  let over = estimateTokens(shorter) - room;
  const cut = (name: string, most: number) => {
    const items = shorter[name];
    if (most <= 0 || !Array.isArray(items) || items.length === 0) return;
    const { kept: shown, dropped } = without(items, most);
    shorter[name] = shown;
    over -= dropped;
  };
  if (kept === undefined) cut('errors', Math.min(over, estimateTokens(output.errors ?? []) - room / 2));
  const weights = new Map(
    names.filter((name) => name !== 'errors').map((name) => [name, weightOf(output[name])] as const),
  );
  const least = kept === undefined ? 0 : Math.max(SHORT_LIST, weightOf(output[kept]));
  const each = Math.max(commonWeight([...weights.values()], over), least);
  for (const [name, weight] of weights) cut(name, Math.min(over, weight - each));
  if (kept === undefined) for (const name of names) cut(name, over);
  else cut('errors', Math.min(over, weightOf(output.errors) - least));
  const cuts = names
    .filter((name) => lengthOf(shorter[name]) < lengthOf(output[name]))
    .map((name) => `${lengthOf(shorter[name])} of ${totalOf(name, output) ?? lengthOf(output[name])} ${name}`);
  if (cuts.length === 0) return output;
  const { truncated: note, ...listed } = shorter;
  const said = `Cut to fit: ${cuts.join(', ')} are shown. ${howToGoOn(operation, output.dry_run === true)}`.trim();
  return { truncated: note === undefined ? said : `${said} ${note}`, ...listed };
}

/** The weight such that cutting every heavier list down to it saves `over` tokens; 0 = not even emptying all of them does. */
function commonWeight(weights: readonly number[], over: number): number {
  const sorted = [...weights].sort((a, b) => b - a);
  let sum = 0;
  for (const [index, weight] of sorted.entries()) {
    sum += weight;
    const common = (sum - over) / (index + 1);
    if (common >= (sorted[index + 1] ?? 0)) return Math.max(0, common);
  }
  return 0;
}

function weightOf(list: unknown): number {
  return Array.isArray(list) && list.length > 0 ? tokenWeight(JSON.stringify(list)) : 0;
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

/**
 * Drops items from the end of a list until it weighs `over` tokens less. Lists may have thousands of items, so each is
 * serialized at most twice.
 */
function without(items: readonly unknown[], over: number): { kept: unknown[]; dropped: number } {
  const all = tokenWeight(JSON.stringify(items));
  let count = 0;
  let weight = 0;
  while (count < items.length) {
    const next = weight + tokenWeight(`${JSON.stringify(items[count])},`);
    if (next > all - over) break;
    weight = next;
    count += 1;
  }
  return { kept: items.slice(0, count), dropped: all - weight };
}

/** Advice on how to request less. Only optional inputs narrow a call: the required ones name its subject. */
function howToGoOn(operation: GroupedOperation, preview: boolean): string {
  if (preview) return 'Nothing was done, and the counts cover everything.';
  if (operation.effect !== 'read')
    return 'All of it was done; only the listing is cut. Read the current state with the list and get tools.';
  if (insteadOf(operation.id) !== undefined) return '';
  const schema = contractOf(operation).input_schema;
  const required = (schema.required ?? []) as string[];
  const optional = Object.keys(schema.properties as object).filter((name) => !required.includes(name));
  return optional.length > 0 ? `Ask for less at a time by ${optional.join(', ')}.` : 'The counts cover everything.';
}

/** Cuts texts to the longest length that fits, from the caller's `text_from` on; `truncated` names the cut ones. */
function shorterTexts(
  { operation, textFrom }: BudgetParts,
  output: JsonObject,
  room: number,
  caps: readonly number[] = TEXT_CAPS,
): JsonObject {
  const { truncated: listNote, ...rest } = output;
  let window = { output: rest, cuts: [] } as TextWindow;
  for (const cap of caps) {
    window = textWindow(rest, textFrom, cap);
    if (estimateTokens(window.output) <= room) break;
  }
  const note = [listNote, textNote(operation, window, textFrom)].filter((text) => text !== undefined && text !== '');
  return { ...(note.length === 0 ? {} : { truncated: note.join(' ') }), ...window.output };
}
