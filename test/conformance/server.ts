/**
 * The product's own `/mcp` over a small simulated fleet, with the fixtures of the conformance suite beside its tools.
 * Only tests can assemble this: no command offers it, and the suite cannot send credentials, so it needs none.
 */

import { createRouter } from '../../src/surfaces/http/router.js';
import { listen } from '../../src/surfaces/http/server.js';
import type { McpCore } from '../../src/surfaces/mcp/core.js';
import { createMcpHttp } from '../../src/surfaces/mcp/http.js';
import { createMcpServer } from '../../src/surfaces/mcp/server-2025.js';
import { createModernServer } from '../../src/surfaces/mcp/server-2026.js';
import { ADMIN, testApp } from '../support/harness.js';
import { withLegacyFixtures } from './legacy.js';
import { withModernFixtures } from './modern.js';

export interface ConformanceServer {
  url: string;
  close(): Promise<void>;
}

export async function startConformanceServer(): Promise<ConformanceServer> {
  const app = await testApp({ sites: 2, realClock: true });
  await app.connect(0);
  const { config, log } = app.service;
  const own = await app.service.mcp();
  // Fixtures send messages while they run, so they are answered as events like the product's own interactive tools.
  const registry = {
    ...own.registry,
    mayElicit: (name: unknown) => String(name).startsWith('test_') || own.registry.mayElicit(name),
  };
  const core: McpCore = { ...own, registry };
  const mcp = createMcpHttp({
    core,
    auth: { either: async () => ({ ...ADMIN, via: 'mcp' }) },
    metadata: { issuer: null, read_scope: '', write_scope: '', basic_challenge: false },
    servers: {
      legacy: (actor) => withLegacyFixtures(createMcpServer(core, actor)),
      modern: (actor) => withModernFixtures(createModernServer(core, actor)),
    },
  });
  const http = createRouter({
    config,
    log,
    newRequestId: () => 'conformance',
    ready: async () => ({ ok: true, reasons: [] }),
    mounts: [{ at: '/', app: mcp.app }],
  });
  const listener = await listen(http, { host: '127.0.0.1', port: 0 });
  return {
    url: `${listener.url}/mcp`,
    async close() {
      mcp.close();
      await listener.close(100);
      await app.close();
    },
  };
}
