/**
 * Views inside assistants: which clients are offered them, and each of them in the reference host in a real browser.
 */

import { fileURLToPath } from 'node:url';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { build } from 'esbuild';
import type { Browser, FrameLocator, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import type { HttpListener } from '../../src/surfaces/http/server.js';
import { initializeParams, sessionFacts } from '../../src/surfaces/mcp/session-ids.js';
import { browser, sound } from '../safety/browser.js';
import { launchChromium } from '../support/chromium.js';
import { SYSTEM, type TestApp, testApp } from '../support/harness.js';
import { serveLocally } from '../support/local-server.js';
import { newKey } from '../support/logins.js';
import { needs } from '../support/needs.js';
import { seriousFindings } from './browser.js';

const VIEWS: Record<string, string> = {
  'svc-get-fleet-brief-v1': 'ui://sitefleet/brief',
  'svc-get-batch-job-status-v1': 'ui://sitefleet/job',
  'svc-safe-update-site-v1': 'ui://sitefleet/update',
  'svc-run-updates-v1': 'ui://sitefleet/update',
  'svc-get-run-v1': 'ui://sitefleet/update',
  'svc-plan-updates-v1': 'ui://sitefleet/rollout',
  'svc-start-rollout-v1': 'ui://sitefleet/rollout',
  'svc-get-rollout-v1': 'ui://sitefleet/rollout',
  'svc-control-rollout-v1': 'ui://sitefleet/rollout',
};
const DECLARED = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } };
/** One white point. */
const PICTURE = 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA';
const BAD = { slug: 'harbour-forms/harbour-forms.php', from: '3.8.2', to: '3.9.0' };

let app: TestApp;
let listener: HttpListener;
let token: string;
const ids: number[] = [];

beforeAll(async () => {
  const { pictures } = browser(
    () => app,
    () => ({ ...sound, file: PICTURE }),
  );
  app = await testApp({ sites: 3, pictures, realClock: true, config: { batch_threshold: 1, job_delay_ms: 0 } });
  const site = app.fleet.site(0);
  site.state.plugins = site.state.plugins.map((plugin) => ({ ...plugin, update: null })).slice(0, 3);
  site.state.plugins.push({
    ...site.state.plugins[0],
    slug: BAD.slug,
    name: 'Harbour Forms',
    version: BAD.from,
    active: true,
    mustUse: false,
    update: { version: BAD.to, requiresPhp: '7.4', requiresWp: '6.0' },
  } as never);
  site.faults.breaks = { [`${BAD.slug}@${BAD.to}`]: 'fatal' };
  for (let i = 0; i < 3; i += 1) ids.push(await app.connect(i));
  await app.call('install-site-guard', { site_id_or_domain: ids[0] });
  await app.call('disconnect-site', { site_id_or_domain: ids[2] });
  ({ token } = await newKey(app.service.store.keys));
  listener = await serveLocally(await app.service.http());
});

const endpoint = () => new URL(`${listener.url}/mcp?toolsets=default,monitoring,rollouts`);
const requestInit = () => ({ headers: { authorization: `Bearer ${token}` } });
const clients = {
  '2025-11-25': async (capabilities: object) => {
    const client = new Client({ name: 't', version: '1' }, { capabilities } as ClientOptions);
    await client.connect(new StreamableHTTPClientTransport(endpoint(), { requestInit: requestInit() }) as never);
    return client as unknown as ModernClient;
  },
  '2026-07-28': async (capabilities: object) => {
    const options = { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } } as const;
    const client = new ModernClient({ name: 't', version: '1' }, options);
    await client.connect(new ModernHttp(endpoint(), { requestInit: requestInit() }));
    return client;
  },
};
const viewOf = ({ _meta }: { _meta?: Record<string, unknown> | undefined }) =>
  (_meta?.ui as { resourceUri?: string } | undefined)?.resourceUri;

describe.each(Object.entries(clients))('a client of %s', (_era, connect) => {
  it('learns of views when it shows them', async () => {
    const client = await connect(DECLARED);
    const { tools } = await client.listTools();
    const found = tools.flatMap((tool) => (viewOf(tool) === undefined ? [] : [[tool.name, viewOf(tool)]]));
    expect(Object.fromEntries(found)).toEqual(VIEWS);
    const { resources } = await client.listResources();
    const listed = resources.filter(({ uri }) => uri.startsWith('ui:'));
    expect(listed.map(({ uri }) => uri).sort()).toEqual([...new Set(Object.values(VIEWS))].sort());
    for (const { uri } of listed) {
      const [content] = (await client.readResource({ uri })).contents;
      expect(content).toMatchObject({ uri, mimeType: 'text/html;profile=mcp-app' });
      const html = String(content && 'text' in content ? content.text : '');
      expect(html.length).toBeGreaterThan(10_000);
      expect(Buffer.byteLength(html)).toBeLessThan(60_000);
      expect(html).not.toMatch(/(?:src|href)=["']?(?:https?:)?\/\//);
    }
    await client.close();
  });

  it('sees nothing of them otherwise, and the same answers', async () => {
    const [plain, showing] = [await connect({}), await connect(DECLARED)];
    const { tools } = await plain.listTools();
    expect(tools.filter((tool) => viewOf(tool) !== undefined)).toEqual([]);
    const { resources } = await plain.listResources();
    expect(resources.filter(({ uri }) => uri.startsWith('ui:'))).toEqual([]);
    const args = { name: 'svc-get-site-v1', arguments: { site_id_or_domain: ids[0] } };
    expect(await showing.callTool(args)).toEqual(await plain.callTool(args));
    await Promise.all([plain.close(), showing.close()]);
  });
});

it('is remembered by a session that is restored from its id', () => {
  const facts = sessionFacts({ params: { protocolVersion: '2025-11-25', capabilities: DECLARED } });
  expect(initializeParams(facts)).toMatchObject({ capabilities: DECLARED });
  const plain = sessionFacts({ params: { protocolVersion: '2025-11-25', capabilities: {} } });
  expect(initializeParams(plain)).toMatchObject({ capabilities: {} });
});

describe('a view in the reference host', needs('chromium'), () => {
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const hosts = new Set<string>();
  beforeAll(async () => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL('./host/host.ts', import.meta.url))],
      bundle: true,
      write: false,
      format: 'iife',
      logLevel: 'error',
    });
    const script = outputFiles[0]?.text ?? '';
    browser = await launchChromium();
    page = await browser.newPage({ baseURL: listener.url });
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    const html = '<!doctype html><link rel="icon" href="data:,"><script src="/host.js"></script><body></body>';
    await page.route('**/host', (route) => route.fulfill({ contentType: 'text/html', body: html }));
    await page.route('**/host.js', (route) => route.fulfill({ contentType: 'text/javascript', body: script }));
    await page.goto('/host');
  });
  afterAll(() => browser.close());

  async function show(tool: string, args: object, theme: 'light' | 'dark' = 'light'): Promise<FrameLocator> {
    await page.evaluate((asked) => (globalThis as unknown as { show(asked: object): Promise<void> }).show(asked), {
      tool,
      args,
      token,
      theme,
    });
    return page.frameLocator('iframe');
  }

  /** A view leaves its ground to the host, whose colour axe cannot see. */
  async function findings(theme: 'light' | 'dark'): Promise<string[]> {
    const frame = await (await page.locator('iframe').elementHandle())?.contentFrame();
    if (frame == null) throw new Error('the view has no frame');
    await frame.evaluate((dark) => {
      document.body.style.background = dark ? '#1f1f1f' : '#ffffff';
    }, theme === 'dark');
    return seriousFindings(frame);
  }

  it('shows the brief, and all cases of a matter on demand', async () => {
    const view = await show('svc-get-fleet-brief-v1', {});
    const card = view.locator('.card').filter({ hasText: 'disconnected' });
    await card.getByRole('button', { name: 'Show all' }).click();
    await card.locator('tbody tr').first().waitFor();
    await expect.poll(() => card.locator('tbody tr').count()).toBe(1);
    await expect.poll(() => card.locator('tbody tr').textContent()).toContain('site-0002');
  });

  it('follows a job to its end', async () => {
    const { job_id } = (await app.call('sync-sites', { site_ids_or_domains: [ids[0], ids[1]] })) as { job_id: string };
    const view = await show('svc-get-batch-job-status-v1', { job_id });
    await view.locator('.badge', { hasText: 'Done' }).waitFor();
    await expect.poll(() => view.locator('[role=progressbar]').getAttribute('aria-valuenow')).toBe('2');
  });

  it('shows the plan of a safe update, asks before it is done, and tells what became of it', async () => {
    const view = await show('svc-safe-update-site-v1', {
      site_id_or_domain: ids[0],
      types: ['plugins'],
      dry_run: true,
    });
    await view.locator('.item', { hasText: 'Harbour Forms' }).locator('.badge', { hasText: 'guard' }).waitFor();
    await view.getByRole('button', { name: 'Update this one' }).click();
    expect(app.fleet.site(0).state.plugins.find(({ slug }) => slug === BAD.slug)?.version).toBe(BAD.from);
    await view.getByRole('button', { name: 'Yes, do it' }).click();
    const item = view.locator('.item', { hasText: 'Harbour Forms' });
    await item.locator('.badge', { hasText: 'rolled back' }).waitFor();
    expect(app.fleet.site(0).guard?.actions).toContain('arm');
    expect(app.fleet.site(0).state.plugins.find(({ slug }) => slug === BAD.slug)?.version).toBe(BAD.from);
  });

  it('shows the plan of many sites as a matrix, leaves an item out, and then the run with what was taken back', async () => {
    const offers = [
      ['harbour-shop/harbour-shop.php', 'Harbour Shop'],
      ['meadow/meadow.php', 'Meadow Gallery'],
      ['lantern-cache/lantern-cache.php', 'Lantern Cache'],
    ] as const;
    for (const index of [0, 1]) {
      const { state } = app.fleet.site(index);
      const [model] = state.plugins;
      if (model === undefined) throw new Error('the site has no plugin');
      for (const plugin of state.plugins) plugin.update = null;
      for (const [slug, name] of offers)
        state.plugins.push({
          ...model,
          slug,
          name,
          version: '1.0',
          active: true,
          mustUse: false,
          update: { version: '2.0', requiresPhp: '7.4', requiresWp: '6.0' },
        } as never);
    }
    app.fleet.site(1).faults.breaks = { 'harbour-shop/harbour-shop.php@2.0': 'fatal' };
    await app.call('install-site-guard', { site_id_or_domain: ids[1] });
    for (const id of [ids[0], ids[1]]) await app.call('sync-sites', { site_ids_or_domains: [id] });
    const view = await show('svc-run-updates-v1', {
      site_ids_or_domains: [ids[0], ids[1]],
      types: ['plugins'],
      dry_run: true,
    });
    await view.getByText('6 updates on 2 sites would be applied.').waitFor();
    await view.getByRole('checkbox', { name: 'Lantern Cache' }).uncheck();
    await view.getByText('4 updates on 2 sites would be applied.').waitFor();
    await view.getByRole('button', { name: 'Take lantern-cache/lantern-cache.php in again' }).waitFor();
    await view.getByRole('button', { name: 'Update these 4' }).click();
    await view.getByRole('button', { name: 'Yes, do it' }).click();
    const restored = view.locator('.grid .badge', { hasText: 'restored in' });
    await restored.waitFor();
    const headline = view.locator('.headline');
    await expect.poll(() => headline.innerText()).toContain('3 updates on 2 sites; one would have broken');
    await expect.poll(() => view.locator('.grid .badge', { hasText: '2.0' }).count()).toBe(3);
    const time = (await restored.innerText()).replace('restored in ', '');
    await expect.poll(() => headline.innerText()).toContain(`was rolled back in ${time}.`);
    const versions = (index: number) =>
      offers.map(([slug]) => app.fleet.site(index).state.plugins.find((plugin) => plugin.slug === slug)?.version);
    expect([versions(0), versions(1)]).toEqual([
      ['2.0', '2.0', '1.0'],
      ['1.0', '2.0', '1.0'],
    ]);

    // The same run for anyone who asks for it, in either theme.
    const { runs } = (await app.call('list-runs', {})) as { runs: { run_id: string }[] };
    for (const theme of ['light', 'dark'] as const) {
      const again = await show('svc-get-run-v1', { run_id: runs[0]?.run_id }, theme);
      await again.locator('.headline').getByText('would have broken').waitFor();
      // Its evidence: read from the resources of the run, through the host.
      await again
        .getByText(/^Signed receipts of 2 sites say what was done and checked \(key [0-9a-f]{32}\)\.$/)
        .waitFor();
      await again.getByText(/^Not checked: .*what forms send/).waitFor();
      await again.getByRole('button', { name: `Before and after: ${app.fleet.site(1).name}` }).click();
      const handle = again.getByRole('slider', { name: 'Before and after: Front page on a phone' });
      const later = again.getByRole('img', { name: 'Front page on a phone, after the update' });
      await handle.fill('20');
      await expect.poll(() => later.evaluate((image) => image.style.clipPath)).toBe('inset(0px 0px 0px 20%)');
      await expect.poll(() => later.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(0);
      expect(await findings(theme)).toEqual([]);
    }
  });

  it.each([
    ['a job', 'svc-get-batch-job-status-v1', '"status":"completed"', '"status":"processing"', 'Done'],
    ['a run', 'svc-get-run-v1', '"state":"ended"', '"state":"running"', '3 updates on 2 sites'],
  ])('goes on following %s after a read that failed', async (_what, tool, over, open, end) => {
    const { job_id } = (await app.call('sync-sites', { site_ids_or_domains: [ids[0], ids[1]] })) as { job_id: string };
    const { runs } = (await app.call('list-runs', {})) as { runs: { run_id: string }[] };
    const [key, id] = tool === 'svc-get-run-v1' ? ['run_id', runs[0]?.run_id] : ['job_id', job_id];
    await expect.poll(async () => (await app.call('get-batch-job-status', { job_id })).status).toBe('completed');
    let call = 0;
    const handle = async (route: Route) => {
      const body = route.request().postDataJSON() as { params?: { name?: string } } | null;
      if (body?.params?.name !== tool) return route.continue();
      call += 1;
      // It seems to be under way; then it seems not to be there.
      if (call === 1) {
        const response = await route.fetch();
        return route.fulfill({ response, body: (await response.text()).replaceAll(over, open) });
      }
      if (call > 2) return route.continue();
      const unknown = JSON.stringify({ ...body, params: { ...body.params, arguments: { [key]: 'nothing' } } });
      return route.continue({ postData: unknown });
    };
    await page.route('**/mcp*', handle);
    const view = await show(tool, { [key]: id });
    await view.locator('.problem').waitFor();
    await view.locator('.headline, .badge', { hasText: end }).first().waitFor();
    await expect.poll(() => view.locator('.problem').count()).toBe(0);
    await page.unroute('**/mcp*', handle);
  });

  it('shows a plan in waves, starts it when pressed twice, and then its sites, green or rolled back, and why it was halted', async () => {
    const SLUG = 'tide-tables/tide-tables.php';
    for (const index of [0, 1]) {
      const site_id_or_domain = ids[index];
      const { state } = app.fleet.site(index);
      for (const plugin of state.plugins) plugin.update = null;
      const update = { version: '2.0', requiresPhp: '7.4', requiresWp: '6.0' };
      Object.assign(state.plugins[0] as object, {
        ...{ slug: SLUG, name: 'Tide Tables', version: '1.0', active: true, mustUse: false, update },
      });
      await app.call('install-site-guard', { site_id_or_domain });
      await app.call('update-site', { site_id_or_domain, name: 'Harbour' });
      await app.call('sync-sites', { site_ids_or_domains: [site_id_or_domain] });
    }
    app.fleet.site(1).faults.breaks = { [`${SLUG}@2.0`]: 'fatal' };
    const waves = { canaries: 1, canary_sites: [ids[0]], soak_minutes: 0, halt_sites: 1 };
    const view = await show('svc-plan-updates-v1', { types: ['plugins'], slugs: [SLUG], waves });
    await view.getByText('2 updates on 2 sites, in 2 waves.').waitFor();
    await view.getByText('Wave 2: 1 site').waitFor();
    await view.getByRole('button', { name: 'Start the rollout' }).click();
    await view.getByText('Starts 2 updates on 2 sites: first on 1 site, then wave by wave.').waitFor();
    const rollouts = async () => (await app.call('list-rollouts')).rollouts;
    expect(await rollouts()).toEqual([]);
    await view.getByRole('button', { name: 'Yes, do it' }).click();
    await view.getByRole('heading', { name: 'Rollout' }).waitFor();
    await expect
      .poll(
        async () => {
          await advanceRollouts(app.ctx({ actor: SYSTEM }));
          return (await rollouts())[0].state;
        },
        { interval: 200 },
      )
      .toBe('halted');
    const shown = async (halted: FrameLocator) => {
      await halted.locator('.headline .badge', { hasText: 'Halted' }).waitFor();
      // Names that repeat are told apart.
      await expect.poll(() => halted.locator('.sites .badge.good').innerText()).toContain('Harbour (127.0.0.1');
      await expect.poll(() => halted.locator('.sites .badge.warn').innerText()).toContain('site-0001');
      await halted.getByText(/Version 2\.0 broke the site\. .* rolled back to 1\.0/).waitFor();
      await expect.poll(() => halted.locator('.problem').innerText()).toMatch(/the limit is 1/);
    };
    await shown(view);
    expect(await findings('light')).toEqual([]);
    await expect.poll(() => view.getByRole('button', { name: 'Pause' }).count()).toBe(0);
    // Anyone who asks for it sees the same.
    const { rollout_id } = (await rollouts())[0];
    await shown(await show('svc-get-rollout-v1', { rollout_id }, 'dark'));
    expect(await findings('dark')).toEqual([]);
  });

  it('asks no other host, and the console stays silent', () => {
    expect([...hosts].filter((host) => host !== '')).toEqual([new URL(listener.url).host]);
    expect(complaints).toEqual([]);
  });
});
