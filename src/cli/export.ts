/** `sitefleet export`: the whole fleet, sealed, or its list in CSV. */

import { createWriteStream, existsSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fleetCsv, fleetRecords } from '../domain/import/export.js';
import { type Recipient, recipientKey, sealFile } from '../domain/import/sealed.js';
import type { Config } from '../runtime/config/types.js';
import { VERSION } from '../runtime/version.js';
import { publish } from '../store/driver/files.js';
import { askSecret, canAsk, readTextFile, secretFrom } from './ask.js';
import { CommandError } from './command-error.js';
import { mustExist } from './database.js';
import { withLocalService } from './local-service.js';
import { drained, say } from './output.js';

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
    const pieces = to === null ? fleetCsv(ctx) : sealFile(fleetRecords(ctx, VERSION), to);
    if (file === undefined) {
      for await (const piece of pieces) if (!process.stdout.write(piece)) await drained();
      return;
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
    say(
      `Wrote ${file}.${to === null ? '' : ' It contains the encrypted keys of all sites; import it into another Sitefleet with "sitefleet import".'}`,
    );
  });
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
