/** `sitefleet alert`: the recipients of alerts, and a test message to them. */

import { randomBytes } from 'node:crypto';
import { deliver, previewMail } from '../domain/alerts/mail/mail.js';
import { listRecipients, MOST_RECIPIENTS } from '../domain/alerts/recipients.js';
import { audienceOf, type TestOutcome, testRecipient } from '../domain/alerts/test-alert.js';
import { isAlertKind } from '../domain/alerts/words.js';
import type { Ctx } from '../domain/context.js';
import type { Config } from '../runtime/config/types.js';
import { CommandError } from './command-error.js';
import { withLocalService } from './local-service.js';
import { type JsonFlag, messageOf, printJson, printTable, say } from './output.js';

interface Outcome extends Omit<TestOutcome, 'recipient_id'> {
  /** Null for mail. */
  recipient_id: number | null;
}

/** Sends a test alert to all recipients now. Exit code 1 if a delivery failed, or there is no recipient. */
export async function testAlerts(config: Config, options: JsonFlag & { kind: string }): Promise<void> {
  const { kind } = options;
  if (!isAlertKind(kind))
    throw new CommandError(`There is no alert of the kind ${kind}. "mail preview" names them all.`);
  const { outcomes, warning } = await withLocalService(config, async (ctx) => {
    const audience = await audienceOf(ctx);
    const outcomes: Outcome[] = [];
    for (const id of audience.recipients) outcomes.push(await testRecipient(ctx, id, kind));
    if (audience.addresses.length > 0) outcomes.push(await testMail(ctx, kind, audience.addresses));
    return { outcomes, warning: audience.warning };
  });
  if (options.json === true) printJson(outcomes);
  else
    printTable(
      ['Recipient', 'Type', 'Delivered', 'Error'],
      outcomes.map(({ recipient, type, delivered, error }) => [recipient, type, delivered, error]),
    );
  if (warning !== '') say(warning);
  if (outcomes.length === 0 || outcomes.some(({ delivered }) => !delivered)) process.exitCode = 1;
}

async function testMail(ctx: Ctx, kind: string, addresses: readonly string[]): Promise<Outcome> {
  const { subject, text, html } = await previewMail(ctx, kind);
  const base = { recipient_id: null, recipient: addresses.join(', '), type: 'mail' };
  try {
    const messageId = `<test.${randomBytes(12).toString('hex')}@sitefleet.invalid>`;
    await deliver(ctx, { messageId, to: addresses, subject: `Test: ${subject}`, text, html });
    return { ...base, delivered: true, error: '' };
  } catch (error) {
    return { ...base, delivered: false, error: messageOf(error) };
  }
}

export async function showRecipients(config: Config, options: JsonFlag): Promise<void> {
  const { items, addresses, warning } = await withLocalService(config, async (ctx) => ({
    ...(await listRecipients(ctx, 1, MOST_RECIPIENTS)),
    ...(await audienceOf(ctx)),
  }));
  if (options.json === true) return printJson({ recipients: items, addresses });
  const mails = addresses.map((address) => ['', address, 'mail', '', '', '', '', '']);
  printTable(
    ['Id', 'Name', 'Type', 'Kinds', 'Sites', 'Quiet', 'Active', 'Last error'],
    [
      ...items.map((one) => [
        one.id,
        one.name,
        one.type,
        one.kinds.join(', ') || 'all',
        one.sites.join(', ') || 'all',
        one.quiet_from === null ? '' : `${one.quiet_from}–${one.quiet_to}`,
        one.active,
        one.last_error,
      ]),
      ...mails,
    ],
  );
  if (warning !== '') say(warning);
}
