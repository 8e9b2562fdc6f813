/** Guidance over REST: keys propose, people on the page confirm and remove. */

import { beforeAll, describe, expect, it } from 'vitest';
import { newSession } from '../support/logins.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;

beforeAll(async () => {
  app = await restApp({ sites: 2, jobs: false });
  await app.connect(0);
  await app.call('add-client', { name: 'Foo', client_email: 'foo@example.com', selected_sites: [1] });
});

describe('/guidance', () => {
  it('lists what was written in the shell and what keys propose, of a site, a client or all', async () => {
    const person = { actor: { type: 'local', id: null, name: 'ada', rights: ['read', 'write'], via: 'cli' } } as const;
    await app.call('add-guidance', { text: 'Ask Ada first.' }, person as never);
    const until = new Date(app.clock.now() + 86_400_000).toISOString();
    const made = await app.rest('POST /guidance/add', {
      body: { text: ' No updates\nbefore Monday. ', site_id_or_domain: 1, until },
    });
    expect([made.status, made.body]).toEqual([
      200,
      {
        success: 1,
        message:
          'The guidance was added. It is shown with plans and previews of changes, and does not stop any update: leave an update out with exclude_slugs, or ignore it. It is marked as unverified until a person confirms it on the page.',
        data: {
          id: expect.any(Number),
          ...{ site_id: 1, site_name: app.fleet.site(0).name, client_id: null, client_name: null },
          text: 'No updates before Monday.',
          by: 'read_write',
          at: expect.any(String),
          until: until.replace(/\.\d+Z$/, 'Z'),
          verified: false,
        },
      },
    ]);
    const body = { text: 'Not on Fridays.', client_id_or_email: 'foo@example.com', until: null };
    expect((await app.rest('POST /guidance/add', { body })).body.data).toMatchObject({
      ...{ site_id: null, client_name: 'Foo', until: null, verified: false },
    });
    const texts = async (query = '') =>
      (await app.rest(`GET /guidance${query}`, { token: app.tokens.read })).body.data.map(
        ({ text }: { text: string }) => text,
      );
    expect(await texts()).toEqual(['Ask Ada first.', 'Not on Fridays.', 'No updates before Monday.']);
    expect(await texts('?site_id_or_domain=1')).toEqual([
      'Ask Ada first.',
      'Not on Fridays.',
      'No updates before Monday.',
    ]);
    expect(await texts('?client_id_or_email=1')).toEqual(['Ask Ada first.', 'Not on Fridays.']);
    const paged = await app.rest('GET /guidance?per_page=1&page=2');
    expect([paged.body.total, paged.body.data.length]).toEqual([3, 1]);
  });

  it('lets no key decide, and changes nothing that is refused', async () => {
    const before = (await app.rest('GET /guidance')).body;
    const { id } = before.data.at(-1);
    for (const call of [`POST /guidance/${id}/confirm`, `DELETE /guidance/${id}/remove`]) {
      const refused = await app.rest(call);
      expect([call, refused.status, refused.body.code]).toEqual([call, 403, 'svc_permission_denied']);
    }
    expect((await app.rest('POST /guidance/add', { body: { text: 'x' }, token: app.tokens.read })).status).toBe(403);
    for (const [body, field] of [
      [{ until: null }, 'text'],
      [{ text: '  ' }, 'text'],
      [{ text: 'x', until: 'tomorrow' }, 'until'],
      [{ text: 'x', sites: [1] }, 'sites'],
      [{ text: 'x', site_id_or_domain: 1, client_id_or_email: 1 }, 'client_id_or_email'],
    ] as const) {
      const refused = await app.rest('POST /guidance/add', { body });
      expect([body, refused.status]).toEqual([body, 400]);
      expect(JSON.stringify(refused.body)).toContain(field);
    }
    expect((await app.rest('POST /guidance/add', { body: { text: 'x', site_id_or_domain: 99 } })).status).toBe(404);
    expect((await app.rest('GET /guidance?client_id_or_email=99')).status).toBe(404);
    expect((await app.rest('GET /guidance')).body).toEqual(before);
  });

  it('lets a person confirm and remove, who then stands in the log', async () => {
    const headers = await newSession(app.service.store.users, app.service.sessions, 'eve');
    const own = (call: string, body?: object) => app.rest(call, { headers, token: null, body });
    const listed = async () => (await own('GET /guidance')).body.data;
    const { id, text } = (await listed()).at(-1);
    const confirmed = await own(`POST /guidance/${id}/confirm`);
    expect([confirmed.status, confirmed.body.data]).toMatchObject([
      200,
      { id, text, verified: true, by: 'read_write' },
    ]);
    expect((await listed()).find((entry: { id: number }) => entry.id === id).verified).toBe(true);
    const written = await own('POST /guidance/add', { text: 'Mine.' });
    expect(written.body.data).toMatchObject({ by: 'eve', verified: true, site_id: null, client_id: null });
    for (const one of [id, written.body.data.id]) {
      const removed = await own(`DELETE /guidance/${one}/remove`);
      expect([removed.status, removed.body.message]).toEqual([200, 'The guidance was removed.']);
      expect((await own(`DELETE /guidance/${one}/remove`)).status).toBe(400);
    }
    const { body } = await app.rest('GET /actions?contexts=guidance&by=eve');
    expect(body.data.map(({ action, name }: { action: string; name: string }) => [action, name])).toEqual([
      ['removed', 'Mine.'],
      ['removed', text],
      ['added', 'Mine.'],
      ['confirmed', text],
    ]);
  });
});
