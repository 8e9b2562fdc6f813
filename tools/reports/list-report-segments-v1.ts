import { SEGMENT_NAMES } from '../../schemas/report.js';
import { z } from '../../schemas/zod.js';
import { reportSegments } from '../../src/domain/reports/text.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-report-segments-v1',
  title: 'List report segments',
  about: 'Lists the segments a report can have, and which are included by default.',
  run: 'GET',
  effect: 'read',

  input: () => z.object({}),

  output: () =>
    z.object({
      segments: z.array(
        z.object({
          name: z.enum(SEGMENT_NAMES),
          about: z.string(),
          default: z.boolean(),
        }),
      ),
    }),

  handle: async () => ({ segments: reportSegments() }),
});
