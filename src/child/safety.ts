import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ChildFailure } from './child.js';

/** Public by number, but the inside of a cloud: Azure's host agent. The other metadata addresses lie in blocked ranges. */
const BLOCKED_PUBLIC = new Set(['168.63.129.16']);

/**
 * True for an address on the open internet: not loopback, private, link-local, unique-local, shared (CGNAT),
 * multicast, unspecified, reserved or metadata. IPv6 forms that carry an IPv4 address are judged by it where they are
 * in real use (mapped, NAT64), and refused where they are not (6to4, Teredo, IPv4-compatible). Unreadable = false.
 */
export function isPublicAddress(address: string): boolean {
  const bare = address.replace(/%.*$/, '');
  if (isIP(bare) === 0) return false;
  const parsed = ipaddr.parse(bare);
  if (parsed instanceof ipaddr.IPv4) return isPublicV4(parsed);
  const v6 = parsed as ipaddr.IPv6;
  const bytes = v6.toByteArray();
  const embedded = new ipaddr.IPv4(bytes.slice(12));
  if (v6.isIPv4MappedAddress()) return isPublicV4(embedded);
  if (v6.match(ipaddr.IPv6.parse('64:ff9b::'), 96)) return isPublicV4(embedded);
  // IPv4-compatible, deprecated; ::1 and :: are in it too.
  if (bytes.slice(0, 12).every((byte) => byte === 0)) return false;
  // ISATAP: the interface part is 0:5efe or 200:5efe and an IPv4 address.
  if ((bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe) return false;
  return v6.range() === 'unicast';
}

function isPublicV4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !BLOCKED_PUBLIC.has(address.toString());
}

/** The failure for a host whose address we do not call. Names the host the caller gave, not what it resolved to. */
export function blockedAddress(host: string): ChildFailure {
  return new ChildFailure(
    'blocked_address',
    `${host} is a private or local address, which this service does not call.`,
    {
      advice: 'Use a public address, or set SITEFLEET_ALLOW_PRIVATE_SITES=1 when your sites are on a private network.',
    },
  );
}

/** A site URL reduced to what is called: scheme, host, port and path with a trailing slash. */
export function siteUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw badUrl('The site URL cannot be read.');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw badUrl('The site URL must begin with http:// or https://.');
  // Credentials travel in http_user and http_pass, never in the URL, where logs would show them.
  const path = url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`;
  return new URL(path, url.origin);
}

/** Host of a URL as the resolver and sockets take it: IPv6 without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

function badUrl(message: string): ChildFailure {
  return new ChildFailure('unreachable', message, {
    advice: 'Correct the URL of the site, for example https://example.com/.',
  });
}
