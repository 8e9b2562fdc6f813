/** Schemas of the report answers, for the interface description (REST §6.8.1). Large, so they are created on demand. */

import { SEGMENT_NAMES, SEGMENTS, type Segment } from '../../../../schemas/report.js';
import { z } from '../../../../schemas/zod.js';
import { once } from '../../../runtime/once.js';
import { withSite } from './records.js';
import { segmentShape } from './report-segments.js';
import type { ReportedValue, SectionShape, SegmentShape } from './report-values.js';

const int = () => z.number().int();
const moment = () => z.string().datetime();
/** A list that is always empty in this segment, with the item type of other segments, for generated clients. */
const none = (item: z.ZodTypeAny) => z.array(item).max(0);
const scalar = () => z.union([z.string(), z.number(), z.null()]);

type Members = Record<string, z.ZodTypeAny>;

/** A single schema as it is, or a union of several. */
function anyOf(schemas: readonly z.ZodTypeAny[]): z.ZodTypeAny {
  const [first, second, ...rest] = schemas;
  if (first === undefined) return z.never();
  return second === undefined ? first : z.union([first, second, ...rest]);
}

/** A number of events. */
const known = (others = false) =>
  others ? int().min(0) : int().min(0).nullable().describe('null = not known: the site was not watched then.');

function membersOf(values: Readonly<Record<string, ReportedValue>>, form: 'plain' | 'raw'): Members {
  return Object.fromEntries(
    Object.entries(values).map(([key, one]) => [form === 'plain' ? key : `[${one.token}]`, one[form]]),
  );
}

function rawRow({ members, when }: SectionShape): z.ZodTypeAny {
  const of = {
    [`[${when}.date]`]: z.string().describe('In the date format of the settings.'),
    [`[${when}.time]`]: z.string().describe('In the time format of the settings.'),
    [`[${when}.utime]`]: int().describe('Unix seconds.'),
  };
  return z.object({ ...membersOf(members, 'raw'), ...(when === null ? {} : of) });
}

function plainRow([name, { members, when }]: [string, SectionShape]): z.ZodTypeAny {
  const of = {
    date: z.string().date().describe('In the time zone of the dashboard.'),
    time: z.string().regex(/^\d\d:\d\d:\d\d$/),
    utime: int().describe('Unix seconds.'),
    at: moment(),
  };
  return z.object({ action: z.literal(name), ...membersOf(members, 'plain'), ...(when === null ? {} : of) });
}

function rawShape({ sections, byAction, others, figures }: SegmentShape): z.ZodTypeAny {
  const list = Object.values(sections);
  const count = () => {
    const one = others === true ? int().min(0) : z.union([int().min(0), z.literal('').describe('Not known.')]);
    return byAction && list.length > 1 ? one.optional() : one;
  };
  const rows = z.array(z.array(anyOf(list.map(rawRow)))).min(1);
  return z.object({
    sections_data:
      list.length === 0
        ? none(z.array(z.record(scalar()))).describe('Empty: this segment has only figures.')
        : rows.describe('Rows, newest first, of each section of meta.sections, in its order.'),
    other_tokens_data: z.object({
      ...Object.fromEntries(list.map(({ countToken }) => [`[${countToken}]`, count()])),
      ...membersOf(figures, 'raw'),
    }),
  });
}

function normalShape({ sections, byAction, others, figures }: SegmentShape) {
  const list = Object.entries(sections);
  const count = () => (byAction && list.length > 1 ? known(others).optional() : known(others));
  return z.object({
    rows: list.length === 0 ? none(z.record(scalar())) : z.array(anyOf(list.map(plainRow))),
    counts: z
      .object(Object.fromEntries(list.map(([name]) => [name, count()])))
      .describe('For the whole range, including rows not in the answer.'),
    values: z.object(membersOf(figures, 'plain')),
  });
}

const range = once(() => ({
  start_date: z.string().date(),
  end_date: z.string().date(),
  generated_at: moment(),
  time_zone: z.string(),
  as_of: moment().nullable().describe('When the site was last synced; null = never.'),
  truncated: z.boolean().describe('There are more rows than the 10,000 in one answer.'),
}));
const notes = once(() => z.array(z.string()).describe('What a reader must know.'));

function metaShape(segment: Segment, shape: SegmentShape, format: z.ZodTypeAny): z.ZodTypeAny {
  const names = Object.keys(shape.sections);
  const actions = SEGMENTS[segment].length > 0;
  const name = names.length === 0 ? z.string() : anyOf(names.map((one) => z.literal(one)));
  const section = z.object({ name, title: z.string(), count: known(shape.others) });
  return z.object({
    ...range(),
    action: z.string().describe(actions ? 'As requested, or all.' : 'all.'),
    format,
    sections: names.length === 0 ? none(section) : z.array(section).min(1),
    notes: notes(),
  });
}

/** The answer for one segment, as data: `raw` has bracketed tokens, `normal` and `json` plain keys. */
export function segmentAnswer(segment: Segment): z.ZodTypeAny {
  const shape = segmentShape(segment);
  const raw = z.object({ data: rawShape(shape), meta: metaShape(segment, shape, z.literal('raw')), ...withSite() });
  const normal = z.object({
    total: int().min(0).describe('Rows.'),
    data: normalShape(shape),
    meta: metaShape(segment, shape, z.enum(['normal', 'json'])),
    ...withSite(),
  });
  return z.union([raw, normal]);
}

/** The answer for several segments, as JSON. */
export function wholeReportAnswer(): z.ZodTypeAny {
  const data = SEGMENT_NAMES.map(
    (segment) => [segment, normalShape(segmentShape(segment)).extend({ notes: notes() })] as const,
  );
  return z.object({
    data: z.object(Object.fromEntries(data)).partial().describe('By segment.'),
    meta: z.object({ ...range(), format: z.literal('json') }),
    errors: z
      .array(
        z.object({
          segment: z.enum(SEGMENT_NAMES),
          code: z.literal('svc_module_not_available'),
          message: z.string(),
        }),
      )
      .describe('Segments without a source.'),
    ...withSite(),
  });
}
