/**
 * Caring for a fleet on the page, in a real browser and with the clicks counted: what is vulnerable, unguarded, down or was
 * changed, and the records around it.
 */

import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type SafetyApp, safetyApp } from '../safety/safety-app.js';
import { needs } from '../support/needs.js';
import { builtPage, counted, expectToFit, type ServedPage, seriousFindings, servePage } from './browser.js';

let app: SafetyApp;
let served: ServedPage;
const nameOf = (index: number) => app.fleet.site(index).name;

/** A known vulnerability of a plugin of the fleet. */
async function vulnerability(uid: string, title: string, severity: number, slug: string): Promise<void> {
  await app.db.run(
    `INSERT INTO vulnerability (uid, digest, title, severity, cve) VALUES (?, '', ?, ?, 'CVE-2026-1234')`,
    [uid, title, severity],
  );
  await app.db.run(
    `INSERT INTO vulnerable_version (package_id, version, vulnerability_id, fixed_in)
     SELECT DISTINCT e.package_id, e.version, (SELECT id FROM vulnerability WHERE uid = ?), '9.9'
     FROM site_extension e JOIN package p ON p.id = e.package_id WHERE p.slug = ?`,
    [uid, slug],
  );
}

describe('caring for a fleet on the page', needs('chromium'), () => {
  beforeAll(async () => {
    app = await safetyApp({ sites: 5, fleet: { plugins: 8 }, pageFolder: await builtPage() });
    served = await servePage(app);
    for (const id of [1, 2]) await app.call('get-site-guard', { site_id_or_domain: id });
  });
  afterEach(() => {
    expect(served.complaints.splice(0)).toEqual([]);
  });

  it('sees a vulnerability, worst first, with its sites, and updates it everywhere in two clicks', async () => {
    const plugins = [0, 1, 2].map((index) => {
      const plugin = app.offer(app.fleet.site(index), 1, '9.9');
      return Object.assign(plugin, { slug: 'harbour-forms/harbour-forms.php', name: 'Harbour Forms', version: '9.8' });
    });
    const other = Object.assign(app.offer(app.fleet.site(3), 2, '3.1'), { slug: 'quay/quay.php', name: 'Quay' });
    other.update = null;
    await app.call('sync-sites', { site_ids_or_domains: [1, 2, 3, 4] });
    await vulnerability('quay', 'Stored XSS', 2, 'quay/quay.php');
    await vulnerability('forms', 'Unauthenticated SQL injection', 4, 'harbour-forms/harbour-forms.php');
    await vulnerability('forms-two', 'Open redirect', 2, 'harbour-forms/harbour-forms.php');
    await app.db.run(
      "INSERT INTO vulnerability_feed (id, source, tried_at, checked_at, read_at, next_at) VALUES (1, 'x', 0, 0, 0, 9e15)",
    );
    const page = await served.open();
    const lines = page.locator('.matter', { hasText: 'known vulnerabilities' }).locator('li');
    await expect.poll(() => lines.count()).toBe(2);
    await lines.nth(0).getByRole('button', { name: 'Update 3' }).waitFor();
    await expect
      .poll(() => lines.nth(0).innerText())
      .toMatch(/Critical\s+Harbour Forms\s+Unauthenticated SQL injection and 1 more, on 3 sites, fixed by updates/);
    await lines.nth(1).getByText('No updates available').waitFor();
    await expect.poll(() => lines.nth(1).innerText()).toMatch(/Medium\s+Quay\s+Stored XSS, on 1 site/);
    expect(await seriousFindings(page)).toEqual([]);

    await page.getByRole('link', { name: 'All vulnerabilities' }).click();
    await page.getByRole('heading', { name: 'Known vulnerabilities', level: 1 }).waitFor();
    await page.reload();
    const all = page.locator('.issues li');
    await expect.poll(() => all.locator('.badge').allInnerTexts()).toEqual(['Critical', 'Medium', 'Medium']);
    await expect
      .poll(() => all.nth(0).innerText())
      .toContain(
        `on 3 sites: ${app.fleet
          .site(0)
          .url.replace(/^https?:\/\//, '')
          .replace(/\/$/, '')}`,
      );
    expect(await seriousFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await page.setViewportSize({ width: 1280, height: 800 });

    await page.goto(`${served.url}/`);
    const clicks = await counted(page);
    await lines.nth(0).getByRole('button', { name: 'Update 3' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply 3 updates' }).click();
    await served.running(page.getByRole('heading', { name: /^Update of harbour.forms$/i, level: 1 }).waitFor());
    expect(await clicks()).toBe(2);
    await served.running(page.getByText('3 updates on 3 sites.').waitFor());
    expect(plugins.map(({ version }) => version)).toEqual(['9.9', '9.9', '9.9']);
    await page.context().close();
  });

  it('sorts sites by any column, and keeps filters, order and columns as a view with a name', async () => {
    await app.db.run(
      "UPDATE site_detail SET php_version = CASE site_id WHEN 1 THEN '8.10.2' WHEN 2 THEN '8.9' WHEN 3 THEN '' ELSE '7.4.33' END",
    );
    const page = await served.open();
    await page.goto(`${served.url}/sites`);
    const php = page.locator('td.php');
    await page.getByRole('button', { name: 'PHP', exact: true }).click();
    await expect.poll(() => php.allInnerTexts()).toEqual(['7.4.33', '7.4.33', '8.9', '8.10.2', 'unknown']);
    await page.getByRole('button', { name: 'PHP', exact: true }).click();
    await expect.poll(() => php.allInnerTexts()).toEqual(['8.10.2', '8.9', '7.4.33', '7.4.33', 'unknown']);
    await page.getByText('Columns', { exact: true }).click();
    await page.getByRole('checkbox', { name: 'Health' }).check();
    await page.getByText('Columns', { exact: true }).click();
    await page.getByText('Views', { exact: true }).click();
    await page.getByText('Saved in this browser only.').waitFor();
    await page.getByLabel('Name of this view').fill('Old PHP');
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByRole('button', { name: 'Old PHP', exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    // A view of its own later, with two clicks.
    await page.goto(`${served.url}/sites?search=nothing-at-all`);
    await page.getByText('Columns', { exact: true }).click();
    await page.getByRole('button', { name: 'Standard columns' }).click();
    await page.getByText('Columns', { exact: true }).click();
    const clicks = await counted(page);
    await page.getByText('Views', { exact: true }).click();
    await page.getByRole('button', { name: 'Old PHP', exact: true }).click();
    await expect.poll(() => php.allInnerTexts()).toEqual(['8.10.2', '8.9', '7.4.33', '7.4.33', 'unknown']);
    expect(await clicks()).toBe(2);
    await page.getByRole('button', { name: 'Health', exact: true }).waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole('button', { name: /^Filters/ }).click();
    await page.getByRole('combobox', { name: 'Sort by' }).selectOption('Sort by: WordPress');
    await page.waitForURL(/orderby=wp/);
    await expectToFit(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByText('Views', { exact: true }).click();
    await page.getByRole('button', { name: 'Delete the view Old PHP' }).click();
    await page.getByRole('button', { name: 'Old PHP', exact: true }).waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('finds who did what across the fleet from a line of Now, and takes it back there', async () => {
    const site = app.fleet.site(4);
    const plugin = site.state.plugins.find(
      ({ active, mustUse, slug }) => active && !mustUse && !slug.includes('mainwp'),
    );
    if (plugin === undefined) throw new Error('the site has no active plugin');
    await app.call('deactivate-site-plugins', { site_id_or_domain: 5, slugs: [plugin.slug] });
    const updated = app.offer(app.fleet.site(1), 3, '5.5');
    const before = updated.version;
    await app.call('sync-sites', { site_ids_or_domains: [2] });
    await app.safely('safe-update-site', { site_id_or_domain: 2 });
    expect(updated.version).toBe('5.5');
    const page = await served.open();
    const clicks = await counted(page);
    await page.getByRole('link', { name: 'Plugin deactivated' }).click();
    await page.getByRole('heading', { name: 'History', level: 1 }).waitFor();
    const entries = page.locator('.history > li');
    // The site has it in its own log, too.
    const mine = entries.filter({ hasNotText: 'on the site' });
    await expect.poll(() => mine.count()).toBe(1);
    await expect
      .poll(() => mine.innerText())
      .toMatch(new RegExp(`Deactivated plugin: [\\s\\S]*${nameOf(4)} · admin · `));
    await mine.getByRole('button', { name: /^Undo: Deactivated/ }).click();
    await mine.getByRole('button').waitFor({ state: 'detached' });
    expect(await clicks()).toBe(2);
    expect(plugin.active).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);

    await page.getByRole('combobox', { name: 'Kind of change' }).selectOption('');
    await page.getByLabel('Search plugin, theme or name').fill(updated.name);
    const update = entries.filter({ hasText: 'from' }).filter({ hasText: '5.5' });
    await update.getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await served.running(page.getByText('is restored, and the site works').waitFor());
    expect(updated.version).toBe(before);
    // What is no longer installed cannot be rolled back again.
    await update.getByRole('button', { name: 'Roll back' }).waitFor({ state: 'detached' });
    await page.getByRole('combobox', { name: 'Way' }).selectOption('on the site');
    await page.waitForURL(/via=site/);
    await page.reload();
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await page.context().close();
  });

  it('undoes a change whose earlier state the log has, after showing what would be restored and what not', async () => {
    await app.call('update-site', { site_id_or_domain: 4, notes: 'Mistaken', http_pass: 'secret-5' });
    const page = await served.open();
    await page.goto(`${served.url}/history?kind=site&action=updated`);
    const entry = page
      .locator('.history > li')
      .filter({ hasText: nameOf(3) })
      .first();
    await entry.getByRole('button', { name: /^Undo/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('notes: Mistaken becomes').waitFor();
    await dialog.getByText('http_pass: The log does not say what it was before.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('1 restored, 1 left as they are.').waitFor();
    expect((await app.call('get-site', { site_id_or_domain: 4 })).notes).toBe('');
    await page.context().close();
  });

  it('installs the guard on all sites that have none, in two clicks, and says where that failed', async () => {
    // The others were never asked, as far as is stored.
    await app.db.run('DELETE FROM site_guard WHERE site_id > 2');
    app.fleet.site(3).faults.http500 = true;
    const page = await served.open();
    const card = page.locator('.card', { hasText: 'Update protection' });
    await card.getByText('3 of 5 connected sites are not known to be guarded').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    const clicks = await counted(page);
    await card.getByRole('button', { name: 'Install on 3 sites' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Install guard' }).click();
    await served.running(dialog.getByText('The guard is installed on 2 of 3 sites.').waitFor());
    expect(await clicks()).toBe(2);
    await dialog.getByRole('link', { name: 'Site 4' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    app.fleet.site(3).faults = {};
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    for (const site_id_or_domain of [3, 5])
      expect((await app.call('get-site-guard', { site_id_or_domain })).installed).toBe(true);
    await page.context().close();
  });

  it('has monitors that are down first, sorts them, and sets interval, keyword and maintenance by mouse', async () => {
    await app.db.run('UPDATE monitor SET status = 1, active = 1, last_check_at = ?, last_ping_ms = 100 + site_id', [
      app.clock.now() - 60_000,
    ]);
    await app.db.run('UPDATE monitor SET status = 0 WHERE site_id = 4');
    await app.db.run('UPDATE monitor SET status = 2 WHERE site_id = 2');
    const page = await served.open();
    await page.goto(`${served.url}/monitors`);
    const names = page.locator('.monitors tbody th');
    await expect.poll(() => names.allInnerTexts()).toHaveLength(5);
    expect((await names.allInnerTexts()).slice(0, 2)).toEqual([nameOf(3), nameOf(1)]);
    await page.getByRole('button', { name: 'Response time', exact: true }).click();
    await expect.poll(() => names.first().innerText()).toBe(nameOf(4));
    await page.getByRole('button', { name: `Settings: ${nameOf(4)}` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Check every').selectOption('5m');
    await dialog.getByLabel('What counts as up').selectOption('A word in the page');
    await dialog.getByLabel('Word in the page').fill('Welcome');
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = await app.db.one('SELECT interval_min, type, keyword FROM monitor WHERE site_id = 5');
    expect(row).toMatchObject({ interval_min: 5, type: 'keyword', keyword: 'Welcome' });

    const clicks = await counted(page);
    await page.getByRole('button', { name: `Settings: ${nameOf(4)}` }).click();
    await dialog.getByLabel('For').selectOption('4 hours');
    await dialog.getByRole('button', { name: 'Start maintenance' }).click();
    await dialog.getByRole('button', { name: 'End maintenance' }).waitFor();
    expect(await clicks()).toBe(2);
    await page.keyboard.press('Escape');
    const line = page.getByRole('row', { name: nameOf(4) });
    await line.getByText('Maintenance').waitFor();
    const planned = await app.db.one('SELECT next_check_at FROM monitor WHERE site_id = 5');
    expect(Number(planned?.next_check_at)).toBeGreaterThanOrEqual(app.clock.now() + 4 * 3_600_000 - 60_000);
    expect(await seriousFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole('combobox', { name: 'Sort by' }).selectOption('Sort by: Last check');
    await expectToFit(page);
    await expect.poll(() => page.getByText('Site null').count()).toBe(0);
    await page.context().close();
  });

  it('creates a tag with a colour, renames and removes it by mouse', async () => {
    const page = await served.open();
    await page.goto(`${served.url}/settings`);
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Tags', exact: true }) });
    await card.getByRole('button', { name: 'Add tag' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the tag').fill('Shops');
    await dialog.getByRole('checkbox', { name: 'With a colour' }).check();
    await dialog.getByLabel('Colour', { exact: true }).fill('#aa3300');
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card.getByRole('link', { name: 'Shops' }).waitFor();
    const known = async () => (await app.call('list-tags')).items;
    await expect.poll(known).toMatchObject([{ name: 'Shops', color: '#aa3300' }]);
    // A name that is taken is refused at its field.
    await card.getByRole('button', { name: 'Add tag' }).click();
    await dialog.getByLabel('Name of the tag').fill('Shops');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await card.getByRole('button', { name: 'Edit: Shops' }).click();
    await dialog.getByLabel('Name of the tag').fill('Web shops');
    await dialog.getByRole('checkbox', { name: 'With a colour' }).uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card.getByRole('link', { name: 'Web shops' }).waitFor();
    await expect.poll(known).toMatchObject([{ name: 'Web shops', color: null }]);
    expect(await seriousFindings(page)).toEqual([]);
    const clicks = await counted(page);
    await card.getByRole('button', { name: 'Delete: Web shops' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await card.getByRole('link', { name: 'Web shops' }).waitFor({ state: 'detached' });
    expect(await clicks()).toBe(2);
    await expect.poll(known).toEqual([]);
    await page.context().close();
  });
});
