import { confirmation, siteRef } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { counted, sentences } from '../../src/domain/common/question.js';
import { loadWritable } from '../../src/domain/sites/load.js';
import { siteAddress } from '../../src/domain/sites/urls.js';
import { previewRemoval, removeGuard } from '../../src/domain/updates/safe/site-guard.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/remove-site-guard-v1',
  title: "Remove a site's guard",
  about: 'Removes the guard and its snapshots from a site.',
  effect: 'destroy',
  change: 'deletions',
  idempotent: false,

  input: () => z.object({ site_id_or_domain: siteRef(), ...confirmation() }),

  output: () =>
    z.object({
      site_id: z.number().int(),
      site_url: z.string().optional(),
      dry_run: z.boolean().optional(),
      installed: z.boolean().optional(),
      snapshots: z.number().int().optional(),
      warnings: z.array(z.string()).optional(),
      removed: z.boolean().optional(),
    }),

  requireTarget: ({ site_id_or_domain }, ctx) => loadWritable(ctx, site_id_or_domain),

  question: ({ site_url = '', snapshots = 0, warnings = [] }) => ({
    text: sentences(
      `Remove the guard from ${siteAddress(site_url)}, with ${snapshots === 1 ? 'its copy' : `its ${counted(snapshots, 'copy', 'copies')}`} of earlier versions? This cannot be undone.`,
      ...warnings,
    ),
  }),

  preview: ({ site_id_or_domain }, ctx) => previewRemoval(ctx, site_id_or_domain),

  handle: ({ site_id_or_domain }, ctx) => removeGuard(ctx, site_id_or_domain),
});
