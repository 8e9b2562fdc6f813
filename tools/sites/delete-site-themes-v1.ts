import { confirmation, siteRef } from '../../schemas/common.js';
import { deletedExtensions, slugs } from '../../schemas/extension.js';
import { z } from '../../schemas/zod.js';
import { deleteExtensions, deletionQuestion, previewDeletion } from '../../src/domain/extensions/deletion.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/delete-site-themes-v1',
  title: 'Delete themes',
  about: 'Deletes themes and verifies each. The active one and its parent are refused.',
  effect: 'destroy',
  change: 'deletions',
  idempotent: false,

  input: () =>
    z.object({ site_id_or_domain: siteRef(), slugs: slugs().describe('From get-site-themes-v1.'), ...confirmation() }),

  output: deletedExtensions,

  question: (preview) => deletionQuestion(preview, 'theme'),

  preview: ({ site_id_or_domain, slugs }, ctx) => previewDeletion(ctx, site_id_or_domain, 'theme', slugs),

  handle: ({ site_id_or_domain, slugs }, ctx) => deleteExtensions(ctx, site_id_or_domain, 'theme', slugs),
});
