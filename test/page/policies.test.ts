/** Policies and waiting plans on the page, in a real browser: previewed before they are saved, set by those who may approve. */

import type { Route } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type RolloutApp, rolloutApp, SHOP } from '../rollouts/rollout-app.js';
import { newKey } from '../support/logins.js';
import { needs } from '../support/needs.js';
import {
  builtPage,
  counted,
  expectToFit,
  painted,
  type ServedPage,
  seriousFindings,
  servePage,
  unfold,
} from './browser.js';

const PHONE = { width: 360, height: 740 };
const SITES = 3;
const DAY = 86_400_000;

let app: RolloutApp;
let served: ServedPage;
let token = '';

/** Over REST, as an approver. */
async function rest(method: string, path: string, body?: object) {
  const response = await fetch(`${served.url}/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as { data: never };
  expect([response.status, answer]).toEqual([200, answer]);
  return answer.data as Record<string, never> & Record<string, unknown>[];
}

describe('policies on the page', needs('chromium'), () => {
  beforeAll(async () => {
    app = await rolloutApp(SITES, { pageFolder: await builtPage() });
    served = await servePage(app);
    token = (await newKey(app.service.store.keys, { approves: true })).token;
    for (const name of ['shops', 'blogs']) await app.call('add-tag', { name });
    await app.call('add-client', { name: 'Bakery' });
    await app.call('update-site', { site_id_or_domain: 1, name: 'Same' });
    await app.call('update-site', { site_id_or_domain: 2, name: 'Same' });
    // Version 1.9 was on offer three weeks ago; one site got it then.
    const now = app.clock.now();
    await app.db.run('DELETE FROM offered_version');
    for (const [version, days] of [
      ['1.9', 21],
      ['2.0', 1],
    ] as const)
      await app.db.run(
        'INSERT INTO offered_version (type, slug, version, first_seen, first_site, second_seen) VALUES (1, ?1, ?2, ?3, 1, ?3)',
        [SHOP, version, now - days * DAY],
      );
    const updated = { site_id: 1, context: 'plugin', action: 'updated', slug: SHOP, name: 'Shop' } as const;
    await app.service.store.actionLog.add([{ ...updated, new_version: '1.9', at: now - 2 * DAY }]);
  });
  afterEach(() => {
    expect(served.complaints.splice(0)).toEqual([]);
  });

  it('are made on a phone in three taps, after what they would do was shown, then switched off, and deleted', async () => {
    const page = await served.open(['read', 'write', 'approve']);
    await page.setViewportSize(PHONE);
    await page.goto(`${served.url}/policies`);
    await page.getByText('No policies yet').waitFor();
    const clicks = await counted(page);
    await page.getByRole('link', { name: 'New policy' }).click();
    await page.getByLabel('Name').fill('Every night');
    await page.getByLabel('Days a version has to be out').fill('3');
    await page.getByRole('button', { name: 'Show the preview' }).click();
    await page.getByText('Nothing is saved yet.').waitFor();
    await page.getByText(`Too new ${SITES} updates on ${SITES} sites`).waitFor();
    const past = page.locator('.card', { hasText: 'in the last 30 days' });
    await expect.poll(() => past.locator('tbody tr').innerText()).toMatch(/shop 1\.9.*1 site got it later/s);
    await past.getByText('Which vulnerabilities were known then').waitFor();
    await expect.poll(() => rest('GET', '/policies')).toHaveLength(0);
    await expectToFit(page);
    await page.getByRole('button', { name: 'Create policy' }).click();
    await page.getByRole('heading', { name: 'Every night' }).waitFor();
    expect(await clicks()).toBe(3);
    expect((await rest('GET', '/policies'))[0]).toMatchObject({
      name: 'Every night',
      summary: expect.stringMatching(/3 days after .* or at once if they fix a known vulnerability, on all sites/),
    });
    await page.goto(`${served.url}/policies`);
    const card = page.locator('.card', { hasText: 'Every night' });
    await card.getByText('It has not been due yet.').waitFor();
    await card.getByRole('button', { name: 'Switch off: Every night' }).click();
    await card.getByText('Off', { exact: true }).waitFor();
    expect((await rest('GET', '/policies'))[0]).toMatchObject({ enabled: false });
    await card.getByRole('button', { name: 'Delete: Every night' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No policies yet').waitFor();
    await page.context().close();
  });

  it('keep in the form all that they can be set to; what is refused stands at its field', async () => {
    const domain = app.fleet.site(1).url;
    const { policy_id: id } = await rest('POST', '/policies', {
      ...{ name: 'All of it', enabled: false, approval: 'auto', types: ['plugins', 'core'], level: ['patch', 'major'] },
      ...{ slugs: ['Shop', SHOP], exclude_slugs: [SHOP], minimum_age_days: 9, only_vulnerable: true },
      ...{
        tag_ids: [1, 2],
        client_ids: [1],
        site_ids_or_domains: [1, domain],
        schedule: { at: '04:15', days: ['sat', 'sun'] },
      },
      window: { days: ['mon'], from: '22:00', to: '05:00' },
      waves: {
        ...{ canaries: 2, canary_tag_ids: [2], canary_sites: [3, domain], sizes: [4, 8], soak_minutes: 30 },
        ...{ approve: true, halt_sites: 2, halt_percent: 7 },
      },
    });
    const stored = await rest('GET', `/policies/${id}`);
    const page = await served.open(['read', 'write', 'approve']);
    await page.goto(`${served.url}/policies/${id}/edit`);
    await page.getByRole('button', { name: 'Remove Same' }).first().waitFor();
    const preview = page.getByRole('button', { name: 'Show the preview' });
    await page.getByLabel('Sites in the later waves').fill('4, many');
    await preview.click();
    const field = page.getByLabel('Sites in the later waves');
    await page.locator('[aria-invalid=true]').waitFor();
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await field.fill('4, 8');
    await preview.click();
    await page.getByText('Nothing is saved yet.').waitFor();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('heading', { name: 'All of it', level: 1, exact: true }).waitFor();
    await expect.poll(() => rest('GET', `/policies/${id}`)).toEqual(stored);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate((theme) => {
        document.documentElement.dataset.theme = theme;
      }, colorScheme);
      for (const path of ['/policies', `/policies/${id}`, `/policies/${id}/edit`]) {
        await page.goto(`${served.url}${path}`);
        await page
          .getByText(path.endsWith('edit') ? 'On which sites' : 'Planned Sat, Sun at 04:15')
          .first()
          .waitFor();
        await painted(page);
        expect(await seriousFindings(page)).toEqual([]);
      }
    }
    await page.context().close();
  });

  it('and what else is saved at once stay as chosen while the saved value is read', async () => {
    const { preset } = await rest('GET', '/approvals/rules');
    await rest('PUT', '/approvals/rules', { preset: 'careful' });
    const page = await served.open(['read', 'write', 'approve']);
    for (const [address, label] of [
      ['/sites/2', 'Takes the automatic updates of the settings'],
      ['/settings', 'Daily digest'],
      ['/settings', /^Also let the assistant that asked/],
    ] as const) {
      await page.goto(`${served.url}${address}`);
      const choice = page.getByRole('checkbox', { name: label });
      const chosen = !(await choice.isChecked());
      await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
      const held: Route[] = [];
      await page.route(/\/v2\/|\/session\/reads$/, (route) => {
        const reads = route.request().method() === 'GET' || route.request().url().endsWith('/session/reads');
        return reads ? void held.push(route) : route.continue();
      });
      await choice.click();
      await expect.poll(() => held.length).toBeGreaterThan(0);
      await painted(page);
      expect([String(label), await choice.isChecked()]).toEqual([String(label), chosen]);
      for (const route of held.splice(0)) await route.continue();
      await page.unrouteAll();
      await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
      expect([String(label), await choice.isChecked()]).toEqual([String(label), chosen]);
    }
    await rest('PUT', '/approvals/rules', { preset });
    await page.context().close();
  });

  it('of the settings are set there, and on the sites that take them', async () => {
    const page = await served.open(['read', 'write', 'approve']);
    await page.setViewportSize(PHONE);
    await page.goto(`${served.url}/settings`);
    const card = page.locator('.card', { hasText: 'Automatic updates' });
    await unfold(page, 'What is updated on its own, and when');
    await card.getByLabel('Update trusted plugins').check();
    await card.getByLabel('Trusted plugins', { exact: true }).fill('shop, forum');
    await card.getByLabel('How often').selectOption('monthly');
    await card.getByLabel('Monthly on day').fill('31');
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The general settings were changed.').waitFor();
    await expectToFit(page);
    await page.goto(`${served.url}/sites/2`);
    const takes = page.getByLabel('Takes the automatic updates of the settings');
    await takes.check();
    await expect.poll(async () => (await rest('GET', '/sites/2')).automatic_update).toBe(1);
    const [policy] = await rest('GET', '/policies');
    expect(policy).toMatchObject({
      source: 'settings',
      summary: expect.stringMatching(
        /^Updates of trusted plugins \(shop, forum\), 1 day .* monthly on day 31 at 00:00, and started at once\.$/,
      ),
    });
    await page.goto(`${served.url}/policies/${policy?.policy_id}`);
    await page.getByText(/^Site takes no automatic updates/).waitFor();
    await expect.poll(() => page.getByRole('main').getByRole('button').count()).toBe(0);
    await page.getByRole('link', { name: 'Made by the settings; change it there' }).click();
    await page.waitForURL(`${served.url}/settings`);
    await page.goto(`${served.url}/policies/${policy?.policy_id}/edit`);
    await page.getByText('You cannot change policies').waitFor();
    await page.context().close();
  });

  it('lead to the request for sites that joined, beside the rollout of the others', async () => {
    const body = { name: 'Joined', approval: 'auto', schedule: { at: '04:15' } };
    const { policy_id: id } = await rest('POST', '/policies', body);
    const told = "UPDATE policy SET state = 'started', approval_id = 'apr_1', due_at = ? WHERE id = ?";
    await app.db.run(told, [app.clock.now(), Number(id)]);
    const page = await served.open(['read']);
    await page.goto(`${served.url}/policies/${id}`);
    const link = page.getByRole('link', { name: 'asked for approval on sites that joined since' });
    expect(await link.getAttribute('href')).toBe('/approvals#apr_1');
    await rest('DELETE', `/policies/${id}`);
    await page.context().close();
  });

  it('are read by others, with what they would do and who may set them', async () => {
    const page = await served.open(['read', 'write']);
    await page.setViewportSize(PHONE);
    await page.goto(`${served.url}/policies`);
    await page
      .getByText('Only people who can change sites and approve changes can create, change or switch them.')
      .waitFor();
    const settings = page.locator('.card', { hasText: 'Automatic updates of the settings' });
    await settings.getByText('Made by the settings; change it there').waitFor();
    await expect.poll(() => page.getByRole('main').getByRole('button').count()).toBe(0);
    await page.getByRole('link', { name: 'All of it' }).click();
    await page.getByText('If it started now').waitFor();
    await expect.poll(() => page.getByRole('main').getByRole('button').count()).toBe(0);
    await expectToFit(page);
    await page.goto(`${served.url}/policies/new`);
    await page.getByText('You cannot change policies').waitFor();
    await page.context().close();
  });
});

describe('plans that wait', needs('chromium'), () => {
  it('are listed with their maker, and started with the digest that is shown, or discarded', async () => {
    const { plan_id, digest } = await app.plan({ waves: { canaries: 1, soak_minutes: 5 } });
    app.clock.move(1000);
    await app.plan({ waves: { canaries: 2, sizes: [1], soak_minutes: 5 } });
    const reader = await served.open(['read']);
    await reader.goto(`${served.url}/rollouts`);
    await reader.getByRole('button', { name: /^View/ }).first().click();
    await reader.getByRole('dialog').getByText('Wave 2: 1 site').waitFor();
    expect(
      await reader
        .getByRole('dialog')
        .getByRole('button', { name: /^(Start|Discard)/ })
        .count(),
    ).toBe(0);
    await reader.context().close();

    const page = await served.open();
    await page.setViewportSize(PHONE);
    await page.goto(`${served.url}/rollouts`);
    const lines = page.locator('.card', { hasText: 'Plans waiting' }).locator('li');
    await lines.nth(1).waitFor();
    await expect
      .poll(() => lines.allInnerTexts())
      .toEqual([
        expect.stringMatching(/3 updates on 3 sites\s+in 2 waves of 2, 1 · by .*can be started until/s),
        expect.stringMatching(/3 updates on 3 sites\s+in 2 waves of 1, 2 · by .*can be started until/s),
      ]);
    const dialog = page.getByRole('dialog', { name: 'The plan' });
    await lines.first().getByRole('button').click();
    await expectToFit(page);
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Discard' }).click();
    await lines.nth(1).waitFor({ state: 'detached' });
    const clicks = await counted(page);
    await lines.getByRole('button').click();
    await dialog.getByText(digest).waitFor();
    await dialog.getByRole('button', { name: 'Start 3 updates on 3 sites' }).click();
    await page.waitForURL(/\/rollouts\/rollout_/);
    expect(await clicks()).toBe(2);
    // Names that repeat are told apart, also where they are in different waves.
    await page.getByRole('heading', { name: 'Wave 2: 2 sites' }).waitFor();
    const cells = (await page.locator('.cells.wave .cell').allInnerTexts()).map((text) => text.split('\n')[0]);
    expect(cells.filter((text) => text === 'Same')).toHaveLength(2);
    await expect.poll(() => page.locator('.cells.wave .address').count()).toBe(2);
    const { rollouts } = await app.call('list-rollouts');
    expect(rollouts[0]).toMatchObject({ plan_id, digest });
    await page.context().close();
  });
});
