/** `sitefleet backups`: what concerns the repository of the sites' backups, in the shell of the machine. */

import { pipeline } from 'node:stream/promises';
import { adoptBackups, forgetLost } from '../domain/backups/adopt.js';
import { exportBackup, openArchive } from '../domain/backups/archive.js';
import { checkBackups } from '../domain/backups/check.js';
import type { Config } from '../runtime/config/types.js';
import { secretFrom } from './ask.js';
import { CommandError } from './command-error.js';
import { withLocalService } from './local-service.js';
import { type JsonFlag, oneLine, print, printJson, say } from './output.js';

/** Prints what is needed to read the backups without this installation. It is a secret. */
export async function recoverySheet(config: Config): Promise<void> {
  const { place, key } = await withLocalService(config, async ({ backupStorage }) => ({
    place: backupStorage.place,
    key: await backupStorage.key(),
  }));
  print(`Sitefleet: recovery sheet of the backups of sites

Place     ${place}
Key       ${key.match(/.{8}/g)?.join(' ')}

Anyone with both the key and the stored backups can read all of them. Without the key nobody can, not even Sitefleet.
Another installation reads them after: sitefleet backups use-key FILE`);
  say('Keep it apart from the backups: on paper, or in a password manager.');
}

/**
 * Takes over the repository of another installation: its key is stored here, and its index is made again.
 * @param file that contains the key, `-` for standard input
 */
export async function useKey(config: Config, file: string): Promise<void> {
  const key = (await secretFrom(file)).replace(/\s/g, '');
  if (!/^[0-9a-f]{64}$/.test(key)) throw new CommandError('A key has 64 hex digits: copy it from the recovery sheet.');
  const { packs, damage, adopted } = await withLocalService(config, async (ctx) => {
    await ctx.backupStorage.useKey(key);
    const index = await (await ctx.backupStorage.open()).rebuildIndex();
    return { ...index, adopted: await adoptBackups(ctx) };
  });
  say(
    `The key opens the repository. ${adopted} backups were found in it; ${damage.length} of ${packs + damage.length} packs cannot be read.`,
  );
  for (const { pack, problem } of damage) say(`${pack}: ${problem}`);
}

/**
 * From now on backups are in the repository at the configured place, whichever they were in before. One is made where there is
 * none.
 */
export async function usePlace(config: Config): Promise<void> {
  const { id, adopted, lost, place } = await withLocalService(config, async (ctx) => {
    const repository = await ctx.backupStorage.usePlace();
    const [found, gone] = [await adoptBackups(ctx), await forgetLost(ctx)];
    return { id: repository.id, adopted: found, lost: gone, place: ctx.backupStorage.place };
  });
  say(`Backups are now in repository ${id}, ${place}. ${adopted} backups were found in it.`);
  if (lost > 0)
    say(
      `${lost} earlier backups are not in it and are no longer listed. To list them again, run this command with their place configured.`,
    );
}

/** Writes a backup to standard output as a plain archive. */
export async function exportArchive(config: Config, id: string): Promise<void> {
  if (process.stdout.isTTY) throw new CommandError('An archive is not for a terminal: add "> FILE".');
  await withLocalService(config, async (ctx) => {
    const { stream } = await openArchive(ctx.backupStorage, await exportBackup(ctx, id), ctx.signal);
    await pipeline(stream, process.stdout, { end: false });
  });
}

/** Checks the repository; exit code 1 if something is damaged or missing. @param sample percent of the packs that are read */
export async function check(
  config: Config,
  { sample = 100, repair = false, json }: JsonFlag & { sample?: number; repair?: boolean },
): Promise<void> {
  const result = await withLocalService(config, (ctx) => checkBackups(ctx, sample, repair));
  if (!result.sound) process.exitCode = 1;
  if (json === true) return printJson(result);
  const { packs, packs_read, bytes_read, backups, problems, lost_chunks } = result;
  print(
    `${packs_read} of ${packs} packs were read, ${bytes_read} bytes, and the lists of ${backups} backups. ${problems.length} problems.`,
  );
  for (const { what, problem, backups: concerned, backups_count } of problems) {
    print(`${what}: ${problem} It affects ${backups_count} backups.`);
    for (const { backup_id, site_url, made_at } of concerned)
      print(`  ${backup_id}  ${made_at ?? 'not known here'}  ${oneLine(site_url, 200)}`);
  }
  if (lost_chunks === 0) return;
  print(
    repair
      ? 'Damaged packs were replaced. Back the sites up again: what they still have is stored again, for the older backups too.'
      : 'Repeat it with --repair, then back the sites up again: what they still have is stored again, for the older backups too.',
  );
}
