import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Arrival } from '../src/auth.js';
import type { ServiceError } from '../src/errors.js';
import { hashPassword } from '../src/store/vault.js';
import { Throttle } from '../src/throttle.js';
import { addUser, basic, quickHash, startWays, type Ways } from './ways.js';

let ways: Ways;
beforeEach(async () => {
  ways = await startWays();
  await addUser(ways, 'admin');
});
afterEach(() => ways.close());

function arrival(authorization: string | undefined, change: Partial<Arrival> = {}): Arrival {
  return {
    request_id: 'r',
    authorization,
    address: '192.0.2.1',
    secure: true,
    base_url: 'http://x',
    foreign: false,
    ...change,
  };
}

/** Code and status of the refusal, or the name of who was let in. */
async function outcome(promise: Promise<{ name: string }>): Promise<string> {
  return promise.then(
    (actor) => actor.name,
    (error: ServiceError) => `${error.code} ${error.status}`,
  );
}

const asUser = (header: string | undefined, change?: Partial<Arrival>) =>
  outcome(ways.auth.basic(arrival(header, change), 'run'));
const asKey = (header: string | undefined, change?: Partial<Arrival>) =>
  outcome(ways.auth.bearer(arrival(header, change), 'rest'));

describe('Basic', () => {
  it('lets a user in, whatever the case of the name', async () => {
    expect(await asUser(basic('admin', 'correct horse'))).toBe('admin');
    expect(await asUser(basic('ADMIN', 'correct horse'))).toBe('admin');
  });

  it('takes passwords with colons, blanks and any script', async () => {
    for (const password of ['a:b:c', ' lead and trail ', 'pässwörd ✓']) {
      await ways.users.add({
        name: password.trim().replaceAll(':', ''),
        password_hash: await hashPassword(password),
        rights: ['read'],
        now: 1,
      });
      const name = password.trim().replaceAll(':', '');
      expect(await asUser(basic(name, password))).toBe(name);
    }
  });

  it('takes an application password with and without its blanks', async () => {
    await ways.users.add({ name: 'app', password_hash: quickHash('abcdEFGHijkl'), rights: ['read'], now: 1 });
    expect(await asUser(basic('app', 'abcd EFGH ijkl'))).toBe('app');
    expect(await asUser(basic('app', 'abcdEFGHijkl'))).toBe('app');
    expect(await asUser(basic('app', 'abcd EFGH ijkm'))).toBe('svc_permission_denied 401');
  });

  it.each<[string, string | undefined]>([
    ['nothing', undefined],
    ['no base64', 'Basic §§'],
    ['no colon', `Basic ${Buffer.from('admin').toString('base64')}`],
    ['no name', basic('', 'correct horse')],
    ['a key', `Bearer ${'a'.repeat(40)}==${'b'.repeat(40)}`],
    ['a NUL in the name', basic('admin\0', 'correct horse')],
  ])('refuses %s', async (_name, header) => expect(await asUser(header)).toBe('svc_permission_denied 401'));

  it('refuses a wrong name and a wrong password with the same words and the same work', async () => {
    await asUser(basic('warm', 'up'));
    const refusal = async (header: string) => {
      const before = ways.hashings();
      const error = await ways.auth.basic(arrival(header), 'run').catch((reason: ServiceError) => reason);
      return {
        error: JSON.stringify(error),
        message: (error as ServiceError).message,
        hashings: ways.hashings() - before,
      };
    };
    expect(await refusal(basic('nobody', 'wrong'))).toEqual(await refusal(basic('admin', 'wrong')));
  });

  it('hashes once for many requests that come together and after each other', async () => {
    const header = basic('admin', 'correct horse');
    const before = ways.hashings();
    await Promise.all(Array.from({ length: 20 }, () => asUser(header)));
    await asUser(header);
    expect(ways.hashings() - before).toBe(1);
  });

  it('forgets a verified login in time', async () => {
    const header = basic('admin', 'correct horse');
    await asUser(header);
    const before = ways.hashings();
    ways.clock.time += 6 * 60_000;
    await asUser(header);
    expect(ways.hashings() - before).toBe(1);
  });

  it('acts at once on a change told by invalidate, and within a second on any other', async () => {
    const header = basic('admin', 'correct horse');
    await asUser(header);
    await ways.users.remove('admin');
    ways.auth.invalidate();
    expect(await asUser(header)).toBe('svc_permission_denied 401');
    await addUser(ways, 'admin');
    expect(await asUser(header)).toBe('admin');
    await ways.users.remove('admin');
    ways.clock.time += 1001;
    expect(await asUser(header)).toBe('svc_permission_denied 401');
  });

  it('carries the rights and the hidden sites of the user', async () => {
    await addUser(ways, 'reader', ['read']);
    await ways.db.run(
      "INSERT INTO site (url, url_key, name, search, created_at) VALUES ('http://a/', 'a/', 'a', 'a', 1), ('http://b/', 'b/', 'b', 'b', 1)",
    );
    await ways.denials.deny('user:2', 2);
    await ways.denials.deny('user:2', 2);
    expect(await ways.auth.basic(arrival(basic('reader', 'correct horse')), 'mcp')).toEqual({
      type: 'user',
      id: 2,
      name: 'reader',
      rights: ['read'],
      denied_sites: [2],
      via: 'mcp',
    });
    expect(await ways.denials.allow('user:2', 2)).toBe(true);
    expect(await ways.denials.list('user:2')).toEqual([]);
  });
});

describe('Bearer (REST §1)', () => {
  async function newKey(scope: 'read' | 'write' | 'read_write' = 'read_write', enabled = true) {
    return ways.keys.add({ scope, description: `a ${scope} key`, enabled, user_id: 1, now: ways.clock.now() });
  }

  it('lets a key in, in any case of the scheme and with blanks around', async () => {
    const { token } = await newKey();
    expect(token).toMatch(/^[0-9a-f]{40}==[0-9a-f]{40}$/);
    for (const header of [`Bearer ${token}`, `bearer   ${token}  `, ` BEARER ${token}`]) {
      expect(await asKey(header)).toBe('a read_write key');
    }
  });

  it.each<[string, (token: string) => string | undefined, string]>([
    ['nothing', () => undefined, 'svc_rest_authentication_error 401'],
    ['another scheme', () => 'Token x', 'svc_rest_authentication_error 401'],
    ['one part', (token) => `Bearer ${token.slice(0, 40)}`, 'svc_rest_authentication_missing_parameter 401'],
    ['an empty secret', (token) => `Bearer ${token.slice(40)}`, 'svc_rest_authentication_missing_parameter 401'],
    ['an empty key', (token) => `Bearer ${token.slice(0, 42)}`, 'svc_rest_authentication_missing_parameter 401'],
    ['another form', (token) => `Bearer ${token.toUpperCase()}`, 'svc_rest_authentication_error 401'],
    ['an unknown key', (token) => `Bearer ${token.slice(0, 42)}${'0'.repeat(40)}`, 'svc_rest_authentication_error 401'],
    ['a wrong secret', (token) => `Bearer ${'0'.repeat(40)}${token.slice(40)}`, 'svc_rest_authentication_error 401'],
  ])('refuses %s', async (_name, header, expected) => {
    const { token } = await newKey();
    expect(await asKey(header(token))).toBe(expected);
  });

  it('says "switched off" only to who knows the secret', async () => {
    const { token } = await newKey('read', false);
    expect(await asKey(`Bearer ${token}`)).toBe('svc_rest_authentication_disabled_key 401');
    expect(await asKey(`Bearer ${'0'.repeat(40)}${token.slice(40)}`)).toBe('svc_rest_authentication_error 401');
  });

  it('is for HTTPS and loopback only', async () => {
    const { token } = await newKey();
    expect(await asKey(`Bearer ${token}`, { secure: false })).toBe('svc_rest_authentication_bad_request 400');
    expect(await asKey(undefined, { secure: false })).toBe('svc_rest_authentication_error 401');
  });

  it('notes the use of a key, at most once a minute', async () => {
    const { token, key } = await newKey();
    await asKey(`Bearer ${token}`);
    await asKey(`Bearer ${token}`);
    expect(ways.touches()).toBe(1);
    expect((await ways.keys.find(key.id))?.last_access).toBe(ways.clock.now());
    ways.clock.time += 60_000;
    await asKey(`Bearer ${token}`);
    expect(ways.touches()).toBe(2);
  });

  it('maps scopes to rights', async () => {
    for (const [scope, rights] of [
      ['read', ['read']],
      ['write', ['write']],
      ['read_write', ['read', 'write']],
    ] as const) {
      const { token, key } = await newKey(scope);
      expect(await ways.auth.bearer(arrival(`Bearer ${token}`), 'rest')).toEqual({
        type: 'key',
        id: key.id,
        name: `a ${scope} key`,
        rights,
        denied_sites: [],
        via: 'rest',
      });
    }
  });

  it('stores nothing that logs in', async () => {
    const { token } = await newKey();
    const stored = JSON.stringify(await ways.db.all('SELECT * FROM api_key'));
    for (const part of token.split('==')) expect(stored).not.toContain(part);
  });

  it('acts on a key that was switched off by another process within a second', async () => {
    const { token, key } = await newKey();
    expect(await asKey(`Bearer ${token}`)).toBe('a read_write key');
    await ways.keys.change(key.id, { enabled: false });
    ways.clock.time += 1001;
    expect(await asKey(`Bearer ${token}`)).toBe('svc_rest_authentication_disabled_key 401');
  });
});

describe('either', () => {
  it('takes a user or a key', async () => {
    const { token } = await ways.keys.add({ scope: 'read', description: 'k', enabled: true, user_id: null, now: 1 });
    expect(await outcome(ways.auth.either(arrival(basic('admin', 'correct horse')), 'mcp'))).toBe('admin');
    expect(await outcome(ways.auth.either(arrival(`Bearer ${token}`), 'mcp'))).toBe('k');
    expect(await outcome(ways.auth.either(arrival(undefined), 'mcp'))).toBe('svc_rest_authentication_error 401');
  });
});

describe('guessing', () => {
  it('is slowed down per address, and ends with a good login', async () => {
    const { token } = await ways.keys.add({ scope: 'read', description: 'k', enabled: true, user_id: null, now: 1 });
    const guess = (address: string) => asKey(`Bearer ${'0'.repeat(40)}==${'1'.repeat(40)}`, { address });
    for (let i = 0; i < 10; i += 1) expect(await guess('192.0.2.9')).toBe('svc_rest_authentication_error 401');
    expect(await guess('192.0.2.9')).toBe('svc_rest_too_many_requests 429');
    expect(await guess('192.0.2.8')).toBe('svc_rest_authentication_error 401');
    const error = await ways.auth
      .bearer(arrival(`Bearer ${token}`, { address: '192.0.2.9' }), 'rest')
      .catch((e: ServiceError) => e);
    expect((error as ServiceError).data).toEqual({ retry_after: 1 });
    ways.clock.time += 1000;
    expect(await asKey(`Bearer ${token}`, { address: '192.0.2.9' })).toBe('k');
    expect(await guess('192.0.2.9')).toBe('svc_rest_authentication_error 401');
  });

  it('does not lock out a login that was verified before', async () => {
    const header = basic('admin', 'correct horse');
    await asUser(header);
    for (let i = 0; i < 12; i += 1) await asKey(`Bearer ${'0'.repeat(40)}==${'1'.repeat(40)}`);
    expect(await asUser(header)).toBe('admin');
  });

  it('counts guesses that run at the same time', async () => {
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, i) => asKey(`Bearer ${String(i).padStart(40, '0')}==${'1'.repeat(40)}`)),
    );
    expect(results.filter((result) => result.endsWith('401'))).toHaveLength(10);
    expect(results.filter((result) => result.endsWith('429'))).toHaveLength(20);
  });
});

describe('Throttle', () => {
  it('doubles the block up to its limit and forgets', () => {
    let now = 0;
    const throttle = new Throttle({ now: () => now, burst: 2, maxBlockMs: 5000 });
    const fail = () => {
      throttle.begin('a');
      throttle.end('a', 'bad');
      return throttle.waitMs('a');
    };
    expect([fail(), fail(), fail(), fail(), fail()]).toEqual([0, 1000, 2000, 4000, 5000]);
    now += 20 * 60_000;
    expect(fail()).toBe(0);
  });

  it('remembers a bounded number of addresses, and one IPv6 network as one', () => {
    const throttle = new Throttle({ now: () => 0, burst: 1, maxAddresses: 100 });
    for (let i = 0; i < 1000; i += 1) {
      throttle.begin(`10.0.${i >> 8}.${i & 255}`);
      throttle.end(`10.0.${i >> 8}.${i & 255}`, 'bad');
    }
    expect(throttle.size).toBe(100);
    throttle.begin('2001:db8:1:2::1');
    throttle.end('2001:db8:1:2::1', 'bad');
    expect(throttle.waitMs('2001:db8:1:2:ffff::9')).toBeGreaterThan(0);
    expect(throttle.waitMs('2001:db8:1:3::1')).toBe(0);
    throttle.begin('::ffff:198.51.100.7');
    throttle.end('::ffff:198.51.100.7', 'bad');
    expect(throttle.waitMs('198.51.100.7')).toBeGreaterThan(0);
  });
});

describe('the address of a request', () => {
  const V1 = '/abilities';
  const token = `Bearer ${'0'.repeat(40)}==${'1'.repeat(40)}`;

  async function tries(
    change: Parameters<typeof startWays>[0],
    url: string,
    headers: (i: number) => Record<string, string>,
  ) {
    const shell = await startWays(change);
    const seen: number[] = [];
    for (let i = 0; i < 12; i += 1) {
      const response = await shell.http.request(url, {
        method: 'POST',
        headers: { authorization: token, ...headers(i) },
      });
      seen.push(response.status);
    }
    await shell.close();
    return seen;
  }

  it('is the last one named by a trusted proxy, and nothing a client claims', async () => {
    const spoofed = await tries({ trust_proxy: true }, '/mcp', (i) => ({
      'x-forwarded-for': `10.0.0.${i}, 192.0.2.1`,
      'x-forwarded-proto': 'https',
    }));
    expect(spoofed.at(-1)).toBe(429);
    const untrusted = await tries({}, '/mcp', (i) => ({ 'x-forwarded-for': `10.0.0.${i}` }));
    expect(untrusted.at(-1)).toBe(429);
    const several = await tries({ trust_proxy: true }, '/mcp', (i) => ({
      'x-forwarded-for': `10.0.0.${i}`,
      'x-forwarded-proto': 'https',
    }));
    expect(several.at(-1)).toBe(401);
  });

  it('behind a trusted proxy the scheme is the one the client used', async () => {
    const shell = await startWays({ trust_proxy: true });
    const ask = async (proto: string) => {
      const headers = { authorization: token, 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': proto };
      return (await shell.http.request('/mcp', { method: 'POST', headers })).status;
    };
    expect([await ask('http'), await ask('https')]).toEqual([400, 401]);
    await addUser(shell, 'admin');
    const listed = await shell.http.request(`${V1}/svc/look-things-v1`, {
      headers: { authorization: basic('admin', 'correct horse'), 'x-forwarded-proto': 'https' },
    });
    expect(((await listed.json()) as { _links: { collection: { href: string }[] } })._links.collection[0]?.href).toBe(
      'https://localhost/abilities',
    );
    await shell.close();
  });
});

describe('stored users and keys', () => {
  it('keeps names unique, whatever their case', async () => {
    const again = await ways.users.add({ name: 'Admin', password_hash: 'x', rights: [], now: 1 });
    expect([again, await ways.users.count()]).toEqual([undefined, 1]);
    expect(await ways.users.list()).toEqual([
      { id: 1, name: 'admin', rights: ['read', 'write'], created_at: ways.clock.now() },
    ]);
    expect(await ways.users.remove('ADMIN', true)).toBe('last');
    expect([await ways.users.remove('ADMIN'), await ways.users.remove('ADMIN')]).toEqual(['done', 'absent']);
  });

  it('changes a password', async () => {
    expect(await ways.users.setPassword('admin', quickHash('another one'))).toBe(true);
    expect(await asUser(basic('admin', 'another one'))).toBe('admin');
    expect(await ways.users.setPassword('nobody', 'x')).toBe(false);
  });

  it('lists legacy keys first, then the newest, and pages', async () => {
    await ways.db.run(
      `INSERT INTO api_key (version, legacy_id, last7, scope, created_at) VALUES ('v1', 'ck_${'a'.repeat(40)}', 'aaaaaaa', 'read', 1)`,
    );
    for (let i = 0; i < 3; i += 1)
      await ways.keys.add({ scope: 'read', description: `${i}`, enabled: true, user_id: null, now: i });
    const { items, total } = await ways.keys.list(1, 3);
    expect([items.map((key) => key.legacy_id ?? key.id), total]).toEqual([[`ck_${'a'.repeat(40)}`, 4, 3], 4]);
    expect((await ways.keys.list(2, 3)).items.map((key) => key.id)).toEqual([2]);
    expect(await ways.keys.find(1)).toBeUndefined();
    expect((await ways.keys.find(`ck_${'a'.repeat(40)}`))?.version).toBe('v1');
    expect(await ways.keys.remove(`ck_${'a'.repeat(40)}`)).toBe('done');
  });

  it('can refuse to give up the last key that may read and write, and the last that may write', async () => {
    const add = (scope: 'read' | 'write' | 'read_write') =>
      ways.keys.add({ scope, description: '', enabled: true, user_id: null, now: 1 }).then(({ key }) => key.id);
    const first = await add('read_write');
    const reader = await add('read');
    expect(await ways.keys.remove(first, true)).toBe('last_writer');
    expect(await ways.keys.change(first, { enabled: false }, true)).toBe('last_writer');
    expect(await ways.keys.change(first, { scope: 'read' }, true)).toBe('last_writer');
    expect(await ways.keys.change(first, { description: 'x', scope: 'write' }, true)).toBe('last_writer');
    // One that only writes cannot make a key that reads.
    const writer = await add('write');
    expect(await ways.keys.remove(first, true)).toBe('last_writer');
    expect(await ways.keys.change(first, { scope: 'write' }, true)).toBe('last_writer');
    expect(await ways.keys.change(first, { scope: 'read_write', enabled: true }, true)).toBe('done');
    expect(await ways.keys.remove(reader, true)).toBe('done');
    const second = await add('read_write');
    expect(await ways.keys.remove(first, true)).toBe('done');
    expect(await ways.keys.remove(second)).toBe('done');
    expect(await ways.keys.remove(writer, true)).toBe('last_writer');
    expect(await ways.keys.remove(writer)).toBe('done');
    expect(await ways.keys.remove(second)).toBe('absent');
    expect(await ways.keys.change(99, { enabled: true })).toBe('absent');
    expect(await ways.keys.change(99, {})).toBe('absent');
  });

  it('removes what was denied to a key with the key', async () => {
    const { key } = await ways.keys.add({ scope: 'read', description: '', enabled: true, user_id: null, now: 1 });
    await ways.db.run(
      "INSERT INTO site (url, url_key, name, search, created_at) VALUES ('http://a/', 'a/', 'a', 'a', 1)",
    );
    await ways.denials.deny(`key:${key.id}`, 1);
    await ways.keys.remove(key.id);
    expect(await ways.denials.list(`key:${key.id}`)).toEqual([]);
  });
});
