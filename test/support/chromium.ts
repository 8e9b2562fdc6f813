/** Starts the Chromium of this machine, for tests that need a real browser. */

import { type Browser, chromium } from 'playwright-core';
import { findBrowser } from '../../src/audit/browser.js';

const executablePath = await findBrowser(null);

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

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: executablePath ?? '', args: ARGS });
}
