/** Schemas of the mail settings (REST §6.10.4). */

import { once } from '../src/runtime/once.js';
import { listMembers } from './lists.js';
import { onOff } from './settings.js';
import { z } from './zod.js';
import { bounded } from './zod-internals.js';

export interface MailKind {
  label: string;
  description: string;
  heading: string;
  subject: string;
  /** Only if this module is on. */
  module?: 'ssl-monitor' | 'domain-monitor';
  /** Only if sites are visited after updates. */
  afterUpdates?: true;
}

/** The subject that says what happened: nothing but the sentence of the mail. */
const EVENT = '[event]';

export const MAIL_KINDS = {
  daily_digest: {
    label: 'Daily digest',
    description: 'Once a day: what needs attention, pending updates, and what was done.',
    heading: 'Daily digest',
    subject: 'Daily digest of your sites',
  },
  uptime: {
    label: 'Uptime',
    description: 'A monitored site went down, or came back up.',
    heading: 'Uptime',
    subject: EVENT,
  },
  site_health: {
    label: 'Site health',
    description: "A site's health score fell below the threshold.",
    heading: 'Site health',
    subject: EVENT,
  },
  deactivated_license_alert: {
    label: 'Deactivated licence',
    description:
      'The licence of an extension was deactivated. This service has no licensed extensions, so it is never sent.',
    heading: 'Deactivated licence',
    subject: 'A licence was deactivated',
  },
  http_check: {
    label: 'Check after updates',
    description: 'A site answered with an unexpected HTTP status after an update.',
    heading: 'Check after updates',
    subject: EVENT,
    afterUpdates: true,
  },
  ssl_certificate: {
    label: 'Certificates',
    description: 'A certificate is about to expire, or became invalid.',
    heading: 'Certificates',
    subject: EVENT,
    module: 'ssl-monitor',
  },
  domain_expiry: {
    label: 'Domains',
    description: 'A domain registration is about to expire, has expired, or is gone.',
    heading: 'Domains',
    subject: EVENT,
    module: 'domain-monitor',
  },
  vulnerability: {
    label: 'Vulnerabilities',
    description: 'A vulnerability became known in something a site has installed. Needs a vulnerability feed.',
    heading: 'Known vulnerability',
    subject: EVENT,
  },
  approval: {
    label: 'Approvals',
    description: 'A change waits for the approval of a person. Sent only if the rules of approvals ask for any.',
    heading: 'Approval needed',
    subject: EVENT,
  },
  backup: {
    label: 'Backups',
    description: 'The daily backup of the database, a scheduled one of a site, or a trial restore failed.',
    heading: 'Backup failed',
    subject: EVENT,
  },
} as const satisfies Record<string, MailKind>;

export type MailType = keyof typeof MAIL_KINDS;

const ADDRESS =
  /^[^\s@<>,;"()[\]\\\p{Cc}]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,63}$/u;

/** Addresses as comma-separated text or list: at most 20, without repeats. */
const recipients = once(() =>
  z.preprocess(listMembers, bounded(z.array(z.string().max(254).regex(ADDRESS, 'is not an e-mail address')).max(20))),
);

/** Headers of a mail: one line. */
const line = once(() =>
  z
    .string()
    .trim()
    .max(255)
    .regex(/^\P{Cc}*$/u, 'must be one line without control characters'),
);

const cleared = <T extends z.ZodTypeAny>(schema: T) =>
  z.preprocess((value) => (value === '' ? null : value), schema.nullable()).optional();

/** Parameters of an edit: omitted = unchanged, null or "" = default. */
export const mailChange = once(() => ({
  disable: cleared(onOff()).describe('1 = this mail is not sent.'),
  heading: cleared(line()).describe('First line of the mail; may contain tokens such as [site.name].'),
  subject: cleared(line()).describe(
    'Subject; may contain tokens: [event] = what happened, [site.name], [site.url]. Without [event] it is added.',
  ),
  recipients: cleared(recipients()).describe('Up to 20 addresses, separated by commas. Without any, nothing is sent.'),
}));

export const mailSetting = once(() =>
  z.object({
    type: z.string(),
    label: z.string(),
    description: z.string(),
    heading: z.string(),
    subject: z.string(),
    recipients: z.string(),
    disable: z.number().int(),
  }),
);
export type MailSetting = z.output<ReturnType<typeof mailSetting>>;
