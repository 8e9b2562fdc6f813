/** A write that is repeated with its key, because its answer was lost, gets the first answer and changes nothing more. */

import { beforeAll, describe, expect, it } from 'vitest';
import { connect, type Driver, type McpApp, mcpApp, textOf, WAYS } from '../support/mcp-clients.js';

let mcp: McpApp;
beforeAll(async () => {
  mcp = await mcpApp({ sites: 1, connected: 1 });
});

const KEY = 'sitefleet/idempotency_key';
const tags = async () => (await mcp.app.call('list-tags')).total;

describe.each(WAYS)('over %s %s', (era, transport) => {
  let client: Driver;
  beforeAll(async () => {
    client = await connect([era, transport], mcp.target);
  });
  const call = (key: unknown, name: string, more: object = {}) =>
    client.call('svc-add-tag-v1', { name, ...more }, { meta: { [KEY]: key } });
  const named = (what: string) => `${what} ${era} ${transport}`;

  it('gives the first answer again, once per key', async () => {
    const before = await tags();
    const first = await call(named('key').replaceAll(' ', '-'), named('One'));
    const again = await call(named('key').replaceAll(' ', '-'), named('One'));
    expect(again.structuredContent).toEqual(first.structuredContent);
    expect(again.isError).not.toBe(true);
    expect(await tags()).toBe(before + 1);
    // Without the key the same call is a new one, here a refused one.
    expect(textOf(await client.call('svc-add-tag-v1', { name: named('One') }))).toMatch(/^svc_already_exists/);
  });

  it('refuses a key of another call, and what is no key', async () => {
    const key = named('other').replaceAll(' ', '-');
    await call(key, named('Two'));
    const before = await tags();
    const reused = textOf(await call(key, named('Three')));
    expect(reused).toMatch(/^svc_idempotency_key_reused: This sitefleet\/idempotency_key was used for another call\./);
    expect(reused).toContain('\nField: sitefleet/idempotency_key\n');
    for (const wrong of ['', 'a b', 5, 'x'.repeat(256)])
      expect(textOf(await call(wrong, named('Three')))).toMatch(/^svc_invalid_input/);
    expect(await tags()).toBe(before);
  });
});
