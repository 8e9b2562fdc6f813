import { bool, pageNumbers, paging } from '../../schemas/common.js';
import { quarantinedVersion } from '../../schemas/safety.js';
import { z } from '../../schemas/zod.js';
import { quarantinedVersions } from '../../src/domain/updates/safe/quarantine.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-quarantined-versions-v1',
  title: 'List quarantined versions',
  about: 'Lists versions that broke a site, newest first, and whether each is quarantined there or everywhere.',
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      include_lifted: bool().default(false).describe('Include lifted ones.'),
      ...paging(50, 200),
    }),

  output: () =>
    z.object({
      versions: z.array(quarantinedVersion()),
      ...pageNumbers(),
      total: z.number().int(),
    }),

  handle: ({ include_lifted, page, per_page }, ctx) => quarantinedVersions(ctx, include_lifted, page, per_page),
});
