/** The conditions of a search over the fleet, as SQL. Every condition is a set of sites, and a search is their intersection. */

import type { Value } from '../driver/db.js';
import { type Fragment, join } from '../driver/sql-fragments.js';
import { idList, sitePredicate } from '../sites/filter.js';
import type { SiteStatus } from '../sites/rows.js';

export type MonitorState = 'up' | 'down' | 'pending' | 'paused' | 'unknown';
type VersionColumn = 'wp_version' | 'php_version' | 'child_version';

/** Offers that are not ignored. Empty lists = any. */
export interface OfferFilter {
  /** Numbers of the update types. */
  types: readonly number[];
  /** 0 patch, 1 minor, 2 major. */
  levels: readonly number[];
}

/** A plugin or theme that is installed. */
export interface ItemFilter {
  /** 0 plugin, 1 theme. */
  kind: number;
  packages: readonly number[];
  versions?: readonly string[] | undefined;
  active?: boolean | undefined;
  /** Levels of an update that must be on offer for it; undefined = whether or not there is one. */
  offer?: readonly number[] | undefined;
}

export interface FleetFilter {
  search?: string | undefined;
  status?: SiteStatus | undefined;
  /** Any of them. */
  tags: readonly number[];
  clients: readonly number[];
  denied: readonly number[];
  /** By column, the versions that fit. */
  versions: readonly { column: VersionColumn; fitting: readonly string[] }[];
  /** Instants, exclusive. A site that was never synced counts as not synced. */
  not_synced_since?: number | undefined;
  certificate_before?: number | undefined;
  domain_before?: number | undefined;
  monitor?: { state: MonitorState /** The global switch, for monitors that follow it. */; active: number } | undefined;
  /** Any of these is on offer for the site. */
  offers?: readonly OfferFilter[] | undefined;
  /** All of these are installed; the first is the one that rows show. */
  items: readonly ItemFilter[];
}

export const fragment = (text: string, ...args: Value[]): Fragment => ({ text, args });

/** ` WHERE …`, or nothing when every site fits. */
export const where = (condition: Fragment): Fragment =>
  condition.text === '' ? condition : join([fragment(' WHERE '), condition]);

const texts = (values: readonly string[]) => JSON.stringify(values);
const IN = 'IN (SELECT value FROM json_each(?))';

/** Which offers; covered by the index `site_update_by_level`, which SQLite finds when the numbers stand in the text. */
export function offerCondition({ types, levels }: OfferFilter): Fragment {
  const among = (column: string, numbers: readonly number[]) =>
    numbers.length === 0 ? '' : ` AND ${column} IN (${numbers.map(Math.trunc).join(', ')})`;
  return fragment(`u.ignored = 0${among('u.type', types)}${among('u.level', levels)}`);
}

/** `SELECT site_id, package_id` of what is installed and fits; from covering indexes. */
export function itemRows({ kind, packages, versions, active, offer }: ItemFilter): Fragment {
  const own = join([
    fragment(`e.package_id ${IN}`, idList(packages)),
    ...(versions === undefined ? [] : [fragment(` AND e.version ${IN}`, texts(versions))]),
    ...(active === undefined ? [] : [fragment(' AND e.active = ?', active)]),
  ]);
  if (offer === undefined) return join([fragment('SELECT e.site_id, e.package_id FROM site_extension e WHERE '), own]);
  const offered = offerCondition({ types: [], levels: offer });
  return join([
    fragment(
      `SELECT e.site_id, e.package_id FROM package p JOIN site_update u ON u.type = p.kind + 1 AND u.slug = p.slug
       JOIN site_extension e ON e.site_id = u.site_id AND e.kind = ? AND e.package_id = p.id
       WHERE p.id ${IN} AND `,
      kind,
      idList(packages),
    ),
    offered,
    fragment(' AND '),
    own,
  ]);
}

/** Which sites, with `s` as the site. Empty text = every site. */
export function siteCondition(filter: FleetFilter): Fragment {
  return both([...baseConditions(filter), ...judgedConditions(filter).map(({ fits }) => fits)]);
}

/** Sites that fit otherwise, but of which a value that was asked about is not known; undefined when all are always known. */
export function unknownCondition(filter: FleetFilter): Fragment | undefined {
  const judged = judgedConditions(filter);
  if (judged.length === 0) return undefined;
  const unknown = join(judged.flatMap(({ unknown }, index) => (index === 0 ? [unknown] : [fragment(' OR '), unknown])));
  return both([...baseConditions(filter), join([fragment('('), unknown, fragment(')')])]);
}

function both(conditions: readonly Fragment[]): Fragment {
  return join(conditions.flatMap((one, index) => (index === 0 ? [one] : [fragment(' AND '), one])));
}

/** Conditions on what is always known. */
function baseConditions(filter: FleetFilter): Fragment[] {
  const { search, status, denied, tags, clients, monitor, offers, items } = filter;
  const plain = sitePredicate({ search, status, denied });
  const conditions: Fragment[] = plain.where === '1' ? [] : [{ text: plain.where, args: plain.args }];
  if (tags.length > 0)
    conditions.push(fragment(`s.id IN (SELECT site_id FROM site_tag WHERE tag_id ${IN})`, idList(tags)));
  if (clients.length > 0) conditions.push(fragment(`s.client_id ${IN}`, idList(clients)));
  if (filter.not_synced_since !== undefined)
    conditions.push(
      fragment(
        's.id IN (SELECT site_id FROM site_detail WHERE last_sync < ? UNION ALL SELECT site_id FROM site_detail WHERE last_sync IS NULL)',
        filter.not_synced_since,
      ),
    );
  if (monitor !== undefined) conditions.push(monitorCondition(monitor));
  if (offers !== undefined) conditions.push(anyOffer(offers));
  for (const item of items)
    conditions.push(join([fragment('s.id IN (SELECT site_id FROM ('), itemRows(item), fragment('))')]));
  return conditions;
}

function anyOffer(offers: readonly OfferFilter[]): Fragment {
  return join([
    fragment('s.id IN (SELECT u.site_id FROM site_update u WHERE '),
    ...offers.flatMap((offer, index) => [fragment(index === 0 ? '(' : ' OR ('), offerCondition(offer), fragment(')')]),
    fragment(')'),
  ]);
}

/** A monitor's word is that of its last beat; paused beats all of them. */
function monitorCondition({ state, active }: { state: MonitorState; active: number }): Fragment {
  const on = '(coalesce(m.active, ?) = 1 AND s.suspended = 0)';
  const status = { up: 1, down: 0, pending: 2, unknown: 99, paused: null }[state];
  const of = (condition: string, ...args: Value[]) =>
    fragment(`EXISTS (SELECT 1 FROM monitor m WHERE m.site_id = s.id AND ${condition})`, ...args);
  return status === null ? of(`NOT ${on}`, active) : of(`m.status = ? AND ${on}`, status, active);
}

interface Judged {
  fits: Fragment;
  unknown: Fragment;
}

/** Conditions on what may not be known of a site. */
function judgedConditions(filter: FleetFilter): Judged[] {
  const judged = filter.versions.map(
    ({ column, fitting }): Judged => ({
      fits: fragment(`s.id IN (SELECT site_id FROM site_detail WHERE ${column} ${IN})`, texts(fitting)),
      unknown: fragment(`s.id IN (SELECT site_id FROM site_detail WHERE ${column} = '')`),
    }),
  );
  const ending = (before: number | undefined, from: string, column: string) => {
    if (before === undefined) return;
    judged.push({
      fits: fragment(`s.id IN (SELECT site_id FROM ${from} WHERE ${column} < ?)`, before),
      unknown: fragment(`s.id NOT IN (SELECT site_id FROM ${from} WHERE ${column} IS NOT NULL)`),
    });
  };
  ending(filter.certificate_before, 'site_certificate', 'valid_to');
  ending(filter.domain_before, 'site_domain d JOIN domain o ON o.name = d.domain', 'o.expiry_date');
  return judged;
}
