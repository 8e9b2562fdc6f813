/**
 * The page of a client, in a real browser: the state of its sites, what is available for them, costs, time worked, and
 * reports; and that what there is none of is a dash.
 */

import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type SafetyApp, safetyApp } from '../safety/safety-app.js';
import { needs } from '../support/needs.js';
import { allFindings, builtPage, counted, expectToFit, type ServedPage, servePage } from './browser.js';

let app: SafetyApp;
let served: ServedPage;
const nameOf = (index: number) => app.fleet.site(index).name;

describe('a client on the page', needs('chromium'), () => {
  beforeAll(async () => {
    app = await safetyApp({ sites: 4, fleet: { plugins: 8 }, pageFolder: await builtPage() });
    served = await servePage(app);
  });
  afterEach(() => {
    expect(served.complaints.splice(0)).toEqual([]);
  });

  it('shows its sites, worst first, with updates, costs, time worked and reports; what there is none of is a dash', async () => {
    const { id } = await app.call('add-client', { name: 'Nordlicht', client_email: 'it@nordlicht.example' });
    const empty = await app.call('add-client', { name: 'Empty', client_email: 'none@example.com' });
    for (const site_id_or_domain of [2, 3]) await app.call('update-site', { site_id_or_domain, client_id: id });
    for (const [site, version] of [
      [1, '91.0'],
      [2, '92.0'],
      [3, '93.0'],
    ] as const) {
      for (const plugin of app.fleet.site(site).state.plugins) plugin.update = null;
      app.offer(app.fleet.site(site), 0, version);
    }
    await app.call('sync-sites', { site_ids_or_domains: [2, 3, 4] });
    await app.db.run("DELETE FROM site_update WHERE site_id = 1 OR new_version NOT IN ('91.0', '92.0', '93.0')");
    await app.db.run('UPDATE monitor SET active = 1, status = CASE site_id WHEN 3 THEN 0 ELSE 1 END');
    // The price is for each site: 2 × 30, and 2 × 120 a year.
    await app.call('add-cost', { name: 'Hosting', price: '30', renewal_type: 'monthly', clients: [id] });
    await app.call('add-cost', { name: 'Mail', price: '120', renewal_type: 'yearly', clients: [id] });
    await app.call('add-time-task', {
      title: 'Moved the shop',
      client_id: id,
      duration_seconds: 50 * 3600 + 300,
      hourly_price: '12',
    });

    const page = await served.open();
    await page.goto(`${served.url}/clients`);
    const clicks = await counted(page);
    await page.getByRole('link', { name: 'Nordlicht' }).click();
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Nordlicht' }) });
    const facts = async () =>
      Object.fromEntries(
        await card
          .locator('.facts > div')
          .evaluateAll((rows) => rows.map((row) => [...row.children].map((part) => part.textContent))),
      );
    await expect.poll(facts).toEqual({
      'E-mail': 'it@nordlicht.example',
      Phone: '–',
      Note: '–',
      Updates: '2 updates on 2 sites',
      Costs: '80.00 USD a month',
      // 50 h 5 min for 12 an hour.
      'Time worked': '50 h 5 min in 1 task, 601.00 not billed yet',
      'Last report': '– A report is made when it is opened. None is sent or kept.',
    });
    const rows = card.locator('tbody tr');
    await expect.poll(() => rows.locator('th').allInnerTexts()).toEqual([nameOf(2), nameOf(1)]);
    await rows.nth(0).getByText('Down').first().waitFor();
    const opened = page.context().waitForEvent('page');
    await rows
      .nth(1)
      .getByRole('link', { name: /^Report, \w+ \d{4}: / })
      .click();
    const report = await opened;
    await report.getByText(nameOf(1)).first().waitFor();
    const { searchParams, pathname } = new URL(report.url());
    expect(pathname).toBe('/v2/pro-reports/2/report');
    // A month, from its first to its last day.
    const [from, to] = ['start_date', 'end_date'].map((name) => searchParams.get(name) ?? '');
    expect(from?.slice(0, 7)).toBe(to?.slice(0, 7));
    expect(from?.slice(8)).toBe('01');
    expect(new Date(Date.parse(to ?? '') + 86_400_000).getUTCDate()).toBe(1);
    expect(await clicks()).toBe(2);
    await report.close();
    expect(await allFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await page.setViewportSize({ width: 1280, height: 800 });

    // Its reports, and its updates, are a click away.
    await card.getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('heading', { name: 'Reports', level: 1 }).waitFor();
    const site = page.getByLabel('Site', { exact: true });
    await expect
      .poll(async () => (await site.locator('option').allInnerTexts()).sort())
      .toEqual([nameOf(1), nameOf(2)].sort());
    await page.getByRole('combobox', { name: 'Client' }).selectOption('Any client');
    await expect.poll(() => site.locator('option').count()).toBe(4);
    await page.goto(`${served.url}/clients?id=${id}`);
    await card.getByRole('link', { name: '2 updates on 2 sites' }).click();
    await page.getByRole('button', { name: 'Apply 2 updates' }).waitFor();

    await page.goto(`${served.url}/clients?id=${empty.id}`);
    const other = page.locator('.card', { has: page.getByRole('heading', { name: 'Empty' }) });
    await other.getByText('No sites yet.').waitFor();
    await expect
      .poll(() => other.locator('.facts dd').allInnerTexts())
      .toEqual(['none@example.com', '–', '–', '–', '–', '–', expect.stringMatching(/^– A report is made/)]);
    await page.context().close();
  });
});
