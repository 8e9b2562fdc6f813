/** Messages of MCP as raw JSON-RPC, for tests without a client. */

import type { Answer } from './harness.js';

/** Opens a session of 2025-11-25. */
export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

/** Headers of every request over HTTP. */
export const ACCEPT = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Options of a client's request to a program that starts with it: an official client gives up after a minute, which a busy machine may need. */
export const PATIENT = { timeout: 900_000 };

/** A client of 2026-07-28, which tells all of itself with each request. */
export interface RawClient {
  url: string;
  authorization: string;
  capabilities: object;
  /** How it names itself; default `raw`. */
  client?: string;
  headers?: Record<string, string>;
}

/** A request of 2026-07-28. */
export function modernRequest(
  { capabilities, client = 'raw' }: Pick<RawClient, 'capabilities' | 'client'>,
  method: string,
  params: Answer,
) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: client, version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  return { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } };
}

/** Sends one request of 2026-07-28; its name goes into the header that the protocol wants. */
export async function sendModern(
  from: RawClient,
  method: string,
  params: Answer,
): Promise<{ status: number; body: Answer }> {
  const name = params.name ?? params.taskId;
  const response = await fetch(from.url, {
    method: 'POST',
    headers: {
      ...ACCEPT,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': name }),
      authorization: from.authorization,
      ...from.headers,
    },
    body: JSON.stringify(modernRequest(from, method, params)),
  });
  return { status: response.status, body: (await response.json()) as Answer };
}
