import { tag, tagColorInput, tagNameInput, tagRef } from '../../schemas/tag.js';
import { z } from '../../schemas/zod.js';
import { updateTag } from '../../src/domain/tags/tags.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/update-tag-v1',
  title: 'Change a tag',
  about: 'Renames or recolors a tag; omitted fields stay.',
  effect: 'write',
  change: 'other',
  idempotent: true,
  input: () =>
    z.object({
      tag_id: tagRef(),
      name: tagNameInput().optional().describe('Unique, not blank.'),
      color: tagColorInput().optional().describe('#RRGGBB'),
    }),
  output: tag,
  handle: ({ tag_id, ...change }, ctx) => updateTag(ctx, tag_id, change),
});
