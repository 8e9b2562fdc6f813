/** The first start in a real browser: three steps, and a fleet of one site. */

import { beforeAll, describe, expect, it } from 'vitest';
import { type TestApp, testApp } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { builtPage, counted, type ServedPage, seriousFindings, servePage } from './browser.js';

let app: TestApp;
let served: ServedPage;

describe('the first start', needs('chromium'), () => {
  beforeAll(async () => {
    app = await testApp({ sites: 3, pageFolder: await builtPage() });
    served = await servePage(app);
  });

  it('asks what to import, who gets alerts and whether to monitor, and each can be skipped', async () => {
    const page = await served.open();
    await page.getByRole('heading', { name: 'Welcome' }).waitFor();
    for (const title of [
      'Which sites?',
      'Who should know when a site goes down?',
      'Watch your sites every 5 minutes?',
    ]) {
      await page.getByRole('heading', { name: title }).waitFor();
      // A step that was skipped is not done.
      await expect.poll(() => page.locator('.progression .done').count()).toBe(0);
      await page.getByRole('button', { name: 'Skip' }).click();
    }
    await page.getByText('No sites yet').waitFor();
    expect((await app.call('count-sites')).total).toBe(0);
    await page.context().close();
    expect(served.complaints).toEqual([]);
  });

  it('connects a site, says why another could not be, and monitors it', async () => {
    const { url, admin, password, uniqueId } = app.fleet.site(0);
    const page = await served.open();
    await page.getByLabel('Address of the site').fill(url);
    await page.getByLabel('Login name of an administrator').fill(admin);
    await page.getByLabel('Password of the administrator').fill('not the password');
    await page.getByLabel('Unique security ID').fill(uniqueId);
    await page.getByRole('button', { name: 'Connect site' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password of the administrator').fill(password);
    await page.getByRole('button', { name: 'Connect site' }).click();
    await page.getByRole('button', { name: 'Continue with 1 site' }).click();
    await page.getByRole('button', { name: 'Skip' }).click();
    await page.getByRole('button', { name: 'Watch every 5 minutes' }).click();
    await page.locator('.head').getByText('1 site', { exact: true }).waitFor();
    await expect
      .poll(() => app.db.all("SELECT key, value FROM setting WHERE key LIKE 'monitoring.%' ORDER BY key"))
      .toEqual([
        { key: 'monitoring.svc_uptime_monitoring_active', value: '1' },
        { key: 'monitoring.svc_uptime_monitoring_interval', value: '5' },
      ]);
    await page.getByRole('link', { name: 'Monitors', exact: true }).first().click();
    await page.getByText('1 monitor', { exact: true }).waitFor();
    await page.getByText('Monitors are off').waitFor({ state: 'detached' });
    await page.context().close();
    expect(served.complaints).toEqual([]);
  });

  it('adds a site by one dialog, guarded and tagged, and several from a list; edits an address, and removes a site', async () => {
    const { id: tag_id } = await app.call('add-tag', { name: 'Shops' });
    const { total } = await app.call('count-sites');
    const page = await served.open();
    await page.goto(`${served.url}/sites`);
    await page.getByRole('button', { name: 'Add site' }).click();
    const dialog = page.getByRole('dialog');
    const [, second, third] = app.fleet.sites;
    if (second === undefined || third === undefined) throw new Error('the fleet is too small');
    await dialog.getByLabel('Address of the site').fill(second.url);
    await dialog.getByLabel('Login name of an administrator').fill(second.admin);
    await dialog.getByLabel('Password of the administrator').fill(second.password);
    await dialog.getByText('HTTP login, client, tags').click();
    await dialog.getByLabel('Unique security ID').fill(second.uniqueId);
    await dialog.getByRole('checkbox', { name: 'Shops' }).check();
    await dialog.getByRole('checkbox', { name: /Install the guard/ }).check();
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Connect site', exact: true }).click();
    await page.getByText(`${second.name} is connected and guarded.`).waitFor();
    const added = await app.call('get-site', { site_id_or_domain: second.url });
    expect((await app.call('get-site-guard', { site_id_or_domain: added.id })).installed).toBe(true);
    expect((await app.call('get-tag-sites', { tag_id })).total).toBe(1);

    await dialog.getByText('Several sites at once').click();
    await dialog
      .getByLabel('Sites', { exact: true })
      .fill(
        `url,admin,password\n${[third.url, third.admin, third.password, third.uniqueId].join(',')}\nhttp://127.0.0.1:9/, nobody`,
      );
    await dialog.getByRole('button', { name: 'Connect 2 sites' }).click();
    await expect.poll(() => dialog.locator('.lines li').count()).toBe(2);
    await expect.poll(() => dialog.locator('.lines li').first().innerText()).toContain(`${third.name} is connected`);
    await expect
      .poll(() => dialog.getByLabel('Sites', { exact: true }).inputValue())
      .toMatch(/^http:\/\/127\.0\.0\.1:9\/, nobody/);
    await dialog.getByRole('button', { name: 'Close' }).last().click();

    await page.getByRole('link', { name: third.name }).click();
    await page.getByRole('button', { name: 'Edit address' }).click();
    await dialog.getByLabel('New address').fill('not an address');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    const clicks = await counted(page);
    await page.getByRole('button', { name: 'Remove site' }).click();
    await dialog.getByRole('button', { name: 'Remove site' }).click();
    await page.getByRole('heading', { name: 'Sites', level: 1 }).waitFor();
    expect(await clicks()).toBe(2);
    await page.getByRole('link', { name: third.name }).waitFor({ state: 'detached' });
    expect((await app.call('count-sites')).total).toBe(total + 1);
    await page.context().close();
    expect(served.complaints).toEqual([]);
  });
});
