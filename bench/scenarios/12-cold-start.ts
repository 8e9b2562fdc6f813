/** How long an assistant waits for the program to start, and how much memory it takes while idle. */

import { spawn } from 'node:child_process';
import { compare, type Slice } from '../lib/ab.js';
import { INITIALIZE, INITIALIZED, message } from '../lib/mcp-wire.js';
import { memoryOf } from '../lib/process.js';
import { figure, type Measure, measureOf, type Scenario } from '../lib/scenario.js';
import { rounded } from '../lib/stats.js';
import { type StdioCommand, StdioProcess, stdioBare, stdioOurs } from '../lib/stdio.js';

export const scenario: Scenario = {
  number: 12,
  name: 'cold-start',
  title: 'stdio from spawn to `initialize` answered, against the bare SDK and against `node -e 0`; memory',
  async run({ quick, dir }) {
    const ours = stdioOurs(dir);
    const bare = stdioBare('legacy', {});
    // The first start creates the database and any caches for later starts.
    for (let i = 0; i < 2; i++) await weigh(ours);
    const rounds = quick ? 5 : 11;
    const measures: Measure[] = [
      measureOf(
        'spawn to initialize answered, against the bare SDK',
        { atMost: 0.65 },
        await compare(started(ours), started(bare), { rounds }),
        'ms',
      ),
      measureOf(
        'the same against node -e 0',
        { atMost: 2.4 },
        await compare(started(ours), nodeAlone, { rounds }),
        'ms',
      ),
      measureOf(
        'spawn to tools/list answered, against node -e 0',
        null,
        await compare(listed(ours), nodeAlone, { rounds }),
        'ms',
      ),
    ];
    const first: number[] = [];
    for (let round = 0; round < rounds; round++) first.push(await listedAfter(ours));
    const each = `each of ${first.map(rounded).join(', ')}`;
    measures.push(figure('ms from initialize answered to the first tools/list answered', { atMost: 15 }, first, each));
    const memory = { rounds: quick ? 3 : 5, calibrate: false };
    measures.push(
      measureOf(
        'resident memory at initialize, against the bare SDK',
        { atMost: 1.15 },
        await compare(
          () => weigh(ours),
          () => weigh(bare),
          memory,
        ),
        'MB',
      ),
    );
    measures.push(
      measureOf(
        'resident memory 3 s later, against the bare SDK',
        null,
        await compare(
          () => weigh(ours, 3_000),
          () => weigh(bare, 3_000),
          { ...memory, rounds: 2, warmups: 0 },
        ),
        'MB',
      ),
    );
    return measures;
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

/** Milliseconds of the first `tools/list` of a process that has answered `initialize`. */
async function listedAfter(command: StdioCommand): Promise<number> {
  const server = new StdioProcess(command);
  await server.request(INITIALIZE, 0);
  server.notify(INITIALIZED);
  const began = performance.now();
  await server.request(message('legacy', 1, 'tools/list'), 1);
  const ms = performance.now() - began;
  await server.close();
  return ms;
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
