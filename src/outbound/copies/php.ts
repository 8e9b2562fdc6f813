/** Runs the PHP of a copy: one process for each request, without a server, and unable to start other programs. */

import { constants, mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Programs } from './confined.js';
import { type CopyAnswer, type CopyRequest, CopyUnavailable } from './copies.js';
import { own } from './folder.js';
import { serverVariables } from './request.js';

const REQUEST_MS = 60_000;
export const MOST_BODY = 8 * 1024 * 1024;
const MOST_LOG = 256 * 1024;
const LIMITS = { file_bytes: 256 * 1024 * 1024, memory_bytes: 4 * 1024 ** 3 };

/** With these a page could start programs, or leave the folder of the copy. */
const DISABLED = [
  ...['exec', 'passthru', 'shell_exec', 'system', 'popen', 'proc_open', 'proc_nice', 'putenv', 'dl', 'link', 'symlink'],
  ...['pcntl_exec', 'pcntl_fork', 'pcntl_unshare', 'pcntl_setpriority', 'posix_kill', 'posix_setuid', 'posix_setgid'],
  ...['posix_setsid', 'posix_setpgid', 'posix_mkfifo', 'imap_open'],
];

export class CopyPhp {
  readonly #programs: Programs;
  readonly #php: string;
  readonly #signal: AbortSignal;
  readonly #log: string;
  #extensions = new Set<string>();
  version = '';

  constructor(programs: Programs, php: string, signal: AbortSignal) {
    this.#programs = programs;
    this.#php = php;
    this.#signal = signal;
    this.#log = join(programs.folder, 'tmp', 'php.log');
  }

  /** Finds out what it is. @throws CopyUnavailable if it cannot run WordPress */
  async look(): Promise<void> {
    // The cache of code would have a lock in /tmp, which a container may not write to.
    const command = [this.#php, '-d', 'opcache.enable=0'];
    const asked = async (flag: string) =>
      (await this.#programs.run([...command, flag], { signal: this.#signal })).out.toString('utf8');
    this.version = /^PHP (\d+\.\d+\.\d+)/m.exec(await asked('-v'))?.[1] ?? '';
    if (this.version === '') throw new CopyUnavailable('PHP does not start here.');
    this.#extensions = new Set((await asked('-m')).split('\n').map((name) => name.trim().toLowerCase()));
    if (!this.has('mysqli')) throw new CopyUnavailable('PHP has no extension mysqli here (package php-mysql).');
    await this.#fix();
  }

  /** Sets the folders of a page so that it cannot change them, as it could otherwise: in older versions of PHP step by step to the root. */
  async #fix(): Promise<void> {
    await mkdir(this.#fixed, { mode: 0o700 });
    const place = join(this.#fixed, 'copy.ini');
    await writeFile(place, `[PATH=${this.#root}]\nopen_basedir="${this.#folders}"\n`, { mode: 0o600 });
    for (const path of [this.#fixed, place]) await own(path);
  }

  get #root(): string {
    return join(this.#programs.folder, 'site');
  }

  get #folders(): string {
    return `${this.#root}:${join(this.#programs.folder, 'tmp')}`;
  }

  /** Settings that PHP reads besides those of the machine. */
  get #fixed(): string {
    return join(this.#programs.folder, 'run', 'php');
  }

  has(extension: string): boolean {
    return this.#extensions.has(extension);
  }

  async ask(request: CopyRequest): Promise<CopyAnswer> {
    const [root, tmp] = [this.#root, join(this.#programs.folder, 'tmp')];
    const settings = {
      ...{ open_basedir: this.#folders, disable_functions: DISABLED.join(','), 'ffi.enable': 'false' },
      ...{
        sys_temp_dir: tmp,
        upload_tmp_dir: tmp,
        'session.save_path': tmp,
        'user_ini.filename': '',
        auto_prepend_file: '',
      },
      ...{ memory_limit: '512M', max_execution_time: String(REQUEST_MS / 1000 - 5), sendmail_path: '/bin/true' },
      ...{ log_errors: '1', error_log: this.#log, display_errors: '0', html_errors: '0', expose_php: '0' },
      // Of the machine, it may be for other programs.
      ...{ 'opcache.enable': '0', doc_root: '', user_dir: '' },
    };
    const env = {
      GATEWAY_INTERFACE: 'CGI/1.1',
      REDIRECT_STATUS: '200',
      PHP_INI_SCAN_DIR: `:${this.#fixed}`,
      ...serverVariables(request, root),
    };
    const args = Object.entries(settings).flatMap(([key, value]) => ['-d', `${key}=${quoted(value)}`]);
    const { out } = await this.#programs.run([this.#php, ...args], {
      env,
      limits: LIMITS,
      limitMs: REQUEST_MS,
      most: MOST_BODY,
      signal: this.#signal,
    });
    return { ...answerOf(out), errors: await errorsIn(this.#log, `${root}/`) };
  }
}

/**
 * Errors that ended PHP, the newest last.
 * @param root of the site; left out of them
 */
export async function errorsIn(log: string, root: string): Promise<string[]> {
  const text = await endOf(log, MOST_LOG).catch(() => '');
  const found = text.match(/PHP (?:Fatal|Parse|Compile|Core) error: .+/g) ?? [];
  return found.slice(-5).map((line) => line.replaceAll(root, '').slice(0, 1_000));
}

/** The last bytes of a file that a stranger's code may have replaced by something else. */
async function endOf(path: string, most: number): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const about = await file.stat();
    if (!about.isFile()) return '';
    const { buffer, bytesRead } = await file.read(Buffer.alloc(most), 0, most, Math.max(0, about.size - most));
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

function quoted(value: string): string {
  return /^[\w.-]*$/.test(value) ? value : `"${value}"`;
}

/** As a program for CGI answers: headers, and a body. One that has died in between has neither. */
function answerOf(out: Buffer): Omit<CopyAnswer, 'errors'> {
  const end = /\r?\n\r?\n/.exec(out.toString('latin1', 0, 65_536));
  const head = end === null ? '' : out.toString('latin1', 0, end.index);
  const header = (name: string) => new RegExp(`^${name}: *(.*?)\\r?$`, 'im').exec(head)?.[1] ?? '';
  const body = end === null ? '' : out.toString('utf8', end.index + end[0].length);
  const status = Number(
    /^\d{3}/.exec(header('Status'))?.[0] ?? (end === null ? 0 : header('Location') === '' ? 200 : 302),
  );
  return { status, content_type: header('Content-Type').toLowerCase(), body };
}
