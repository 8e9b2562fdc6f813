/** A preview whose call would leave out what was named says so in its next step, on every operation that has one. */

import { expect, it } from 'vitest';
import type { Answer } from '../support/harness.js';
import { connect, mcpApp, textOf } from '../support/mcp-clients.js';

it('of a name that fits two sites the next step says that it is left out, or to be mended first', async () => {
  const mcp = await mcpApp({ sites: 4, connected: 4, realClock: false, fleet: { plugins: 4 } });
  const client = await connect(['2025-11-25', 'http'], { ...mcp.target, url: `${mcp.url}?toolsets=all` });
  for (const [at, name] of ['My Shop', 'my shop', 'Bakery', 'Choir'].entries())
    await mcp.app.call('update-site', { site_id_or_domain: at + 1, name });
  const { id } = await mcp.app.call('add-tag', { name: 'VIP' });
  const [plugin] = (await mcp.app.call('get-site-plugins', { site_id_or_domain: 3 })).plugins;
  const sites = { site_ids_or_domains: ['My Shop', 'Bakery', 'Choir'] };
  const calls: [string, object][] = [
    ['tag-sites', { ...sites, add: [id] }],
    ['run-updates', sites],
    ['update-all', sites],
    ['switch-plugin', { ...sites, plugin: plugin.slug, action: plugin.active ? 'deactivate' : 'activate' }],
    ['update-monitors', { ...sites, interval: 15 }],
  ];
  for (const [name, input] of calls) {
    const result = await client.call(`svc-${name}-v1`, { ...input, dry_run: true } as Record<string, unknown>);
    expect([name, result.isError ?? false]).toEqual([name, false]);
    const answer = result.structuredContent as Answer;
    expect([name, JSON.stringify(answer.errors)]).toEqual([name, expect.stringContaining('names 2 sites')]);
    const texts = result.content.map((_, at) => textOf(result, at));
    const count = answer.total_errors ?? answer.errors.length;
    expect([name, texts.find((text) => text.startsWith('Next, '))]).toEqual([
      name,
      expect.stringMatching(
        new RegExp(
          `^Next, once the user has agreed that what is in errors \\(${count}\\) is left out \\(else mend that first, and preview again\\): svc-${name}-v1 `,
        ),
      ),
    ]);
  }
  const whole = await client.call('svc-tag-sites-v1', { site_ids_or_domains: ['Bakery'], add: [id], dry_run: true });
  expect(textOf(whole, whole.content.length - 1)).toMatch(/^Next, once the user has agreed: svc-tag-sites-v1/);
});
