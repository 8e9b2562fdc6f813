/** The built page, served by a test service, and a real browser that watches for errors and external requests. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { UserRight } from '../../src/store/access/users.js';
import { type HttpListener, listen } from '../../src/surfaces/http/server.js';
import { buildPage } from '../../web/build.mjs';
import { cheapHash } from '../support/cheap-hash.js';
import { launchChromium } from '../support/chromium.js';
import { closing } from '../support/cleanup.js';
import type { TestApp } from '../support/harness.js';
import { oncePerRun } from '../support/once-per-run.js';

export const PASSWORD = 'correct horse';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Built from the sources, so that no test uses an outdated page. */
export function builtPage(): Promise<string> {
  return oncePerRun('page', buildPage);
}

export interface ServedPage {
  url: string;
  browser: Browser;
  /** Opens a page in its own context, logged in as a user with these rights. */
  open(rights?: UserRight[], options?: Parameters<Browser['newContext']>[0]): Promise<Page>;
  /** Adds a user; returns its name. */
  user(rights: UserRight[]): Promise<string>;
  /** Stops answering, until `back`. */
  away(): Promise<void>;
  back(): Promise<void>;
  /** Moves the clock of the service, a little for each frame that the page last opened paints, while `work` is pending. */
  running<T>(work: Promise<T>): Promise<T>;
  /** Errors reported by pages, and requests to any other server. */
  complaints: string[];
  close(): Promise<void>;
}

/** Serves the page of an app, and starts a browser. */
export async function servePage(app: TestApp): Promise<ServedPage> {
  const http = await app.service.http();
  let listener: HttpListener = await listen(http, { host: '127.0.0.1', port: 0 });
  const { url } = listener;
  app.service.setBaseUrl(url);
  const browser = await launchChromium();
  const password_hash = cheapHash(PASSWORD);
  const complaints: string[] = [];
  let users = 0;
  let shown: Page | null = null;

  const watch = (context: BrowserContext) => {
    context.on('console', (message) => {
      // The browser itself reports every refused answer; the tests cause those on purpose.
      if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
        complaints.push(message.text());
    });
    context.on('weberror', (error) => complaints.push(String(error.error())));
    context.on('request', (request) => {
      const asked = request.url();
      if (!asked.startsWith(`${url}/`) && !asked.startsWith('data:') && !asked.startsWith('about:'))
        complaints.push(asked);
    });
  };

  async function user(rights: UserRight[]): Promise<string> {
    users += 1;
    const name = `user-${users}`;
    await app.service.store.users.add({ name, password_hash, rights, now: app.clock.now() });
    return name;
  }

  return closing({
    url,
    browser,
    complaints,
    user,
    async open(rights = ['read', 'write'], options = {}) {
      const name = await user(rights);
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', ...options });
      watch(context);
      const page = await context.newPage();
      shown = page;
      await page.goto(`${url}/login`);
      await logIn(page, name);
      await page.getByRole('heading', { level: 1 }).waitFor();
      return page;
    },
    away: () => listener.close(0),
    async back() {
      listener = await listen(http, { host: '127.0.0.1', port: Number(new URL(url).port) });
    },
    async running(work) {
      if (shown === null) throw new Error('no page is open');
      let pending = true;
      const ended = work.finally(() => {
        pending = false;
      });
      ended.catch(() => undefined);
      while (pending) {
        app.clock.move(500);
        await painted(shown);
      }
      return ended;
    },
    async close() {
      await browser.close();
      await listener.close(0);
    },
  });
}

export async function logIn(page: Page, name: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation', { name: 'Views', exact: true }).waitFor({ state: 'attached' });
}

/** Waits until changes are painted. */
export function painted(page: Page): Promise<void> {
  return page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );
}

/** Clicks that the page has received since it was loaded. */
export async function counted(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const seen = globalThis as unknown as { clicks: number };
    seen.clicks = 0;
    document.addEventListener('click', (event) => event.isTrusted && seen.clicks++, true);
  });
  return () => page.evaluate(() => (globalThis as unknown as { clicks: number }).clicks);
}

interface Violation {
  id: string;
  impact: string | null;
  nodes: { target: string[]; failureSummary: string }[];
}

/** Serious or critical findings of axe on the page, by these rules or by all. */
export async function seriousFindings(page: Pick<Page, 'evaluate'>, rules: string[] = []): Promise<string[]> {
  return (await findings(page, rules)).flatMap(({ impact, text }) =>
    impact === 'serious' || impact === 'critical' ? [text] : [],
  );
}

/** Everything that axe finds on the page, by these rules or by all. */
export async function allFindings(page: Pick<Page, 'evaluate'>, rules: string[] = []): Promise<string[]> {
  return (await findings(page, rules)).map(({ text }) => text);
}

async function findings(page: Pick<Page, 'evaluate'>, rules: string[]) {
  // Injected through the debugger: the page's own policy allows no foreign script.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const violations = await page.evaluate(async (only) => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
    const options = { resultTypes: ['violations'], ...(only.length === 0 ? {} : { runOnly: only }) };
    return (await axe.run(options)).violations;
  }, rules);
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, failureSummary }) => ({ impact, text: `${id} ${target.join(' ')}: ${failureSummary}` })),
  );
}

/** Expects that no part of the page is wider than the screen. */
export async function expectToFit(page: Page): Promise<void> {
  const { scroll, width } = await page.evaluate(() => ({
    scroll: document.documentElement.scrollWidth,
    width: document.documentElement.clientWidth,
  }));
  expect(scroll, page.url()).toBeLessThanOrEqual(width);
}

/** Opens what is folded, once nothing loads any more: what comes in above it would move it away from under the click. */
export async function unfold(page: Page, text: string): Promise<void> {
  const summary = page.getByText(text);
  await summary.waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
  await summary.click();
}
