import { siteRef } from '../../schemas/common.js';
import { ignoreAction, ignoreChanges } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { CORE_SLUG, setIgnored } from '../../src/domain/updates/ignored.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/ignore-site-core-v1',
  title: 'Ignore or restore core updates',
  about: "Ignores or restores a site's core updates.",
  instructions: 'update-site-core-v1 applies them anyway.',
  effect: 'write',
  change: ignoreChanges,
  idempotent: true,

  input: () => z.object({ site_id_or_domain: siteRef(), action: ignoreAction() }),

  output: () =>
    z.object({
      success: z.boolean(),
      site_id: z.number().int(),
      action: z.enum(['add', 'remove']),
      core_ignored: z.boolean(),
      notice: z.string().optional(),
    }),

  async handle({ site_id_or_domain, action }, ctx) {
    const { site_id, list, notice } = await setIgnored(ctx, site_id_or_domain, 'core', [CORE_SLUG], action === 'add');
    const core_ignored = list.length > 0 || notice !== undefined;
    return { success: true, site_id, action, core_ignored, ...(notice === undefined ? {} : { notice }) };
  },
});
