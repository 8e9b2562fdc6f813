/** How long an assistant waits for the program to start, and how much memory it takes while idle. */

import { spawn } from 'node:child_process';
import { compare, type Slice } from '../lib/ab.js';
import { INITIALIZE, INITIALIZED, message } from '../lib/mcp-wire.js';
import { memoryOf } from '../lib/process.js';
import { figure, measureOf, type Scenario } from '../lib/scenario.js';
import { rounded } from '../lib/stats.js';
import { type StdioCommand, StdioProcess, stdioOurs } from '../lib/stdio.js';

export const scenario: Scenario = {
  number: 12,
  name: 'cold-start',
  title: 'stdio from spawn to `initialize` and to `tools/list` answered, against `node -e 0`; memory',
  async run({ quick, dir }) {
    const ours = stdioOurs(dir);
    // The first start creates the database.
    await weigh(ours);
    const rounds = quick ? 5 : 11;
    const against = async (name: string, atMost: number, slice: Slice) =>
      measureOf(`${name}, against node -e 0`, { atMost }, await compare(slice, nodeAlone, { rounds }), 'ms');
    const memory: number[] = [];
    for (let round = 0; round < (quick ? 1 : 3); round++) memory.push(await weigh(ours, 3_000));
    return [
      await against('spawn to initialize answered', 4, started(ours)),
      await against('spawn to tools/list answered', 6, listed(ours)),
      figure(
        'resident memory 3 s after initialize, MB',
        { atMost: 110 },
        memory,
        `each of ${memory.map(rounded).join(', ')}`,
      ),
    ];
  },
};

/** Milliseconds from spawn to the answer. */
function started(command: StdioCommand): Slice {
  return async () => {
    const began = performance.now();
    const server = new StdioProcess(command);
    await server.request(INITIALIZE, 0);
    const ms = performance.now() - began;
    await server.close();
    return ms;
  };
}

function listed(command: StdioCommand): Slice {
  return async () => {
    const began = performance.now();
    const server = new StdioProcess(command);
    await server.request(INITIALIZE, 0);
    server.notify(INITIALIZED);
    await server.request(message('legacy', 1, 'tools/list'), 1);
    const ms = performance.now() - began;
    await server.close();
    return ms;
  };
}

/** Memory in MB when `initialize` is answered, or `after` milliseconds later. */
async function weigh(command: StdioCommand, after = 0): Promise<number> {
  const server = new StdioProcess(command);
  await server.request(INITIALIZE, 0);
  if (after > 0) await new Promise((resolve) => setTimeout(resolve, after));
  const { now } = memoryOf(server.pid);
  await server.close();
  return now;
}

function nodeAlone(): Promise<number> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', () => resolve(performance.now() - began));
  });
}
