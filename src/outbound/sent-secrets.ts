/**
 * Keeps the secrets that a site was just sent out of what it says: its words are quoted in answers and mails, and stored
 * as they are. Names, posts and other data of a site are left as they are: a password is often a word that occurs there.
 */

import { harmless } from '../../schemas/site-text.js';
import { type HttpLogin, loginToken } from './http-login.js';

/** Shorter ones occur in any text: taken out, they would ruin it and be known by their gaps. */
const SHORTEST = 4;
/** Read of a text: more than is ever quoted. */
const MOST = 8_000;
const HIDDEN = '(hidden)';
/** Words of the protocol, which decide what a failure means, whatever a password is. */
const PROTOCOL =
  /^(?:(?:PARSE|REG)_ERROR\d{1,2}|reconnect_failed|child_plugin_incompatible|SUCCESS|WPERROR|NORESPONSE|LOCALIZATION)$/;

/**
 * A function that hides secrets in a text of the site at `address`, also where they are encoded or as our cleaning of texts
 * leaves them. What is part of the address is none.
 */
export function hiding(
  address: string,
  login: HttpLogin,
  others: readonly (string | undefined)[] = [],
): (text: string) => string {
  const shown = address.toLowerCase();
  const token = loginToken(login);
  const sent = [...others, ...(token === null ? [] : [login.http_pass ?? '', token, token.replace(/=+$/, '')])];
  const forms = sent
    .filter((secret) => secret !== undefined && secret.length >= SHORTEST && !shown.includes(secret.toLowerCase()))
    .flatMap((secret = '') => [secret, secret.replace(/\\(.)/g, '$1')])
    .flatMap((secret) => [
      secret,
      harmless(secret, secret.length),
      secret.replace(/['"\\]/g, '\\$&'),
      JSON.stringify(secret).slice(1, -1),
      secret.replace(/ /g, '+'),
    ])
    .filter((form) => form.length >= SHORTEST);
  if (forms.length === 0) return (text) => text;
  // The longest first: one may begin another.
  const longest = [...new Set(forms)].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longest.map((form) => form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|'), 'gi');
  return (text) => {
    if (PROTOCOL.test(text)) return text;
    let left = text.slice(0, MOST);
    for (const read of READINGS) {
      const bare = read(left);
      const clean = bare.replace(pattern, HIDDEN);
      if (clean !== bare) left = clean;
    }
    // At the cut there may be the beginning of one.
    return text.length > MOST ? left.slice(0, -(longest[0]?.length ?? 0)) : left;
  };
}

/** How a text is read before it is shown, or may be by who sees it. */
const READINGS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replace(/(?:%[0-9a-f]{2})+/gi, percentDecoded),
  (text) => harmless(text, text.length),
];

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
