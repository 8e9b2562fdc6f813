import { beforeAll, describe, expect, it } from 'vitest';
import { newKey, newUser } from '../support/logins.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
beforeAll(async () => {
  app = await restApp({ sites: 1 });
});

describe('API keys', () => {
  it('lists keys newest first, without their tokens, and clamps the page', async () => {
    const { status, body, headers } = await app.rest('GET /rest-api/keys?per_page=2&page=9');
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: 1, total: 3, page: 2, per_page: 2, pages: 2 });
    expect(body.data).toEqual([
      {
        id: 1,
        user_id: null,
        version: 'v2',
        description: 'read',
        permissions: ['Read'],
        permissions_raw: 'read',
        truncated_key: app.tokens.read.slice(-7),
        active: true,
        last_access: null,
      },
    ]);
    expect(headers.get('x-total')).toBe('3');
    expect(headers.get('x-total-pages')).toBe('2');
    expect(JSON.stringify(body)).not.toContain(app.tokens.read.split('==')[0]);
  });

  it('creates a key whose token works, and shows it once', async () => {
    const made = await app.rest('POST /rest-api/add-key', {
      body: { active: true, permissions: ' write , read', description: 'Reports' },
    });
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({ success: 1, data: { description: 'Reports', permissions_raw: 'read,write' } });
    expect(made.body.token).toMatch(/^[0-9a-f]{40}==[0-9a-f]{40}$/);
    expect((await app.rest('GET /rest-api/keys', { token: made.body.token })).status).toBe(200);
    const gone = await app.rest(`DELETE /rest-api/delete-key/${made.body.id}`);
    expect(gone.body).toMatchObject({ success: 1, data: { id: made.body.id } });
    expect((await app.rest('GET /rest-api/keys', { token: made.body.token })).status).toBe(401);
  });

  it('is described without what turns or hides the text around it, as the log names it so', async () => {
    const made = await app.rest('POST /rest-api/add-key', {
      body: { active: true, permissions: 'read', description: 'Re\u202Epo\u200Brt' },
    });
    expect(made.body.data.description).toBe('Report');
    const changed = await app.rest(`PUT /rest-api/edit-key/${made.body.id}`, {
      body: { description: '\u2066Other\uFEFF' },
    });
    expect(changed.body.data.description).toBe('Other');
    await app.rest(`DELETE /rest-api/delete-key/${made.body.id}`);
  });

  it('makes a key for the user of the key that asks for it', async () => {
    const { keys, users } = app.service.store;
    const user_id = (await newUser(users, 'ada', 'pass word'))?.id ?? 0;
    const { token } = await newKey(keys, { user_id });
    const body = { active: true, permissions: 'read' };
    const made = await app.rest('POST /rest-api/add-key', { body, token });
    expect(made.body.data).toMatchObject({ user_id });
    const ofNone = await app.rest('POST /rest-api/add-key', { body });
    expect(ofNone.body.data).toMatchObject({ user_id: null });
  });

  it('switches a key off at once, and names it only after the secret was proved', async () => {
    const { body: made } = await app.rest('POST /rest-api/add-key', { body: { active: 1, permissions: 'read' } });
    expect((await app.rest('GET /rest-api/keys', { token: made.token })).status).toBe(200);
    const off = await app.rest(`PATCH /rest-api/edit-key/${made.id}`, { body: { active: 'no', description: null } });
    expect(off.body.data).toMatchObject({ active: false, description: '' });
    const refused = await app.rest('GET /rest-api/keys', { token: made.token });
    expect(refused.body).toMatchObject({ success: 0, code: 'svc_rest_authentication_disabled_key' });
    const [, part] = made.token.split('==');
    const guessed = await app.rest('GET /rest-api/keys', { token: `${'0'.repeat(40)}==${part}` });
    expect(guessed.body.code).toBe('svc_rest_authentication_error');
  });

  it('never lets a key grant what it does not have', async () => {
    const made = await app.rest('POST /rest-api/add-key', {
      token: app.tokens.write,
      body: { active: true, permissions: 'read,write' },
    });
    expect(made.status).toBe(403);
    expect(made.body).toMatchObject({ code: 'svc_rest_insufficient_permission', data: { needed: 'read' } });
    const raised = await app.rest('PUT /rest-api/edit-key/2', {
      token: app.tokens.write,
      body: { permissions: 'read' },
    });
    expect(raised.status).toBe(403);
  });

  it.each(['read', 'read,write'])(
    'lets a key that may only write neither change nor delete one with %s',
    async (permissions) => {
      const { body: made } = await app.rest('POST /rest-api/add-key', { body: { active: true, permissions } });
      for (const [call, body] of [
        ['PATCH', { active: false }],
        ['PATCH', { description: 'mine' }],
        ['PUT', { permissions: 'write' }],
        ['DELETE', undefined],
      ] as const) {
        const path = call === 'DELETE' ? 'delete-key' : 'edit-key';
        const answer = await app.rest(`${call} /rest-api/${path}/${made.id}`, { token: app.tokens.write, body });
        expect([call, answer.status, answer.body.data]).toMatchObject([
          call,
          403,
          { needed: 'read', field: 'key_identifier' },
        ]);
      }
      const { body: list } = await app.rest('GET /rest-api/keys', { token: made.token });
      expect(list.data.find(({ id }: { id: number }) => id === made.id)).toMatchObject({
        active: true,
        description: '',
      });
      const { body: own } = await app.rest('POST /rest-api/add-key', { body: { active: true, permissions: 'write' } });
      const gone = await app.rest(`DELETE /rest-api/delete-key/${own.id}`, { token: app.tokens.write });
      expect(gone.status).toBe(200);
    },
  );

  it('names what is wrong', async () => {
    const empty = await app.rest('POST /rest-api/add-key');
    expect(empty.body).toMatchObject({ success: 0, code: 'empty_body', data: { status: 400 } });
    const missing = await app.rest('POST /rest-api/add-key', { body: { description: 'x' } });
    expect(missing.body).toMatchObject({
      code: 'rest_missing_callback_param',
      data: { params: ['active', 'permissions'] },
    });
    const wrong = await app.rest('POST /rest-api/add-key', { body: { active: 'maybe', permissions: 5 } });
    expect(wrong.body).toMatchObject({ code: 'rest_invalid_param', data: { params: { active: expect.any(String) } } });
    const scope = await app.rest('POST /rest-api/add-key', { body: { active: true, permissions: 'read,admin' } });
    expect(scope.body.data.params).toEqual({
      permissions: 'must be read, write or approve, or several of them separated by commas',
    });
    expect((await app.rest('PUT /rest-api/edit-key/999', { body: { active: true } })).body).toMatchObject({
      code: 'api_key_not_found',
      data: { status: 404 },
    });
    expect((await app.rest('DELETE /rest-api/delete-key/007')).body.code).toBe('rest_no_route');
    expect((await app.rest(`DELETE /rest-api/delete-key/ck_${'a'.repeat(40)}`)).body.code).toBe('api_key_not_found');
  });

  it('keeps the last key that may read and write, and the last that may write', async () => {
    const own = await restApp({ sites: 1 });
    // The other key can write, but could not create a key that reads.
    for (const [call, body] of [
      ['DELETE /rest-api/delete-key/3', {}],
      ['PUT /rest-api/edit-key/3', { permissions: 'write' }],
      ['PATCH /rest-api/edit-key/3', { permissions: 'read' }],
      ['PATCH /rest-api/edit-key/3', { active: false }],
    ] as const) {
      const { status, body: answer } = await own.rest(call, { body });
      expect([call, status, answer.code]).toEqual([call, 409, 'svc_rest_conflict']);
    }
    const { body: second } = await own.rest('POST /rest-api/add-key', {
      body: { active: true, permissions: 'read,write' },
    });
    // Of two concurrent removals, one is refused.
    const both = await Promise.all(
      [3, second.id].map((id) => own.rest(`DELETE /rest-api/delete-key/${id}`, { token: second.token })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('keeps the last key at all that may write', async () => {
    const own = await restApp({ sites: 1 });
    expect((await own.rest('DELETE /rest-api/delete-key/2')).status).toBe(200);
    for (const [call, options] of [
      ['DELETE /rest-api/delete-key/3', {}],
      ['PUT /rest-api/edit-key/3', { body: { active: false } }],
    ] as const) {
      const { status, body } = await own.rest(call, options);
      expect([status, body.code]).toEqual([409, 'svc_rest_conflict']);
    }
    expect((await own.rest('GET /rest-api/keys')).body.total).toBe(2);
  });
});
