/** Keeps web pages away from a server on the user's own machine (DNS rebinding). */

export interface OriginRules {
  /** The address we listen on. */
  host: string;
  /** Public base URL, or null. */
  base_url: string | null;
}

const LOOPBACK = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

/** Whether a host name, without port, means the machine itself. */
export function isLoopbackName(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/**
 * What is wrong with the Host or Origin of a request; undefined when nothing is.
 * Bound to loopback, only loopback names and the public host are answered: a page that rebinds its own name to 127.0.0.1
 * still sends its own name. Elsewhere any host is answered, but an Origin must be the host itself.
 */
export function originProblem(
  rules: OriginRules,
  host: string | undefined,
  origin: string | undefined,
): 'host' | 'origin' | undefined {
  const asked = nameOf(`http://${host ?? ''}`);
  const publicHost = rules.base_url === null ? undefined : nameOf(rules.base_url);
  const bound = nameOf(`http://${rules.host.includes(':') ? `[${rules.host}]` : rules.host}`);
  const isOurs = (name: string | undefined) => name !== undefined && (isLoopbackName(name) || name === publicHost);
  if (asked === undefined) return 'host';
  if (bound !== undefined && isLoopbackName(bound) && !isOurs(asked)) return 'host';
  if (origin === undefined) return undefined;
  const from = nameOf(origin);
  if (from !== undefined && (from === asked || from === publicHost || (isOurs(asked) && isLoopbackName(from)))) {
    return undefined;
  }
  return 'origin';
}

function nameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase() || undefined : undefined;
}
