import { paged, paging } from '../../schemas/common.js';
import {
  knownVulnerability,
  vulnerabilityFacts,
  vulnerabilityFilters,
  vulnerabilityNotice,
} from '../../schemas/vulnerability.js';
import { z } from '../../schemas/zod.js';
import { vulnerabilitiesWithNext } from '../../src/domain/vulnerabilities/list.js';
import { defineOperation } from '../../src/operation/operation.js';

const count = () => z.number().int();

export default defineOperation({
  id: 'svc/list-vulnerabilities-v1',
  title: 'List known vulnerabilities',
  about: 'Known vulnerabilities of installed items, worst first. Unknown without a feed.',
  run: 'POST',
  effect: 'read',

  input: () => z.object({ ...vulnerabilityFilters(), ...paging(20, 100) }),

  output: () =>
    z.object({
      ...vulnerabilityFacts(),
      by_severity: z.object({
        critical: count(),
        high: count(),
        medium: count(),
        low: count(),
        none: count(),
        not_rated: count(),
      }),
      vulnerabilities: z.array(knownVulnerability().extend({ next: z.string().optional() })),
      ...paged(),
      notices: z.array(vulnerabilityNotice()).describe('Copyright and licence of the entries shown.'),
    }),

  handle: (input, ctx) => vulnerabilitiesWithNext(ctx, input),
});
