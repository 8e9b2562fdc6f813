/** Schemas of sites. */

import { once } from '../src/runtime/once.js';
import { bool, id, lineText, list, plainText, token } from './common.js';
import { z } from './zod.js';

export const siteStatus = once(() => z.enum(['connected', 'disconnected', 'suspended']));
export const siteStatusFilter = once(() =>
  z.enum(['any', 'connected', 'disconnected', 'suspended']).default('any').describe('Sites in this state.'),
);

const SCHEME = /https?:\/\//gi;

/** Name of a site as callers write it: one line, without a URL scheme (operations §5.3). */
export const siteName = once(() =>
  lineText(255).transform((text) => {
    let name = text;
    // Repeated: removing one may leave another, as in `hthttp://tp://`.
    while (name.search(SCHEME) >= 0) name = name.replace(SCHEME, '');
    return name.trim();
  }),
);

export const siteBasic = once(() => z.object({ id: z.number().int(), url: z.string(), name: z.string() }));

/** Fields that identify the site in outputs about its parts. */
export const siteHead = once(() => ({ site_id: z.number().int(), site_url: z.string() }));

export const siteStats = once(() =>
  z.object({
    plugin_updates: z.number().int(),
    theme_updates: z.number().int(),
    wp_update_available: z.boolean(),
    health_score: z.number().int().min(0).max(100).nullable(),
  }),
);

/** For a site that is not connected. */
const statusReason = once(() =>
  z.object({
    status_reason: z.string().nullable(),
    status_since: z.string().nullable().describe('null = unknown.'),
  }),
);

const misses = () => z.string().optional().describe('Reached, but without what its monitor looks for.');

/** The latest visit of a front page, by a check or a monitor. */
export const lastCheck = once(() =>
  z
    .object({
      reachable: z.boolean().nullable().describe('null = undecided.'),
      http_status: z.number().int().nullable(),
      misses: misses(),
      checked_at: z.string().nullable().describe('null = never.'),
    })
    .describe('Of the front page.'),
);

/** What lists say of a site beside its status; the newest visit only where it did not reach the site, or its monitor misses something. */
const standing = once(() => ({
  ...statusReason().extend({ status_reason: z.string() }).partial().shape,
  last_check: z
    .object({
      reachable: z.boolean().nullable(),
      http_status: z.number().int().nullable(),
      misses: misses(),
      checked_at: z.string(),
    })
    .optional(),
}));

export const siteListItem = once(() =>
  siteBasic().extend({ status: siteStatus(), client_id: z.number().int().nullable(), ...standing() }),
);

/** A site without its client, as in lists under a client or tag. */
export const siteOfOwner = once(() => siteBasic().extend({ status: siteStatus(), ...standing() }));

export const site = once(() =>
  siteListItem().extend({
    wp_version: z.string(),
    php_version: z.string(),
    last_sync: z.string().nullable().describe('ISO 8601 UTC.'),
    admin_username: z.string(),
    child_version: z.string(),
    notes: z.string(),
    ...statusReason().shape,
    last_check: lastCheck(),
    tags: z.array(z.object({ id: z.number().int(), name: z.string() })),
  }),
);

/** What can be changed of a site; absent members stay as they are. */
export const siteChange = once(() => ({
  name: siteName().optional().describe('Not blank.'),
  notes: plainText(65_535).optional().describe('Replaces the notes.'),
  client_id: id().nullable().optional().describe('null unassigns.'),
  tags: list(id()).optional().describe('REPLACES all tags by these ids; [] = none.'),
  add_tags: list(id()).optional().describe('Tag ids to add; others stay.'),
  remove_tags: list(id()).optional().describe('Tag ids to remove.'),
  url: z.string().max(2048).optional().describe('New address.'),
  http_user: z.string().max(255).optional().describe('"" clears.'),
  http_pass: z.string().max(1024).optional().describe('"" clears.'),
  ssl_verify: bool().optional().describe('Check TLS.'),
}));
export type SiteChange = z.output<z.ZodObject<ReturnType<typeof siteChange>>>;

/** What is said of a new site. */
export const newSite = once(() => ({
  url: z.string().max(2048).describe('Full address: https://example.com/'),
  admin: token(255).describe("Administrator's login."),
  admin_password: z.string().max(1024).optional().describe('Used once, never stored.'),
  unique_id: token(255).optional().describe('Unique security id.'),
  name: siteName().optional().describe('Default: its title.'),
  client_id: id().optional().describe('Owner.'),
  tags: list(id()).optional().describe('Tag ids.'),
  http_user: z.string().max(255).optional().describe('HTTP Basic login.'),
  http_pass: z.string().max(1024).optional().describe('Password.'),
  ssl_verify: bool().default(true).describe('Check TLS.'),
}));
export type NewSite = z.output<z.ZodObject<ReturnType<typeof newSite>>>;
