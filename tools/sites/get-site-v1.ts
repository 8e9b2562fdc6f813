import { bool, siteRef } from '../../schemas/common.js';
import { guidanceLines } from '../../schemas/guidance.js';
import { site, siteStats } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { guidanceFor } from '../../src/domain/guidance/guidance.js';
import { getRecord, siteView, siteWithStats } from '../../src/domain/sites/sites.js';
import { defineOperation } from '../../src/operation/operation.js';

/** Entries that are shown; the others are listed by list-guidance-v1. */
const GUIDANCE = 10;

export default defineOperation({
  id: 'svc/get-site-v1',
  title: 'Read one site',
  about: "Reads a site's stored record; include_stats adds update counts and health.",
  run: 'POST',
  effect: 'read',

  input: () =>
    z.object({
      site_id_or_domain: siteRef(),
      include_stats: bool().default(false).describe('Adds `stats`.'),
    }),

  output: () => site().extend({ guidance: guidanceLines(), stats: siteStats().optional() }),

  async handle({ site_id_or_domain, include_stats }, ctx) {
    const record = await getRecord(ctx, site_id_or_domain);
    const [view, guidance] = await Promise.all([
      include_stats ? siteWithStats(ctx, record) : siteView(ctx, record),
      guidanceFor(ctx, [record.id], GUIDANCE),
    ]);
    return guidance === undefined ? view : { ...view, guidance: guidance.lines };
  },
});
