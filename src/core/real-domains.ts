/** Internationalised domains in texts that people read: by their real name, `bücher.example` for `xn--bcher-kva.example`. */

import { domainToUnicode } from 'node:url';

const HOST = /(?<![\w.-])(?:[a-z0-9-]+\.)*xn--[a-z0-9-]+(?:\.[a-z0-9-]+)*/gi;

/**
 * The text with every such domain in its own script. For people only: data, files and addresses to follow keep the form of the wire.
 * What only looks like one stays as it is.
 */
export function withRealDomains(text: string): string {
  return /xn--/i.test(text) ? text.replace(HOST, (host) => domainToUnicode(host) || host) : text;
}
