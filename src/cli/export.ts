/** `sitefleet export`: the whole fleet, sealed, or its list in CSV. */

import { createWriteStream, existsSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ExportedSites, fleetCsv, fleetRecords } from '../domain/import/export.js';
import { type Recipient, recipientKey, sealFile } from '../domain/import/sealed.js';
import type { Config } from '../runtime/config/types.js';
import { VERSION } from '../runtime/version.js';
import { publish } from '../store/driver/files.js';
import { askSecret, canAsk, readTextFile, secretFrom } from './ask.js';
import { CommandError } from './command-error.js';
import { mustExist } from './database.js';
import { withLocalService } from './local-service.js';
import { drained, oneLine, say } from './output.js';

export interface ExportFlags {
  csv?: boolean;
  to?: string;
  passphraseFile?: string;
}

/** A passphrase that protects the keys of a whole fleet must not be guessable. */
const MIN_PASSPHRASE = 12;

/** Writes the file, or standard output without one. It appears whole or not at all, and never over another file. */
export async function exportFleet(config: Config, file: string | undefined, flags: ExportFlags): Promise<void> {
  mustExist(config);
  const to = flags.csv === true ? null : await recipientOf(flags);
  await withLocalService(config, async (ctx) => {
    let sites: ExportedSites = { written: 0, left_out: [] };
    const records = () => fleetRecords(ctx, VERSION, (all) => (sites = all));
    const pieces = to === null ? fleetCsv(ctx) : sealFile(records(), to);
    if (file === undefined) {
      for await (const piece of pieces) if (!process.stdout.write(piece)) await drained();
      return nameLeftOut(sites);
    }
    if (existsSync(file)) throw new CommandError(`${file} exists already. Choose another name.`);
    const partial = `${file}.${process.pid}.partial`;
    try {
      // Readable by its owner only.
      await pipeline(Readable.from(pieces), createWriteStream(partial, { flags: 'wx', mode: 0o600 }), {
        signal: ctx.signal,
      });
      publish(partial, file);
    } finally {
      rmSync(partial, { force: true });
    }
    const { written, left_out } = sites;
    const whose = left_out.length === 0 ? 'all sites' : `${written} of ${written + left_out.length} sites`;
    say(
      `Wrote ${file}.${to === null ? '' : ` It contains the encrypted keys of ${whose}; import it into another Sitefleet with "sitefleet import".`}`,
    );
    nameLeftOut(sites);
  });
}

/** Anyone who leaves with the file must know what is not in it. */
function nameLeftOut({ written, left_out }: ExportedSites): void {
  if (left_out.length === 0) return;
  process.exitCode = 1;
  say(
    `${left_out.length} of ${written + left_out.length} sites are not in it: their key is not stored, or a secret of theirs cannot be opened. "sitefleet check" names the secrets. Add these sites again, or import them there from a list ("sitefleet export --csv"):`,
  );
  for (const { id, url } of left_out) say(`  ${oneLine(url, 500)} (site ${id})`);
}

async function recipientOf({ to, passphraseFile }: ExportFlags): Promise<Recipient> {
  if (to !== undefined) return recipientKey(readTextFile(to));
  const passphrase = passphraseFile === undefined ? await typedTwice() : await secretFrom(passphraseFile);
  if (passphrase.length < MIN_PASSPHRASE)
    throw new CommandError(
      `A passphrase has at least ${MIN_PASSPHRASE} characters: it protects the keys of all sites.`,
    );
  return { passphrase };
}

async function typedTwice(): Promise<string> {
  if (!canAsk()) {
    throw new CommandError(
      'Choose how to encrypt the keys: --to KEY.pem (from "sitefleet import key" on the other side) or --passphrase-file FILE, - for stdin.',
    );
  }
  const passphrase = await askSecret('Passphrase for the file: ');
  if ((await askSecret('Once more: ')) !== passphrase) throw new CommandError('The two entries differ.');
  return passphrase;
}
