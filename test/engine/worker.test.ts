/** The engine thread as shipped: when it dies, the next call starts a new one. Needs the built program. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder, tracked } from '../support/cleanup.js';
import { builtProgram } from '../support/processes/built-program.js';

it('comes back after it died, and what is not under way then works', async () => {
  const program = await builtProgram();
  const folder = tempFolder('engine');
  const mine = join(folder, 'dies-once.cjs');
  // The first engine thread of the process throws on demand; later ones live.
  writeFileSync(
    mine,
    `const { isMainThread } = require('node:worker_threads'); const { existsSync, writeFileSync } = require('node:fs');
     const [mark, told] = ${JSON.stringify([join(folder, 'died'), join(folder, 'die')])};
     if (!isMainThread && !existsSync(mark)) setInterval(() => {
       if (existsSync(told)) { writeFileSync(mark, ''); throw new Error('boom'); }
     }, 20);`,
  );
  const child = tracked(
    spawn(process.execPath, ['--require', mine, program, 'serve', '--port', '0', '--json'], {
      env: {
        ...process.env,
        SITEFLEET_DB: `file:${join(folder, 'fleet.db')}`,
        SITEFLEET_LOG_LEVEL: 'silent',
        NODE_OPTIONS: '',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { v2, api_key } = JSON.parse(line.toString('utf8')) as { v2: string; api_key: string };
    const addTag = async (name: string) => {
      const response = await fetch(`${v2}/tags/add`, {
        method: 'POST',
        headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      });
      return response.status;
    };
    // Only now: a thread that dies while starting prevents the service from starting at all.
    writeFileSync(join(folder, 'die'), '');
    await expect.poll(() => existsSync(join(folder, 'died'))).toBe(true);
    let tries = 0;
    await expect.poll(() => addTag(`after ${++tries}`), { interval: 100 }).toBe(200);
  } finally {
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
  }
});
