/** What the subscriptions of a fleet cost, by client, site and month: over MCP and HTTP. */

import { beforeAll, describe, expect, it } from 'vitest';
import { type SupportApp, supportApp } from './support-app.js';

let support: SupportApp;
const grouped = (group_by: string, input: Record<string, unknown> = {}) =>
  support.ask('list-costs', { group_by, ...input });
const url = (id: number) => support.app.fleet.site(id - 1).url;

// The day of the tests is 2026-11-20.
beforeAll(async () => {
  support = await supportApp({ connected: 4 });
  const { app } = support;
  await app.call('add-client', { name: 'Ada', selected_sites: [1, 2] });
  await app.call('add-client', { name: 'Bea', selected_sites: [3] });
  await app.call('add-client', { name: 'Cleo' });
  await app.call('add-tag', { name: 'Shops' });
  await support.app.call('tag-sites', { site_ids_or_domains: [1, 3], add: ['Shops'] });
  for (const cost of [
    { name: 'Hosting', price: '10', renewal_type: 'monthly', last_renewal: '2026-10-31', sites: [1, 2, 3, 4] },
    {
      name: 'Licence',
      price: '59.90',
      renewal_type: 'yearly',
      license_type: 'multi_site',
      last_renewal: '2026-03-15',
      groups: [1],
    },
    { name: 'Undated', price: '7', renewal_type: 'weekly', sites: [4] },
    { name: 'Canceled', price: '100', renewal_type: 'monthly', cost_status: 'canceled', sites: [1] },
    { name: 'Once', price: '500', type: 'lifetime', sites: [1] },
    { name: 'Nobody', price: '12', renewal_type: 'monthly', license_type: 'multi_site', clients: [3] },
  ])
    await app.call('add-cost', cost);
});

/** 4 × 120 for hosting, 59.90 for the licence, 52 × 7 undated. */
const TOTALS = { currency: 'USD', total_yearly: 903.9, total_monthly: 75.33, not_covered: 1, not_dated: 1, costs: [] };

describe('list-costs', () => {
  it('names the sites, tags and clients that each covers', async () => {
    const { costs } = await support.ask('list-costs');
    const { sites } = await support.app.call('get-sites-basic');
    const siteNames = [1, 2, 3, 4].map((id) => sites.find((site: { id: number }) => site.id === id).name);
    const names = (name: string) => {
      const found = costs.find((one: { name: string }) => one.name === name);
      return [found.site_names, found.group_names, found.client_names];
    };
    expect(names('Hosting')).toEqual([siteNames, [], []]);
    expect(names('Licence')).toEqual([[], ['Shops'], []]);
    expect(names('Nobody')).toEqual([[], [], ['Cleo']]);
  });
});

describe('list-costs with group_by', () => {
  it('client: the shares of all its sites, those that cost most first', async () => {
    expect(await grouped('client')).toEqual({
      ...TOTALS,
      groups: [
        { value: null, total_yearly: 484, total_monthly: 40.33, costs: 2 },
        { value: 'Ada', id: 1, total_yearly: 269.95, total_monthly: 22.5, costs: 2 },
        { value: 'Bea', id: 2, total_yearly: 149.95, total_monthly: 12.5, costs: 2 },
      ],
      total: 3,
      page: 1,
      per_page: 20,
    });
    for (const { id, total_yearly, total_monthly } of (await grouped('client')).groups.slice(1))
      expect(await support.app.call('get-client-costs', { client_id_or_email: id })).toMatchObject({
        total_yearly,
        total_monthly,
      });
  });

  it('site: its shares, page by page', async () => {
    const { groups, total } = await grouped('site');
    expect(total).toBe(4);
    const shares = groups.map(({ id, value, total_yearly }: { id: number; value: string; total_yearly: number }) => [
      id,
      value,
      total_yearly,
    ]);
    expect(shares[0]).toEqual([4, url(4), 484]);
    expect(shares.slice(1, 3).sort()).toEqual([
      [1, url(1), 149.95],
      [3, url(3), 149.95],
    ]);
    expect(shares[3]).toEqual([2, url(2), 120]);
    const second = await grouped('site', { page: 2, per_page: 3 });
    expect(second).toMatchObject({ groups: groups.slice(3), total: 4, total_yearly: TOTALS.total_yearly });
    // Behind the last page there are as many.
    expect(await grouped('site', { page: 3, per_page: 3 })).toMatchObject({ groups: [], total: 4 });
  });

  it('month: what is due in it, in full, for a year', async () => {
    const answer = await grouped('month');
    expect(answer).toMatchObject({ ...TOTALS, total: 12 });
    const months = Array.from({ length: 12 }, (_, index) =>
      new Date(Date.UTC(2026, 10 + index, 1)).toISOString().slice(0, 7),
    );
    expect(answer.groups).toEqual(
      months.map((value) =>
        value === '2027-03' ? { value, amount: 99.9, costs: 2 } : { value, amount: 40, costs: 1 },
      ),
    );
  });

  it('is not asked for: the records, as before', async () => {
    const answer = await support.ask('list-costs');
    expect(answer.costs).toHaveLength(6);
    expect(Object.keys(answer).sort()).toEqual(['costs', 'page', 'per_page', 'total']);
  });

  it('income is told beside the costs; first come those that cost most beyond it; it is no cost of a site or client', async () => {
    const add = (input: object) => support.app.call('add-cost', { kind: 'income', ...input });
    const { id: care } = await add({ name: 'Care plan', price: '30', renewal_type: 'monthly', sites: [4, 2] });
    const { id: yearly } = await add({
      ...{ name: 'Retainer', price: '100', renewal_type: 'yearly', last_renewal: '2026-01-10' },
      ...{ license_type: 'multi_site', clients: [1] },
    });
    try {
      const answer = await grouped('site');
      expect(answer).toMatchObject({
        ...{ total_yearly: TOTALS.total_yearly, income_yearly: 820, income_monthly: 68.33 },
        ...{ not_covered: 1, not_dated: 2 },
      });
      const rows = answer.groups.map((row: Record<string, unknown>) => [
        row.id,
        row.total_yearly,
        row.income_yearly,
        row.costs,
      ]);
      // Beyond their income: 149.95, 124, 99.95, and -290.
      expect(rows).toEqual([
        [3, 149.95, 0, 2],
        [4, 484, 360, 3],
        [1, 149.95, 50, 3],
        [2, 120, 410, 3],
      ]);
      const losing = await support.ask('list-costs', { group_by: 'site', losing: true });
      expect(losing.groups.map(({ id }: { id: number }) => id)).toEqual([3, 4, 1]);
      expect(losing.total).toBe(3);
      for (const { value } of losing.groups) expect(value).toEqual(expect.any(String));
      const months = (await grouped('month')).groups;
      expect(months.find(({ value }: { value: string }) => value === '2027-01')).toEqual({
        ...{ value: '2027-01', amount: 40, income: 100, costs: 2 },
      });
      for (const [id, total_yearly] of [
        [4, 484],
        [2, 120],
      ])
        expect(await support.app.call('get-site-costs', { site_id_or_domain: id })).toMatchObject({ total_yearly });
      const ada = await support.app.call('get-client-costs', { client_id_or_email: 1 });
      expect([ada.total_yearly, JSON.stringify(ada)]).toEqual([269.95, expect.not.stringContaining('Retainer')]);
      const listed = (await support.ask('list-costs')).costs;
      expect(listed.filter(({ kind }: { kind: string }) => kind === 'income')).toHaveLength(2);
    } finally {
      for (const cost_id of [care, yearly]) await support.app.call('delete-cost', { cost_id, confirm: true });
    }
    expect(await grouped('site')).not.toHaveProperty('income_yearly');
  });

  it('refuses to say what loses of no group', async () => {
    for (const input of [{ losing: true }, { losing: true, group_by: 'month' }]) {
      const { status, body } = await support.post('list-costs', input);
      expect([status, body.code, body.data.field]).toEqual([400, 'svc_invalid_input', 'losing']);
    }
  });

  it('refuses another group', async () => {
    const { status, body } = await support.post('list-costs', { group_by: 'tag' });
    expect([status, body.code, body.data.field]).toEqual([400, 'ability_invalid_input', 'group_by']);
  });

  it('stays below 5,000 tokens on a large fleet', async () => {
    const { app } = support;
    const numbers = JSON.stringify(Array.from({ length: 2000 }, (_, index) => 100 + index));
    await app.db.run(
      `INSERT INTO client (id, name, name_key, created_at, updated_at) SELECT value, value || ?, value, 1, 1 FROM json_each(?)`,
      ['顧客'.repeat(100), numbers],
    );
    await app.db.run(
      `INSERT INTO site (id, url, url_key, name, search, client_id, created_at)
       SELECT value, 'https://' || value || '.example/', value || '.example/', 'n', 'n', value, 1 FROM json_each(?)`,
      [numbers],
    );
    await app.db.run('INSERT INTO cost_target (cost_id, site_id) SELECT 1, value FROM json_each(?)', [numbers]);
    const answer = await support.tool('list-costs', { group_by: 'client' });
    expect(answer).toMatchObject({ total: 2003, total_yearly: 903.9 + 2000 * 120 });
  });
});
