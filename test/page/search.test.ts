/**
 * The search of the keyboard, in a real browser: what it finds besides sites are actions, lists, saved views and settings, as
 * far as the person may use them; and that it works on a phone, too.
 */

import type { Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type SafetyApp, safetyApp } from '../safety/safety-app.js';
import { needs } from '../support/needs.js';
import { allFindings, builtPage, counted, expectToFit, painted, type ServedPage, servePage } from './browser.js';

let app: SafetyApp;
let served: ServedPage;

/** Opens the search, types, chooses what is named by the arrows, and goes there: keys only. */
async function goTo(page: Page, typed: string, word: string) {
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').waitFor();
  await page.keyboard.type(typed);
  const wanted = page.getByRole('option', { name: word });
  await wanted.first().waitFor();
  await expect
    .poll(async () => {
      if ((await wanted.first().getAttribute('aria-selected')) === 'true') return true;
      await page.keyboard.press('ArrowDown');
      return false;
    })
    .toBe(true);
  await page.keyboard.press('Enter');
  await page.getByRole('combobox', { name: 'Search sites, views' }).waitFor({ state: 'detached' });
}

const focused = (page: Page) => () =>
  page.evaluate(() => {
    const at = document.activeElement;
    return at instanceof HTMLInputElement ? at.labels?.[0]?.textContent : at?.textContent;
  });

describe('the search of the keyboard', needs('chromium'), () => {
  beforeAll(async () => {
    app = await safetyApp({ sites: 3, fleet: { plugins: 4 }, pageFolder: await builtPage() });
    served = await servePage(app);
  });
  afterEach(() => {
    expect(served.complaints.splice(0)).toEqual([]);
  });

  it('does what is asked: adds a site or a client, plans updates, syncs all sites', async () => {
    const page = await served.open();
    const clicks = await counted(page);
    await goTo(page, 'add s', 'Add site action');
    await page.getByRole('dialog', { name: 'Add site' }).waitFor();
    await expect.poll(focused(page)).toBe('Address of the site');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.url()).toBe(`${served.url}/sites`);

    await goTo(page, 'client', 'Add client action');
    await page.getByRole('dialog', { name: 'Add client' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await goTo(page, 'plan', 'Plan updates action');
    await page.getByRole('heading', { name: 'Plan updates', level: 1 }).waitFor();

    app.offer(app.fleet.site(2), 0, '77.0');
    await goTo(page, 'sync', 'Sync all sites action');
    await page.getByText(/3 sites were synchronised/).waitFor();
    const { plugins } = await app.call('get-site-plugins', { site_id_or_domain: 3 });
    expect(
      (plugins as { update_version: string }[]).filter(({ update_version }) => update_version === '77.0'),
    ).toHaveLength(1);
    expect(await clicks()).toBe(0);
    await page.context().close();
  });

  it('goes to lists, and to views that were saved a moment ago, with their columns', async () => {
    const page = await served.open();
    await goTo(page, 'php 8.1', 'Sites: PHP before 8.1 list');
    await expect.poll(() => page.url()).toBe(`${served.url}/sites?php_below=8.1`);
    await goTo(page, 'vuln', 'Known vulnerabilities list');
    await page.getByRole('heading', { name: 'Known vulnerabilities', level: 1 }).waitFor();
    await page.goto(`${served.url}/sites?status=connected`);
    await page.getByText('Columns', { exact: true }).click();
    await page.getByRole('checkbox', { name: 'Status', exact: true }).uncheck();
    await page.getByText('Views', { exact: true }).click();
    await page.getByLabel('Name of this view').fill('Working sites');
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.goto(`${served.url}/sites`);
    await page.getByText('Columns', { exact: true }).click();
    await page.getByRole('button', { name: 'Standard columns' }).click();
    const headings = () => page.locator('thead th').allInnerTexts();
    await expect.poll(headings).toContainEqual(expect.stringContaining('Status'));
    await goTo(page, 'work', 'Working sites list');
    await expect.poll(() => page.url()).toBe(`${served.url}/sites?status=connected`);
    await expect.poll(headings).not.toContainEqual(expect.stringContaining('Status'));
    await page.context().close();
  });

  it('goes to a setting by its name: unfolded, in sight and with the focus, again and again', async () => {
    const page = await served.open();
    const field = page.getByLabel('Seconds a check may take');
    for (let turn = 0; turn < 2; turn++) {
      await goTo(page, 'seconds', 'Seconds a check may take setting, Monitors');
      await expect.poll(focused(page)).toBe('Seconds a check may take');
      await expect.poll(() => field.isVisible()).toBe(true);
      await expect.poll(() => page.url()).toBe(`${served.url}/settings`);
      await page.locator('h1').focus();
    }
    await goTo(page, 'calls to', 'Calls to sites setting');
    await expect.poll(focused(page)).toBe('Calls to sites');
    expect(await allFindings(page)).toEqual([]);
    await page.context().close();
  });

  it('offers no change to those who may only look, and their settings by card', async () => {
    const page = await served.open(['read']);
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Plan updates action' }).waitFor();
    const found = await page.getByRole('option').allInnerTexts();
    expect(found.filter((text) => /Add|Sync|Check/.test(text))).toEqual([]);
    await page.keyboard.press('Escape');
    await goTo(page, 'seconds', 'Seconds a check may take setting, Monitors');
    await expect.poll(focused(page)).toBe('Monitors');
    await page.context().close();
  });

  it('opens again at once after it was left', async () => {
    const page = await served.open();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    // Both keys before the browser tells of anything that it does later, as on a machine that is busy.
    await page.evaluate(async () => {
      document.querySelector('dialog')?.requestClose();
      await Promise.resolve();
      document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }));
    });
    await painted(page);
    await expect.poll(() => page.getByRole('dialog').count()).toBe(1);
    await page.locator('dialog input:focus').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await page.context().close();
  });

  it('is behind a button, too: on a phone in two taps', async () => {
    const page = await served.open();
    await page.setViewportSize({ width: 360, height: 740 });
    const clicks = await counted(page);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: /^Search/ }).click();
    await page.getByRole('dialog').getByRole('combobox').fill('sett');
    await page.getByRole('option', { name: 'Settings view' }).waitFor();
    expect(await allFindings(page)).toEqual([]);
    await expectToFit(page);
    expect(await clicks()).toBe(2);
    await page.getByRole('option', { name: 'Settings view' }).click();
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await expect.poll(() => page.locator('aside').isVisible()).toBe(false);
    await page.context().close();
  });
});
