import { bool, called, paging } from '../../schemas/common.js';
import {
  BACKUP_STATES,
  days,
  fieldNames,
  GROUPS,
  idList,
  kinds,
  levels,
  MONITOR_STATES,
  searchAnswer,
  searchText,
  version,
  vulnerable,
} from '../../schemas/search.js';
import { siteStatusFilter } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { searchFleet } from '../../src/domain/fleet/search.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/search-fleet-v1',
  title: 'Search the fleet',
  about: 'Finds sites, or installs of a plugin or theme, as of the last sync. Filters combine; lists mean any of them.',
  instructions: 'Start here for questions about many sites.',
  run: 'POST',
  effect: 'read',

  input: () =>
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

  output: searchAnswer,

  handle: (input, ctx) => searchFleet(ctx, input),
});
