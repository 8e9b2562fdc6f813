/** The first start in a real browser: three steps, and a fleet of one site. */

import { beforeAll, describe, expect, it } from 'vitest';
import { type TestApp, testApp } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { builtPage, type ServedPage, servePage } from './browser.js';

let app: TestApp;
let served: ServedPage;

describe('the first start', needs('chromium'), () => {
  beforeAll(async () => {
    app = await testApp({ sites: 1, pageFolder: await builtPage() });
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
    await page.getByText('1 site, 1 connected').waitFor();
    expect(await app.db.all("SELECT key, value FROM setting WHERE key LIKE 'monitoring.%' ORDER BY key")).toEqual([
      { key: 'monitoring.svc_uptime_monitoring_active', value: '1' },
      { key: 'monitoring.svc_uptime_monitoring_interval', value: '5' },
    ]);
    await page.getByRole('link', { name: 'Monitors', exact: true }).first().click();
    await page.getByText('1 monitor', { exact: true }).waitFor();
    await page.getByText('Monitors are off').waitFor({ state: 'detached' });
    await page.context().close();
    expect(served.complaints).toEqual([]);
  });
});
