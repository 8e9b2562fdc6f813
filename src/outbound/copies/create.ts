/** Makes copies of sites in a folder of this machine: with a PHP and a MariaDB of it, or of a container, or else in WordPress Playground. */

import { join } from 'node:path';
import { Slots } from '../../runtime/slots.js';
import { configText } from './config-text.js';
import { Programs } from './confined.js';
import { ContainerPrograms, removeContainer } from './container.js';
import { CopyUnavailable, type SiteCopies, type SiteCopy } from './copies.js';
import { Copy } from './copy.js';
import { CopyDatabase } from './database.js';
import { type CopyPrograms, type Lack, lookForPrograms, lookIn } from './find-programs.js';
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
  const find = async () => {
    needSystem();
    if (container !== null) return 'container';
    const { found, lacks } = await lookForPrograms(programs);
    const [first] = lacks;
    if (first === undefined) return found as CopyPrograms;
    const instead = await findPlayground(playground);
    if (instead !== null) return instead;
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
      return prepare({ folder, container }, bytes, async ({ programs, ...parts }) => {
        const runtime = await runtimeIn(programs, found, signal);
        return new Copy({ ...parts, runtime });
      });
    },
  };
}

function needSystem(): void {
  if (process.platform === 'win32') throw new CopyUnavailable('Trial restores need Linux or macOS.');
}

async function runtimeIn(programs: Programs, found: CopyPrograms | string, signal: AbortSignal): Promise<CopyRuntime> {
  if (programs instanceof ContainerPrograms) return serversIn(programs, 'container', await neededIn(programs), signal);
  return typeof found === 'string'
    ? playgroundIn(programs, found, signal)
    : serversIn(programs, 'machine', found, signal);
}

/** @throws CopyUnavailable if the container lacks one */
async function neededIn(container: ContainerPrograms): Promise<CopyPrograms> {
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

async function playgroundIn(programs: Programs, found: string, signal: AbortSignal): Promise<Playground> {
  const playground = new Playground(programs, found, signal);
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
  { folder: parent, container }: Pick<CopiesParts, 'folder' | 'container'>,
  bytes: number,
  make: (prepared: Prepared) => Promise<T>,
): Promise<T> {
  const folder = await makeFolder(parent, bytes);
  const programs = container === null ? new Programs(folder) : new ContainerPrograms(folder, container);
  const room = new Room(folder, () => programs.endAll());
  const close = async () => {
    room.close();
    await programs.endAll();
    await removeFolder(folder);
  };
  try {
    const network = await programs.confine();
    const { code } = await programs.run(['test', '-w', join(folder, 'tmp')], {});
    if (code !== 0)
      throw new CopyUnavailable(
        `${container === null ? 'The user "nobody"' : 'The user of the container'} cannot enter the folder of trial restores: see SITEFLEET_DRILL_DIR.`,
      );
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
  const { programs, playground } = parts;
  const looked = parts.container === null ? await lookForPrograms(programs) : { found: {}, lacks: [] };
  const instead = looked.lacks.length === 0 ? null : await findPlayground(playground);
  const means: Means = { lacks: looked.lacks, playground: instead, reason: null, php: null, network: null };
  const path = looked.found.php;
  try {
    needSystem();
    if (parts.container === null && instead === null && path === undefined) return means;
    return await prepare(parts, 0, async ({ programs: running, network, close }) => {
      const php =
        running instanceof ContainerPrograms
          ? await versionOf(running, (await neededIn(running)).php, signal)
          : instead !== null
            ? (await playgroundIn(running, instead, signal)).php
            : await versionOf(running, path, signal);
      await close();
      return { ...means, php, network };
    });
  } catch (error) {
    if (error instanceof CopyUnavailable) return { ...means, reason: error.message };
    throw error;
  }
}

async function versionOf(programs: Programs, path = '', signal: AbortSignal): Promise<string> {
  const php = new CopyPhp(programs, path, signal);
  await php.look();
  return php.version;
}
