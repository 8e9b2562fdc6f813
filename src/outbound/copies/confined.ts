/**
 * Starts the programs of a restored copy, confined: as a user without rights, in a network of its own where the machine
 * allows it, and so that they end with this process, however it ends.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { CopyUnavailable } from './copies.js';

/** `nobody`: what a copy runs as where this process is root. */
const NOBODY = { uid: 65_534, gid: 65_534 };

/** Owner of the copy's files and processes; empty = this process' own user. */
export const USER: { uid?: number; gid?: number } = process.getuid?.() === 0 ? NOBODY : {};

/** A network and processes of its own; whatever is left of them ends with the first. */
const APART = ['unshare', '--user', '--map-current-user', '--net', '--pid', '--fork', '--kill-child'];

/**
 * The shell's child waits until the other end of file 3 is closed, which the kernel does when this process ends, and then kills
 * the group. `ulimit -f` is in blocks of 512 bytes, `-v` in kilobytes.
 */
const TIED =
  'ulimit -c 0; ulimit -f "$1"; [ "$2" = 0 ] || ulimit -v "$2"; shift 2; (read _ <&3; kill -9 0) </dev/null >/dev/null 2>&1 & exec "$@" 3<&-';

/** Text of a program that is kept, from its beginning. */
const MOST_TEXT = 65_536;

interface Limits {
  /** Largest file. */
  file_bytes: number;
  /** Address space; 0 = as much as there is. */
  memory_bytes: number;
}

interface Started {
  readonly child: ChildProcess;
  /** Resolves with the exit code, null after a signal; never rejects. */
  readonly ended: Promise<number | null>;
  /** Ends it with everything that it has started. */
  end(): Promise<void>;
}

/** What stands before a program, and how the two are ended. */
export interface Prefix {
  command: readonly string[];
  /** undefined = that of this process. */
  env: Record<string, string> | undefined;
  /** Blocks of 512 bytes of the largest file, kilobytes of memory: as TIED reads them. */
  limits: readonly [string, string];
  user: { uid?: number; gid?: number };
  /** Ends what the end of the command would leave running. */
  end?(): Promise<void>;
}

export class Programs {
  readonly #env: Record<string, string>;
  readonly #running = new Set<Started>();
  #apart: readonly string[] = [];

  constructor(readonly folder: string) {
    this.#env = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin', HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8' };
  }

  /** Finds out whether the machine can confine them. */
  async confine(): Promise<'none' | 'open'> {
    this.#apart = APART;
    const { code } = await this.run(['true'], {}).catch(() => ({ code: 1 }));
    if (code !== 0) this.#apart = [];
    return code === 0 ? 'none' : 'open';
  }

  protected prefix(env: Record<string, string>, limits: readonly [string, string]): Prefix {
    return { command: this.#apart, env: { ...this.#env, ...env }, limits, user: USER };
  }

  start(
    [program = '', ...args]: readonly string[],
    env: Record<string, string>,
    { file_bytes, memory_bytes }: Limits = { file_bytes: 1024 ** 4, memory_bytes: 0 },
  ): Started {
    const prefix = this.prefix(env, [String(Math.ceil(file_bytes / 512)), String(Math.ceil(memory_bytes / 1024))]);
    const child = spawn('/bin/sh', ['-c', TIED, 'sh', ...prefix.limits, ...prefix.command, program, ...args], {
      cwd: this.folder,
      env: prefix.env,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      detached: true,
      ...prefix.user,
    });
    const tie = child.stdio[3] as Writable;
    tie.on('error', () => undefined);
    child.stdin?.on('error', () => undefined);
    const ended = new Promise<number | null>((resolve) => {
      child.once('exit', (code) => resolve(code));
      child.once('error', () => resolve(127));
    });
    let isOver = false;
    const started: Started = {
      child,
      ended,
      async end() {
        if (!isOver) await prefix.end?.();
        tie.destroy();
        if (child.pid !== undefined) kill(child.pid);
        await ended;
      },
    };
    this.#running.add(started);
    void ended.then(() => {
      isOver = true;
      tie.destroy();
      this.#running.delete(started);
    });
    return started;
  }

  /** Runs a program to its end. @param input what it reads @throws CopyUnavailable if it takes too long */
  async run(
    command: readonly string[],
    {
      env = {},
      input,
      limits,
      limitMs = 60_000,
      most = MOST_TEXT,
      signal,
    }: {
      env?: Record<string, string>;
      input?: AsyncIterable<Uint8Array>;
      limits?: Limits;
      limitMs?: number;
      /** Bytes of its output; with more it is ended. */
      most?: number;
      signal?: AbortSignal | undefined;
    },
  ): Promise<{ code: number | null; out: Buffer; err: string }> {
    signal?.throwIfAborted();
    const started = this.start(command, env, limits);
    const { child, ended } = started;
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      void started.end();
    }, limitMs);
    const aborted = () => void started.end();
    signal?.addEventListener('abort', aborted, { once: true });
    try {
      const [code, out, err] = await Promise.all([
        ended,
        collect(child.stdout, most, () => void started.end()),
        collect(child.stderr, MOST_TEXT, () => undefined),
        feed(child.stdin, input, started),
      ]);
      signal?.throwIfAborted();
      if (late) throw new CopyUnavailable(`It took longer than ${Math.round(limitMs / 1000)} s here.`);
      return { code, out, err: err.toString('utf8') };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', aborted);
      await started.end();
    }
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.#running].map((one) => one.end()));
  }
}

/** What it has written up to then; more is read, and forgotten. */
async function collect(from: Readable | null, most: number, tooMuch: () => void): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of from ?? []) {
    if (length + (part as Buffer).length > most) {
      tooMuch();
      continue;
    }
    parts.push(part as Buffer);
    length += (part as Buffer).length;
  }
  return Buffer.concat(parts);
}

async function feed(to: Writable | null, input: AsyncIterable<Uint8Array> | undefined, { ended }: Started) {
  if (to === null) return;
  let over = false;
  void ended.then(() => {
    over = true;
  });
  for await (const part of input ?? []) {
    // It has ended, and its exit code says why.
    if (over) break;
    if (!to.write(part)) await Promise.race([new Promise((resolve) => to.once('drain', resolve)), ended]);
  }
  to.end();
}

function kill(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // Gone already.
  }
}
