/**
 * The scalars and lists of REST parameters (REST §3). They arrive as text in a query and typed in a JSON body; both
 * forms parse to the same value.
 */

import { cursorText, int, numberAs } from '../../../schemas/common.js';
import { isCalendarDate } from '../../../schemas/days.js';
import { listMembers } from '../../../schemas/lists.js';
import { switched } from '../../../schemas/setting-fields.js';
import { z } from '../../../schemas/zod.js';
import { bounded } from '../../../schemas/zod-internals.js';
import { once } from '../../runtime/once.js';

export { int } from '../../../schemas/common.js';

/** `true/false`, `1/0`, `yes/no` as JSON or text, in any case (REST §3.5). */
export function flag() {
  return z.preprocess(
    (value) => switched(value, true, false),
    z.boolean({ invalid_type_error: 'must be true or false' }),
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is being refused
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/;

/** Text of at most `max` characters, without control characters; numbers in a JSON body are converted to text. */
export function text(max: number, min = 0) {
  return z.preprocess(
    (value) => (typeof value === 'number' ? String(value) : value),
    z
      .string()
      .min(min)
      .max(max)
      .refine((value) => !CONTROL.test(value), 'must not contain control characters'),
  );
}

/** Maximum number of members of a comma-separated list. */
const MAX_MEMBERS = 5000;

/** `a, b,c`, `["a","b"]` or `name[]=a`; trimmed, empties and repeats dropped. '' is an empty list. */
export function csv<T extends z.ZodTypeAny>(item: T, max = MAX_MEMBERS) {
  return z.preprocess(listMembers, bounded(z.array(item).max(max)));
}

/** A list of ids: `csv<int>` of the routes document. Signs are dropped as in `absolute values` (REST §3.2). */
export function ids(max = MAX_MEMBERS) {
  return csv(
    z.preprocess(
      (value) => {
        if (typeof value === 'string' && /^[+-]?\d{1,15}$/.test(value)) return Math.abs(Number(value));
        return typeof value === 'number' ? Math.abs(value) : value;
      },
      numberAs('must be an id').int().min(1).refine(Number.isSafeInteger, 'must be an integer of at most 15 digits'),
    ),
    max,
  ).transform((list) => [...new Set(list)]);
}

/**
 * Slugs of one call: a comma list or a JSON array, each member percent-decoded (REST §3.4). May parse to an empty list:
 * the row refuses that with the error code of its noun.
 */
export function slugs() {
  return csv(z.string().max(255), 100).transform((list) => [
    ...new Set(list.map((slug) => decoded(slug).trim()).filter((slug) => slug !== '')),
  ]);
}

/** Percent-decoded once; text that is not valid percent-encoding stays as it is. */
function decoded(part: string): string {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** In an edit, null clears a text or a list, and the empty text of a form clears any value (REST §3.5). */
export const cleared = {
  text: <T extends z.ZodTypeAny>(schema: T) => z.preprocess((value) => (value === null ? '' : value), schema),
  list: <T extends z.ZodTypeAny>(schema: T) => z.preprocess((value) => (value === null ? [] : value), schema),
  value: <T extends z.ZodTypeAny>(schema: T) => z.preprocess((value) => (value === '' ? null : value), schema),
  /** For a setting: null or '' restores its standard. */
  setting: <T extends z.ZodTypeAny>(schema: T, standard: z.output<T>) =>
    cleared.value(schema.nullable()).transform((value): z.output<T> => value ?? standard),
};

/** A day `YYYY-MM-DD` that exists. */
export function day() {
  return z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a day as YYYY-MM-DD')
    .refine(isCalendarDate, 'is not a real date');
}

/** `page` and `per_page` (REST §3.1). */
export function paging(standard: number, max: number) {
  return {
    page: int(1).default(1).describe('Page, from 1.'),
    per_page: int(1, max).default(standard).describe(`Items per page, 1 to ${max}.`),
  };
}

/** `page` and `per_page` of lists that are (nearly) whole when neither is sent (REST §3.1). Resolve with `pageOf`. */
export function openPaging(max: number) {
  return {
    page: int(1).optional().describe('Page, from 1.'),
    per_page: int(1, max).optional().describe(`Items per page, 1 to ${max}.`),
  };
}

/** Parameter of lists that also support paging by cursor. */
export const byCursor = once(() => ({
  cursor: cursorText().describe('next_cursor of the previous page, instead of page. Every page is equally fast.'),
}));

/** The requested page. Neither given: the first `whole` items. One given: `page` defaults to 1, `per_page` to 20. */
export function pageOf(
  asked: { page?: number | undefined; per_page?: number | undefined },
  whole: number,
): { page: number; per_page: number } {
  if (asked.page === undefined && asked.per_page === undefined) return { page: 1, per_page: whole };
  return { page: asked.page ?? 1, per_page: asked.per_page ?? 20 };
}

/** The path parameter of per-site routes. `siteRoute` of references.ts has it, and resolves it. */
export const sitePath = once(() => ({
  id_or_domain: z
    .string()
    .min(1)
    .max(2048)
    .describe('Numeric id of a site, or its domain, percent-encoded into one segment: example.com%2Fblog.'),
}));
