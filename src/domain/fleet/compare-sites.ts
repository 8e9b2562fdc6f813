/** What differs between a few sites: versions, settings, plugins, themes and, if asked for, administrators. */

import { COMPARED, type Compared, type comparison } from '../../../schemas/comparison.js';
import { fold } from '../../../schemas/fold.js';
import { cleanLine } from '../../../schemas/text.js';
import type { z } from '../../../schemas/zod.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { ExtensionRow } from '../../store/sites/inventory.js';
import type { SiteRecord, SiteRow } from '../../store/sites/sites.js';
import { readFromSites } from '../content/live-content.js';
import type { Ctx } from '../context.js';
import { getSite, removedMeanwhile, type SiteRef } from '../sites/resolve.js';

type Comparison = z.output<ReturnType<typeof comparison>>;
type Row = Comparison['rows'][number];

interface CompareInput {
  site_ids_or_domains: readonly SiteRef[];
  administrators: boolean;
  same: boolean;
  page: number;
  per_page: number;
}

const NAME = 40;
/** Whole, as far as plugins have them: it is sent to other operations. */
const SLUG = 200;
const VALUE = 24;

/** As of the last syncs; administrators are asked now. Throws as `getSite`, and `svc_invalid_input`. */
export async function compareSites(ctx: Ctx, input: CompareInput): Promise<Comparison> {
  const { page, per_page } = input;
  const sites = await differentSites(ctx, input.site_ids_or_domains);
  const ids = sites.map(({ id }) => id);
  const [records, parts, inventories, administrators] = await Promise.all([
    ctx.store.sites.records(ids),
    ctx.store.siteRecords.parts(ids, ['tags', 'client']),
    Promise.all(ids.map((id) => ctx.store.inventory.read(id))),
    input.administrators ? administratorRows(ctx, sites) : { rows: [], errors: [] },
  ]);
  const known = ids.map((id, index): Known => {
    const site = records.find((record) => record.id === id);
    if (site === undefined) throw removedMeanwhile(id);
    const { tags = [], client_name = null } = parts.get(id) ?? {};
    return {
      site,
      client: client_name ?? 'none',
      tags: tags.map(({ name }) => name),
      extensions: inventories[index]?.extensions ?? [],
    };
  });
  const rows = [...FACTS.map((fact) => factRow(fact, known)), ...administrators.rows, ...itemRows(known)];
  const listed = rows
    .filter((row) => input.same || row.difference !== 'none')
    .sort(
      (a, b) =>
        Number(a.difference === 'none') - Number(b.difference === 'none') ||
        COMPARED.indexOf(a.area) - COMPARED.indexOf(b.area),
    );
  const counts = (differ: boolean) =>
    COMPARED.map((area) => ({
      area,
      count: rows.filter((row) => row.area === area && (row.difference !== 'none') === differ).length,
    })).filter(({ count }) => count > 0);
  return {
    sites: known.map(({ site }) => ({
      id: site.id,
      url: site.url,
      name: cleanLine(site.name, NAME),
      status: site.status,
      last_sync: isoTime(site.last_sync),
    })),
    rows: listed.slice((page - 1) * per_page, page * per_page),
    different: counts(true),
    same: counts(false),
    errors: administrators.errors,
    total: listed.length,
    page,
    per_page,
  };
}

async function differentSites(ctx: Ctx, refs: readonly SiteRef[]): Promise<SiteRow[]> {
  const sites: SiteRow[] = [];
  for (const [index, ref] of refs.entries()) {
    const field = `site_ids_or_domains[${index}]`;
    const site = await getSite(ctx, ref, field);
    if (sites.some(({ id }) => id === site.id))
      throw new ServiceError('svc_invalid_input', `${field}: site ${site.id} is named twice.`, {
        field,
        advice: 'Name two to five different sites.',
      });
    sites.push(site);
  }
  return sites;
}

interface Known {
  site: SiteRecord;
  client: string;
  tags: readonly string[];
  extensions: readonly ExtensionRow[];
}

type Stored = string | number | null;
type Fact = readonly [area: Compared, what: string, value: (known: Known) => Stored];

const column = (name: keyof SiteRecord & string) => (known: Known) => known.site[name] as Stored;
const word = (name: string, words: readonly string[]) => (known: Known) => {
  const value = known.site[name];
  return typeof value === 'number' ? (words[value] ?? String(value)) : null;
};
const SWITCH = ['no', 'yes', 'as global'] as const;

const FACTS: readonly Fact[] = [
  ['version', 'WordPress', column('wp_version')],
  ['version', 'PHP', column('php_version')],
  ['version', 'database', column('mysql_version')],
  ['version', 'MainWP Child', column('child_version')],
  ['site', 'memory limit', column('memory_limit')],
  ['site', 'language', column('language')],
  ['site', 'time zone', ({ site }) => site.timezone || site.gmt_offset],
  ['site', 'server', column('ip')],
  ['site', 'debug mode', word('debug_mode', SWITCH)],
  ['site', 'visible to search engines', word('search_visible', SWITCH)],
  ['site', 'client', ({ client }) => client],
  ['site', 'tags', ({ tags }) => tags.join(', ') || 'none'],
  ['setting', 'user that Sitefleet acts as', column('admin_username')],
  ['setting', 'certificate is checked', word('ssl_verify', SWITCH)],
  ['setting', 'oldest TLS version', word('ssl_version', ['any', '', '', '', '', '', '1.2', '1.3'])],
  ['setting', 'IPv4 only', word('force_use_ipv4', SWITCH)],
  ['setting', 'automatic updates', word('automatic_update', SWITCH)],
  ['setting', 'backup before updates', word('backup_before_upgrade', SWITCH)],
  ['setting', 'health is not checked', word('disable_health_checking', SWITCH)],
  ['setting', 'health threshold', ({ site }) => (site.health_threshold === 0 ? 'as global' : site.health_threshold)],
  ['setting', 'addresses for mails', ({ site }) => site.monitoring_emails || 'as global'],
  ['setting', 'core updates are ignored', word('ignore_core', SWITCH)],
  ['setting', 'plugin updates are ignored', word('ignore_plugins', SWITCH)],
  ['setting', 'theme updates are ignored', word('ignore_themes', SWITCH)],
  ['setting', 'staging', word('is_staging', SWITCH)],
  ['setting', 'on trial', word('on_trial', SWITCH)],
];

function factRow([area, what, read]: Fact, known: readonly Known[]): Row {
  // Unknown is '' in a column of text.
  const values = known.map(read).map((value) => (value === null || value === '' ? null : String(value)));
  return rowOf({ area, what }, values, 'value');
}

/** The whole values are compared; shortened ones are shown. */
function rowOf(
  head: Pick<Row, 'area' | 'what' | 'slug'>,
  values: readonly (string | null)[],
  difference: Row['difference'],
): Row {
  const differ = new Set(values.filter((value) => value !== null)).size > 1;
  return {
    ...head,
    difference: differ ? difference : 'none',
    values: values.map((value) => (value === null ? null : cleanLine(value, VALUE))),
  };
}

const KINDS = ['plugin', 'theme'] as const;
const MISSING = 'not installed';

/** Plugins and themes of any of the sites, by name. */
function itemRows(known: readonly Known[]): Row[] {
  return KINDS.flatMap((area, kind) => {
    const items = known.map(
      ({ extensions }) => new Map(extensions.filter((item) => item.kind === kind).map((item) => [item.slug, item])),
    );
    const names = new Map(items.flatMap((of) => [...of].map(([slug, { name }]) => [slug, name || slug] as const)));
    return [...names]
      .sort(([slugA, a], [slugB, b]) => (fold(a) < fold(b) ? -1 : fold(a) > fold(b) ? 1 : slugA < slugB ? -1 : 1))
      .map(([slug, name]) => {
        const found = known.map(({ site }, index) =>
          site.last_sync === null ? null : (items[index]?.get(slug) ?? MISSING),
        );
        const head = { area, what: cleanLine(name, NAME), slug: cleanLine(slug, SLUG) };
        return rowOf(head, found.map(itemValue), itemDifference(found));
      });
  });
}

function itemValue(item: ExtensionRow | typeof MISSING | null): string | null {
  if (item === null || item === MISSING) return item;
  return `${item.version || 'no version'}${item.active === 1 ? '' : ', off'}`;
}

function itemDifference(found: readonly (ExtensionRow | typeof MISSING | null)[]): Row['difference'] {
  const installed = found.filter((item) => item !== null && item !== MISSING);
  if (found.includes(MISSING)) return 'missing';
  return new Set(installed.map(({ version }) => version)).size > 1 ? 'version' : 'active';
}

/** Maximum number of administrators that are read of a site. */
const MOST_ADMINS = 100;

/** Asks the sites themselves: what a sync tells of users is not stored. */
async function administratorRows(ctx: Ctx, sites: SiteRow[]): Promise<{ rows: Row[]; errors: Comparison['errors'] }> {
  const { answers, errors } = await readFromSites(ctx, { sites, errors: [] }, async (limited, _target, connection) => {
    const users = await limited.child.users(connection, ['administrator'], { signal: limited.signal });
    const logins = users.slice(0, MOST_ADMINS).map(({ login }) => login);
    return { value: new Set(logins), weight: logins.join().length };
  });
  const bySite = new Map(answers.map(({ site, value }) => [site.id, value]));
  const logins = [...new Set(answers.flatMap(({ value }) => [...value]))].sort();
  return {
    rows: logins.map((login) =>
      rowOf(
        { area: 'administrator', what: cleanLine(login, NAME) },
        sites.map(({ id }) => (bySite.has(id) ? (bySite.get(id)?.has(login) === true ? 'yes' : 'no') : null)),
        'missing',
      ),
    ),
    errors: errors.map(({ site_id, code, message }) => ({
      site_id: site_id ?? 0,
      code,
      message: cleanLine(message, 200),
    })),
  };
}
