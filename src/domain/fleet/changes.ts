/** Search in the changes of the whole fleet. */

import { actionForms, CHANGE_KINDS } from '../../../schemas/changes.js';
import { cleanLine } from '../../../schemas/text.js';
import { isoTime, timestampOf } from '../../runtime/iso-time.js';
import { ownMember } from '../../runtime/own-member.js';
import type { FleetChangeRow } from '../../store/fleet/change-search.js';
import type { ChangeSource } from '../../store/sites/change-list.js';
import { type ClientRef, findClient } from '../clients/records.js';
import { pastTime } from '../common/past-time.js';
import type { Ctx } from '../context.js';
import { requireModule } from '../settings/modules.js';
import { changeSentence } from '../sites/changes.js';
import { oneOrAll, type SiteRef, withoutSite } from '../sites/resolve.js';
import { requireTag, type TagRef } from '../tags/refs.js';

const DAY_MS = 86_400_000;
const STANDARD_DAYS = 30;
/** Kinds with their actions that are counted in an answer. */
const MOST_KINDS = 20;
/** Characters of a sentence, and of a name. */
const SENTENCE = 160;
const NAME = 60;
/** Whole, as far as plugins have them: it is sent to other operations. */
const SLUG = 200;

interface ChangeSearchInput {
  since?: string | undefined;
  until?: string | undefined;
  site_id_or_domain?: SiteRef | undefined;
  client_id_or_email?: ClientRef | undefined;
  tag?: TagRef | undefined;
  by?: string | undefined;
  kinds: readonly string[];
  actions: readonly string[];
  item?: string | undefined;
  new_role?: string | undefined;
  result?: 'done' | 'failed' | undefined;
  via: readonly string[];
  page: number;
  per_page: number;
}

/**
 * One page, newest first, without the site where the call names it. Throws `svc_module_not_available`, `svc_invalid_input` for
 * a time, and for a site, client or tag that does not exist.
 */
export async function searchChanges(ctx: Ctx, input: ChangeSearchInput) {
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

async function findChanges(ctx: Ctx, input: ChangeSearchInput) {
  requireModule(ctx, 'logs');
  const { page, per_page, via, client_id_or_email: client, tag } = input;
  const now = ctx.clock.now();
  const until = input.until === undefined ? now : pastTime('until', input.until, now, 'now');
  const standard = until - STANDARD_DAYS * DAY_MS;
  const since =
    input.since === undefined ? standard : pastTime('since', input.since, now, `${STANDARD_DAYS} days before until`);
  const words = (list: readonly string[]) => list.map((word) => word.trim().toLowerCase().replace(/[ _]+/g, '-'));
  const { items, total, kinds, more } = await ctx.store.changeSearch.search(
    {
      sources: sourcesOf(input),
      since,
      until,
      site_ids: await oneOrAll(ctx, input.site_id_or_domain),
      client_id: client === undefined ? undefined : (await findClient(ctx, client)).id,
      tag_id: tag === undefined ? undefined : (await requireTag(ctx, tag, 'tag')).id,
      kinds: words(input.kinds).map((kind) => ownMember(CHANGE_KINDS, kind) ?? kind),
      actions: words(input.actions).flatMap(actionForms),
      actor: input.by,
      item: input.item,
      role: input.new_role,
      failed: input.result === undefined ? undefined : input.result === 'failed',
      vias: via,
    },
    page,
    per_page,
    MOST_KINDS,
  );
  return {
    since: isoTime(since) ?? '',
    until: isoTime(until) ?? '',
    items,
    kinds: kinds.map(({ kind, action, n, failed }) => ({
      kind: cleanLine(kind, NAME),
      action: cleanLine(action, NAME),
      count: n,
      ...(failed === 0 ? {} : { failed }),
    })),
    ...(more === 0 ? {} : { more_kinds: more }),
    total,
    page,
    per_page,
  };
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
