/** Clients, tags and costs: rows that the routes document refers to without listing them. */

import { beforeEach, describe, expect, it } from 'vitest';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
beforeEach(async () => {
  app = await restApp({ sites: 2 });
  await app.connect(0);
  await app.connect(1);
});

describe('clients', () => {
  it('are created, found by id and e-mail, changed, suspended and deleted', async () => {
    const made = await app.rest('POST /clients/add', {
      body: { name: 'Ltd', client_email: 'Office@example.com', city: 'Bern', selected_sites: '1,2' },
    });
    expect(made.body).toMatchObject({ success: 1, data: { id: 1, city: 'Bern', sites_count: 2, status: 'active' } });
    expect((await app.rest('GET /clients/office%40example.com')).body.data.id).toBe(1);
    const changed = await app.rest('PATCH /clients/1/edit', {
      body: { city: null, client_email: '', selected_sites: [2] },
    });
    expect(changed.body.data).toMatchObject({ name: 'Ltd', city: '', email: '', sites_count: 1 });
    expect((await app.rest('GET /clients/1/sites')).body).toMatchObject({ total: 1, data: [{ id: 2 }] });
    expect((await app.rest('POST /clients/1/suspend')).body).toMatchObject({ suspended: 1, sites: 1 });
    expect((await app.rest('GET /sites/2')).body.data.status).toBe('suspended');
    expect((await app.rest('GET /clients/count?status=suspended')).body).toMatchObject({ count: 1 });
    await app.rest('POST /clients/1/unsuspend');
    expect((await app.rest('GET /clients?search=lt')).body).toMatchObject({ total: 1, data: [{ status: 'active' }] });
    expect((await app.rest('DELETE /clients/1/remove')).body).toMatchObject({
      success: 1,
      data: { id: 1, name: 'Ltd' },
    });
    expect((await app.rest('GET /clients/1')).body.code).toBe('svc_rest_invalid_client_id');
    expect((await app.rest('GET /clients/a@example.com')).body.code).toBe('svc_rest_invalid_client_data');
    expect((await app.rest('GET /sites/2')).body.data.client_id).toBeNull();
  });
});

describe('tags', () => {
  it('are created, changed, listed with their sites and clients, and deleted', async () => {
    const made = await app.rest('POST /tags/add', { body: { name: 'Shops', color: '#5EC130' } });
    expect(made.body.data).toMatchObject({ id: 1, name: 'Shops', color: '#5EC130', sites_count: 0 });
    expect((await app.rest('POST /tags/add', { body: { name: 'shops' } })).status).toBe(409);
    await app.rest('POST /clients/add', { body: { name: 'Ltd', selected_sites: [1] } });
    await app.rest('POST /sites/1/edit', { body: { groupids: '1' } });
    expect((await app.rest('GET /tags/1/sites')).body).toMatchObject({ total: 1, data: [{ id: 1 }] });
    expect((await app.rest('GET /tags/1/clients')).body).toMatchObject({ total: 1, data: [{ name: 'Ltd' }] });
    expect((await app.rest('PUT /tags/1/edit', { body: { name: 'Stores' } })).body.data).toMatchObject({
      name: 'Stores',
    });
    expect((await app.rest('PUT /tags/1/edit', { body: { color: 'red' } })).body.data.params).toHaveProperty('color');
    expect((await app.rest('DELETE /tags/1/remove')).body.data).toEqual({ id: 1, name: 'Stores' });
    expect((await app.rest('GET /tags/1')).body.code).toBe('svc_tag_not_found');
    expect((await app.rest('GET /tags/abc')).body.code).toBe('rest_no_route');
  });
});

describe('costs', () => {
  it('take a price as a number down to its eighth place', async () => {
    const priced = (price: number) =>
      app.rest('POST /costs/add', { body: { name: 'Queries', price, renewal_type: 'monthly' } });
    for (const price of [5e-7, 1e-8, 1e-6, 12.5, 0]) {
      const text: string = (await priced(price)).body.data.price;
      expect([text, Number(text)]).toEqual([expect.stringMatching(/^[\d.]+$/), price]);
    }
    for (const price of [1e-9, 1.5e-8, -5e-7, 1e21])
      expect((await priced(price)).body.data.params).toHaveProperty('price');
  });

  it('are created, changed, listed and deleted', async () => {
    const made = await app.rest('POST /costs/add', {
      body: { name: 'Licence', price: '100', license_type: 'multi_site', renewal_type: 'yearly', sites: '1,2' },
    });
    expect(made.body.data).toMatchObject({ id: 1, price: '100', sites: [1, 2] });
    expect((await app.rest('GET /sites/2/costs')).body).toMatchObject({ total: 1, total_yearly: 50 });
    const changed = await app.rest('PATCH /costs/1/edit', { body: { sites: [1] } });
    expect(changed.body.data).toMatchObject({ name: 'Licence', sites: [1] });
    expect((await app.rest('PATCH /costs/1/edit', { body: { price: 'much' } })).body.data.params).toHaveProperty(
      'price',
    );
    expect((await app.rest('GET /costs')).body).toMatchObject({ total: 1, data: [{ id: 1 }] });
    expect((await app.rest('DELETE /costs/1/remove')).body).toMatchObject({ success: 1, data: { id: 1 } });
    expect((await app.rest('GET /costs/1')).body.code).toBe('svc_cost_not_found');
  });
});

describe('an edit', () => {
  it('clears with null and with the empty text of a form whatever may be empty', async () => {
    await app.rest('POST /clients/add', { body: { name: 'Ltd', selected_sites: '1,2' } });
    await app.rest('POST /tags/add', { body: { name: 'Shops', color: '#5EC130' } });
    const full = {
      name: 'Hosting',
      price: '12.50',
      url: 'https://host.example',
      product_type: 'hosting',
      payment_method: 'cash',
      renewal_type: 'monthly',
      last_renewal: '2026-11-01',
      note: 'Paid by us',
      sites: [1, 2],
      groups: [1],
      clients: [1],
    };
    await app.rest('POST /costs/add', { body: full });
    const empty = { url: '', product_type: '', payment_method: '', last_renewal: null, note: '' };
    const nobody = { sites: [], groups: [], clients: [] };
    for (const none of [null, '']) {
      for (const name of Object.keys({ ...empty, ...nobody })) {
        const { status, body } = await app.rest('PATCH /costs/1/edit', { body: { [name]: none } });
        expect([name, status]).toEqual([name, 200]);
        expect(body.data).toMatchObject({ ...full, [name]: { ...empty, ...nobody }[name as 'url'] });
        await app.rest('PATCH /costs/1/edit', { body: { [name]: full[name as 'url'] } });
      }
      const once = await app.rest('PATCH /costs/1/edit', { body: { type: 'lifetime', renewal_type: none } });
      expect(once.body.data).toMatchObject({ type: 'lifetime', renewal_type: null });
      await app.rest('PATCH /costs/1/edit', { body: { type: 'subscription', renewal_type: 'monthly' } });

      expect((await app.rest('PUT /tags/1/edit', { body: { name: 'Shop' } })).body.data.color).toBe('#5EC130');
      expect((await app.rest('PUT /tags/1/edit', { body: { color: none } })).body.data).toMatchObject({
        name: 'Shop',
        color: null,
      });
      await app.rest('PUT /tags/1/edit', { body: { color: '#5EC130' } });

      const client = await app.rest('PUT /clients/1/edit', { body: { selected_sites: none } });
      expect(client.body.data).toMatchObject({ name: 'Ltd', sites_count: 0 });
      await app.rest('PUT /clients/1/edit', { body: { selected_sites: [1, 2] } });
    }
    // Required members of a record stay.
    for (const call of ['PATCH /costs/1/edit', 'PUT /tags/1/edit', 'PUT /clients/1/edit'])
      expect((await app.rest(call, { body: { name: null } })).status).toBe(400);
    expect((await app.rest('PATCH /costs/1/edit', { body: { price: null } })).body.data.params).toHaveProperty('price');
    expect((await app.rest('GET /costs/1')).body.data).toMatchObject(full);
  });
});
