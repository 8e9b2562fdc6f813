import { backupRuleFields, backupSchedule } from '../../schemas/backup.js';
import { id } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { integerOrText } from '../../schemas/zod-internals.js';
import { setSchedule } from '../../src/domain/backups/schedule.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/schedule-backups-v1',
  title: 'Schedule backups',
  about: 'Sets how often sites are backed up: the whole fleet or, as an exception, a tag or a site.',
  effect: 'write',
  change: 'settings',
  idempotent: true,

  input: () =>
    z.object({
      site_id_or_domain: integerOrText().optional().describe('One site: id or domain.'),
      tag_id: id().optional().describe('Or a tag; neither = the fleet.'),
      ...backupRuleFields(),
    }),

  output: backupSchedule,

  handle: (input, ctx) => setSchedule(ctx, input),
});
