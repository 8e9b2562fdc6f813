/** Routes of safe updates: the guard of a site, updates that are rolled back if they break it, quarantine (REST §7). */

import {
  adminLogin,
  guardInstall,
  itemType,
  protection,
  quarantinedVersion,
  quarantineScope,
  removedGuard,
  rolledBack,
  safeUpdate,
  siteGuard,
  siteSnapshots,
} from '../../../schemas/safety.js';
import { siteWord } from '../../../schemas/site-text.js';
import { z } from '../../../schemas/zod.js';
import { adminLogin as loginTo } from '../../domain/safety/admin-login.js';
import { liftQuarantine, quarantinedVersions, setQuarantineScope } from '../../domain/safety/quarantine.js';
import { rollBack, siteSnapshots as snapshotsOf } from '../../domain/safety/roll-back.js';
import { safeUpdateSite } from '../../domain/safety/safe-update.js';
import { siteGuard as guardOf, installGuard, removeGuard } from '../../domain/safety/site-guard.js';
import { safeUpdateHistory } from '../../domain/safety/update-history.js';
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
    on: 'GET',
    path: GUARD,
    needs: 'read',
    live: true,
    summary: 'Ask a site for its guard',
    description: 'The guard keeps copies of plugins and themes, and puts back what breaks the site.',
    returns: () => recordOf(siteGuard()),
    answer: async (ctx, site) => ({ data: await guardOf(ctx, site.id) }),
  }),
  siteRoute({
    on: 'POST',
    path: GUARD,
    needs: 'write',
    summary: 'Install the guard on a site, or renew it',
    description: 'One must-use plugin, written by the MainWP Child plugin. dry_run only describes how.',
    params: () => ({
      allow_login: flag()
        .optional()
        .describe('Whether logins by token are allowed. Left out: as it is; not allowed by a new guard.'),
      dry_run: flag().default(false),
    }),
    returns: () => writtenOf(guardInstall()).extend(withSite()),
    async answer(ctx, site, { allow_login, dry_run }) {
      const data = await installGuard(ctx, site.id, allow_login, dry_run);
      const message = dry_run ? 'Nothing was changed.' : 'The guard is on the site.';
      return { message, data };
    },
  }),
  siteRoute({
    on: 'DELETE',
    path: GUARD,
    needs: 'write',
    summary: 'Remove the guard of a site with the copies it keeps',
    returns: () => writtenOf(removedGuard()).extend(withSite()),
    answer: async (ctx, site) => ({ message: 'The guard is gone.', data: await removeGuard(ctx, site.id) }),
  }),
  siteRoute({
    on: 'POST',
    path: '/sites/{id_or_domain}/admin-login',
    needs: 'write',
    summary: 'Get an address that logs a browser in to WordPress, once',
    description:
      "Made by the guard, where it was installed with allow_login; kept in the log of actions. Otherwise 409 with data.login_page, the site's own login.",
    fails: [409],
    params: () => ({
      user: text(200, 1)
        .optional()
        .describe('Login name of an administrator. Default: the one the site is connected by.'),
      set_up: flag()
        .default(false)
        .describe('Consent: where logins by token are not possible yet, installs the guard with allow_login first.'),
    }),
    returns: () => writtenOf(adminLogin()).extend(withSite()),
    async answer(ctx, site, { user, set_up }) {
      return { message: 'Open the address within a minute.', data: await loginTo(ctx, site.id, user, set_up) };
    },
  }),
  siteRoute({
    on: 'GET',
    path: '/sites/{id_or_domain}/snapshots',
    needs: 'read',
    live: true,
    summary: 'List the copies that the guard of a site keeps',
    returns: () => recordOf(siteSnapshots()),
    answer: async (ctx, site) => ({ data: await snapshotsOf(ctx, site.id) }),
  }),
  siteRoute({
    on: 'GET',
    path: '/sites/{id_or_domain}/safe-updates',
    needs: 'read',
    summary: 'List what was updated on a site under protection, step by step',
    description: 'Also while it happens. The guard is as it was last seen: the site is not asked.',
    params: () => paging(20, 100),
    returns: () => listOf(safeChangeShape()).extend({ guard: siteGuard(), ...withSite() }),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    async answer(ctx, site, { page, per_page }) {
      const { items, total, guard } = await safeUpdateHistory(ctx, site.id, page, per_page);
      return { total, page, per_page, data: items, guard };
    },
  }),
  siteRoute({
    on: 'POST',
    path: '/sites/{id_or_domain}/safe-update',
    needs: 'write',
    fails: [504],
    summary: 'Update a site item by item and undo what breaks it',
    description: 'Checks the site before and after. Without a guard the protection is weaker; dry_run shows it.',
    params: () => ({
      types: csv(z.enum(['core', 'plugins', 'themes', 'translations']))
        .default([])
        .describe('Default: all.'),
      slug: slugs().default([]).describe('One slug or a comma-separated list. Default: all.'),
      on_suspect: z.enum(['keep', 'roll_back']).default('keep').describe('When pages look different, but not broken.'),
      least_protection: protection().default('reinstall').describe('Items with less are left as they are.'),
      paths: csv(text(300), 10).default([]).describe('Up to 10 further pages to look at.'),
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
    on: 'POST',
    path: '/sites/{id_or_domain}/rollback',
    needs: 'write',
    summary: 'Put an earlier version of a plugin or theme back',
    description: 'Names an update by change_id, or the item by type and slug.',
    params: () => ({
      change_id: text(100).optional().describe('Of an update or snapshot.'),
      type: itemType().optional(),
      slug: text(512).optional().describe('Exact slug.'),
      to_version: text(100).optional().describe('Default: the version before the last update.'),
    }),
    returns: () => writtenOf(rolledBack()).extend(withSite()),
    async answer(ctx, site, input) {
      const data = await rollBack(ctx, { ...input, site_id_or_domain: site.id });
      return { message: `Version ${siteWord(data.version)} is back.`, data };
    },
  }),
  route({
    on: 'GET',
    path: '/quarantine',
    needs: 'read',
    summary: 'List versions that broke a site, and where they are held back',
    params: () =>
      z.object({
        include_lifted: flag().default(false).describe('Also those that pass again.'),
        ...paging(50, 200),
      }),
    returns: () => listOf(quarantinedVersion()),
    async answer({ include_lifted, page, per_page }, ctx) {
      const { versions, total } = await quarantinedVersions(ctx, include_lifted, page, per_page);
      return { total, page, per_page, data: versions };
    },
  }),
  route({
    on: 'PUT',
    path: '/quarantine',
    needs: 'write',
    summary: 'Hold a version back on every site, or only where it broke one',
    fails: [404],
    params: () =>
      z.object({
        ...versionKey(),
        scope: quarantineScope().describe('site = where it broke one, fleet = on every site.'),
        reason: text(500, 1).describe('Kept with the entry.'),
      }),
    returns: () => writtenOf(quarantinedVersion()),
    async answer({ scope, reason, ...version }, ctx) {
      const message = scope === 'fleet' ? 'Held back on every site.' : 'Held back where it broke the site.';
      return { message, data: await setQuarantineScope(ctx, version, scope, reason) };
    },
  }),
  route({
    on: 'DELETE',
    path: '/quarantine',
    needs: 'write',
    summary: 'Let a held-back version pass again',
    fails: [404],
    params: () => z.object(versionKey()),
    returns: () => writtenOf(quarantinedVersion()),
    async answer({ type, slug, version }, ctx) {
      return { message: 'The version passes again.', data: await liftQuarantine(ctx, type, slug, version) };
    },
  }),
];
