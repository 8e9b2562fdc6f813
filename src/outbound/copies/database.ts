/** The database of a copy: a MariaDB of its own in the copy's folder, reached by a socket only. */

import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { siteWords } from '../../../schemas/site-text.js';
import type { Programs } from './confined.js';
import { CopyRefused, CopyUnavailable } from './copies.js';
import type { CopyPrograms } from './find-programs.js';
import { own } from './folder.js';

const START_MS = 120_000;
/** A load is ended by the time of the drill. */
const LOAD_MS = 3_600_000;
const MOST_ANSWER = 16 * 1024 * 1024;
const NAME = 'copy';

export class CopyDatabase {
  readonly #programs: Programs;
  readonly #paths: CopyPrograms;
  readonly #signal: AbortSignal;
  readonly password = randomBytes(16).toString('hex');
  readonly name = NAME;
  version = '';

  constructor(programs: Programs, paths: CopyPrograms, signal: AbortSignal) {
    this.#programs = programs;
    this.#paths = paths;
    this.#signal = signal;
  }

  get socket(): string {
    return join(this.#programs.folder, 'run', 'db.sock');
  }

  /** Makes an empty database, and starts its server. @throws CopyUnavailable */
  async start(): Promise<void> {
    const { folder } = this.#programs;
    const data = `--datadir=${join(folder, 'db')}`;
    const { code, err } = await this.#programs.run(
      [
        this.#paths.install,
        '--no-defaults',
        data,
        '--skip-name-resolve',
        '--skip-test-db',
        '--auth-root-authentication-method=normal',
      ],
      { limitMs: START_MS, signal: this.#signal },
    );
    if (code !== 0) throw new CopyUnavailable(`MariaDB could not make an empty database here.${saidIn(err, folder)}`);
    // What runs in the copy has the rights of its own database, and no others: no files, no settings.
    const init = join(folder, 'run', 'init.sql');
    const user = `${NAME}@localhost`;
    await writeFile(
      init,
      `CREATE DATABASE ${NAME} CHARACTER SET utf8mb4;\nCREATE USER ${user} IDENTIFIED BY '${this.password}';\nGRANT ALL ON ${NAME}.* TO ${user};\nDROP USER IF EXISTS root@localhost, ''@localhost;\n`,
    );
    await own(init);
    const log = join(folder, 'run', 'db.log');
    const server = this.#programs.start(
      [
        ...[this.#paths.server, '--no-defaults', data, `--socket=${this.socket}`, `--init-file=${init}`],
        ...[`--log-error=${log}`, `--pid-file=${join(folder, 'run', 'db.pid')}`, `--tmpdir=${join(folder, 'tmp')}`],
        ...[
          '--skip-networking',
          '--skip-symbolic-links',
          '--skip-log-bin',
          '--performance-schema=off',
          '--local-infile=0',
        ],
        ...[`--secure-file-priv=${join(folder, 'db')}`, '--max-connections=20', '--max-allowed-packet=64M'],
        // What is lost with the power is lost with the copy.
        ...['--innodb-buffer-pool-size=128M', '--innodb-flush-log-at-trx-commit=0', '--innodb-doublewrite=0'],
      ],
      {},
    );
    let ended = false;
    void server.ended.then(() => {
      ended = true;
    });
    for (const from = performance.now(); ; await pause(100, undefined, { signal: this.#signal })) {
      const { code: answered, out } = await this.#client(['-N', '-e', 'SELECT VERSION()'], {});
      if (answered === 0) {
        this.version = out.toString('utf8').trim();
        break;
      }
      if (ended || performance.now() - from > START_MS) {
        const said = await readFile(log, 'utf8').catch(() => '');
        throw new CopyUnavailable(`MariaDB did not start here.${saidIn(said, folder)}`);
      }
    }
    await rm(init);
  }

  /** @throws CopyRefused with what the server said */
  async load(sql: AsyncIterable<Uint8Array>): Promise<void> {
    const { code, err } = await this.#client([], { input: sql, limitMs: LOAD_MS });
    if (code !== 0)
      throw new CopyRefused(err.split('\n').find((line) => line.startsWith('ERROR')) ?? 'It ended early.');
  }

  async query(sql: string): Promise<(string | null)[][]> {
    const { code, out, err } = await this.#client(['-N', '--raw', '--batch', '-e', `SET NAMES utf8mb4; ${sql}`], {
      most: MOST_ANSWER,
      limitMs: LOAD_MS,
    });
    if (code !== 0) throw new CopyUnavailable(`The database here failed: ${siteWords(err.trim(), 300)}`);
    const lines = out.toString('utf8').split('\n').slice(0, -1);
    return lines.map((line) => line.split('\t').map((cell) => (cell === 'NULL' ? null : cell)));
  }

  #client(args: string[], options: { input?: AsyncIterable<Uint8Array>; most?: number; limitMs?: number }) {
    return this.#programs.run(
      [
        this.#paths.client,
        '--no-defaults',
        // It obeys no commands to itself, such as the one that starts a shell: what it reads is a stranger's.
        '--binary-mode',
        `--socket=${this.socket}`,
        `--user=${NAME}`,
        '--max-allowed-packet=64M',
        ...args,
        NAME,
      ],
      { ...options, env: { MYSQL_PWD: this.password }, signal: this.#signal },
    );
  }
}

/** The first error in a text of the server, without paths of this machine. */
function saidIn(text: string, folder: string): string {
  const error = /\[?ERROR\]?:? (.{1,200})/.exec(text)?.[1];
  return error === undefined ? '' : ` It says: ${error.replaceAll(folder, '')}`;
}
