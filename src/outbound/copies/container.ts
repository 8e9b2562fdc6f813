/**
 * Runs the programs of a copy in a container: one for each copy, without a network, which sees of this machine nothing but the copy's
 * folder. It ends with this process, however it ends.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Prefix, Programs, USER } from './confined.js';
import { CopyUnavailable } from './copies.js';

const START_MS = 60_000;
const END_MS = 20_000;
/** The first process of the container: it ends when its input is closed, and all others end with it. */
const FIRST = 'echo started; exec cat >/dev/null';
/** Engines hand these on to containers, with the passwords in them. */
const PROXIES = ['http_proxy', 'https_proxy', 'ftp_proxy', 'no_proxy', 'all_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);
/** The program is the first of its group, whose number this leaves in a file. */
const LIMITED = `echo $$ >"$1"; unset ${PROXIES.join(' ')}; ulimit -c 0; ulimit -f "$2"; [ "$3" = 0 ] || ulimit -v "$3"; shift 3; exec "$@"`;
const KILL = 'kill -9 -"$(cat "$1")"';
const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin';

export class ContainerPrograms extends Programs {
  readonly #name: string;
  /** The engine with its own options, what stands between its "run" and the image, and the image. */
  readonly #engine: string[];
  readonly #options: string[];
  #first: ChildProcess | null = null;
  #count = 0;

  /** @param command that runs a container of the wanted image, as one types it: `docker run IMAGE` */
  constructor(folder: string, command: readonly string[]) {
    super(folder);
    this.#name = basename(folder);
    const run = command.indexOf('run');
    this.#engine = engineOf(command);
    this.#options = command.slice(run + 1);
  }

  /** Starts the container. @throws CopyUnavailable */
  override async confine(): Promise<'none'> {
    const user = USER.uid === undefined ? `${process.getuid?.()}:${process.getgid?.()}` : `${USER.uid}:${USER.gid}`;
    const own = [
      ...['run', '--rm', '--interactive', '--name', this.#name, '--pull', 'never', '--network', 'none', '--read-only'],
      ...['--cap-drop', 'all', '--security-opt', 'no-new-privileges', '--user', user],
      ...['--volume', `${this.folder}:${this.folder}`, '--workdir', this.folder, '--entrypoint', '/bin/sh'],
    ];
    const first = this.#execute([...own, ...this.#options, '-c', FIRST]);
    this.#first = first;
    let said = '';
    first.stderr?.on('data', (part) => {
      said = (said + part).slice(-4_000);
    });
    const why = await new Promise<string | null>((resolve) => {
      const timer = setTimeout(() => resolve(`did not start within ${START_MS / 1000} s.`), START_MS);
      const ends = (text: string | null) => {
        clearTimeout(timer);
        resolve(text);
      };
      first.stdout?.once('data', () => ends(null));
      first.once('error', ({ message }) => ends(`cannot be started: ${message}.`));
      first.once('close', () =>
        ends(`did not start: ${lastLine(said)} (images are not pulled: deploy/drill.Dockerfile makes one)`),
      );
    });
    if (why !== null) throw new CopyUnavailable(`The container of SITEFLEET_DRILL_CONTAINER ${why}`);
    return 'none';
  }

  protected override prefix(env: Record<string, string>, limits: readonly [string, string]): Prefix {
    const started = join(this.folder, 'run', String(++this.#count));
    const all = { PATH, HOME: this.folder, TMPDIR: this.folder, LANG: 'C.UTF-8', ...env };
    // In arguments, other users would see what is in it. A link that a page has put there is not followed.
    const lines = Object.entries(all).map(([name, value]) => `${name}=${value.replace(/[\r\n]/g, ' ')}\n`);
    writeFileSync(`${started}.env`, lines.join(''), { mode: 0o600, flag: 'wx' });
    return {
      command: [
        ...[...this.#engine, 'exec', '--interactive', '--workdir', this.folder, '--env-file', `${started}.env`],
        ...[this.#name, '/bin/sh', '-c', LIMITED, 'sh', `${started}.pid`, ...limits],
      ],
      env: undefined,
      limits: ['unlimited', '0'],
      user: {},
      // The client's end would not be that of the program.
      end: async () => {
        await hasEnded(this.#execute(['exec', this.#name, '/bin/sh', '-c', KILL, 'sh', `${started}.pid`]));
      },
    };
  }

  override async endAll(): Promise<void> {
    const first = this.#first;
    first?.stdin?.end();
    if (first !== null && !(await hasEnded(first))) await hasEnded(this.#execute(['rm', '--force', this.#name]));
    // Its programs are gone, and so are the clients that waited for them.
    await super.endAll();
  }

  #execute(args: readonly string[]): ChildProcess {
    return execute([...this.#engine, ...args]);
  }
}

/** Removes what a power cut has left of the container of a folder. @param command as above */
export async function removeContainer(command: readonly string[], folder: string): Promise<void> {
  await hasEnded(execute([...engineOf(command), 'rm', '--force', basename(folder)]));
}

function engineOf(command: readonly string[]): string[] {
  return ['env', ...PROXIES.flatMap((name) => ['-u', name]), ...command.slice(0, command.indexOf('run'))];
}

function execute([program = '', ...args]: readonly string[]): ChildProcess {
  const child = spawn(program, args, { detached: true });
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => undefined);
  return child;
}

/** Waits until it has ended; false = it has not. */
function hasEnded(child: ChildProcess): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(true);
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), END_MS);
    const done = () => {
      clearTimeout(timer);
      resolve(true);
    };
    child.once('exit', done);
    child.once('error', done);
  });
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
}
