/** Guidance on the page, in a real browser: read, written, confirmed and removed by a person; what others may not is not shown. */

import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type SafetyApp, safetyApp } from '../safety/safety-app.js';
import type { Answer } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { allFindings, builtPage, expectToFit, type ServedPage, servePage } from './browser.js';

const PROPOSED = 'Update WooCommerce last.';
const RULE = 'No updates before Monday.';

let app: SafetyApp;
let served: ServedPage;
const listed = async () =>
  (await app.call('list-guidance')).guidance.map(({ text, by, verified, site_id }: Answer) => ({
    ...{ text, by, verified, site_id },
  }));

describe('guidance on the page', needs('chromium'), () => {
  beforeAll(async () => {
    app = await safetyApp({ sites: 2, fleet: { plugins: 4 }, pageFolder: await builtPage() });
    served = await servePage(app);
    await app.call('add-client', { name: 'Nordlicht', client_email: 'it@nordlicht.example', selected_sites: [2] });
  });
  afterEach(() => {
    expect(served.complaints.splice(0)).toEqual([]);
  });

  it('is written for a site, and what an assistant proposed is confirmed and removed, with its state in words', async () => {
    await app.call('add-guidance', { text: PROPOSED, site_id_or_domain: 1 });
    const page = await served.open();
    await page.goto(`${served.url}/sites/1`);
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Guidance' }) });
    const items = () => card.locator('li').allInnerTexts();
    await expect.poll(items).toEqual([expect.stringContaining(PROPOSED)]);
    expect((await items())[0]).toMatch(/Not confirmed/);
    await card.getByRole('button', { name: 'Add guidance' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What to watch out for').fill(RULE);
    await dialog.getByLabel('Until the end of this day').fill('2001-01-01');
    await dialog.getByRole('button', { name: 'Save' }).click();
    // Refused at its field: nothing was added.
    await dialog.locator('.field', { hasText: 'Until' }).getByRole('alert').waitFor();
    expect(await listed()).toHaveLength(1);
    await dialog.getByLabel('Until the end of this day').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect.poll(items).toHaveLength(2);
    expect((await items())[0]).toContain(RULE);
    expect((await items())[0]).not.toContain('Not confirmed');
    expect(await allFindings(page)).toEqual([]);
    await expectToFit(page);
    await card.getByRole('button', { name: `Confirm: ${PROPOSED}` }).click();
    await expect.poll(async () => (await items()).join()).not.toContain('Not confirmed');
    expect(await listed()).toEqual([
      { text: PROPOSED, by: 'admin', verified: true, site_id: 1 },
      { text: RULE, by: 'user-1', verified: true, site_id: 1 },
    ]);
    await card.getByRole('button', { name: `Delete: ${PROPOSED}` }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await expect.poll(items).toEqual([expect.stringContaining(RULE)]);
    expect(await listed()).toEqual([{ text: RULE, by: 'user-1', verified: true, site_id: 1 }]);
  });

  it('of a client is with the client, and all of it is with the plan of updates, where only those who may write can', async () => {
    const page = await served.open();
    await page.goto(`${served.url}/clients?id=1`);
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Guidance' }) });
    await card.getByRole('button', { name: 'Add guidance' }).click();
    await page.getByRole('dialog').getByLabel('What to watch out for').fill('Not on Fridays.');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => card.locator('li').allInnerTexts()).toEqual([expect.stringContaining('Not on Fridays.')]);
    const reader = await served.open(['read']);
    await reader.goto(`${served.url}/updates/plan`);
    const all = reader.locator('.card', { has: reader.getByRole('heading', { name: 'Guidance' }) });
    await expect
      .poll(() => all.locator('li').allInnerTexts())
      .toEqual([expect.stringMatching(/Not on Fridays[\s\S]*Nordlicht/), expect.stringContaining(RULE)]);
    expect(await all.getByRole('button').count()).toBe(0);
    expect(await allFindings(reader)).toEqual([]);
  });
});
