/** Reads files of `php/`, which are shipped beside the program. */

import { readFile } from 'node:fs/promises';

/** From the sources, and from the folder they are built into. */
const PLACES = ['../../php/', '../../../php/'];

/** @throws Error if it is missing */
export async function readShipped(file: string): Promise<string> {
  for (const place of PLACES) {
    const text = await readFile(new URL(`${place}${file}`, import.meta.url), 'utf8').catch(() => null);
    if (text !== null) return text;
  }
  throw new Error(`The file ${file} is missing from this installation.`);
}
