import { token } from '../../schemas/common.js';
import { slug } from '../../schemas/extension.js';
import { quarantinedVersion } from '../../schemas/safety.js';
import { z } from '../../schemas/zod.js';
import { liftQuarantine } from '../../src/domain/updates/safe/quarantine.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/lift-quarantine-v1',
  title: 'Lift a quarantine',
  about: 'Allows a quarantined version again on every site.',
  instructions: 'Only if a person asked.',
  effect: 'write',
  change: 'updates',
  idempotent: false,

  input: () =>
    z.object({
      type: z.enum(['core', 'plugin', 'theme', 'translation']).describe('What the item is.'),
      slug: slug().describe('Exact slug.'),
      version: token(100).describe('Exact version.'),
    }),

  output: quarantinedVersion,

  handle: ({ type, slug, version }, ctx) => liftQuarantine(ctx, type, slug, version),
});
