/** `sitefleet import`: imports sites from another dashboard, another Sitefleet, or a list. */

import type { KeyObject } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { Ctx } from '../domain/context.js';
import { addRows, type RowsReport } from '../domain/import/add-rows.js';
import { importKey, makeImportKey } from '../domain/import/keys.js';
import { readFleet } from '../domain/import/read.js';
import { readRows, type SiteRow } from '../domain/import/rows.js';
import { type ImportReport, importFleet } from '../domain/import/run.js';
import { isFleetFile, openFile, parseFile, passphraseKey, type SealedFile } from '../domain/import/sealed.js';
import type { Config } from '../runtime/config/types.js';
import type { Progress } from '../runtime/progress.js';
import { askSecret, canAsk, readTextFile, secretFrom } from './ask.js';
import { CommandError } from './command-error.js';
import { importText, TRIAL_ADVICE } from './import-text.js';
import { withLocalService } from './local-service.js';
import { mainwpExporter } from './mainwp-exporter.js';
import { type JsonFlag, print, printJson, printTable, say } from './output.js';
import { type Bar, progressBar } from './progress.js';

export interface ImportFlags {
  dryRun?: boolean;
  parallel?: boolean;
  passwordFile?: string;
  passphraseFile?: string;
  json?: boolean;
}

/** Prints the program that exports a MainWP Dashboard, sealed for a key that is stored here. */
export async function printExporter(config: Config): Promise<void> {
  const { id, public_key, expires_at } = await withLocalService(config, makeImportKey);
  const expires = day(expires_at);
  process.stdout.write(mainwpExporter({ id, public_key, expires }));
  say(`Run this program on the server of the MainWP Dashboard before ${expires}:

  wp eval-file export.php > fleet.json      in the folder of its WordPress, or without WP-CLI:
  php export.php > fleet.json               or without a shell: see docs/import.md

Then bring the file here:

  sitefleet import fleet.json --dry-run     shows what would be imported
  sitefleet import fleet.json               imports the sites
  sitefleet import fleet.json --parallel    on trial, beside the other dashboard`);
}

/** Prints a public key for which another Sitefleet can seal its export. */
export async function printImportKey(config: Config): Promise<void> {
  const { id, public_key, expires_at } = await withLocalService(config, makeImportKey);
  print(`Key-Id: ${id}\n${public_key.trim()}`);
  say(`Good until ${day(expires_at)}. On the other side: sitefleet export fleet.json --to key.pem`);
}

function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ').concat(' UTC');
}

/** Imports a fleet file or a CSV list. Exit code 1 if rows or records were wrong, or the run was ended early. */
export async function importFrom(config: Config, file: string, flags: ImportFlags): Promise<void> {
  if (file === '-' && [flags.passwordFile, flags.passphraseFile].includes('-'))
    throw new CommandError('Standard input can be the file or the password, not both.');
  const content = file === '-' ? await text(process.stdin) : readTextFile(file);
  const bar = lazyBar();
  const report = await withLocalService(
    config,
    (ctx) => (isFleetFile(content) ? takeFleet(ctx, content, flags) : takeRows(ctx, content, flags)),
    bar.progress,
  ).finally(bar.stop);
  if (flags.json === true) printJson(report);
  else say(importText(report));
  if (report.invalid.length > 0 || report.pending.length > 0) process.exitCode = 1;
}

/** Drawn with the first site: before that, a password may be requested. */
function lazyBar(): { progress(progress: Progress): void; stop(): void } {
  let bar: Bar | undefined;
  return {
    progress({ total }) {
      bar ??= progressBar('Sites', total);
      bar.step();
    },
    stop: () => bar?.stop(),
  };
}

async function takeFleet(ctx: Ctx, content: string, flags: ImportFlags): Promise<ImportReport> {
  const file = parseFile(content);
  const fleet = readFleet(await openFile(file, await keyOf(ctx, file, flags)));
  return importFleet(ctx, fleet, { dryRun: flags.dryRun === true, parallel: flags.parallel === true });
}

async function keyOf(ctx: Ctx, file: SealedFile, flags: ImportFlags): Promise<KeyObject | Uint8Array> {
  if (file.scrypt === undefined) return importKey(ctx, file.key ?? '');
  if (flags.passphraseFile !== undefined) return passphraseKey(await secretFrom(flags.passphraseFile), file.scrypt);
  if (!canAsk())
    throw new CommandError(
      'The file is encrypted with a passphrase: give it with --passphrase-file FILE, or - for stdin.',
    );
  return passphraseKey(await askSecret('Passphrase of the file: ', ctx.signal), file.scrypt);
}

async function takeRows(ctx: Ctx, content: string, flags: ImportFlags): Promise<RowsReport> {
  if (flags.parallel === true) {
    throw new CommandError(
      '--parallel needs the keys of the other dashboard, which a list does not contain: connecting by password takes a site over. Use "sitefleet import mainwp".',
    );
  }
  const common = flags.passwordFile === undefined ? undefined : await secretFrom(flags.passwordFile);
  const passwordOf = async (row: SiteRow) => {
    if (row.password !== '') return row.password;
    if (common !== undefined) return common;
    // Without a terminal: a site whose administrator needs none is connected, the others report that it is missing.
    return canAsk() ? askSecret(`Password of ${row.admin} at ${row.url} (hidden): `, ctx.signal) : '';
  };
  return addRows(ctx, readRows(content), passwordOf, flags.dryRun === true);
}

/** Ends the trial of all sites: from now on they are changed from here. */
export async function finishImport(config: Config, options: JsonFlag & { dryRun?: boolean }): Promise<void> {
  const sites = await withLocalService(config, (ctx) =>
    options.dryRun === true ? ctx.store.siteImport.trial() : ctx.store.siteImport.finishTrial(),
  );
  const listed = sites.map(({ id, url, name }) => ({ site_id: id, url, name }));
  if (options.json === true) return printJson(options.dryRun === true ? { on_trial: listed } : { finished: listed });
  if (listed.length === 0) return say('No site is on trial.');
  printTable(
    ['ID', 'URL', 'Name'],
    listed.map((site) => Object.values(site)),
  );
  if (options.dryRun === true) say(TRIAL_ADVICE);
  else
    say(
      `The trial of ${listed.length} sites is over: they can be changed from here. Turn the other dashboard off, so that only one of them updates.`,
    );
}
