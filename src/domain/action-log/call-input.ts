/** What a call asked for, without secrets: within bounds, as the action log keeps it, or whole, for a person to approve. */

import { cut } from '../../../schemas/text.js';
import { ServiceError } from '../../runtime/errors.js';

/** Characters of the JSON, and of one text in it. */
const MOST = 8_000;
/** Characters that a person is shown of a call to approve. */
const MOST_TO_APPROVE = 100_000;

interface Bounds {
  text: number;
  items: number;
  depth: number;
  /** Members of which only the names are kept. */
  names: ReadonlySet<string>;
  /** Takes the logins out of a text. */
  bare(text: string): string;
}
/** Plugins keep what they like in custom fields, under names that do not tell: also keys. */
const LOGGED: Bounds = { text: 1_000, items: 500, depth: 8, names: new Set(['post_custom']), bare: withoutLogin };
/** In a text that is more than an address a person is shown everything: what would be left out could be a program. */
const WHOLE: Bounds = {
  text: Infinity,
  items: Infinity,
  depth: Infinity,
  names: new Set(),
  bare: (text) => addressWithoutLogin(text),
};
/** Names of members whose values are secrets, or hold them. */
const SECRET =
  /pass|http_?user|secret|token|cookie|credential|authorization|regverify|private|unique_?id|(^|_)(api)?_?keys?$|^key_|webhook/i;
const REDACTED = '[redacted]';
/** A login in an address. */
export const LOGIN = /\/\/[^/\s]*@/;
const LOGINS = new RegExp(LOGIN, 'g');
/** Where the addresses of webhooks and chats are asked for, which are keys to them. */
const SECRET_ADDRESSES = /\/alerts\/recipients/;
const PATH = /(\/\/[^/\s?#]+)[/?#]\S*/g;

/** @param input plain data; undefined members are left out @param operation what was called */
export function callInput(input: unknown, operation: string): string {
  const text = redacted(input, operation, LOGGED);
  // What is cut stays JSON.
  return text.length <= MOST ? text : JSON.stringify({ characters: text.length, begins: cut(text, MOST) });
}

/**
 * Nothing is cut, as what is not shown could be what matters. Throws `svc_rest_request_entity_too_large` for more than a
 * person can be shown.
 */
export function wholeInput(input: unknown, operation: string): string {
  const text = redacted(input, operation, WHOLE);
  if (text.length <= MOST_TO_APPROVE) return text;
  throw new ServiceError(
    'svc_rest_request_entity_too_large',
    `A person has to approve this change, and can be shown ${MOST_TO_APPROVE} characters of it; it has ${text.length}. Nothing changed.`,
    { advice: 'Split it into several calls.', data: { characters: text.length, limit: MOST_TO_APPROVE } },
  );
}

function redacted(input: unknown, operation: string, bounds: Bounds): string {
  const secret = SECRET_ADDRESSES.test(operation);
  const hide = (text: string) => {
    const address = secret ? webAddress(text) : null;
    if (address !== null) return `${address.origin}/${REDACTED}`;
    const bare = bounds.bare(text);
    return secret ? bare.replace(PATH, `$1/${REDACTED}`) : bare;
  };
  return JSON.stringify(shown(input, hide, bounds, 0)) ?? '';
}

/** A text without the logins of addresses in it. */
export function withoutLogin(text: string): string {
  return addressWithoutLogin(text, ANY_LOGIN).replace(LOGINS, `//${REDACTED}@`);
}

/** Addresses have more spellings than `LOGIN`: `https:host\\path`. The second cannot be markup. */
const ANY_LOGIN = /^([^:]*:[/\\\s]*)[^/\\?#]*@/;
const PLAIN_LOGIN = /^([^:]*:[/\\\s]*)(?:[^/\\?#<>"`\s]|[\t\r\n])*@/;

/** An address without its login, and any other text as it is. */
function addressWithoutLogin(text: string, login = PLAIN_LOGIN): string {
  const address = webAddress(text);
  if (address === null || (address.username === '' && address.password === '')) return text;
  return text.replace(login, `$1${REDACTED}@`);
}

function webAddress(text: string): URL | null {
  const address = URL.canParse(text) ? new URL(text) : null;
  return address !== null && /^https?:$/.test(address.protocol) ? address : null;
}

function shown(value: unknown, hide: (text: string) => string, bounds: Bounds, depth: number): unknown {
  if (typeof value === 'string') return cut(hide(value), bounds.text);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === bounds.depth) return '…';
  if (Array.isArray(value)) {
    const items = value.slice(0, bounds.items).map((item) => shown(item, hide, bounds, depth + 1));
    return value.length > bounds.items ? [...items, `… and ${value.length - bounds.items} more`] : items;
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members.map(([name, member]) => [
      cut(name, bounds.text),
      isSecret(name, member)
        ? REDACTED
        : shown(bounds.names.has(name) ? namesOnly(member) : member, hide, bounds, depth + 1),
    ]),
  );
}

function namesOnly(value: unknown): unknown {
  return value === null || typeof value !== 'object'
    ? REDACTED
    : Object.fromEntries(Object.keys(value).map((name) => [name, REDACTED]));
}

/** What ends so is a number, a yes or a no about a secret: `key_id`, `has_password`. */
const ABOUT = /^has_|_ids?$|_(identifier|days|hours|minutes|seconds|ms)$/;
const NUMBER = /^\d{1,15}$/;

function isSecret(name: string, value: unknown): boolean {
  if (value === null || value === '' || typeof value === 'boolean' || !SECRET.test(name)) return false;
  return !(ABOUT.test(name) && NUMBER.test(String(value)));
}
