import { beforeEach, describe, expect, it } from 'vitest';
import type { ServiceError } from '../../src/runtime/errors.js';
import type { KeyScope } from '../../src/store/access/keys.js';
import { hashPassword } from '../../src/store/vault/vault.js';
import { LoginThrottle } from '../../src/surfaces/auth/login-throttle.js';
import { networkOf } from '../../src/surfaces/http/networks.js';
import type { RequestInfo } from '../../src/surfaces/http/request-info.js';
import { newKey } from '../support/logins.js';
import { addUser, basic, quickHash, type Surfaces, startSurfaces } from '../support/surfaces.js';

let surfaces: Surfaces;
beforeEach(async () => {
  surfaces = await startSurfaces();
  await addUser(surfaces, 'admin');
});

function info(authorization: string | undefined, change: Partial<RequestInfo> = {}): RequestInfo {
  return {
    request_id: 'r',
    authorization,
    address: '192.0.2.1',
    secure: true,
    https: false,
    base_url: 'http://x',
    foreign: false,
    own_origin: false,
    ...change,
  };
}

/** Code and status of the refusal, or the name of the accepted login. */
async function outcome(promise: Promise<{ name: string }>): Promise<string> {
  return promise.then(
    (actor) => actor.name,
    (error: ServiceError) => `${error.code} ${error.status}`,
  );
}

const asUser = (header: string | undefined, change?: Partial<RequestInfo>) =>
  outcome(surfaces.auth.basic(info(header, change), 'run'));
const asKey = (header: string | undefined, change?: Partial<RequestInfo>) =>
  outcome(surfaces.auth.bearer(info(header, change), 'rest'));

describe('Basic', () => {
  it('lets a user in, whatever the case of the name', async () => {
    expect(await asUser(basic('admin', 'correct horse'))).toBe('admin');
    expect(await asUser(basic('ADMIN', 'correct horse'))).toBe('admin');
  });

  it('takes passwords with colons, blanks and any script', async () => {
    for (const password of ['a:b:c', ' lead and trail ', 'pässwörd ✓']) {
      await surfaces.users.add({
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
    await surfaces.users.add({ name: 'app', password_hash: quickHash('abcdEFGHijkl'), rights: ['read'], now: 1 });
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
      const before = surfaces.hashings();
      const error = await surfaces.auth.basic(info(header), 'run').catch((reason: ServiceError) => reason);
      return {
        error: JSON.stringify(error),
        message: (error as ServiceError).message,
        hashings: surfaces.hashings() - before,
      };
    };
    expect(await refusal(basic('nobody', 'wrong'))).toEqual(await refusal(basic('admin', 'wrong')));
  });

  it('hashes once for many requests that come together and after each other', async () => {
    const header = basic('admin', 'correct horse');
    const before = surfaces.hashings();
    await Promise.all(Array.from({ length: 20 }, () => asUser(header)));
    await asUser(header);
    expect(surfaces.hashings() - before).toBe(1);
  });

  it('forgets a verified login in time', async () => {
    const header = basic('admin', 'correct horse');
    await asUser(header);
    const before = surfaces.hashings();
    surfaces.clock.time += 6 * 60_000;
    await asUser(header);
    expect(surfaces.hashings() - before).toBe(1);
  });

  it('acts at once on a change announced by invalidate, and within a second on any other', async () => {
    const header = basic('admin', 'correct horse');
    await asUser(header);
    await surfaces.users.remove('admin');
    surfaces.auth.invalidate();
    expect(await asUser(header)).toBe('svc_permission_denied 401');
    await addUser(surfaces, 'admin');
    expect(await asUser(header)).toBe('admin');
    await surfaces.users.remove('admin');
    surfaces.clock.time += 1001;
    expect(await asUser(header)).toBe('svc_permission_denied 401');
  });

  it('carries the rights of the user', async () => {
    await addUser(surfaces, 'reader', ['read']);
    expect(await surfaces.auth.basic(info(basic('reader', 'correct horse')), 'mcp')).toEqual({
      type: 'user',
      id: 2,
      name: 'reader',
      rights: ['read'],
      via: 'mcp',
    });
  });
});

describe('Bearer (REST §1)', () => {
  const keyOfAdmin = (scope: KeyScope = 'read_write', enabled = true) =>
    newKey(surfaces.keys, { scope, description: `a ${scope} key`, enabled, user_id: 1 });

  it('lets a key in, in any case of the scheme and with blanks around', async () => {
    const { token } = await keyOfAdmin();
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
    const { token } = await keyOfAdmin();
    expect(await asKey(header(token))).toBe(expected);
  });

  it('says "switched off" only to who knows the secret', async () => {
    const { token } = await keyOfAdmin('read', false);
    expect(await asKey(`Bearer ${token}`)).toBe('svc_rest_authentication_disabled_key 401');
    expect(await asKey(`Bearer ${'0'.repeat(40)}${token.slice(40)}`)).toBe('svc_rest_authentication_error 401');
  });

  it('is for HTTPS and loopback only', async () => {
    const { token } = await keyOfAdmin();
    expect(await asKey(`Bearer ${token}`, { secure: false })).toBe('svc_rest_authentication_bad_request 400');
    expect(await asKey(undefined, { secure: false })).toBe('svc_rest_authentication_error 401');
  });

  it('notes the use of a key, at most once a minute', async () => {
    const { token, key } = await keyOfAdmin();
    await asKey(`Bearer ${token}`);
    await asKey(`Bearer ${token}`);
    expect(surfaces.touches()).toBe(1);
    expect((await surfaces.keys.find(key.id))?.last_access).toBe(surfaces.clock.now());
    surfaces.clock.time += 60_000;
    await asKey(`Bearer ${token}`);
    expect(surfaces.touches()).toBe(2);
  });

  it('maps scopes to rights', async () => {
    for (const [scope, rights] of [
      ['read', ['read']],
      ['write', ['write']],
      ['read_write', ['read', 'write']],
    ] as const) {
      const { token, key } = await keyOfAdmin(scope);
      expect(await surfaces.auth.bearer(info(`Bearer ${token}`), 'rest')).toEqual({
        type: 'key',
        id: key.id,
        name: `a ${scope} key`,
        rights,
        via: 'rest',
      });
    }
  });

  it('stores nothing that logs in', async () => {
    const { token } = await keyOfAdmin();
    const stored = JSON.stringify(await surfaces.db.all('SELECT * FROM api_key'));
    for (const part of token.split('==')) expect(stored).not.toContain(part);
  });

  it('acts on a key that was switched off by another process within a second', async () => {
    const { token, key } = await keyOfAdmin();
    expect(await asKey(`Bearer ${token}`)).toBe('a read_write key');
    await surfaces.keys.change(key.id, { enabled: false });
    surfaces.clock.time += 1001;
    expect(await asKey(`Bearer ${token}`)).toBe('svc_rest_authentication_disabled_key 401');
  });
});

describe('either', () => {
  it('takes a user or a key', async () => {
    const { token } = await newKey(surfaces.keys, { scope: 'read', description: 'k' });
    expect(await outcome(surfaces.auth.either(info(basic('admin', 'correct horse')), 'mcp'))).toBe('admin');
    expect(await outcome(surfaces.auth.either(info(`Bearer ${token}`), 'mcp'))).toBe('k');
    expect(await outcome(surfaces.auth.either(info(undefined), 'mcp'))).toBe('svc_rest_authentication_error 401');
  });
});

describe('guessing', () => {
  const wrongKey = `Bearer ${'0'.repeat(40)}==${'1'.repeat(40)}`;
  const DENIED = 'svc_permission_denied 401';
  const BLOCKED = 'svc_rest_too_many_requests 429';
  const guessName = (name: string, address: string, n = 0) => asUser(basic(name, `wrong${n}`), { address });

  it('of keys is slowed down per address, and a right key gets in all the same', async () => {
    const { token } = await newKey(surfaces.keys, { scope: 'read', description: 'k' });
    const guess = (address: string) => asKey(wrongKey, { address });
    for (let i = 0; i < 10; i += 1) expect(await guess('192.0.2.9')).toBe('svc_rest_authentication_error 401');
    expect(await guess('192.0.2.9')).toBe(BLOCKED);
    expect(await guess('192.0.2.8')).toBe('svc_rest_authentication_error 401');
    const error = await surfaces.auth
      .bearer(info(wrongKey, { address: '192.0.2.9' }), 'rest')
      .catch((e: ServiceError) => e);
    expect((error as ServiceError).data).toEqual({ retry_after: 1 });
    expect(await asKey(`Bearer ${token}`, { address: '192.0.2.9' })).toBe('k');
    expect(await guess('192.0.2.9')).toBe(BLOCKED);
    surfaces.clock.time += 1000;
    expect(await guess('192.0.2.9')).toBe('svc_rest_authentication_error 401');
  });

  it('at a password is not forgiven for a good login of a key or of another user', async () => {
    const { token } = await newKey(surfaces.keys, { scope: 'read', description: 'k' });
    await addUser(surfaces, 'mallory');
    const address = '192.0.2.7';
    const outcomes: string[] = [];
    for (let i = 0; i < 11; i += 1) {
      outcomes.push(await guessName('admin', address, i));
      // With an empty cache.
      surfaces.auth.invalidate();
      expect(await asKey(`Bearer ${token}`, { address })).toBe('k');
      expect(await asUser(basic('mallory', 'correct horse'), { address })).toBe('mallory');
    }
    expect(outcomes).toEqual([...Array(10).fill(DENIED), BLOCKED]);
    expect(await guessName('ADMIN', address)).toBe(BLOCKED);
    // The name is free from other addresses, and a successful login there ends the count.
    expect(await asUser(basic('admin', 'correct horse'), { address: '192.0.2.6' })).toBe('admin');
  });

  it('at a password ends with a good login of that name', async () => {
    for (let i = 0; i < 9; i += 1) await guessName('admin', '192.0.2.5', i);
    expect(await asUser(basic('admin', 'correct horse'), { address: '192.0.2.5' })).toBe('admin');
    for (let i = 0; i < 9; i += 1) expect(await guessName('admin', '192.0.2.5', i)).toBe(DENIED);
  });

  it('at many names is limited for a network as a whole', async () => {
    const outcomes: string[] = [];
    for (let i = 0; i < 60; i += 1) outcomes.push(await guessName(`name${i}`, `2001:db8:1:2::${i + 1}`));
    expect(outcomes.indexOf(BLOCKED)).toBe(50);
    expect(outcomes.slice(50)).toEqual(Array(10).fill(BLOCKED));
    expect(await guessName('name0', '2001:db8:1:3::1')).toBe(DENIED);
  });

  it('is the same attempt however the header is spelled', async () => {
    const plain = Buffer.from('admin:wrong').toString('base64');
    const spellings = [
      `Basic ${plain}`,
      `basic ${plain}`,
      `BASIC   ${plain}`,
      ` Basic ${plain} `,
      `Basic ${plain.replace(/=+$/, '')}`,
      `Basic ${Buffer.from('ADMIN:wrong').toString('base64')}`,
    ];
    const before = surfaces.hashings();
    await Promise.all(spellings.map((header) => asUser(header, { address: '192.0.2.4' })));
    expect(surfaces.hashings() - before).toBe(1);
    const right = spellings.map((header) =>
      header.replace(/[A-Za-z0-9+/]{8,}=*/, Buffer.from('admin:correct horse').toString('base64')),
    );
    const until = surfaces.hashings();
    for (const header of right) expect(await asUser(header, { address: '192.0.2.4' })).toBe('admin');
    expect(surfaces.hashings() - until).toBe(1);
  });

  it('waits in a bounded queue, two password checks at once, and none of it holds up a key', async () => {
    await surfaces.close();
    let running = 0;
    let most = 0;
    const open: (() => void)[] = [];
    surfaces = await startSurfaces({
      beforeHash: async () => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => open.push(resolve));
        running -= 1;
      },
    });
    const { token } = await newKey(surfaces.keys, { scope: 'read', description: 'k' });
    const one = Array.from({ length: 20 }, (_, i) => guessName(`a${i}`, '192.0.2.1'));
    const many = Array.from({ length: 60 }, (_, i) => guessName(`b${i}`, `198.51.100.${i}`));
    const settled = { done: false };
    const all = Promise.all([...one, ...many]).then((outcomes) => {
      settled.done = true;
      return outcomes;
    });
    expect(await asKey(`Bearer ${token}`)).toBe('k');
    while (!settled.done) {
      open.splice(0).forEach((go) => {
        go();
      });
      await new Promise((resolve) => setImmediate(resolve));
    }
    const outcomes = await all;
    expect(most).toBe(2);
    // Two at once and 32 waiting. Of the eight of one network that waited, all but one gave way to others.
    expect(outcomes.slice(0, 20).filter((each) => each === DENIED).length).toBe(3);
    expect(outcomes.filter((each) => each === DENIED).length).toBe(34);
    expect(outcomes.filter((each) => each === BLOCKED).length).toBe(46);
    const next = guessName('c', '203.0.113.1');
    while (open.length === 0) await new Promise((resolve) => setImmediate(resolve));
    open.pop()?.();
    expect(await next).toBe(DENIED);
  });

  it('takes a login from elsewhere in its turn, however many addresses of one IPv6 site guess', async () => {
    await surfaces.close();
    const open: (() => void)[] = [];
    surfaces = await startSurfaces({ beforeHash: () => new Promise<void>((resolve) => open.push(resolve)) });
    await addUser(surfaces, 'admin');
    let refused = 0;
    const guesses = Array.from({ length: 250 }, (_, i) =>
      guessName(`g${i}`, `2001:db8:0:${(i % 50).toString(16)}::1`).then((outcome) => {
        refused += outcome === BLOCKED ? 1 : 0;
        return outcome;
      }),
    );
    const someAre = async (count: number) => {
      while (refused < count) await new Promise((resolve) => setImmediate(resolve));
    };
    // Two run, and 32 wait, of whom one gives way.
    await someAre(216);
    const honest = asUser(basic('admin', 'correct horse'), { address: '2001:db8:7::1' });
    await someAre(217);
    let checks = 0;
    const entered = honest.then((name) => [name, checks]);
    const over = { done: false };
    const all = Promise.all([...guesses, honest]).finally(() => {
      over.done = true;
    });
    while (!over.done) {
      if (open.length === 2 || refused + checks > 249) {
        checks += 1;
        open.shift()?.();
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    const outcomes = await all;
    // After the two that ran and one that was next; a check or two may end before its answer is seen.
    const [name, at] = await entered;
    expect([name, Number(at) <= 6]).toEqual(['admin', true]);
    expect(outcomes.filter((each) => each === DENIED).length).toBe(33);
  });

  it('slows all addresses of one IPv6 site together, which has thousands of networks', async () => {
    const outcomes: string[] = [];
    for (let i = 0; i < 210; i++) outcomes.push(await guessName(`s${i}`, `2001:db8:1:${i.toString(16)}::1`));
    expect(outcomes.filter((each) => each === DENIED).length).toBe(200);
    expect(outcomes.at(-1)).toBe(BLOCKED);
    expect(await asUser(basic('admin', 'correct horse'), { address: '2001:db8:2::1' })).toBe('admin');
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
    const throttle = new LoginThrottle({ elapsed: () => now, burst: 2, maxBlockMs: 5000 });
    const fail = () => {
      throttle.begin('a');
      throttle.end('a', 'bad');
      return throttle.waitMs('a');
    };
    expect([fail(), fail(), fail(), fail(), fail()]).toEqual([0, 1000, 2000, 4000, 5000]);
    now += 20 * 60_000;
    expect(fail()).toBe(0);
  });

  it('remembers a bounded number of keys', () => {
    const throttle = new LoginThrottle({ elapsed: () => 0, burst: 1, maxKeys: 100 });
    for (let i = 0; i < 1000; i += 1) {
      throttle.begin(`10.0.${i >> 8}.${i & 255}`);
      throttle.end(`10.0.${i >> 8}.${i & 255}`, 'bad');
    }
    expect(throttle.size).toBe(100);
  });

  it.each<[string, string, boolean]>([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
    ['2001:db8:1:2::1', '2001:DB8:0001:2:0:0:0:1', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['::ffff:198.51.100.7', '198.51.100.7', true],
    ['fe80::1%eth0', 'fe80::2', true],
    ['::1', '::ffff:127.0.0.1', false],
    ['198.51.100.7', '198.51.100.8', false],
  ])('counts %s and %s as one network: %s', (a, b, same) => expect(networkOf(a) === networkOf(b)).toBe(same));
});

describe('the address of a request', () => {
  const V1 = '/abilities';
  const token = `Bearer ${'0'.repeat(40)}==${'1'.repeat(40)}`;

  async function tries(
    change: Parameters<typeof startSurfaces>[0],
    url: string,
    headers: (i: number) => Record<string, string>,
  ) {
    const shell = await startSurfaces(change);
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
    // Some proxies add the port, and a client can connect from another port for each guess.
    for (const client of ['192.0.2.1', '[2001:db8::1]']) {
      const ports = await tries({ trust_proxy: true }, '/mcp', (i) => ({
        'x-forwarded-for': `10.0.0.1, ${client}:${50_000 + i}`,
        'x-forwarded-proto': 'https',
      }));
      expect([client, ports.at(-1)]).toEqual([client, 429]);
    }
  });

  it('behind a trusted proxy the scheme is the one the client used', async () => {
    const shell = await startSurfaces({ trust_proxy: true });
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
  });
});

describe('stored users and keys', () => {
  it('keeps names unique, whatever their case', async () => {
    const again = await surfaces.users.add({ name: 'Admin', password_hash: 'x', rights: [], now: 1 });
    expect([again, await surfaces.users.count()]).toEqual([undefined, 1]);
    const admin = { id: 1, name: 'admin', rights: ['read', 'write'], enabled: true, has_password: true, api_keys: 0 };
    expect(await surfaces.users.list(1, 10)).toEqual({
      items: [{ ...admin, created_at: surfaces.clock.now() }],
      total: 1,
    });
    const outcomes = [];
    for (const keepLast of [true, false, false])
      outcomes.push((await surfaces.users.remove('ADMIN', keepLast)).outcome);
    expect(outcomes).toEqual(['last', 'done', 'absent']);
  });

  it('changes a password', async () => {
    expect(await surfaces.users.change('admin', { password_hash: quickHash('another one') })).toBe('done');
    expect(await asUser(basic('admin', 'another one'))).toBe('admin');
    expect(await surfaces.users.change('nobody', { password_hash: 'x' })).toBe('absent');
  });

  it('lists legacy keys first, then the newest, and pages', async () => {
    await surfaces.db.run(
      `INSERT INTO api_key (version, legacy_id, last7, scope, created_at) VALUES ('v1', 'ck_${'a'.repeat(40)}', 'aaaaaaa', 'read', 1)`,
    );
    for (let i = 0; i < 3; i += 1)
      await surfaces.keys.add({ scope: 'read', description: `${i}`, enabled: true, user_id: null, now: i });
    const { items, total } = await surfaces.keys.list(1, 3);
    expect([items.map((key) => key.legacy_id ?? key.id), total]).toEqual([[`ck_${'a'.repeat(40)}`, 4, 3], 4]);
    expect((await surfaces.keys.list(2, 3)).items.map((key) => key.id)).toEqual([2]);
    expect(await surfaces.keys.find(1)).toBeUndefined();
    expect((await surfaces.keys.find(`ck_${'a'.repeat(40)}`))?.version).toBe('v1');
    expect(await surfaces.keys.remove(`ck_${'a'.repeat(40)}`)).toBe('done');
  });

  it('can refuse to give up the last key that may read and write, and the last that may write', async () => {
    const add = (scope: 'read' | 'write' | 'read_write') => newKey(surfaces.keys, { scope }).then(({ key }) => key.id);
    const first = await add('read_write');
    const reader = await add('read');
    expect(await surfaces.keys.remove(first, true)).toBe('last_writer');
    expect(await surfaces.keys.change(first, { enabled: false }, true)).toBe('last_writer');
    expect(await surfaces.keys.change(first, { scope: 'read' }, true)).toBe('last_writer');
    expect(await surfaces.keys.change(first, { description: 'x', scope: 'write' }, true)).toBe('last_writer');
    // A key that only writes cannot create a key that reads.
    const writer = await add('write');
    expect(await surfaces.keys.remove(first, true)).toBe('last_writer');
    expect(await surfaces.keys.change(first, { scope: 'write' }, true)).toBe('last_writer');
    expect(await surfaces.keys.change(first, { scope: 'read_write', enabled: true }, true)).toBe('done');
    expect(await surfaces.keys.remove(reader, true)).toBe('done');
    const second = await add('read_write');
    expect(await surfaces.keys.remove(first, true)).toBe('done');
    expect(await surfaces.keys.remove(second)).toBe('done');
    expect(await surfaces.keys.remove(writer, true)).toBe('last_writer');
    expect(await surfaces.keys.remove(writer)).toBe('done');
    expect(await surfaces.keys.remove(second)).toBe('absent');
    expect(await surfaces.keys.change(99, { enabled: true })).toBe('absent');
    expect(await surfaces.keys.change(99, {})).toBe('absent');
  });
});
