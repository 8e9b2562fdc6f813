/** Routes that ignore updates of one site, and offer them again (REST §6.13.4). */

import { z } from '../../../../schemas/zod.js';
import type { Ctx } from '../../../domain/context.js';
import { installedExtensions } from '../../../domain/sites/inventory.js';
import {
  CORE_SLUG,
  ignoredEntries,
  setIgnored,
  setTypeIgnored,
  unignoreType,
} from '../../../domain/updates/ignored.js';
import { UPDATE_TYPES } from '../../../domain/updates/results.js';
import { once } from '../../../runtime/once.js';
import type { SiteRow } from '../../../store/sites/sites.js';
import type { ItemError } from '../parameter-errors.js';
import { slugs } from '../params.js';
import type { Route } from '../route.js';
import { slugErrors, writtenOf } from '../schemas/records.js';
import { requireSlugs } from '../sites/extensions.js';
import { siteRoute } from '../sites/references.js';

const slugParam = once(() =>
  slugs().optional().describe('One slug or a comma-separated list. Default: the whole type.'),
);

function ignoreRoute(type: 'wp' | 'plugins' | 'themes', ignore = true): Route {
  const slugOf = type === 'wp' ? {} : { slug: slugParam() };
  return siteRoute({
    on: `${ignore ? 'POST|PUT|PATCH' : 'DELETE'} /updates/{id_or_domain}/ignore/${type}`,
    change: ignore ? 'other' : 'updates',
    summary: `${ignore ? 'Ignore' : 'Stop ignoring'} ${type === 'wp' ? 'core updates' : `updates of ${type}`} on one site`,
    description:
      type === 'wp'
        ? 'All versions, until you stop ignoring them.'
        : `The named slugs in every version; without slug, everything of the type${ignore ? '' : ', named or not'}.`,
    params: () => slugOf,
    returns: () =>
      writtenOf(z.record(z.literal('success'))).extend({ url: z.string(), errors: slugErrors().optional() }),
    async answer(ctx, site, asked) {
      const sent = 'slug' in asked ? (asked.slug as string[] | undefined) : undefined;
      if (type !== 'wp' && sent !== undefined) requireSlugs(sent, `svc_rest_invalid_${type}_slugs`);
      const named = sent ?? [];
      if (type === 'wp' || named.length === 0) return { ...(await setWhole(ctx, site, type, ignore)), url: site.url };
      const { known, errors } = await split(ctx, site, type, named, ignore);
      const { notice } = known.length > 0 ? await setIgnored(ctx, site.id, KINDS[type], known, ignore) : {};
      const verb = ignore
        ? 'ignored on this site'
        : `no longer ignored ${notice === undefined ? 'on this site' : 'by name'}`;
      return {
        message: sentences(`${known.length} of ${named.length} ${type} are ${verb}.`, notice),
        data: succeeded(known),
        errors,
        url: site.url,
      };
    },
  });
}

const KINDS = { wp: 'core', plugins: 'plugin', themes: 'theme' } as const;

function succeeded(slugs: readonly string[]): Record<string, 'success'> {
  return Object.fromEntries(slugs.map((slug) => [slug, 'success' as const]));
}

const sentences = (...all: readonly (string | undefined)[]) => all.filter((each) => each !== undefined).join(' ');

/** Ignores everything of a type on a site, or nothing of it: then what was ignored by name is on offer again, too. */
async function setWhole(ctx: Ctx, site: SiteRow, type: keyof typeof KINDS, ignore: boolean) {
  const what = type === 'wp' ? 'Core updates' : `All updates of ${type}`;
  if (ignore) {
    await setTypeIgnored(ctx, site, type, true);
    return { message: `${what} are ignored on this site.`, data: {} };
  }
  const kind = KINDS[type];
  const { notice, slugs } =
    kind === 'core'
      ? { ...(await setIgnored(ctx, site.id, kind, [CORE_SLUG], false)), slugs: [] }
      : await unignoreType(ctx, site, kind);
  const where = notice === undefined ? 'on this site' : 'by this site itself';
  return { message: sentences(`${what} are no longer ignored ${where}.`, notice), data: succeeded(slugs) };
}

/**
 * Separates known slugs from unknown ones. Installed items can be ignored; an ignore can be undone even after removal.
 */
async function split(ctx: Ctx, site: SiteRow, type: 'plugins' | 'themes', named: readonly string[], ignore: boolean) {
  const kind = KINDS[type];
  const present = new Set((await installedExtensions(ctx, site.id, kind)).map(({ slug }) => slug));
  if (!ignore)
    for (const entry of await ignoredEntries(ctx, site))
      if (entry.type === UPDATE_TYPES.indexOf(kind)) present.add(entry.slug);
  const known = named.filter((slug) => present.has(slug));
  const message = 'Nothing with this slug is installed on the site.';
  const errors: ItemError[] = named
    .filter((slug) => !known.includes(slug))
    .map((slug) => ({ slug, code: 'not_installed', message }));
  return { known, errors };
}

export const ignoredUpdates: readonly Route[] = [ignoreRoute('wp'), ignoreRoute('plugins'), ignoreRoute('themes')];

/** Not in the routes document: the same paths with DELETE undo an ignore. */
export const updatesExtra: readonly Route[] = [
  ignoreRoute('wp', false),
  ignoreRoute('plugins', false),
  ignoreRoute('themes', false),
];
