/** `sitefleet mail`: previews of mails, and the outbox. */

import { listOutbox, previewMail } from '../domain/alerts/mail/mail.js';
import type { Ctx } from '../domain/context.js';
import type { Config } from '../runtime/config/types.js';
import { localCaller } from './local-actor.js';
import { withService } from './local-service.js';
import { type JsonFlag, print, printJson, printTable, say } from './output.js';
import { stopSignal } from './stop.js';

const LISTED = 50;

function withCtx<T>(config: Config, work: (ctx: Ctx) => Promise<T>): Promise<T> {
  return withService(config, false, (service) => work(service.ctx(localCaller(stopSignal()))));
}

/** Prints a sample of one mail type as text, as HTML, or completely as JSON. */
export async function showMail(config: Config, type: string, options: JsonFlag & { html?: boolean }): Promise<void> {
  const mail = await withCtx(config, (ctx) => previewMail(ctx, type));
  if (options.json === true) return printJson(mail);
  say(`To       ${mail.recipients.length === 0 ? '(no one)' : mail.recipients.join(', ')}`);
  say(`Subject  ${mail.subject}`);
  if (!mail.sends) say(`Not sent: ${mail.reason}`);
  print(options.html === true ? mail.html : mail.text);
}

export async function showOutbox(config: Config, options: JsonFlag): Promise<void> {
  const rows = await withCtx(config, (ctx) => listOutbox(ctx, LISTED));
  if (options.json === true) return printJson(rows);
  const [first] = rows;
  if (first === undefined) return say('Nothing is queued.');
  const names = Object.keys(first) as (keyof typeof first)[];
  printTable(
    names,
    rows.map((row) => names.map((name) => (row[name] === null ? null : String(row[name])))),
  );
}
