import { tag, tagColorInput, tagNameInput } from '../../schemas/tag.js';
import { z } from '../../schemas/zod.js';
import { addTag } from '../../src/domain/tags/tags.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/add-tag-v1',
  title: 'Create a tag',
  about: 'Creates a tag; update-site-v1 assigns it to sites.',
  effect: 'write',
  change: 'other',
  idempotent: false,
  input: () =>
    z.object({
      name: tagNameInput().describe('Unique regardless of case, not blank.'),
      color: tagColorInput().optional().describe('#RRGGBB'),
    }),
  output: () => tag().omit({ updated_at: true }),
  handle: (input, ctx) => addTag(ctx, input),
});
