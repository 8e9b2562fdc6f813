/** Cleans text of servers and registries, which is untrusted: one line, without invisible characters, bounded. */

import { plainText } from '../../../schemas/text.js';

/** One line of at most `max` characters; '' for anything that is not text. */
export const line = plainText;

export function lineOrNull(value: unknown, max: number): string | null {
  const text = line(value, max);
  return text === '' ? null : text;
}

/** An http(s) URL that may be shown and linked, or null. */
export function webAddress(value: unknown): string | null {
  const text = line(value, 500);
  const candidate = /^https?:\/\//i.test(text)
    ? text
    : /^[\w-]+(\.[\w-]+)+(\/\S*)?$/.test(text)
      ? `http://${text}`
      : '';
  try {
    const url = new URL(candidate);
    return url.username === '' && url.password === '' ? url.href : null;
  } catch {
    return null;
  }
}
