import { describe, expect, it } from 'vitest';
import { Resolver, systemLookup } from '../../src/outbound/child/wire/resolve.js';
import { hostOf, siteUrl } from '../../src/outbound/child/wire/site-url.js';
import type { Lookup } from '../../src/outbound/name-lookup.js';
import { isPublicAddress } from '../../src/outbound/public-address.js';

describe('addresses', () => {
  it.each([
    ['93.184.216.34', true],
    ['1.1.1.1', true],
    ['2606:4700:4700::1111', true],
    ['64:ff9b::5db8:d822', true], // NAT64 of a public address
    ['::ffff:93.184.216.34', true],
    ['0.0.0.0', false],
    ['0.1.2.3', false],
    ['127.0.0.1', false],
    ['127.255.255.254', false],
    ['10.0.0.1', false],
    ['172.16.0.1', false],
    ['172.31.255.255', false],
    ['172.32.0.1', true],
    ['192.168.1.1', false],
    ['169.254.169.254', false], // metadata of most clouds
    ['168.63.129.16', false], // Azure
    ['100.64.0.1', false], // shared address space
    ['100.100.100.200', false], // Alibaba metadata
    ['192.0.0.192', false], // Oracle metadata
    ['198.18.0.1', false],
    ['203.0.113.5', false],
    ['224.0.0.1', false],
    ['240.0.0.1', false],
    ['255.255.255.255', false],
    ['::', false],
    ['::1', false],
    ['::127.0.0.1', false], // IPv4-compatible
    ['::5db8:d822', false],
    ['::ffff:127.0.0.1', false],
    ['::ffff:7f00:1', false],
    ['::ffff:169.254.169.254', false],
    ['::ffff:0:7f00:1', false],
    ['64:ff9b::7f00:1', false],
    ['64:ff9b::a9fe:a9fe', false],
    ['64:ff9b:1::1', false],
    ['2002:7f00:1::', false], // 6to4
    ['2002:5db8:d822::1', false],
    ['2001::1', false], // Teredo
    ['2001:db8::1', false],
    ['fe80::1', false],
    ['fe80::1%eth0', false],
    ['fec0::1', false],
    ['fc00::1', false],
    ['fd00:ec2::254', false], // AWS metadata
    ['ff02::1', false],
    ['100::1', false],
    ['200::1', false], // not assigned; used by overlay networks such as Yggdrasil
    ['4000::1', false],
    ['fe00::1', false],
    ['2606:4700::5efe:10.0.0.1', false], // ISATAP
    ['', false],
    ['not an address', false],
    ['1.2.3', false],
    ['0x7f.1', false],
  ])('%s public: %s', (address, expected) => {
    expect(isPublicAddress(address)).toBe(expected);
  });
});

describe('site URLs', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['http://example.com/blog', 'http://example.com/blog/'],
    ['https://user:pass@example.com/?a=1#x', 'https://example.com/'],
    ['HTTPS://EXAMPLE.COM:8443/A/', 'https://example.com:8443/A/'],
  ])('%s becomes %s', (given, expected) => {
    expect(siteUrl(given).href).toBe(expected);
  });

  it.each(['ftp://example.com/', 'file:///etc/passwd', 'javascript:alert(1)', 'example.com', ''])(
    'refuses %s',
    (given) => {
      expect(() => siteUrl(given)).toThrow(expect.objectContaining({ kind: 'unreachable' }));
    },
  );

  it.each(['http://2130706433/', 'http://0x7f.1/', 'http://0177.0.0.1/', 'http://[::ffff:127.0.0.1]/'])(
    'sees the loopback address in %s',
    (given) => {
      expect(isPublicAddress(hostOf(siteUrl(given)))).toBe(false);
    },
  );
});

describe('names', () => {
  const make = (answers: string[][], options: { allowPrivate?: boolean; now?: () => number } = {}) => {
    let asked = 0;
    const resolver = new Resolver({
      allowPrivate: options.allowPrivate ?? false,
      timeoutMs: 200,
      now: options.now ?? (() => 0),
      lookup: async () => {
        const answer = answers[Math.min(asked++, answers.length - 1)] ?? [];
        return answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }) as const);
      },
    });
    return { resolver, asked: () => asked };
  };

  it('refuses a name that resolves inside, and literals', async () => {
    const { resolver } = make([['10.0.0.5']]);
    await expect(resolver.resolve('inside.example')).rejects.toMatchObject({ kind: 'blocked_address' });
    await expect(resolver.resolve('169.254.169.254')).rejects.toMatchObject({ kind: 'blocked_address' });
    await expect(resolver.resolve('::1')).rejects.toMatchObject({ kind: 'blocked_address' });
  });

  it('uses only the public ones of mixed addresses', async () => {
    const { resolver } = make([['10.0.0.5', '1.1.1.1', '::1']]);
    expect(await resolver.resolve('mixed.example')).toEqual([{ address: '1.1.1.1', family: 4 }]);
  });

  it('checks again when a name comes to mean something else', async () => {
    let time = 0;
    const { resolver } = make([['1.1.1.1'], ['127.0.0.1']], { now: () => time });
    expect(await resolver.resolve('rebind.example')).toHaveLength(1);
    time = 60_000;
    await expect(resolver.resolve('rebind.example')).rejects.toMatchObject({ kind: 'blocked_address' });
  });

  it('asks once for one name', async () => {
    const { resolver, asked } = make([['1.1.1.1']]);
    await Promise.all(Array.from({ length: 20 }, () => resolver.resolve('Many.example')));
    expect(asked()).toBe(1);
  });

  it('lets private ones pass where that is allowed, and IPv4 only where that is wanted', async () => {
    const { resolver } = make([['::1', '10.0.0.5']], { allowPrivate: true });
    expect(await resolver.resolve('inside.example')).toHaveLength(2);
    resolver.family = 4;
    expect(await resolver.resolve('inside.example')).toEqual([{ address: '10.0.0.5', family: 4 }]);
    await expect(resolver.resolve('::1')).rejects.toMatchObject({ kind: 'unreachable' });
    // The setting of the single site takes precedence.
    expect(await resolver.resolve('inside.example', false)).toHaveLength(2);
    resolver.family = 0;
    expect(await resolver.resolve('inside.example', true)).toEqual([{ address: '10.0.0.5', family: 4 }]);
  });

  it('gives up on a resolver that is silent, without blocking the names behind it', async () => {
    let asked = 0;
    const resolver = new Resolver({
      allowPrivate: false,
      timeoutMs: 50,
      now: () => performance.now(),
      lookup: (host) =>
        asked++ < 6
          ? new Promise(() => undefined)
          : Promise.resolve([{ address: host.length > 3 ? '1.1.1.1' : '::1', family: 4 }]),
    });
    const silent = Array.from({ length: 6 }, (_, i) => resolver.resolve(`silent${i}.example`));
    const good = resolver.resolve('good.example');
    for (const one of silent)
      await expect(one).rejects.toMatchObject({ kind: 'unreachable', message: expect.stringContaining('in time') });
    expect(await good).toHaveLength(1);
  });

  describe('of many sites', () => {
    const V4 = { address: '1.1.1.1', family: 4 } as const;
    /** The system's resolver: two threads, which keep a silent name for ever. */
    function threads(isSilent: (host: string) => boolean) {
      const running: string[] = [];
      const waiting: (() => void)[] = [];
      const lookup = async (host: string) => {
        if (running.length === 2) await new Promise<void>((resolve) => waiting.push(resolve));
        running.push(host);
        if (isSilent(host)) await new Promise(() => undefined);
        running.splice(running.indexOf(host), 1);
        waiting.shift()?.();
        return [{ address: '2.2.2.2', family: 4 } as const];
      };
      return { running, lookup };
    }
    const resolverOf = (lookup: Lookup, timeoutMs = 10_000) =>
      new Resolver({ allowPrivate: false, timeoutMs, now: () => performance.now(), lookup });

    it('leaves a thread of the system to good ones, however many dead ones there are', async () => {
      const { running, lookup } = threads((host) => host.startsWith('dead'));
      const ask = async (host: string) => ({ found: [], silent: host.startsWith('dead') });
      const resolver = resolverOf(systemLookup(ask, lookup));
      for (let i = 0; i < 12; i++) resolver.resolve(`dead${i}.example`).catch(() => undefined);
      for (let i = 0; i < 12; i++)
        expect(await resolver.resolve(`good${i}.example`)).toEqual([{ address: '2.2.2.2', family: 4 }]);
      expect(running).toEqual(['dead0.example']);
    });

    it('takes what the name servers said, where servers that answer once and then no more keep all threads', async () => {
      const { running, lookup } = threads((host) => host.startsWith('sly'));
      const ask = async () => ({ found: [V4], silent: false });
      const resolver = resolverOf(systemLookup(ask, lookup));
      const names = ['sly0.example', 'sly1.example', 'good.example'];
      expect(await Promise.all(names.map((name) => resolver.resolve(name)))).toEqual([[V4], [V4], [V4]]);
      expect(running).toEqual(['sly0.example', 'sly1.example']);
    });
  });
});
