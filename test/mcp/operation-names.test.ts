/** Over MCP, every text of an answer names other tools as the client knows them. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Driver, type McpApp, mcpApp, WAYS } from '../support/mcp-clients.js';

let mcp: McpApp;

beforeAll(async () => {
  mcp = await mcpApp({ sites: 2, connected: 2 });
  await mcp.app.call('suspend-site', { site_id_or_domain: 1 });
  await mcp.app.call('disconnect-site', { site_id_or_domain: 2 });
});

describe.each(WAYS)('%s %s', (...era) => {
  let client: Driver;
  beforeAll(async () => {
    client = await connect(era, mcp.target);
  });
  afterAll(() => client.close());

  it.each<[string, object, string]>([
    ['get-site', { site_id_or_domain: 1 }, 'lift it with svc-unsuspend-site-v1.'],
    ['get-site', { site_id_or_domain: 2 }, 'reconnect it with svc-reconnect-site-v1.'],
    ['list-sites', {}, 'lift it with svc-unsuspend-site-v1.'],
    ['list-sites', { include: ['status_reason'] }, 'reconnect it with svc-reconnect-site-v1.'],
    ['sync-sites', { site_ids_or_domains: [1, 99] }, 'svc_site_suspended'],
    ['update-site-plugins', { site_id_or_domain: 1 }, 'Lift the suspension with svc-unsuspend-site-v1 first.'],
    ['run-updates', { site_ids_or_domains: [1, 2] }, 'suspended'],
    ['safe-update-site', { site_id_or_domain: 2 }, 'svc-reconnect-site-v1'],
    ['get-site', { site_id_or_domain: 99 }, 'svc-list-sites-v1'],
  ])('%s %j names tools, neither operations nor routes', async (name, input, advice) => {
    const text = JSON.stringify(await client.call(`svc-${name}-v1`, { ...input }));
    expect(text).toContain(advice);
    expect(text).not.toMatch(
      /(?<![\w/-])[a-z]+(?<!svc)(?:-[a-z]+)+-v1\b|svc\/[a-z-]+-v1|\b(?:GET|POST|PUT|PATCH|DELETE) \/v2\//,
    );
  });
});
