/** The program on the other end of a connection, as it names itself. */

import { cleanLine } from '../../../schemas/text.js';

const MOST = 100;

/** Name and version of an `Implementation`; '' if there is none. */
export function softwareOf(info: unknown): string {
  if (typeof info !== 'object' || info === null) return '';
  const { name, version } = info as Record<string, unknown>;
  return [name, version]
    .filter((part) => typeof part === 'string')
    .map((part) => cleanLine(part, MOST))
    .join(' ');
}
