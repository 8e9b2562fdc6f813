/** Messages of both protocol eras of MCP as sent over the wire. */

import { ask, type Exchange } from './http-client.js';

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';

const CLIENT = { name: 'bench', version: '1' };

export const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT },
});

export const INITIALIZED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });

const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': CLIENT,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A request of the given era; without parameters by default. */
export function message(era: 'legacy' | 'modern', id: number, method: string, params: object = {}): string {
  const all = era === 'modern' ? { ...params, _meta: META } : params;
  return JSON.stringify({ jsonrpc: '2.0', id, method, params: all });
}

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Opens a session with the server at `url`; returns its headers. */
export async function openSession(url: string, path: string, authorization: string | null) {
  const headers = { ...JSON_HEADERS, ...(authorization === null ? {} : { authorization }) };
  const { headers: answered } = await ask(url, { method: 'POST', path, headers, body: INITIALIZE });
  const id = /^mcp-session-id: *(\S+)/im.exec(answered)?.[1];
  if (id === undefined) throw new Error('The server opened no session.');
  const session = { ...headers, 'mcp-session-id': id, 'mcp-protocol-version': LEGACY };
  await ask(url, { method: 'POST', path, headers: session, body: INITIALIZED });
  return session;
}

export function modernExchange(
  path: string,
  authorization: string | null,
  method: string,
  params: { name?: string; arguments?: object } = {},
): Exchange {
  const headers = {
    ...JSON_HEADERS,
    ...(authorization === null ? {} : { authorization }),
    'mcp-protocol-version': MODERN,
    'mcp-method': method,
    ...(params.name === undefined ? {} : { 'mcp-name': params.name }),
  };
  return { method: 'POST', path, headers, body: message('modern', 1, method, params) };
}
