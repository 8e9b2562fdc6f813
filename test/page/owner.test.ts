/**
 * What an owner does on the page, in a real browser and with the clicks counted: finding what is broken and rolling it back,
 * acknowledging, suspending a client, finding sites by what they have, and going anywhere by keyboard.
 */

import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type SafetyApp, safetyApp } from '../safety/safety-app.js';
import { needs } from '../support/needs.js';
import { builtPage, counted, expectToFit, painted, type ServedPage, seriousFindings, servePage } from './browser.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let app: SafetyApp;
let served: ServedPage;
const nameOf = (index: number) => app.fleet.site(index).name;

/** The site is down for its monitor, since five minutes ago. */
async function takeDown(site: number): Promise<void> {
  await app.db.run('UPDATE monitor SET status = 0, active = 1, last_http_code = 503 WHERE site_id = ?', [site]);
  await app.db.run(
    "INSERT OR IGNORE INTO incident (site_id, started_at, http_code, msg, down_count) VALUES (?, ?, 503, 'HTTP 503', 3)",
    [site, app.clock.now() - 5 * MINUTE],
  );
}

describe('an owner on the page', needs('chromium'), () => {
  beforeAll(async () => {
    app = await safetyApp({ sites: 4, fleet: { plugins: 8 }, pageFolder: await builtPage() });
    served = await servePage(app);
    for (const id of [1, 2, 3]) await app.call('get-site-guard', { site_id_or_domain: id });
  });
  afterEach(() => {
    expect(served.complaints.splice(0)).toEqual([]);
  });

  it('sees on a site that it is down, since when and after what, and rolls that back in two clicks', async () => {
    const plugin = app.offer(app.fleet.site(0), 0, '99.0');
    const before = plugin.version;
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    await app.safely('safe-update-site', { site_id_or_domain: 1 });
    expect(plugin.version).toBe('99.0');
    app.clock.move(10 * MINUTE);
    await takeDown(1);
    const page = await served.open();
    // The tab in the background says so too.
    await expect.poll(() => page.title()).toBe('(1) Now · Sitefleet');
    await page.goto(`${served.url}/sites/1?tab=updates`);
    const trouble = page.locator('.trouble.bad');
    await trouble.getByText('Down shortly after an update').waitFor();
    await expect
      .poll(() => trouble.innerText())
      .toMatch(new RegExp(`HTTP 503, since .* after the update to ${plugin.name} 99\\.0`));
    const header = page.locator('.page > .head');
    await expect.poll(() => header.getByText('Down', { exact: true }).count()).toBe(1);
    await expect.poll(() => header.getByText('Connected').count()).toBe(0);
    const entry = page.locator('.story > li', { hasText: plugin.name });
    await entry.getByText('May be broken').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await page.setViewportSize({ width: 1280, height: 800 });

    const clicks = await counted(page);
    await trouble.getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await served.running(page.getByText('is restored, and the site works').waitFor());
    expect(await clicks()).toBe(2);
    expect(plugin.version).toBe(before);
    await trouble.waitFor({ state: 'detached' });
    await header.getByText('Connected').waitFor();
    await page.context().close();
  });

  it('finds the broken site on Now, and puts back what broke it in two clicks', async () => {
    const plugin = app.offer(app.fleet.site(2), 3, '98.0');
    const before = plugin.version;
    await app.call('sync-sites', { site_ids_or_domains: [3] });
    await app.safely('safe-update-site', { site_id_or_domain: 3 });
    expect(plugin.version).toBe('98.0');
    app.clock.move(10 * MINUTE);
    await takeDown(3);
    const page = await served.open();
    const clicks = await counted(page);
    const line = page.locator('.matter li', { hasText: nameOf(2) });
    await line.getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await served.running(page.getByText('is restored, and the site works').waitFor());
    expect(await clicks()).toBe(2);
    expect(plugin.version).toBe(before);
    await page.context().close();
  });

  it('acknowledges an outage with a note in two clicks, and takes that back', async () => {
    await takeDown(2);
    const page = await served.open();
    const clicks = await counted(page);
    const line = page.locator('.matter li', { hasText: nameOf(1) });
    await line.waitFor();
    await line.getByRole('button', { name: `Acknowledge: ${nameOf(1)}` }).click();
    const dialog = page.getByRole('dialog');
    // A dialog begins in its first field.
    await dialog.waitFor();
    await page.keyboard.type('The host was asked.');
    await dialog.getByRole('button', { name: 'Acknowledge', exact: true }).click();
    await line.getByText(/acknowledged/).waitFor();
    expect(await clicks()).toBe(2);
    await expect.poll(() => page.title()).toBe('Now · Sitefleet');
    const mark = async () => (await app.call('list-incidents', { site_id_or_domain: 2 })).incidents[0];
    await expect.poll(mark).toMatchObject({
      acknowledged_by: expect.stringMatching(/^user-/),
      note: 'The host was asked.',
    });
    await page.getByRole('button', { name: 'Undo' }).click();
    await line.getByRole('button', { name: `Acknowledge: ${nameOf(1)}` }).waitFor();
    await expect.poll(mark).not.toHaveProperty('acknowledged_by');
    await page.context().close();
  });

  it('acknowledges an outage in one click by the link of a mail', async () => {
    await takeDown(2);
    const page = await served.open();
    await page.goto(`${served.url}/sites/2?acknowledge`);
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    const clicks = await counted(page);
    await dialog.getByRole('button', { name: 'Acknowledge', exact: true }).click();
    await page
      .locator('.trouble')
      .getByText(/acknowledged/)
      .waitFor();
    expect(await clicks()).toBe(1);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page
      .locator('.trouble')
      .getByText(/acknowledged/)
      .waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('snoozes an outage and finishes another matter with a note, in two clicks each, and brings it back', async () => {
    await takeDown(2);
    await app.db.run(
      "INSERT INTO site_certificate (site_id, status, valid_to, last_check) VALUES (3, 'expiring', ?, 0)",
      [app.clock.now() + 3 * DAY],
    );
    const page = await served.open();
    const outage = page.locator('.matter li', { hasText: nameOf(1) });
    await outage.waitFor();
    const clicks = await counted(page);
    await outage.getByRole('button', { name: 'Acknowledge' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await page.keyboard.type('The host moves it.');
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByLabel('Snooze for').selectOption('1 hour');
    await dialog.getByRole('button', { name: 'Snooze', exact: true }).click();
    await outage.waitFor({ state: 'detached' });
    expect(await clicks()).toBe(2);
    const certificate = page.locator('.matter li', { hasText: nameOf(2) });
    await certificate.getByRole('button', { name: `Done: ${nameOf(2)}` }).click();
    await dialog.waitFor();
    await page.keyboard.type('Renewed by hand.');
    await dialog.getByRole('button', { name: 'Done', exact: true }).click();
    await certificate.waitFor({ state: 'detached' });
    expect(await clicks()).toBe(4);

    // Everyone sees by whom, why and for how long, and the site still says that it is down.
    const reader = await served.open(['read']);
    await reader.getByText('Set aside: 2').click();
    const aside = reader.locator('.aside li');
    await expect
      .poll(() => aside.allInnerTexts())
      .toEqual([
        expect.stringMatching(/certificate[\s\S]*done by user-\d+: Renewed by hand\./),
        expect.stringMatching(/outage[\s\S]*snoozed, back .* by user-\d+: The host moves it\./),
      ]);
    await expect.poll(() => reader.getByRole('button', { name: 'Bring back' }).count()).toBe(0);
    expect(await seriousFindings(reader)).toEqual([]);
    await reader.goto(`${served.url}/sites/2`);
    await reader
      .locator('.trouble.bad')
      .getByText(/snoozed, back .* by user-/)
      .waitFor();
    await reader.context().close();

    await page.getByText('Set aside: 2').click();
    const back = page.locator('.aside li', { hasText: nameOf(2) });
    await back.getByRole('button', { name: 'Bring back' }).click();
    await certificate.waitFor();
    // A snooze ends by itself.
    app.clock.move(61 * MINUTE);
    await page.reload();
    await outage.waitFor();
    await app.db.run('DELETE FROM site_certificate');
    await page.context().close();
  });

  it('takes back a suspension and a deactivation with one click', async () => {
    const page = await served.open();
    const status = async () => (await app.call('get-site', { site_id_or_domain: 3 })).status;
    await page.goto(`${served.url}/sites/3?tab=inventory`);
    await page.getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByText('Suspended', { exact: true }).first().waitFor();
    await expect.poll(status).toBe('suspended');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('.head').getByText('Connected').waitFor();
    await expect.poll(status).toBe('connected');

    const plugin = app.fleet
      .site(2)
      .state.plugins.find(({ active, mustUse, slug }) => active && !mustUse && !slug.includes('mainwp'));
    if (plugin === undefined) throw new Error('the site has no active plugin');
    await page.getByRole('button', { name: `Deactivate: ${plugin.name}`, exact: true }).click();
    await page.getByRole('button', { name: `Activate: ${plugin.name}`, exact: true }).waitFor();
    expect(plugin.active).toBe(false);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: `Deactivate: ${plugin.name}`, exact: true }).waitFor();
    expect(plugin.active).toBe(true);
    await page.context().close();
  });

  it('suspends a client and sees its sites, in three clicks', async () => {
    const { id: client_id } = await app.call('add-client', { name: 'Nordlicht', client_email: 'it@nordlicht.example' });
    for (const site_id_or_domain of [3, 4]) await app.call('update-site', { site_id_or_domain, client_id });
    const page = await served.open();
    await page.goto(`${served.url}/clients`);
    const clicks = await counted(page);
    await page.getByRole('link', { name: 'Nordlicht' }).click();
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Nordlicht' }) });
    await card
      .getByRole('row', { name: nameOf(2) })
      .getByText('Connected')
      .waitFor();
    await card.getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
    await card
      .getByRole('row', { name: nameOf(3) })
      .getByText('Suspended')
      .waitFor();
    expect(await clicks()).toBe(3);
    expect((await app.call('list-sites', { status: 'suspended' })).total).toBe(2);
    expect(await seriousFindings(page)).toEqual([]);
    await card.getByRole('button', { name: 'Lift suspension' }).click();
    await card
      .getByRole('row', { name: nameOf(3) })
      .getByText('Connected')
      .waitFor();
    await page.context().close();
  });

  it('finds sites by an old PHP, and those without a guard, by one choice each', async () => {
    await app.db.run(
      "UPDATE site_detail SET php_version = CASE site_id WHEN 1 THEN '7.4.33' WHEN 2 THEN '' ELSE '8.2.10' END",
    );
    const page = await served.open();
    const rows = page.locator('tbody tr');
    // From what the page begins with, in one click.
    const clicks = await counted(page);
    const figure = page.locator('.trend > div', { hasText: 'PHP before 8.1' });
    await expect.poll(() => figure.locator('dd').innerText()).toMatch(/^unknown of 1\s+1$/);
    await figure.getByRole('link').click();
    await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining(nameOf(0))]);
    expect(await clicks()).toBe(1);
    await page.goto(`${served.url}/sites`);
    await expect.poll(() => rows.count()).toBe(4);
    const more = page.getByRole('combobox', { name: 'More filters' });
    await more.selectOption('PHP before 8.1');
    await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining(nameOf(0))]);
    // Where it is unknown is said, and not taken for new.
    await page.getByText('1 site is left out').waitFor();
    await page.getByRole('button', { name: /Remove filter PHP before 8.1/ }).click();
    await expect.poll(() => rows.count()).toBe(4);
    await app.db.run('UPDATE site_guard SET present = 0 WHERE site_id = 3');
    await more.selectOption('without a guard');
    await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining(nameOf(2))]);
    await page.context().close();
  });

  it('goes to a site, a search, the next entry and the list of keys by keyboard', async () => {
    const page = await served.open();
    const palette = page.getByRole('dialog').getByRole('combobox');
    await page.keyboard.press('Control+k');
    await palette.waitFor();
    await page.keyboard.type(nameOf(3).slice(0, 12));
    const found = page.getByRole('option', { name: nameOf(3) });
    await found.waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    for (let at = 0; (await found.getAttribute('aria-selected')) !== 'true' && at < 10; at++)
      await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: nameOf(3), level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await palette.waitFor();
    await page.keyboard.type('sites');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sites', level: 1 }).waitFor();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(4);
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    const second = await page.locator('tbody tr th a').nth(1).innerText();
    await expect.poll(focused).toBe(second);
    await page.keyboard.press('/');
    await page.keyboard.type('?');
    await expect.poll(() => page.getByLabel('Search name or address').inputValue()).toBe('?');
    await page.getByLabel('Search name or address').blur();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await painted(page);
    expect(await seriousFindings(page)).toEqual([]);
    await page.context().close();
  });

  it('sees a run of updates while it goes and for good: what was kept, what broke a site and was rolled back, and why', async () => {
    const slug = 'harbour-forms/harbour-forms.php';
    const [one, two, three] = [0, 2, 3].map((index) => {
      const plugin = app.offer(app.fleet.site(index), 1, '9.9');
      Object.assign(plugin, { slug, name: 'Harbour Forms', version: '9.8' });
      return plugin;
    });
    app.fleet.site(2).faults.breaks = { [`${slug}@9.9`]: 'fatal' };
    await app.call('sync-sites', { site_ids_or_domains: [1, 3, 4] });
    const page = await served.open();
    await page.goto(`${served.url}/updates?search=harbour-forms`);
    await page.locator('.item > button').click();
    await page.getByRole('button', { name: 'Update 3 sites' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply 3 updates' }).click();
    await page.getByRole('heading', { name: /^Update of harbour.forms$/i, level: 1 }).waitFor();
    await served.running(
      page.getByText(/^2 updates on 2 sites; one would have broken .* and was rolled back/).waitFor(),
    );
    expect([one?.version, two?.version, three?.version].sort()).toEqual(['9.8', '9.9', '9.9']);
    const address = page.url();
    expect(address).toMatch(/\/runs\/run_/);
    const tally = (state: string, count: number) =>
      page.getByRole('button', { name: new RegExp(`^${count}\\s*${state}$`) }).waitFor();
    await tally('Updated', 2);
    await tally('Rolled back', 1);
    // At a glance, a cell for each site.
    const cells = page.locator('.matrix .cell');
    expect((await cells.allInnerTexts()).map((text) => text.replace(/:.*/s, '').trim()).sort()).toEqual([
      'Rolled back',
      'Updated',
      'Updated',
    ]);
    // What needs a person comes first, with the evidence.
    const first = page.locator('.log.run > li').first();
    // Whichever request of ours met the error first: the front page's, or one that the guard recorded.
    await expect.poll(() => first.innerText()).toMatch(/Restored in [\d.]+ s[\s\S]*(HTTP 500|PHP recorded in)/);
    await page.getByRole('heading', { name: 'Rolled back: 1' }).waitFor();
    await expect.poll(() => first.getByRole('button').count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: /Rolled back$/ }).click();
    await expect.poll(() => page.locator('.log.run > li').count()).toBe(1);
    expect(page.url()).toContain('state=rolled_back');

    // The same again from the list, by anyone who may read.
    const reader = await served.open(['read']);
    await reader.goto(`${served.url}/updates`);
    await reader.getByRole('link', { name: 'Update runs' }).click();
    const row = reader.getByRole('row', { name: /Update of harbour-forms/ });
    await row.getByText('Done, with roll-backs').waitFor();
    await row.getByText('2 updated, 1 rolled back').waitFor();
    expect(await seriousFindings(reader)).toEqual([]);
    await row.getByRole('link').click();
    await reader.waitForURL(address);
    // The address is one to send to others.
    await reader.reload();
    await reader.getByRole('heading', { name: 'Update of Harbour Forms', level: 1 }).waitFor();
    await reader.goto(`${served.url}/runs/run_0`);
    await reader.getByRole('heading', { name: 'Run not found', level: 1 }).waitFor();
    await reader.context().close();
    await page.context().close();
  });

  it('retries what failed in a run, after a preview, as a run of its own', async () => {
    const plugin = app.offer(app.fleet.site(1), 2, '7.7');
    app.fleet.site(1).faults.failUpdates = [plugin.slug];
    await app.call('sync-sites', { site_ids_or_domains: [2] });
    const { run_id } = await app.safely('run-updates', { site_ids_or_domains: [2] });
    app.fleet.site(1).faults.failUpdates = [];
    const page = await served.open();
    await page.goto(`${served.url}/runs/${run_id}`);
    await page.getByRole('button', { name: /^1\s*Not updated$/ }).waitFor();
    await page.getByRole('button', { name: 'Retry what failed' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(plugin.name).waitFor();
    await dialog.getByRole('button', { name: 'Apply 1 update' }).click();
    await served.running(page.getByRole('button', { name: /^1\s*Updated$/ }).waitFor());
    expect(page.url()).not.toContain(run_id);
    expect(plugin.version).toBe('7.7');
    await expect.poll(() => page.getByRole('button', { name: 'Retry what failed' }).count()).toBe(0);
    await page.context().close();
  });
});
