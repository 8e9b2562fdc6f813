/** A minimal stdio MCP server on the SDK for protocol 2026-07-28, with one tool. Not bundled. */

import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { bareAnswer } from './bare-tool.js';

const answer = bareAnswer();
serveStdio(() => {
  const server = new Server({ name: 'bare', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/call', () => {
    const result = answer();
    return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
  });
  // For `tools/list` the environment holds the list.
  server.setRequestHandler('tools/list', () => answer() as { tools: [] });
  return server;
});
