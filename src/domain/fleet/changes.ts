/** Search in the changes of the whole fleet. */

import type { ChangeFilters } from '../../../schemas/action.js';
import { actionForms, CHANGE_KINDS } from '../../../schemas/changes.js';
import { cleanLine } from '../../../schemas/text.js';
import { isoTime, timestampOf } from '../../runtime/iso-time.js';
import { ownMember } from '../../runtime/own-member.js';
import type { ChangeGroup, ChangeQuery, FleetChangeRow } from '../../store/fleet/change-search.js';
import type { ChangeSource } from '../../store/sites/change-list.js';
import { findClient } from '../clients/records.js';
import { pastTime } from '../common/past-time.js';
import type { Ctx } from '../context.js';
import { requireModule } from '../settings/modules.js';
import { changeSentence } from '../sites/changes.js';
import { oneOrAll, withoutSite } from '../sites/resolve.js';
import { requireTag } from '../tags/refs.js';

const DAY_MS = 86_400_000;
const STANDARD_DAYS = 30;
/** Kinds with their actions that are counted in an answer. */
const MOST_KINDS = 20;
/** Characters of a sentence, and of a name. */
const SENTENCE = 160;
const NAME = 60;
/** Whole, as far as plugins have them: it is sent to other operations. */
const SLUG = 200;

type ChangeSearchInput = ChangeFilters & { page: number; per_page: number };

/** Groups of an answer. */
const MOST_GROUPS = 50;

/** The changes counted by person, site or kind, most first. Throws as `searchChanges`. */
async function countChanges(ctx: Ctx, input: ChangeSearchInput, by: ChangeGroup) {
  const query = await queryOf(ctx, input);
  const rows = await ctx.store.changeSearch.groups(query, by);
  const { page, per_page } = input;
  const most = Math.min(per_page, MOST_GROUPS);
  const shown = rows.slice((page - 1) * most, page * most);
  const ids = by === 'site' ? shown.flatMap(({ key }) => (key === null ? [] : [Number(key)])) : [];
  const urls = new Map((await ctx.store.sites.candidates(ids)).map(({ id, url }) => [id, url]));
  return {
    since: isoTime(query.since) ?? '',
    until: isoTime(query.until) ?? '',
    changes: [],
    groups: shown.map(({ key, n, last_at }) => ({
      ...(by === 'site'
        ? { site_id: key === null ? null : Number(key), group: cleanLine(urls.get(Number(key)) ?? 'no site', NAME) }
        : { group: cleanLine(String(key), NAME) }),
      count: n,
      last_at: timestampOf(Math.round(last_at)),
    })),
    kinds: [],
    ...(await notKnown(ctx, query)),
    total_groups: rows.length,
    total: rows.reduce((sum, { n }) => sum + n, 0),
    page,
    per_page: most,
  };
}

/** Sites whose changes are unknown, for the whole time or a part of it: they have no log of their own, or it begins later. */
async function notKnown(ctx: Ctx, query: ChangeQuery): Promise<{ not_known?: string[] }> {
  if (!query.sources.includes('wpadmin') || !isOnSites(query)) return {};
  const { sites, without, later, first_begins, last_begins } = await ctx.store.changeSearch.coverage(query);
  const at = (ms: number | null) => isoTime(Math.ceil(ms ?? 0));
  const of = (n: number) => `${n} of ${sites} ${sites === 1 ? 'site' : 'sites'}`;
  const said = [
    ...(without === 0 ? [] : [`${of(without)} reported no log of what is changed on them, so that is unknown.`]),
    ...(later === 0
      ? []
      : [
          `The logs of ${of(later)} begin after since, between ${at(first_begins)} and ${at(last_begins)}: what was changed on them before is unknown.`,
        ]),
  ];
  return said.length === 0 ? {} : { not_known: said };
}

/** Whether a query covers what is made on the sites themselves. */
function isOnSites({ vias = [], failed }: ChangeQuery): boolean {
  return failed !== true && (vias.length === 0 || vias.includes('site'));
}

/**
 * One page, newest first, without the site where the call names it. Throws `svc_module_not_available`, `svc_invalid_input` for
 * a time, and for a site, client or tag that does not exist.
 */
export async function searchChanges(
  ctx: Ctx,
  { group_by, ...input }: ChangeSearchInput & { group_by?: ChangeGroup | undefined },
) {
  if (group_by !== undefined) return countChanges(ctx, input, group_by);
  const { items, ...found } = await findChanges(ctx, input);
  const changes = items.map(changeView);
  return { ...found, changes: input.site_id_or_domain === undefined ? changes : changes.map(withoutSite) };
}

/** The same as records for pages, with what takes each change back. */
export async function fleetChanges(ctx: Ctx, { days, ...input }: Omit<ChangeSearchInput, 'since'> & { days: number }) {
  const since = isoTime(ctx.clock.now() - days * DAY_MS) ?? undefined;
  const { items, ...found } = await findChanges(ctx, { ...input, since });
  return { ...found, items: items.map((row) => ({ ...changeView(row), ...recordOf(row) })) };
}

const recordOf = (row: FleetChangeRow) => ({
  site_name: row.site_name === null ? null : cleanLine(row.site_name, NAME),
  action: cleanLine(row.action, NAME),
  item: cleanLine(row.item, NAME),
  old_version: cleanLine(row.old_value, NAME),
  new_version: cleanLine(row.new_value, NAME),
  result: row.code === '' ? ('done' as const) : ('failed' as const),
  undo: undoOf(row),
  action_id: row.kept === 1 && row.code === '' && !/^(de)?activated$/.test(row.action) ? row.id : null,
});

export const UNDO = ['roll_back', 'activate', 'deactivate', 'suspend', 'unsuspend'] as const;

/** What takes a change back: as long as the site is as the change left it, as far as is known. */
function undoOf(row: FleetChangeRow): (typeof UNDO)[number] | null {
  const { kind, action, code, site_id, old_value, new_value, now_version, now_active, suspended } = row;
  if (site_id === null || code !== '') return null;
  switch (`${kind} ${action}`) {
    case 'plugin updated':
    case 'theme updated':
      return old_value !== '' && new_value !== '' && now_version === new_value ? 'roll_back' : null;
    case 'plugin activated':
      return now_active === 1 ? 'deactivate' : null;
    case 'plugin deactivated':
      return now_active === 0 ? 'activate' : null;
    case 'site suspended':
      return suspended === 1 ? 'unsuspend' : null;
    case 'site unsuspended':
      return suspended === 0 ? 'suspend' : null;
    default:
      return null;
  }
}

async function queryOf(ctx: Ctx, input: ChangeSearchInput): Promise<ChangeQuery> {
  requireModule(ctx, 'logs');
  const { via, client_id_or_email: client, tag } = input;
  const now = ctx.clock.now();
  const until = input.until === undefined ? now : pastTime('until', input.until, now, 'now');
  const standard = until - STANDARD_DAYS * DAY_MS;
  const since =
    input.since === undefined ? standard : pastTime('since', input.since, now, `${STANDARD_DAYS} days before until`);
  const words = (list: readonly string[]) => list.map((word) => word.trim().toLowerCase().replace(/[ _]+/g, '-'));
  const kindsOf = (list: readonly string[]) => words(list).map((kind) => ownMember(CHANGE_KINDS, kind) ?? kind);
  return {
    sources: sourcesOf(input),
    since,
    until,
    site_ids: await oneOrAll(ctx, input.site_id_or_domain),
    client_id: client === undefined ? undefined : (await findClient(ctx, client)).id,
    tag_id: tag === undefined ? undefined : (await requireTag(ctx, tag, 'tag')).id,
    kinds: kindsOf(input.kinds),
    except: exceptOf(words(input.exclude_kinds ?? [])),
    actions: words(input.actions).flatMap(actionForms),
    actor: input.by,
    item: input.item,
    role: input.new_role,
    failed: input.result === undefined ? undefined : input.result === 'failed',
    vias: via,
  };
}

async function findChanges(ctx: Ctx, input: ChangeSearchInput) {
  const { page, per_page } = input;
  const query = await queryOf(ctx, input);
  const [{ items, total, kinds, more }, unknown] = await Promise.all([
    ctx.store.changeSearch.search(query, page, per_page, MOST_KINDS),
    notKnown(ctx, query),
  ]);
  return {
    since: isoTime(query.since) ?? '',
    until: isoTime(query.until) ?? '',
    items,
    kinds: kinds.map(({ kind, action, n, failed }) => ({
      kind: cleanLine(kind, NAME),
      action: cleanLine(action, NAME),
      count: n,
      ...(failed === 0 ? {} : { failed }),
    })),
    ...(more === 0 ? {} : { more_kinds: more }),
    ...unknown,
    total,
    page,
    per_page,
  };
}

const LOGINS = ['logged-in', 'logged-out', 'login', 'logout'];

/** Kinds and actions by these words. */
function exceptOf(words: readonly string[]): string[] {
  return words.flatMap((word) => [
    ...(/^log-?ins?$/.test(word) ? LOGINS : []),
    ownMember(CHANGE_KINDS, word) ?? word,
    ...actionForms(word),
  ]);
}

/** Roles are known of users of sites alone. */
function sourcesOf({ new_role }: ChangeSearchInput): ChangeSource[] {
  return new_role === undefined ? ['wpadmin', 'dashboard'] : ['wpadmin'];
}

function changeView(row: FleetChangeRow) {
  return {
    id: row.id,
    at: timestampOf(Math.round(row.at)),
    site_id: row.site_id,
    url: row.url === null ? null : cleanLine(row.url, NAME),
    kind: cleanLine(row.kind, NAME),
    what: cleanLine(changeSentence(row), SENTENCE),
    ...(row.slug === '' ? {} : { slug: cleanLine(row.slug, SLUG) }),
    by: cleanLine(row.actor, NAME),
    via: row.via,
  };
}
