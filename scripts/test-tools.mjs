/**
 * Installs what testing needs and running does not (`devDependencies`), when it is not there as the lock file has it: `npm ci`
 * leaves it out (`.npmrc`), so that a newcomer sees the program sooner. Whatever needs it runs this first.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { packages: {} });
const wanted = read('package-lock.json').packages;
/** What npm installed, by its own account. */
const installed = read(join('node_modules', '.package-lock.json')).packages;

// Packages for other systems are optional, and not installed here.
const missing = Object.entries(wanted).filter(
  ([path, { dev, devOptional, optional, version }]) =>
    (dev || devOptional) && !optional && installed[path]?.version !== version,
);
if (missing.length > 0) {
  process.stderr.write(`Installing what testing needs: ${missing.length} packages.\n`);
  // "--no-save": the lock file stays as it is. None of them has to run anything to be installed.
  const flags = ['--include=dev', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', ['install', ...flags], { stdio: 'inherit', shell: process.platform === 'win32' });
  process.exitCode = status ?? 1;
}
