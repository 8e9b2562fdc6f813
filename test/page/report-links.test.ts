/** The link of a report in an answer to an assistant: a browser without a login logs in first, and then sees the report. */

import { beforeAll, describe, expect, it } from 'vitest';
import { testApp } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { builtPage, PASSWORD, type ServedPage, servePage } from './browser.js';

describe('the link of a report', needs('chromium'), () => {
  let served: ServedPage;
  let links: string[];
  beforeAll(async () => {
    const app = await testApp({ sites: 2, pageFolder: await builtPage() });
    served = await servePage(app);
    const client = await app.call('add-client', { name: 'Ada', client_email: 'ada@example.com' });
    for (const place of [0, 1]) await app.connect(place);
    await app.db.run('UPDATE site SET client_id = (SELECT max(id) FROM client)', []);
    expect(client).toBeDefined();
    const asked = { client_id_or_email: 'ada@example.com', start_date: '2026-10-01', end_date: '2026-10-31' };
    const { link, reports } = await app.call('build-report', asked);
    links = [link, reports[1].link];
  });

  it('leads through the login to the report, and nowhere else', async () => {
    const page = await (await served.browser.newContext()).newPage();
    await page.goto(links[1] ?? '');
    expect(new URL(page.url()).pathname).toBe('/login');
    await page.getByLabel('Name').fill(await served.user(['read']));
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Report', exact: true }).waitFor();
    expect(page.url()).toBe(links[1]);
    await page.goto(`${served.url}/login?to=${encodeURIComponent('//example.com/v2/pro-reports/1/report?a=b')}`);
    await expect.poll(() => page.url()).toBe(`${served.url}/`);
    expect(served.complaints).toEqual([]);
    await page.context().close();
  });

  it('of all sites of a client shows them on the page, over the days of the report', async () => {
    const page = await served.open(['read']);
    await page.goto(links[0] ?? '');
    const open = page.getByRole('link', { name: /report/i }).and(page.locator('[href^="/v2/pro-reports/"]'));
    await expect.poll(() => open.getAttribute('href')).toContain('start_date=2026-10-01&end_date=2026-10-31');
    expect(await page.getByLabel('Site', { exact: true }).locator('option').count()).toBe(2);
    await page.context().close();
  });
});
