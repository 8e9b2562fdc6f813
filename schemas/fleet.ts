/**
 * Schemas of a fleet file: sites with their connections and related records, for transfer between dashboards. Limits
 * are those of adding a site manually: text from a file is data like any other.
 */

import { once } from '../src/runtime/once.js';
import { clientDetails, clientEmail, clientNameInput } from './client.js';
import { lineText, plainText, token } from './common.js';
import { newCost } from './cost.js';
import { email, SITE_EMAILS } from './email.js';
import {
  interval,
  MONITOR_METHODS,
  MONITOR_TYPES,
  MOST_RETRIES,
  monitorKeyword,
  statusCodes,
  timeout,
} from './monitoring.js';
import { siteName } from './site.js';
import { tagColorInput, tagNameInput } from './tag.js';
import { cleanLine } from './text.js';
import { z } from './zod.js';
import { bounded } from './zod-internals.js';

const IGNORABLE = ['core', 'plugin', 'theme'] as const;

/** `version` `*` = every version. */
export const fleetIgnored = once(() =>
  z.object({
    type: z.enum(IGNORABLE),
    slug: token(255).pipe(z.string().min(1)),
    name: lineText(255).transform((text) => cleanLine(text, 255)),
    version: token(100).pipe(z.string().min(1)),
  }),
);

/** null = the global setting applies. */
export const fleetMonitor = once(() =>
  z.object({
    active: z.boolean().nullable(),
    interval: interval().nullable(),
    timeout: timeout().nullable(),
    maxretries: z.number().int().min(0).max(MOST_RETRIES).nullable(),
    type: z.enum(MONITOR_TYPES).nullable(),
    method: z.enum(MONITOR_METHODS).nullable(),
    expected_status: statusCodes().nullable(),
    keyword: monitorKeyword().nullable(),
  }),
);

/** A name by which records of one file refer to each other; it means nothing outside it. */
const key = once(() => z.string().min(1).max(300));

/** A file is not of this service's making: no sign in a name of it turns or hides text. */
const fileName = once(() => siteName().transform((text) => cleanLine(text, 255)));

const site = once(() => ({
  url: z.string().min(1).max(2048),
  admin: token(255).pipe(z.string().min(1, 'must not be blank')),
  name: fileName(),
  unique_id: token(255),
  http_user: z.string().max(255).nullable(),
  http_pass: z.string().max(1024).nullable(),
  ssl_verify: z.boolean(),
  ssl_version: z.union([z.literal(0), z.literal(6), z.literal(7)]),
  tags: bounded(z.array(tagNameInput()).max(1000)),
}));

const emailList = once(() =>
  bounded(z.array(email(SITE_EMAILS.length, 'must be an e-mail address')).max(SITE_EMAILS.most)),
);

/** What is stored of a site as it is in the file. */
export const fleetDetails = once(() => ({
  force_use_ipv4: z.number().int().min(0).max(2),
  notes: plainText(65_535),
  suspended: z.boolean(),
  automatic_update: z.boolean(),
  backup_before_upgrade: z.number().int().min(0).max(2),
  disable_health_checking: z.number().int().min(0).max(2),
  health_threshold: z.number().int().min(0).max(100),
  monitoring_emails: z
    .string()
    .max(SITE_EMAILS.most * (SITE_EMAILS.length + 10))
    .transform((list) =>
      list
        .split(',')
        .map((part) => part.trim())
        .join(','),
    )
    .refine(
      (list) => list === '' || emailList().safeParse(list.split(',')).success,
      `must be at most ${SITE_EMAILS.most} e-mail addresses, comma-separated`,
    ),
  ignore_core: z.boolean(),
  ignore_plugins: z.boolean(),
  ignore_themes: z.boolean(),
}));

export const fleetSite = once(() =>
  z.object({
    ...site(),
    key: key(),
    private_key: z.string().min(1, 'is missing').max(20_000),
    regverify: token(1024).nullable(),
    client: key().nullable(),
    ...fleetDetails(),
    ignored: z.array(fleetIgnored()).max(5000),
    monitor: fleetMonitor(),
    /** Why this service may not contact the site while another dashboard uses it; '' = no reason. */
    trial_obstacle: z.string().max(500),
  }),
);

/** A row of a CSV file: a site to connect with its administrator's password. */
export const fleetRow = once(() => z.object({ ...site(), password: z.string().max(1024) }));

export const fleetTag = once(() => z.object({ key: key(), name: tagNameInput(), color: tagColorInput().nullable() }));

export const fleetClient = once(() =>
  z.object({
    key: key(),
    name: clientNameInput(),
    client_email: z.union([clientEmail(), z.literal('')]),
    ...clientDetails(),
    suspended: z.boolean(),
  }),
);

/** Targets by the keys of the file. */
export const fleetCost = once(() =>
  newCost()
    .omit({ sites: true, groups: true, clients: true })
    .extend({ sites: z.array(key()), tags: z.array(key()), clients: z.array(key()) })
    .strict(),
);

/** The origin of a fleet file. */
export const fleetSource = once(() =>
  z.object({
    product: z.enum(['mainwp', 'sitefleet']),
    version: z.string().max(50),
    url: z.string().max(2048),
  }),
);

export type FleetDetails = z.output<z.ZodObject<ReturnType<typeof fleetDetails>>>;
export type FleetSite = z.output<ReturnType<typeof fleetSite>>;
export type FleetRow = z.output<ReturnType<typeof fleetRow>>;
export type FleetTag = z.output<ReturnType<typeof fleetTag>>;
export type FleetClient = z.output<ReturnType<typeof fleetClient>>;
export type FleetCost = z.output<ReturnType<typeof fleetCost>>;
export type FleetIgnored = z.output<ReturnType<typeof fleetIgnored>>;
export type FleetMonitor = z.output<ReturnType<typeof fleetMonitor>>;
export type FleetSource = z.output<ReturnType<typeof fleetSource>>;
