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
  /** A text of this member of the input, or of a list in it, without what is secret in addresses. */
  hide(text: string, member: string, secretAddresses: boolean): string;
  /** What is kept of a member whose own members the caller has named; undefined if it is like any other. */
  chosen(member: string, value: unknown): unknown;
}

/** Members of inputs that are records: the caller chooses the names in them, so these say nothing about the values. */
const CHOSEN_NAMES: ReadonlySet<string> = new Set(['post_custom', 'values', 'payment_methods']);
/** Members of inputs that are declared to be addresses, or to name sites, which can be done by their addresses. */
const ADDRESSES: ReadonlySet<string> = new Set([
  ...['url', 'src', 'post_featured_image'],
  ...['site', 'id_or_domain', 'site_id_or_domain', 'site_ids_or_domains', 'canary_sites', 'exclude_sites'],
  ...['delete', 'sync', 'reconnect', 'disconnect', 'suspend', 'unsuspend', 'check'],
]);

/** Others read the log, and it is kept: what looks like a secret is left out of any text. */
const LOGGED: Bounds = {
  text: 1_000,
  items: 500,
  depth: 8,
  hide(text, _member, secretAddresses) {
    const address = secretAddresses ? webAddress(text) : null;
    if (address !== null) return `${address.origin}/${REDACTED}`;
    const bare = withoutLogin(text);
    return secretAddresses ? bare.replace(PATH, `$1/${REDACTED}`) : bare;
  },
  // Plugins keep what they like in custom fields, under names that do not tell: also keys.
  chosen: (member, value) => (member === 'post_custom' ? namesOnly(value) : undefined),
};
/**
 * To approve a call, a person is shown everything in a text that is not declared to be an address, and in a record: a
 * caller could write what it wants to hide so that it looks like a login, or under a name that looks like that of a secret.
 */
const WHOLE: Bounds = {
  text: Infinity,
  items: Infinity,
  depth: Infinity,
  hide(text, member, secretAddresses) {
    const address = ADDRESSES.has(member) ? webAddress(text) : null;
    if (address === null) return text;
    if (!secretAddresses) return addressWithoutLogin(text, redactedLength);
    const rest = address.href.length - address.origin.length - 1;
    return `${address.origin}/${redactedLength(rest)}`;
  },
  chosen: (member, value) => (CHOSEN_NAMES.has(member) ? value : undefined),
};
/** Names of members whose values are secrets, or hold them. */
const SECRET =
  /pass|http_?user|secret|token|cookie|credential|authorization|regverify|private|unique_?id|(^|_)(api)?_?keys?$|^key_|webhook/i;
const REDACTED = '[redacted]';
/** In a text that goes on: how much of it is not shown. */
const redactedLength = (characters: number) => `[redacted: ${characters} characters]`;
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
  const hide = (text: string, member: string) => bounds.hide(text, member, secret);
  return JSON.stringify(shown(input, { hide, bounds, member: '', depth: 0 })) ?? '';
}

/** A text without the logins of addresses in it. */
export function withoutLogin(text: string): string {
  return addressWithoutLogin(text, () => REDACTED).replace(LOGINS, `//${REDACTED}@`);
}

/** Addresses have more spellings than `LOGIN`: `https:host\\path`. */
const ANY_LOGIN = /^([^:]*:[/\\\s]*)([^/\\?#]*)@/;

/** An address without its login, and any other text as it is. @param inPlace of a login of so many characters */
function addressWithoutLogin(text: string, inPlace: (characters: number) => string): string {
  const address = webAddress(text);
  if (address === null || (address.username === '' && address.password === '')) return text;
  return text.replace(ANY_LOGIN, (_all, before: string, login: string) => `${before}${inPlace(login.length)}@`);
}

function webAddress(text: string): URL | null {
  const address = URL.canParse(text) ? new URL(text) : null;
  return address !== null && /^https?:$/.test(address.protocol) ? address : null;
}

interface Place {
  hide(text: string, member: string): string;
  bounds: Bounds;
  /** The member it is the value of, or in the list of; '' = none that the schema names. */
  member: string;
  depth: number;
  /** Inside a record: names are the caller's. */
  chosen?: boolean;
}

function shown(value: unknown, place: Place): unknown {
  const { hide, bounds, member: of, depth, chosen = false } = place;
  if (typeof value === 'string') return cut(hide(value, of), bounds.text);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === bounds.depth) return '…';
  const inside = { ...place, depth: depth + 1 };
  if (Array.isArray(value)) {
    const items = value.slice(0, bounds.items).map((item) => shown(item, inside));
    return value.length > bounds.items ? [...items, `… and ${value.length - bounds.items} more`] : items;
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members.map(([name, member]) => {
      const key = cut(name, bounds.text);
      if (chosen) return [key, shown(member, inside)];
      const record = bounds.chosen(name, member);
      if (record !== undefined) return [key, shown(record, { ...inside, member: '', chosen: true })];
      return [key, isSecret(name, member) ? REDACTED : shown(member, { ...inside, member: name })];
    }),
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
