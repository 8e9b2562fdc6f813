/** Reads the input of a request from query and body as one object (REST §3.5). */

import { ServiceError } from '../../runtime/errors.js';
import { readJson } from '../../runtime/json.js';
import { FieldCollection, keysOf, MAX_NESTING, MAX_PAIRS } from '../http/query-fields.js';

export interface RawInput {
  query: URLSearchParams;
  /** Text of the body; '' for reads. */
  body: string;
  contentType: string | undefined;
}

/** A name that occurs more than once in a query or form. */
export interface Repeated {
  name: string;
  /** Its values are in `fields` as one comma-separated list. */
  mergeable: boolean;
}

export interface Input {
  /** Query and body merged; the body wins. */
  fields: Record<string, unknown>;
  repeated: readonly Repeated[];
}

/**
 * Parameters that WordPress clients add to any URL and no row declares: `_fields` is applied to the answer; `_locale`
 * and the cache-busting `_` have no effect.
 */
const FOREIGN: ReadonlySet<string> = new Set(['_fields', '_locale', '_']);

/** Throws `rest_invalid_json`, `invalid_content_type`, or `rest_invalid_param` naming `body`. */
export function readInput({ query, body, contentType }: RawInput): Input {
  const asked = formFields(query, 'query', FOREIGN);
  if (body === '' || body.trim() === '') return asked;
  const sent = bodyFields(body, contentType);
  return { fields: { ...asked.fields, ...sent.fields }, repeated: [...asked.repeated, ...sent.repeated] };
}

function bodyFields(body: string, contentType: string | undefined): Input {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/x-www-form-urlencoded') return formFields(new URLSearchParams(body), 'body', NONE);
  if (!/^application\/([a-z0-9.+-]+\+)?json$/.test(type)) {
    throw new ServiceError(
      'invalid_content_type',
      type === '' ? 'The body has no Content-Type.' : 'The body is not sent as JSON.',
      { advice: 'Send the header "Content-Type: application/json" and a JSON object.' },
    );
  }
  return { fields: jsonObject(body), repeated: [] };
}

const NONE: ReadonlySet<string> = new Set();

function jsonObject(body: string): Record<string, unknown> {
  const json = readJson(body);
  if (json.problem !== undefined) {
    throw new ServiceError('rest_invalid_json', `The body ${json.problem}.`, {
      advice: 'Send one JSON object in UTF-8.',
    });
  }
  const { value } = json;
  // Not even an empty list passes for an object: it may be a list of sites that came out empty, and a call without
  // parameters can mean every site.
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ServiceError('rest_invalid_param', 'The body is JSON, but not an object.', {
      field: 'body',
      advice: 'Send one JSON object, for example {"name": "Example"}.',
      data: { params: { body: 'must be a JSON object' } },
    });
  }
  return value as Record<string, unknown>;
}

const EMPTY: Input = { fields: {}, repeated: [] };

/**
 * Parses `a=1`, `list[]=1&list[]=2`, `list[0]=1`, `map[key]=v`. Values of a repeated name are joined with commas; the
 * row decides whether the name may be a list. Throws `rest_invalid_param`.
 */
function formFields(form: URLSearchParams, where: 'query' | 'body', skipped: ReadonlySet<string>): Input {
  if (form.size === 0) return EMPTY;
  if (form.size > MAX_PAIRS) {
    throw tooMuch(where, `must contain at most ${MAX_PAIRS} fields`, 'Send a long list as one field: include=1,2,3.');
  }
  const fields = new FieldCollection();
  const repeated = new Map<string, boolean>();
  for (const [name, value] of form) {
    if (skipped.has(name)) continue;
    // A malformed name is kept as it is: no row has it, so it is refused as unknown.
    const keys = keysOf(name) ?? [name];
    if (keys.length > MAX_NESTING + 1) {
      throw tooMuch(
        where,
        `must contain no field nested deeper than ${MAX_NESTING} levels`,
        'Nest fields less deeply.',
      );
    }
    const before = keys.length === 1 ? fields.get(name) : undefined;
    if (typeof before === 'string') {
      fields.set(name, `${before},${value}`);
      if (!repeated.has(name)) repeated.set(name, true);
    } else if (!put(fields, keys, value)) {
      repeated.set(keys[0] ?? name, false);
    }
  }
  return {
    fields: plainObject(fields),
    repeated: [...repeated].map(([name, mergeable]) => ({ name, mergeable })),
  };
}

function tooMuch(field: string, reason: string, advice: string): ServiceError {
  return new ServiceError('rest_invalid_param', `The ${field} ${reason}.`, {
    field,
    advice,
    data: { params: { [field]: reason } },
  });
}

/** Stores a value under its keys; false when the place is already taken. */
function put(into: FieldCollection, [head = '', ...rest]: readonly string[], value: string): boolean {
  const key = into.keyOf(head);
  const known = into.get(key);
  if (rest.length === 0) {
    if (known !== undefined) return false;
    into.set(key, value);
    return true;
  }
  if (known !== undefined && !(known instanceof FieldCollection)) return false;
  const next = known ?? new FieldCollection();
  into.set(key, next);
  return put(next, rest, value);
}

function settled(value: unknown): unknown {
  if (!(value instanceof FieldCollection)) return value;
  return value.isList ? value.inOrder().map(settled) : plainObject(value);
}

function plainObject(members: FieldCollection): Record<string, unknown> {
  return Object.fromEntries([...members.entries()].map(([key, value]) => [key, settled(value)]));
}
