/** The networks that addresses are counted by. */

/** The network that an address is counted for: the address itself, or the /64 that one IPv6 host owns. */
export function networkOf(address: string): string {
  const [plain = ''] = address.toLowerCase().split('%');
  if (!plain.includes(':')) return plain;
  const mapped = /^[0:]*:ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = plain.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => group.replace(/^0+(?=.)/, '')));
  const left = groups(head);
  const right = groups(tail ?? '');
  const zeros = tail === undefined ? [] : new Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}

/** The network of the whole site that a network is one of: the /48 that a provider gives out; an IPv4 address itself. */
export function siteOf(network: string): string {
  return network.split(':').slice(0, 3).join(':');
}
