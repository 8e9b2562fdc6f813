/** `sitefleet log …`: whether the action log is what was written, and the log as JSON lines. */

import { actionLines } from '../domain/action-log/list.js';
import { verifyLog } from '../domain/action-log/verify.js';
import type { Config } from '../runtime/config/types.js';
import type { ChainHead } from '../store/action-log/chain.js';
import { CommandError } from './command-error.js';
import { mustExist } from './database.js';
import { withLocalService } from './local-service.js';
import { drained, type JsonFlag, print, printJson } from './output.js';

const PAGE = 1_000;

export async function verify(config: Config, { head, json }: JsonFlag & { head?: string }): Promise<void> {
  mustExist(config);
  const expected = head === undefined ? undefined : headOf(head);
  const verdict = await withLocalService(config, (ctx) => verifyLog(ctx, expected));
  if (json === true) printJson(verdict);
  else {
    const { valid, problem, rows, pruned_through: pruned, head: end } = verdict;
    print(valid ? `The log is sound: ${rows} entries.` : `THE LOG WAS TAMPERED WITH: ${problem}`);
    if (pruned > 0) print(`Entries up to ${pruned} were deleted for their age.`);
    if (end !== null) print(`${valid ? 'Its head' : 'Sound up to'}: ${end.id}:${end.hash}`);
  }
  if (!verdict.valid) process.exitCode = 1;
}

function headOf(text: string): ChainHead {
  const [, id, hash = ''] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (id === undefined)
    throw new CommandError(
      `--head ${JSON.stringify(text)} is not an id and hash such as 812:3fa4… with all 64 digits.`,
    );
  return { id: Number(id), hash };
}

export async function exportLog(config: Config, { ocsf, after }: { ocsf?: boolean; after: number }): Promise<void> {
  mustExist(config);
  await withLocalService(config, async (ctx) => {
    for (let from = after; !ctx.signal.aborted; ) {
      const { lines, last } = await actionLines(ctx, ocsf === true ? 'ocsf' : 'jsonl', from, PAGE);
      for (const line of lines) if (!process.stdout.write(`${line}\n`)) await drained();
      if (lines.length === 0) return;
      from = last;
    }
  });
}
