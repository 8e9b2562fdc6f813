import { tag, tagColorInput, tagNameInput, tagRef } from '../../schemas/tag.js';
import { z } from '../../schemas/zod.js';
import { updateTag } from '../../src/domain/tags.js';
import { defineOperation } from '../../src/operation.js';

export default defineOperation({
  id: 'svc/update-tag-v1',
  title: 'Change a tag',
  about:
    'Renames or recolors a tag and leaves its sites as they are; fields left out stay. A name in use by another tag is svc_already_exists. A color can be changed but not removed.',
  run: 'POST',
  effect: 'write',
  idempotent: true,
  input: z.object({
    tag_id: tagRef,
    name: tagNameInput.optional().describe('New name; must not be in use or blank.'),
    color: tagColorInput.optional().describe('New color in the form #RRGGBB.'),
  }),
  output: tag,
  handle: ({ tag_id, ...change }, ctx) => updateTag(ctx, tag_id, change),
});
