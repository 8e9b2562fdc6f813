import { confirmation } from '../../schemas/common.js';
import { siteWord } from '../../schemas/site-text.js';
import { tagHead, tagRef } from '../../schemas/tag.js';
import { z } from '../../schemas/zod.js';
import { counted } from '../../src/domain/common/question.js';
import { deleteTag, previewDeleteTag } from '../../src/domain/tags/tags.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/delete-tag-v1',
  title: 'Delete a tag',
  about: 'Deletes a tag but keeps its sites.',
  effect: 'destroy',
  change: 'deletions',
  idempotent: true,
  input: () => z.object({ tag_id: tagRef(), ...confirmation() }),
  output: () =>
    z.object({
      deleted: z.boolean().optional().describe('True when the tag is gone; absent on a preview.'),
      dry_run: z.boolean().optional().describe('True for a preview.'),
      ...tagHead(),
      sites_affected: z.number().int().optional().describe('Preview only: sites that would lose the tag.'),
    }),
  question: ({ tag_name, sites_affected = 0 }) => ({
    text: `Delete the tag ${siteWord(tag_name)}? ${counted(sites_affected, 'site')} ${sites_affected === 1 ? 'loses' : 'lose'} it.`,
  }),
  preview: ({ tag_id }, ctx) => previewDeleteTag(ctx, tag_id),
  handle: ({ tag_id }, ctx) => deleteTag(ctx, tag_id),
});
