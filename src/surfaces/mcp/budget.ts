/**
 * Fits the output of a tool into a token budget: smaller pages, then shorter lists (`list-cuts.ts`), then shorter
 * texts. A page of the size that the caller named keeps its items. Never fails.
 */

import { contractOf } from '../../operation/contract.js';
import type { GroupedOperation } from '../../operation/operation.js';
import { cutLists } from './list-cuts.js';
import { listOfPage, type Page } from './list-totals.js';
import { longestText, type TextWindow, textNote, textWindow } from './long-texts.js';
import { insteadOf } from './next-call.js';
import { estimateTextTokens, estimateTokens, MOST_PER_CODE_UNIT } from './token-estimate.js';
import type { JsonObject, SerializedOutput } from './tool-result.js';

/** Tokens reserved for the note that says what was cut. */
const NOTE_TOKENS = 180;
const TEXT_CAPS = [32_000, 16_000, 8000, 4000, 2000, 1000, 500, 250, 80] as const;
/** How much of the room is left to what stands beside the rows of a page. */
const BESIDE_PAGE = 3 / 4;
/** Those above the length of names, which a page keeps whole. */
const LONG_TEXT_CAPS = TEXT_CAPS.filter((cap) => cap > 255);

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
  const page = pageOf(parts);
  if (parts.sizeChosen && page !== undefined) return { output: wholePage(parts, page, room) };
  const smaller = page === undefined ? undefined : await smallerPage(parts, page, room);
  const fitted = smaller ?? { output: shorterLists(parts, parts.output, room) };
  const fits = estimateTokens(fitted.output) <= parts.maxTokens;
  return fits ? fitted : { ...fitted, output: shorterTexts(parts, fitted.output, room) };
}

/**
 * A page of the size that the caller named, which the operation has checked: it keeps every item. Only texts longer than
 * any name, and the lists beside it, are cut.
 */
function wholePage(parts: BudgetParts, page: Page, room: number): JsonObject {
  const texts = shorterTexts(parts, parts.output, room, LONG_TEXT_CAPS);
  if (estimateTokens(texts) <= parts.maxTokens) return texts;
  return shorterLists(parts, texts, room, listOfPage(parts.operation, parts.output, page));
}

/**
 * A page that fits and, if possible, starts at the same item; undefined if none does. What is beside the page cannot be
 * asked for again, so the page is lowered first, and the rest cut where it leaves too little to the page.
 */
async function smallerPage(
  parts: BudgetParts,
  requested: Page,
  room: number,
): Promise<Omit<Fitted, 'text'> | undefined> {
  const { operation } = parts;
  let [output, page] = [parts.output, requested];
  for (let tries = 0; tries < 5; tries += 1) {
    const list = listOfPage(operation, output, page);
    if (list === undefined) return undefined;
    const items = output[list] as unknown[];
    const weight = estimateTokens(items);
    const beside = Math.max(room * BESIDE_PAGE, room - weight);
    const rest = shorterLists(parts, { ...output, [list]: [] }, beside);
    const left = room - estimateTokens(rest);
    if (weight <= left) return { output: noted(requested, page, { ...rest, [list]: items }), page };
    if (items.length < 2) return undefined;
    // Items differ in size, so each retry leaves a larger margin.
    const size = Math.floor((left / weight) * items.length * (1 - 0.15 * tries));
    page = pageFrom((requested.page - 1) * requested.per_page, Math.min(Math.max(1, size), requested.per_page));
    output = await parts.rerun({ ...parts.input, ...page });
  }
  return undefined;
}

function noted(requested: Page, { per_page }: Page, { truncated: said, ...output }: JsonObject): JsonObject {
  const lowered =
    per_page < requested.per_page
      ? [`per_page was lowered from ${requested.per_page} to ${per_page}, so that the answer fits.`]
      : [];
  const note = [...(typeof said === 'string' ? [said] : []), ...lowered];
  return note.length === 0 ? output : { truncated: note.join(' '), ...output };
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

/** Cuts lists, except one that is kept; `truncated` names the cut ones. */
function shorterLists({ operation }: BudgetParts, output: JsonObject, room: number, kept?: string): JsonObject {
  const { output: shorter, cuts } = cutLists(operation, output, room, kept);
  if (cuts.length === 0) return output;
  const { truncated: note, ...listed } = shorter;
  const said = `Cut to fit: ${cuts.join(', ')} are shown. ${howToGoOn(operation, output.dry_run === true)}`.trim();
  return { truncated: note === undefined ? said : `${said} ${note}`, ...listed };
}

/** Advice on how to request less. Only optional inputs narrow a call: the required ones name its subject. */
function howToGoOn(operation: GroupedOperation, preview: boolean): string {
  if (preview) return 'Nothing was done, and the counts cover everything.';
  if (operation.effect !== 'read')
    return 'Only the listing is cut; the counts cover everything. Read the current state with the list and get tools.';
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
  // Of the caps that cut nothing, one will do.
  const longest = longestText(rest);
  const idle = caps.filter((cap) => cap >= longest).slice(0, -1).length;
  for (const cap of caps.slice(idle)) {
    window = textWindow(rest, textFrom, cap);
    if (estimateTokens(window.output) <= room) break;
  }
  const note = [listNote, textNote(operation, window, textFrom)].filter((text) => text !== undefined && text !== '');
  return { ...(note.length === 0 ? {} : { truncated: note.join(' ') }), ...window.output };
}
