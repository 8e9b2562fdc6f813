/** Reads secrets for a command: typed on the terminal without echo, or from a file or standard input. */

import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CommandError } from './command-error.js';
import { messageOf } from './output.js';

/** Whether a user can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks on stderr; the input is not shown. */
export async function askSecret(question: string, signal?: AbortSignal): Promise<string> {
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await lines.question('', { ...(signal === undefined ? {} : { signal }) });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

/** A secret from a file, `-` for standard input; a single trailing line break is not part of it. */
export async function secretFrom(file: string): Promise<string> {
  const secret = (file === '-' ? await text(process.stdin) : readTextFile(file)).replace(/\r?\n$/, '');
  if (secret === '') throw new CommandError(`${file === '-' ? 'The standard input' : file} contains no password.`);
  return secret;
}

/** A file as text; a missing one is reported in one line. */
export function readTextFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${messageOf(error)}`);
  }
}
