/** Updates from plan to proof, as a person makes them: the matrix, the run in its cells, and the outcome. */

import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { browser, sound } from '../safety/browser.js';
import { type SafetyApp, safetyApp } from '../safety/safety-app.js';
import { holdBack } from '../support/hold-back.js';
import { needs } from '../support/needs.js';
import { builtPage, counted, expectToFit, type ServedPage, seriousFindings, servePage } from './browser.js';
import { BARE, offered, PLUGINS, planFleet, SITES, sumOf } from './plan-fleet.js';

const { forms, seo, cache } = PLUGINS;

let app: SafetyApp;
let served: ServedPage;

const versionOn = (site: number, slug: string) =>
  app.fleet.site(site - 1).state.plugins.find((plugin) => plugin.slug === slug)?.version;

describe('the plan of updates', needs('chromium'), () => {
  beforeAll(async () => {
    app = await planFleet();
    served = await servePage(app);
  });
  afterEach(() => {
    expect(served.complaints.splice(0)).toEqual([]);
  });

  it('is a matrix in which each plugin, site and update has a tick, and counts what is ticked', async () => {
    const page = await served.open();
    await page.goto(`${served.url}/updates/plan`);
    const sum = page.locator('.sum strong');
    await expect.poll(() => sum.innerText()).toBe(sumOf());
    await page.getByText('1 site has no guard').waitFor();
    const row = (name: string) => page.getByRole('row', { name });
    await expect.poll(() => page.locator('.matrix tbody tr').count()).toBe(SITES);
    // A name that two sites have is told by the address.
    const addresses = page.locator('.matrix .address');
    expect((await addresses.allInnerTexts()).sort()).toEqual(
      [0, 5].map((index) => app.fleet.site(index).url.replace(/^https?:\/\/|\/$/g, '')).sort(),
    );
    await expect.poll(() => row('Journal').locator('.address').count()).toBe(0);
    // WordPress itself is chosen on purpose.
    const wordpress = page.getByRole('button', { name: 'WordPress', exact: true });
    await expect.poll(() => wordpress.getAttribute('aria-pressed')).toBe('false');
    await wordpress.click();
    await expect.poll(() => sum.innerText()).toBe(`${offered().length + 1} updates on ${SITES} sites`);
    await wordpress.click();
    await expect.poll(() => sum.innerText()).toBe(sumOf());

    await page.getByRole('columnheader').getByRole('checkbox', { name: forms.name }).uncheck();
    await expect.poll(() => sum.innerText()).toBe(sumOf((key) => key === 'forms'));
    await row('Bakery').getByRole('checkbox', { name: 'Update Bakery' }).uncheck();
    await expect.poll(() => sum.innerText()).toBe(sumOf((key, site) => key === 'forms' || site === 3));
    await row('Clinic')
      .getByRole('checkbox', { name: `Clinic: ${cache.name}` })
      .uncheck();
    await expect
      .poll(() => sum.innerText())
      .toBe(sumOf((key, site) => key === 'forms' || site === 3 || (key === 'cache' && site === 5)));
    // What was left out is listed, and taken in again there.
    await page.getByRole('button', { name: `Take in again: ${forms.name}` }).click();
    await page.getByRole('button', { name: 'Take in again: Bakery' }).click();
    await page.getByRole('button', { name: 'Take in again: 1 single update' }).click();
    await expect.poll(() => sum.innerText()).toBe(sumOf());

    await page.getByRole('button', { name: 'Major', exact: true }).click();
    await expect.poll(() => sum.innerText()).toBe(sumOf((key) => key === 'seo'));
    await page.getByRole('button', { name: 'Major', exact: true }).click();
    await page.getByRole('combobox', { name: 'Leave out a tag' }).selectOption('Without shops');
    await expect.poll(() => sum.innerText()).toBe(sumOf((_, site) => site < 4));
    await page.context().close();
  });

  it('is narrowed to a client, and finds a tag among more than are listed', async () => {
    const client = await app.call('add-client', { name: 'Ada Bakery', selected_sites: [4] });
    const made: number[] = [];
    for (let i = 0; i < 101; i++) made.push((await app.call('add-tag', { name: `Tag ${i}` })).id);
    await app.call('update-site', { site_id_or_domain: 5, add_tags: made.slice(-1) });
    const page = await served.open();
    await page.goto(`${served.url}/updates/plan`);
    const sum = page.locator('.sum strong');
    const on = (site: number) => sumOf((_, one) => one !== site).replace('1 sites', '1 site');
    await page.getByRole('combobox', { name: 'Client' }).selectOption('Ada Bakery');
    await expect.poll(() => sum.innerText()).toBe(on(4));
    await page.getByRole('combobox', { name: 'Client' }).selectOption('Any client');
    await page.getByRole('searchbox', { name: 'Search tags' }).first().fill('Tag 100');
    await page.getByRole('combobox', { name: 'Tag', exact: true }).selectOption('Tag 100');
    await expect.poll(() => sum.innerText()).toBe(on(5));
    await page.context().close();
    await app.call('delete-client', { client_id_or_email: client.id, confirm: true });
    for (const tag_id of made) await app.call('delete-tag', { tag_id, confirm: true });
  });

  it('shows versions that are quarantined grey, unticked and outside every count, and warns of those that broke another site', async () => {
    const held = {
      type: 1,
      slug: seo.slug,
      version: seo.to,
      name: seo.name,
      site_id: 1,
      site_url: 'https://x.example/',
    };
    const entry = { ...held, change_id: 'c', evidence: '["It broke."]', created_at: app.clock.now() };
    await app.service.store.quarantine.add(entry, { seen: true, fleet_until: 32_503_680_000_000 });
    const version = { type: 'plugin', slug: seo.slug, version: seo.to };
    await app.call('set-quarantine-scope', { ...version, scope: 'site', reason: 'Only there.' });
    const page = await served.open();
    await page.goto(`${served.url}/updates/plan`);
    await expect
      .poll(() => page.locator('.sum strong').innerText())
      .toBe(`${offered().length - 1} updates on ${SITES} sites`);
    await page.getByText('1 quarantined version is left out').waitFor();
    const cell = (site: number) =>
      page
        .locator('.matrix tbody tr')
        .filter({ has: page.locator(`a[href^="/sites/${site}?"]`) })
        .getByRole('checkbox', { name: new RegExp(seo.name) });
    expect([await cell(1).isChecked(), await cell(1).isDisabled()]).toEqual([false, true]);
    expect([await cell(2).isChecked(), await cell(2).isDisabled()]).toEqual([true, false]);
    await expect.poll(() => cell(2).getAttribute('aria-label')).toContain('broke another site');
    // In the list of items its line is not much higher than the others.
    await page.goto(`${served.url}/updates`);
    await page.locator('.item').first().waitFor();
    const heights = await page
      .locator('.item > .line')
      .filter({ hasText: 'guarded' })
      .evaluateAll((lines) => lines.map((line) => line.getBoundingClientRect().height));
    expect(heights.length).toBeGreaterThan(1);
    expect(Math.max(...heights)).toBeLessThan(2.5 * Math.min(...heights));
    for (const colorScheme of ['light', 'dark'] as const) {
      const own = await served.open(['read', 'write'], { colorScheme });
      await own.goto(`${served.url}/updates/plan`);
      await own.locator('.matrix').waitFor();
      expect(await seriousFindings(own)).toEqual([]);
      await own.setViewportSize({ width: 360, height: 740 });
      await expectToFit(own);
      await own.context().close();
    }
    await app.call('lift-quarantine', version);
    await page.context().close();
  });

  it('is read-only for who may only read', async () => {
    const page = await served.open(['read']);
    await page.goto(`${served.url}/updates/plan`);
    await page.locator('.matrix').waitFor();
    await expect.poll(() => page.getByRole('checkbox').count()).toBe(0);
    await expect.poll(() => page.getByRole('button', { name: /^Apply/ }).count()).toBe(0);
    await page.context().close();
  });

  it('updates all on a tag except one plugin in five clicks from Now, and shows the run while it goes', async () => {
    const page = await served.open();
    const clicks = await counted(page);
    await page.getByRole('link', { name: 'Plan updates' }).click();
    await page.locator('.matrix').waitFor();
    await page.getByRole('combobox', { name: 'Tag', exact: true }).selectOption('shops');
    await expect.poll(() => page.locator('.matrix tbody tr').count()).toBe(3);
    await page.getByRole('columnheader').getByRole('checkbox', { name: seo.name }).uncheck();
    const left = offered((key, site) => key === 'seo' || site > 3).length;
    await page.getByRole('button', { name: `Apply ${left} updates` }).click();
    // Opening a list and choosing from it are two, which the browser does not tell the page.
    expect((await clicks()) + 2).toBe(5);
    await page.waitForURL(/\/runs\/run_/);
    await served.running(page.getByRole('button', { name: new RegExp(`^${left}\\s*Updated$`) }).waitFor());
    for (const site of [1, 2, 3]) expect(versionOn(site, forms.slug)).toBe(forms.to);
    for (const site of [1, 2]) expect(versionOn(site, seo.slug)).toBe(seo.from);
    for (const site of [4, 5]) expect(versionOn(site, forms.slug)).toBe(forms.from);
    // What was left out was for this run.
    await page.goto(`${served.url}/updates/plan`);
    await page.locator('.matrix').waitFor();
    await expect.poll(() => page.getByText('Left out:').count()).toBe(0);
    await page.context().close();
  });
});

/** A picture of a page in this colour, as the browser of the test makes it. */
function webp(page: Page, colour: string): Promise<string> {
  return page.evaluate((fill) => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 240 });
    const context = canvas.getContext('2d');
    if (context === null) throw new Error('no canvas');
    context.fillStyle = fill;
    context.fillRect(0, 0, 320, 240);
    return canvas.toDataURL('image/webp').split(',')[1] ?? '';
  }, colour);
}

describe('a run of updates', needs('chromium'), () => {
  let files = { before: '', after: '' };
  let address = '';

  beforeAll(async () => {
    const { pictures } = browser(
      () => app,
      ({ nth }) => ({ ...sound, file: nth === 0 ? files.before : files.after }),
    );
    app = await planFleet({ pictures });
    // What it answers is seen from here, not by its guard alone, however long the first look takes.
    Object.assign(app.fleet.site(2).faults, { watchdog: false, breaks: { [`${forms.slug}@${forms.to}`]: 'fatal' } });
    served = await servePage(app);
    const page = await served.open();
    files = { before: await webp(page, '#2a6'), after: await webp(page, '#36c') };
    await page.context().close();
  });
  afterEach(() => {
    expect(served.complaints.splice(0)).toEqual([]);
  });

  it('is shown in its cells while it goes: a break flips red, then amber with the time in which it was restored', async () => {
    const page = await served.open();
    await page.goto(`${served.url}/updates/plan`);
    // The others are looked at first, which waits for the clock.
    const bare = holdBack(app.fleet.site(BARE - 1), /^upgradeplugintheme$/);
    await page.getByRole('button', { name: `Apply ${offered().length} updates` }).click();
    await page.waitForURL(/\/runs\/run_/);
    address = page.url();
    await page.locator('.cell.busy').first().waitFor();
    bare.letGo();
    await page.getByText(new RegExp(`^\\d+ of ${offered().length} updates are done$`)).waitFor();
    const restored = page.locator('.cell', { hasText: 'Restored in' });
    await served.running(restored.waitFor());
    await expect.poll(() => restored.getAttribute('class')).toMatch(/warn flips/);
    const headline = page.locator('.headline');
    await served.running(headline.getByText('would have broken').waitFor());
    const row = await app.db.one(
      "SELECT evidence ->> 'well_after_ms' AS ms FROM safe_change WHERE outcome = 'rolled_back'",
    );
    const seconds = Number(row?.ms) / 1000;
    const time = `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`;
    expect((await restored.innerText()).endsWith(`Restored in ${time}`)).toBe(true);
    await expect
      .poll(() => headline.innerText())
      .toBe(
        `${offered().length - 1} updates on ${SITES} sites; one would have broken Bakery and was rolled back in ${time}.`,
      );
    // The others are there for all to see.
    await expect.poll(() => page.locator('.cell.good').count()).toBe(offered().length - 1);
    expect(versionOn(3, forms.slug)).toBe(forms.from);
    await page.context().close();
  });

  it('stays as a page that one would show: what was taken back and why, what was looked at, pictures, and how to verify it', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await served.open(['read'], { colorScheme });
      await page.goto(address);
      const card = (name: RegExp) => page.locator('.card', { has: page.getByRole('heading', { name }) });
      await card(/^Rolled back: 1$/)
        .getByText(/HTTP 500/)
        .first()
        .waitFor();
      await card(/^Rolled back: 1$/)
        .getByText(`${forms.from} → ${forms.to}`)
        .waitFor();
      await card(new RegExp(`^Updated: ${offered().length - 1}$`)).waitFor();
      const proof = card(/^Evidence$/);
      await proof
        .getByText(/^Checked on each site: .*wp-login/)
        .first()
        .waitFor();
      await proof.getByText(/sitefleet receipt verify receipts\.json --key [0-9a-f]{32}/).waitFor();
      const own = app.fleet.site(0).url.replace(/^https?:\/\/|\/$/g, '');
      await proof.getByRole('button', { name: `Show pictures: ${own}` }).click();
      const slider = proof.getByRole('slider', { name: 'Before and after: Front page on a desktop' }).first();
      await slider.waitFor();
      const later = proof.locator('.compare .later').first();
      await expect.poll(() => later.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(320);
      const border = () => later.evaluate((image) => getComputedStyle(image).clipPath);
      await expect.poll(border).toBe('inset(0px 0px 0px 50%)');
      await slider.focus();
      await page.keyboard.press('ArrowRight');
      await expect.poll(border).toBe('inset(0px 0px 0px 51%)');
      // Waits until nothing moves any more: pictures above may still take their place.
      const { width, height } = (await slider.boundingBox()) ?? { width: 0, height: 0 };
      await slider.click({ position: { x: width * 0.1, y: height / 2 } });
      await expect.poll(border).toMatch(/^inset\(0px 0px 0px \d%\)$/);
      expect(await seriousFindings(page)).toEqual([]);
      await page.setViewportSize({ width: 360, height: 740 });
      await expectToFit(page);
      await page.context().close();
    }
  });

  it('gives its receipts as a file that the command verifies, and has a form for paper', async () => {
    const page = await served.open(['read'], { colorScheme: 'dark' });
    await page.goto(address);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download receipts' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('receipts.json');
    const { data } = JSON.parse(readFileSync(await download.path(), 'utf8'));
    expect(data).toHaveLength(SITES - 1);
    for (const { document, signature, public_key } of data) {
      const key = createPublicKey({ key: Buffer.from(public_key, 'base64'), format: 'der', type: 'spki' });
      expect(verify(null, Buffer.from(document), key, Buffer.from(signature, 'base64'))).toBe(true);
    }
    await page.emulateMedia({ media: 'print' });
    const shown = (selector: string) => page.locator(selector).first().isVisible();
    expect([await shown('aside'), await shown('main .button'), await shown('.headline')]).toEqual([false, false, true]);
    const paper = await page.evaluate(
      () => getComputedStyle(document.querySelector('.card') as Element).backgroundColor,
    );
    expect(paper).toBe('rgb(255, 255, 255)');
    await page.context().close();
  });
});

describe('a run after which a site may have a problem', needs('chromium'), () => {
  it('says so first, in its sentence, its cells and its lines', async () => {
    app = await planFleet();
    app.fleet.site(1).faults.breaks = { [`${cache.slug}@${cache.to}`]: 'drops_table' };
    served = await servePage(app);
    const page = await served.open();
    const { run_id } = await served.running(
      app.call('run-updates', { types: ['plugins'], specific_items: [cache.slug], site_ids_or_domains: [2, 3, 5] }),
    );
    await page.goto(`${served.url}/runs/${run_id}`);
    await page.getByText('3 updates on 3 sites. One needs a look.').waitFor();
    expect(await page.locator('.cell.warn').count()).toBe(1);
    expect(await page.locator('.cell.good').count()).toBe(2);
    const first = page.locator('.card').filter({ has: page.getByRole('heading', { name: /^Updated/ }) });
    await expect
      .poll(() => first.getByRole('heading').allInnerTexts())
      .toEqual(['Updated, and needs a look: 1', 'Updated: 2']);
    const line = first.first().getByRole('listitem');
    await line.getByText('May be broken').waitFor();
    await line.getByText(/The table \w+ has been dropped\./).waitFor();
    await line.getByRole('button', { name: 'Roll back' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.context().close();
    expect(served.complaints).toEqual([]);
  });
});

describe('a run at work', needs('chromium'), () => {
  it('can be stopped: sites whose turn has not come are left alone', async () => {
    app = await planFleet();
    served = await servePage(app);
    const page = await served.open();
    const held = holdBack(app.fleet.site(BARE - 1), /^upgradeplugintheme$/);
    const call = app.fail('run-updates', { types: ['plugins'], site_ids_or_domains: [BARE] });
    await served.running(held.waiting);
    const [run] = (await app.call('list-runs', { state: 'running' })).runs;
    await page.goto(`${served.url}/runs/${run.run_id}`);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await served.running(page.getByText('The run was cancelled.').waitFor());
    expect(await call).toMatchObject({ code: 'svc_cancelled' });
    await served.running(page.locator('.headline', { hasText: 'No update was kept' }).waitFor());
    await expect.poll(() => page.getByRole('button', { name: 'Stop' }).count()).toBe(0);
    held.letGo();
    await page.context().close();
    expect(served.complaints).toEqual([]);
  });
});

describe('a run of many items', needs('chromium'), () => {
  it('has those of each site one after the other, by name, and says what was spared', async () => {
    app = await safetyApp({ sites: 2, pageFolder: await builtPage() });
    const { updateRuns } = app.service.store;
    const now = app.clock.now();
    const origin = JSON.stringify({ type: 'user', id: 1, name: 'Ada', via: 'rest', operation: '', request_id: '' });
    const asked = '{"types":[1],"specific_items":[]}';
    await updateRuns.begin({ id: 'run_many', started_at: now, owner: '', actor: 'Ada', origin, asked, sites: 2 });
    const item = {
      type: 1,
      old_version: '1.0',
      new_version: '1.1',
      protection: 'guard' as const,
      code: '',
      message: '',
    };
    for (const site of [1, 2])
      await updateRuns.plan(
        'run_many',
        site,
        Array.from({ length: 6 }, (_, index) => {
          const number = site * 10 + index;
          const own = { slug: `p${number}/p.php`, name: `Plugin ${number}`, change_id: `change_${number}` };
          return index === 5
            ? {
                ...item,
                ...own,
                state: 'skipped' as const,
                code: 'svc_version_quarantined',
                message: 'It broke a site.',
              }
            : { ...item, ...own, state: 'kept' as const };
        }),
        now,
      );
    await updateRuns.end('run_many', now);
    served = await servePage(app);
    const page = await served.open(['read']);
    await page.goto(`${served.url}/runs/run_many`);
    await page.getByText('10 updates on 2 sites.').waitFor();
    const sites = page.locator('.strips > li');
    await expect.poll(() => sites.count()).toBe(2);
    const cells = sites.nth(0).locator('.cell');
    await expect.poll(() => cells.count()).toBe(6);
    await expect.poll(() => cells.first().innerText()).toMatch(/Plugin 10: 1\.1$/);
    await expect.poll(() => cells.last().innerText()).toMatch(/Plugin 15: Spared$/);
    expect(await seriousFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await page.context().close();
    expect(served.complaints).toEqual([]);
  });
});

describe('the plan of a large fleet', needs('chromium'), () => {
  const FLEET = 300;
  const ITEMS = 40;

  it('is shown in windows of sites and items, and counts all of them', async () => {
    app = await safetyApp({ sites: 1, pageFolder: await builtPage() });
    const numbers = (to: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${to})`;
    await app.db.run('DELETE FROM site');
    await app.db.run(
      `${numbers(FLEET)} INSERT INTO site (id, url, url_key, name, search, created_at)
       SELECT i, 'https://s' || i || '.example/', 's' || i || '.example', 'Site ' || printf('%03d', i), 'site', 0 FROM n`,
    );
    await app.db.run("INSERT INTO site_detail (site_id, child_version) SELECT id, '6.1' FROM site");
    await app.db.run(
      `${numbers(2)} INSERT INTO site_update (site_id, type, slug, position, name, current_version, new_version, url_key)
       SELECT s.id, 1, 'p' || ((s.id + i) % ${ITEMS}) || '/p.php', i, 'Plugin ' || ((s.id + i) % ${ITEMS}), '1.0', '1.1', s.url_key
       FROM site s, n`,
    );
    await app.db.run('INSERT INTO package (kind, slug, name) SELECT DISTINCT 0, slug, name FROM site_update');
    served = await servePage(app);
    const page = await served.open();
    await page.goto(`${served.url}/updates/plan`);
    const sum = page.locator('.sum strong');
    await expect.poll(() => sum.innerText()).toBe(`${2 * FLEET} updates on ${FLEET} sites`);
    await expect.poll(() => page.locator('.matrix tbody tr').count()).toBe(50);
    await expect.poll(() => page.locator('.matrix thead th').count()).toBe(1 + 25);
    const pager = (what: string) => page.getByRole('navigation', { name: `Pages: ${what}` });
    await pager('Sites').getByText(`Sites 1–50 of ${FLEET}`).waitFor();
    await pager('Items').getByText(`Items 1–25 of ${ITEMS}`).waitFor();
    await pager('Items').getByRole('button', { name: 'Next' }).click();
    await pager('Items').getByText(`Items 26–${ITEMS} of ${ITEMS}`).waitFor();
    await expect.poll(() => page.locator('.matrix thead th').count()).toBe(1 + ITEMS - 25);
    await pager('Sites').getByRole('button', { name: 'Next' }).click();
    await page.getByRole('row', { name: 'Site 051' }).waitFor();
    // What is left out here is left out of all of them, on every page.
    const head = page
      .getByRole('columnheader')
      .filter({ has: page.getByRole('checkbox') })
      .first();
    const [, on = ''] = /on (\d+) sites/.exec(await head.innerText()) ?? [];
    expect(Number(on)).toBeGreaterThan(10);
    await head.getByRole('checkbox').uncheck();
    await expect.poll(() => sum.innerText()).toBe(`${2 * FLEET - Number(on)} updates on ${FLEET} sites`);
    await pager('Items').getByRole('button', { name: 'Previous' }).click();
    await pager('Items').getByText(`Items 1–25 of ${ITEMS}`).waitFor();
    await expect.poll(() => sum.innerText()).toBe(`${2 * FLEET - Number(on)} updates on ${FLEET} sites`);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await page.context().close();
    expect(served.complaints).toEqual([]);
  });
});
