import { tag, tagRef } from '../../schemas/tag.js';
import { z } from '../../schemas/zod.js';
import { getTag } from '../../src/domain/tags/tags.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-tag-v1',
  title: 'Read one tag',
  about: 'Reads a tag with its color, number of sites and dates.',
  run: 'POST',
  effect: 'read',
  input: () => z.object({ tag_id: tagRef() }),
  output: tag,
  handle: ({ tag_id }, ctx) => getTag(ctx, tag_id),
});
