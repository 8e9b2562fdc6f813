import { siteRef } from '../../schemas/common.js';
import { heldBack, siteFields, updateEntry, updateSummary, updateTypes } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { siteUpdates } from '../../src/domain/updates/updates.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-site-updates-v1',
  title: "List one site's updates",
  about: 'Lists the updates on offer for a site as of its last sync, without ignored ones.',
  run: 'POST',
  effect: 'read',

  input: () => z.object({ site_id_or_domain: siteRef(), types: updateTypes() }),

  output: () => z.object({ ...siteFields(), updates: z.array(updateEntry()), summary: updateSummary(), ...heldBack() }),

  handle: ({ site_id_or_domain, types }, ctx) => siteUpdates(ctx, site_id_or_domain, types),
});
