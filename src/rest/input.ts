/** What a request carries: path over body over query, as one object (REST §3.5). */

import { ServiceError } from '../errors.js';

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
  const asked = formFields(query);
  if (body === '' || body.trim() === '') return { fields: asked, given: [] };
  const fromBody = bodyFields(body, contentType);
  return { fields: { ...asked, ...fromBody }, given: Object.keys(fromBody) };
}

function bodyFields(body: string, contentType: string | undefined): Record<string, unknown> {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/x-www-form-urlencoded') return formFields(new URLSearchParams(body));
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
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new ServiceError('rest_invalid_json', 'The body is not valid JSON.', {
      advice: 'Send one JSON object in UTF-8.',
    });
  }
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

/** What most names are: nothing nested in them. */
const PLAIN_FIELD = /^[^[\]]+$/;
/** Deepest nesting of a form field; deeper ones are no field of ours. */
const FORM_FIELD = /^([^[\]]+)((?:\[[^[\]]*\]){0,3})$/;

/** `a=1`, `list[]=1&list[]=2`, `list[0]=1`, `map[key]=v`. A name given twice keeps its last value. */
export function formFields(form: URLSearchParams): Record<string, unknown> {
  if (form.size === 0) return {};
  const fields: Container = new Map();
  for (const [name, value] of form) {
    if (PLAIN_FIELD.test(name)) {
      fields.set(name, value);
      continue;
    }
    const match = FORM_FIELD.exec(name);
    if (match?.[1] === undefined) continue;
    const inner = [...(match[2] ?? '').matchAll(/\[([^[\]]*)\]/g)].map(([, key]) => key ?? '');
    put(fields, [match[1], ...inner], value);
  }
  return plainObject(fields);
}

/** Maps while filling: a field may be called anything, `__proto__` too. */
type Container = Map<string, unknown>;

function put(into: Container, [head = '', ...rest]: readonly string[], value: string): void {
  const key = head === '' ? nextIndex(into) : head;
  if (rest.length === 0) {
    into.set(key, value);
    return;
  }
  const known = into.get(key);
  const next: Container = known instanceof Map ? known : new Map();
  into.set(key, next);
  put(next, rest, value);
}

function nextIndex(container: Container): string {
  let next = container.size;
  while (container.has(String(next))) next += 1;
  return String(next);
}

function settled(value: unknown): unknown {
  if (!(value instanceof Map)) return value;
  const keys = [...value.keys()];
  const isList = keys.length > 0 && keys.every((key) => /^\d{1,6}$/.test(String(key)));
  if (!isList) return plainObject(value);
  return keys.sort((a, b) => Number(a) - Number(b)).map((key) => settled(value.get(key)));
}

function plainObject(container: Container): Record<string, unknown> {
  return Object.fromEntries([...container].map(([key, value]) => [key, settled(value)]));
}
