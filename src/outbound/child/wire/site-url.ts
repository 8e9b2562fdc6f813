import { parseUrl } from '../../../../schemas/url.js';
import { ChildFailure } from '../failure.js';

/**
 * The failure for a host whose address may not be contacted. Names the host the caller gave, not what it resolved to.
 */
export function blockedAddress(host: string): ChildFailure {
  return new ChildFailure(
    'blocked_address',
    `${host} is a private or local address, which this service does not call.`,
    {
      advice: 'Use a public address, or set SITEFLEET_ALLOW_PRIVATE_SITES=1 when your sites are on a private network.',
    },
  );
}

/** A site URL reduced to the parts that are used: scheme, host, port and path with a trailing slash. */
export function siteUrl(text: string): URL {
  const url = parseUrl(text);
  if (url === null) throw badUrl('The site URL cannot be read.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw badUrl('The site URL must start with http:// or https://.');
  // Credentials are passed in http_user and http_pass, never in the URL, where logs would show them.
  const path = url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`;
  return new URL(path, url.origin);
}

/** Host of a URL as the resolver and sockets expect it: IPv6 without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

function badUrl(message: string): ChildFailure {
  return new ChildFailure('unreachable', message, {
    advice: "Correct the site's URL, for example https://example.com/.",
  });
}
