/** The forms of a value in a report (REST §6.8.2). */

import { z } from '../../../../schemas/zod.js';
import type { FigureKind } from '../../../domain/reports/record-segments.js';

/** One member of a row, or one figure: in `normal` under its key, in `raw` under its token. */
export interface ReportedValue {
  /** Without brackets. */
  token: string;
  plain: z.ZodTypeAny;
  raw: z.ZodTypeAny;
}

export interface SectionShape {
  countToken: string;
  members: Readonly<Record<string, ReportedValue>>;
  /** Prefix of the date and time tokens; null for rows that describe a state rather than an event. */
  when: string | null;
}

export interface SegmentShape {
  sections: Readonly<Record<string, SectionShape>>;
  /** The answer has only the sections of the requested actions; otherwise it has all. */
  byAction: boolean;
  /** Other tools report it: the service need not have watched the site. */
  others?: boolean;
  figures: Readonly<Record<string, ReportedValue>>;
}

const scalar = () => z.union([z.string(), z.number(), z.null()]);
const anyItem = () => z.record(scalar());
const point = () => z.object({ date: z.string().date(), value: z.number().nullable() });

type Kind = FigureKind | 'integer' | 'ms' | 'moment';

const PLAIN: Record<Kind, () => z.ZodTypeAny> = {
  text: () => z.string(),
  number: () => z.number(),
  integer: () => z.number().int(),
  percent: () => z.number().min(0).max(100),
  ms: () => z.number().min(0),
  date: () => z.string().date(),
  moment: () => z.string().datetime(),
  list: () => z.array(anyItem()),
  chart: () => z.array(point()),
};
const NUMBERS: ReadonlySet<string> = new Set(['number', 'integer', 'ms']);
/** Description of the values of a kind, in each form. */
const ABOUT: Partial<Record<Kind, readonly [plain: string, raw: string]>> = {
  percent: ['0 to 100', 'with a % sign'],
  ms: ['milliseconds', 'milliseconds'],
  date: ['', 'in the date format of the settings'],
  moment: ['', 'in the date format of the settings'],
  list: ['', 'HTML list'],
  chart: ['one point a day, oldest first', 'SVG'],
};

function about(title: string, more: string): string {
  return more === '' ? `${title}.` : `${title}; ${more}.`;
}

/** A figure that may be unknown: then null, and "" in `raw`. Unknown lists and charts are empty. */
export function maybe(token: string, title: string, kind: Kind): ReportedValue {
  const [plainly = '', rawly = ''] = ABOUT[kind] ?? [];
  const plain = kind === 'list' || kind === 'chart' ? PLAIN[kind]() : PLAIN[kind]().nullable();
  const raw = NUMBERS.has(kind) ? z.union([PLAIN[kind](), z.literal('')]) : z.string();
  return { token, plain: plain.describe(about(title, plainly)), raw: raw.describe(about(title, rawly)) };
}

/** A text or day that is always known. */
export function known(token: string, title: string, kind: Kind): ReportedValue {
  const [plainly = '', rawly = ''] = ABOUT[kind] ?? [];
  return {
    token,
    plain: PLAIN[kind]().describe(about(title, plainly)),
    raw: z.string().describe(about(title, rawly)),
  };
}

/** A value that is always known, and the same in both forms. */
export function always(token: string, title: string, schema: z.ZodTypeAny): ReportedValue {
  const described = schema.describe(`${title}.`);
  return { token, plain: described, raw: described };
}

/** The same, unless the site was not watched then: null, and "" in `raw`. */
export function watched(token: string, title: string, schema: z.ZodTypeAny): ReportedValue {
  const about = `${title}; not known of a time when the site was not watched.`;
  const raw = schema instanceof z.ZodString ? schema : z.union([schema, z.literal('')]);
  return { token, plain: schema.nullable().describe(about), raw: raw.describe(about) };
}

export function reported(token: string): ReportedValue {
  return { token, plain: z.string(), raw: z.string() };
}

/** A list with items of a known form. */
export function listed(token: string, title: string, item: z.ZodTypeAny): ReportedValue {
  return { ...maybe(token, title, 'list'), plain: z.array(item).describe(`${title}.`) };
}
