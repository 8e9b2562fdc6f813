/** Approving on the page, in a real browser, on a phone: what waits is seen, judged by its plan, and decided by a tap. */

import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Ways, ways } from '../approvals/client.js';
import { needs } from '../support/needs.js';
import { builtPage, counted, expectToFit, type ServedPage, seriousFindings, servePage } from './browser.js';

const PHONE = { width: 360, height: 740 };

let app: Ways;
let served: ServedPage;

describe('a person who may approve', needs('chromium'), () => {
  beforeAll(async () => {
    app = await ways({ sites: 2, connected: 2, pageFolder: await builtPage() });
    served = await servePage(app.app);
    await app.rules({ preset: 'careful' });
  });
  afterEach(() => {
    expect(served.complaints.splice(0)).toEqual([]);
  });

  it('approves what an assistant asked for in two taps, and it happens once', async () => {
    const { id } = await app.app.call('add-tag', { name: 'Shops' });
    const key = await app.key();
    const assistant = await app.assistant(key.token);
    const call = () => assistant.call('svc-delete-tag-v1', { tag_id: id, confirm: true });
    expect((await call()).isError).toBe(true);
    const page = await served.open(['read', 'write', 'approve']);
    await page.setViewportSize(PHONE);
    const clicks = await counted(page);
    await page.getByRole('link', { name: '1 change waits for approval' }).click();
    await page.getByRole('heading', { name: 'Approvals', level: 1 }).waitFor();
    const card = page.locator('.card', { hasText: 'Delete a tag' });
    await card.getByText('tag name: Shops').waitFor();
    await expect.poll(() => card.innerText()).toMatch(/Asked for by key \d+ \(.+\), .+ waiting/);
    await expectToFit(page);
    expect(await seriousFindings(page)).toEqual([]);
    const button = card.getByRole('button', { name: 'Approve: Delete a tag' });
    // Large enough for a thumb.
    expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    await button.click();
    await card.getByText(/approved, not done yet/).waitFor();
    expect(await clicks()).toBe(2);
    expect((await call()).structuredContent).toMatchObject({ deleted: true });
    await page.reload();
    await card.getByText(/approved and done/).waitFor();
    await page.context().close();
  });

  it('sees which site a batch removes, and which it only changes', async () => {
    const key = await app.key();
    await key('POST /sites/batch', { update: [{ id: 1, notes: 'n' }], delete: [2], suspend: [1] });
    const page = await served.open(['read', 'approve']);
    await page.goto(`${served.url}/approvals`);
    const card = page.locator('.card', { hasText: 'in one call' });
    await card.getByText(/^delete: id 2 · /).waitFor();
    await card.getByText(/^update: id 1 · /).waitFor();
    await card.getByText(/^suspend: id 1 · /).waitFor();
    await page.context().close();
  });

  it('sees what a call over REST would do, and not only that nothing was done', async () => {
    const since = new Date(app.app.clock.now()).toISOString();
    const person = await app.page(await app.user(['read', 'write', 'approve']));
    await person('POST /sites/2/suspend');
    const key = await app.key();
    const asked = [
      await key('POST /actions/undo', { since, confirm: true }),
      await key('POST /sites/1/safe-update', { least_protection: 'none' }),
    ];
    expect(asked.map(({ body }) => body.code)).toEqual(['svc_approval_required', 'svc_approval_required']);
    const [site, other] = app.app.fleet.sites;
    const [update] = site?.state.plugins.filter((plugin) => plugin.update !== null) ?? [];
    const page = await served.open(['read', 'approve']);
    await page.goto(`${served.url}/approvals`);
    const undo = page.locator('.card', { hasText: 'Undo' });
    await undo.getByText(new RegExp(`^site id 2 · .* · ${other?.name} · suspended`)).waitFor();
    const safe = page.locator('.card', { hasText: 'safe' });
    await safe.getByText(`${update?.slug}`).first().waitFor();
    await page.context().close();
  });

  it('sees what is asked for as it is, also what a browser hides or turns around', async () => {
    await app.rules({ preset: 'strict' });
    const key = await app.key();
    const note = 'Sale at \u202Emoc.elpmaxe\u202C\u200B, \u{E0041}\u{3164}and more';
    expect((await key('POST /clients/add', { name: 'Turned', note })).status).toBe(403);
    const page = await served.open(['read', 'approve']);
    await page.goto(`${served.url}/approvals`);
    const card = page.locator('.card', { hasText: 'Turned' });
    await card.locator('summary').click();
    const shown = 'Sale at \\u202emoc.elpmaxe\\u202c\\u200b, \\udb40\\udc41\\u3164and more';
    await expect.poll(() => card.locator('pre').innerText()).toContain(`"note": "${shown}"`);
    await app.rules({ preset: 'careful' });
    await page.context().close();
  });

  it('refuses with a note, which the caller is told', async () => {
    const { id } = await app.app.call('add-tag', { name: 'Blogs' });
    const key = await app.key();
    const call = () => key(`DELETE /tags/${id}/remove`);
    await call();
    const page = await served.open(['read', 'approve']);
    await page.setViewportSize(PHONE);
    await page.goto(`${served.url}/approvals`);
    await page.getByRole('button', { name: 'Refuse: Delete a tag' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Note to the one who asked').fill('It is in use.');
    await dialog.getByRole('button', { name: 'Refuse', exact: true }).click();
    await page.getByText(/^Asked for by .* refused/).waitFor();
    expect((await call()).body.message).toMatch(/^user-\d+ refused this change: "It is in use\."/);
    await page.context().close();
  });

  it('sets the rules by one switch; others read them, and decide nothing', async () => {
    const { id } = await app.app.call('add-tag', { name: 'News' });
    const key = await app.key();
    await key(`DELETE /tags/${id}/remove`);
    const other = await served.open(['read', 'write']);
    await other.goto(`${served.url}/settings`);
    await other.getByText('More than 5 sites, updates without a guard').waitFor();
    await other.goto(`${served.url}/approvals`);
    await other.getByText('No requests').waitFor();
    await expect.poll(() => other.getByLabel('Which changes wait for approval').count()).toBe(0);
    await other.context().close();

    const page = await served.open(['read', 'write', 'approve']);
    await page.goto(`${served.url}/settings`);
    const rules = async () => (await key('GET /approvals/rules')).body.data;
    const stored = page.waitForResponse((reply) => reply.request().method() === 'PUT');
    await page.getByLabel('Also let the assistant that asked').check();
    expect((await stored).ok()).toBe(true);
    expect(await rules()).toMatchObject({ preset: 'careful', in_assistants: true });
    await page.getByLabel('Which changes wait for approval').selectOption('None');
    await page.getByText('Programs with the right to make changes make them at once.').waitFor();
    expect((await key(`DELETE /tags/${id}/remove`)).status).toBe(200);
    const ask = { few: 'ask', many: 'ask', all: 'ask', all_by_assistant: 'ask', unguarded: 'auto' } as const;
    await app.rules({ rules: { content: ask } });
    await page.reload();
    await page.getByText('Custom rules. What may wait for a person: posts or comments changed.').waitFor();
    await page.context().close();
  });
});
