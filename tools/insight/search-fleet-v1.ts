import { bool, called, paging } from '../../schemas/common.js';
import {
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
} from '../../schemas/search.js';
import { siteStatusFilter } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { searchFleet } from '../../src/domain/fleet/search.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/search-fleet-v1',
  title: 'Search the fleet',
  about:
    'Finds sites, or installs of a plugin or theme, as of the last sync. Filters combine; a list means any of them. group_by counts sites instead.',
  instructions: 'Start here for any question about many sites.',
  run: 'POST',
  effect: 'read',

  input: () =>
    z.object({
      search: searchText().describe('Part of the name or URL.'),
      status: siteStatusFilter(),
      tag_ids: idList().describe('With any of these tags.'),
      client_ids: idList().describe('Of any of these clients.'),
      plugin: called().optional().describe('Slug or name; rows are its installs.'),
      theme: called().optional().describe('Slug or name; rows are its installs.'),
      item_state: z.enum(['active', 'inactive']).optional().describe('Of that item.'),
      version_below: version().describe('Of that item.'),
      version_from: version().describe('Of that item.'),
      wp_below: version().describe('WordPress, like 6.5.'),
      php_below: version().describe('Like 8.1.'),
      child_below: version().describe('MainWP Child.'),
      not_synced_days: days().describe('At least this long, or never.'),
      has_update: kinds().describe('On offer, of the item if named.'),
      level: levels().describe('Of the update.'),
      certificate_days: days().describe('TLS expires within, or has expired.'),
      domain_days: days().describe('Expires within, or has expired.'),
      ends_within_days: days().describe('Either of them.'),
      monitor: z.enum(MONITOR_STATES).optional().describe('Uptime state.'),
      vulnerable: bool().optional().describe('Known vulnerabilities, of the item if named.'),
      quarantined: bool().optional().describe('Newer version quarantined, of the item if named.'),
      group_by: z.enum(GROUPS).optional().describe('Counts by this.'),
      fields: fieldNames().describe('Columns; empty = six fitting ones.'),
      ...paging(50, 500),
    }),

  output: searchAnswer,

  handle: (input, ctx) => searchFleet(ctx, input),
});
