/** Reports the first problem of an input, in words that a person or a model can act on. */

import type { z } from '../../../schemas/zod.js';

export interface ValidationError {
  /** As `fieldName` writes it. */
  field: string;
  message: string;
  advice: string;
}

/**
 * Missing fields first, then in the order of the schema's issues; one issue only (operations §1.5). Values are never
 * echoed: an input may contain a password.
 */
export function firstValidationError(error: z.ZodError, raw: unknown): ValidationError {
  const issues = error.issues.flatMap(unfold);
  const first = issues.find(isMissing) ?? issues[0];
  if (first === undefined) return { field: '', message: 'The input is not valid.', advice: 'See the input schema.' };
  return describe(first, raw);
}

function isMissing(issue: z.ZodIssue): boolean {
  return issue.code === 'invalid_type' && issue.received === 'undefined';
}

/**
 * A union reports one error per branch. If every branch misses the value, it is missing rather than of a wrong type.
 */
function unfold(issue: z.ZodIssue): z.ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const missing = issue.unionErrors.every((branch) => branch.issues.some(isMissing));
  if (missing)
    return [{ code: 'invalid_type', expected: 'unknown', received: 'undefined', path: issue.path, message: '' }];
  return [issue];
}

function describe(issue: z.ZodIssue, raw: unknown): ValidationError {
  const field = fieldName(issue.path);
  const at = field === '' ? 'The input' : field;
  switch (issue.code) {
    case 'unrecognized_keys': {
      const name = shortened(issue.keys[0] ?? '');
      const full = field === '' ? name : `${field}.${name}`;
      return {
        field: full,
        message: `${full} is not a field of this operation.`,
        advice: 'Remove it, or check its spelling in the input schema.',
      };
    }
    case 'invalid_type':
      if (issue.received === 'undefined')
        return { field, message: `${at} is required.`, advice: `Send ${at} as ${article(issue.expected)}.` };
      if (isOwnReason(issue.message))
        return { field, message: sentence(at, issue.message), advice: adviceFor(field, issue.message) };
      return {
        field,
        message: `${at} must be ${article(issue.expected)}, not ${article(issue.received)}.`,
        advice:
          issue.expected === 'array'
            ? `Send ${at} as a list, for example ["…"]: a single value is not accepted as a list.`
            : `Send ${at} as ${article(issue.expected)}.`,
      };
    case 'invalid_union':
      return {
        field,
        message: `${at} must be an id (integer) or text, not ${article(typeName(valueAt(raw, issue.path)))}.`,
        advice: 'Send a number such as 12, or text such as "example.com".',
      };
    case 'invalid_enum_value':
      return {
        field,
        message: `${at} must be one of ${issue.options.map((o) => JSON.stringify(o)).join(', ')}.`,
        advice: 'Use one of the listed values, in the same case.',
      };
    case 'too_small':
    case 'too_big':
      return {
        field,
        message: `${at} ${sizeText(issue)}.`,
        advice: issue.type === 'array' && issue.code === 'too_big' ? 'Split the call.' : `Change ${at} to fit.`,
      };
    default:
      return { field, message: sentence(at, issue.message), advice: adviceFor(field, issue.message) };
  }
}

/** Where the ids of a field are found: people say names. */
const LISTS: readonly (readonly [field: RegExp, list: string])[] = [
  [/^(tag_ids?|tags|add_tags|remove_tags|groups|waves\.canary_tag_ids)\b/, 'list-tags-v1'],
  [/^(client_ids?|clients)\b/, 'list-clients-v1'],
  [/^(site_ids?|sites|selected_sites)\b/, 'list-sites-v1'],
];

function adviceFor(field: string, message: string): string {
  const [, list] = LISTS.find(([ids]) => ids.test(field)) ?? [];
  return list !== undefined && message.startsWith('must be an integer')
    ? `Send ids, not names: find them with ${list}.`
    : 'See the input schema.';
}

/** A name chosen by the caller may have any length. */
export function shortened(name: string): string {
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name;
}

const MAX_NAME = 200;

/** Whether a schema says itself what it accepts, instead of zod: it may convert what it gets, so zod would name the wrong type. */
export function isOwnReason(message: string): boolean {
  return message.startsWith('must ');
}

/** Messages of our own schemas continue after the field's name: "must be …". */
function sentence(at: string, message: string): string {
  const text = isOwnReason(message) ? `${at} ${message}` : `${at}: ${message}`;
  return text.endsWith('.') ? text : `${text}.`;
}

function sizeText(issue: z.ZodTooSmallIssue | z.ZodTooBigIssue): string {
  const small = issue.code === 'too_small';
  const limit = small ? issue.minimum : issue.maximum;
  if (issue.type === 'array')
    return small ? `needs at least ${limit} member${limit === 1 ? '' : 's'}` : `takes at most ${limit} members`;
  if (issue.type === 'string')
    return small
      ? limit === 1
        ? 'must not be empty'
        : `needs at least ${limit} characters`
      : `takes at most ${limit} characters`;
  return small ? `must be ${limit} or more` : `must be ${limit} or less`;
}

/** A path as the caller would write it: `slugs[2]`; '' for the input as a whole. */
export function fieldName(path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`),
    '',
  );
}

function valueAt(raw: unknown, path: readonly (string | number)[]): unknown {
  let value: unknown = raw;
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

const WORDS: Record<string, string> = {
  // Types that only a union expects here.
  unknown: 'an id (integer) or text',
  array: 'a list',
  object: 'an object',
  string: 'text',
  number: 'a number',
  integer: 'an integer',
  float: 'a fraction',
  boolean: 'true or false',
  null: 'null',
  undefined: 'nothing',
  nan: 'not a number',
};

function article(type: string): string {
  return WORDS[type] ?? type;
}
