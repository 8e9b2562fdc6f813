/** A plugin is called by its folder or name, as in a sentence: what is said of it is done to it, or refused. */

import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/harness.js';
import { connect, type Driver, type McpApp, mcpApp, textOf } from '../support/mcp-clients.js';

let mcp: McpApp;
let client: Driver;
/** The first site has an update of it. */
let item: { slug: string; name: string; current_version: string; new_version: string };
let ways: [string, string][];

beforeAll(async () => {
  mcp = await mcpApp({ sites: 2, connected: 2, realClock: false, fleet: { plugins: 6 } });
  client = await connect(['2025-11-25', 'http'], { ...mcp.target, url: `${mcp.url}?toolsets=all` });
  const { updates } = await tool('list-updates', { site_ids_or_domains: [1], types: ['plugins'] });
  item = updates.find(({ slug }: Answer) => /^([^/]+)\/[^/]+$/.test(slug));
  const folder = item.slug.slice(0, item.slug.indexOf('/'));
  ways = [
    ['slug', item.slug],
    ['folder', folder],
    ['name', item.name.toUpperCase()],
  ];
});

async function tool(name: string, input: object): Promise<Answer> {
  const result = await client.call(`svc-${name}-v1`, input as Record<string, unknown>);
  if (result.isError === true) throw new Error(textOf(result));
  return result.structuredContent as Answer;
}
const offered = async () => (await tool('list-updates', { site_ids_or_domains: [1], slug: item.slug })).total;
const first = { site_id_or_domain: 1 };

describe('an update that is ignored on a site', () => {
  it.each([0, 1, 2])('is not offered any more, by whichever of its names (%i)', async (way) => {
    const [, said = ''] = ways[way] ?? [];
    const one = { ...first, type: 'plugin', slug: said };
    expect(await offered()).toBe(1);
    expect(await tool('set-ignored-updates', { ...one, action: 'ignore' })).toMatchObject({ slug: item.slug });
    expect(await offered()).toBe(0);
    expect(await tool('set-ignored-updates', { ...one, action: 'unignore' })).toMatchObject({ slug: item.slug });
    expect(await offered()).toBe(1);
    const list = { ...first, slugs: [said] };
    expect(await tool('ignore-site-plugins', { ...list, action: 'add' })).toMatchObject({
      plugins_ignored: [item.slug],
    });
    expect(await offered()).toBe(0);
    expect(await tool('ignore-site-plugins', { ...list, action: 'remove' })).toMatchObject({ plugins_ignored: [] });
  });

  it('need not be installed: what the fleet does not know is kept as it is called, and removed so', async () => {
    const one = { ...first, type: 'plugin', slug: 'not-there' };
    expect(await tool('set-ignored-updates', { ...one, action: 'ignore' })).toMatchObject({ slug: 'not-there' });
    expect(await tool('list-ignored-updates', {})).toMatchObject({ ignored: [{ slug: 'not-there' }] });
    await tool('set-ignored-updates', { ...one, action: 'unignore' });
    expect(await tool('list-ignored-updates', {})).toMatchObject({ total: 0 });
  });
});

describe('a roll-back', () => {
  it('finds an update by each of its names, and says of one without an update what is not known', async () => {
    const said = async (slug: string) =>
      textOf(await client.call('svc-roll-back-v1', { ...first, type: 'plugin', slug }));
    const refusals = await Promise.all(ways.map(([, slug]) => said(slug)));
    expect(new Set(refusals).size).toBe(1);
    expect(refusals[0]).toMatch(/^svc_change_not_found: No update of the plugin .* on this site is on record/);
    expect(refusals[0]).toContain(item.slug);
    expect(refusals[0]).not.toContain('this change_id');
  });
});

it('what is switched or deleted is taken by its exact slug only, and the answer says which that is', async () => {
  const [, [, folder = ''] = []] = ways;
  for (const name of ['activate-site-plugins', 'deactivate-site-plugins', 'delete-site-plugins']) {
    const preview = name.startsWith('delete') ? { dry_run: true } : {};
    const { errors } = await tool(name, { ...first, slugs: [folder], ...preview });
    expect([name, errors[0].message]).toEqual([
      name,
      `No plugin with this slug is installed on the site. The exact slug is ${item.slug}.`,
    ]);
  }
});

it('a version that broke no site cannot be quarantined: the answer names what holds it back', async () => {
  const refused = await client.call('svc-set-quarantine-scope-v1', {
    ...{ type: 'plugin', slug: item.slug, version: item.new_version, scope: 'fleet', reason: 'Wait.' },
  });
  expect(textOf(refused)).toContain('svc-ignore-update-everywhere-v1');
});

describe('a name where only ids are taken', () => {
  it.each([
    ['search-fleet', { tag_ids: ['Campaign'] }, 'svc-list-tags-v1'],
    ['list-updates', { tag_ids: ['Campaign'] }, 'svc-list-tags-v1'],
    ['run-updates', { client_ids: ['Ada'], dry_run: true }, 'svc-list-clients-v1'],
    ['list-time-tasks', { client_id: 'Ada' }, 'svc-list-clients-v1'],
    ['add-cost', { name: 'Licence', price: '59', sites: ['Bakery'] }, 'svc-list-sites-v1'],
    ['update-site', { ...first, add_tags: ['Campaign'] }, 'svc-list-tags-v1'],
  ])('%s says where the ids are found', async (name, input, list) => {
    const text = textOf(await client.call(`svc-${name}-v1`, input));
    expect(text).toContain(`Next step: Send ids, not names: find them with ${list}.`);
  });

  it('a tag that does not exist can be created in the same call', async () => {
    const add = (more: object) =>
      client.call('svc-tag-sites-v1', { site_ids_or_domains: [1], add: ['Campaign'], ...more });
    expect(textOf(await add({}))).toContain('or create it with create: true.');
    expect((await add({ create: true })).isError ?? false).toBe(false);
  });
});
