import { tag, tagRef } from '../../schemas/tag.js';
import { z } from '../../schemas/zod.js';
import { getTag } from '../../src/domain/tags.js';
import { defineOperation } from '../../src/operation.js';

export default defineOperation({
  id: 'svc/get-tag-v1',
  title: 'Read one tag',
  about:
    'Reads one tag with its color, number of sites and dates. Answers svc_tag_not_found for an unknown id; list-tags-v1 finds the right one.',
  run: 'POST',
  effect: 'read',
  idempotent: true,
  input: z.object({ tag_id: tagRef }),
  output: tag,
  handle: ({ tag_id }, ctx) => getTag(ctx, tag_id),
});
