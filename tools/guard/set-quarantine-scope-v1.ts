import { token } from '../../schemas/common.js';
import { slug } from '../../schemas/extension.js';
import { quarantinedVersion, quarantineScope } from '../../schemas/safety.js';
import { z } from '../../schemas/zod.js';
import { setQuarantineScope } from '../../src/domain/updates/safe/quarantine.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/set-quarantine-scope-v1',
  title: 'Set where a version is quarantined',
  about: 'Quarantines a version on every site, or only where it broke one.',
  instructions: 'Only if a person asked.',
  effect: 'write',
  change: 'updates',
  idempotent: true,

  input: () =>
    z.object({
      type: z.enum(['core', 'plugin', 'theme', 'translation']).describe('What the item is.'),
      slug: slug().describe('Exact slug.'),
      version: token(100).describe('Exact version.'),
      scope: quarantineScope().describe('Where.'),
      reason: z.string().trim().min(1).max(500).describe('Why; it is stored.'),
    }),

  output: quarantinedVersion,

  handle: ({ scope, reason, ...version }, ctx) => setQuarantineScope(ctx, version, scope, reason),
});
