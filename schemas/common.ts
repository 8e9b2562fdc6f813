/** Schemas shared by several nouns: references, paging, item errors, and scalars as sent in JSON and query strings. */

import { once } from '../src/runtime/once.js';
import { z } from './zod.js';
import { bounded, integerOrText } from './zod-internals.js';

/** Maximum members of one list input (operations §1.5). */
const MAX_LIST = 5000;

const INTEGER_TEXT = /^-?\d{1,15}$/;

/** A number that may be sent as text, too: its errors must not say that text is wrong. `forms` follows the name. */
export function numberAs(forms: string) {
  return z.number({ invalid_type_error: forms });
}

/** Integers arrive as JSON numbers or as text from a query string; `"12.7"` stays text and fails. */
export function int(min?: number, max?: number) {
  let number = numberAs('must be an integer').int();
  if (min !== undefined) number = number.min(min);
  if (max !== undefined) number = number.max(max);
  return z.preprocess(
    (value) => (typeof value === 'string' && INTEGER_TEXT.test(value) ? Number(value) : value),
    // Beyond 2^53 different integers become equal. A refinement, because as a maximum it would appear in every
    // published schema.
    number.refine(Number.isSafeInteger, 'must be an integer of at most 15 digits'),
  );
}

/** `true false 1 0` in any spelling; `"false"` is false, `"yes"` is an error (operations §1.3, §1.9). */
export function bool() {
  return z.preprocess(
    (value) => {
      if (value === 1 || value === '1') return true;
      if (value === 0 || value === '0') return false;
      if (typeof value === 'string') {
        const text = value.toLowerCase();
        if (text === 'true') return true;
        if (text === 'false') return false;
      }
      return value;
    },
    z.boolean({ invalid_type_error: 'must be true or false' }),
  );
}

/** A list, of at most 5,000 by default. A scalar is refused, never interpreted as "everything" (operations §11.2). */
export function list<T extends z.ZodTypeAny>(item: T, most = MAX_LIST) {
  return bounded(z.array(item).max(most));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is being removed
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is being refused
const ANY_CONTROL = /[\u0000-\u001F\u007F-\u009F]/;

/**
 * Text for people: trimmed, without control characters, otherwise unchanged (operations §5.4). It is escaped where it
 * is shown.
 */
export function plainText(max: number) {
  return z
    .string()
    .max(max)
    .transform((text) => text.replace(CONTROL, '').trim());
}

/** One line of text for people, for names: any run of white space becomes one blank. */
export function lineText(max: number) {
  return plainText(max).transform((text) => text.replace(/\s+/g, ' '));
}

/** Text for machines (logins, ids): only trimmed; a control character is an error, because it can only be a mistake. */
export function token(max: number) {
  return z
    .string()
    .trim()
    .max(max)
    .refine((text) => !ANY_CONTROL.test(text), 'must not contain control characters');
}

/** A slug or a name to look for. */
export function called() {
  return z
    .string()
    .trim()
    .min(1)
    .max(255)
    .refine((text) => !ANY_CONTROL.test(text), 'must not contain control characters');
}

export const id = () => int(1);

/** A site by id, domain or URL (operations §4.1). */
export const siteRef = once(() => integerOrText().describe('Id or domain.'));

export const clientRef = once(() => integerOrText().describe('Id or e-mail.'));

/**
 * `rule` says what an empty list means, as the first sentence of the description: an empty search result must not
 * become the whole fleet.
 */
export const siteRefs = (rule: string) => list(integerOrText()).describe(rule);

/** The page of a list that a caller asks for. */
export const paging = (standard: number, max: number) => ({
  page: int(1).default(1).describe('Page.'),
  per_page: int(1, max).default(standard).describe('Kept whole.'),
});

/** The page of a list that an output is. */
export const pageNumbers = once(() => ({ page: z.number().int(), per_page: z.number().int() }));
/** The same, after the number of items on all pages. */
export const paged = once(() => ({ total: z.number().int(), ...pageNumbers() }));

/** The cursor of a list, as returned by an earlier page. Long enough for the longest name and URL. */
export const cursorText = () => z.string().max(8192).optional();

/** ISO 8601 UTC, always with `Z` (operations §5.3). */
export const timestamp = once(() => z.string());
/** `YYYY-MM-DD`. */
export const date = once(() => z.string());

/** A failed member of a site selection (operations §6). */
export const siteError = once(() =>
  z.object({
    identifier: z.union([z.number().int(), z.string()]),
    site_id: z.number().int().nullable(),
    code: z.string(),
    message: z.string(),
  }),
);

/** A failed plugin or theme of one site. */
export const slugError = once(() => z.object({ slug: z.string(), code: z.string(), message: z.string() }));

/** Fields of every output of a queued call (operations §6). All absent if the work was done at once. */
export const queuedFields = once(() => ({
  queued: z.boolean(),
  job_id: z.string().optional(),
  status_url: z.string().optional(),
  sites_queued: z.number().int().optional(),
  notice: z.string().optional(),
}));

/** The job on which a timed-out call continues; absent if everything was done. */
export const continuedFields = once(() => ({ job_id: z.string().optional(), status_url: z.string().optional() }));
/** The flag of a call on many sites that previews its effects. */
export const dryRun = once(() => bool().default(false).describe('Preview.'));

/**
 * The two flags of a destructive call. Optional in the schema so that a missing confirm gets its own code
 * (operations §1.9).
 */
export const confirmation = once(() => ({
  confirm: bool().optional().describe('Proceed.'),
  dry_run: dryRun(),
}));
