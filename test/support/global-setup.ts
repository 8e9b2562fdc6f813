/**
 * Set-up of a test run: one folder for temporary files and one for bundled programs, named after the process. Both are
 * removed at the end, together with those of earlier interrupted runs. The end says what this machine lacked.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { whatWasMissing } from './needs.js';
import { LEFT_OUT } from './which-files.js';

export default function setup(project: TestProject): () => void {
  // Bundles are inside node_modules, so that they find the native driver.
  const bundles = fileURLToPath(new URL('../../node_modules/.sitefleet-test', import.meta.url));
  mkdirSync(bundles, { recursive: true });
  const name = `sitefleet-test-${process.pid}`;
  // A run of two projects calls this twice.
  const again = basename(tmpdir()) === name;
  const temporary = again ? dirname(tmpdir()) : tmpdir();
  for (const parent of [temporary, bundles]) {
    for (const name of readdirSync(parent)) if (isOver(name)) removeLeftover(join(parent, name));
  }
  const folders = [join(temporary, name), join(bundles, name)] as const;
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  // Read by `tmpdir()` in the workers and in the processes they start.
  process.env.TMPDIR = folders[0];
  project.provide('programs', folders[1]);
  if (again) return () => undefined;
  // Debian keeps servers where only the path of root leads.
  process.env.PATH = [process.env.PATH, '/usr/sbin', '/sbin'].join(delimiter);
  project.onTestsRerun(async () => {
    for (const made of readdirSync(folders[1])) remove(join(folders[1], made));
  });
  return () => {
    folders.forEach(remove);
    const missing = whatWasMissing(project.vitest.state.getTestModules());
    if (missing !== null) process.stderr.write(`\n${missing}\n`);
    if (LEFT_OUT.length > 0)
      process.stderr.write(
        `\n${LEFT_OUT.length} long files were left out (kills, full disks, storms, weeks, real sites). "npm run test:all" runs them.\n`,
      );
  };
}

/** True for the folder of a run whose process has ended. */
function isOver(name: string): boolean {
  const pid = /^sitefleet-test-(\d+)$/.exec(name)?.[1];
  if (pid === undefined) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Removes the folder of an earlier run. What cannot be removed is left to the next run: another that starts now may be removing it, too. */
function removeLeftover(folder: string): void {
  try {
    remove(folder);
  } catch {
    // Only space is lost.
  }
}

/** Removes a folder of a run, after unmounting the volumes still mounted there. */
function remove(folder: string): void {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8').split('\n') : [];
  for (const mount of mounts) {
    const path = mount.split(' ')[1];
    if (path?.startsWith(`${folder}/`)) spawnSync('umount', ['-l', path]);
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
