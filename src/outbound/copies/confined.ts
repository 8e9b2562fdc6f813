/**
 * Starts the programs of a restored copy, confined: as a user without rights, with a network and a root of its own where
 * the machine allows it, and so that they end with this process, however it ends.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { CopyUnavailable } from './copies.js';

/** `nobody`: what a copy runs as where this process is root. */
const NOBODY = { uid: 65_534, gid: 65_534 };

/** Owner of the copy's files and processes; empty = this process' own user. */
export const USER: { uid?: number; gid?: number } = process.getuid?.() === 0 ? NOBODY : {};

/** A network and processes of its own; whatever is left of them ends with the first. */
const APART = ['--user', '--net', '--pid', '--fork', '--kill-child'];

/**
 * Runs a program in a root of its own, with the system's programs, the paths that `$1` lists one per line, and the current folder:
 * a network namespace does not block UNIX sockets that have a path, such as that of D-Bus. The mounts exist in this namespace only,
 * and the program itself runs in another user namespace, where it may not mount anything.
 */
const ROOT = `set -e
root=/tmp here=$PWD shown=$1 uid=$2 gid=$3
shift 3
mount -t tmpfs -o mode=755 tmpfs $root
show() {
  [ -e "$root$1" ] || { mkdir -p "$root$1" && mount --rbind "$1" "$root$1"; }
}
for part in /bin /sbin /lib /lib32 /lib64 /libx32 /usr /etc /opt; do
  if [ -L "$part" ]; then cp -P "$part" "$root$part"; elif [ -d "$part" ]; then show "$part"; fi
done
printf '%s' "$shown" | while read -r part; do show "$part"; done
mkdir -p -m 1777 $root/tmp
mkdir -p $root/dev $root/proc $root/old "$root$here"
for name in null zero full random urandom; do : >$root/dev/$name; mount --bind /dev/$name $root/dev/$name; done
ln -s /proc/self/fd $root/dev/fd
mount -t proc proc $root/proc 2>/dev/null || mount --rbind /proc $root/proc
mount --no-canonicalize --bind . "$root$here"
pivot_root $root $root/old
cd "$here"
umount -l /old
exec unshare --user --map-user="$uid" --map-group="$gid" "$@"`;

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

  /** @param shown absolute paths beside the system's own programs that those started here need */
  constructor(
    readonly folder: string,
    readonly shown: readonly string[] = [],
  ) {
    this.#env = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin', HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8' };
  }

  /** Finds out whether the machine can confine them. */
  async confine(): Promise<'none' | 'open'> {
    const ids = [USER.uid ?? process.getuid?.() ?? 0, USER.gid ?? process.getgid?.() ?? 0].map(String);
    const shown = this.shown.map((path) => `${path}\n`).join('');
    const hidden = ['unshare', '--map-root-user', '--mount', ...APART, 'sh', '-c', ROOT, 'sh', shown, ...ids];
    if (await this.#runsIn(hidden)) return 'none';
    // Better than nothing, but other servers of this machine may be reached.
    if (!(await this.#runsIn(['unshare', '--map-current-user', ...APART]))) this.#apart = [];
    return 'open';
  }

  async #runsIn(apart: readonly string[]): Promise<boolean> {
    this.#apart = apart;
    const { code } = await this.run(['true'], {}).catch(() => ({ code: 1 }));
    return code === 0;
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
