/** The conditions of a fleet search, as SQL. Every condition is a set of sites, and a search is their intersection. */

import type { BackupState } from '../../../schemas/search.js';
import type { Value } from '../driver/db.js';
import { type Fragment, fragment, IN, join } from '../driver/sql-fragments.js';
import { idList, sitePredicate } from '../sites/filter.js';
import { quarantinedOn } from '../sites/quarantined-on.js';
import type { SiteStatus } from '../sites/rows.js';
import {
  UNCLASSIFIED_CORES,
  UNCLASSIFIED_SITES,
  VULNERABLE_CORES,
  VULNERABLE_INSTALLS,
} from '../vulnerabilities/list.js';

export type MonitorState = 'up' | 'down' | 'pending' | 'paused' | 'unknown';
type VersionColumn = 'wp_version' | 'php_version' | 'child_version';

/** Updates that are not ignored. Empty lists = any. */
export interface OfferFilter {
  /** Numbers of the update types. */
  types: readonly number[];
  /** 0 patch, 1 minor, 2 major. */
  levels: readonly number[];
}

/** An installed plugin or theme. */
export interface ItemFilter {
  /** 0 plugin, 1 theme. */
  kind: number;
  packages: readonly number[];
  versions?: readonly string[] | undefined;
  active?: boolean | undefined;
  /** Whether the installed version has known vulnerabilities. */
  vulnerable?: boolean | undefined;
  /** Whether the available version is quarantined. */
  quarantined?: boolean | undefined;
  /** Levels of an update that must be available for it; undefined = with or without one. */
  offer?: readonly number[] | undefined;
}

export interface FleetFilter {
  search?: string | undefined;
  status?: SiteStatus | undefined;
  /** Any of them. */
  tags: readonly number[];
  clients: readonly number[];
  /** By column, the matching versions. */
  versions: readonly { column: VersionColumn; fitting: readonly string[] }[];
  /** Instants, exclusive. A site that was never synced counts as not synced. */
  not_synced_since?: number | undefined;
  certificate_before?: number | undefined;
  domain_before?: number | undefined;
  /** Either of them. */
  ends_before?: number | undefined;
  /** Whether the time of the last backup is known; and an instant before which it was, exclusive. */
  backup?: BackupState | undefined;
  backup_before?: number | undefined;
  monitor?: { state: MonitorState /** The global switch, for monitors that follow it. */; active: number } | undefined;
  /**
   * Whether a vulnerable item is installed; `known`: there is a feed. For a named item the item's own condition
   * applies, and this one only yields the unknown sites.
   */
  vulnerable?: { wanted: boolean; known: boolean; of: 'site' | 'item' | 'core' } | undefined;
  /** Whether a quarantined version is available. */
  quarantined?: boolean | undefined;
  /** Whether a guard answered when last asked. */
  guarded?: boolean | undefined;
  /** Any of these updates is available for the site. */
  offers?: readonly OfferFilter[] | undefined;
  /** All of these are installed; rows show the first one. */
  items: readonly ItemFilter[];
}

/** ` WHERE …`, or empty if every site matches. */
export const where = (condition: Fragment): Fragment =>
  condition.text === '' ? condition : join([fragment(' WHERE '), condition]);

const texts = (values: readonly string[]) => JSON.stringify(values);

/**
 * Which updates; covered by the index `site_update_by_level`, which SQLite uses if the numbers are literals in the
 * text.
 */
export function offerCondition({ types, levels }: OfferFilter): Fragment {
  const among = (column: string, numbers: readonly number[]) =>
    numbers.length === 0 ? '' : ` AND ${column} IN (${numbers.map(Math.trunc).join(', ')})`;
  return fragment(`u.ignored = 0${among('u.type', types)}${among('u.level', levels)}`);
}

const VULNERABLE = '(e.package_id, e.version) IN (SELECT package_id, version FROM vulnerable_version)';
const HARMLESS = `NOT ${VULNERABLE} AND (e.package_id, e.version) NOT IN (SELECT package_id, version FROM unclassified_version)`;
const QUARANTINED = `EXISTS (SELECT 1 FROM package k JOIN quarantined_version q ON q.type = k.kind + 1 AND q.slug = k.slug
  WHERE k.id = e.package_id AND q.version = e.update_version AND ${quarantinedOn('q', 'e.site_id')})`;

/** `SELECT site_id, package_id` of matching installed items; from covering indexes. */
export function itemRows({ kind, packages, versions, active, vulnerable, quarantined, offer }: ItemFilter): Fragment {
  const own = join([
    fragment(`e.package_id ${IN}`, idList(packages)),
    ...(versions === undefined ? [] : [fragment(` AND e.version ${IN}`, texts(versions))]),
    ...(active === undefined ? [] : [fragment(' AND e.active = ?', active)]),
    ...(vulnerable === undefined ? [] : [fragment(` AND ${vulnerable ? VULNERABLE : HARMLESS}`)]),
    ...(quarantined === undefined ? [] : [fragment(` AND ${quarantined ? '' : 'NOT '}${QUARANTINED}`)]),
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
  return join([...baseConditions(filter), ...uncertainConditions(filter).map(({ fits }) => fits)], ' AND ');
}

/** Sites that match otherwise, but for which a searched value is unknown; undefined if every value is always known. */
export function unknownCondition(filter: FleetFilter): Fragment | undefined {
  const conditions = uncertainConditions(filter);
  if (conditions.length === 0) return undefined;
  const unknown = join(
    conditions.map(({ unknown }) => unknown),
    ' OR ',
  );
  return join([...baseConditions(filter), join([fragment('('), unknown, fragment(')')])], ' AND ');
}

/**
 * Of how many sites the end of the certificate and of the domain is unknown, and why: of these, or of those that match
 * what is always known.
 */
export function unknownEnds(of: FleetFilter | readonly number[]): Fragment {
  const sum = (condition: string, name: string) => `count(CASE WHEN ${condition} THEN 1 END) AS ${name}`;
  const columns = [
    sum("c.site_id IS NULL AND s.url NOT LIKE 'https:%'", 'certificate_none'),
    sum("c.site_id IS NULL AND s.url LIKE 'https:%'", 'certificate_never'),
    sum('c.site_id IS NOT NULL AND c.valid_to IS NULL', 'certificate_failed'),
    sum('l.site_id IS NOT NULL AND l.domain IS NULL', 'domain_none'),
    sum(
      'l.site_id IS NULL OR (l.domain IS NOT NULL AND o.expiry_date IS NULL AND o.last_check IS NULL)',
      'domain_never',
    ),
    sum("o.expiry_date IS NULL AND o.last_check IS NOT NULL AND o.error <> ''", 'domain_failed'),
    sum("o.expiry_date IS NULL AND o.last_check IS NOT NULL AND o.error = ''", 'domain_untold'),
  ];
  return join([
    fragment(
      `SELECT ${columns.join(', ')} FROM site s LEFT JOIN site_certificate c ON c.site_id = s.id
         LEFT JOIN site_domain l ON l.site_id = s.id LEFT JOIN domain o ON o.name = l.domain`,
    ),
    where('items' in of ? join(baseConditions(of), ' AND ') : fragment(`s.id ${IN}`, idList(of))),
  ]);
}

/** Conditions on values that are always known. */
function baseConditions(filter: FleetFilter): Fragment[] {
  const { search, status, tags, clients, monitor, offers, items } = filter;
  const plain = sitePredicate({ search, status });
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
  if (filter.backup !== undefined)
    conditions.push(
      fragment(
        `s.id IN (SELECT site_id FROM site_detail WHERE last_backup IS ${filter.backup === 'known' ? 'NOT ' : ''}NULL)`,
      ),
    );
  if (filter.quarantined !== undefined)
    conditions.push(
      fragment(`s.id ${filter.quarantined ? '' : 'NOT '}IN (SELECT site_id FROM site_update WHERE ignored = 2)`),
    );
  if (monitor !== undefined) conditions.push(monitorCondition(monitor));
  if (offers !== undefined)
    conditions.push(
      join([
        fragment('EXISTS (SELECT 1 FROM site_update u WHERE u.site_id = s.id AND ('),
        anyOffer(offers),
        fragment('))'),
      ]),
    );
  for (const item of items)
    conditions.push(join([fragment('s.id IN (SELECT site_id FROM ('), itemRows(item), fragment('))')]));
  return conditions;
}

/** Any of these updates. */
export function anyOffer(offers: readonly OfferFilter[]): Fragment {
  const any = join(offers.map(offerCondition), ') OR (');
  return fragment(`(${any.text})`, ...any.args);
}

/** A monitor's state is that of its last beat; paused takes precedence. */
function monitorCondition({ state, active }: { state: MonitorState; active: number }): Fragment {
  const on = '(coalesce(m.active, ?) = 1 AND s.suspended = 0)';
  const status = { up: 1, down: 0, pending: 2, unknown: 99, paused: null }[state];
  const of = (condition: string, ...args: Value[]) =>
    fragment(`EXISTS (SELECT 1 FROM monitor m WHERE m.site_id = s.id AND ${condition})`, ...args);
  return status === null ? of(`NOT ${on}`, active) : of(`m.status = ? AND ${on}`, status, active);
}

interface UncertainCondition {
  fits: Fragment;
  unknown: Fragment;
}

/** Conditions on values that may be unknown for a site. */
function uncertainConditions(filter: FleetFilter): UncertainCondition[] {
  const conditions = filter.versions.map(
    ({ column, fitting }): UncertainCondition => ({
      fits: fragment(`s.id IN (SELECT site_id FROM site_detail WHERE ${column} ${IN})`, texts(fitting)),
      unknown: fragment(`s.id IN (SELECT site_id FROM site_detail WHERE ${column} = '')`),
    }),
  );
  const ending = (before: number | undefined, { from, column }: Ends) => {
    if (before === undefined) return;
    conditions.push({ fits: endsBefore(before, { from, column }), unknown: endIsUnknown({ from, column }) });
  };
  if (filter.guarded !== undefined)
    conditions.push({
      fits: fragment(`s.id IN (SELECT site_id FROM site_guard WHERE present ${filter.guarded ? '=' : '<>'} 1)`),
      unknown: fragment('s.id NOT IN (SELECT site_id FROM site_guard)'),
    });
  if (filter.vulnerable !== undefined) conditions.push(vulnerability(filter.vulnerable, filter.items));
  if (filter.backup_before !== undefined)
    conditions.push({
      fits: fragment('s.id IN (SELECT site_id FROM site_detail WHERE last_backup < ?)', filter.backup_before / 1000),
      unknown: fragment('s.id IN (SELECT site_id FROM site_detail WHERE last_backup IS NULL)'),
    });
  ending(filter.certificate_before, CERTIFICATE);
  ending(filter.domain_before, DOMAIN);
  const { ends_before: before } = filter;
  if (before !== undefined) {
    const fits = either([endsBefore(before, CERTIFICATE), endsBefore(before, DOMAIN)]);
    const unknown = either([endIsUnknown(CERTIFICATE), endIsUnknown(DOMAIN)]);
    // What is known of one may be enough.
    conditions.push({ fits, unknown: join([unknown, fragment(' AND NOT '), fits]) });
  }
  return conditions;
}

interface Ends {
  from: string;
  column: string;
}
const CERTIFICATE: Ends = { from: 'site_certificate', column: 'valid_to' };
const DOMAIN: Ends = { from: 'site_domain d JOIN domain o ON o.name = d.domain', column: 'o.expiry_date' };

function endsBefore(before: number, { from, column }: Ends): Fragment {
  return fragment(`s.id IN (SELECT site_id FROM ${from} WHERE ${column} < ?)`, before);
}

function endIsUnknown({ from, column }: Ends): Fragment {
  return fragment(`s.id NOT IN (SELECT site_id FROM ${from} WHERE ${column} IS NOT NULL)`);
}

function either(conditions: readonly Fragment[]): Fragment {
  return join([fragment('('), join(conditions, ' OR '), fragment(')')]);
}

function vulnerability(
  { wanted, known, of }: NonNullable<FleetFilter['vulnerable']>,
  [item]: readonly ItemFilter[],
): UncertainCondition {
  if (!known) return { fits: fragment('0'), unknown: fragment('1') };
  if (of === 'core') return amongSites(wanted, VULNERABLE_CORES, UNCLASSIFIED_CORES);
  if (of === 'item')
    return {
      fits: fragment('1'),
      unknown: fragment(
        `s.id IN (SELECT e.site_id FROM unclassified_version j JOIN site_extension e ON e.package_id = j.package_id AND e.version = j.version
           WHERE j.package_id ${IN})`,
        idList(item?.packages ?? []),
      ),
    };
  return amongSites(wanted, `SELECT site_id FROM (${VULNERABLE_INSTALLS})`, UNCLASSIFIED_SITES);
}

/** What is known of one version may be enough. */
function amongSites(wanted: boolean, vulnerable: string, unclassified: string): UncertainCondition {
  return {
    fits: fragment(
      wanted ? `s.id IN (${vulnerable})` : `s.id NOT IN (${vulnerable}) AND s.id NOT IN (${unclassified})`,
    ),
    unknown: fragment(`s.id IN (${unclassified})${wanted ? ` AND s.id NOT IN (${vulnerable})` : ''}`),
  };
}
