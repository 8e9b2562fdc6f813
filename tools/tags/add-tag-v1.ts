import { tag, tagColorInput, tagNameInput } from '../../schemas/tag.js';
import { z } from '../../schemas/zod.js';
import { addTag } from '../../src/domain/tags.js';
import { defineOperation } from '../../src/operation.js';

export default defineOperation({
  id: 'svc/add-tag-v1',
  title: 'Create a tag',
  about:
    'Creates a tag, to be put on sites with add-site-v1 or update-site-v1. Names are unique in any case: a taken one is svc_already_exists, and list-tags-v1 with search finds the tag that has it.',
  run: 'POST',
  effect: 'write',
  idempotent: false,
  input: z.object({
    name: tagNameInput.describe('Name of the tag; must not be in use or blank.'),
    color: tagColorInput.optional().describe('Color in the form #RRGGBB.'),
  }),
  output: tag.omit({ updated_at: true }),
  handle: (input, ctx) => addTag(ctx, input),
});
