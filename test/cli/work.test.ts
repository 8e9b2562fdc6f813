/** `serve` and `work` side by side on one file, as users start them: all take part, and leave cleanly. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder, tracked } from '../support/cleanup.js';
import { builtProgram } from '../support/processes/built-program.js';

const cli = await builtProgram();
const folder = tempFolder('work');
const env = {
  PATH: process.env.PATH ?? '',
  HOME: folder,
  XDG_DATA_HOME: join(folder, 'data'),
  SITEFLEET_LOG_LEVEL: 'error',
};

async function start(...args: string[]): Promise<ChildProcess> {
  const child = tracked(
    spawn(process.execPath, [cli, ...args], { env, cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  const gone = once(child, 'exit').then(([code]) => Promise.reject(new Error(`ended with ${code}`)));
  gone.catch(() => undefined);
  await Promise.race([once(child.stdout, 'data'), gone]);
  return child;
}

interface Entry {
  name: string;
  outcome: string;
  processes?: { process: string; outcome: string }[];
}

function monitors(): { running_in: string | null; pids: number[]; outcome: string } {
  const text = execFileSync(process.execPath, [cli, 'schedule', 'list', '--json'], { env, cwd: folder });
  const { running_in, entries } = JSON.parse(text.toString()) as { running_in: string | null; entries: Entry[] };
  const entry = entries.find(({ name }) => name === 'monitors');
  const pids = (entry?.processes ?? []).map(({ process: name }) => Number(name.split('/')[1]));
  return { running_in, pids: pids.sort((a, b) => a - b), outcome: entry?.outcome ?? '' };
}

async function stop(child: ChildProcess): Promise<unknown> {
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  return (await gone)[0];
}

describe('work beside serve', () => {
  it('goes on until it is stopped, and takes its share of the monitors', async () => {
    const serve = await start('serve', '--port', '0', '--json');
    const workers = [await start('work', '--json'), await start('work', '--json')];
    const pids = [serve, ...workers].map(({ pid }) => pid ?? 0).sort((a, b) => a - b);
    await expect.poll(monitors, { interval: 1_000 }).toMatchObject({
      pids,
      outcome: 'shared by 3 processes',
    });
    expect(monitors().running_in).toContain(`/${serve.pid}/`);
    expect(await Promise.all(workers.map(stop))).toEqual([0, 0]);
    // A leaving process says so: the others do not wait for a lease to expire.
    expect(monitors()).toMatchObject({ pids: [serve.pid] });
    expect(await stop(serve)).toBe(0);
    expect(monitors()).toMatchObject({ pids: [], running_in: null });
  });
});
