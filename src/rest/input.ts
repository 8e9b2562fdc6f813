/** What a request carries: path over body over query, as one object (REST §3.5). */

import { ServiceError } from '../core/errors.js';
import { readJson } from '../core/json.js';
import { FieldCollection, keysOf, MAX_NESTING, MAX_PAIRS } from '../http/query-fields.js';

export interface RawInput {
  query: URLSearchParams;
  /** Text of the body; '' for reads. */
  body: string;
  contentType: string | undefined;
}

export interface Input {
  /** Query and body, the body winning. */
  fields: Record<string, unknown>;
  /** Names that the body brought. */
  given: readonly string[];
}

/** Throws `rest_invalid_json`, `invalid_content_type`, or `rest_invalid_param` naming `body`. */
export function readInput({ query, body, contentType }: RawInput): Input {
  const asked = formFields(query, 'query');
  if (body === '' || body.trim() === '') return { fields: asked, given: [] };
  const fromBody = bodyFields(body, contentType);
  return { fields: { ...asked, ...fromBody }, given: Object.keys(fromBody) };
}

function bodyFields(body: string, contentType: string | undefined): Record<string, unknown> {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/x-www-form-urlencoded') return formFields(new URLSearchParams(body), 'body');
  if (!/^application\/([a-z0-9.+-]+\+)?json$/.test(type)) {
    throw new ServiceError(
      'invalid_content_type',
      type === '' ? 'The body has no Content-Type.' : 'The body is not sent as JSON.',
      { advice: 'Send the header "Content-Type: application/json" and a JSON object.' },
    );
  }
  return jsonObject(body);
}

function jsonObject(body: string): Record<string, unknown> {
  const json = readJson(body);
  if (json.problem !== undefined) {
    throw new ServiceError('rest_invalid_json', `The body ${json.problem}.`, {
      advice: 'Send one JSON object in UTF-8.',
    });
  }
  const { value } = json;
  // PHP clients write an empty map as an empty list.
  if (Array.isArray(value) && value.length === 0) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ServiceError('rest_invalid_param', 'The body is JSON, but not an object.', {
      field: 'body',
      advice: 'Send one JSON object, for example {"name": "Example"}.',
      data: { params: { body: 'must be a JSON object' } },
    });
  }
  return value as Record<string, unknown>;
}

/** `a=1`, `list[]=1&list[]=2`, `list[0]=1`, `map[key]=v`. A name given twice keeps its last value. Throws `rest_invalid_param`. */
function formFields(form: URLSearchParams, where: 'query' | 'body'): Record<string, unknown> {
  if (form.size === 0) return {};
  if (form.size > MAX_PAIRS) {
    throw tooMuch(where, `must hold at most ${MAX_PAIRS} fields`, 'Send a long list as one field: include=1,2,3.');
  }
  const fields = new FieldCollection();
  for (const [name, value] of form) {
    const keys = keysOf(name);
    if (keys === undefined) continue;
    if (keys.length > MAX_NESTING + 1) {
      throw tooMuch(where, `must hold no field nested deeper than ${MAX_NESTING} levels`, 'Send fewer brackets.');
    }
    put(fields, keys, value);
  }
  return plainObject(fields);
}

function tooMuch(field: string, reason: string, advice: string): ServiceError {
  return new ServiceError('rest_invalid_param', `The ${field} ${reason}.`, {
    field,
    advice,
    data: { params: { [field]: reason } },
  });
}

function put(into: FieldCollection, [head = '', ...rest]: readonly string[], value: string): void {
  const key = into.keyOf(head);
  if (rest.length === 0) {
    into.set(key, value);
    return;
  }
  const known = into.get(key);
  const next = known instanceof FieldCollection ? known : new FieldCollection();
  into.set(key, next);
  put(next, rest, value);
}

function settled(value: unknown): unknown {
  if (!(value instanceof FieldCollection)) return value;
  return value.isList ? value.inOrder().map(settled) : plainObject(value);
}

function plainObject(members: FieldCollection): Record<string, unknown> {
  return Object.fromEntries([...members.entries()].map(([key, value]) => [key, settled(value)]));
}
