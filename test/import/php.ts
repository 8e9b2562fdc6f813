/** Debian's PHP, for the exporter. `.ci/run` installs it; where CI requires it, its absence fails. */

import { execFile, execFileSync } from 'node:child_process';
import type { Ended } from './program.js';

/** Why the exporter cannot be run here; null when it can. */
export const missingPhp: string | null = whyNot();

function whyNot(): string | null {
  try {
    execFileSync('php', ['-r', 'exit(extension_loaded("openssl") ? 0 : 1);'], { stdio: 'ignore' });
    return null;
  } catch {
    if (process.env.CI === 'true') throw new Error('php-cli is missing: .ci/run installs it.');
    return 'php-cli is not installed';
  }
}

export function php(args: string[], cwd: string): Promise<Ended> {
  return new Promise((done) =>
    execFile('php', args, { cwd, maxBuffer: 2 ** 28 }, (error, out, err) =>
      done({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
    ),
  );
}
