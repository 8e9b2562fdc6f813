/** Answers in words that a reader takes as they are meant: toolsets, comments, booked time, income, what is off already. */

import { beforeAll, expect, it } from 'vitest';
import { plugin } from '../operations/support-app.js';
import type { Answer } from '../support/harness.js';
import { connect, type McpApp, mcpApp } from '../support/mcp-clients.js';

const SHOP = { slug: 'shop/shop.php', name: 'Shop' };
let mcp: McpApp;
let call: (name: string, input?: Record<string, unknown>) => Promise<Answer>;

beforeAll(async () => {
  mcp = await mcpApp({ sites: 4, realClock: false, fleet: { plugins: 3 } });
  for (const place of [0, 1, 2]) plugin(mcp.app, place, { ...SHOP, active: place !== 1 });
  for (const place of [0, 1, 2, 3]) await mcp.app.connect(place);
  const client = await connect(['2025-11-25', 'http'], { ...mcp.target, url: `${mcp.url}?toolsets=all` });
  const lean = await connect(['2025-11-25', 'http'], { ...mcp.target, url: `${mcp.url}?toolsets=lean` });
  call = async (name, input = {}) => {
    // All operations as tools need no search.
    const result = await (name === 'search-operations' ? lean : client).call(name, input);
    expect([name, result.isError ?? false, result.isError ? result.content : '']).toEqual([name, false, '']);
    return result.structuredContent as Answer;
  };
});

it('finds all operations of a toolset by its name, the first of them with all that a call needs', async () => {
  const found = await call('search-operations', { query: ' Support ' });
  const names = found.operations.map(({ operation }: Answer) => operation);
  expect(names).toEqual(
    expect.arrayContaining(['svc-diagnose-site-v1', 'svc-list-actions-v1', 'svc-search-changes-v1']),
  );
  expect(found.total).toBe(names.length);
  expect(found.operations.filter((one: Answer) => one.input_schema !== undefined)).toHaveLength(4);
  const costs = await call('search-operations', { query: 'costs' });
  expect(costs.operations.map(({ operation }: Answer) => operation)).toContain('svc-list-costs-v1');
});

it('shows the signs of a comment, not their codes', async () => {
  const { comments } = mcp.app.fleet.site(0).state;
  const [first] = comments;
  if (first === undefined) throw new Error('a site without comments');
  Object.assign(first, { content: 'Great article &#8211; it&#8217;s <b>good</b>', status: 'approved' });
  const { sites } = await call('svc-list-comments-v1', { site_ids_or_domains: [1], status: 'approved', per_site: 200 });
  const texts = sites[0].comments.map(({ text }: Answer) => text);
  expect(texts).toContain('Great article – it’s <b>good</b>');
  expect(texts.join()).not.toContain('&#');
});

it('says that booked time is booked, though no timer runs', async () => {
  const booked = await call('svc-add-time-task-v1', { title: 'Moved the shop', duration_seconds: 5400 });
  expect(booked).toMatchObject({
    status: 'paused',
    duration_seconds: 5400,
    note: expect.stringMatching(/^The time is recorded\./),
  });
  expect(await call('svc-add-time-task-v1', { title: 'Later' })).not.toHaveProperty('note');
});

it('names the sites on which a plugin is off already in the preview of switching it off', async () => {
  const preview = await call('svc-switch-plugin-v1', { plugin: 'Shop', action: 'deactivate', dry_run: true });
  expect(preview).toMatchObject({ would_affect: { sites: 2 }, already: [{ id: 2 }], total_already: 1 });
  const named = { plugin: 'Shop', action: 'deactivate', site_ids_or_domains: [1], dry_run: true };
  expect(await call('svc-switch-plugin-v1', named)).not.toHaveProperty('already');
});

it('has what a client and a site bring beside what they cost', async () => {
  await mcp.app.call('add-client', { name: 'Ada', client_email: 'ada@example.com', selected_sites: [1, 2] });
  const before = await call('svc-get-client-costs-v1', { client_id_or_email: 'ada@example.com' });
  expect(before).not.toHaveProperty('income_yearly');
  const record = { type: 'subscription', renewal_type: 'monthly', license_type: 'single_site', cost_status: 'active' };
  await call('svc-add-cost-v1', { ...record, kind: 'income', name: 'Care', price: 30, sites: [1, 2] });
  await call('svc-add-cost-v1', { ...record, name: 'Licence', price: 5, sites: [1] });
  expect(await call('svc-get-client-costs-v1', { client_id_or_email: 'ada@example.com' })).toMatchObject({
    ...{ total_monthly: 5, income_monthly: 60, income_yearly: 720 },
    costs: [{ name: 'Licence' }],
  });
  expect(await call('svc-get-site-costs-v1', { site_id_or_domain: 2 })).toMatchObject({
    ...{ costs: [], total_yearly: 0, income_yearly: 360 },
  });
});

it('tells in whole sentences what a plan leaves out and what nothing can roll back', async () => {
  for (const place of [0, 1]) Object.assign(mcp.app.fleet.site(place).state, { wpUpdate: '99.0' });
  await call('svc-sync-sites-v1', { site_ids_or_domains: [1, 2] });
  const plan = await call('svc-plan-updates-v1', {
    types: ['core'],
    site_ids_or_domains: [1, 2],
    exclude_sites: [2],
  });
  expect(plan.summary).toMatch(/ The update cannot be rolled back\. /);
  expect(plan.summary).toMatch(/ Left out: 1 update on sites that are excluded\. /);
});
