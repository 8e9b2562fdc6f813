import { beforeAll, expect, test } from 'vitest';
import { type DemoSite, type Fleet, startFleet } from '../../src/demo/fleet.js';
import { closing } from '../support/cleanup.js';
import { START } from '../support/dates.js';
import { ajax, encode, form, post, record } from '../support/demo-client.js';
import vectors from './vectors.json' with { type: 'json' };

let fleet: Fleet;
let site: DemoSite;

beforeAll(async () => {
  fleet = closing(await startFleet({ sites: 1, admin: 'admin4', password: vectors.password, now: () => START }));
  site = fleet.site(0);
});

test('the recorded registration is accepted, password with every awkward sign included', async () => {
  const { value } = await post(ajax(site), vectors.register_body);
  expect(value).toMatchObject({ register: 'OK', user: 'admin4', uniqueId: '', version: expect.any(String) });
  expect(record(value).regverify).toMatch(/^[0-9a-f]{40}-[0-9a-f]{40}$/);
  expect(site.state.connection).toEqual({
    publicKey: vectors.public_key,
    server: 'http://127.0.0.1:9999/wp-admin/',
    user: 'admin4',
  });
});

test.each(vectors.calls)('the recorded $function call with hash $sign_algo is accepted', async (recorded) => {
  const reply = await post(ajax(site), recorded.request_body);
  const value = record(reply.value);
  expect(value.error).toBeUndefined();
  const optional = ['premium_updates'];
  expect(Object.keys(value).filter((key) => !optional.includes(key))).toEqual(recorded.top_level_keys);
});

test('a changed bit of a recorded signature is refused', async () => {
  const [recorded] = vectors.calls;
  const body = recorded?.request_body.replace('NfyTLE', 'NfyTLF') ?? '';
  expect(body).not.toBe(recorded?.request_body);
  const reply = await post(ajax(site), body);
  expect(reply.status).toBe(200);
  expect(Object.keys(record(reply.value))).toEqual(['error']);
});

test('the frame is the recorded one, byte by byte', async () => {
  Object.assign(site.state, {
    debug: false,
    wpUpdate: null,
    phpVersion: '8.2.35',
    dbReporting: 'Y_UNABLE',
    phpReporting: 'Y_UNABLE',
  });
  const offer = { version: '99.0', requiresPhp: '', requiresWp: '' };
  for (const item of [...site.state.plugins.slice(0, 1), ...site.state.themes.slice(0, 1)]) item.update = offer;
  for (const plugin of site.state.plugins.slice(0, 1)) plugin.active = false;
  const [recorded] = vectors.calls;
  const reply = await post(ajax(site), recorded?.request_body ?? '');
  expect(reply.value).toEqual(vectors.frame.decoded);
  expect(reply.body).toBe(vectors.frame.body);
});

test('a password encoded once only, or with a bare quote, is refused', async () => {
  const fields = { user: 'admin4', function: 'register', mainwpver: '6.1.2', pubkey: 'x', server: 's' };
  const twice = encode(vectors.password);
  const connected = site.state.connection;
  site.state.connection = null;
  for (const userpwd of [vectors.password, encodeURIComponent(vectors.password), twice.replace('%22', '"')]) {
    const { value } = await post(ajax(site), form({ ...fields, userpwd }));
    expect(value).toMatchObject({ error_code: 'REG_ERROR7' });
  }
  expect((await post(ajax(site), form({ ...fields, userpwd: twice }))).value).toMatchObject({ register: 'OK' });
  site.state.connection = connected;
});
