/** Calls over MCP and REST as their clients make them, while time passes wherever they wait. */

import { expect } from 'vitest';
import type { Answer } from '../support/harness.js';
import type { Driver, McpApp } from '../support/mcp-clients.js';
import { running } from './safety-app.js';

/** The structured answer of a tool, which must be no error. */
export async function callTool(
  mcp: McpApp,
  client: Driver,
  name: string,
  args: Record<string, unknown>,
): Promise<Answer> {
  const { structuredContent, isError } = await running(mcp.app, client.call(`svc-${name}-v1`, args));
  expect(isError ?? false).toBe(false);
  return structuredContent as Answer;
}

/** The body of an answer, with its HTTP status. */
export async function callRest(mcp: McpApp, method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = fetch(mcp.url.replace(/\/mcp$/, `/v2${path}`), {
    method,
    headers: { authorization: mcp.all, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const response = await running(mcp.app, answer);
  return { status: response.status, ...((await response.json()) as object) };
}
