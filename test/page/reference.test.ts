/**
 * `/docs` in a real browser: everything is listed, calls can be tried out with the session, and nothing is loaded from
 * elsewhere.
 */

import { Validator } from '@seriousme/openapi-schema-validator';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpListener } from '../../src/surfaces/http/server.js';
import { routes } from '../../src/surfaces/rest/index.js';
import { operations } from '../../tools/index.js';
import { launchChromium } from '../support/chromium.js';
import { type TestApp, testApp } from '../support/harness.js';
import { serveLocally } from '../support/local-server.js';
import { newUser } from '../support/logins.js';
import { needs } from '../support/needs.js';
import { allFindings } from './browser.js';

const LOGIN = { username: 'ada', password: 'correct horse' };

let app: TestApp;
let listener: HttpListener;

beforeAll(async () => {
  app = await testApp({ sites: 1, realClock: true });
  await app.connect(0);
  await newUser(app.service.store.users, LOGIN.username, LOGIN.password);
  listener = await serveLocally(await app.service.http());
});

describe('the description behind the reference', () => {
  it('is valid, and has every row and every operation', async () => {
    const reply = await fetch(`${listener.url}/docs/openapi.json`);
    const text = await reply.text();
    expect(await new Validator().validate(JSON.parse(text))).toMatchObject({ valid: true });
    const { paths } = JSON.parse(text) as { paths: Record<string, object> };
    const wanted = [
      ...routes.map(({ path }) => `/v2${path}`),
      ...operations.map(({ id }) => `/wp-json/wp-abilities/v1/abilities/${id}/run`),
    ];
    expect(new Set(Object.keys(paths))).toEqual(new Set(wanted));
  });

  it('shows operations with the method they are published with', async () => {
    const reply = await fetch(`${listener.url}/docs/openapi.json`);
    const { paths } = (await reply.json()) as {
      paths: Record<string, Record<string, { parameters?: { name: string }[] }>>;
    };
    const list = paths['/wp-json/wp-abilities/v1/abilities/svc/list-updates-v1/run'];
    const names = list?.get?.parameters?.map(({ name }) => name);
    expect(names).toContain('input[per_page]');
    expect(names).toContain('input[site_ids_or_domains][]');
    expect(Object.keys(paths['/wp-json/wp-abilities/v1/abilities/svc/delete-site-v1/run'] ?? {})).toEqual(['post']);
  });

  it('answers no file but its own', async () => {
    for (const path of ['/docs/assets/nothing.js', '/docs/assets/..%2findex.html', '/docs/index.html'])
      expect((await fetch(listener.url + path)).status).toBe(404);
  });
});

describe('the reference in a browser', needs('chromium'), () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];
  const hosts = new Set<string>();
  beforeAll(async () => {
    browser = await launchChromium();
    context = await browser.newContext({ baseURL: listener.url });
    page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    await page.goto('/docs');
    await page.locator('.opblock-tag').first().waitFor();
  });
  afterAll(() => browser.close());

  /** Opens an entry of the list, and its form. */
  async function open(method: string, path: string, group: string) {
    await page.locator(`.opblock-tag[data-tag="${group}"]`).click();
    const row = page.locator('.opblock').filter({ has: page.locator(`[data-path="${path}"]`) });
    const wanted = row.filter({ has: page.locator('.opblock-summary-method', { hasText: new RegExp(`^${method}$`) }) });
    await wanted.locator('.opblock-summary-control').click();
    await wanted.getByRole('button', { name: 'Try it out' }).click();
    return wanted;
  }

  it('lists the operations and the rows by group', async () => {
    const groups = await page.locator('.opblock-tag').allTextContents();
    expect(groups.filter((text) => text.startsWith('operations: '))).toHaveLength(
      new Set(operations.map(({ group }) => group)).size,
    );
    expect(groups.some((text) => text.startsWith('monitors'))).toBe(true);
    // What scripts call comes first.
    const first = groups.findIndex((text) => text.startsWith('operations: '));
    expect(first).toBeGreaterThan(20);
    expect(groups.slice(first).filter((text) => !text.startsWith('operations: '))).toEqual([]);
    await expect(page.locator('#session').textContent()).resolves.toContain('Log in');
  });

  it('tries calls out with the session: a read, and a write with its token', async () => {
    const login = await context.request.post('/session', { data: LOGIN, headers: { origin: listener.url } });
    expect(login.status()).toBe(200);
    const { csrf } = await login.json();
    await page.evaluate((kept: string) => localStorage.setItem('csrf', kept), csrf as string);
    const read = await open('GET', '/v2/sites/basic', 'sites');
    await read.getByRole('button', { name: 'Execute' }).click();
    const answer = read.locator('.live-responses-table .response-col_status');
    await answer.filter({ hasText: '200' }).waitFor();
    const write = await open('POST', '/v2/tags/add', 'tags');
    await write.locator('textarea.body-param__text').fill('{"name":"From the reference"}');
    await write.getByRole('button', { name: 'Execute' }).click();
    await write.locator('.live-responses-table .response-col_status').filter({ hasText: '200' }).waitFor();
    const { items } = await app.service.store.tags.list({}, 1, 10);
    expect(items.map(({ name }) => name)).toContain('From the reference');
  });

  it('finds calls by words; a hit opens with its section, in sight', async () => {
    const other = await context.newPage();
    await other.goto('/docs');
    const field = other.getByLabel('Search calls');
    const hits = other.locator('#hits button');
    await field.fill('get maintenance windows');
    await expect.poll(() => hits.count()).toBeGreaterThan(0);
    for (const text of await hits.allInnerTexts()) expect(text).toMatch(/^GET \/v2\/.*maintenance/s);
    const wanted = 'sync-sites-v1';
    await field.fill(wanted);
    await expect.poll(() => hits.allInnerTexts()).toEqual([expect.stringContaining(`svc-${wanted}`)]);
    await field.press('Enter');
    const entry = other.locator('.opblock.is-open');
    await entry.locator('[data-path$="/svc/sync-sites-v1/run"]').waitFor();
    await expect.poll(() => entry.evaluate((element) => element.getBoundingClientRect().top)).toBeLessThan(100);
    await field.fill('no such call at all');
    await other.getByText('Nothing found').waitFor();
    // A hit of another section, by mouse.
    await field.fill('/v2/tags/add');
    await hits.first().click();
    const second = other.locator('.opblock.is-open', { has: other.locator('[data-path="/v2/tags/add"]') });
    await second.waitFor();
    await expect.poll(() => second.evaluate((element) => element.getBoundingClientRect().top)).toBeLessThan(100);
    await other.close();
  });

  it('is light or dark as the page is, also when that changes in another tab', async () => {
    const isDark = () => page.evaluate(() => document.documentElement.classList.contains('dark-mode'));
    const other = await context.newPage();
    await other.goto('/docs');
    await page.emulateMedia({ colorScheme: 'light' });
    for (const theme of ['dark', 'light', 'dark']) {
      await other.evaluate((chosen) => localStorage.setItem('theme', chosen), theme);
      await expect.poll(isDark).toBe(theme === 'dark');
    }
    await page.reload();
    await expect.poll(isDark).toBe(true);
    await other.evaluate(() => localStorage.clear());
    await expect.poll(isDark).toBe(false);
    await other.close();
  });

  it('has nothing that keeps people out, in both themes, as a list and with a form open', async () => {
    const other = await context.newPage();
    await other.goto('/docs');
    await other.locator('.opblock-tag').first().waitFor();
    const expectNone = async (but: string) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await other.emulateMedia({ colorScheme });
        // Colours change by and by.
        await expect.poll(async () => (await allFindings(other)).filter((text) => !text.startsWith(but))).toEqual([]);
      }
    };
    await expectNone('none');
    await other.locator('.opblock-tag[data-tag="tags"]').click();
    const entry = other.locator('.opblock', { has: other.locator('[data-path="/v2/tags"]') }).first();
    await entry.locator('.opblock-summary-control').click();
    await entry.getByRole('button', { name: 'Try it out' }).click();
    // The address of a row can be copied from within the button that opens it.
    await expectNone('nested-interactive ');
    await other.close();
  });

  it('asks no other host, and the console stays silent', () => {
    expect([...hosts].filter((host) => host !== '')).toEqual([new URL(listener.url).host]);
    expect(complaints).toEqual([]);
  });
});
