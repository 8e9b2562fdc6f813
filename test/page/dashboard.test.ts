/**
 * The overview of a fleet on the page, in a real browser and with the clicks counted: sites beside each other, their states,
 * and how they were over time.
 */

import type { Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { recordFleetDay } from '../../src/domain/fleet/days.js';
import { readSettings } from '../../src/domain/settings/settings.js';
import { en } from '../../web/texts/en.js';
import { type SafetyApp, safetyApp } from '../safety/safety-app.js';
import { needs } from '../support/needs.js';
import { builtPage, counted, expectToFit, type ServedPage, seriousFindings, servePage, unfold } from './browser.js';

const DAY = 86_400_000;
let app: SafetyApp;
let served: ServedPage;
const nameOf = (index: number) => app.fleet.site(index).name;
const hostOf = (index: number) =>
  app.fleet
    .site(index)
    .url.replace(/^https?:\/\//, '')
    .replace(/\/$/, '');

/** No serious finding in either theme, and no part wider than a phone. */
async function expectSound(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await seriousFindings(page), colorScheme).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 360, height: 740 });
  await expectToFit(page);
  await page.setViewportSize({ width: 1280, height: 800 });
}

describe('the overview of a fleet on the page', needs('chromium'), () => {
  beforeAll(async () => {
    app = await safetyApp({ sites: 5, fleet: { plugins: 8 }, pageFolder: await builtPage() });
    served = await servePage(app);
  });
  afterEach(() => {
    expect(served.complaints.splice(0)).toEqual([]);
  });

  it('shows a site in two lines on a phone, and the filters behind one button', async () => {
    const page = await served.open();
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${served.url}/sites`);
    const rows = page.locator('.sites tbody tr');
    await rows.first().waitFor();
    for (const row of await rows.all()) {
      const box = async (of: string) => (await row.locator(of).boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      const [name, address, status, updates] = [
        await box('th a'),
        await box('.address'),
        await box('td.status .badge'),
        await box('td.updates'),
      ];
      expect(address.y).toBeGreaterThan(name.y);
      expect(updates.y).toBeGreaterThan(status.y);
      expect(name.x + name.width).toBeLessThanOrEqual(status.x);
      await expect.poll(() => row.locator('td:visible').count()).toBe(3);
    }
    const choice = page.getByRole('combobox', { name: 'Status', exact: true, includeHidden: true });
    await expect.poll(() => choice.isVisible()).toBe(false);
    const fold = page.getByRole('button', { name: 'Filters', exact: true });
    await expect.poll(() => fold.getAttribute('aria-expanded')).toBe('false');
    await fold.click();
    await choice.selectOption('suspended');
    await page
      .getByText('No sites match')
      .or(page.getByRole('button', { name: 'Clear filters' }))
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await rows.first().waitFor();
    await expectSound(page);
    // On a wide screen they are all there, without the button.
    await expect.poll(() => fold.isVisible()).toBe(false);
    await expect.poll(() => choice.isVisible()).toBe(true);
    await page.context().close();
  });

  it('shows its tables whole on a tablet: no button is beyond the edge', async () => {
    const page = await served.open();
    await page.setViewportSize({ width: 768, height: 1024 });
    for (const path of ['/sites', '/monitors']) {
      await page.goto(served.url + path);
      await page.locator('main tbody tr').first().waitFor();
      const beyond = () =>
        page
          .locator('main .scroll')
          .first()
          .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
      await expect.poll(beyond).toBe(0);
    }
    await page.context().close();
  });

  it('says where nothing is, to people and to programs, and shows the chosen part of a site on a phone', async () => {
    const page = await served.open();
    const reply = await page.goto(`${served.url}/no/such/view`);
    expect(reply?.status()).toBe(404);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await expectSound(page);
    await page.getByRole('main').getByRole('link', { name: 'Now' }).click();
    await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor();
    const program = await fetch(`${served.url}/no/such/view`);
    expect([program.status, await program.json()]).toMatchObject([404, { code: 'rest_no_route' }]);
    const posted = await fetch(`${served.url}/no/such/view`, { method: 'POST', headers: { accept: 'text/html' } });
    expect([posted.status, posted.headers.get('content-type')]).toEqual([404, expect.stringContaining('json')]);

    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${served.url}/sites/1?tab=activity`);
    const chosen = page.locator('.subtabs [aria-current]');
    await chosen.waitFor();
    await expect
      .poll(async () => {
        const box = await chosen.boundingBox();
        return box !== null && box.x >= 0 && box.x + box.width <= 360;
      })
      .toBe(true);
    await page.context().close();
  });

  it('compares a site with another in two clicks: what differs first, the same folded, unknown as unknown', async () => {
    const [first, second] = [app.fleet.site(0).state, app.fleet.site(1).state];
    const plugin = second.plugins.find(({ active, mustUse, slug }) => active && !mustUse && !slug.includes('mainwp'));
    if (plugin === undefined) throw new Error('the site has no active plugin');
    Object.assign(plugin, { slug: 'quay/quay.php', name: 'Quay', version: '4.5' });
    first.phpVersion = '8.1.2';
    second.phpVersion = '8.3.9';
    second.wpVersion = first.wpVersion;
    const [admin] = second.users;
    if (admin !== undefined) second.users.push({ ...admin, id: 77, login: 'mallory', role: 'administrator' });
    await app.call('sync-sites', { site_ids_or_domains: [1, 2] });
    await app.db.run("UPDATE site_detail SET memory_limit = '' WHERE site_id = 2");
    await app.call('update-site', { site_id_or_domain: 2, name: nameOf(0) });

    const page = await served.open();
    await page.goto(`${served.url}/sites/1`);
    await page.getByRole('heading', { name: nameOf(0), level: 1 }).waitFor();
    const clicks = await counted(page);
    await page.getByRole('link', { name: 'Compare' }).click();
    // The field has the focus.
    await page.getByLabel('Add a site by name or address').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(hostOf(1));
    await page.getByRole('button', { name: `+ ${nameOf(0)}` }).click();
    const row = (what: string) => page.locator('.compared tr', { has: page.getByRole('rowheader', { name: what }) });
    await row('mallory').waitFor();
    expect(await clicks()).toBe(2);
    // Two of the same name are told apart by their addresses.
    const heads = page.locator('.compared').first().locator('thead th');
    await expect
      .poll(() => heads.allInnerTexts())
      .toEqual(['What', `${nameOf(0)}\n${hostOf(0)}`, `${nameOf(0)}\n${hostOf(1)}`]);
    const shown = async (what: string) => (await row(what).locator('td').allInnerTexts()).map((text) => text.trim());
    await expect.poll(() => shown('PHP')).toEqual(['8.1.2', '8.3.9']);
    await expect.poll(() => shown('Quay')).toEqual(['not installed', '4.5']);
    await expect.poll(() => shown('mallory')).toEqual(['no', 'yes']);
    // What is the same, or not known, is there behind a click.
    await expect.poll(() => row('WordPress').isVisible()).toBe(false);
    await expect.poll(() => row('memory limit').isVisible()).toBe(false);
    await page.getByText(/^The same: \d+$/).click();
    await row('WordPress').waitFor();
    await page.getByText(/^Not known for all: \d+$/).click();
    expect((await shown('memory limit'))[1]).toBe('unknown');
    await expectSound(page);

    // It is an address that can be sent, and the sites of the list lead there too.
    await page.reload();
    await row('mallory').waitFor();
    await page.goto(`${served.url}/sites`);
    for (const index of [2, 3]) await page.getByLabel(`Select ${nameOf(index)}`).check();
    await page.getByRole('toolbar').getByRole('button', { name: 'Compare' }).click();
    await page.waitForURL(/\/compare\?sites=3,4$/);
    await page.context().close();
  });

  it('shows the worse of the connection and what the monitor or the last visit found, and sorts by it', async () => {
    const { db } = app;
    await db.run('UPDATE monitor SET active = 1, status = 1, last_check_at = ?', [app.clock.now()]);
    await db.run('UPDATE monitor SET status = 0 WHERE site_id = 2');
    await db.run('UPDATE monitor SET status = 2 WHERE site_id = 4');
    // Its monitor is off, and its last visit failed; the monitor of the next one refuted that later.
    await db.run('UPDATE monitor SET active = 0, last_check_at = NULL WHERE site_id = 3');
    await db.run('UPDATE site_detail SET reachable = 0, checked_at = ? WHERE site_id IN (3, 5)', [app.clock.now() - 1]);
    const page = await served.open();
    await page.goto(`${served.url}/sites`);
    await page.getByRole('button', { name: 'Status', exact: true }).click();
    const states = page.locator('td.status');
    await expect.poll(() => states.allInnerTexts()).toEqual(['Down', 'Down', 'Unconfirmed', 'Connected', 'Connected']);
    for (const [id, state] of ['Connected', 'Down', 'Down', 'Unconfirmed', 'Connected'].entries()) {
      await page.goto(`${served.url}/sites/${id + 1}`);
      await page.locator('.head .badge', { hasText: state }).waitFor();
    }
    // As a script sees it, the document's three states stay.
    await page.goto(`${served.url}/`);
    const status = await page.evaluate(async () => {
      const answer = await fetch('/v2/fleet/sites?columns=status,state&orderby=url');
      return ((await answer.json()) as { rows: string[][] }).rows;
    });
    expect(status).toEqual(['connected', 'down', 'down', 'pending', 'connected'].map((state) => ['connected', state]));
    await db.run('UPDATE site_detail SET reachable = 1');
    await db.run('UPDATE monitor SET active = NULL, status = 99, last_check_at = NULL');
    await page.context().close();
  });

  it('shows a year of a site by day, with what is not known as unknown', async () => {
    const { db } = app;
    const today = Math.floor(app.clock.now() / DAY);
    const date = (ago: number) => new Date((today - ago) * DAY).toISOString().slice(0, 10);
    for (const [ago, up, down] of [
      [300, 86_400, 0],
      [299, 86_000, 400],
      [200, 43_200, 43_200],
      [100, 0, 0],
    ] as const)
      await db.run('INSERT INTO monitor_day VALUES (2, ?, ?, ?, 0, 0, 0, NULL, NULL)', [today - ago, up, down]);
    await db.run('UPDATE monitor_engine SET summed_day = ?', [today - 1]);
    const page = await served.open();
    await page.goto(`${served.url}/sites/2?tab=uptime`);
    // (86,400 + 86,000 + 43,200) of 259,200 seconds.
    await page.getByText(/^83\.17 % up on the 3 days of the last year that are known; watched since /).waitFor();
    const days = async (level: string) => page.locator(`.year rect.${level}`).count();
    // 52 weeks before the present one, which ends on a Friday.
    expect([await days('full'), await days('most'), await days('less'), await days('unknown')]).toEqual([1, 1, 1, 366]);
    await page.getByText('Days with downtime: 2').click();
    const listed = page.locator('.year .log li');
    expect((await listed.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))).toEqual([
      expect.stringMatching(/ 50 %, down for 12 h$/),
      expect.stringMatching(/ 99\.53 %, down for 7 min$/),
    ]);
    await expectSound(page);
    // As a script gets it.
    const answer = await page.evaluate(async () => (await fetch('/v2/monitors/2/days?days=210')).json());
    expect(answer).toMatchObject({
      until: date(0),
      data: [
        { date: date(200), uptime: 50, up_seconds: 43_200, down_seconds: 43_200 },
        { date: date(100), uptime: null, up_seconds: 0, down_seconds: 0 },
      ],
    });
    await db.run('DELETE FROM monitor_day');
    await page.context().close();
  });

  it('sets maintenance that returns each week, on the clock of the site', async () => {
    await app.db.run("UPDATE site_detail SET timezone = 'Europe/Berlin' WHERE site_id = 2");
    const page = await served.open();
    await page.goto(`${served.url}/sites/2?tab=uptime`);
    const clicks = await counted(page);
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText("In the site's time (Europe/Berlin)").waitFor();
    await dialog.getByRole('button', { name: 'Add weekly maintenance' }).click();
    await dialog.getByText(/^Sunday, 02:00–04:00$/).waitFor();
    expect(await clicks()).toBe(2);
    await dialog.getByRole('combobox', { name: 'Day' }).selectOption('Wednesday');
    await dialog.getByLabel('From').fill('22:30');
    await dialog.getByLabel('To', { exact: true }).fill('00:15');
    await dialog.getByRole('button', { name: 'Add weekly maintenance' }).click();
    await dialog.getByText(/^Wednesday, 22:30–00:15$/).waitFor();
    await expectSound(page);
    const stored = () =>
      app.db.all('SELECT weekday, from_min, to_min FROM maintenance_window WHERE site_id = 2 ORDER BY weekday');
    await expect.poll(stored).toEqual([
      { weekday: 0, from_min: 120, to_min: 240 },
      { weekday: 3, from_min: 1350, to_min: 15 },
    ]);
    await dialog.getByRole('button', { name: 'Remove: Wednesday, 22:30–00:15' }).click();
    await dialog.getByText(/^Wednesday, /).waitFor({ state: 'detached' });
    await expect.poll(stored).toEqual([{ weekday: 0, from_min: 120, to_min: 240 }]);
    await page.context().close();
  });

  it('shows the fleet in figures with the last 30 days, a day without data as a gap, beside what needs attention', async () => {
    const { db } = app;
    const today = Math.floor(app.clock.now() / DAY);
    await db.run('UPDATE monitor SET active = 1, status = CASE site_id WHEN 4 THEN 0 ELSE 1 END');
    await db.run('DELETE FROM site_update');
    for (const [ago, updates, up] of [
      [29, 12, 86_400],
      [28, 9, 43_200],
      // Nothing is known of the days between.
      [3, 4, null],
      [2, 0, 86_400],
    ] as const)
      await db.run('INSERT INTO fleet_day VALUES (?, 5, 0, 0, 1, ?, NULL, ?, ?)', [
        today - ago,
        updates,
        up,
        up === null ? null : 86_400 - up,
      ]);
    await db.run('INSERT INTO fleet_day (day, connected, updates) VALUES (?, 5, 99)', [today - 30]);
    // What the hourly task counted earlier today is replaced by what is known now.
    await recordFleetDay(app.ctx());
    await db.run('UPDATE monitor SET status = 1 WHERE site_id = 4');
    await db.run("UPDATE site_detail SET php_version = CASE site_id WHEN 4 THEN '8.0.30' ELSE '8.1.0' END");
    const page = await served.open();
    const figures = page.locator('.trend > div');
    await expect
      .poll(async () => (await figures.allInnerTexts()).map((text) => text.split('\n').map((part) => part.trim())))
      .toEqual([
        ['Connected', '5'],
        ['Down', '0'],
        ['Disconnected', '0'],
        ['Pending updates', '0'],
        // There is no feed.
        ['Vulnerable sites', 'unknown'],
        // (100 + 50 + 100) / 3
        ['Uptime', '83.33 %'],
        ['PHP before 8.1', '1'],
      ]);
    const updates = page.getByRole('img', { name: 'Pending updates on 5 known days: 0 – 12' });
    // Two days, a gap, two days, a gap, and today.
    await expect.poll(() => updates.locator('polyline').count()).toBe(3);
    // It stands beside what needs attention, not above it, and on a phone below it.
    const top = async (selector: string) => (await page.locator(selector).first().boundingBox())?.y ?? Number.NaN;
    expect(await top('.trend')).toBeLessThan((await top('.first .card')) + 200);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await top('.trend')).toBeGreaterThan(await top('.first .card'));
    await page.setViewportSize({ width: 1280, height: 800 });
    await expectSound(page);
    await page.getByRole('link', { name: 'Pending updates' }).click();
    await page.waitForURL(/\/updates$/);
    await db.run('DELETE FROM fleet_day');
    await db.run('UPDATE monitor SET active = NULL, status = 99');
    await page.context().close();
  });

  it('finds clients and tags beyond the hundred that a list holds, by searching on the server', async () => {
    const { db } = app;
    for (let at = 1; at <= 130; at++) {
      const number = String(at).padStart(3, '0');
      await app.call('add-tag', { name: `Tag ${number}` });
      await app.call('add-client', { name: `Client ${number}`, client_email: `c${number}@example.com` });
    }
    const page = await served.open();
    await page.goto(`${served.url}/sites`);
    const client = page.getByRole('combobox', { name: 'Client' });
    await client.getByText('100 of 130. Search for the others.').waitFor({ state: 'attached' });
    await page.getByRole('searchbox', { name: 'Search clients' }).fill('client 127');
    await expect.poll(() => client.locator('option').allInnerTexts()).toEqual(['Any client', 'Client 127']);
    await client.selectOption('Client 127');
    await page.waitForURL(/client_ids=\d+/);
    await page.getByText('No matches').waitFor();
    // What is chosen stays in the list of another search, and after a reload.
    await page.reload();
    await expect
      .poll(() => client.evaluate((select: HTMLSelectElement) => select.selectedOptions[0]?.text))
      .toBe('Client 127');

    await page.goto(`${served.url}/sites/3`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('searchbox', { name: 'Search clients' }).fill('127');
    await dialog.getByRole('combobox', { name: 'Client' }).selectOption('Client 127');
    await dialog.getByRole('searchbox', { name: 'Search tags' }).fill('129');
    await dialog.getByRole('checkbox', { name: 'Tag 129' }).check();
    await dialog.getByRole('searchbox', { name: 'Search tags' }).fill('130');
    await dialog.getByRole('checkbox', { name: 'Tag 130' }).check();
    await expect.poll(() => dialog.getByRole('checkbox', { name: 'Tag 129' }).isChecked()).toBe(true);
    await expectSound(page);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(
      await db.all(
        'SELECT c.name AS client, t.name AS tag FROM site s JOIN client c ON c.id = s.client_id JOIN site_tag l ON l.site_id = s.id JOIN tag t ON t.id = l.tag_id WHERE s.id = 3 ORDER BY t.name',
      ),
    ).toEqual([
      { client: 'Client 127', tag: 'Tag 129' },
      { client: 'Client 127', tag: 'Tag 130' },
    ]);
    await page.context().close();
  });

  it('changes every setting that has an effect by mouse; a refusal stands at its field, and an emptied one is the default', async () => {
    const page = await served.open();
    await page.goto(`${served.url}/settings`);
    const card = (title: string) =>
      page.locator('.card', { has: page.getByRole('heading', { name: title, exact: true }) });
    const saved = (title: string) => card(title).getByRole('button', { name: 'Save' }).last().click();
    const stored = async (group: string) =>
      page.evaluate(async (one) => (await (await fetch(`/v2/settings/${one}`)).json()).data, group);
    await expect.poll(() => page.locator('main a[href="/docs"]').count()).toBe(0);

    await card('Time zone and reports').getByLabel('Time zone', { exact: true }).fill('Mars/Olympus');
    await saved('Time zone and reports');
    await card('Time zone and reports').getByRole('alert').waitFor();
    await card('Time zone and reports').getByLabel('Time zone', { exact: true }).fill('Europe/Berlin');
    await saved('Time zone and reports');
    await expect.poll(async () => (await stored('general')).timezone_string).toBe('Europe/Berlin');
    await card('Time zone and reports').getByLabel('Time zone', { exact: true }).fill('');
    await saved('Time zone and reports');
    await expect.poll(async () => (await stored('general')).timezone_string).toBe('UTC+0');

    await card('Updates').getByLabel('Ask before updates').selectOption('Not before single updates');
    await card('Updates').getByRole('checkbox', { name: 'Hide the button that applies all updates of a site' }).check();
    await saved('Updates');
    await expect
      .poll(async () => stored('general'))
      .toMatchObject({ disable_update_confirmations: 1, hide_update_everything: 1 });

    await unfold(page, 'How sites are checked');
    await card('Monitors').getByLabel('HTTP codes that count as up').fill('200, 201, 301');
    await card('Monitors').getByLabel('Further checks before a site counts as down').fill('2');
    await saved('Monitors');
    await expect
      .poll(async () => stored('monitoring'))
      .toMatchObject({
        svc_uptime_monitoring_up_status_codes: [200, 201, 301],
        svc_uptime_monitoring_down_confirmation_check: 2,
      });

    await unfold(page, 'Schedule, certificates, speed, parts of a sync');
    await card('Calls to sites').getByLabel('Calls at once', { exact: true }).fill('7');
    await card('Calls to sites').getByRole('checkbox', { name: 'recent posts' }).uncheck();
    await saved('Calls to sites');
    await expect
      .poll(async () => stored('advanced'))
      .toMatchObject({ svc_maximum_requests: 7, sync_data: { recent_posts: 0, plugins: 1 } });

    await card('Mail').getByRole('button', { name: 'Edit: Uptime' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Mail to').fill('on-call@example.com');
    await dialog.getByLabel('Subject').fill('Look: [event]');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await card('Mail').getByText('Goes to on-call@example.com.').waitFor();
    const mail = (await stored('emails')).find(({ type }: { type: string }) => type === 'uptime');
    expect(mail).toMatchObject({ recipients: 'on-call@example.com', subject: 'Look: [event]' });
    await expectSound(page);
    await page.context().close();

    // Every setting that has an effect is there, and one who may only read sees its value.
    const reader = await served.open(['read']);
    await reader.goto(`${served.url}/settings`);
    await reader.getByText('Calls at once', { exact: true }).waitFor({ state: 'attached' });
    const views = await Promise.all(
      (['general', 'advanced', 'monitoring'] as const).map((group) => readSettings(app.ctx(), group)),
    );
    const effective = views.flatMap(({ values, notes }) => Object.keys(values).filter((name) => !(name in notes)));
    const labels = en.settings.field as Record<string, readonly string[]>;
    const missing = effective.filter((name) => labels[name] === undefined);
    expect(missing.sort()).toEqual([
      // Shown in words of their own.
      'svc_uptime_monitoring_active',
      'svc_uptime_monitoring_interval',
      'svc_uptime_monitoring_interval_label',
      'svc_uptime_monitoring_timeout_label',
    ]);
    await expect.poll(() => reader.getByRole('button', { name: 'Save' }).count()).toBe(0);
    await reader.context().close();
  });
});
