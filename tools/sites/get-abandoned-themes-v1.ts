import { paging } from '../../schemas/common.js';
import { abandonedExtensions } from '../../schemas/extension.js';
import { z } from '../../schemas/zod.js';
import { listAbandoned } from '../../src/domain/sites/findings.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-abandoned-themes-v1',
  title: 'List abandoned themes',
  about: 'Lists themes without a release for two years or more, across all sites.',
  run: 'GET',
  effect: 'read',

  input: () => z.object({ ...paging(50, 200) }),

  output: abandonedExtensions,

  handle: ({ page, per_page }, ctx) => listAbandoned(ctx, 'theme', page, per_page),
});
