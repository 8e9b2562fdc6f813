/** Validates parameters against a row's schema; reports every invalid one, not only the first (REST §2.3). */

import { z } from '../../../schemas/zod.js';
import { definitionOf, MAX_ISSUES } from '../../../schemas/zod-internals.js';
import { tooLong } from '../../operation/validation/lengths.js';
import { fieldName, isOwnReason, shortened } from '../../operation/validation/validation-error.js';
import { ServiceError } from '../../runtime/errors.js';
import { isObject } from '../../runtime/plain-json.js';
import { nested } from './dotted-names.js';
import type { Input, Repeated } from './input.js';
import { type Aliases, type Naming, unknownName } from './names.js';
import { invalidParam, invalidParams, missingParams } from './parameter-errors.js';
import type { Route } from './route.js';

/**
 * The parsed parameters of a row. Throws `empty_body`, `rest_missing_callback_param` or `rest_invalid_param`.
 * @param input query and body, which may repeat what the path says, but not contradict it
 * @param path parameters from the path
 */
export function parseParams(route: Route, { fields, repeated }: Input, path: Readonly<Record<string, string>>) {
  if (route.bodyRequired && Object.keys(fields).length === 0) throw emptyBody();
  if (repeated.length > 0) refuseRepeated(route, repeated);
  const sent = nested(route.params(), fields);
  refuseContradictions(sent, path);
  const given = route.pathParams.length === 0 ? sent : { ...sent, ...path };
  const long = tooLong(route.params(), given);
  if (long.length > 0) throw wrongFields(new z.ZodError(long), route.naming());
  return route.quick(given) ?? (parseFields(route.params(), given, route.naming()) as unknown);
}

/** A call that names one thing in its path and another in its body may have been meant for either. */
function refuseContradictions(sent: Readonly<Record<string, unknown>>, path: Readonly<Record<string, string>>): void {
  const isSame = (value: unknown, own: string | undefined) =>
    typeof value === 'number' ? String(value) === own : value === own;
  const others = Object.keys(path).filter((name) => Object.hasOwn(sent, name) && !isSame(sent[name], path[name]));
  if (others.length > 0) throw invalidParams(Object.fromEntries(others.map((name) => [name, CONTRADICTS])));
}

const CONTRADICTS = 'is given in the path with another value';

/** Parses an object; its schema refuses unknown names. Throws `rest_missing_callback_param` or `rest_invalid_param`. */
export function parseFields<S extends z.AnyZodObject>(schema: S, given: unknown, naming: Naming): z.output<S> {
  const { fields, sentAs } = renamed(given, naming.aliases);
  const settled = naming.nullIsAbsent ? withoutNulls(schema, fields) : fields;
  const long = tooLong(schema, settled);
  const result = long.length > 0 ? { success: false as const, error: new z.ZodError(long) } : schema.safeParse(settled);
  if (result.success) return result.data as z.output<S>;
  throw wrongFields(result.error, { ...naming, sentAs, names: Object.keys(schema.shape as object) });
}

/** The fields under their names in this interface, and by name the alias under which a field was sent. */
function renamed(given: unknown, aliases: Aliases) {
  const sentAs = new Map<string, string>();
  if (!isObject(given) || !Object.keys(given).some((name) => aliases.has(name))) return { fields: given, sentAs };
  const fields: Record<string, unknown> = Object.create(null);
  for (const [sent, value] of Object.entries(given)) {
    const name = aliases.get(sent) ?? sent;
    if (name in fields) throw invalidParam(sent, `is given more than once: as ${sentAs.get(name) ?? name}, too`);
    fields[name] = value;
    if (name !== sent) sentAs.set(name, sent);
  }
  return { fields: { ...fields }, sentAs };
}

/**
 * Parameters that select more sites or items when absent, and one that decides whom to trust (REST §6.2.1): null is more
 * likely a mistake, so it does not mean absent.
 */
const NEVER_NULL: ReadonlySet<string> = new Set(['include', 'exclude', 'slug', 'type', 'ssl_verify']);

function withoutNulls(schema: z.AnyZodObject, given: unknown): unknown {
  if (!isObject(given) || !Object.values(given).includes(null)) return given;
  const shape = schema.shape as Record<string, z.ZodTypeAny>;
  const isAbsent = (name: string, value: unknown) => {
    const own = value === null && Object.hasOwn(shape, name) && !NEVER_NULL.has(name) ? shape[name] : undefined;
    return own?.isOptional() === true && !own.isNullable();
  };
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => !isAbsent(name, value)));
}

/** Refuses repeated parameters, except lists, which may be sent in parts: a repeated single value is ambiguous. */
function refuseRepeated(route: Route, repeated: readonly Repeated[]): void {
  const shape = route.params().shape as Record<string, z.ZodTypeAny>;
  const isList = (name: string) => {
    const own = route.naming().aliases.get(name) ?? name;
    return Object.hasOwn(shape, own) && takesList(shape[own]);
  };
  const reasons = repeated
    .filter(({ name, mergeable }) => !mergeable || !isList(name))
    .map(({ name }) => [name, 'is given more than once'] as const);
  if (reasons.length > 0) throw invalidParams(Object.fromEntries(reasons));
}

function takesList(schema: z.ZodTypeAny | undefined): boolean {
  if (schema instanceof z.ZodArray) return true;
  if (schema instanceof z.ZodEffects) return takesList(schema.innerType());
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return takesList(schema.unwrap());
  if (schema instanceof z.ZodDefault) return takesList(schema.removeDefault());
  return schema instanceof z.ZodPipeline && takesList(definitionOf(schema).in as z.ZodTypeAny);
}

interface Sent extends Naming {
  /** Names that the schema has. */
  names: readonly string[];
  /** The alias under which a parameter was sent, by name. */
  sentAs?: ReadonlyMap<string, string>;
}

function wrongFields(error: z.ZodError, sent: Sent): ServiceError {
  const issues = error.issues.flatMap(unfold).map((issue) => asSent(issue, sent));
  const missing = issues.filter((issue) => issue.code === 'invalid_type' && issue.received === 'undefined');
  // A misspelled name is reported first: it may be the missing one.
  const misspelled = issues.some(({ code, path }) => code === 'unrecognized_keys' && path.length === 0);
  if (missing.length > 0 && !misspelled) return missingParams([...new Set(missing.map(({ path: at }) => nameOf(at)))]);
  const found = issues.flatMap((issue) => explain(issue, sent));
  // All invalid parameters of the row are reported: they are few. Others depend on the caller, so they are limited.
  const others = found.filter(({ own }) => !own);
  const own = found.filter((finding) => finding.own);
  const some = others.slice(0, MAX_ISSUES);
  const reported = misspelled ? [...some, ...own] : [...own, ...some];
  const reasons: Record<string, string> = Object.create(null);
  for (const { name, reason } of reported) reasons[name] ??= reason;
  return invalidParams(reasons, sent.inner, found.length - reported.length);
}

function asSent(issue: z.ZodIssue, { sentAs }: Sent): z.ZodIssue {
  const [head, ...rest] = issue.path;
  const spelled = typeof head === 'string' ? sentAs?.get(head) : undefined;
  return spelled === undefined ? issue : { ...issue, path: [spelled, ...rest] };
}

function emptyBody(): ServiceError {
  return new ServiceError('empty_body', 'The call has no body, so there is nothing to do.', {
    advice: 'Send a JSON object with at least one parameter and the header "Content-Type: application/json".',
  });
}

/** Replaces a union's issue with those of the branch that matched deepest, if one got further than the union itself. */
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
  /** About a parameter of the row itself, not about a member of one or an unknown name. */
  own: boolean;
}

function explain(issue: z.ZodIssue, { names, aliases }: Sent): Finding[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      name: nameOf([...issue.path, key]),
      reason: issue.path.length === 0 ? unknownName(key, names, aliases) : 'is not a member of this parameter',
      own: false,
    }));
  }
  return [{ name: nameOf(issue.path), reason: reasonOf(issue), own: issue.path.length <= 1 }];
}

function nameOf(path: readonly (string | number)[]): string {
  const name = fieldName(path);
  return name === '' ? 'body' : shortened(name);
}

/** Follows the parameter's name in a sentence. Values are never echoed: a parameter may be a password. */
function reasonOf(issue: z.ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.received === 'undefined') return 'is missing';
      if (isOwnReason(issue.message)) return issue.message;
      return `must be ${WORDS[issue.expected] ?? issue.expected}, not ${WORDS[issue.received] ?? issue.received}`;
    case 'invalid_enum_value':
      return `must be one of ${issue.options.join(', ')}`;
    case 'invalid_literal':
      return `must be ${JSON.stringify(issue.expected)}`;
    case 'invalid_union':
      return isOwnReason(issue.message) ? issue.message : unionReason(issue);
    case 'too_small':
    case 'too_big':
      return sizeText(issue);
    default:
      return issue.message === '' ? 'is not valid' : issue.message;
  }
}

/** Names every form that a union accepts: `must be 0, 1 or null`. */
function unionReason({ unionErrors, path }: z.ZodInvalidUnionIssue): string {
  const branches = unionErrors.map(({ issues }) => issues.find((issue) => issue.path.length === path.length));
  const forms = branches.map((issue) => (issue === undefined ? '' : formOf(reasonOf(issue))));
  if (forms.includes('')) return 'has none of the accepted forms';
  const [last, ...others] = [...new Set(forms)].reverse();
  return others.length === 0 ? `must be ${last}` : `must be ${others.reverse().join(', ')} or ${last}`;
}

/** `must be a number, not text` → `a number`; '' for another kind of reason. */
function formOf(reason: string): string {
  return /^must be (?:one of )?(.*?)(?:, not .*)?$/.exec(reason)?.[1] ?? '';
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
