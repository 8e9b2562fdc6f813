/** E-mail addresses as callers write them, with domains in any script. */

import { once } from '../src/runtime/once.js';
import { parseUrl } from './url.js';
import { z } from './zod.js';

const ASCII = once(() => z.string().email());

/** The address with its domain encoded (`bücher.example` is `xn--bcher-kva.example`); null if that is not a domain. */
function wireForm(address: string): string | null {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1);
  // Characters that would end the host of a URL are not part of a domain.
  if (at < 1 || domain === '' || /[/\\?#:@%[\]\s]/.test(domain)) return null;
  const host = parseUrl(`http://${domain}`)?.hostname;
  return host === undefined ? null : `${address.slice(0, at)}@${host}`;
}

/** Whether a text is an e-mail address. Its domain may be internationalized. */
export function isEmail(text: string): boolean {
  if (ASCII().safeParse(text).success) return true;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
  const wire = /^[\x00-\x7f]*$/.test(text) ? null : wireForm(text);
  return wire !== null && ASCII().safeParse(wire).success;
}

/** Recipients of the outage mails of one site: most addresses, and most characters of each. */
export const SITE_EMAILS = { most: 20, length: 191 };

/** An e-mail address of at most `max` characters; `rule` is the error message. */
export function email(max: number, rule: string) {
  return z.string().trim().max(max).refine(isEmail, rule);
}
