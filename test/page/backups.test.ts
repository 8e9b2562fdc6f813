/** Backups on the page: of a site, made, compared, verified, and restored after the plan was shown; and of the fleet. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putFile } from '../../src/demo/guard/backup.js';
import type { BackupState } from '../../src/demo/guard/types.js';
import { type SafetyApp, safetyApp } from '../safety/safety-app.js';
import { tempFolder } from '../support/cleanup.js';
import { needs } from '../support/needs.js';
import { builtPage, type ServedPage, servePage } from './browser.js';

const NOTE = 'wp-content/uploads/2026/note.txt';

let app: SafetyApp;
let served: ServedPage;
let page: Page;

function state(): BackupState {
  const found = app.fleet.site(0).guard?.backup;
  if (found == null) throw new Error('the site has no plugin for backups');
  return found;
}
const soon = () => Math.floor(app.clock.now() / 1000) + 5;
const contents = () => new Map([...state().files].map(([path, { bytes }]) => [path, bytes.toString('hex')]));
const rows = () => page.locator('tbody tr');
const dialog = () => page.getByRole('dialog');

describe('backups on the page', needs('chromium'), () => {
  beforeAll(async () => {
    app = await safetyApp({
      sites: 3,
      pageFolder: await builtPage(),
      config: { site_backup_dir: join(tempFolder('page-backups'), 'repository') },
    });
    served = await servePage(app);
    await app.call('get-site-guard', { site_id_or_domain: 1 });
    page = await served.open(['read', 'write']);
  });
  afterAll(() => page?.context().close());

  it('are made, and say what changed in each', async () => {
    await page.goto(`${served.url}/sites/1?tab=backups`);
    await page.getByText('No backups yet').waitFor();
    await page.getByRole('button', { name: 'Back up now' }).click();
    await expect.poll(() => rows().count()).toBe(1);
    app.clock.move(3_600_000);
    putFile(state(), NOTE, Buffer.from('as it was'), soon());
    await page.getByRole('button', { name: 'Back up now' }).click();
    await expect.poll(() => rows().count()).toBe(2);
    await rows().first().getByRole('button', { name: 'What changed' }).click();
    await dialog().getByText('files: 1 added').waitFor();
    expect(await dialog().textContent()).toContain('wp-content/uploads/2026');
    await page.keyboard.press('Escape');
    await rows().last().getByRole('button', { name: 'What changed' }).click();
    await dialog().getByText('This is the first backup').waitFor();
    await page.keyboard.press('Escape');
  });

  it('are verified', async () => {
    await rows().first().getByRole('button', { name: 'Verify' }).click();
    await rows().first().getByText('Verified', { exact: true }).waitFor();
  });

  it('are said to be proven less where WordPress Playground ran the copy', async () => {
    const facts = { result: 'proven', reason: null, restore_seconds: 9, data_age_seconds: 60, php: '8.3.1' };
    await app.db.run(
      `INSERT INTO backup_drill (backup_id, site_id, tried_at, tried, at, result, facts)
       SELECT id, site_id, ?1, 'proven', ?1, 'proven', ?2 FROM backup ORDER BY started_at DESC LIMIT 1`,
      [app.clock.now(), JSON.stringify({ ...facts, means: 'playground' })],
    );
    await page.reload();
    await rows().first().getByText('In WordPress Playground, which proves less').waitFor();
    expect(await rows().last().textContent()).not.toContain('Playground');
  });

  it('are downloaded as an archive', async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      rows().first().getByRole('link', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/\.tar$/);
    const archive = readFileSync(await download.path());
    // The names of the files stand in their headers.
    expect(archive.includes(`files/${NOTE}`)).toBe(true);
    expect(archive.includes('as it was')).toBe(true);
  });

  it('are restored after the plan was shown: some files, then the whole site', async () => {
    const before = contents();
    app.clock.move(60_000);
    putFile(state(), NOTE, Buffer.from('damaged'), soon());
    putFile(state(), 'wp-content/uploads/2026/other.txt', Buffer.from('new'), soon());
    await rows().first().getByRole('button', { name: 'Restore' }).click();
    await dialog().getByLabel('What to restore').selectOption('Files');
    await dialog().getByLabel('Files', { exact: true }).fill(NOTE);
    await dialog().getByRole('button', { name: 'Show the plan' }).click();
    await dialog().getByText('1 changed').waitFor();
    expect(contents().get(NOTE)).toBe(Buffer.from('damaged').toString('hex'));
    await dialog().getByRole('button', { name: 'Restore now' }).click();
    await dialog().waitFor({ state: 'detached' });
    await expect.poll(() => contents().get(NOTE)).toBe(before.get(NOTE));
    expect(contents().has('wp-content/uploads/2026/other.txt')).toBe(true);

    await rows().first().getByRole('button', { name: 'Restore' }).click();
    await dialog().getByRole('button', { name: 'Show the plan' }).click();
    await dialog().getByText('1 removed').waitFor();
    await dialog().getByRole('button', { name: 'Restore now' }).click();
    await dialog().waitFor({ state: 'detached' });
    await expect.poll(contents).toEqual(before);
  });

  it('can only be looked at by a login that reads', async () => {
    const reader = await served.open(['read']);
    await reader.goto(`${served.url}/sites/1?tab=backups`);
    await reader.locator('tbody tr').first().waitFor();
    expect(await reader.getByRole('button', { name: /Back up|Verify|Restore/ }).count()).toBe(0);
    expect(await reader.getByRole('link', { name: 'Download' }).count()).toBe(0);
    expect(await reader.getByRole('button', { name: 'What changed' }).count()).toBe(2);
    await reader.context().close();
  });

  it('of the fleet: which sites have none, and how often they are made', async () => {
    await page.goto(`${served.url}/backups`);
    await page.getByText('1 of 3 sites have a backup').waitFor();
    await page.getByText('No sites are backed up on a schedule.').waitFor();
    const nameOf = (index: number) => app.fleet.site(index).name;
    const shown = () => rows().locator('th a').allTextContents();
    await expect.poll(shown).toEqual([nameOf(1), nameOf(2), nameOf(0)]);
    await page.getByRole('link', { name: 'Without a backup 2' }).click();
    await expect.poll(shown).toEqual([nameOf(1), nameOf(2)]);
    expect(await rows().nth(0).textContent()).toContain('No backup');

    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await dialog().getByLabel('How often').selectOption('weekly');
    await dialog().getByLabel('Hour').selectOption('04:00');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().waitFor({ state: 'detached' });
    await page.getByRole('listitem').filter({ hasText: 'All sites: weekly after 04:00' }).waitFor();
    const { schedule } = await app.call('list-backups', {});
    expect(schedule.rules).toMatchObject([{ tag_id: null, site_id: null, every: 'weekly', hour: 4 }]);

    await rows().nth(0).getByRole('link').click();
    await page.getByRole('heading', { name: nameOf(1), level: 1 }).waitFor();
    expect(page.url()).toContain('tab=backups');
  });
});
