/** How long views of the page take in Chromium until their content is complete, and how many requests they make. */

import { type Browser, chromium, type Page } from 'playwright-core';
import { findBrowser } from '../../src/outbound/audit/browser.js';
import type { Served } from './served.js';

export interface ViewTime {
  ms: number;
  requests: number;
}

/** The one without windows, where it is installed. */
const SHELL = '/usr/bin/chromium-headless-shell';

/** Null where there is no Chromium. */
export async function startChromium(): Promise<Browser | null> {
  const executablePath = (await findBrowser(SHELL)) ?? (await findBrowser(null));
  if (executablePath === null) return null;
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

/** Without a change of the view for so long, it is complete. */
const STILL_MS = 600;

/** Opens a view once in a fresh browser session (`cold`), then again in the same (`warm`). */
export async function viewTimes(
  browser: Browser,
  { url, user, password }: Served,
  view: string,
): Promise<{ cold: ViewTime; warm: ViewTime }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  try {
    const login = await context.request.post(`${url}/session`, {
      headers: { origin: url },
      data: { username: user, password },
    });
    if (!login.ok()) throw new Error(`The login was answered with HTTP ${login.status()}.`);
    const page = await context.newPage();
    await page.addInitScript(WATCH);
    const cold = await timed(page, url + view);
    const warm = await timed(page, url + view);
    return { cold, warm };
  } finally {
    await context.close();
  }
}

/** In the page: notes when the main part was last changed. */
const WATCH = `
  const observer = new MutationObserver((changes) => {
    const within = (node) => (node.closest ? node : node.parentElement)?.closest('main');
    if (changes.some(({ addedNodes, target }) => addedNodes.length > 0 && within(target)))
      globalThis.lastChange = performance.now();
  });
  document.addEventListener('DOMContentLoaded', () => observer.observe(document.documentElement, { childList: true, subtree: true }));
`;

async function timed(page: Page, address: string): Promise<ViewTime> {
  let requests = 0;
  const count = () => {
    requests += 1;
  };
  page.on('request', count);
  await page.goto(address);
  const handle = await page.waitForFunction((still) => {
    const { lastChange } = globalThis as { lastChange?: number };
    return lastChange !== undefined && performance.now() - lastChange > still ? lastChange : false;
  }, STILL_MS);
  page.off('request', count);
  return { ms: Number(await handle.jsonValue()), requests };
}
