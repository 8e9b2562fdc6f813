/**
 * The page in a real browser: logging in, reading, changing, updates that break a site and are rolled back,
 * framing, accessibility.
 */

import { createServer } from 'node:http';
import type { Page, Request } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { putGuard, removeGuard } from '../../src/demo/guard/state.js';
import { runToolJobs } from '../../src/domain/connection/tool-jobs.js';
import { changeSettings } from '../../src/domain/policies/of-settings.js';
import { type SafetyApp, safetyApp } from '../safety/safety-app.js';
import { listenLocally } from '../support/local-server.js';
import { needs } from '../support/needs.js';
import {
  allFindings,
  builtPage,
  expectToFit,
  logIn,
  painted,
  type ServedPage,
  seriousFindings,
  servePage,
} from './browser.js';

let app: SafetyApp;
let served: ServedPage;

/** Every view, by its address, with a text that shows it has loaded. */
const VIEWS: [string, string][] = [
  ['/', 'Now'],
  ['/sites', 'Sites'],
  ['/sites/1', 'Overview'],
  ['/sites/1?tab=updates', 'Available'],
  ['/sites/1?tab=inventory', 'Themes'],
  ['/sites/1?tab=uptime', 'Incidents'],
  ['/sites/1?tab=security', 'Security'],
  ['/sites/1?tab=backups', 'No backups yet'],
  ['/sites/1?tab=activity', 'Activity'],
  ['/updates', 'Updates'],
  ['/updates/plan', 'Plan updates'],
  ['/rollouts', 'No rollouts yet'],
  ['/policies', 'No policies yet'],
  ['/policies/new', 'New policy'],
  ['/runs', 'Update runs'],
  ['/vulnerabilities', 'Known vulnerabilities'],
  ['/monitors', 'Alerts'],
  ['/jobs', 'Jobs'],
  ['/history', 'History'],
  ['/approvals', 'No requests'],
  ['/compare', 'Choose a second site'],
  ['/compare?sites=1,2', 'Versions'],
  ['/clients', 'Clients'],
  ['/clients?id=1', 'Nordlicht'],
  ['/reports', 'Reports'],
  ['/access', 'API keys'],
  ['/settings', 'Alert recipients'],
  ['/start', 'Which sites?'],
  ['/nothing-here', 'There is nothing at this address.'],
];

/** Of a view: the document, its style, two scripts, the session, live events, and two for what it reads. */
const MOST_REQUESTS = 8;

const nameOf = (index: number) => app.fleet.site(index).name;

/** Navigates as a link does, without reloading the page. */
async function visit(page: Page, address: string, text: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, address);
  await page.getByRole('main').getByText(text, { exact: true }).first().waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
}

describe('the page', needs('chromium'), () => {
  beforeAll(async () => {
    app = await safetyApp({ sites: 4, fleet: { plugins: 8 }, pageFolder: await builtPage() });
    served = await servePage(app);
    await app.call('add-client', { name: 'Nordlicht', client_email: 'it@nordlicht.example' });
    for (const id of [1, 2, 3, 4]) await app.call('get-site-guard', { site_id_or_domain: id });
  });
  afterEach(() => {
    expect(served.complaints.splice(0)).toEqual([]);
  });

  it('logs in by name, says when that was wrong, and comes back to where one was', async () => {
    const name = await served.user(['read', 'write']);
    const context = await served.browser.newContext();
    const page = await context.newPage();
    await page.goto(`${served.url}/sites/2`);
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').waitFor();
    await logIn(page, name);
    await page.getByRole('heading', { name: nameOf(1), level: 1 }).waitFor();
    await context.close();
  });

  it('needs few requests for a view: what it reads travels together', async () => {
    const page = await served.open(['read', 'write', 'approve']);
    // The stream stays silent: an event of what was done before has a view read again.
    await page.route('**/v2/events', () => undefined);
    for (const [address, text] of VIEWS) {
      const sent: string[] = [];
      const note = (request: Request) => sent.push(`${request.method()} ${request.url()}`);
      // The page before goes on sending until the next one answers.
      await page.goto('about:blank');
      page.on('request', note);
      await page.goto(`${served.url}${address}`);
      await page.getByRole('main').getByText(text, { exact: true }).first().waitFor();
      await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
      page.off('request', note);
      expect([address, sent.length <= MOST_REQUESTS, sent]).toEqual([address, true, sent]);
      expect(sent.filter((one) => one.includes('/v2/')).length).toBeLessThanOrEqual(2);
    }
    await page.context().close();
  });

  it('requests what a view read last time before its script is there', async () => {
    const page = await served.open();
    const reads: string[] = [];
    const isRead = (request: Request) => request.url().endsWith('/session/reads');
    await page.goto(`${served.url}/sites?search=${encodeURIComponent(nameOf(2))}`);
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    await page.goto('about:blank');
    const early = page.waitForRequest(isRead);
    await page.route('**/assets/main-*.js', async (route) => {
      await early;
      await route.continue();
    });
    page.on('request', (request) => isRead(request) && reads.push(request.postData() ?? ''));
    await page.goBack();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    await page.getByRole('main').getByText(nameOf(2), { exact: true }).first().waitFor();
    expect(reads).toEqual([expect.stringContaining(encodeURIComponent(nameOf(2)))]);
    await page.context().close();
  });

  it.each(['/', '/sites', '/updates', '/monitors', '/clients', '/rollouts'])(
    'requests what %s reads before its script is there, in a browser that has not opened it before',
    async (view) => {
      const page = await served.open(['read', 'write', 'approve']);
      await page.evaluate(() => localStorage.removeItem('reads'));
      await page.goto('about:blank');
      const asked: string[][] = [];
      const isRead = (request: Request) => request.url().endsWith('/session/reads');
      page.on('request', (request) => isRead(request) && asked.push(request.postDataJSON().paths));
      const early = page.waitForRequest(isRead);
      await page.route('**/assets/main-*.js', async (route) => {
        await early;
        await route.continue();
      });
      await page.goto(`${served.url}${view}`);
      // Noted once its script has read for the first time.
      await page.waitForFunction((of) => JSON.parse(localStorage.getItem('reads') ?? '{}')[of] !== undefined, view);
      const read = await page.evaluate((of) => JSON.parse(localStorage.getItem('reads') ?? '{}')[of], view);
      expect(asked.map((paths) => paths.toSorted())).toEqual([read.toSorted()]);
      await page.context().close();
    },
  );

  it('shows the login, and works after it, where what was requested early was refused', async () => {
    const name = await served.user(['read']);
    const page = await served.open();
    await page.goto(`${served.url}/sites`);
    await expect.poll(() => page.locator('tbody tr').count()).toBe(4);
    await page.context().clearCookies();
    await page.reload();
    await logIn(page, name);
    await expect.poll(() => page.locator('tbody tr').count()).toBe(4);
    await page.context().close();
  });

  it('finds a site, filters, and goes back by the button of the browser', async () => {
    const page = await served.open();
    await page.getByRole('link', { name: 'Sites', exact: true }).first().click();
    const rows = page.locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(4);
    const wanted = app.fleet
      .site(2)
      .url.replace(/^https?:\/\//, '')
      .replace(/\/$/, '');
    await page.getByLabel('Search name or address').fill(wanted);
    await expect.poll(() => rows.count()).toBe(1);
    expect(page.url()).toContain('search=');
    await rows.getByRole('link').first().click();
    await page.getByRole('heading', { name: nameOf(2), level: 1 }).waitFor();
    await page.goBack();
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByLabel('Search name or address').fill('');
    await expect.poll(() => rows.count()).toBe(4);
    await page.getByRole('combobox', { name: 'Status' }).selectOption('disconnected');
    await page.getByText('No matches').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(() => rows.count()).toBe(4);
    await page.context().close();
  });

  it('updates a plugin, shows each step, and rolls back what breaks the site', async () => {
    const site = app.fleet.site(0);
    const plugin = app.offer(site, 0, '99.0');
    const before = plugin.version;
    site.faults.breaks = { [`${plugin.slug}@99.0`]: 'fatal' };
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    const page = await served.open();
    await visit(page, '/sites/1?tab=updates', 'Available');
    await page.getByText(`${before} → 99.0`).waitFor();
    await page.getByText('Guarded', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: `Update ${plugin.name}` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(plugin.name).waitFor();
    await dialog.getByRole('button', { name: 'Apply 1 update' }).click();
    // The steps are shown as they happen.
    await page.getByText('Checking the site first …').waitFor();
    await served.running(page.getByText('Rolled back', { exact: true }).first().waitFor());
    await page.getByText(`${plugin.name} 99.0 would have broken this site: rolled back in `).waitFor();
    await page
      .getByText(/rolled back by/)
      .first()
      .waitFor();
    expect(plugin.version).toBe(before);
    // The version is quarantined, and a user may lift that.
    await page.getByRole('link', { name: 'Updates', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Quarantined' }).waitFor();
    await page.getByRole('button', { name: 'Lift quarantine' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Lift quarantine' }).click();
    await page.getByRole('heading', { name: 'Quarantined' }).waitFor({ state: 'detached' });
    // The Now view shows it.
    await page.getByRole('link', { name: 'Now', exact: true }).first().click();
    await page.getByRole('heading', { name: /Update rolled back/ }).waitFor();
    await page.context().close();
  });

  it('says of an update that was kept what may be wrong with it', async () => {
    const site = app.fleet.site(2);
    const plugin = app.offer(site, 0, '7.0');
    site.faults.breaks = { [`${plugin.slug}@7.0`]: 'drops_table' };
    await app.call('sync-sites', { site_ids_or_domains: [3] });
    const page = await served.open();
    await visit(page, '/sites/3?tab=updates', 'Available');
    await page.getByRole('button', { name: `Update ${plugin.name}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply 1 update' }).click();
    const result = page.getByRole('status').filter({ hasText: '1 update was applied.' });
    await served.running(result.waitFor());
    await result.getByText(`${plugin.name} needs a look`).waitFor();
    expect(await result.textContent()).toMatch(/The table \S+ has been dropped\./);
    expect(await result.getAttribute('class')).not.toContain('good');
    site.faults.breaks = {};
    await page.context().close();
  });

  it('hides the button of all updates, and asks before updates, as the general settings say', async () => {
    const plugin = app.offer(app.fleet.site(1), 0, '8.0');
    await app.call('sync-sites', { site_ids_or_domains: [2] });
    await changeSettings(app.ctx(), 'general', { hide_update_everything: 1, disable_update_confirmations: 1 });
    const page = await served.open();
    await visit(page, '/sites/2?tab=updates', 'Available');
    await page.getByText('→ 8.0').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Update all' }).count()).toBe(0);
    await page.getByRole('button', { name: `Update ${plugin.name}` }).click();
    await served.running(page.getByText('1 update was applied.').waitFor());
    expect(plugin.version).toBe('8.0');
    await changeSettings(app.ctx(), 'general', { hide_update_everything: null, disable_update_confirmations: null });
    await page.context().close();
  });

  it('asks before several updates unless the general settings say never', async () => {
    const site = app.fleet.site(1);
    const plugins = [app.offer(site, 0, '8.1'), app.offer(site, 1, '8.1')];
    await app.call('sync-sites', { site_ids_or_domains: [2] });
    await changeSettings(app.ctx(), 'general', { disable_update_confirmations: 1 });
    const page = await served.open();
    await visit(page, '/sites/2?tab=updates', 'Available');
    for (const { name } of plugins) await page.getByRole('checkbox', { name }).check();
    await page.getByRole('button', { name: 'Update 2', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Apply 2 updates' }).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(plugins.map(({ version }) => version === '8.1')).toEqual([false, false]);

    await changeSettings(app.ctx(), 'general', { disable_update_confirmations: 2 });
    await page.reload();
    for (const { name } of plugins) await page.getByRole('checkbox', { name }).check();
    await page.getByRole('button', { name: 'Update 2', exact: true }).click();
    await served.running(page.getByText('2 updates were applied.').waitFor());
    await expect.poll(() => dialog.count()).toBe(0);
    expect(plugins.map(({ version }) => version)).toEqual(['8.1', '8.1']);
    await changeSettings(app.ctx(), 'general', { disable_update_confirmations: null });
    await page.context().close();
  });

  it('rolls an update back, and suggests to quarantine its version on every site', async () => {
    const page = await served.open();
    await visit(page, '/sites/2?tab=updates', 'History');
    await page.getByRole('button', { name: 'Roll back' }).first().click();
    const dialog = page.getByRole('dialog');
    await expect
      .poll(() => dialog.getByRole('checkbox', { name: 'Quarantine 8.1 on every site' }).isChecked())
      .toBe(true);
    await dialog.getByRole('button', { name: 'Roll back' }).click();
    await served.running(page.getByText('is restored, and the site works').waitFor());
    const { versions } = await app.call('list-quarantined-versions');
    expect(versions).toMatchObject([{ version: '8.1', scope: 'fleet', scope_by: expect.any(String) }]);
    // A run for the whole fleet would tell of it.
    await app.call('lift-quarantine', { type: 'plugin', slug: versions[0].slug, version: '8.1' });
    for (const plugin of app.fleet.site(1).state.plugins) plugin.update = null;
    await app.call('sync-sites', { site_ids_or_domains: [2] });
    await page.context().close();
  });

  it('updates an item of the fleet on the sites that are left in, after a preview', async () => {
    const plugin = app.offer(app.fleet.site(2), 1, '9.9');
    const elsewhere = app.fleet.site(3).state.plugins.find(({ mustUse }) => !mustUse);
    if (elsewhere === undefined) throw new Error('the site has no plugin');
    Object.assign(elsewhere, { ...plugin, update: { ...plugin.update } });
    const before = elsewhere.version;
    await app.call('sync-sites', {});
    const { total } = await app.call('list-updates', { slug: plugin.slug });
    expect(total).toBeGreaterThan(1);
    const page = await served.open();
    await page.getByRole('link', { name: 'Updates', exact: true }).first().click();
    await page.getByLabel('Search plugin or theme').fill(plugin.slug);
    await page.waitForURL(/search=/);
    const items = page.locator('.item > button');
    await expect.poll(() => items.count()).toBe(1);
    await items.click();
    await page.getByRole('button', { name: `Update ${total} sites` }).waitFor();
    await expect.poll(() => page.locator('.picks li').count()).toBe(total);
    for (const box of await page
      .locator('.picks li', { hasNotText: nameOf(2) })
      .getByRole('checkbox')
      .all())
      await box.uncheck();
    await page.getByRole('button', { name: 'Update 1 site' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 update on 1 site, as of their last sync.').waitFor();
    await dialog.getByRole('button', { name: 'Apply 1 update' }).click();
    // What becomes of it has a page of its own, which stays.
    await page.getByRole('heading', { name: /^Update of /, level: 1 }).waitFor();
    await served.running(page.getByRole('button', { name: /^1\s*Updated$/ }).waitFor());
    await served.running(page.getByText('1 update on 1 site.').waitFor());
    expect(elsewhere.version).toBe(before);
    expect(plugin.version).toBe('9.9');
    await page.context().close();
  });

  it('shows what a tool does with all sites, while it runs and when it has ended', async () => {
    const page = await served.open();
    await page.getByRole('link', { name: 'Jobs', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
    const status = await page.evaluate(async () => {
      const csrf = localStorage.getItem('csrf') ?? '';
      const headers = { 'X-Sitefleet-CSRF': csrf, 'content-type': 'application/json' };
      return (await fetch('/v2/settings/tools/destroy-sessions', { method: 'POST', headers, body: '{}' })).status;
    });
    expect(status).toBe(200);
    const row = page.getByRole('row', { name: /End administrator sessions/ });
    await served.running(row.getByText('Waiting', { exact: true }).waitFor());
    const ctx = app.ctx();
    await served.running(Promise.all([runToolJobs(ctx), row.getByText('Done', { exact: true }).waitFor()]));
    await expect.poll(() => row.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('4');
    await row.getByRole('link').click();
    await page.locator('.card').getByText(/^Done/).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.context().close();
  });

  it('opens wp-admin in one click where the guard allows it, and says why not elsewhere', async () => {
    putGuard(app.fleet.site(3), undefined, true);
    await app.call('get-site-guard', { site_id_or_domain: 4 });
    const page = await served.open();
    await visit(page, '/sites/4', 'Overview');
    const opened = page.context().waitForEvent('page');
    await page.getByRole('button', { name: 'Open wp-admin' }).click();
    await (await opened).waitForURL(`${app.fleet.site(3).url}wp-admin/**`);
    await (await opened).close();
    await visit(page, '/sites/3', 'Overview');
    // Setting it up needs consent, and a site that takes no files says so.
    app.fleet.site(2).faults.readOnlyFiles = true;
    await page.getByRole('button', { name: 'Set up one-click wp-admin' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Set up and open' }).click();
    const link = page.getByRole('dialog').getByRole('link', { name: 'Open the login page' });
    await served.running(link.waitFor());
    app.fleet.site(2).faults.readOnlyFiles = false;
    await expect.poll(() => link.getAttribute('href')).toBe(`${app.fleet.site(2).url}wp-login.php`);
    await page.context().close();
    // The site itself was called, in a separate tab.
    const site = new URL(app.fleet.site(3).url).origin;
    expect(served.complaints.splice(0).filter((one) => !one.startsWith(site))).toEqual([]);
  });

  it('offers to set up the guard for wp-admin where a site has none, seen before or not', async () => {
    const page = await served.open();
    for (const [seen, button] of [
      [false, 'Open wp-admin'],
      [true, 'Set up one-click wp-admin'],
    ] as const) {
      removeGuard(app.fleet.site(1));
      await app.db.run('DELETE FROM site_guard WHERE site_id = 2');
      if (seen) await app.call('get-site-guard', { site_id_or_domain: 2 });
      await visit(page, '/sites/3', 'Overview');
      await visit(page, '/sites/2', 'Overview');
      await page.getByRole('button', { name: button }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Set up and open' }).waitFor();
      await page.keyboard.press('Escape');
    }
    putGuard(app.fleet.site(1));
    await app.call('get-site-guard', { site_id_or_domain: 2 });
    await page.context().close();
    // The refusal that told it.
    expect(served.complaints.splice(0).filter((one) => !one.includes('admin-login') && !one.includes('409'))).toEqual(
      [],
    );
  });

  it('shows a login that may only look no button that changes something', async () => {
    const page = await served.open(['read']);
    for (const [address, text] of VIEWS.filter(([address]) => !['/start', '/policies/new'].includes(address))) {
      await visit(page, address, text);
      // Headings sort.
      const buttons = page.getByRole('main').getByRole('button').and(page.locator(':not(.sort)'));
      const names = (await buttons.allInnerTexts()).map((name) => name.trim());
      // Takes a site out of the comparison that is shown.
      const compared: ReadonlySet<string> = new Set(address.startsWith('/compare') ? [0, 1].map(nameOf) : []);
      const harmless =
        /^(24 hours|7 days|30 days|Previous|Next|Clear filters|Standard columns|Close|Columns|WordPress|Plugins|Themes|Translations|Patch|Minor|Major|)$/;
      expect(
        names.filter((name) => !harmless.test(name) && !/guarded|Quarantined| → /.test(name) && !compared.has(name)),
        address,
      ).toEqual([]);
      await expect
        .poll(() => page.getByRole('main').locator('input[type=checkbox]:visible').count(), { message: address })
        .toBe(0);
    }
    // The service also refuses the call itself.
    const status = await page.evaluate(async () => {
      const csrf = localStorage.getItem('csrf') ?? '';
      const headers = { 'X-Sitefleet-CSRF': csrf, 'content-type': 'application/json' };
      return (await fetch('/v2/sites/1/suspend', { method: 'POST', headers, body: '{}' })).status;
    });
    expect(status).toBe(403);
    await page.context().close();
  });

  it('says when the session has ended, and goes on after logging in again', async () => {
    const page = await served.open();
    await visit(page, '/sites', 'Sites');
    const name = `user-${await app.service.store.users.count()}`;
    const { cookies } = { cookies: await page.context().cookies() };
    await page.context().clearCookies();
    expect(cookies.map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite }))).toEqual([
      { httpOnly: true, sameSite: 'Strict' },
    ]);
    await page.getByRole('combobox', { name: 'Status' }).selectOption('connected');
    await page.getByText('Your session has ended.').waitFor();
    await logIn(page, name);
    await expect.poll(() => page.locator('tbody tr').count()).toBe(4);
    expect(page.url()).toContain('status=connected');
    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await page.getByLabel('Password').waitFor();
    await page.context().close();
  });

  it('logs out everywhere: the sessions of the person in all browsers end, and no other', async () => {
    const page = await served.open();
    const name = `user-${await app.service.store.users.count()}`;
    const elsewhere = await (await served.browser.newContext()).newPage();
    await elsewhere.goto(`${served.url}/login`);
    await logIn(elsewhere, name);
    const other = await served.open();
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Log out everywhere' }).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    const authenticated = (of: Page) => of.evaluate(async () => (await (await fetch('/session')).json()).authenticated);
    expect([await authenticated(page), await authenticated(elsewhere)]).toEqual([false, false]);
    await expect.poll(() => authenticated(other)).toBe(true);
    // The other browser says so at its next request.
    await elsewhere.getByRole('link', { name: 'Sites', exact: true }).first().click();
    await elsewhere.getByText('Your session has ended.').waitFor();
    for (const each of [page, elsewhere, other]) await each.context().close();
  });

  it('cannot be framed, and pages of others cannot change anything through it', async () => {
    const page = await served.open();
    const evil = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(`<!doctype html><title>waiting</title>
        <iframe src="${served.url}/sites"></iframe>
        <script>fetch(${JSON.stringify(`${served.url}/v2/sites/1/suspend`)}, { method: 'POST', mode: 'no-cors', credentials: 'include' })
          .catch(() => 0).then(() => { document.title = 'sent'; })</script>`);
    });
    const { url } = await listenLocally(evil);
    const answer = page.waitForResponse((response) => response.url().endsWith('/v2/sites/1/suspend'));
    await page.goto(`${url}/`);
    expect((await answer).status()).toBeGreaterThanOrEqual(400);
    await page.waitForFunction(() => document.title === 'sent');
    expect(await page.frames()[1]?.evaluate(() => document.getElementById('app') !== null)).not.toBe(true);
    expect((await app.call('get-site', { site_id_or_domain: 1 })).status).toBe('connected');
    await page.context().close();
    // The other page was requested on purpose, and its frame was refused.
    served.complaints.length = 0;
  });

  it('a server on another port, which browsers send the cookie, changes nothing with it', async () => {
    const page = await served.open();
    const cookies: string[] = [];
    const evil = createServer(({ headers }, response) => {
      cookies.push(headers.cookie ?? '');
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>other</title>');
    });
    const { url } = await listenLocally(evil);
    await page.goto(`${url}/`);
    const [cookie = ''] = cookies;
    expect(cookie).toContain('sitefleet_session=');
    const found = await (await fetch(`${served.url}/session`, { headers: { cookie } })).json();
    expect(JSON.stringify(found)).not.toContain('csrf');
    const headers = { cookie, origin: served.url, 'content-type': 'application/json' };
    for (const csrf of [undefined, '', 'x'.repeat(43), cookie.replace(/^.*sitefleet_session=/, '')]) {
      const given = csrf === undefined ? headers : { ...headers, 'x-sitefleet-csrf': csrf };
      const suspend = await fetch(`${served.url}/v2/sites/1/suspend`, { method: 'POST', headers: given, body: '{}' });
      expect(suspend.status, csrf).toBe(403);
    }
    // The page itself goes on.
    await page.goto(`${served.url}/`);
    await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor();
    const own = await page.evaluate(async () => {
      const asked = { 'x-sitefleet-csrf': localStorage.getItem('csrf') ?? '', 'content-type': 'application/json' };
      return (await fetch('/v2/tags/add', { method: 'POST', headers: asked, body: '{"name":"Of the page"}' })).status;
    });
    expect(own).toBe(200);
    await page.evaluate(() => localStorage.removeItem('csrf'));
    await page.reload();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    await page.context().close();
    // The other server was visited on purpose.
    served.complaints.length = 0;
  });

  it('says that the service is away, keeps what is shown, and recovers on its own', async () => {
    const page = await served.open();
    await visit(page, '/sites', 'Sites');
    await served.away();
    await page.getByText('Sitefleet is not responding.').waitFor();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(4);
    await served.back();
    await page.getByText('Sitefleet is not responding.').waitFor({ state: 'detached' });
    await page.getByRole('combobox', { name: 'Status' }).selectOption('connected');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(4);
    await page.context().close();
    served.complaints.length = 0;
  });

  it('has nothing that axe finds on any view, in light and dark, and fits a phone of 360 pixels', async () => {
    const page = await served.open(['read', 'write', 'approve'], { reducedMotion: 'reduce' });
    for (const [address, text] of VIEWS) {
      await visit(page, address, text);
      expect(await allFindings(page), address).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      await painted(page);
      expect(await allFindings(page, ['color-contrast']), `${address} dark`).toEqual([]);
      await page.setViewportSize({ width: 360, height: 740 });
      await expectToFit(page);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 1280, height: 800 });
    }
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('navigation', { name: 'Views', exact: true }).getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await page.context().close();
  });

  it('is used by the keyboard alone', async () => {
    const page = await served.open();
    // A page just opened: after the login, the keyboard goes on from where its button was.
    await page.goto(`${served.url}/sites`);
    await page.getByRole('heading', { name: 'Sites', level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content');
    await page.getByRole('link', { name: 'Sites', exact: true }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sites', level: 1 }).waitFor();
    await page
      .getByRole('checkbox', { name: `Select ${nameOf(0)}` })
      .first()
      .focus();
    await page.keyboard.press('Space');
    await page.getByText('1 selected').waitFor();
    await page.getByRole('button', { name: 'Suspend' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.context().close();
  });
});
