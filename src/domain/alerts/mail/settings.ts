/** Which mails are sent, to whom, and with which headings (REST §6.10.4). */

import {
  MAIL_KINDS,
  type MailKind,
  type MailSetting,
  type MailType,
  type mailChange,
} from '../../../../schemas/mail.js';
import type { z } from '../../../../schemas/zod.js';
import { ServiceError } from '../../../runtime/errors.js';
import type { SettingWrite } from '../../../store/settings/settings.js';
import type { Ctx } from '../../context.js';
import { checksAfterUpdate, dashboardZone } from '../../settings/effects.js';
import type { MailHead } from './alerts.js';
import type { MailLook } from './layout.js';

type Source = Pick<Ctx, 'store' | 'config'>;

/** What is stored for one mail; an absent member means the default. */
interface Stored {
  disable?: 0 | 1;
  heading?: string;
  subject?: string;
  recipients?: string[];
}

type MailChange = z.output<z.ZodObject<ReturnType<typeof mailChange>>>;

/** The mails that can be sent with the current configuration. */
export async function listMails(ctx: Source): Promise<MailSetting[]> {
  const [stored, afterUpdates] = await Promise.all([ctx.store.settings.group('emails.'), checksAfterUpdate(ctx)]);
  return (Object.entries(MAIL_KINDS) as [MailType, MailKind][])
    .filter(([, kind]) => kind.module === undefined || ctx.config.modules.includes(kind.module))
    .filter(([, kind]) => kind.afterUpdates !== true || afterUpdates)
    .map(([type, kind]) => view(type, kind, (stored.get(type) ?? {}) as Stored));
}

function view(type: MailType, kind: MailKind, stored: Stored): MailSetting {
  return {
    type,
    label: kind.label,
    description: kind.description,
    heading: stored.heading ?? kind.heading,
    subject: stored.subject ?? kind.subject,
    recipients: (stored.recipients ?? []).join(','),
    disable: stored.disable ?? 0,
  };
}

/** The time zone of mails, and our own page, if a public address leads to it. */
export async function mailLook(ctx: Source): Promise<MailLook> {
  const { base_url } = ctx.config;
  return { zone: await dashboardZone(ctx), page: base_url === null ? null : `${base_url}/` };
}

/**
 * Subject and recipients of one mail; null if it is off, unavailable, or has no recipients.
 * @param own recipients in place of those of the mail, comma-separated; '' = none
 */
export async function mailToSend(ctx: Source, type: MailType, own = ''): Promise<MailHead | null> {
  const mail = (await listMails(ctx)).find((entry) => entry.type === type);
  if (mail === undefined || mail.disable === 1) return null;
  const addresses = own === '' ? mail.recipients : own;
  if (addresses === '') return null;
  const recipients = addresses.split(',').map((address) => address.trim());
  return { subject: mail.subject, heading: mail.heading, recipients: recipients.filter((address) => address !== '') };
}

/** An absent member stays unchanged, null restores the default. Throws `invalid_mail_type` 404. */
export async function editMail(ctx: Ctx, type: string, change: MailChange): Promise<MailSetting> {
  const before = (await listMails(ctx)).find((entry) => entry.type === type);
  if (before === undefined) {
    const types = (await listMails(ctx)).map((entry) => entry.type);
    throw new ServiceError('invalid_mail_type', `There is no mail of the type ${JSON.stringify(type.slice(0, 60))}.`, {
      field: 'mail_type',
      advice: `Use one of ${types.join(', ')}. http_check needs check_http_response, some need their module.`,
    });
  }
  const key = `emails.${type}`;
  const stored = ((await ctx.store.settings.one(key)) ?? {}) as Record<string, unknown>;
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const merged = Object.fromEntries(
    Object.entries({ ...stored, ...Object.fromEntries(given) }).filter(([, value]) => value !== null),
  );
  const write: SettingWrite = { key, value: Object.keys(merged).length === 0 ? undefined : merged };
  await ctx.store.settings.write([write], ctx.clock.now());
  ctx.events.emit({ name: 'settings.changed', facts: { group: 'emails', fields: [type] } });
  const kind: MailKind = MAIL_KINDS[type as MailType];
  return view(type as MailType, kind, merged as Stored);
}
