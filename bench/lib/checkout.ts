/** A built checkout of the program: this one, or another beside it, each with databases that its own code has made. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Rig } from './fleet.js';

type StartRig = typeof import('./fleet.js').startRig;
type SeededCopy = typeof import('./database.js').seededCopy;

export interface Checkout {
  /** Its folder. */
  readonly root: string;
  /** The program as `npm run build` makes it. */
  readonly program: string;
  /** A database with this many made-up sites, in a file of its own. */
  seeded(dir: string, sites: number, name: string): Promise<string>;
  startRig(...options: Parameters<StartRig>): Promise<Rig>;
}

/** This checkout. Bundles and modules stand in `dist`, and this file in `dist/modules/bench/lib`. */
export const OURS = fileURLToPath(new URL('../../../../', import.meta.url));

/** Throws if the program, or the compiled benchmarks, are not there: `npm run build`, and one run of `npm run bench`. */
export async function checkoutAt(root: string): Promise<Checkout> {
  const program = join(root, 'dist', 'src', 'cli.js');
  // Where they were before they had a folder of their own.
  const lib = ['dist/modules/bench/lib', 'dist/bench/lib'].map((at) => join(root, at)).find((at) => existsSync(at));
  if (lib === undefined || !existsSync(program)) throw new Error(`${root} is not built: npm run build there first.`);
  const load = (file: string) => import(pathToFileURL(join(lib, file)).href);
  const { seededCopy } = (await load('database.js')) as { seededCopy: SeededCopy };
  const { startRig } = (await load('fleet.js')) as { startRig: StartRig };
  return { root, program, seeded: seededCopy, startRig };
}
