/**
 * Forms of the page in a real browser: filled and sent, their result on the page and by REST, and refusals at their
 * field.
 */

import type { Locator, Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type TestApp, testApp } from '../support/harness.js';
import { newKey } from '../support/logins.js';
import { needs } from '../support/needs.js';
import { type Receiver, receiver } from '../support/receiver.js';
import {
  builtPage,
  expectToFit,
  logIn,
  PASSWORD,
  painted,
  type ServedPage,
  seriousFindings,
  servePage,
} from './browser.js';

let app: TestApp;
let served: ServedPage;
let hook: Receiver;
let page: Page;
let token: string;

describe('forms of the page', needs('chromium'), () => {
  beforeAll(async () => {
    app = await testApp({ sites: 1, pageFolder: await builtPage() });
    await app.connect(0);
    served = await servePage(app);
    hook = await receiver();
    token = (await newKey(app.service.store.keys)).token;
    page = await served.open();
  });
  afterEach(() => {
    expect(served.complaints.splice(0)).toEqual([]);
  });

  /** Reads over REST, with a separate key. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers field by field
  async function rest(path: string, bearer = token): Promise<any> {
    const reply = await fetch(`${served.url}/v2${path}`, { headers: { Authorization: `Bearer ${bearer}` } });
    return { status: reply.status, ...((await reply.json()) as object) };
  }

  const view = (name: string) =>
    page.getByRole('navigation', { name: 'Views', exact: true }).getByRole('link', { name, exact: true }).click();
  const card = (title: string) =>
    page.locator('.card', { has: page.getByRole('heading', { name: title, exact: true }) });

  /** Sends a form that is refused: the field shows the reason and has the focus, and the form stays as it was. */
  async function refused(button: string, label: string, reason: RegExp): Promise<Locator> {
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: button, exact: true }).click();
    const field = dialog.getByLabel(label, { exact: true });
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    const notes = (await field.getAttribute('aria-describedby'))?.split(' ') ?? [];
    const said = await Promise.all(notes.map((id) => dialog.locator(`[id="${id}"]`).innerText()));
    expect(said.join(' ')).toMatch(reason);
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    return field;
  }

  it('make a user with a link, who chooses a password', async () => {
    await view('Access');
    const people = card('Users');
    await people.getByRole('button', { name: 'Add user' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('a:b');
    const name = await refused('Add user', 'Name', /without a colon/);
    await name.fill('grace');
    await dialog.getByRole('button', { name: 'Add user', exact: true }).click();
    const link = await dialog.locator('.token').innerText();
    expect(link).toMatch(new RegExp(`^${served.url}/login#[\\w-]{43}$`));
    await dialog.getByRole('button', { name: 'Done' }).click();
    await people.getByRole('row', { name: 'grace' }).getByText('no password yet, has a link').waitFor();
    expect((await rest('/users')).data).toContainEqual(
      expect.objectContaining({ name: 'grace', right: 'read', has_password: false }),
    );

    // The user opens the link, and is asked for a password; after that the note is gone, and the password works.
    const context = await served.browser.newContext();
    const theirs = await context.newPage();
    await theirs.goto(link);
    await theirs.getByRole('button', { name: 'Choose a password' }).click();
    const choose = theirs.getByRole('dialog');
    await choose.getByLabel('New password').fill('short');
    await choose.getByRole('button', { name: 'Save' }).click();
    await choose.getByRole('alert').getByText('8 to 200 characters').waitFor();
    await choose.getByLabel('New password').fill(PASSWORD);
    await choose.getByRole('button', { name: 'Save' }).click();
    await theirs.getByRole('button', { name: 'Choose a password' }).waitFor({ state: 'detached' });
    // Change the password, which requires the current one.
    await theirs.getByRole('button', { name: 'Change password' }).click();
    await choose.getByLabel('Current password').fill('not this one');
    await choose.getByLabel('New password').fill('battery staple');
    await choose.getByRole('button', { name: 'Save' }).click();
    await choose.getByRole('alert').getByText('The current password is wrong.').waitFor();
    await choose.getByLabel('Current password').fill(PASSWORD);
    await choose.getByRole('button', { name: 'Save' }).click();
    await choose.waitFor({ state: 'detached' });
    await theirs.getByText('Your password was changed.').last().waitFor();
    await theirs.getByRole('button', { name: 'Log out', exact: true }).click();
    await logIn(theirs, 'grace', 'battery staple');
    await context.close();
  });

  it('change a user, whose session ends, and delete one after asking', async () => {
    const theirs = await served.open(['read']);
    const name = (await theirs.locator('.account strong').innerText()).trim();
    await view('Access');
    await page.reload();
    const row = card('Users').getByRole('row', { name });
    await row.getByRole('button', { name: `Edit: ${name}` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Right').selectOption('write');
    await dialog.getByLabel('Logs in with').selectOption('password');
    await dialog.getByLabel('Password', { exact: true }).fill('short');
    await (await refused('Save', 'Password', /8 to 200/)).fill('battery staple');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await row.getByText('can edit').waitFor();
    await theirs.getByRole('link', { name: 'Sites', exact: true }).first().click();
    await theirs.getByText('Your session has ended.').waitFor();
    await logIn(theirs, name, 'battery staple');
    await theirs.getByRole('button', { name: 'Sync' }).first().waitFor();
    await theirs.context().close();

    await row.getByRole('button', { name: `Edit: ${name}` }).click();
    await dialog.getByLabel('Can log in').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('disabled').waitFor();
    expect((await rest('/users')).data).toContainEqual(
      expect.objectContaining({ name, right: 'write', active: false }),
    );
    await row.getByRole('button', { name: `Delete: ${name}` }).click();
    await dialog.getByText(`Delete the user ${name}?`).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await row.getByRole('button', { name: `Delete: ${name}` }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    expect(JSON.stringify((await rest('/users')).data)).not.toContain(`"${name}"`);
  });

  it('say why the last user who may change anything stays', async () => {
    const own = (await page.locator('.account strong').innerText()).trim();
    const others = (await rest('/users')).data.filter(
      ({ right, name }: { right: string; name: string }) => right === 'write' && name !== own,
    );
    for (const { id } of others) await app.service.store.users.remove(id);
    await page.reload();
    const row = card('Users').getByRole('row', { name: own });
    await row.getByText('you', { exact: false }).first().waitFor();
    await row.getByRole('button', { name: `Edit: ${own}` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Right').selectOption('read');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog
      .getByRole('alert')
      .getByText(/is the last user who may make changes/)
      .waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  it('make a key that works, switch it off, and delete it after asking', async () => {
    await view('Access');
    const programs = card('API keys');
    await programs.getByRole('button', { name: 'Add key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Used by').fill('x'.repeat(201));
    await (await refused('Add key', 'Used by', /200/)).fill('Reporting');
    await dialog.getByRole('button', { name: 'Add key', exact: true }).click();
    const made = await dialog.locator('.token').innerText();
    expect((await rest('/sites', made)).status).toBe(200);
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    const row = programs.getByRole('row', { name: 'Reporting' });
    await row.getByText(made.slice(-7)).waitFor();
    await row.getByRole('button', { name: 'Switch off' }).click();
    await row.getByText('off', { exact: false }).first().waitFor();
    await expect.poll(async () => (await rest('/sites', made)).code).toBe('svc_rest_authentication_disabled_key');
    await row.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    expect(JSON.stringify((await rest('/rest-api/keys')).data)).not.toContain('Reporting');
  });

  it('make a client and change it', async () => {
    await view('Clients');
    await page.getByRole('button', { name: 'Add client' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('x'.repeat(300));
    await (await refused('Save', 'Name', /\d+ characters|at most/)).fill('Nordlicht');
    await dialog.getByLabel('Phone').fill('+49 30 1234');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Nordlicht' }).click();
    await page.getByText('+49 30 1234').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Phone').fill('+49 40 9');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('+49 40 9').waitFor();
    expect((await rest('/clients')).data).toMatchObject([{ name: 'Nordlicht', phone: '+49 40 9' }]);
  });

  it('make a recipient, which gets a test, and delete it after asking', async () => {
    await view('Settings');
    const told = card('Alert recipients');
    await told.getByRole('button', { name: 'Add recipient' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Channel').selectOption('webhook');
    await dialog.getByLabel('Address').fill('ftp://hooks.example/x');
    const address = await refused('Save', 'Address', /not a web address/);
    await dialog.getByRole('button', { name: 'Test' }).click();
    await dialog.locator('.problem[role=status]').getByText('not a web address').waitFor();
    await address.fill(`${hook.url}/tried`);
    await dialog.getByRole('button', { name: 'Test' }).click();
    await dialog.locator('.good[role=status]').getByText('was delivered').waitFor();
    expect(hook.received.splice(0).map(({ path }) => path)).toEqual(['/tried']);
    expect((await rest('/alerts/recipients')).total).toBe(0);
    await address.fill(`${hook.url}/hook`);
    await dialog.getByLabel('Name').fill('On call');
    // None is not all.
    const groups = await dialog.locator('fieldset.choices label').allInnerTexts();
    for (const group of groups) await dialog.getByLabel(group).uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Choose at least one.').waitFor();
    expect((await rest('/alerts/recipients')).total).toBe(0);
    for (const group of groups.filter((one) => !['Domains', 'Site health'].includes(one)))
      await dialog.getByLabel(group).check();
    await dialog.getByLabel('Only for these sites').fill(app.fleet.site(0).name);
    await dialog.getByRole('button', { name: app.fleet.site(0).name }).click();
    await dialog.getByLabel('From').fill('22:00');
    await dialog.getByLabel('To', { exact: true }).fill('07:00');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => dialog.locator('.token').innerText()).toMatch(/^whsec_/);
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    await told.getByText('On call').waitFor();
    await told.getByRole('button', { name: 'Test: On call' }).click();
    await expect.poll(() => hook.received.map(({ path }) => path)).toEqual(['/hook']);
    const [stored] = (await rest('/alerts/recipients')).data;
    expect(stored).toMatchObject({
      name: 'On call',
      type: 'webhook',
      sites: [1],
      quiet_from: '22:00',
      quiet_to: '07:00',
    });
    expect(stored.kinds).toContain('monitor.down');
    expect(stored.kinds.filter((kind: string) => /^(domain|site\.unhealthy)/.test(kind))).toEqual([]);
    await told.getByText('1 site · quiet from 22:00 to 07:00').waitFor();
    await told.getByRole('button', { name: 'Edit: On call' }).click();
    await dialog.getByLabel('Domains').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const [changed] = (await rest('/alerts/recipients')).data;
    expect(changed).toMatchObject({ ...stored, kinds: expect.arrayContaining(['domain.expired', 'monitor.down']) });
    hook.answer(500);
    await told.getByRole('button', { name: 'Test: On call' }).click();
    await page.locator('.toast.bad').getByText('was not delivered').waitFor();
    await told.getByRole('button', { name: 'Delete: On call' }).click();
    await dialog.getByText('Delete the recipient On call?').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await told.getByText('On call', { exact: true }).waitFor({ state: 'detached' });
    expect((await rest('/alerts/recipients')).total).toBe(0);
  });

  it('open the report of a site over a range, and no other', async () => {
    await view('Reports');
    const { name } = app.fleet.site(0);
    await expect.poll(() => page.getByLabel('Site', { exact: true }).innerText()).toBe(name);
    await page.getByLabel('First day').fill('2026-11-10');
    await page.getByLabel('Last day').fill('2026-11-01');
    await page.getByText('Choose a site, a first day and a last day that is not before it.').waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'Open report' }).count()).toBe(0);
    await page.getByLabel('First day').fill('2026-11-01');
    await page.getByLabel('Last day').fill('2026-11-20');
    const opened = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Open report' }).click();
    const report = await opened;
    await report.getByText(name).first().waitFor();
    expect(new URL(report.url()).search).toBe('?start_date=2026-11-01&end_date=2026-11-20');
    const told = await rest('/pro-reports/1/report?start_date=2026-11-01&end_date=2026-11-20&format=json');
    expect([told.status, told.site.name]).toEqual([200, name]);
    await report.close();
  });

  it('fit a phone, and say nothing that axe finds serious, in light and dark', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    for (const [address, heading, button] of [
      ['/access', 'Users', 'Add user'],
      ['/access', 'API keys', 'Add key'],
      ['/settings', 'Alert recipients', 'Add recipient'],
    ] as const) {
      await page.goto(`${served.url}${address}`);
      await card(heading).getByRole('button', { name: button }).click();
      await page.getByRole('dialog').waitFor();
      await expectToFit(page);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await painted(page);
        expect(await seriousFindings(page), `${button} ${colorScheme}`).toEqual([]);
      }
      await page.emulateMedia({ colorScheme: 'light' });
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });
});
