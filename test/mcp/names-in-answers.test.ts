/** Over MCP, every text that advises to call something names the tool as the client knows it. */

import { beforeAll, describe, expect, it } from 'vitest';
import { contractOf, toolName } from '../../src/operation/contract.js';
import { TOOLSETS } from '../../src/runtime/config/types.js';
import { ERROR_CODES } from '../../src/runtime/error-codes.js';
import { operations } from '../../tools/index.js';
import { LOCAL, type McpApp, mcpApp, textOf } from '../support/mcp-clients.js';

const caller = { actor: LOCAL, request_id: 'r', signal: new AbortController().signal };

let mcp: McpApp;

/** Operations named otherwise than as tools, except where an answer says which operation was called. */
function wrongNames(text: string): string[] {
  const known = new Set(operations.map(({ id }) => id.replace('svc/', '')));
  const found =
    text.replace(/"(operation|id)":"svc\/[a-z-]+-v1"/g, '').match(/(?:svc[-/])?[a-z]+(?:-[a-z]+)+-v1/g) ?? [];
  return found.filter((name) => known.has(name.replace('svc/', '')));
}

async function said(tool: string, args: object): Promise<string> {
  const result = await mcp.core.registry.callTool(tool, args, caller);
  if (!('content' in result)) throw new Error('a question');
  return result.content.map((_, at) => textOf(result, at)).join('\n');
}

/** A fleet in which much needs advice: sites suspended, disconnected, broken; a version held back; failed runs and jobs. */
beforeAll(async () => {
  mcp = await mcpApp({ sites: 6, connected: 6, config: { toolsets: [...TOOLSETS] } });
  const { app } = mcp;
  await app.call('add-client', { name: 'Ada', selected_sites: [5] });
  await app.call('suspend-client', { client_id_or_email: 1 });
  await app.call('suspend-site', { site_id_or_domain: 2 });
  await app.call('disconnect-site', { site_id_or_domain: 3 });
  await app.db.run("UPDATE site_detail SET child_version = '3.0' WHERE site_id = 4");
  await app.db.run(
    'INSERT INTO site_guard (site_id, present, hello, looked_at) VALUES (1, 1, \'{"version":"0.1.0","file_mods":true}\', 1)',
  );
  const { updates } = await app.call('list-updates', { site_ids_or_domains: [1], types: ['plugins'], per_page: 1 });
  const [{ slug, new_version: version }] = updates;
  await app.service.store.quarantine.add(
    {
      ...{ type: 1, slug, version, name: 'x', site_id: 1, site_url: 'u', change_id: 'c' },
      ...{ evidence: '["It broke."]', created_at: 1 },
    },
    { seen: false, fleet_until: null },
  );
  await app.service.store.quarantine.setScope({ type: 1, slug, version }, 'fleet', 'ada', 'because');
  // More than any answer lists.
  for (let nth = 0; nth < 8; nth++) await app.call('add-guidance', { text: `Rule ${nth}.` });
  await app.call('run-updates', { site_ids_or_domains: [1, 2, 3, 4, 5, 6], types: ['plugins'] });
});

describe('an answer over MCP', () => {
  it.each([1, 2, 3, 4, 5, 6])('about site %i names tools', async (site) => {
    const wrong: [string, string[]][] = [];
    for (const operation of operations) {
      const { properties = {}, required = [] } = contractOf(operation).input_schema as {
        properties?: object;
        required?: string[];
      };
      const ofSite = 'site_id_or_domain' in properties;
      const ofSites = 'site_ids_or_domains' in properties;
      const rest = required.filter((name) => name !== 'site_id_or_domain' && name !== 'site_ids_or_domains');
      const reads = operation.effect === 'read' || 'dry_run' in properties;
      if (!reads || rest.length > 0) continue;
      const args = {
        ...(ofSite ? { site_id_or_domain: site } : {}),
        ...(ofSites ? { site_ids_or_domains: operation.id.includes('compare') ? [site, 1 + (site % 6)] : [site] } : {}),
        ...('dry_run' in properties ? { dry_run: true } : {}),
        ...('fields' in properties ? { fields: ['id', 'status', 'reason', 'since'] } : {}),
      };
      const text = await said(toolName(operation.id), args);
      if (wrongNames(text).length > 0) wrong.push([operation.id, wrongNames(text)]);
    }
    expect(wrong).toEqual([]);
  });

  it('of a run and of the log names tools', async () => {
    const { runs } = await mcp.app.call('list-runs', {});
    for (const [tool, args] of [
      ['svc-get-run-v1', { run_id: runs[0].run_id }],
      ['svc-list-actions-v1', {}],
      ['svc-search-changes-v1', { result: 'failed' }],
    ] as const)
      expect([tool, wrongNames(await said(tool, args))]).toEqual([tool, []]);
  });

  it.each(['suspend-site', 'update-site-plugins', 'check-site', 'get-site-guard', 'roll-back', 'lift-quarantine'])(
    'that %s failed names tools',
    async (name) => {
      for (const site of [2, 3, 4, 99])
        for (const more of [{}, { change_id: 'nothing' }, { type: 'plugin', slug: 'a', version: '1' }]) {
          const text = await said(`svc-${name}-v1`, {
            ...(name.includes('-site') ? { site_id_or_domain: site } : {}),
            ...more,
          });
          expect([name, wrongNames(text)]).toEqual([name, []]);
        }
    },
  );

  it('is an error of any code whose help names tools', async () => {
    for (const code of ERROR_CODES) {
      const [found] = await mcp.core.resources.read(`svc://errors/${code}`, caller);
      expect([code, wrongNames(found?.text ?? '')]).toEqual([code, []]);
    }
  });
});
