/** The cheapest server there can be: `node:http` that answers every request with the same bytes. */

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { STANDARD_HEADERS } from '../../src/surfaces/http/response-headers.js';
import { serveCommands } from './process.js';

let bytes = Buffer.from('{}');

const server = createServer((request, response) => {
  request.resume();
  // The same headers as our responses, so that both sides send the same bytes.
  for (const [name, value] of STANDARD_HEADERS) response.setHeader(name, value);
  response.setHeader('x-request-id', randomUUID());
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
});
server.keepAliveTimeout = 65_000;

async function start(): Promise<{ url: string }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function setBytes(given: Uint8Array): void {
  bytes = Buffer.from(given);
}

serveCommands({ start, setBytes }, async () => server.closeAllConnections());
