/** Debian's PHP, for the exporter. */

import { execFile } from 'node:child_process';
import type { Ended } from './program.js';

export function php(args: string[], cwd: string): Promise<Ended> {
  return new Promise((done) =>
    execFile('php', args, { cwd, maxBuffer: 2 ** 28 }, (error, out, err) =>
      done({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
    ),
  );
}
