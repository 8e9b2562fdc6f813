/** Takes the screenshots of docs/screens: runs the demo, and captures each view of the page in light and dark. */

import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { importSources } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'docs', 'screens');
/** Larger pictures make the repository heavy. */
const MAX_BYTES = 120_000;
const WIDE = { width: 1110, height: 560 };
const PHONE = { width: 390, height: 780 };

const { findBrowser } = await importSources(
  `export { findBrowser } from './src/outbound/audit/browser.js'`,
  'dist/browser.mjs',
);
const executablePath = await findBrowser(process.env.CHROMIUM ?? null);
if (executablePath === null) throw new Error('There is no Chromium. CHROMIUM names one.');

const demo = spawn(process.execPath, ['dist/src/cli.js', 'demo', '--json', '--port', '0'], {
  cwd: root,
  env: { ...process.env, SITEFLEET_LOG_LEVEL: 'silent' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const facts = await new Promise((resolve, reject) => {
    createInterface(demo.stdout).once('line', (line) => resolve(JSON.parse(line)));
    demo.once('exit', () => reject(new Error('The demo did not start.')));
  });
  await shoot(facts);
} finally {
  demo.kill();
}

/** Views in the order of a working day, each with the action before its screenshot. */
function views({ broken_update: broken }) {
  const updates = `/sites/${broken.site_id}?tab=updates`;
  return [
    ['now', '/'],
    ['sites', '/sites'],
    ['site', `/sites/${broken.site_id}`],
    ['site-update', updates, (page) => update(page, broken)],
    ['site-uptime', '/sites/9?tab=uptime', (page) => page.locator('.chart canvas').waitFor()],
    ['updates', '/updates', (page) => page.locator('.item > button').nth(1).click()],
    ['monitors', '/monitors'],
    ['jobs', '/jobs', (page) => page.locator('tbody a').first().click()],
    ['access', '/access'],
    ['settings', '/settings'],
    ['start', '/start'],
  ];
}

/** Starts the update that breaks its site, and waits until it is rolled back. */
async function update(page, { site_id, slug }) {
  const name = await page.evaluate(
    async ([site, item]) => {
      const { data } = await (await fetch(`/v2/updates/${site}`)).json();
      return data[site].plugins[item].Name;
    },
    [site_id, slug],
  );
  await page.getByRole('button', { name: `Update ${name}` }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Apply/ })
    .click();
  await page.locator('.story > .rolled_back').first().waitFor({ timeout: 120_000 });
}

async function shoot(facts) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu'] });
  const page = await browser.newPage({ viewport: WIDE, locale: 'en-GB', reducedMotion: 'reduce' });
  await page.goto(facts.login_link);
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
  for (const [name, path, act] of views(facts)) {
    await page.goto(`${facts.url}${path}`);
    await settled(page);
    await act?.(page);
    await settled(page);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      await save(page, `${name}-${colorScheme}`);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  }
  await page.setViewportSize(PHONE);
  for (const [name, path] of [
    ['now', '/'],
    ['sites', '/sites'],
  ]) {
    await page.goto(`${facts.url}${path}`);
    await settled(page);
    await save(page, `${name}-phone`);
  }
  await browser.close();
}

async function settled(page) {
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

async function save(page, name) {
  const path = join(folder, `${name}.png`);
  await settled(page);
  await page.screenshot({ path });
  const { size } = statSync(path);
  if (size > MAX_BYTES) process.stderr.write(`${name}.png has ${size} bytes, more than ${MAX_BYTES}.\n`);
}
