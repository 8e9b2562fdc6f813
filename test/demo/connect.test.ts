import { sign } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DemoSite, type Fleet, startFleet } from '../../src/demo/fleet.js';
import { closing } from '../support/cleanup.js';
import { START } from '../support/dates.js';
import {
  ajax,
  call,
  callRaw,
  encode,
  form,
  KEY,
  makeKey,
  post,
  record,
  register,
  SERVER,
} from '../support/demo-client.js';

let fleet: Fleet;
let site: DemoSite;
let next = 0;

beforeAll(async () => {
  fleet = closing(await startFleet({ sites: 60, now: () => START }));
});
beforeEach(() => {
  site = fleet.site(next);
  next += 1;
  site.state.uniqueId = '';
});

const OTHER = makeKey();

describe('register', () => {
  test('without name or key: REG_ERROR1', async () => {
    expect(await register(site, { user: '' })).toMatchObject({ error_code: 'REG_ERROR1' });
    expect(await register(site, { pubkey: '' })).toMatchObject({ error_code: 'REG_ERROR1' });
  });

  test('over a stored key only with the same user and server: REG_ERROR2, REG_ERROR10', async () => {
    await register(site);
    expect(await register(site, { server: 'https://other.example/wp-admin/' })).toMatchObject({
      error_code: 'REG_ERROR2',
    });
    const [admin] = site.state.users;
    if (admin !== undefined) admin.passwordRequired = false;
    expect(await register(site, { server: 'https://other.example/' })).toMatchObject({ error_code: 'REG_ERROR10' });
    expect(await register(site, {}, OTHER)).toMatchObject({ register: 'OK' });
    expect(Object.keys(await call(site, 'security'))).toEqual(['error']);
    expect(await call(site, 'security', {}, { key: OTHER })).toHaveProperty('sslprotocol');
  });

  test('unique id: REG_ERROR3 when missing, REG_ERROR4 when different', async () => {
    site.uniqueId = 'abc';
    expect(await register(site, { uniqueId: '' })).toMatchObject({ error_code: 'REG_ERROR3' });
    expect(await register(site, { uniqueId: 'abd' })).toMatchObject({ error_code: 'REG_ERROR4' });
    expect(await register(site)).toMatchObject({ register: 'OK', uniqueId: 'abc' });
  });

  test('what the server lacks: REG_ERROR5, REG_ERROR6', async () => {
    site.state.openssl = false;
    expect(await register(site)).toMatchObject({ error_code: 'REG_ERROR5' });
    site.state.openssl = true;
    site.state.curl = false;
    expect(await register(site)).toMatchObject({ error_code: 'REG_ERROR6' });
  });

  test('proof: no or a wrong password is REG_ERROR7, a sent regverify without password reconnect_failed', async () => {
    expect(await register(site, { userpwd: '' })).toMatchObject({ error_code: 'REG_ERROR7' });
    expect(await register(site, { userpwd: encode('wrong') })).toMatchObject({ error_code: 'REG_ERROR7' });
    expect(await register(site, { user: 'nobody-here' })).toMatchObject({ error_code: 'REG_ERROR7' });
    expect(await register(site, { userpwd: '', regverify: '' })).toMatchObject({ error_code: 'reconnect_failed' });
    const { regverify } = await register(site);
    const wrong = await register(site, { userpwd: encode('wrong'), regverify: String(regverify) });
    expect(wrong).toMatchObject({ error_code: 'REG_ERROR7' });
  });

  test('an old dashboard gets REG_ERROR10, and no secret where no password is asked', async () => {
    expect(await register(site, { mainwpver: '5.2' })).toMatchObject({ error_code: 'REG_ERROR10' });
    const [admin] = site.state.users;
    if (admin !== undefined) admin.passwordRequired = false;
    const answer = await register(site, { mainwpver: '5.2', userpwd: '' });
    expect(answer.register).toBe('OK');
    expect(answer).not.toHaveProperty('regverify');
  });

  test('a user who cannot log in is REG_ERROR8, one without the role REG_ERROR9', async () => {
    const [admin] = site.state.users;
    if (admin !== undefined) admin.role = 'editor';
    expect(await register(site)).toMatchObject({ error_code: 'REG_ERROR9' });
    if (admin !== undefined) admin.canLogIn = false;
    expect(await register(site)).toMatchObject({ error_code: 'REG_ERROR8' });
  });

  test('the newest five secrets stay valid, across disconnect; a valid one is not replaced', async () => {
    const secrets: string[] = [];
    for (let i = 0; i < 6; i += 1) secrets.push(String((await register(site)).regverify));
    expect(new Set(secrets).size).toBe(6);
    await call(site, 'disconnect');
    const elsewhere = { userpwd: '', server: 'https://new.example/wp-admin/' };
    const oldest = await register(site, { ...elsewhere, regverify: secrets[0] ?? '' });
    expect(oldest).toMatchObject({ error_code: 'reconnect_failed' });
    const answer = await register(site, { ...elsewhere, regverify: secrets[1] ?? '' });
    expect(answer.register).toBe('OK');
    expect(answer).not.toHaveProperty('regverify');
    expect(site.state.users[0]?.regverify).toEqual(secrets.slice(1));
  });

  test('any text is stored as a key; only a signed call shows that it is none', async () => {
    expect(await register(site, { pubkey: 'not a key' })).toMatchObject({ register: 'OK' });
    expect(Object.keys(await call(site, 'security'))).toEqual(['error']);
  });

  test('success carries the whole stats payload and honours syncdata', async () => {
    const answer = await register(site, { syncdata: '{"plugins":1,"dbsize":0}', optimize: 1 });
    expect(answer).toMatchObject({ siteurl: site.url.slice(0, -1), plugins: expect.any(Array) });
    expect(answer).not.toHaveProperty('dbsize');
    expect(answer).toHaveProperty('users');
  });
});

describe('authentication', () => {
  test('wrong signature, another key, no key and no signature are one and the same answer', async () => {
    await register(site);
    const replies = [
      await callRaw(site, 'security', { nonce: 'changed' }),
      await callRaw(site, 'security', {}, { key: OTHER }),
      await post(ajax(site), form({ user: site.admin, function: 'security', nonce: '1', sign_algo: 7 })),
    ];
    await call(site, 'disconnect');
    replies.push(await callRaw(site, 'security'));
    expect(new Set(replies.map((reply) => `${reply.status} ${reply.body}`)).size).toBe(1);
    expect(Object.keys(record(replies[0]?.value))).toEqual(['error']);
  });

  test('the hash is remembered: no way back to SHA-1 or to saying nothing', async () => {
    await register(site);
    expect(await call(site, 'security', {}, { algorithm: 1, silent: true })).toHaveProperty('sslprotocol');
    expect(await call(site, 'security', {}, { algorithm: 1 })).toHaveProperty('sslprotocol');
    expect(Object.keys(await call(site, 'security', {}, { algorithm: 1, silent: true }))).toEqual(['error']);
    for (const algorithm of [6, 8, 9, 7])
      expect(await call(site, 'security', {}, { algorithm })).toHaveProperty('sslprotocol');
    const old = await call(site, 'security', {}, { algorithm: 1 });
    const wrong = await call(site, 'security', {}, { key: OTHER });
    expect(Object.keys(old)).toEqual(['error']);
    expect(old.error).not.toBe(wrong.error);
  });

  test('phpseclib mode wants PSS and leaves the memory alone', async () => {
    await register(site);
    const data = Buffer.from('security77');
    const pss = sign('sha256', data, { key: KEY.privateKey, padding: 6, saltLength: 32 }).toString('base64');
    const fields = { user: site.admin, function: 'security', nonce: '77', verifylib: 1 };
    const reply = await post(ajax(site), form({ ...fields, mainwpsignature: pss }));
    expect(reply.value).toHaveProperty('sslprotocol');
    expect(site.state.algorithm).toBeNull();
    expect(Object.keys(await call(site, 'security', { verifylib: 1 }))).toEqual(['error']);
  });

  test('nonces are cleaned before they are verified, and may be used again', async () => {
    await register(site);
    for (let i = 0; i < 2; i += 1) {
      expect(await call(site, 'security', { nonce: '42<b>42</b>%41' }, { nonce: '4242' })).toHaveProperty(
        'sslprotocol',
      );
    }
    expect(await call(site, 'security', {}, { nonce: '' })).toHaveProperty('sslprotocol');
  });

  test('the user must be an administrator, may be left out, and alt_user takes over', async () => {
    await register(site);
    const [admin, other] = site.state.users;
    if (other === undefined || admin === undefined) throw new Error('the site has one user only');
    other.role = 'editor';
    const unknown = await call(site, 'security', { user: 'nobody-here' });
    const editor = await call(site, 'security', { user: other.login });
    expect([Object.keys(unknown), Object.keys(editor)]).toEqual([['error'], ['error']]);
    expect(await call(site, 'security', { user: '' })).toHaveProperty('sslprotocol');
    other.role = 'administrator';
    expect(await call(site, 'stats', { alt_user: other.login })).toMatchObject({ admin_nicename: other.login });
    expect(await call(site, 'stats', { alt_user: 'nobody-here' })).toMatchObject({ admin_nicename: admin.login });
  });

  test('an unknown function has a code', async () => {
    await register(site);
    expect(await call(site, 'no_such_fn')).toMatchObject({ error_code: 'child_plugin_incompatible' });
    expect(await call(site, 'toString')).toMatchObject({ error_code: 'child_plugin_incompatible' });
  });
});

describe('the life of a connection', () => {
  test('unsigned stats answers only while nobody is connected', async () => {
    const ask = () => post(ajax(site), form({ user: site.admin, function: 'stats', mainwpver: '6.1.2' }));
    expect(Object.keys(record((await ask()).value))).toEqual(['version', 'wpversion', 'wpe', 'wphost']);
    await register(site);
    expect(Object.keys(record((await ask()).value))).toEqual(['error']);
    expect(await call(site, 'disconnect')).toEqual({ result: 'success' });
    expect(record((await ask()).value)).toHaveProperty('wpversion');
    expect(site.state.connection).toBeNull();
  });

  test('stats overwrites the stored server, so that another string blocks the way back', async () => {
    await register(site);
    await call(site, 'stats', { server: 'https://typo.example/' });
    expect(await register(site)).toMatchObject({ error_code: 'REG_ERROR2' });
    await call(site, 'stats', { server: SERVER });
    expect(await register(site)).toMatchObject({ register: 'OK' });
  });

  test('after deactivate WordPress answers 400 with 0, and the front page goes on', async () => {
    const { regverify } = await register(site);
    expect(await call(site, 'deactivate')).toEqual({ deactivated: true });
    const reply = await callRaw(site, 'stats');
    expect([reply.status, reply.body]).toEqual([400, '0']);
    expect((await fetch(site.url)).status).toBe(200);
    site.state.pluginActive = true;
    expect(await register(site, { userpwd: '', regverify: String(regverify) })).toMatchObject({ register: 'OK' });
  });

  test('update_values sets the unique id that the next registration needs', async () => {
    await register(site);
    expect(await call(site, 'update_values', { uniqueId: 'xyz' })).toEqual({ result: 'ok' });
    expect(await register(site, { uniqueId: '' })).toMatchObject({ error_code: 'REG_ERROR3' });
  });

  test('a new secret can be asked for', async () => {
    await register(site);
    const { regverify_info: secret } = await call(site, 'stats', { sync_regverify: 1 });
    await call(site, 'disconnect');
    expect(await register(site, { userpwd: '', regverify: String(secret) })).toMatchObject({ register: 'OK' });
  });

  test('GET and a POST without a function are answered 400 with 0', async () => {
    const got = await fetch(ajax(site));
    expect([got.status, await got.text()]).toEqual([400, '0']);
    const posted = await post(ajax(site), 'action=heartbeat');
    expect([posted.status, posted.body]).toEqual([400, '0']);
  });

  test('every entry point of WordPress answers calls', async () => {
    for (const path of ['', 'index.php', 'wp-login.php', 'wp-admin/']) {
      const reply = await post(site.url + path, form({ user: site.admin, function: 'stats' }));
      expect(reply.value).toHaveProperty('wpversion');
    }
  });

  test('the log of calls holds parameters and no secrets', async () => {
    await register(site);
    await call(site, 'stats', { 'params_logs[events_count]': 3 });
    const shown = JSON.stringify(site.calls);
    expect(site.calls.map((each) => each.function)).toEqual(['register', 'stats']);
    expect(site.calls[1]?.params).toMatchObject({ params_logs: { events_count: '3' } });
    expect(shown).not.toMatch(/userpwd|pubkey|mainwpsignature|regverify/);
    expect(shown).not.toContain(JSON.stringify(site.password).slice(1, -1));
  });
});
