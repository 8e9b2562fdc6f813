/** Kinds of alerts, what each reports, and the recipients they are sent to. */

import { once } from '../src/runtime/once.js';
import { z } from './zod.js';

const monitor = {
  url: z.string(),
  name: z.string(),
  http_code: z.number().int().nullable().describe('null = no answer.'),
  msg: z.string().describe('Why, in one sentence.'),
};
const certificate = {
  url: z.string(),
  name: z.string(),
  valid_to: z.string().nullable().describe('ISO 8601.'),
  days_left: z.number().int(),
  issuer: z.string().nullable(),
  problem: z.string(),
};
const domain = { domain_name: z.string(), site_ids: z.array(z.number().int()) };
const change = {
  slug: z.string(),
  change_id: z.string(),
  item: z.string().describe('Name of the plugin or theme.'),
  old_version: z.string(),
  new_version: z.string(),
  findings: z.string().describe('What was seen.'),
};
const registration = {
  ...domain,
  expiry_date: z.string().nullable().describe('ISO 8601.'),
  expires: z.number().int().describe('Days left, negative once expired.'),
  registrar: z.string().nullable(),
};

/** Every kind of alert: what it means, and the facts that come with it. */
export const ALERT_KINDS = {
  'monitor.down': {
    about: 'A site is down.',
    facts: z.object({
      ...monitor,
      since: z.string().nullable().describe('ISO 8601; null after it kept changing between up and down.'),
    }),
  },
  'monitor.up': { about: 'A site is up again.', facts: z.object(monitor) },
  'monitor.flapping': { about: 'A site keeps changing between up and down.', facts: z.object(monitor) },
  'certificate.expiring': { about: 'A certificate expires soon.', facts: z.object(certificate) },
  'certificate.expired': { about: 'A certificate has expired.', facts: z.object(certificate) },
  'certificate.invalid': { about: 'A certificate is not valid.', facts: z.object(certificate) },
  'domain.expiring': { about: 'A domain registration expires soon.', facts: z.object(registration) },
  'domain.expired': { about: 'A domain registration has expired.', facts: z.object(registration) },
  'domain.not_found': {
    about: 'The registry no longer knows a domain.',
    facts: z.object({ ...domain, problem: z.string() }),
  },
  'site.unhealthy': {
    about: "A site's health score is below the threshold.",
    facts: z.object({ health_score: z.number().int().nullable(), threshold: z.number().int().optional() }),
  },
  'site.http_check_failed': {
    about: "A site's front page or child plugin gave an unexpected answer after an update.",
    facts: z.object({
      http_status: z.number().int().describe('Status that `part` answered with; 0 = no answer.'),
      part: z.enum(['front_page', 'child_plugin']),
      items: z.string().describe('What was installed.'),
    }),
  },
  'update.broke_site': { about: 'An update broke a site, and rolling back did not help.', facts: z.object(change) },
  'update.suspect': {
    about: 'An update was kept, although the site may now have a problem.',
    facts: z.object(change),
  },
  'vulnerability.found': {
    about: 'A vulnerability became known in something a connected site has installed.',
    facts: z.object({
      url: z.string(),
      name: z.string(),
      type: z.enum(['plugin', 'theme', 'core']),
      slug: z.string(),
      item: z.string().describe('Name of the plugin or theme.'),
      version: z.string().describe('The installed version.'),
      count: z.number().int().describe('How many became known for it; the other fields describe the worst one.'),
      severity: z.string().nullable().describe('null = not rated.'),
      cve: z.string().nullable(),
      reference: z.string().nullable().describe('Where the entry is published.'),
      fixed_in: z.string().nullable().describe('null = no fixed version is known.'),
    }),
  },
  'vulnerability.summary': {
    about: 'Many vulnerabilities became known at once, or the feed was read for the first time.',
    facts: z.object({
      vulnerabilities: z.number().int(),
      critical: z.number().int().describe('How many of these are rated critical.'),
      items: z.number().int().describe('Plugins, themes and cores, counted per site.'),
      sites: z.number().int(),
      worst: z
        .array(z.object({ site: z.string(), item: z.string(), severity: z.string().nullable() }))
        .describe('The first of the items, most severe first: the site by its address, and name and version.'),
    }),
  },
  'approval.asked': {
    about: 'A change waits for the approval of a person.',
    facts: z.object({
      approval_id: z.string(),
      title: z.string().describe('What would be done.'),
      kind: z.string(),
      sites: z.number().int().nullable().describe('Number of sites; null = unknown.'),
      by: z.string().describe('Who asked.'),
      url: z.string().describe('Where to approve it, after logging in.'),
    }),
  },
  'backup.failed': {
    about: 'The daily database backup failed.',
    facts: z.object({
      reason: z.string().describe('Why, in one sentence.'),
      last_backup: z
        .string()
        .nullable()
        .describe('When the newest good backup was made, ISO 8601; null = there is none.'),
    }),
  },
  'site.backup_failed': {
    about: 'A scheduled backup of a site failed; repeated weekly until one succeeds.',
    facts: z.object({
      reason: z.string().describe('Why, in one sentence.'),
      last_backup: z.string().nullable().describe('When the newest one was made, ISO 8601; null = there is none.'),
      next_at: z.string().nullable().describe('When the next one is due, ISO 8601.'),
    }),
  },
  'site.drill_failed': {
    about: 'A trial restore of a backup did not match what was recorded about the site.',
    facts: z.object({
      backup_id: z.string(),
      made_at: z.string().describe('When the backup was made, ISO 8601.'),
      reason: z.string().describe('What differs.'),
    }),
  },
} as const;

export type AlertKindName = keyof typeof ALERT_KINDS;
export const ALERT_KIND_NAMES = Object.keys(ALERT_KINDS) as [AlertKindName, ...AlertKindName[]];

export const RECIPIENT_TYPES = ['webhook', 'slack', 'discord', 'teams', 'telegram', 'ntfy'] as const;
export type RecipientType = (typeof RECIPIENT_TYPES)[number];

const siteShape = once(() => z.object({ id: z.number().int(), name: z.string(), url: z.string() }));

/** The body of a webhook of one kind (Standard Webhooks). */
export function webhookBody(kind: AlertKindName) {
  return z.object({
    type: z.literal(kind),
    timestamp: z.string().describe('When it happened, ISO 8601.'),
    data: z.object({
      alert_id: z.number().int().describe('0 for a test.'),
      test: z.boolean().describe('Sent on request, with made-up facts.'),
      text: z.string().describe('What happened, in one sentence.'),
      site: siteShape().nullable().describe('null for a domain with several sites, and for a deleted site.'),
      link: z.string().nullable().describe('Where to see it, if the service has a public address.'),
      facts: ALERT_KINDS[kind].facts.partial(),
    }),
  });
}
