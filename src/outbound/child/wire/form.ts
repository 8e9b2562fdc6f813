import type { ChildParams } from '../port.js';

type Value = ChildParams[string];

/** RFC 3986 percent-encoding: everything but `A-Z a-z 0-9 - _ . ~`. Half of a surrogate pair becomes U+FFFD. */
function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * The `userpwd` form value: the child percent-decodes it once more after form decoding, so the password is encoded here
 * and again by `encodeForm` (child protocol §3.2).
 */
export function passwordValue(password: string): string {
  return percentEncode(password);
}

/**
 * `application/x-www-form-urlencoded` body in the given order; nested values in PHP brackets, list members with their
 * index, booleans as 1 and 0. Empty lists and maps send nothing, as in PHP.
 */
export function encodeForm(params: ChildParams): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(params)) append(pairs, name, value);
  return pairs.join('&');
}

function append(pairs: string[], name: string, value: Value): void {
  if (typeof value === 'object') {
    for (const [key, member] of Object.entries(value as Readonly<Record<string, Value>>)) {
      append(pairs, `${name}[${key}]`, member);
    }
    return;
  }
  const text = typeof value === 'boolean' ? (value ? '1' : '0') : String(value);
  pairs.push(`${percentEncode(name)}=${percentEncode(text)}`);
}
