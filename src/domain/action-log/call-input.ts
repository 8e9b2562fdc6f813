/** What a call asked for, as the action log keeps it: without secrets, and within bounds. */

import { cut } from '../../../schemas/text.js';

/** Characters of the JSON, and of one text in it. */
const MOST = 8_000;
const MOST_TEXT = 1_000;
const MOST_ITEMS = 500;
const MOST_DEPTH = 8;
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
  const secret = SECRET_ADDRESSES.test(operation);
  const hide = (text: string) => {
    // Addresses have more spellings than these patterns know: `https:host\\path`.
    const address = webAddress(text);
    if (address !== null && secret) return `${address.origin}/${REDACTED}`;
    if (address !== null && (address.username !== '' || address.password !== ''))
      return `${address.protocol}//${REDACTED}@${address.host}${address.pathname}${address.search}`;
    const bare = text.replace(LOGINS, `//${REDACTED}@`);
    return secret ? bare.replace(PATH, `$1/${REDACTED}`) : bare;
  };
  const text = JSON.stringify(shown(input, hide, 0)) ?? '';
  // What is cut stays JSON.
  return text.length <= MOST ? text : JSON.stringify({ characters: text.length, begins: cut(text, MOST) });
}

function webAddress(text: string): URL | null {
  const address = URL.canParse(text) ? new URL(text) : null;
  return address !== null && /^https?:$/.test(address.protocol) ? address : null;
}

function shown(value: unknown, hide: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return cut(hide(value), MOST_TEXT);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MOST_DEPTH) return '…';
  if (Array.isArray(value)) {
    const items = value.slice(0, MOST_ITEMS).map((item) => shown(item, hide, depth + 1));
    return value.length > MOST_ITEMS ? [...items, `… and ${value.length - MOST_ITEMS} more`] : items;
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members.map(([name, member]) => [
      cut(name, MOST_TEXT),
      isSecret(name, member) ? REDACTED : shown(member, hide, depth + 1),
    ]),
  );
}

/** A number, a yes or a no under such a name is none: `key_id`, `has_password`. */
function isSecret(name: string, value: unknown): boolean {
  return SECRET.test(name) && !['number', 'boolean'].includes(typeof value) && value !== null && value !== '';
}
