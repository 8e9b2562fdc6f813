/** Routes of safe updates: the guard of a site, updates that are rolled back if they break it, quarantine (REST §7). */

import {
  adminLogin,
  guardChanges,
  guardInstall,
  itemType,
  loginChanges,
  protection,
  quarantinedVersion,
  quarantineScope,
  removedGuard,
  rollBackChanges,
  rolledBack,
  safeUpdate,
  siteGuard,
  siteSnapshots,
} from '../../../../schemas/safety.js';
import { siteWord } from '../../../../schemas/site-text.js';
import { z } from '../../../../schemas/zod.js';
import { integerOrText } from '../../../../schemas/zod-internals.js';
import { adminLogin as loginTo } from '../../../domain/updates/safe/admin-login.js';
import { liftQuarantine, quarantinedVersions, setQuarantineScope } from '../../../domain/updates/safe/quarantine.js';
import { plannedRollBack, rollBack, siteSnapshots as snapshotsOf } from '../../../domain/updates/safe/roll-back.js';
import { safeUpdateSite } from '../../../domain/updates/safe/safe-update-site.js';
import { siteGuard as guardOf, installGuard, removeGuard } from '../../../domain/updates/safe/site-guard.js';
import { safeUpdateHistory } from '../../../domain/updates/safe/update-history.js';
import { csv, flag, paging, slugs, text } from '../params.js';
import { type Route, route } from '../route.js';
import { safeChangeShape } from '../schemas/fleet.js';
import { listOf, recordOf, withSite, writtenOf } from '../schemas/records.js';
import { siteRoute } from '../sites/references.js';

const GUARD = '/sites/{id_or_domain}/guard' as const;

const versionKey = () => ({
  type: z.enum(['core', 'plugin', 'theme', 'translation']),
  slug: text(512, 1).describe('Exact slug.'),
  version: text(100, 1).describe('Exact version.'),
});

/** Not in the routes document. */
export const safetyExtra: readonly Route[] = [
  siteRoute({
    on: `GET ${GUARD}`,
    live: true,
    summary: "Read a site's guard",
    description:
      'The guard keeps copies of plugins and themes, and rolls back what breaks the site. Asks the site now.',
    returns: () => recordOf(siteGuard()),
    answer: async (ctx, site) => ({ data: await guardOf(ctx, site.id) }),
  }),
  siteRoute({
    on: `POST ${GUARD}`,
    change: guardChanges,
    summary: 'Install the guard on a site, or renew it',
    description: 'A must-use plugin, installed through the MainWP Child plugin. dry_run only describes the steps.',
    params: () => ({
      allow_login: flag()
        .optional()
        .describe('Whether logins by token are allowed. Default: unchanged; a new guard does not allow them.'),
      dry_run: flag().default(false),
    }),
    returns: () => writtenOf(guardInstall()).extend(withSite()),
    async answer(ctx, site, { allow_login, dry_run }) {
      const data = await installGuard(ctx, site.id, allow_login, dry_run);
      const message = dry_run ? 'Nothing was changed.' : 'The guard is installed.';
      return { message, data };
    },
  }),
  siteRoute({
    on: `DELETE ${GUARD}`,
    change: 'deletions',
    summary: "Remove a site's guard and its snapshots",
    returns: () => writtenOf(removedGuard()).extend(withSite()),
    answer: async (ctx, site) => ({ message: 'The guard was removed.', data: await removeGuard(ctx, site.id) }),
  }),
  siteRoute({
    on: 'POST /sites/{id_or_domain}/admin-login',
    change: loginChanges,
    summary: 'Get a one-time login link to WordPress',
    description:
      "Created by the guard if it was installed with allow_login; recorded in the action log. Otherwise 409 with data.login_page, the site's own login page.",
    fails: [409],
    params: () => ({
      user: text(200, 1)
        .optional()
        .describe('Login name of an administrator. Default: the one the site is connected with.'),
      set_up: flag()
        .default(false)
        .describe(
          'Consent: where logins by token are not possible yet, the guard is first installed with allow_login.',
        ),
    }),
    returns: () => writtenOf(adminLogin()).extend(withSite()),
    async answer(ctx, site, { user, set_up }) {
      return { message: 'Open the link within a minute.', data: await loginTo(ctx, site.id, user, set_up) };
    },
  }),
  siteRoute({
    on: 'GET /sites/{id_or_domain}/snapshots',
    live: true,
    summary: "List a site's snapshots",
    returns: () => recordOf(siteSnapshots()),
    answer: async (ctx, site) => ({ data: await snapshotsOf(ctx, site.id) }),
  }),
  siteRoute({
    on: 'GET /sites/{id_or_domain}/safe-updates',
    summary: 'List protected updates of a site, step by step',
    description: 'Works while they are running, too. The guard is shown as last seen: the site is not asked.',
    params: () => paging(20, 100),
    returns: () => listOf(safeChangeShape()).extend({ guard: siteGuard(), ...withSite() }),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    async answer(ctx, site, { page, per_page }) {
      const { items, total, guard } = await safeUpdateHistory(ctx, site.id, page, per_page);
      return { total, page, per_page, data: items, guard };
    },
  }),
  siteRoute({
    on: 'POST /sites/{id_or_domain}/safe-update',
    change: 'updates',
    fails: [504],
    summary: 'Update a site item by item and roll back what breaks it',
    description: 'Checks the site before and after. Without a guard the protection is weaker; dry_run shows it.',
    params: () => ({
      types: csv(z.enum(['core', 'plugins', 'themes', 'translations']))
        .default([])
        .describe('Default: all.'),
      slug: slugs().default([]).describe('One slug or a comma-separated list. Default: all.'),
      on_suspect: z
        .enum(['keep', 'roll_back'])
        .default('keep')
        .describe('What to do if pages look different, or other files or data changed.'),
      least_protection: protection().default('reinstall').describe('Items with less protection are skipped.'),
      paths: csv(text(300), 10).default([]).describe('Up to 10 more pages to check.'),
      dry_run: flag().default(false),
    }),
    returns: () =>
      writtenOf(safeUpdate().omit({ errors: true })).extend({ ...withSite(), errors: safeUpdate().shape.errors }),
    async answer(ctx, site, { slug, ...input }) {
      const { errors, ...data } = await safeUpdateSite(ctx, site.id, { ...input, specific_items: slug });
      const message = input.dry_run
        ? `${data.planned.length} updates would be applied. Nothing was changed.`
        : `${data.updated.length} updates were applied, ${errors.length} were not.`;
      return { message, data, errors };
    },
  }),
  siteRoute({
    on: 'POST /sites/{id_or_domain}/rollback',
    change: rollBackChanges,
    plan: (ctx, site, input) => plannedRollBack(ctx, { ...input, site_id_or_domain: site.id }),
    summary: 'Roll a plugin or theme back to an earlier version',
    description: 'Name an update by change_id, or the item by type and slug.',
    params: () => ({
      change_id: integerOrText()
        .optional()
        .describe("From an update or a snapshot, or an id from the site's change log."),
      type: itemType().optional(),
      slug: text(512).optional().describe('Exact slug.'),
      to_version: text(100).optional().describe('Default: the version before the last update.'),
      hold: flag().default(false).describe('Also quarantines the newer version on every site.'),
    }),
    returns: () => writtenOf(rolledBack()).extend(withSite()),
    async answer(ctx, site, input) {
      const data = await rollBack(ctx, { ...input, site_id_or_domain: site.id });
      return { message: `Version ${siteWord(data.version)} is installed again.`, data };
    },
  }),
  route({
    on: 'GET /quarantine',
    summary: 'List versions that broke a site, and where they are quarantined',
    params: () =>
      z.object({
        include_lifted: flag().default(false).describe('Include lifted ones.'),
        ...paging(50, 200),
      }),
    returns: () => listOf(quarantinedVersion()),
    async answer({ include_lifted, page, per_page }, ctx) {
      const { versions, total } = await quarantinedVersions(ctx, include_lifted, page, per_page);
      return { total, page, per_page, data: versions };
    },
  }),
  route({
    on: 'PUT /quarantine',
    change: 'updates',
    summary: 'Quarantine a version on every site, or only where it broke one',
    fails: [404],
    params: () =>
      z.object({
        ...versionKey(),
        scope: quarantineScope().describe('site = where it broke one, fleet = on every site.'),
        reason: text(500, 1).describe('Kept with the entry.'),
      }),
    returns: () => writtenOf(quarantinedVersion()),
    async answer({ scope, reason, ...version }, ctx) {
      const message = scope === 'fleet' ? 'Quarantined on every site.' : 'Quarantined where it broke the site.';
      return { message, data: await setQuarantineScope(ctx, version, scope, reason) };
    },
  }),
  route({
    on: 'DELETE /quarantine',
    change: 'updates',
    summary: 'Lift the quarantine of a version',
    fails: [404],
    params: () => z.object(versionKey()),
    returns: () => writtenOf(quarantinedVersion()),
    async answer({ type, slug, version }, ctx) {
      return { message: 'The quarantine was lifted.', data: await liftQuarantine(ctx, type, slug, version) };
    },
  }),
];
