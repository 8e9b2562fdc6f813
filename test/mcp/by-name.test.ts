/** Sites and clients called by their exact name, over MCP: only what is meant is found, and nothing is widened. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Driver, type McpApp, mcpApp, textOf } from '../support/mcp-clients.js';

let mcp: McpApp;
let driver: Driver;
beforeAll(async () => {
  mcp = await mcpApp({ sites: 4, connected: 4 });
  driver = await connect(['2025-11-25', 'http'], { ...mcp.target, url: mcp.url });
  const names = ['Novak Law Office', 'My Shop', 'my shop', 'gone.example'];
  for (const [at, name] of names.entries()) await mcp.app.call('update-site', { site_id_or_domain: at + 1, name });
});
afterAll(() => mcp.close());

const answer = async (name: string, args: Record<string, unknown>) => {
  const result = await driver.call(`svc-${name}-v1`, args);
  return { failed: result.isError === true, text: textOf(result), is: result.structuredContent ?? {} };
};

describe('a site', () => {
  it('is found by its whole name, in any case', async () => {
    for (const name of ['Novak Law Office', ' novak law office '])
      expect((await answer('get-site', { site_id_or_domain: name })).is).toMatchObject({ id: 1 });
  });

  it('is not found by a part of its name, nor by a name that looks like an address: another site may have had it', async () => {
    for (const name of ['Novak', 'Novak Law', 'gone.example', 'Nowhere Inc'])
      expect(await answer('get-site', { site_id_or_domain: name })).toMatchObject({
        failed: true,
        text: expect.stringContaining('svc_site_not_found'),
      });
  });

  it('is not chosen among several of its name: they are listed with their ids', async () => {
    const { failed, text } = await answer('suspend-site', { site_id_or_domain: 'My Shop' });
    expect([failed, text]).toEqual([true, expect.stringContaining('svc_ambiguous_site')]);
    const { items } = await mcp.app.call('list-sites', {});
    for (const id of [2, 3]) {
      const { url, status } = items.find((site: { id: number }) => site.id === id);
      expect(text).toContain(`${id} (${url})`);
      expect(status).toBe('connected');
    }
  });

  it('is one of a list by its name, beside errors for those that no site or several have', async () => {
    const site_ids_or_domains = ['Novak Law Office', 'My Shop', 'Nowhere Inc', 4];
    const { is } = await answer('sync-sites', { site_ids_or_domains });
    const { synced, errors } = is as { synced: { id: number }[]; errors: { code: string }[] };
    expect(synced.map(({ id }) => id).sort()).toEqual([1, 4]);
    expect(errors.map(({ code }) => code)).toEqual(['svc_ambiguous_site', 'svc_site_not_found']);
  });
});

describe('a client', () => {
  it('is found by its whole name unless several have it', async () => {
    const { id } = await mcp.app.call('add-client', { name: 'Foo & Sons' });
    const first = await mcp.app.call('add-client', { name: 'Bar', client_email: 'office@bar.example' });
    const second = await mcp.app.call('add-client', { name: 'bar' });
    expect((await answer('get-client', { client_id_or_email: 'foo & sons' })).is).toMatchObject({ id });
    const several = await answer('delete-client', { client_id_or_email: 'Bar', confirm: true });
    expect([several.failed, several.text]).toEqual([true, expect.stringContaining('Field: client_id_or_email')]);
    expect(several.text).toContain(`names 2 clients: ${first.id} (office@bar.example), ${second.id}.`);
    for (const name of ['Foo', 'bar.example'])
      expect((await answer('get-client', { client_id_or_email: name })).text).toContain('svc_client_not_found');
    expect(await mcp.app.call('count-clients', {})).toMatchObject({ total: 3 });
  });
});
