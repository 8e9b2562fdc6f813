/** Rollouts on the page, in a real browser: planned in waves, halted by a bad version, approved by thumb, and undone. */

import type { Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type RolloutApp, rolloutApp, SHOP } from '../rollouts/rollout-app.js';
import { needs } from '../support/needs.js';
import { builtPage, expectToFit, painted, type ServedPage, seriousFindings, servePage } from './browser.js';

const PHONE = { width: 360, height: 740 };
const SITES = 6;

let app: RolloutApp;
let served: ServedPage;

const versions = () => app.plugins.map(({ version }) => version);

/** From the plan of updates to the page of the rollout, as a person goes. */
async function startInWaves(page: Page, { approve = false } = {}): Promise<void> {
  await page.goto(`${served.url}/updates/plan`);
  await page.getByRole('button', { name: 'In waves …' }).click();
  const rules = page.getByRole('dialog', { name: 'Apply in waves' });
  await rules.getByLabel('Sites in the first wave').fill('2');
  await rules.getByLabel('Halt when this many sites break').fill('1');
  if (approve) await rules.getByLabel('Each wave after the first waits for approval').check();
  await rules.getByRole('button', { name: 'Show the plan' }).click();
  const plan = page.getByRole('dialog', { name: 'The plan' });
  await plan.getByText('Wave 1: 2 sites').waitFor();
  await plan.getByText('Wave 2: 4 sites').waitFor();
  await plan.getByText('Nothing was changed.').waitFor();
  await plan.getByRole('button', { name: `Start ${SITES} updates on ${SITES} sites` }).click();
  await page.waitForURL(/\/rollouts\/rollout_/);
}

describe('a rollout on the page', needs('chromium'), () => {
  beforeAll(async () => {
    app = await rolloutApp(SITES, { pageFolder: await builtPage() });
    await app.call('add-tag', { name: 'shops' });
    served = await servePage(app);
  });
  afterEach(() => {
    expect(served.complaints.splice(0)).toEqual([]);
  });

  it('is not offered for what a plan in waves cannot say, with the reason, so that it never has more than is ticked', async () => {
    const page = await served.open();
    const button = page.getByRole('button', { name: 'In waves …' });
    const cannot = async (why: RegExp) => {
      await page.getByText(why).waitFor();
      await expect.poll(() => button.isDisabled()).toBe(true);
    };
    await page.goto(`${served.url}/updates/plan?search=shop`);
    await cannot(/^In waves: clear the search first/);
    await page.goto(`${served.url}/updates/plan`);
    const row = page.locator('.matrix tbody tr').first();
    await row.getByRole('checkbox').nth(1).uncheck();
    await cannot(/^In waves: an item is updated on all sites or on none/);
    await row.getByRole('checkbox').nth(1).check();
    await expect.poll(() => button.isEnabled()).toBe(true);
    await page.context().close();
    const reader = await served.open(['read']);
    await reader.goto(`${served.url}/updates/plan`);
    await reader.locator('.matrix').waitFor();
    await expect.poll(() => reader.getByRole('button', { name: 'In waves …' }).count()).toBe(0);
    await reader.context().close();
  });

  it('leaves out a site that is not ticked, and sites with a tag, as the plan in waves then says', async () => {
    const page = await served.open();
    const planOf = async () => {
      await page.getByRole('button', { name: 'In waves …' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Show the plan' }).click();
      const plan = page.getByRole('dialog', { name: 'The plan' });
      await plan.getByText('Nothing was changed.').waitFor();
      return plan;
    };
    await page.goto(`${served.url}/updates/plan`);
    await page.locator('.matrix tbody tr').first().getByRole('checkbox').first().uncheck();
    const plan = await planOf();
    await plan.getByText('Site left out').waitFor();
    await plan.getByRole('button', { name: `Start ${SITES - 1} updates on ${SITES - 1} sites` }).waitFor();
    await app.call('tag-sites', { site_ids_or_domains: [1, 2], add: ['shops'] });
    await page.goto(`${served.url}/updates/plan?without=1`);
    const tagged = await planOf();
    await tagged.getByText('Left out by tag').waitFor();
    await tagged.getByRole('button', { name: `Start ${SITES - 2} updates on ${SITES - 2} sites` }).waitFor();
    await app.call('tag-sites', { site_ids_or_domains: [1, 2], remove: ['shops'] });
    await page.context().close();
  });

  it('is halted by a version that breaks a site of the first wave, and tells what was undone and never touched', async () => {
    for (const site of app.fleet.sites) site.faults.breaks = { [`${SHOP}@2.0`]: 'fatal' };
    const page = await served.open();
    await startInWaves(page);
    await page.getByText('Wave 1 of 2 is in progress.').waitFor();
    await app.turn();
    await page.getByText('Halted: it goes to no further site.').waitFor();
    await page.getByText(/sites? broke or went down; the limit is 1\./).waitFor();
    const wave = (nth: number) =>
      page.locator('.card', { has: page.getByRole('heading', { name: new RegExp(`^Wave ${nth}:`) }) });
    await expect.poll(() => wave(1).locator('.cell.warn').count()).toBe(2);
    await expect.poll(() => wave(2).locator('.cell.idle').count()).toBe(SITES - 2);
    await expect.poll(() => page.locator('.tally', { hasText: 'Rolled back' }).innerText()).toMatch(/^2\s/);
    await expect.poll(() => page.locator('.tally', { hasText: 'Never touched' }).innerText()).toMatch(/^4\s/);
    await page.getByText('shop 2.0 goes to no further site: it broke').waitFor();
    expect(versions()).toEqual(Array(SITES).fill('1.0'));
    await expect.poll(() => page.getByRole('button', { name: 'Abort' }).count()).toBe(0);
    const address = page.url();
    await page.goto(`${served.url}/`);
    await page.getByText(/sites? broke or went down; the limit is 1\./).waitFor();
    await page.goto(`${served.url}/rollouts`);
    await page.getByRole('cell', { name: 'Halted' }).waitFor();
    await page.context().close();
    for (const colorScheme of ['light', 'dark'] as const) {
      const own = await served.open(['read'], { colorScheme });
      for (const path of ['/rollouts', new URL(address).pathname]) {
        await own.goto(`${served.url}${path}`);
        await own.getByText('Halted', { exact: true }).first().waitFor();
        await painted(own);
        expect(await seriousFindings(own)).toEqual([]);
        await own.setViewportSize(PHONE);
        await expectToFit(own);
        await own.setViewportSize({ width: 1280, height: 800 });
      }
      await own.context().close();
    }
    for (const site of app.fleet.sites) site.faults.breaks = {};
    await app.call('lift-quarantine', { type: 'plugin', slug: SHOP, version: '2.0' });
  });

  it('waits for the approval of its next wave, which a thumb gives; what it did is undone after its plan was shown', async () => {
    const page = await served.open(['read', 'write'], { colorScheme: 'dark' });
    await startInWaves(page, { approve: true });
    await app.turn();
    await page.getByText(/^Wave 1 is watched until .*; wave 2 comes after that\.$/).waitFor();
    expect(versions().filter((version) => version === '2.0')).toHaveLength(2);
    await page.setViewportSize(PHONE);
    await app.after(61);
    await page.reload();
    await page.getByText('Wave 2 is waiting for your approval.').waitFor();
    await expectToFit(page);
    expect(await seriousFindings(page)).toEqual([]);
    const steer = page.getByRole('toolbar', { name: 'Control the rollout' });
    for (const name of ['Approve wave 2', 'Pause', 'Abort']) {
      const box = await steer.getByRole('button', { name }).boundingBox();
      expect(box?.height).toBeGreaterThanOrEqual(44);
      expect((box?.y ?? PHONE.height) + (box?.height ?? 0)).toBeLessThan(PHONE.height);
    }
    await page.goto(`${served.url}/`);
    await page.getByRole('link', { name: 'Wave 2 is waiting for your approval.' }).click();
    await steer.getByRole('button', { name: 'Abort' }).click();
    await page.getByRole('dialog', { name: 'Abort this rollout?' }).getByRole('button', { name: 'Go on' }).click();
    await steer.getByRole('button', { name: 'Pause' }).click();
    await steer.getByRole('button', { name: 'Resume' }).click();
    await steer.getByRole('button', { name: 'Approve wave 2' }).click();
    await page.getByText('Wave 2 of 2 is in progress.').waitFor();
    await app.turn();
    await app.after(61);
    await page.reload();
    await page.getByText('All waves are done.').waitFor();
    await expect.poll(() => page.locator('.cell.good').count()).toBe(SITES);
    expect(versions()).toEqual(Array(SITES).fill('2.0'));

    await page.getByRole('button', { name: /^Undo: 6 updates/ }).click();
    const undo = page.getByRole('dialog', { name: 'Undo this rollout?' });
    await undo
      .getByText(/2\.0 becomes 1\.0 again/)
      .first()
      .waitFor();
    const work = undo
      .getByRole('button', { name: 'Undo', exact: true })
      .click()
      .then(() => undo.waitFor({ state: 'hidden' }));
    await served.running(work);
    await expect.poll(versions).toEqual(Array(SITES).fill('1.0'));
    await page.context().close();
  });
});
