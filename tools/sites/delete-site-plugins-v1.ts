import { confirmation, siteRef } from '../../schemas/common.js';
import { deletedExtensions, slugs } from '../../schemas/extension.js';
import { z } from '../../schemas/zod.js';
import { deleteExtensions, deletionQuestion, previewDeletion } from '../../src/domain/extensions/deletion.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/delete-site-plugins-v1',
  title: 'Delete plugins',
  about: 'Deletes plugins and verifies each.',
  effect: 'destroy',
  change: 'deletions',
  idempotent: false,

  input: () =>
    z.object({ site_id_or_domain: siteRef(), slugs: slugs().describe('From get-site-plugins-v1.'), ...confirmation() }),

  output: deletedExtensions,

  question: (preview) => deletionQuestion(preview, 'plugin'),

  preview: ({ site_id_or_domain, slugs }, ctx) => previewDeletion(ctx, site_id_or_domain, 'plugin', slugs),

  handle: ({ site_id_or_domain, slugs }, ctx) => deleteExtensions(ctx, site_id_or_domain, 'plugin', slugs),
});
