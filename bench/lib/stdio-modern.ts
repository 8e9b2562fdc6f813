/** The same of 2026-07-28. */

import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const result = JSON.parse(process.env.BENCH_RESULT ?? '{}') as Record<string, unknown>;
serveStdio(() => {
  const server = new Server({ name: 'bare', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/call', () => ({
    content: [{ type: 'text', text: JSON.stringify(result) }],
    structuredContent: result,
  }));
  return server;
});
