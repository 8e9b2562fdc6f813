/** Receives the alerts of the demo: a small webhook receiver on loopback that shows the latest ones. */

import { createServer } from 'node:http';
import { page } from './answer.js';
import { deliver } from './deliver.js';
import { json } from './params.js';

export interface Inbox {
  url: string;
  close(): Promise<void>;
}

const KEPT = 20;
const MAX_BODY = 64 * 1024;

/** Accepts POSTs; a GET returns the latest ones as JSON, newest first. */
export async function startInbox(): Promise<Inbox> {
  const received: unknown[] = [];
  const server = createServer((request, response) => {
    if (request.method !== 'POST') {
      const headers = { 'content-type': 'application/json' };
      deliver(response, page(200, `${JSON.stringify(received, null, 2)}\n`, headers), {}, request.method === 'HEAD');
      return;
    }
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => {
      if (body.length < MAX_BODY) body += part;
    });
    request.on('end', () => {
      const value = json(body);
      received.unshift(value === undefined ? body : value);
      received.length = Math.min(received.length, KEPT);
      deliver(response, page(204, ''), {}, false);
    });
  });
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
