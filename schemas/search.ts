/** Schemas of the fleet search, and of the filters it shares with the lists and runs of updates. */

import { once } from '../src/runtime/once.js';
import { bool, called, int, list, pageNumbers, paging } from './common.js';
import { siteStatusFilter } from './site.js';
import { z } from './zod.js';

/** The level of an update: whether the third or a later number of the version changes, the second, or the first. */
export const LEVELS = ['patch', 'minor', 'major'] as const;
export type Level = (typeof LEVELS)[number];

/** The word for a stored level; null for none, and for one that is unknown. */
export function levelName(level: number | null): Level | null {
  return level === null ? null : (LEVELS[level] ?? null);
}

export const MONITOR_STATES = ['up', 'down', 'pending', 'paused', 'unknown'] as const;

/** Columns of every row, available without a feed. */
export const SITE_FIELDS = [
  'id',
  'url',
  'name',
  'status',
  'reason',
  'since',
  'wp',
  'php',
  'child',
  'last_sync',
  'client',
  'tags',
  'updates',
  'health',
  'monitor',
  'certificate',
  'domain',
  'backup',
] as const;
/** Columns of the searched plugin or theme. */
export const ITEM_FIELDS = ['slug', 'item', 'version', 'active', 'update', 'level'] as const;
const SEARCH_FIELDS = [...SITE_FIELDS, 'vulnerabilities', ...ITEM_FIELDS] as const;
/** What the page's routes also have: the worse of a site's status and what its monitor and last visit found. */
export const SITE_STATES = ['down', 'disconnected', 'pending', 'connected', 'suspended'] as const;
export type SiteState = (typeof SITE_STATES)[number];
export type SearchField = (typeof SEARCH_FIELDS)[number] | 'state';

export const GROUPS = ['php', 'wp', 'slug', 'client', 'tag', 'status', 'level', 'backup'] as const;
export type Group = (typeof GROUPS)[number];

/** Whether the time of a site's last backup is known. */
export const BACKUP_STATES = ['known', 'unknown'] as const;
export type BackupState = (typeof BACKUP_STATES)[number];

/** A list whose single member may be sent without brackets. Filters only ever narrow, so this widens nothing. */
export function listOrOne<T extends z.ZodTypeAny>(item: T, most?: number) {
  return z.preprocess((value) => (typeof value === 'string' && value !== '' ? [value] : value), list(item, most));
}

/** Words by which entries of a log are found, such as `plugin` or `updated`. Few, because every entry is compared with each. */
export const logWords = () => listOrOne(z.string().trim().min(1).max(50), 100).default([]);

export const levels = () => listOrOne(z.enum(LEVELS)).default([]);
export const kinds = () => listOrOne(z.enum(['core', 'plugins', 'themes', 'translations'])).default([]);
export const fieldNames = () => listOrOne(z.enum(SEARCH_FIELDS)).default([]);
export const idList = () => list(int(1)).default([]);
export const searchText = () => z.string().max(255).default('');
export const version = () => z.string().trim().min(1).max(100).optional();
/** `core`: WordPress itself has known flaws. */
export const vulnerable = () => z.union([z.literal('core'), bool()]).optional();
export const days = () => int(0, 36_500).optional();

/** Filters of lists and runs of updates. */
export const offerFilters = once(() => ({
  search: searchText().describe('In its slug or name.'),
  slug: called().optional().describe('One slug or name.'),
  exclude_slugs: listOrOne(called()).default([]).describe('Left out.'),
  tag_ids: idList().describe('With any of these tags.'),
  client_ids: idList().describe('Of any of these clients.'),
  level: levels().describe('Size of the step.'),
}));

/** A search of the fleet as requested. Empty lists and texts filter nothing. */
export const fleetSearch = once(() =>
  z.object({
    search: searchText().describe('In name or URL.'),
    status: siteStatusFilter(),
    tag_ids: idList().describe('Any of them.'),
    client_ids: idList().describe('Any of them.'),
    plugin: called().optional().describe('Slug or name.'),
    theme: called().optional().describe('Slug or name.'),
    item_state: z.enum(['active', 'inactive']).optional().describe('Of that item.'),
    version_below: version().describe('Of that item.'),
    version_from: version().describe('Of that item.'),
    wp_below: version().describe('Like 6.5.'),
    php_below: version().describe('Like 8.1.'),
    child_below: version().describe('MainWP Child.'),
    not_synced_days: days().describe('This long, or never.'),
    has_update: kinds().describe('Of the item if named.'),
    level: levels().describe('Of the update.'),
    certificate_days: days().describe('TLS ends within, or has ended.'),
    domain_days: days().describe('Expires within.'),
    ends_within_days: days().describe('TLS or domain.'),
    monitor: z.enum(MONITOR_STATES).optional().describe('Uptime state.'),
    vulnerable: vulnerable().describe('Known flaws; core: WordPress.'),
    quarantined: bool().optional().describe('Newer version is.'),
    backup: z.enum(BACKUP_STATES).optional().describe('Last one.'),
    backup_older_than_days: days().describe('Last one.'),
    group_by: z.enum(GROUPS).optional().describe('Counts by this.'),
    fields: fieldNames().describe('Columns; empty = six.'),
    ...paging(50, 500),
  }),
);
/** The page's routes ask for more. */
export type FleetSearch = Omit<z.output<ReturnType<typeof fleetSearch>>, 'fields'> & {
  fields: readonly SearchField[];
  /** Whether the guard answered when last asked. */
  guarded?: boolean | undefined;
};

export const searchAnswer = once(() =>
  z.object({
    columns: z.array(z.string()).optional(),
    rows: z
      .array(z.array(z.union([z.string(), z.number().finite(), z.boolean(), z.null()])))
      .optional()
      .describe('One array per row, in the order of columns.'),
    groups: z
      .array(z.object({ value: z.string().nullable(), count: z.number().int(), id: z.number().int().optional() }))
      .optional()
      .describe('count = sites.'),
    total: z.number().int().describe('Rows; with group_by: sites.'),
    sites: z.number().int().describe('Sites that match.'),
    total_groups: z.number().int().optional(),
    unknown: z.number().int().optional().describe('Sites left out because a value to filter by is unknown.'),
    not_known: z.array(z.string()).optional(),
    note: z.string().optional(),
    ...pageNumbers(),
  }),
);
