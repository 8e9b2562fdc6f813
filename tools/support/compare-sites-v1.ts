import { bool, paging } from '../../schemas/common.js';
import { comparison } from '../../schemas/comparison.js';
import { z } from '../../schemas/zod.js';
import { bounded, integerOrText } from '../../schemas/zod-internals.js';
import { compareSites } from '../../src/domain/fleet/compare-sites.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/compare-sites-v1',
  title: 'Compare sites',
  about:
    'Shows what differs between 2 to 5 sites as of their last sync: versions, settings, plugins and themes; what is the same is counted.',
  run: 'POST',
  effect: 'read',
  live: true,

  input: () =>
    z.object({
      site_ids_or_domains: bounded(z.array(integerOrText()).min(2).max(5)).describe('Ids or domains.'),
      administrators: bool().default(false).describe('Also ask the sites who their administrators are.'),
      same: bool().default(false).describe('Also list what is the same.'),
      ...paging(20, 50),
    }),

  output: comparison,

  handle: (input, ctx) => compareSites(ctx, input),
});
