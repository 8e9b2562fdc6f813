/** Records of fleet files, before validation. */

import { cleanLine } from '../../../schemas/text.js';
import { maskedUrl } from '../../runtime/masked-url.js';

export type RawRecord = Readonly<Record<string, unknown>> & { readonly type?: unknown };

/** Text of a file for use in our messages: one line, bounded. */
export function sentence(text: string): string {
  return cleanLine(text.slice(0, 2000), 200);
}

/** An address of a file, for messages: a login in it stays out. */
export function shownAddress(text: string): string {
  return sentence(maskedUrl(text));
}

/** A text as PHP writes it, which may be a number; null counts as empty. Anything else is no text, and stays what it is. */
export function textFrom(value: unknown): unknown {
  if (value === null || value === undefined) return '';
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}

/** A number as PHP writes it, often a text; NaN for anything else. Objects may not be turned into numbers at all. */
export function numberFrom(value: unknown): number {
  return typeof value === 'object' ? Number.NaN : Number(value);
}
