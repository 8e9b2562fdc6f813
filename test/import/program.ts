/** The built program in its own process, beside a service of the test on the same database. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { builtProgram } from '../support/processes/built-program.js';

const cli = await builtProgram();

export interface Ended {
  code: number;
  out: string;
  err: string;
}

export interface Program {
  folder: string;
  run(args: string[], stdin?: string): Promise<Ended>;
  /** Runs with `--json` and reads the answer. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers field by field
  json(args: string[], stdin?: string): Promise<any>;
  start(args: string[]): ChildProcess;
}

/** @param folder folder of its database, key and files */
export function program(folder: string, database = 'fleet.db'): Program {
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    XDG_DATA_HOME: folder,
    SITEFLEET_DB: `file:${join(folder, database)}`,
    SITEFLEET_SECRET_KEY_FILE: join(folder, 'secret.key'),
    SITEFLEET_LOG_LEVEL: 'warn',
    SITEFLEET_ALLOW_PRIVATE_SITES: '1',
  };
  const run = (args: string[], stdin = '') =>
    new Promise<Ended>((done) => {
      const child = execFile(
        process.execPath,
        [cli, ...args],
        { env, cwd: folder, maxBuffer: 2 ** 28 },
        (error, out, err) => done({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
      );
      child.stdin?.end(stdin);
    });
  return {
    folder,
    run,
    async json(args, stdin) {
      const { out, err } = await run([...args, '--json'], stdin);
      try {
        return JSON.parse(out);
      } catch {
        throw new Error(`${args.join(' ')} printed no JSON: ${out}${err}`);
      }
    },
    start: (args) => spawn(process.execPath, [cli, ...args], { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] }),
  };
}
