/** Routes of the reports: one row per segment (REST §6.8). Rows that are not in the routes document come last. */

import { REPORT_FORMATS, SEGMENT_CONTENT, SEGMENT_NAMES, SEGMENTS, type Segment } from '../../../schemas/report.js';
import { z } from '../../../schemas/zod.js';
import { once } from '../../core/once.js';
import { DEFAULT_SEGMENTS, reportAnswer, wholeReport } from '../../domain/reports/answer.js';
import { addRecord, removeRecords } from '../../domain/reports/records.js';
import { csv, day, sitePath, text } from '../params.js';
import { type Route, route } from '../route.js';
import { withSite, writtenOf } from '../schemas/records.js';
import { segmentAnswer, wholeReportAnswer } from '../schemas/reports.js';
import { simpleSite, siteOf } from '../sites/references.js';

const MODULE = 'pro-reports' as const;

const range = once(() => ({
  start_date: day().describe('First day, YYYY-MM-DD, in the time zone of the dashboard.'),
  end_date: day().describe('Last day, included.'),
}));

function segmentRow(segment: Segment): Route {
  const actions = SEGMENTS[segment];
  return route({
    on: 'GET',
    path: `/pro-reports/{id_or_domain}/${segment}`,
    needs: 'read',
    module: MODULE,
    fails: [409],
    summary: `Report: ${SEGMENT_CONTENT[segment]}`,
    description:
      'raw has bracketed tokens for report templates, normal and json plain keys, csv and html are files. Read from what is stored; meta.as_of says from when, meta.notes what a reader must know.',
    params: () =>
      z.object({
        ...sitePath(),
        ...range(),
        action: text(200)
          .optional()
          .describe(actions.length === 0 ? 'This segment has no actions.' : `all, or some of ${actions.join(', ')}.`),
        format: z.enum(REPORT_FORMATS).default('raw').describe('Form of the answer.'),
      }),
    returns: () => segmentAnswer(segment),
    answer: async ({ id_or_domain, ...query }, ctx) => {
      const site = await siteOf(ctx, id_or_domain);
      const answer = await reportAnswer(ctx, site, { ...query, segment });
      return 'file' in answer ? { ...answer } : { ...answer, site: simpleSite(site) };
    },
  });
}

export const reports: readonly Route[] = SEGMENT_NAMES.map(segmentRow);

const segmentParam = once(() => z.enum(SEGMENT_NAMES));

export const reportsExtra: readonly Route[] = [
  route({
    on: 'GET',
    path: '/pro-reports/{id_or_domain}/report',
    needs: 'read',
    module: MODULE,
    fails: [409],
    summary: 'Several segments as one report, as a page that prints or as JSON',
    description: 'Segments that nothing feeds are left out; as JSON they are named in errors.',
    params: () =>
      z.object({
        ...sitePath(),
        ...range(),
        segments: csv(segmentParam(), SEGMENT_NAMES.length)
          .optional()
          .describe(`Left out: ${DEFAULT_SEGMENTS.join(', ')}.`),
        format: z.enum(['html', 'json']).default('html').describe('Form of the answer.'),
      }),
    returns: wholeReportAnswer,
    answer: async ({ id_or_domain, segments, ...query }, ctx) => {
      const site = await siteOf(ctx, id_or_domain);
      const chosen = segments === undefined || segments.length === 0 ? DEFAULT_SEGMENTS : segments;
      const answer = await wholeReport(ctx, site, { ...query, segments: chosen });
      return 'file' in answer ? { ...answer } : { ...answer, site: simpleSite(site) };
    },
  }),
  route({
    on: 'POST',
    path: '/pro-reports/{id_or_domain}/records',
    needs: 'write',
    module: MODULE,
    body: 'required',
    summary: 'Report what another tool did or found on the site',
    description:
      'For segments about tools that this service does not run: backups, scanners, shop, analytics. Members of values are the plain keys of the segment.',
    params: () =>
      z.object({
        ...sitePath(),
        segment: segmentParam(),
        action: text(60).optional().describe('Of a segment with rows; it has one.'),
        at: text(40).optional().describe('When, ISO 8601; left out, now.'),
        values: z.record(z.unknown()).describe('Members by plain key.'),
      }),
    returns: () => writtenOf(z.object({ id: z.number().int().describe('Id of the record.') })).extend(withSite()),
    answer: async ({ id_or_domain, ...record }, ctx) => {
      const site = await siteOf(ctx, id_or_domain);
      const data = await addRecord(ctx, site, record);
      return { message: 'The record is stored.', data, site: simpleSite(site) };
    },
  }),
  route({
    on: 'DELETE',
    path: '/pro-reports/{id_or_domain}/records/{segment}',
    needs: 'write',
    module: MODULE,
    summary: 'Forget all records of a segment of the site',
    params: () => z.object({ ...sitePath(), segment: segmentParam() }),
    returns: () => writtenOf(z.object({ removed: z.number().int().min(0).describe('Records.') })).extend(withSite()),
    answer: async ({ id_or_domain, segment }, ctx) => {
      const site = await siteOf(ctx, id_or_domain);
      const removed = await removeRecords(ctx, site, segment);
      return { message: `${removed} records were forgotten.`, data: { removed }, site: simpleSite(site) };
    },
  }),
];
