/** Pastes what the demo prints for a shell into a shell. `npm test` builds the program first. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { endProcess, tempFolder, tracked } from '../support/cleanup.js';
import { needs } from '../support/needs.js';
import { builtProgram } from '../support/processes/built-program.js';

const cli = await builtProgram();
const home = tempFolder('lines');
const env = { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: home, SITEFLEET_LOG_LEVEL: 'warn' };
const demos: ChildProcess[] = [];

afterAll(() => Promise.all(demos.map((demo) => endProcess(demo, 'SIGINT'))));

/** The output of a demo that is ready. */
function printed(sites: number): Promise<string> {
  const child = tracked(
    spawn(process.execPath, [cli, 'demo', '--sites', String(sites), '--port', '0'], {
      env,
      cwd: home,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  demos.push(child);
  let out = '';
  let err = '';
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  return new Promise((ready, fail) => {
    child.stdout.on('data', (chunk) => {
      out += String(chunk);
      if (out.includes('Ctrl-C')) ready(out);
    });
    child.once('exit', (code) => fail(new Error(`the demo ended with ${code}: ${err}`)));
  });
}

/** Commands in the output; a line that ends in a backslash continues on the next. */
function commands(text: string): string[] {
  return text
    .replaceAll('\\\n', '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('curl '));
}

it('every curl line that the demo prints answers 200', needs('curl'), async () => {
  // curl applies this to every command, so the lines run exactly as printed.
  writeFileSync(join(home, '.curlrc'), 'silent\nwrite-out = "\\n%{http_code}"\n');
  const lines = commands(await printed(12));
  expect(lines.filter((line) => line.includes('/run')).length).toBe(5);
  for (const line of lines) {
    const out = await new Promise<string>((done, fail) =>
      execFile('sh', ['-c', line], { env, cwd: home }, (error, text) => (error === null ? done(text) : fail(error))),
    );
    const at = out.lastIndexOf('\n');
    expect([line, out.slice(at + 1)], out.slice(0, 500)).toEqual([line, '200']);
    expect(JSON.parse(out.slice(0, at))).toBeTypeOf('object');
  }
});

it('where each site plays a part, none of them is updated without its story', async () => {
  const lines = commands(await printed(5)).filter((line) => line.includes('site_id_or_domain'));
  expect(lines.map((line) => line.includes('/safe-update-site-v1/run'))).toEqual([true, true]);
});
