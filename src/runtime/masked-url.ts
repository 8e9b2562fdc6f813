/** Addresses for messages and logs: a login, or a token in the query, is not shown. */

/**
 * A text that is, or was meant to be, one or more URLs. Whatever comes before the last `@` may be a password, which may contain
 * anything if it was not encoded.
 */
export function maskedUrl(text: string): string {
  return text
    .replace(/\/\/.*@/s, '//…@')
    .replace(/^[^\s<>/]*:.*@/s, (login) => (login.includes('//…@') ? login : '…@'))
    .replace(/\?.*/s, '?…');
}
