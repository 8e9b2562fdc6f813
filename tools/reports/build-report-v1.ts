import { clientRef, date, list, pageNumbers, paging, siteRef } from '../../schemas/common.js';
import { calendarDate } from '../../schemas/cost.js';
import { SEGMENT_NAMES } from '../../schemas/report.js';
import { z } from '../../schemas/zod.js';
import { textReports } from '../../src/domain/reports/text.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/build-report-v1',
  title: 'Build a report',
  about:
    'Reports what was done on a site or all sites of a client, and their state, as text with a link to the full report.',
  instructions: 'For a client: figures only; for one site: events too. Without dates: the last full month.',
  run: 'POST',
  effect: 'read',

  input: () =>
    z.object({
      site_id_or_domain: siteRef().optional().describe('Id or domain; or give a client.'),
      client_id_or_email: clientRef().optional().describe('Id or e-mail; all its sites, paged.'),
      start_date: calendarDate().optional().describe('First day, YYYY-MM-DD.'),
      end_date: calendarDate().optional().describe('Last day, inclusive.'),
      segments: list(z.enum(SEGMENT_NAMES)).default([]).describe('See list-report-segments-v1.'),
      ...paging(10, 20),
    }),

  output: () =>
    z.object({
      start_date: date(),
      end_date: date(),
      time_zone: z.string(),
      totals: z.string().optional().describe('Totals for the sites on this page.'),
      not_known: z.array(z.string()),
      link: z.string().describe('One report on all of these sites.'),
      note: z.string(),
      reports: z.array(
        z.object({
          site_id: z.number().int(),
          name: z.string(),
          url: z.string(),
          text: z.string(),
          link: z.string().describe('The full report as a page.'),
        }),
      ),
      errors: z.array(z.object({ site_id: z.number().int(), code: z.string(), message: z.string() })),
      total: z.number().int().describe('Sites.'),
      ...pageNumbers(),
    }),

  handle: async (input, ctx) => {
    const answer = await textReports(ctx, input);
    return { ...answer, page: input.page, per_page: input.per_page };
  },
});
