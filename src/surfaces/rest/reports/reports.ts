/** Routes of the reports: one row per segment (REST §6.8). Rows that are not in the routes document come last. */

import { REPORT_FORMATS, SEGMENT_CONTENT, SEGMENT_NAMES, SEGMENTS, type Segment } from '../../../../schemas/report.js';
import { z } from '../../../../schemas/zod.js';
import { DEFAULT_SEGMENTS, reportAnswer, wholeReport } from '../../../domain/reports/answer.js';
import { addRecord, removeRecords } from '../../../domain/reports/records.js';
import { once } from '../../../runtime/once.js';
import { csv, day, text } from '../params.js';
import { ofModule, type Route } from '../route.js';
import { withSite, writtenOf } from '../schemas/records.js';
import { segmentAnswer, wholeReportAnswer } from '../schemas/reports.js';
import { siteRoute } from '../sites/references.js';

const MODULE = 'pro-reports' as const;

const range = once(() => ({
  start_date: day().describe("First day, YYYY-MM-DD, in the dashboard's time zone."),
  end_date: day().describe('Last day, inclusive.'),
}));

function segmentRow(segment: Segment): Route {
  const actions = SEGMENTS[segment];
  return siteRoute({
    on: `GET /pro-reports/{id_or_domain}/${segment}`,
    module: MODULE,
    fails: [409],
    summary: `Report: ${SEGMENT_CONTENT[segment]}`,
    description:
      'raw has bracketed tokens for report templates, normal and json have plain keys, csv and html are files. Based on stored data: meta.as_of says as of when, and meta.notes what a reader must know.',
    params: () => ({
      ...range(),
      action: text(200)
        .optional()
        .describe(actions.length === 0 ? 'This segment has no actions.' : `all, or some of ${actions.join(', ')}.`),
      format: z.enum(REPORT_FORMATS).default('raw').describe('Format of the answer.'),
    }),
    returns: () => segmentAnswer(segment),
    answer: async (ctx, site, query) => ({ ...(await reportAnswer(ctx, site, { ...query, segment })) }),
  });
}

export const reports: readonly Route[] = SEGMENT_NAMES.map(segmentRow);

const segmentParam = once(() => z.enum(SEGMENT_NAMES));

export const reportsExtra = ofModule(MODULE, [
  siteRoute({
    on: 'GET /pro-reports/{id_or_domain}/report',
    fails: [409],
    summary: 'Read several segments as one report, as a printable page or as JSON',
    description: 'Segments without a source are left out; in JSON they are listed in errors.',
    params: () => ({
      ...range(),
      segments: csv(segmentParam(), SEGMENT_NAMES.length)
        .optional()
        .describe(`Default: ${DEFAULT_SEGMENTS.join(', ')}.`),
      format: z.enum(['html', 'json']).default('html').describe('Format of the answer.'),
    }),
    returns: wholeReportAnswer,
    async answer(ctx, site, { segments, ...query }) {
      const chosen = segments === undefined || segments.length === 0 ? DEFAULT_SEGMENTS : segments;
      return { ...(await wholeReport(ctx, site, { ...query, segments: chosen })) };
    },
  }),
  siteRoute({
    on: 'POST /pro-reports/{id_or_domain}/records',
    change: 'other',
    body: 'required',
    summary: 'Record what another tool did or found on the site',
    description:
      "For segments about tools that this service does not run: backups, scanners, shop, analytics. values uses the segment's plain keys.",
    params: () => ({
      segment: segmentParam(),
      action: text(60).optional().describe('For a segment with rows, which has one.'),
      at: text(40).optional().describe('When, ISO 8601; default: now.'),
      values: z.record(z.unknown()).describe('Values by plain key.'),
    }),
    returns: () => writtenOf(z.object({ id: z.number().int().describe('Id of the record.') })).extend(withSite()),
    async answer(ctx, site, record) {
      return { message: 'The record was saved.', data: await addRecord(ctx, site, record) };
    },
  }),
  siteRoute({
    on: 'DELETE /pro-reports/{id_or_domain}/records/{segment}',
    change: 'deletions',
    summary: "Delete all records of a site's segment",
    params: () => ({ segment: segmentParam() }),
    returns: () => writtenOf(z.object({ removed: z.number().int().min(0).describe('Records.') })).extend(withSite()),
    async answer(ctx, site, { segment }) {
      const removed = await removeRecords(ctx, site, segment);
      return { message: `${removed} records were deleted.`, data: { removed } };
    },
  }),
]);
