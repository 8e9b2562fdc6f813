/**
 * Parses input in a query string: `input[page]=2&input[types][]=core`, as WordPress clients write it (operations §1.3).
 * Values stay text; the operation's schema coerces them.
 */

import type { JsonSchema } from '../../operation/contract.js';
import { invalidInput, type ServiceError } from '../../runtime/errors.js';
import { readJson } from '../../runtime/json.js';
import { FieldCollection, MAX_PAIRS } from '../http/query-fields.js';

type Fields = Map<string, unknown>;

/** Names of input fields: `input`, `input[a]`, `input[a][]`, `input[a][3]`, and anything that starts the same way. */
const INPUT = /^input(?:$|\[)/;

/** Parameters that WordPress' own clients add to any request, besides those whose names begin with `_`. */
const OF_WORDPRESS = new Set(['context', 'rest_route']);

/**
 * Refuses parameters outside of input: `?site_ids_or_domains=3` or `?inputs[page]=2` would otherwise run without input,
 * which means "all sites" to many operations.
 * @param form advice on how to send the input instead, given the name of a field
 * @throws ServiceError `ability_invalid_input`
 */
export function refuseStrayParameters(query: URLSearchParams, form: (field: string) => string): void {
  for (const name of query.keys()) {
    if (INPUT.test(name) || name.startsWith('_') || OF_WORDPRESS.has(name)) continue;
    const field = /^[^[\]]*/.exec(name)?.[0].slice(0, 80) ?? '';
    throw invalidInput(field, `${field} is outside input, so it would be ignored.`, form(field));
  }
}

/** Whether a query string carries input. */
export function hasQueryInput(query: URLSearchParams): boolean {
  for (const [name, value] of query) if (INPUT.test(name) && value !== '') return true;
  return false;
}

/**
 * The input of a GET or DELETE run; `{}` when there is none.
 * @param schema the operation's input schema: comma lists are split only for fields that are lists
 * @throws ServiceError `ability_invalid_input` with the invalid field
 */
export function queryInput(query: URLSearchParams, schema: JsonSchema): Record<string, unknown> {
  if (query.size > MAX_PAIRS) {
    throw invalidInput(
      'input',
      `The URL has more than ${MAX_PAIRS} fields.`,
      'Send the input as one field: input={…} as JSON.',
    );
  }
  const fields: Fields = new Map();
  let whole: Record<string, unknown> | undefined;
  for (const [name, value] of query) {
    if (!INPUT.test(name)) continue;
    if (name === 'input') {
      if (whole !== undefined) throw twice('input');
      whole = wholeInput(value);
    } else {
      setField(fields, name, value);
    }
  }
  if (whole !== undefined && fields.size > 0 && Object.keys(whole).length > 0) {
    throw invalidInput('input', 'input is given both as JSON and field by field.', 'Use one of the two forms.');
  }
  if (fields.size === 0) return whole ?? {};
  return withLists(fields, schema);
}

/** `input=`, `input={"page":2}`; an empty list counts as an empty object, as in a body. */
function wholeInput(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  const json = readJson(text);
  if (json.problem !== undefined) {
    throw invalidInput(
      'input',
      `input ${json.problem}.`,
      'Send fields as input[name]=value, or input={"name":"value"}.',
    );
  }
  const { value } = json;
  if (value === null || (Array.isArray(value) && value.length === 0)) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalidInput(
    'input',
    'input is not a JSON object.',
    'Send fields as input[name]=value, or input={"name":"value"}.',
  );
}

function setField(fields: Fields, name: string, value: string): void {
  const match = /^input\[([^[\]]+)\](?:\[([^[\]]*)\])?$/.exec(name);
  const field = match?.[1];
  if (field === undefined) {
    const known = /^input\[([^[\]]+)\]/.exec(name)?.[1] ?? 'input';
    throw invalidInput(
      known,
      `${name.slice(0, 80)} is not a form of input.`,
      'Send input[name]=value, or input[name][]=value for lists.',
    );
  }
  const index = match?.[2];
  if (index === undefined) {
    if (fields.has(field)) throw twice(field);
    fields.set(field, value);
    return;
  }
  const members = fields.get(field) ?? new FieldCollection();
  if (!(members instanceof FieldCollection)) throw twice(field);
  fields.set(field, members);
  addMember(members, field, index, value);
}

function addMember(members: FieldCollection, field: string, index: string, value: string): void {
  if (index !== '' && !/^\d{1,6}$/.test(index)) {
    throw invalidInput(
      field,
      `${field} has nested fields, which a query string cannot express.`,
      'Send a list as input[name][]=value.',
    );
  }
  const key = members.keyOf(index === '' ? '' : String(Number(index)));
  if (members.has(key)) throw twice(`${field}[${key}]`);
  members.set(key, value);
}

/** The object has no prototype, so that a field named `__proto__` is a normal field, which the schema refuses. */
function withLists(fields: Fields, schema: JsonSchema): Record<string, unknown> {
  const input: Record<string, unknown> = Object.create(null);
  for (const [field, value] of fields) {
    if (value instanceof FieldCollection) {
      input[field] = value.inOrder();
    } else if (wantsList(schema, field)) {
      input[field] = String(value)
        .split(/[\s,]+/)
        .filter((member) => member !== '');
    } else {
      input[field] = value;
    }
  }
  return input;
}

function wantsList(schema: JsonSchema, field: string): boolean {
  const properties = schema.properties;
  if (typeof properties !== 'object' || properties === null || !Object.hasOwn(properties, field)) return false;
  return (properties as Record<string, { type?: unknown }>)[field]?.type === 'array';
}

function twice(field: string): ServiceError {
  return invalidInput(field, `${field} is given more than once.`, 'Send it once; a list as input[name][]=value.');
}
