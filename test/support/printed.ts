/** What a command of the shell prints, run in this process. */

import { vi } from 'vitest';
import { setCommand } from '../../src/cli/current-command.js';

/** On either output. @param name of the command, as it is logged */
export async function shown(name: string, command: () => Promise<void>): Promise<string> {
  const lines: string[] = [];
  const take = (text: unknown) => {
    lines.push(String(text));
    return true;
  };
  const outputs = [process.stdout, process.stderr].map((output) => vi.spyOn(output, 'write').mockImplementation(take));
  try {
    setCommand({ name, arguments: [] });
    await command();
  } finally {
    for (const output of outputs) output.mockRestore();
  }
  return lines.join('');
}

/** As JSON. */
export async function printed(name: string, command: () => Promise<void>) {
  return JSON.parse(await shown(name, command));
}
