/** Starts the Chromium of this machine, for tests that need a real browser. */

import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { findBrowser } from '../../src/outbound/audit/browser.js';

/**
 * The same browser without windows, where it is installed: an ordinary one draws a whole window, with tabs and tools, around each page,
 * also without a screen.
 */
const SHELL = 'chromium-headless-shell';
export const headlessShell = await findHeadlessShell();
/** The cheapest of the browsers of this machine; null if there is none. */
export const browserPath = headlessShell ?? (await findBrowser(null));

const ARGS = [
  '--headless',
  '--no-sandbox',
  // Without a screen the CPU would emulate the GPU.
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

async function findHeadlessShell(): Promise<string | null> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const found = await findBrowser(join(folder, SHELL));
    if (found !== null) return found;
  }
  return null;
}

/** Far beyond any wait of a test, on a machine however busy. */
const PATIENCE_MS = 300_000;

export async function launchChromium(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: browserPath ?? '', args: ARGS, timeout: PATIENCE_MS });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  };
  return browser;
}
