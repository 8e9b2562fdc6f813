/** Makes copies of sites in a folder of this machine: with a PHP and a MariaDB of it, or of a container, or else in WordPress Playground. */

import { basename, dirname, join } from 'node:path';
import { Slots } from '../../runtime/slots.js';
import { configText } from './config-text.js';
import { Programs } from './confined.js';
import { ContainerPrograms, removeContainer } from './container.js';
import { CopyUnavailable, type SiteCopies, type SiteCopy } from './copies.js';
import { Copy } from './copy.js';
import { CopyDatabase } from './database.js';
import { type CopyPrograms, type Lack, type Looked, lookForPrograms, lookIn } from './find-programs.js';
import { makeFolder, removeFolder, sweepFolders } from './folder.js';
import { CopyPhp } from './php.js';
import { findPlayground, PLAYGROUND, Playground } from './playground.js';
import { Room } from './room.js';
import type { CopyRuntime } from './runtime.js';

export interface CopiesParts {
  /** Where the copies are. */
  folder: string;
  /** Folders of the programs, separated as in PATH; null = the usual ones. */
  programs: string | null;
  /** Folder of WordPress Playground; null = the usual places. */
  playground: string | null;
  /** Words of the command that runs a container, in which everything is then; null = none. */
  container: readonly string[] | null;
}

export function createCopies({ folder, programs, playground, container }: CopiesParts): SiteCopies {
  const find = async (): Promise<Found> => {
    needSystem();
    if (container !== null) return { means: 'container' };
    const { found, lacks } = await lookForPrograms(programs);
    const [first] = lacks;
    if (first === undefined) return { means: 'machine', paths: found as CopyPrograms };
    const package_folder = await findPlayground(playground);
    if (package_folder !== null) return { means: 'playground', package_folder };
    throw new CopyUnavailable(
      `This machine has no ${first.program}, which trial restores need (package ${first.debian}), nor WordPress Playground (npm install --global ${PLAYGROUND}).`,
    );
  };
  // Each takes some hundred megabytes of memory.
  const slot = new Slots(1);
  return {
    turn: (waitMs, signal) => slot.take(waitMs, signal),
    async unavailable() {
      try {
        await find();
        return null;
      } catch (error) {
        if (error instanceof CopyUnavailable) return error.message;
        throw error;
      }
    },
    async open(bytes, signal) {
      for (const left of await sweepFolders(folder)) if (container !== null) await removeContainer(container, left);
      const found = await find();
      return prepare({ folder, container, shown: pathsOf(found) }, bytes, async ({ programs, ...parts }) => {
        const runtime = await runtimeIn(programs, found, signal);
        return new Copy({ ...parts, runtime });
      });
    },
  };
}

function needSystem(): void {
  if (process.platform === 'win32') throw new CopyUnavailable('Trial restores need Linux or macOS.');
}

/** What a copy will run by. */
type Found =
  | { means: 'container' }
  | { means: 'machine'; paths: CopyPrograms }
  | { means: 'playground'; package_folder: string };

/** What its programs need of this machine. */
function pathsOf(found: Found): string[] {
  if (found.means === 'container') return [];
  return found.means === 'machine'
    ? Object.values(found.paths).map(installationOf)
    : ofPlayground(found.package_folder);
}

/** With the packages that it may depend on. */
function ofPlayground(folder: string): string[] {
  const [packages = folder] = /^.*?\/node_modules(?=\/|$)/.exec(folder) ?? [];
  return [packages, installationOf(process.execPath)];
}

/** The folder with a program and its libraries: that above `bin`. */
function installationOf(program: string): string {
  const folder = dirname(program);
  return /^s?bin$/.test(basename(folder)) && dirname(folder) !== '/' ? dirname(folder) : folder;
}

async function runtimeIn(programs: Programs, found: Found, signal: AbortSignal): Promise<CopyRuntime> {
  switch (found.means) {
    case 'container':
      return serversIn(programs, found.means, await neededIn(programs), signal);
    case 'machine':
      return serversIn(programs, found.means, found.paths, signal);
    case 'playground':
      return playgroundIn(programs, found.package_folder, signal);
  }
}

/** The programs of a container. @throws CopyUnavailable if it lacks one */
async function neededIn(container: Programs): Promise<CopyPrograms> {
  const { found, lacks } = await lookIn(container);
  const [first] = lacks;
  if (first === undefined) return found;
  throw new CopyUnavailable(
    `The container of SITEFLEET_DRILL_CONTAINER has no ${first.program} (in Debian, package ${first.debian}).`,
  );
}

/** A PHP, and a server of MariaDB. */
async function serversIn(
  programs: Programs,
  means: 'machine' | 'container',
  paths: CopyPrograms,
  signal: AbortSignal,
): Promise<CopyRuntime> {
  const php = new CopyPhp(programs, paths.php, signal);
  await php.look();
  const database = new CopyDatabase(programs, paths, signal);
  await database.start();
  return {
    ...{ means, php: php.version, database: database.version },
    has: (extension) => php.has(extension),
    load: (sql) => database.load(sql),
    query: (sql) => database.query(sql),
    ask: (request) => php.ask(request),
    files: async (settings) => ({ 'wp-config.php': configText(settings, database) }),
  };
}

async function playgroundIn(programs: Programs, folder: string, signal: AbortSignal): Promise<Playground> {
  const playground = new Playground(programs, folder, signal);
  await playground.look();
  return playground;
}

interface Prepared {
  folder: string;
  programs: Programs;
  network: SiteCopy['network'];
  room: Room;
  close(): Promise<void>;
}

/** Makes a folder for a copy and something in it, which removes the folder; where this fails, it is removed. @throws CopyUnavailable */
async function prepare<T>(
  { folder: parent, container, shown }: Pick<CopiesParts, 'folder' | 'container'> & { shown: readonly string[] },
  bytes: number,
  make: (prepared: Prepared) => Promise<T>,
): Promise<T> {
  const folder = await makeFolder(parent, bytes);
  const programs = container === null ? new Programs(folder, shown) : new ContainerPrograms(folder, container);
  const room = new Room(folder, () => programs.endAll());
  const close = async () => {
    room.close();
    await programs.endAll();
    await removeFolder(folder);
  };
  try {
    const network = await programs.confine();
    const { code } = await programs.run(['test', '-w', join(folder, 'tmp')], {});
    if (code !== 0) {
      const user = container === null ? 'The user "nobody"' : 'The user of the container';
      throw new CopyUnavailable(`${user} cannot enter the folder of trial restores: see SITEFLEET_DRILL_DIR.`);
    }
    return await make({ folder, programs, network, room, close });
  } catch (error) {
    await close();
    throw error;
  }
}

/** What this machine has for copies. */
export interface Means {
  lacks: Lack[];
  /** Folder of WordPress Playground, which is used where something lacks; null = not here, or not needed. */
  playground: string | null;
  /** Another reason why none can be made; null = none is known. */
  reason: string | null;
  /** Version of PHP, and whether it can be confined; null = not found out. */
  php: string | null;
  network: SiteCopy['network'] | null;
}

/** Finds out whether copies can be made here. Nothing is left of it. */
export async function lookForMeans(parts: CopiesParts, signal: AbortSignal): Promise<Means> {
  const { programs, playground, container } = parts;
  const { found, lacks }: Looked = container === null ? await lookForPrograms(programs) : { found: {}, lacks: [] };
  const instead = lacks.length === 0 ? null : await findPlayground(playground);
  const means: Means = { lacks, playground: instead, reason: null, php: null, network: null };
  /** Undefined where nothing could tell. */
  const versionIn = async (running: Programs) => {
    if (container !== null) return versionOf(running, (await neededIn(running)).php, signal);
    if (instead !== null) return (await playgroundIn(running, instead, signal)).php;
    return found.php && versionOf(running, found.php, signal);
  };
  try {
    needSystem();
    if (container === null && instead === null && found.php === undefined) return means;
    const shown = instead === null ? Object.values(found).map(installationOf) : ofPlayground(instead);
    return await prepare({ ...parts, shown }, 0, async ({ programs: running, network, close }) => {
      const php = (await versionIn(running)) ?? null;
      await close();
      return { ...means, php, network };
    });
  } catch (error) {
    if (error instanceof CopyUnavailable) return { ...means, reason: error.message };
    throw error;
  }
}

async function versionOf(programs: Programs, path: string, signal: AbortSignal): Promise<string> {
  const php = new CopyPhp(programs, path, signal);
  await php.look();
  return php.version;
}
