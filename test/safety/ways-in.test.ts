/** An update that breaks its site, over MCP and REST as their clients see it. */

import { beforeAll, expect, it } from 'vitest';
import { connect, type Driver, type McpApp, mcpApp, WAYS } from '../support/mcp-clients.js';
import { callRest, callTool } from './callers.js';
import { ordinary } from './safety-app.js';

let mcp: McpApp;
let client: Driver;
/** Whichever request came first met the error: the front page's, or another, which the guard recorded. */
const SEEN = [
  expect.stringMatching(
    /^The front page answers HTTP 500; before, it was 200\.$|^PHP recorded in wp-content\/plugins\/shop\//,
  ),
];
const slug = 'shop/shop.php';

beforeAll(async () => {
  mcp = await mcpApp({ sites: 2, connected: 2, realClock: false, fleet: { plugins: 3 } });
  for (const site of mcp.app.fleet.sites) {
    for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
    const [plugin] = ordinary(site);
    if (plugin === undefined) throw new Error('a site without a plugin');
    Object.assign(plugin, { slug, name: 'Shop', version: '1.0', active: true, premium: false });
    plugin.update = { version: '2.0', requiresPhp: '', requiresWp: '' };
    site.faults.breaks = { [`${slug}@2.0`]: 'fatal' };
  }
  client = await connect(WAYS[0] as (typeof WAYS)[number], mcp.target);
});

const tool = (name: string, args: Record<string, unknown>) => callTool(mcp, client, name, args);
const rest = (method: string, path: string, body?: unknown) => callRest(mcp, method, path, body);

it('by an assistant: install, update, read why it was undone', async () => {
  await tool('sync-sites', { site_ids_or_domains: [1, 2] });
  expect(await tool('install-site-guard', { site_id_or_domain: 1 })).toMatchObject({ installed: true });
  const answer = await tool('update-site-plugins', { site_id_or_domain: 1 });
  expect(answer.errors).toMatchObject([{ slug, code: 'svc_update_rolled_back', evidence: SEEN }]);
  const { versions } = await tool('list-quarantined-versions', {});
  expect(versions).toMatchObject([{ slug, version: '2.0', change_id: answer.errors[0].change_id }]);
});

it('by a script: the same version is refused on another site, until it is lifted; then it is undone there', async () => {
  const installed = (login_allowed: boolean) => ({ status: 200, data: { installed: true, login_allowed } });
  expect(await rest('POST', '/sites/2/guard')).toMatchObject(installed(false));
  expect(await rest('POST', '/sites/2/guard', { allow_login: true })).toMatchObject(installed(true));
  expect(await rest('POST', '/sites/2/guard')).toMatchObject(installed(true));
  // On offer nowhere: not in a list, not in a count, and a preview says why.
  for (const list of ['/updates/2', '/updates', '/fleet/updates'])
    expect(JSON.stringify((await rest('GET', list)).data)).not.toContain(slug);
  const preview = await rest('POST', '/updates/update', { dry_run: true });
  expect(preview).toMatchObject({ would_affect: { plugins: 0 } });
  expect(JSON.stringify(preview.would_update)).not.toContain(slug);
  expect(preview.errors).toContainEqual(expect.objectContaining({ site_id: 2, slug, code: 'svc_version_quarantined' }));
  const refused = await rest('PUT', '/updates/2/update/plugins', { slug });
  expect(JSON.stringify(refused)).toContain('svc_version_quarantined');
  expect((await rest('GET', '/quarantine')).data).toMatchObject([{ slug, version: '2.0' }]);
  await rest('DELETE', '/quarantine', { type: 'plugin', slug, version: '2.0' });
  const tried = await rest('POST', '/sites/2/safe-update', { slug });
  expect(tried).toMatchObject({
    status: 200,
    data: { updated: [] },
    errors: [{ slug, code: 'svc_update_rolled_back' }],
  });
  const held = await rest('POST', '/sites/2/rollback', { type: 'plugin', slug, to_version: '1.0', hold: true });
  // Nothing newer is installed there, so there is nothing to quarantine either.
  expect([held.status, held.data.held]).toEqual([200, undefined]);
  for (const { state, guard } of mcp.app.fleet.sites) {
    expect(state.plugins.find((plugin) => plugin.slug === slug)?.version).toBe('1.0');
    expect(guard?.armed).toEqual([]);
  }
});
