/**
 * `npm run dev`: serves, and restarts whenever the sources have been bundled without errors. Arguments are passed to
 * `sitefleet`; without any it runs `serve`.
 */

import { spawn } from 'node:child_process';
import { watchProgram } from './bundle.mjs';

const args = process.argv.length > 2 ? process.argv.slice(2) : ['serve'];
let server;
let stopping = false;

/** Stops the running server, if there is one, and starts the current program. */
async function restart() {
  await stop(server);
  if (stopping) return;
  server = spawn(process.execPath, ['--enable-source-maps', 'dist/src/cli.js', ...args], { stdio: 'inherit' });
}

function stop(child) {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return undefined;
  return new Promise((resolve) => {
    child.once('exit', resolve);
    child.kill('SIGTERM');
  });
}

let restarted = Promise.resolve();
const unwatch = await watchProgram('dist/src', () => {
  restarted = restarted.then(restart);
});

async function end() {
  if (stopping) return;
  stopping = true;
  await unwatch();
  await restarted;
  await stop(server);
  process.exit(0);
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, end);
