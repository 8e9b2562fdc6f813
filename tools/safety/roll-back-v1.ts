import { bool, token } from '../../schemas/common.js';
import { slug } from '../../schemas/extension.js';
import { itemType, rollBackChanges, rolledBack } from '../../schemas/safety.js';
import { z } from '../../schemas/zod.js';
import { integerOrText } from '../../schemas/zod-internals.js';
import { rollBack } from '../../src/domain/updates/safe/roll-back.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/roll-back-v1',
  title: 'Roll back an update',
  about:
    'Rolls a plugin or theme back to an earlier version and checks the site. Name a change, or site, type and slug.',
  effect: 'write',
  change: rollBackChanges,
  idempotent: true,

  input: () =>
    z.object({
      change_id: integerOrText().optional().describe('From an update, a snapshot or get-site-changes-v1 (its id).'),
      site_id_or_domain: integerOrText().optional().describe('Id or domain.'),
      type: itemType().optional().describe('What the item is.'),
      slug: slug().optional().describe('Exact slug.'),
      to_version: token(100).optional().describe('Default: before the last update.'),
      hold: bool().default(false).describe('Also quarantine the newer one everywhere.'),
    }),

  output: rolledBack,

  handle: (input, ctx) => rollBack(ctx, input),
});
