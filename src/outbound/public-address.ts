/** Address rules: which IP addresses this service may contact. Pure; used by all outgoing connections. */

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Publicly numbered, but internal to a cloud: Azure's host agent. Other metadata addresses are in blocked ranges. */
const BLOCKED_PUBLIC = new Set(['168.63.129.16']);

/** Global unicast addresses, 2000::/3. */
const GLOBAL_V6 = ipaddr.IPv6.parse('2000::');

/**
 * True for an address on the public internet: not loopback, private, link-local, unique-local, shared (CGNAT),
 * multicast, unspecified, reserved or metadata. IPv6 forms that embed an IPv4 address are judged by that address where
 * they are in use (mapped, NAT64), and refused where they are not (6to4, Teredo, IPv4-compatible). Unparsable = false.
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
  // IPv4-compatible, deprecated; includes ::1 and ::.
  if (bytes.slice(0, 12).every((byte) => byte === 0)) return false;
  // ISATAP: the interface identifier is 0:5efe or 200:5efe followed by an IPv4 address.
  if ((bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe) return false;
  // Nothing outside of this range is assigned to the internet, but overlay networks use some of it.
  return v6.match(GLOBAL_V6, 3) && v6.range() === 'unicast';
}

function isPublicV4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !BLOCKED_PUBLIC.has(address.toString());
}

/** Which non-public addresses may be contacted: none, loopback only (the demo), those of a list, or all. */
export type PrivateReach = boolean | 'loopback' | readonly string[];

/** Whether a resolved address may be contacted. */
export function mayReach(address: string, allowPrivate: PrivateReach): boolean {
  if (allowPrivate === true || isPublicAddress(address)) return true;
  if (Array.isArray(allowPrivate)) return allowPrivate.includes(address);
  return allowPrivate === 'loopback' && isLoopback(address);
}

function isLoopback(address: string): boolean {
  return isIP(address) !== 0 && ipaddr.process(address).range() === 'loopback';
}
