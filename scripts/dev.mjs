/**
 * `npm run dev`: serves, and restarts whenever the sources have been compiled without errors. Arguments are passed to
 * `sitefleet`; without any it runs `serve`.
 */

import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';

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

// Only the full build writes this file; in watch mode it would go stale.
rmSync('dist/src/app/stdio.bundle.cjs', { force: true });

const compiler = spawn(
  process.execPath,
  ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--watch', '--preserveWatchOutput'],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
let restarted = Promise.resolve();
compiler.stdout.setEncoding('utf8').on('data', (text) => {
  process.stderr.write(text);
  if (/Found 0 errors/.test(text)) restarted = restarted.then(restart);
});
compiler.on('exit', (code) => end(code ?? 1));

async function end(code) {
  if (stopping) return;
  stopping = true;
  compiler.kill();
  await restarted;
  await stop(server);
  process.exit(code);
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => end(0));
