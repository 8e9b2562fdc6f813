/** A minimal stdio MCP server on the SDK's low-level API, with one tool. Not bundled. */

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { bareAnswer } from './bare-tool.js';

const answer = bareAnswer();
const server = new Server({ name: 'bare', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(CallToolRequestSchema, () => {
  const result = answer();
  return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
});
// For `tools/list` the environment holds the list.
server.setRequestHandler(ListToolsRequestSchema, () => answer() as { tools: [] });
await server.connect(new StdioServerTransport());
