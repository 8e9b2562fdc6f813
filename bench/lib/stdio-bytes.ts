/** A stdio server that answers every request with the same bytes, under the request's id. */

import { createInterface } from 'node:readline';

const { result } = JSON.parse(process.env.BENCH_RESULT ?? '{}') as { result?: unknown };
const bytes = JSON.stringify(result);
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id } = JSON.parse(line) as { id?: number };
  if (id !== undefined) process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${bytes}}\n`);
});
