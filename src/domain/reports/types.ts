/** The contents of a report, before it is formatted. */

import type { Segment } from '../../../schemas/report.js';
import type { SiteRow } from '../../store/sites/sites.js';

export type Scalar = string | number | null;

export interface ReportRow {
  /** When it happened, ms; null for current state. */
  at: number | null;
  /** Plain keys. */
  fields: Readonly<Record<string, Scalar>>;
}

/** Rows of one kind: one action of an activity segment, or one list. */
export interface Section {
  /** Key of its count: the action, or the name of the list. */
  name: string;
  title: string;
  /** Of all that happened, including rows beyond the limit of an answer; null = not known. */
  count: number | null;
  countToken: string;
  /** Token of each plain key, without brackets; `date`, `time` and `utime` if rows have a time. */
  tokens: Readonly<Record<string, string>>;
  rows: readonly ReportRow[];
  /** The state of today, whatever the range. */
  present?: true;
}

export interface ChartPoint {
  /** `YYYY-MM-DD`. */
  date: string;
  value: number | null;
}

interface Named {
  /** Plain key. */
  key: string;
  /** Without brackets. */
  token: string;
  title: string;
}

type TextKind = 'text' | 'date' | 'moment';
type NumberKind = 'number' | 'percent' | 'ms' | 'days';
type ListItems = readonly Readonly<Record<string, Scalar>>[];

/** One figure. `percent` is 0 to 100, `ms` milliseconds, `date` a day as `YYYY-MM-DD`, `moment` ISO 8601. */
export type ReportValue = Named &
  (
    | { kind: TextKind; value: string | null }
    | { kind: NumberKind; value: number | null }
    | { kind: 'list'; value: ListItems }
    | { kind: 'chart'; value: readonly ChartPoint[]; unit: string; max: number | null }
  );

export function textValue(
  kind: TextKind,
  key: string,
  token: string,
  title: string,
  value: string | null,
): ReportValue {
  return { kind, key, token, title, value };
}

export function numberValue(
  kind: NumberKind,
  key: string,
  token: string,
  title: string,
  value: number | null,
): ReportValue {
  return { kind, key, token, title, value };
}

export function listValue(key: string, token: string, title: string, value: ListItems): ReportValue {
  return { kind: 'list', key, token, title, value };
}

/** The results of a segment; the rest of the answer is the same for all. */
export interface Findings {
  sections: Section[];
  /** The sections on the state of today, where those above say nothing of it because the site was not watched in the range. */
  today?: Section[];
  values: ReportValue[];
  /** What a reader must know: why something is empty, or how current it is. */
  notes: string[];
  truncated: boolean;
  /** The note that says what is unknown, for the whole range or a part of it. */
  unwatched?: string;
}

/** The parameters of a segment. */
export interface ReportRequest {
  site: SiteRow;
  segment: Segment;
  /** Requested actions, in the order of the segment. */
  actions: readonly string[];
  /** Days as `YYYY-MM-DD`, both inclusive. */
  start_date: string;
  end_date: string;
  /** The same in ms, `to` exclusive. */
  from: number;
  to: number;
  zone: string;
  now: number;
}

/** Maximum rows of one answer, over all sections (REST §6.8.1). */
export const MAX_ROWS = 10_000;

export function noFindings(...notes: string[]): Findings {
  return { sections: [], values: [], notes, truncated: false };
}
