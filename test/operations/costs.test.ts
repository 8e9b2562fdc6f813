import { beforeEach, describe, expect, test } from 'vitest';
import { costChange, costRecord, newCost } from '../../schemas/cost.js';
import { addCost, deleteCost, getCost, listCosts, updateCost } from '../../src/domain/costs/records.js';
import type { ServiceError } from '../../src/runtime/errors.js';
import { type OfflineApp, offlineApp, pluck } from './offline-app.js';

let app: OfflineApp;
beforeEach(async () => {
  app = await offlineApp();
});

const add = (input: object) => addCost(app.context(), newCost().parse({ renewal_type: 'monthly', ...input }));
const change = (id: number, input: object) => updateCost(app.context(), id, costChange().parse(input));
const siteCosts = (site: number) => app.call('get-site-costs', { site_id_or_domain: site });
const clientCosts = (client: number) => app.call('get-client-costs', { client_id_or_email: client });

async function refused(work: Promise<unknown>): Promise<ServiceError> {
  return work.then(
    () => Promise.reject(new Error('It was expected to be refused.')),
    (error) => error,
  );
}

describe('get-site-costs', () => {
  test('answers a site without costs', async () => {
    const site = await app.site('a.example');
    expect(await siteCosts(site)).toEqual({ site_id: site, costs: [], total_monthly: 0, total_yearly: 0 });
  });

  test('refuses unknown sites before it asks for the module', async () => {
    const site = await app.site('a.example');
    app.state.modules = [];
    expect((await app.refusal('get-site-costs', { site_id_or_domain: 99 })).code).toBe('svc_site_not_found');
    expect(await app.refusal('get-site-costs', { site_id_or_domain: site })).toMatchObject({
      code: 'svc_module_not_available',
      status: 501,
      data: { module: 'cost-tracker' },
    });
  });

  test('finds a cost by site, tag and client, once each', async () => {
    const client = await app.client('Ada');
    const tag = await app.tag('Shops');
    const site = await app.site('a.example', { client, tags: [tag] });
    await app.site('b.example', { client });
    const all = await add({ name: 'All', price: '1', sites: [site], groups: [tag], clients: [client] });
    const byTag = await add({ name: 'Tag', price: 2, groups: [tag] });
    const byClient = await add({ name: 'Client', price: 3, clients: [client] });
    await add({ name: 'None', price: 4 });
    expect(pluck((await siteCosts(site)).costs, 'id')).toEqual([all.id, byTag.id, byClient.id]);
    expect(pluck((await siteCosts(2)).costs, 'id')).toEqual([all.id, byClient.id]);
  });

  test('orders by due date, none last, then by id', async () => {
    const site = await app.site('a.example');
    const on = { price: '1', sites: [site] };
    await add({ ...on, name: 'never', type: 'lifetime' });
    await add({ ...on, name: 'july', last_renewal: '2025-06-10' });
    await add({ ...on, name: 'june', last_renewal: '2025-05-20' });
    await add({ ...on, name: 'unknown' });
    await add({ ...on, name: 'july too', last_renewal: '2025-04-10' });
    const { costs } = await siteCosts(site);
    expect(pluck(costs, 'name')).toEqual(['june', 'july', 'july too', 'never', 'unknown']);
    expect(pluck(costs, 'next_due')).toEqual(['2025-06-20', '2025-07-10', '2025-07-10', null, null]);
    expect(pluck(costs, 'frequency')).toEqual(['monthly', 'monthly', 'monthly', 'lifetime', 'monthly']);
  });

  test('shares one price among the distinct sites it covers', async () => {
    const client = await app.client('Ada');
    const tag = await app.tag('Shops');
    const site = await app.site('a.example', { client, tags: [tag] });
    await app.site('b.example', { client });
    await app.site('c.example', { tags: [tag] });
    const targets = { sites: [site], groups: [tag], clients: [client], price: '100', renewal_type: 'yearly' };
    await add({ ...targets, name: 'shared', license_type: 'multi_site' });
    await add({ ...targets, name: 'each', license_type: 'single_site' });
    const answer = await siteCosts(site);
    expect(pluck(answer.costs, 'amount')).toEqual([33.33, 100]);
    expect(answer).toMatchObject({ total_yearly: 133.33, total_monthly: 11.11 });
  });

  test.each([
    ['weekly', 520, 43.33],
    ['monthly', 120, 10],
    ['quarterly', 40, 3.33],
    ['yearly', 10, 0.83],
  ])('10 %s is %d a year and %d a month', async (renewal_type, total_yearly, total_monthly) => {
    const site = await app.site('a.example');
    await add({ name: 'x', price: '10', renewal_type, sites: [site] });
    expect(await siteCosts(site)).toMatchObject({ total_yearly, total_monthly });
  });

  test('totals count active subscriptions by 52, 12, 4 and 1 a year and round once, at the end', async () => {
    const site = await app.site('a.example');
    const on = { sites: [site], name: 'x' };
    await add({ ...on, price: '0.00333333', renewal_type: 'weekly' });
    await add({ ...on, price: '0.1', renewal_type: 'monthly' });
    await add({ ...on, price: '0.2', renewal_type: 'quarterly' });
    await add({ ...on, price: '0.00166684', renewal_type: 'yearly' });
    for (const cost_status of ['canceled', 'onhold', 'expired', 'pending_cancelation']) {
      await add({ ...on, price: '1000', cost_status, last_renewal: '2025-06-01' });
    }
    await add({ ...on, price: '1000', type: 'lifetime' });
    const answer = await siteCosts(site);
    // 0.17333316 + 1.2 + 0.8 + 0.00166684 = 2.175 exactly; floats say 2.1749999…
    expect(answer).toMatchObject({ total_yearly: 2.18, total_monthly: 0.18 });
    expect(pluck(answer.costs, 'amount').filter((amount) => amount === 0)).toHaveLength(2);
    expect(new Set(pluck(answer.costs, 'next_due'))).toEqual(new Set([null]));
  });
});

describe('get-client-costs', () => {
  test('has one row per cost and site, by site name, due date and id', async () => {
    const client = await app.client('Ada');
    const other = await app.client('Bea');
    const tag = await app.tag('Shops');
    const [zoo, alp] = [
      await app.site('1.example', { client, name: 'Zoo', tags: [tag] }),
      await app.site('2.example', { client, name: 'alp' }),
    ];
    await app.site('3.example', { client: other, name: 'Not hers', tags: [tag] });
    const whole = await add({
      name: 'Whole',
      price: '30',
      clients: [client],
      license_type: 'multi_site',
      last_renewal: '2025-06-10',
    });
    const shops = await add({
      name: 'Shops',
      price: '10',
      groups: [tag],
      license_type: 'multi_site',
      last_renewal: '2025-05-20',
    });
    const once = await add({ name: 'Once', price: '7', sites: [alp], type: 'lifetime' });
    const answer = await clientCosts(client);
    expect(answer).toMatchObject({ client_id: client, client_name: 'Ada', total_monthly: 35, total_yearly: 420 });
    expect((answer.costs as Record<string, unknown>[]).map((row) => [row.site_name, row.id, row.amount])).toEqual([
      ['alp', whole.id, 15],
      ['alp', once.id, 7],
      ['Zoo', shops.id, 5],
      ['Zoo', whole.id, 15],
    ]);
    expect((answer.costs as unknown[])[2]).toEqual({
      id: shops.id,
      name: 'Shops',
      amount: 5,
      frequency: 'monthly',
      next_due: '2025-06-20',
      site_id: zoo,
      site_name: 'Zoo',
    });
  });

  test('a site covered in three ways is one row', async () => {
    const client = await app.client('Ada');
    const tag = await app.tag('Shops');
    const site = await app.site('1.example', { client, tags: [tag] });
    await add({ name: 'x', price: '10', sites: [site], groups: [tag], clients: [client] });
    expect(await clientCosts(client)).toMatchObject({ costs: [{ site_id: site, amount: 10 }], total_monthly: 10 });
    expect((await clientCosts(client)).costs).toHaveLength(1);
  });

  test('is empty without sites, and 501 without the module once the client is known', async () => {
    const client = await app.client('Ada');
    await add({ name: 'Whole', price: '30', clients: [client] });
    expect(await clientCosts(client)).toMatchObject({ costs: [], total_monthly: 0, total_yearly: 0 });
    app.state.modules = [];
    expect((await app.refusal('get-client-costs', { client_id_or_email: 9 })).code).toBe('svc_client_not_found');
    expect((await app.refusal('get-client-costs', { client_id_or_email: client })).code).toBe(
      'svc_module_not_available',
    );
  });

  test('two round trips for 300 sites with 20 costs', async () => {
    const client = await app.client('Ada');
    for (let n = 0; n < 300; n++) await app.site(`${n}.example`, { client });
    for (let n = 0; n < 20; n++)
      await add({ name: `Cost ${n}`, price: '3', clients: [client], license_type: 'multi_site' });
    app.db.reset();
    const answer = await clientCosts(client);
    expect(app.db.counts.calls).toBe(2);
    expect(answer.costs).toHaveLength(6000);
    expect(answer.total_monthly).toBe(60);
  });
});

describe('cost records', () => {
  test('are stored as sent and read back by id and in lists', async () => {
    const site = await app.site('a.example');
    const tag = await app.tag('Shops');
    const client = await app.client('Ada');
    const cost = await add({
      name: 'Hosting',
      url: 'https://host.example/',
      product_type: 'hosting',
      license_type: 'multi_site',
      payment_method: 'paypal',
      price: 19.99,
      last_renewal: '2025-05-31',
      note: 'n',
      sites: [site, site],
      groups: [tag],
      clients: [client],
    });
    expect(costRecord().strict().parse(cost)).toEqual({
      id: 1,
      kind: 'cost',
      name: 'Hosting',
      url: 'https://host.example/',
      type: 'subscription',
      product_type: 'hosting',
      license_type: 'multi_site',
      cost_status: 'active',
      payment_method: 'paypal',
      price: '19.99',
      renewal_type: 'monthly',
      last_renewal: '2025-05-31',
      next_renewal: '2025-06-30',
      note: 'n',
      sites: [site],
      groups: [tag],
      clients: [client],
      created_at: '2025-06-15T12:00:00Z',
      updated_at: '2025-06-15T12:00:00Z',
    });
    expect(await getCost(app.context(), 1)).toEqual(cost);
    await add({ name: 'apple', price: '0' });
    const { items, total } = await listCosts(app.context(), 1, 1);
    expect([pluck(items, 'name'), total]).toEqual([['apple'], 2]);
    expect((await listCosts(app.context(), 2, 1)).items).toEqual([cost]);
    expect((await listCosts(app.context(), 3, 1)).items).toEqual([]);
    expect(app.events.map(({ name }) => name)).toEqual(['tag.created', 'client.added', 'cost.added', 'cost.added']);
  });

  test('an unknown target is named by its place, and nothing is stored', async () => {
    const site = await app.site('a.example');
    for (const [input, code, field] of [
      [{ sites: [site, 77] }, 'svc_site_not_found', 'sites[1]'],
      [{ sites: [site], groups: [77] }, 'svc_tag_not_found', 'groups[0]'],
      [{ clients: [77] }, 'svc_client_not_found', 'clients[0]'],
    ] as const) {
      expect(await refused(add({ name: 'x', price: '1', ...input }))).toMatchObject({ code, status: 404, field });
    }
    expect(await app.cell('SELECT count(*) FROM cost')).toBe(0);
    const { id } = await add({ name: 'x', price: '1', sites: [site] });
    expect(await refused(change(id, { name: 'y', sites: [78] }))).toMatchObject({
      code: 'svc_site_not_found',
      field: 'sites[0]',
    });
    expect(await getCost(app.context(), id)).toMatchObject({ name: 'x', sites: [site] });
  });

  test('only given fields change; given targets replace, [] removes them', async () => {
    const [one, two] = [await app.site('1.example'), await app.site('2.example')];
    const tag = await app.tag('Shops');
    const { id } = await add({ name: 'x', price: '5', sites: [one], groups: [tag] });
    app.state.now += 60_000;
    expect(await change(id, { price: '6.5', sites: [two] })).toMatchObject({
      name: 'x',
      price: '6.5',
      sites: [two],
      groups: [tag],
      updated_at: '2025-06-15T12:01:00Z',
    });
    expect(await change(id, { groups: [] })).toMatchObject({ sites: [two], groups: [] });
    const before = await getCost(app.context(), id);
    app.state.now += 60_000;
    expect(await change(id, {})).toEqual(before);
    expect(await change(99, { name: 'y' })).toBeUndefined();
  });

  test('a subscription needs a frequency, a lifetime cost has none', async () => {
    expect(await refused(add({ name: 'x', price: '1', renewal_type: null }))).toMatchObject({
      code: 'svc_invalid_input',
      field: 'renewal_type',
    });
    expect(await refused(add({ name: ' ', price: '1' }))).toMatchObject({ code: 'svc_invalid_input', field: 'name' });
    const { id } = await add({ name: 'x', price: '1' });
    expect(await change(id, { type: 'lifetime' })).toMatchObject({ renewal_type: null, next_renewal: null });
    expect(await refused(change(id, { type: 'subscription' }))).toMatchObject({ field: 'renewal_type' });
  });

  test('the schema refuses what is no price and no date', () => {
    const wrong = (input: object) => newCost().safeParse({ name: 'x', price: '1', ...input }).error?.issues[0]?.path;
    for (const price of [
      '-1',
      '1e3',
      '1.123456789',
      '',
      'NaN',
      1e21,
      1e-9,
      Number.NaN,
      -0.5,
      true,
      null,
      '1234567890123',
    ]) {
      expect([price, wrong({ price })]).toEqual([price, ['price']]);
    }
    for (const last_renewal of ['2025-02-30', '2025-13-01', '25-01-01', '2025-1-1', 'today', '']) {
      expect([last_renewal, wrong({ last_renewal })]).toEqual([last_renewal, ['last_renewal']]);
    }
    expect(wrong({ price: 0.1, last_renewal: '2024-02-29' })).toBeUndefined();
    expect(wrong({ color: 'red' })).toEqual([]);
  });

  test('are deleted with their links, once', async () => {
    const site = await app.site('a.example');
    const { id } = await add({ name: 'x', price: '1', sites: [site] });
    expect(await deleteCost(app.context(), id)).toMatchObject({ id, name: 'x' });
    expect(await deleteCost(app.context(), id)).toBeUndefined();
    expect(await app.cell('SELECT count(*) FROM cost_target')).toBe(0);
    expect(app.events.at(-1)).toMatchObject({ name: 'cost.deleted', facts: { cost_id: id } });
  });

  test('deleted meanwhile, a cost is not found', async () => {
    const { id } = await add({ name: 'x', price: '1' });
    const site = await app.site('a.example');
    app.meanwhile(() => app.db.run('DELETE FROM cost'));
    expect(await change(id, { sites: [site] })).toBeUndefined();
    const other = await add({ name: 'y', price: '1' });
    app.meanwhile(() => app.db.run('DELETE FROM cost'));
    expect(await deleteCost(app.context(), other.id)).toBeUndefined();
  });

  test('lose a deleted client or tag and stay', async () => {
    const client = await app.client('Ada');
    const tag = await app.tag('Shops');
    const { id } = await add({ name: 'x', price: '1', clients: [client], groups: [tag] });
    await app.call('delete-client', { client_id_or_email: client, confirm: true });
    await app.call('delete-tag', { tag_id: tag, confirm: true });
    expect(await getCost(app.context(), id)).toMatchObject({ clients: [], groups: [] });
  });

  test('need the module', async () => {
    app.state.modules = ['logs'];
    for (const work of [
      add({ name: 'x', price: '1' }),
      getCost(app.context(), 1),
      listCosts(app.context(), 1, 20),
      change(1, {}),
      deleteCost(app.context(), 1),
    ]) {
      expect(await refused(work)).toMatchObject({ code: 'svc_module_not_available' });
    }
  });
});
