/** A fleet larger than a page, in a real browser: searching, choosing all, and watching a running job. */

import { beforeAll, describe, expect, it } from 'vitest';
import { type TestApp, testApp } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { builtPage, type ServedPage, servePage } from './browser.js';

/** More than one call handles directly. */
const SITES = 205;

let app: TestApp;
let served: ServedPage;

describe('a large fleet on the page', needs('chromium'), () => {
  beforeAll(async () => {
    const config = { job_delay_ms: 1000, job_chunk: 40 };
    app = await testApp({ sites: SITES, fleet: { plugins: 2 }, config, pageFolder: await builtPage() });
    for (let from = 0; from < SITES; from += 25)
      await Promise.all(Array.from({ length: Math.min(25, SITES - from) }, (_, index) => app.connect(from + index)));
    served = await servePage(app);
  });

  it('shows pages, keeps the order in the address, and goes back', async () => {
    const page = await served.open();
    await page.getByRole('link', { name: 'Sites', exact: true }).first().click();
    const rows = page.locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(50);
    await page.getByText('1–50 of 205').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('51–100 of 205').waitFor();
    await page.getByRole('button', { name: 'Updates', exact: true }).click();
    await page.waitForURL(/orderby=updates/);
    await page.reload();
    await page.locator('th[aria-sort=descending]', { hasText: 'Updates' }).waitFor();
    const counts = (await page.locator('td.updates').allInnerTexts()).map(Number);
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    await page.goBack();
    await page.locator('th[aria-sort=ascending]', { hasText: 'Site' }).waitFor();
    await page.context().close();
    expect(served.complaints).toEqual([]);
  });

  it('syncs all sites that match as one job, and shows how far it is until it has ended', async () => {
    const page = await served.open();
    await page.getByRole('link', { name: 'Sites', exact: true }).first().click();
    await page.getByRole('checkbox', { name: 'Select this page' }).check();
    await page.getByText('50 selected').waitFor();
    await page.getByRole('button', { name: `Select all ${SITES}` }).click();
    await page.getByText(`${SITES} selected`).waitFor();
    await page.getByRole('toolbar').getByRole('button', { name: 'Sync' }).click();
    const bar = page.getByRole('main').locator('.card').getByRole('progressbar');
    await bar.waitFor();
    const shown = async () => Number(await bar.getAttribute('aria-valuenow'));
    // Without a pause between its parts the job would have ended. The page follows it without reloading.
    await expect.poll(shown).toBeLessThan(SITES);
    await served.running(expect.poll(shown).toBe(SITES));
    await page.getByRole('main').locator('.card').getByText('Done', { exact: true }).waitFor();
    await page.context().close();
    expect(served.complaints).toEqual([]);
  });
});
