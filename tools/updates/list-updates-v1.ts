import { pageNumbers, paging, siteRefs } from '../../schemas/common.js';
import { offerFilters } from '../../schemas/search.js';
import {
  fleetUpdateEntry,
  heldBack,
  onSuspendedSites,
  updateError,
  updateSummary,
  updateTypes,
} from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { listUpdates } from '../../src/domain/updates/updates.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-updates-v1',
  title: 'List available updates',
  about: 'Lists updates on offer as of the last sync; summary counts all.',
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      site_ids_or_domains: siteRefs('Empty = all sites.').default([]),
      types: updateTypes(),
      ...offerFilters(),
      ...paging(50, 200),
    }),

  output: () =>
    z.object({
      updates: z.array(fleetUpdateEntry()),
      summary: updateSummary(),
      on_suspended_sites: onSuspendedSites(),
      ...heldBack(),
      ...pageNumbers(),
      total: z.number().int(),
      errors: z.array(updateError()).describe('Identifiers that match no site.'),
    }),

  handle: ({ site_ids_or_domains, types, page, per_page, ...filters }, ctx) =>
    listUpdates(ctx, site_ids_or_domains, types, page, per_page, filters),
});
