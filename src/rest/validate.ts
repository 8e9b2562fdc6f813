/** Validates parameters against a row's schema; every wrong one is named, not only the first (REST §2.3). */

import { z } from '../../schemas/zod.js';
import { MAX_ISSUES } from '../../schemas/zod-internals.js';
import { ServiceError } from '../core/errors.js';
import { tooLong } from '../validation/lengths.js';
import { type InnerCodes, invalidParams, missingParams } from './errors.js';
import type { Route } from './route.js';

/**
 * The parsed parameters of a row. Throws `empty_body`, `rest_missing_callback_param` or `rest_invalid_param`.
 * @param fields query and body; @param path what the address holds, which wins
 */
export function parseParams(route: Route, fields: Record<string, unknown>, path: Readonly<Record<string, string>>) {
  const own = withoutMarked(fields);
  if (route.bodyRequired && Object.keys(own).length === 0) throw emptyBody();
  const given = route.pathParams.length === 0 ? own : { ...own, ...path };
  const long = tooLong(route.params, given);
  if (long.length > 0) throw wrongFields(new z.ZodError(long), route.inner);
  return route.quick(given) ?? (parseFields(route.params, given, route.inner) as unknown);
}

/** `_fields` and the like are not parameters of a row. */
function withoutMarked(fields: Record<string, unknown>): Record<string, unknown> {
  if (!Object.keys(fields).some((name) => name.startsWith('_'))) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith('_')));
}

/** Any object against its schema, with the errors of parameters. */
export function parseFields<S extends z.ZodTypeAny>(schema: S, fields: unknown, inner?: InnerCodes): z.output<S> {
  const long = tooLong(schema, fields);
  if (long.length > 0) throw wrongFields(new z.ZodError(long), inner);
  const result = schema.safeParse(fields);
  if (result.success) return result.data as z.output<S>;
  throw wrongFields(result.error, inner);
}

function wrongFields(error: z.ZodError, inner?: InnerCodes): ServiceError {
  const issues = error.issues.flatMap(unfold);
  const missing = issues.filter((issue) => issue.code === 'invalid_type' && issue.received === 'undefined');
  if (missing.length > 0) return missingParams([...new Set(missing.map(({ path: at }) => nameOf(at)))]);
  const found = issues.flatMap(explain);
  // All wrong parameters of the row are reported: they are few. Unknown names and members are up to the caller, so limited.
  const others = found.filter(({ own }) => !own);
  const reported = [...found.filter(({ own }) => own), ...others.slice(0, MAX_ISSUES)];
  const reasons: Record<string, string> = Object.create(null);
  for (const { name, reason } of reported) reasons[name] ??= reason;
  return invalidParams(reasons, inner, found.length - reported.length);
}

function emptyBody(): ServiceError {
  return new ServiceError('empty_body', 'The call has no body, so there is nothing to do.', {
    advice: 'Send a JSON object with at least one parameter and the header "Content-Type: application/json".',
  });
}

/** Of a union, the branch that got furthest says best what is wrong; when none did, that it has none of the forms. */
function unfold(issue: z.ZodIssue): z.ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const depth = (error: z.ZodError) => Math.max(0, ...error.issues.map(({ path }) => path.length));
  const [deepest] = [...issue.unionErrors].sort((a, b) => depth(b) - depth(a));
  if (deepest !== undefined && depth(deepest) > issue.path.length) return deepest.issues.flatMap(unfold);
  return [issue];
}

interface Finding {
  name: string;
  reason: string;
  /** About a parameter of the row itself, and not about a member of one or an unknown name. */
  own: boolean;
}

function explain(issue: z.ZodIssue): Finding[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      name: nameOf([...issue.path, key]),
      reason: 'is not a parameter of this route',
      own: false,
    }));
  }
  return [{ name: nameOf(issue.path), reason: reasonOf(issue), own: issue.path.length <= 1 }];
}

function nameOf(path: readonly (string | number)[]): string {
  const name = path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`),
    '',
  );
  // It may be a name of the caller's own, of any length.
  return name === '' ? 'body' : name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name;
}

const MAX_NAME = 200;

/** Follows the parameter's name in a sentence. Values are never echoed: a parameter may be a password. */
function reasonOf(issue: z.ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${WORDS[issue.expected] ?? issue.expected}, not ${WORDS[issue.received] ?? issue.received}`;
    case 'invalid_enum_value':
      return `must be one of ${issue.options.join(', ')}`;
    case 'invalid_literal':
      return `must be ${JSON.stringify(issue.expected)}`;
    case 'invalid_union':
      return issue.message === 'Invalid input' ? 'has none of the accepted forms' : issue.message;
    case 'too_small':
    case 'too_big':
      return sizeText(issue);
    default:
      return issue.message === '' ? 'is not valid' : issue.message;
  }
}

function sizeText(issue: z.ZodTooSmallIssue | z.ZodTooBigIssue): string {
  const small = issue.code === 'too_small';
  const limit = small ? issue.minimum : issue.maximum;
  if (issue.type === 'array') return small ? `needs at least ${limit} members` : `takes at most ${limit} members`;
  if (issue.type === 'string') {
    if (small && limit === 1) return 'must not be empty';
    return small ? `needs at least ${limit} characters` : `takes at most ${limit} characters`;
  }
  return small ? `must be ${limit} or more` : `must be ${limit} or less`;
}

const WORDS: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'an object',
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  float: 'a fraction',
  boolean: 'true or false',
  null: 'null',
  nan: 'not a number',
};
