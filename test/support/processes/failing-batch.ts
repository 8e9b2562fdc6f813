/**
 * Program that sends a batch to a server which fails every step of it, and writes the outcome of the call to stdout.
 */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { openRemote } from '../../../src/store/driver/remote.js';

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { requests } = JSON.parse(body) as { requests: { type: string; batch?: { steps: unknown[] } }[] };
  const error = { message: 'Transaction timed out', code: 'TRANSACTION_TIMEOUT' };
  const results = requests.map(({ type, batch }) => {
    const steps = batch?.steps ?? [];
    const result = { step_results: steps.map(() => null), step_errors: steps.map(() => error) };
    return { type: 'ok', response: type === 'batch' ? { type, result } : { type } };
  });
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ baton: null, base_url: null, results }));
});
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
const address = server.address();
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
// As long as the service would retry.
const db = openRemote(url, undefined, { timeoutMs: 500 });
const insert = { sql: 'INSERT INTO t VALUES (1)', args: [] };
const kind = await db.batch([insert, insert, insert]).then(
  () => 'none',
  (error: { kind?: string }) => error.kind,
);
await new Promise((done) => setTimeout(done, 100));
process.stdout.write(`${JSON.stringify({ kind, alive: true })}\n`);
// Its end is waited for by then.
await once(process.stdin, 'data');
if (process.argv[2]?.includes('other') === true) void Promise.reject(new Error('a mistake of ours'));
setImmediate(() => process.exit(0));
