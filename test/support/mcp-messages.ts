/** Messages of MCP as raw JSON-RPC, for tests without a client. */

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
