/** Every answer to an update says what was looked at afterwards, as whom, and what was not, on every way in. */

import { beforeAll, expect, it } from 'vitest';
import { connect, type Driver, type McpApp, mcpApp, WAYS } from '../support/mcp-clients.js';
import { callRest, callTool } from './callers.js';
import { ordinary, running } from './safety-app.js';

const OUTSIDE = '; tables, settings, administrators, scheduled events and other files too';
const MEMBERS =
  "and / for logged-in users, the login with a right password, the dashboard, the editor, admin-ajax.php for logged-in users, the REST API for logged-in users in the guard's sandbox";
const GUARDED = `1 site: /, / with caches, another page with caches, /wp-login.php, the search, a missing page, the feed, the REST API, robots.txt, a post, a page, an archive as a visitor on a desktop and / as one on a phone, ${MEMBERS}, compared with before${OUTSIDE}.`;
const UNGUARDED = '1 site: / as a visitor on a desktop, not compared with before.';
const BROKEN = `1 site: /, / with caches, another page with caches as a visitor on a desktop, compared with before${OUTSIDE}.`;
const NOT = expect.arrayContaining(['logged-in users and wp-admin']);

let mcp: McpApp;
let client: Driver;
beforeAll(async () => {
  mcp = await mcpApp({ sites: 2, connected: 2, realClock: false, fleet: { plugins: 3 } });
  for (const site of mcp.app.fleet.sites) {
    for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
    site.state.translations = [];
    site.state.wpUpdate = null;
  }
  client = await connect(WAYS[0] as (typeof WAYS)[number], mcp.target);
  await tool('install-site-guard', { site_id_or_domain: 1 });
});

/** Offers an update of a plugin of each site. */
async function offer(version: string): Promise<void> {
  for (const site of mcp.app.fleet.sites) {
    const [plugin] = ordinary(site);
    if (plugin === undefined) throw new Error('a site without a plugin');
    Object.assign(plugin, { slug: 'shop/shop.php', name: 'Shop', active: true, premium: false });
    plugin.update = { version, requiresPhp: '', requiresWp: '' };
  }
  await tool('sync-sites', {});
}

const tool = (name: string, args: Record<string, unknown>) => callTool(mcp, client, name, args);
const rest = (method: string, path: string, body?: unknown) => callRest(mcp, method, path, body);

it('the operations for many sites and for one', async () => {
  await offer('2.0');
  expect(await tool('run-updates', {})).toMatchObject({
    updated: [{ site_id: 1 }, { site_id: 2 }],
    checked: [GUARDED, UNGUARDED],
    // What was checked on one site only, is not on the other.
    not_checked: [
      'other pages, also of wp-admin',
      'mail',
      'phones (on 1 of 2 sites)',
      'what forms send (on 1 of 2 sites)',
      'forms and shop checkout (on 1 of 2 sites)',
      'how pages look in a browser',
      'logged-in users and wp-admin (on 1 of 2 sites)',
      expect.stringMatching(/^changes besides the files .* \(on 1 of 2 sites\)$/),
    ],
  });
  await offer('3.0');
  expect(await tool('update-site-plugins', { site_id_or_domain: 1 })).toMatchObject({ checked: [GUARDED] });
  expect(await tool('update-site-plugins', { site_id_or_domain: 2 })).toMatchObject({ checked: [UNGUARDED] });
  // Nothing was sent, so nothing was looked at.
  expect(await tool('update-site-plugins', { site_id_or_domain: 2 })).not.toHaveProperty('checked');
});

it('a safe update, with the pages that were asked for', async () => {
  await offer('4.0');
  const asked = { site_id_or_domain: 1, paths: ['shop/'] };
  expect(await tool('safe-update-site', { ...asked, dry_run: true })).not.toHaveProperty('checked');
  expect(await tool('safe-update-site', asked)).toMatchObject({
    checked: [GUARDED.replace('login.php', 'login.php, /shop/')],
    not_checked: ['other pages, also of wp-admin', 'mail', 'what forms send', 'how pages look in a browser'],
  });
});

it('REST, by type and for all', async () => {
  await offer('5.0');
  expect(await rest('PUT', '/updates/1/update/plugins', { slug: 'shop/shop.php' })).toMatchObject({
    success: 1,
    checked: [GUARDED],
    not_checked: expect.not.arrayContaining(['logged-in users and wp-admin']),
  });
  expect(await rest('POST', '/updates/update')).toMatchObject({ checked: [UNGUARDED], not_checked: NOT });
});

it('a visit that the settings forbid is none', async () => {
  await rest('PUT', '/settings/general/edit', { check_http_response: 0 });
  await offer('6.0');
  expect(await tool('update-site-plugins', { site_id_or_domain: 2 })).toMatchObject({ checked: ['1 site: no page.'] });
});

it('an update that broke its site: only what was seen before it was undone', async () => {
  await offer('7.0');
  for (const site of mcp.app.fleet.sites) site.faults.breaks = { 'shop/shop.php@7.0': 'fatal' };
  const answer = await tool('update-site-plugins', { site_id_or_domain: 1 });
  expect(answer).toMatchObject({ updated: [], errors: [{ code: 'svc_update_rolled_back' }], checked: [BROKEN] });
});

it('the items of a job', async () => {
  await rest('DELETE', '/quarantine', { type: 'plugin', slug: 'shop/shop.php', version: '7.0' });
  await offer('8.0');
  await rest('PUT', '/settings/advanced/edit', { svc_abilities_batch_threshold: 1 });
  const { job_id } = await tool('run-updates', { site_ids_or_domains: [1, 2] });
  await running(mcp.app, done(job_id));
  const { items } = await tool('get-batch-job-status', { job_id });
  expect(items).toMatchObject([
    {
      site_id: 1,
      slug: 'shop/shop.php',
      checked: expect.arrayContaining(['/', '/wp-login.php', '/ on a phone', 'the feed']),
    },
    { site_id: 2, slug: 'shop/shop.php', checked: [] },
  ]);
});

async function done(job_id: string): Promise<void> {
  await expect.poll(async () => (await tool('get-batch-job-status', { job_id })).status).toBe('completed');
}
