/** Plugins and themes of one site (REST §6.3 R18–R26). */

import { fold, needle } from '../../../../schemas/fold.js';
import { siteWord } from '../../../../schemas/site-text.js';
import { z } from '../../../../schemas/zod.js';
import { loadLiveSite } from '../../../domain/connection/actions.js';
import { abandonedCheckedAt, abandonedItems } from '../../../domain/sites/findings.js';
import { installedExtensions } from '../../../domain/sites/inventory.js';
import { type ErrorCode, ServiceError } from '../../../runtime/errors.js';
import { once } from '../../../runtime/once.js';
import { flag, openPaging, pageOf, slugs, text } from '../params.js';
import type { Route } from '../route.js';
import { examplePlugin, exampleSite, exampleTheme } from '../schemas/examples.js';
import { abandonedShape, namedShape, pluginShape, slugErrors, themeShape, writtenOf } from '../schemas/records.js';
import { changePlugins, type Outcome, removeThemes, switchTheme } from '../views/extension-changes.js';
import { pluginEntry, themeEntries } from '../views/extensions.js';
import { siteRoute } from './references.js';

type Kind = 'plugin' | 'theme';

type Entry = ReturnType<typeof pluginEntry> | ReturnType<typeof themeEntries>[number];

/** Maximum items per page. Without paging everything is returned: a site has some dozens. */
const MAX = 200;
const WHOLE = 10_000;

const listFilters = once(() => ({
  status: z.enum(['any', 'active', 'inactive']).default('any'),
  search: text(255).optional().describe('Part of the name or slug, case-insensitive.'),
  ...openPaging(MAX),
}));

const slugParam = once(() => ({
  slug: slugs().describe('One slug or a comma-separated list; folder/file.php of plugins, the folder of themes.'),
}));

const akismet = { slug: examplePlugin.slug, name: examplePlugin.name, version: examplePlugin.version };

function matching<T extends { slug: string; name: string; active: number }>(
  rows: readonly T[],
  { status, search }: { status: string; search?: string | undefined },
): T[] {
  const part = needle(search);
  return rows.filter(
    (row) =>
      (status === 'any' || (row.active === 1) === (status === 'active')) &&
      (fold(row.name).includes(part) || fold(row.slug).includes(part)),
  );
}

function paged<T>(rows: readonly T[], asked: { page?: number | undefined; per_page?: number | undefined }) {
  const { page, per_page } = pageOf(asked, WHOLE);
  const data = rows.slice((page - 1) * per_page, page * per_page);
  const whole = asked.page === undefined && asked.per_page === undefined;
  return { total: rows.length, ...(whole ? {} : { page, per_page }), data };
}

/** The paging members are present only if paging was requested. */
function pagedOrWhole(data: z.ZodTypeAny) {
  const count = () => z.number().int().optional();
  return z.object({ total: z.number().int(), page: count(), per_page: count(), pages: count(), data });
}

function listRoute(kind: Kind): Route {
  const own =
    kind === 'plugin' ? { must_use: flag().optional().describe('Only must-use plugins, or none of them.') } : {};
  return siteRoute({
    on: `GET /sites/{id_or_domain}/${kind}s`,
    summary: `List the ${kind}s of a site`,
    description: 'As of the last sync. Paged only if both page and per_page are given.',
    params: () => ({ ...listFilters(), ...own }),
    example: { total: 1, data: [kind === 'plugin' ? examplePlugin : exampleTheme], site: exampleSite },
    returns: () => pagedOrWhole(z.array(kind === 'plugin' ? pluginShape() : themeShape())),
    async answer(ctx, found, asked) {
      const rows = await installedExtensions(ctx, found.id, kind);
      const entries = kind === 'plugin' ? mustUse(rows.map(pluginEntry), asked) : themeEntries(rows);
      // Half a request for pages asks for none: the document pages these two lists only with both (REST §3.1).
      const isPaged = asked.page !== undefined && asked.per_page !== undefined;
      return paged(matching<Entry>(entries, asked), isPaged ? asked : {});
    },
  });
}

function mustUse(entries: ReturnType<typeof pluginEntry>[], asked: { must_use?: unknown }) {
  return asked.must_use === undefined ? entries : entries.filter(({ mu }) => (mu === 1) === asked.must_use);
}

function abandonedRoute(kind: Kind): Route {
  return siteRoute({
    on: `GET /sites/{id_or_domain}/${kind}s/abandoned`,
    summary: `List the abandoned ${kind}s of a site`,
    description: 'Without a release for two years, as of the last sync. Keyed by slug.',
    params: listFilters,
    returns: () =>
      pagedOrWhole(z.record(abandonedShape()).describe('By slug.')).extend({
        checked_at: z.string().nullable().describe('null = the site was not checked yet, so nothing is known.'),
      }),
    async answer(ctx, found, asked) {
      const { data, ...counts } = paged(matching(await abandonedItems(ctx, found, kind), asked), asked);
      const entries = data.map(({ name, version, active, ...rest }) => [
        rest.slug,
        { ...rest, Name: name, Version: version, active },
      ]);
      const checked_at = await abandonedCheckedAt(ctx, found.id);
      return { ...counts, data: Object.fromEntries(entries), checked_at };
    },
  });
}

const DONE = { activate: 'activated', deactivate: 'deactivated', delete: 'deleted' } as const;

function pluginAction(action: keyof typeof DONE): Route {
  const word = `${action.charAt(0).toUpperCase()}${action.slice(1)}`;
  return siteRoute({
    on: `${action === 'delete' ? 'DELETE' : 'POST|PUT|PATCH'} /sites/{id_or_domain}/plugins/${action}`,
    change: action === 'delete' ? 'deletions' : 'installs',
    live: true,
    fails: [504],
    summary: `${word} plugins of a site`,
    description:
      'Verified on the site. One failure does not stop the others; already being in that state counts as done.',
    params: slugParam,
    example: { message: `1 plugin was ${DONE[action]}.`, data: [akismet], errors: [], site: exampleSite },
    returns: () => writtenOf(z.array(namedShape())).extend({ errors: slugErrors() }),
    async answer(ctx, found, { slug }) {
      requireSlugs(slug, 'svc_rest_invalid_plugins_slugs');
      const outcome = await changePlugins(ctx, await loadLiveSite(ctx, found), action, slug);
      return {
        message: summaryOf('plugin', outcome, DONE[action]),
        data: outcome.done,
        errors: outcome.failed,
      };
    },
  });
}

/** `3 plugins were deleted, 1 failed.` */
function summaryOf(kind: Kind, { done, failed }: Outcome, word: string): string {
  const count = `${done.length} ${kind}${done.length === 1 ? ' was' : 's were'} ${word}`;
  return failed.length === 0 ? `${count}.` : `${count}, ${failed.length} failed.`;
}

/** Refuses a `slug` that was sent but is empty: read as "not sent" it would mean everything (REST §3.4). */
export function requireSlugs(list: readonly string[], code: ErrorCode): void {
  if (list.length > 0) return;
  throw new ServiceError(code, 'slug names nothing.', {
    field: 'slug',
    advice: 'Send one slug or a comma-separated list.',
    data: { params: { slug: 'names nothing' } },
  });
}

export const siteExtensions: readonly Route[] = [
  listRoute('plugin'),
  pluginAction('activate'),
  pluginAction('deactivate'),
  pluginAction('delete'),
  abandonedRoute('plugin'),
  listRoute('theme'),
  siteRoute({
    on: 'POST|PUT|PATCH /sites/{id_or_domain}/themes/activate',
    change: 'installs',
    live: true,
    fails: [504],
    summary: 'Switch the theme of a site',
    params: slugParam,
    returns: () => writtenOf(z.object({ activate: namedShape(), deactivate: namedShape().nullable() })),
    async answer(ctx, found, { slug }) {
      const [wanted, ...more] = slug;
      requireSlugs(slug, 'svc_rest_invalid_themes_slugs');
      if (wanted === undefined || more.length > 0) {
        throw new ServiceError('svc_rest_invalid_themes_slugs', 'A site has one active theme: send exactly one slug.', {
          field: 'slug',
          advice: 'Send the slug of the theme to switch to.',
        });
      }
      const data = await switchTheme(ctx, await loadLiveSite(ctx, found), wanted);
      return { message: `The theme is ${siteWord(data.activate.name)} now.`, data };
    },
  }),
  siteRoute({
    on: 'DELETE /sites/{id_or_domain}/themes/delete',
    change: 'deletions',
    live: true,
    fails: [504],
    summary: 'Delete themes of a site',
    description: 'The active theme and its parent are refused and reported in data.error.',
    params: slugParam,
    returns: () =>
      writtenOf(z.object({ delete: z.array(namedShape()), error: slugErrors().optional() })).extend({
        errors: slugErrors(),
      }),
    async answer(ctx, found, { slug }) {
      requireSlugs(slug, 'svc_rest_invalid_themes_slugs');
      const outcome = await removeThemes(ctx, await loadLiveSite(ctx, found), slug);
      return {
        message: summaryOf('theme', outcome, 'deleted'),
        data: { delete: outcome.done, ...(outcome.failed.length > 0 ? { error: outcome.failed } : {}) },
        errors: outcome.failed,
      };
    },
  }),
  abandonedRoute('theme'),
];
