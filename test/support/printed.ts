/** What a command of the shell prints, run in this process. */

import { vi } from 'vitest';
import { setCommand } from '../../src/cli/current-command.js';

/** @param name of the command, as it is logged @param streams what counts; default: both */
export async function shown(
  name: string,
  command: () => Promise<void>,
  streams: readonly NodeJS.WriteStream[] = [process.stdout, process.stderr],
): Promise<string> {
  const lines: string[] = [];
  const take = (text: unknown) => {
    lines.push(String(text));
    return true;
  };
  const outputs = streams.map((output) => vi.spyOn(output, 'write').mockImplementation(take));
  try {
    setCommand({ name, arguments: [], options: {} });
    await command();
  } finally {
    for (const output of outputs) output.mockRestore();
  }
  return lines.join('');
}

/** As JSON. */
export async function printed(name: string, command: () => Promise<void>) {
  return JSON.parse(await shown(name, command, [process.stdout]));
}
