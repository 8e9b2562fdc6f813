/** MCP servers on stdio, started the way an assistant starts them. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SECRET_KEY } from './database.js';
import { inherited } from './process.js';

export interface StdioCommand {
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** `sitefleet stdio` over a database in `dir`. */
export function stdioOurs(dir: string): StdioCommand {
  const home = join(dir, 'stdio');
  mkdirSync(home, { recursive: true });
  return {
    args: [fileURLToPath(new URL('../../../src/cli.js', import.meta.url)), 'stdio'],
    env: { XDG_DATA_HOME: home, XDG_CACHE_HOME: home, SITEFLEET_SECRET_KEY: SECRET_KEY, SITEFLEET_LOG_LEVEL: 'error' },
  };
}

/** URL of the database that `stdioOurs` uses. */
export function stdioDatabase(dir: string): string {
  return `file:${join(dir, 'stdio', 'sitefleet', 'sitefleet.db')}`;
}

/** A server that answers every request with the same bytes. */
export function stdioBytes(answer: { result: object }): StdioCommand {
  const file = fileURLToPath(new URL('./stdio-bytes.js', import.meta.url));
  return { args: [file], env: { BENCH_RESULT: JSON.stringify(answer) } };
}

/** A server process and the requests waiting for its answers. */
export class StdioProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, { resolve(line: string): void; reject(error: Error): void }>();
  #parts: string[] = [];

  constructor({ args, env }: StdioCommand) {
    const child = spawn(process.execPath, [...args], { env: { ...inherited(), ...env }, stdio: 'pipe' });
    this.#child = child;
    child.stderr.pipe(process.stderr);
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => this.#receive(chunk));
    child.once('exit', (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${args.join(' ')} ended with ${code}.`));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Sends a request; returns the answer with that id as a line of text. */
  request(message: string, id: number): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdin.write(`${message}\n`);
    });
  }

  notify(message: string): void {
    this.#child.stdin.write(`${message}\n`);
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()));
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 3_000);
    await exited;
    clearTimeout(timer);
  }

  #receive(chunk: string): void {
    this.#parts.push(chunk);
    if (!chunk.includes('\n')) return;
    const lines = this.#parts.join('').split('\n');
    this.#parts = [lines.pop() ?? ''];
    for (const line of lines) this.#answer(line);
  }

  /** The id is at the start or at the end: parsing 100 KB in full would dominate the measurement. */
  #answer(line: string): void {
    const id = /^\{"jsonrpc":"2.0","id":(\d+)/.exec(line)?.[1] ?? /"id":(\d+)\}$/.exec(line)?.[1];
    if (id === undefined) return;
    const waiting = this.#waiting.get(Number(id));
    this.#waiting.delete(Number(id));
    if (/"isError":true|"error":\{/.test(line.slice(0, 300))) waiting?.reject(new Error(line.slice(0, 300)));
    else waiting?.resolve(line);
  }
}
