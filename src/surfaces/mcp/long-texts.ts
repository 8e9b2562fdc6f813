/** Cuts long texts in the output of a tool to fit, notes the cuts, and lets callers read on from there. */

import { contractOf, type JsonSchema, toolName } from '../../operation/contract.js';
import type { GroupedOperation } from '../../operation/operation.js';
import { invalidInput } from '../../runtime/errors.js';
import type { JsonObject } from './tool-result.js';
import { visibleText } from './untrusted-text.js';

/** Schema of `text_from`, an input of tools whose texts may not fit. Only MCP cuts texts. `truncated` explains it. */
export const TEXT_FROM = { type: 'integer', minimum: 0 };

/** Members that may hold long texts written by users. */
const LONG = new Set(['note', 'notes', 'post_content', 'post_excerpt']);

/** Whether an operation takes `text_from`: it only reads, and its output may hold long texts. */
export function takesTextFrom(operation: GroupedOperation): boolean {
  return operation.effect === 'read' && holdsLongText(contractOf(operation).output_schema);
}

/** Whether values of a schema may hold long texts. */
export function holdsLongText(schema: JsonSchema): boolean {
  const members = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  return members.some(([name, member]) => LONG.has(name) || holdsLongText((member.items ?? member) as JsonSchema));
}

/** Splits the arguments into those of the operation and `text_from`, default 0. Throws `ability_invalid_input`. */
export function splitTextFrom(operation: GroupedOperation, args: JsonObject): { args: JsonObject; textFrom: number } {
  if (args.text_from === undefined || !takesTextFrom(operation)) return { args, textFrom: 0 };
  const { text_from, ...own } = args;
  const textFrom = typeof text_from === 'string' && /^\d{1,9}$/.test(text_from) ? Number(text_from) : text_from;
  if (typeof textFrom === 'number' && Number.isSafeInteger(textFrom) && textFrom >= 0) return { args: own, textFrom };
  throw invalidInput(
    'text_from',
    'text_from must be a whole number of characters.',
    'Send the number that the truncated answer named, or omit it.',
  );
}

/** The length of the longest text in an output. */
export function longestText(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((longest, member) => Math.max(longest, longestText(member)), 0);
}

export interface TextWindow {
  output: JsonObject;
  /** For each cut text its member name, the position of the cut, and the full length, in characters. */
  cuts: { name: string; shown: number; length: number }[];
}

/**
 * Cuts every text of the output to at most `max` characters from `from` on; texts not longer than `from` start at 0.
 */
export function textWindow(output: JsonObject, from: number, max: number): TextWindow {
  const cuts: TextWindow['cuts'] = [];
  const part = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') {
      const start = value.length > from ? from : 0;
      const rest = start === 0 ? value : value.slice(start).replace(/^[\uDC00-\uDFFF]/, '');
      const shown = visibleText(rest, max);
      if (shown !== rest) cuts.push({ name, shown: start + shown.length - 1, length: value.length });
      return start === 0 ? shown : `…${shown}`;
    }
    if (Array.isArray(value)) return value.map((item) => part(item, name));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, key === 'truncated' ? member : part(member, key)]),
    );
  };
  return { output: part(output, '') as JsonObject, cuts };
}

const NAMED_CUTS = 3;

/** The part of `truncated` about texts: which were cut, not to write them back, how to read on. '' when not needed. */
export function textNote(operation: GroupedOperation, { cuts }: TextWindow, from: number): string {
  const begin = from === 0 ? '' : `Texts longer than ${from} characters begin there. `;
  if (cuts.length === 0) return begin.trim();
  const named = cuts.slice(0, NAMED_CUTS).map(({ name, shown, length }) => `${name} (up to ${shown} of ${length})`);
  const more = cuts.length > NAMED_CUTS ? ` and ${cuts.length - NAMED_CUTS} more` : '';
  const next = Math.min(...cuts.map(({ shown }) => shown));
  return `${begin}Texts are cut: ${named.join(', ')}${more}. Never save a cut text: the rest would be lost. ${howToReadOn(operation, next)}`;
}

function howToReadOn(operation: GroupedOperation, next: number): string {
  if (takesTextFrom(operation)) return `Continue with text_from: ${next}.`;
  if (operation.group === 'clients') return `Continue with ${toolName('svc/get-client-v1')}, text_from: ${next}.`;
  if (operation.group === 'sites') return `Continue with ${toolName('svc/get-site-v1')}, text_from: ${next}.`;
  return 'The whole text is in the answer of the run endpoint and of REST.';
}
