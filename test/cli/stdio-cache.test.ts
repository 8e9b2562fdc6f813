/** The compiled code that the first `sitefleet stdio` leaves for later starts. */

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closing, tempFolder } from '../support/cleanup.js';
import { programInModules } from '../support/processes/built-program.js';
import { commands } from '../support/processes/commands.js';

/** Lists keep the collector busy. After three seconds of them, twice as many, V8 has dropped code of the start. */
const MOST_CALLS = 3_000;

/**
 * Bytes of compiled code after a first start that answers `initialize`, and then one call after the other until the code
 * is kept.
 */
async function keptBy(calls: boolean): Promise<number> {
  const folder = await programInModules();
  const programs = closing(await commands(folder));
  const env = { SITEFLEET_DB: `file:${join(tempFolder('cache'), 'fleet.db')}`, SITEFLEET_LOG_LEVEL: 'error' };
  const { child, ended } = programs.begin(env, ['stdio']);
  const kept = () => {
    const name = readdirSync(folder).find((file) => /^stdio\.bundle\.cjs\.\w+\.v[\d.]+-\w+$/.test(file));
    return name === undefined ? 0 : statSync(join(folder, name)).size;
  };
  const send = (message: object) => child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'test', version: '1' };
  send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
  send({ method: 'notifications/initialized' });
  let id = 0;
  // An answer ends with a line break.
  child.stdout?.on('data', (chunk: Buffer) => {
    if (!chunk.includes('\n')) return;
    if (calls && kept() === 0 && id < MOST_CALLS) send({ id: ++id, method: 'tools/list' });
    else child.stdin?.end();
  });
  expect(await ended).toMatchObject({ code: 0, err: '' });
  if (calls) expect(id).toBeGreaterThan(5);
  expect(id).toBeLessThan(MOST_CALLS);
  return kept();
}

test('the code of the start is kept by a first process that is busy, too', async () => {
  const quiet = await keptBy(false);
  expect(quiet).toBeGreaterThan(100_000);
  expect(await keptBy(true)).toBeGreaterThan(0.95 * quiet);
});
