/** Decodes internationalized domains in texts for people: `bücher.example` for `xn--bcher-kva.example`. */

import { domainToUnicode } from 'node:url';

const HOST = /(?<![\w.-])(?:[a-z0-9-]+\.)*xn--[a-z0-9-]+(?:\.[a-z0-9-]+)*/gi;

/**
 * The text with every such domain in its own script. For display only: data, files and URLs keep the encoded form. Text
 * that only resembles such a domain is unchanged.
 */
export function withRealDomains(text: string): string {
  return /xn--/i.test(text) ? text.replace(HOST, (host) => domainToUnicode(host) || host) : text;
}
