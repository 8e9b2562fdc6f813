/** Reading addresses. */

const ASCII = /^\p{ASCII}*$/u;

/**
 * The address, or null when it is none. Not `URL.canParse` alone: on Node 20 it answers false for every text with letters such as
 * ü once it has been called often enough to be optimised.
 */
export function parseUrl(text: string, base?: string): URL | null {
  // An error takes ten times longer to make than a URL, and a call may hold 5,000 of them.
  if (ASCII.test(text)) return URL.canParse(text, base) ? new URL(text, base) : null;
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
