/** Parses URLs. */

const ASCII = /^\p{ASCII}*$/u;

/**
 * The URL, or null if it is invalid. Not `URL.canParse` alone: on Node 20 it returns false for every text with letters
 * such as ü once it has been called often enough to be optimized.
 */
export function parseUrl(text: string, base?: string): URL | null {
  // An error takes ten times longer to create than a URL, and a call may contain 5,000 of them.
  if (ASCII.test(text)) return URL.canParse(text, base) ? new URL(text, base) : null;
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/** Whether an address contains a user name or a password: it would be shown with it. */
export function hasLogin(url: string): boolean {
  const { username, password } = parseUrl(url) ?? { username: '', password: '' };
  return username !== '' || password !== '';
}
