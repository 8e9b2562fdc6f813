/** Segments about other tools: only from records that their owners reported to the service (REST §6.8.2). */

import type { DrillFacts } from '../../../schemas/backup.js';
import { isCalendarDate } from '../../../schemas/days.js';
import { SEGMENTS, type Segment } from '../../../schemas/report.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import { isObject } from '../../runtime/plain-json.js';
import { counted } from '../common/question.js';
import type { Ctx } from '../context.js';
import { wrongField } from '../settings/settings.js';
import { type Member, RECORD_SEGMENTS, type RecordSegment } from './record-segments.js';
import {
  type ChartPoint,
  type Findings,
  MAX_ROWS,
  noFindings,
  type ReportRequest,
  type ReportValue,
  type Scalar,
  type Section,
} from './types.js';

export async function recordFindings(ctx: Ctx, question: ReportRequest, spec: RecordSegment): Promise<Findings> {
  const { site, segment, from, to, actions } = question;
  const [{ items, counts, any }, last] = await Promise.all([
    ctx.store.reportData.records(site.id, segment, from, to, MAX_ROWS + 1),
    segment === 'backups' ? lastBackup(ctx, site.id) : null,
  ]);
  if (!any && segment === 'feedback_tool') return taskFindings(ctx, question, spec);
  if (!any && spec.thirdParty) throw notThere(segment, site.id);
  const shown = items.slice(0, MAX_ROWS).map(({ facts, ...row }) => ({ ...row, facts: JSON.parse(facts) as Facts }));
  const sections = actions.map((action): Section => {
    const of = `${spec.token}.${action}`;
    const rows = shown.filter((record) => record.action === action);
    return {
      name: action,
      title: spec.title,
      // Unknown, unless something was recorded at some time.
      count: any ? (counts.get(action) ?? 0) : null,
      countToken: `${of}.count`,
      tokens: {
        ...Object.fromEntries(spec.row.map(({ key }) => [key, `${of}.${key}`])),
        date: `${of}.date`,
        time: `${of}.time`,
        utime: `${of}.utime`,
      },
      rows: rows.map(({ at, facts }) => ({
        at,
        fields: Object.fromEntries(spec.row.map(({ key }) => [key, scalar(facts[key])])),
      })),
    };
  });
  const values = figuresOf(spec, shown, question);
  const truncated = items.length > MAX_ROWS;
  if (!any) {
    const unwatched = ['Not known: nothing was ever recorded for this site.', last ?? []].flat().join(' ');
    return { sections, values, notes: [unwatched], truncated, unwatched };
  }
  const notes = [items.length > 0 ? [] : 'Nothing was recorded in the range.', last ?? []].flat();
  return { sections, values, notes, truncated };
}

/** The newest backup, ours or one that a sync told of, and when one was proven, in sentences. */
async function lastBackup(ctx: Ctx, siteId: number): Promise<string> {
  const { canaries, siteBackups } = ctx.store;
  const [[told], own, proof] = await Promise.all([
    canaries.backups([siteId]),
    siteBackups.lastDone(siteId),
    siteBackups.lastProof(siteId),
  ]);
  const newest = Math.max((told?.last_backup ?? 0) * 1000, own?.started_at ?? 0);
  const known = newest === 0 ? 'No backup is known.' : `Last known backup: ${isoTime(newest)}.`;
  if (proof === undefined) return known;
  const { restore_seconds, data_age_seconds, means } = JSON.parse(proof.facts) as DrillFacts;
  const took = restore_seconds === null ? '' : `, in ${counted(restore_seconds, 'second')}`;
  return `${known} One was last proven by restoring it on trial${means === 'playground' ? ', in WordPress Playground, which proves less,' : ''} on ${isoTime(proof.at)}${took}; its data was then ${counted(Math.round(data_age_seconds / HOUR_S), 'hour')} old.`;
}

const HOUR_S = 3_600;

type Facts = Record<string, unknown>;

function scalar(value: unknown): Scalar {
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}

/** Figures come from the latest record that has them; some are sums over the range. */
function figuresOf(
  spec: RecordSegment,
  records: readonly { facts: Facts }[],
  { start_date, end_date }: ReportRequest,
): ReportValue[] {
  const range: Facts = { startdate: start_date, enddate: end_date };
  return spec.figures.map((figure) => {
    const member = spec.sums[figure.key];
    if (member !== undefined) {
      const sum = records.reduce(
        (total, { facts }) => total + (typeof facts[member] === 'number' ? (facts[member] as number) : 0),
        0,
      );
      return figureOf(figure, sum);
    }
    const newest = records.find(({ facts }) => figure.key in facts)?.facts[figure.key];
    return figureOf(figure, newest ?? range[figure.key]);
  });
}

function figureOf({ key, token, title, kind }: Member, value: unknown): ReportValue {
  const named = { key, token, title };
  if (kind === 'list')
    return { ...named, kind, value: Array.isArray(value) ? (value as Record<string, Scalar>[]) : [] };
  if (kind === 'chart')
    return { ...named, kind, value: Array.isArray(value) ? (value as ChartPoint[]) : [], unit: '', max: null };
  if (kind === 'number' || kind === 'percent')
    return { ...named, kind, value: typeof value === 'number' ? value : null };
  return { ...named, kind, value: typeof value === 'string' ? value : null };
}

/** Tasks of the time tracker count as feedback being worked on: they are used if no feedback tool reported anything. */
async function taskFindings(ctx: Ctx, { site, from, to, now }: ReportRequest, spec: RecordSegment): Promise<Findings> {
  if (!ctx.config.modules.includes('time-tracker')) throw notThere('feedback_tool', site.id);
  const { items, total, groups } = await ctx.store.timeTasks.list(
    { site_id: site.id, from, to },
    { page: 1, perPage: 1, orderby: 'id', order: 'asc' },
    now,
  );
  const billable = groups
    .filter((group) => Number(group.hourly_price) > 0)
    .reduce((sum, group) => sum + group.tasks, 0);
  const known: Record<string, number> = { all_tasks: total, billable_tasks: billable };
  const found = noFindings(
    items.length === 0
      ? 'No time tracker task has time on this site in the range.'
      : 'Time tracker tasks with time in the range; those with an hourly price are billable.',
  );
  return { ...found, values: spec.figures.map((figure) => figureOf(figure, known[figure.key])) };
}

function notThere(segment: Segment, siteId: number): ServiceError {
  return new ServiceError('svc_module_not_available', `No tool has reported ${segment} for site ${siteId}.`, {
    advice: `The tool's owner can report with POST /v2/pro-reports/${siteId}/records.`,
    data: { module: segment, site_id: siteId },
  });
}

export interface NewRecord {
  segment: Segment;
  action?: string | undefined;
  /** ISO 8601; omitted = now. */
  at?: string | undefined;
  values: Record<string, unknown>;
}

/** Ten years, and a day beyond the current time for clocks that are wrong. */
const OLDEST_MS = 10 * 366 * 86_400_000;
const AHEAD_MS = 86_400_000;

/** Stores what another tool did or found on a site. Throws `rest_invalid_param` naming the member. */
export async function addRecord(ctx: Ctx, site: { id: number }, record: NewRecord): Promise<{ id: number }> {
  const spec = RECORD_SEGMENTS[record.segment];
  if (spec === undefined)
    throw wrongMember(
      'segment',
      `is measured by the service itself; records are for ${Object.keys(RECORD_SEGMENTS).join(', ')}`,
    );
  const now = ctx.clock.now();
  const at = record.at === undefined ? now : Date.parse(record.at);
  if (Number.isNaN(at) || at < now - OLDEST_MS || at > now + AHEAD_MS)
    throw wrongMember('at', 'must be a time of the last ten years as ISO 8601, such as 2026-01-31T08:00:00Z');
  const action = actionOf(record);
  const facts = factsOf(
    record.values,
    action === '' ? spec.figures.filter(({ key }) => !(key in spec.sums)) : spec.row,
  );
  const id = await ctx.store.reportData.addRecord(site.id, record.segment, action, facts, at);
  ctx.events.emit({ name: 'site.record_added', site_id: site.id, facts: { segment: record.segment } });
  return { id };
}

/** Deletes all records of a segment; returns how many there were. */
export async function removeRecords(ctx: Ctx, site: { id: number }, segment: Segment): Promise<number> {
  const records = await ctx.store.reportData.removeRecords(site.id, segment);
  if (records > 0) ctx.events.emit({ name: 'site.records_deleted', site_id: site.id, facts: { segment, records } });
  return records;
}

/** A segment with rows has one action, so it need not be named. */
function actionOf({ segment, action }: NewRecord): string {
  const only = SEGMENTS[segment][0] ?? '';
  if (action === undefined || action === only) return only;
  throw wrongMember('action', only === '' ? 'is not for a segment with figures only' : `must be ${only}`);
}

function factsOf(values: Record<string, unknown>, members: readonly Member[]): Facts {
  const names = members.map(({ key }) => key).join(', ');
  const facts: Facts = {};
  for (const [key, value] of Object.entries(values)) {
    const known = members.find((one) => one.key === key);
    if (known === undefined) throw wrongMember(`values.${key}`, `is not a member; there are ${names}`);
    facts[key] = checked(`values.${key}`, known, value);
  }
  if (Object.keys(facts).length === 0) throw wrongMember('values', `must contain at least one of ${names}`);
  return facts;
}

const MAX_ITEMS = 500;

function checked(at: string, { kind }: Member, value: unknown): unknown {
  switch (kind) {
    case 'number':
    case 'percent':
      if (typeof value !== 'number' || !Number.isFinite(value)) throw wrongMember(at, 'must be a number');
      if (kind === 'percent' && (value < 0 || value > 100)) throw wrongMember(at, 'must be from 0 to 100');
      return value;
    case 'date':
      if (!isDay(value)) throw wrongMember(at, 'must be a day as YYYY-MM-DD');
      return value;
    case 'chart':
      return items(at, value).map((point, i) => {
        if (!isDay(point.date)) throw wrongMember(`${at}[${i}].date`, 'must be a day as YYYY-MM-DD');
        if (typeof point.value !== 'number' || !Number.isFinite(point.value))
          throw wrongMember(`${at}[${i}].value`, 'must be a number');
        return { date: point.date, value: point.value };
      });
    case 'list':
      return items(at, value).map((item, i) =>
        Object.fromEntries(
          Object.entries(item)
            .slice(0, 10)
            .map(([name, cell]) => [line(name, `${at}[${i}]`, 60), cellOf(cell, `${at}[${i}].${name}`)]),
        ),
      );
    default:
      return line(value, at, 2000);
  }
}

function items(at: string, value: unknown): Record<string, unknown>[] {
  const fits = Array.isArray(value) && value.length <= MAX_ITEMS && value.every(isObject);
  if (!fits) throw wrongMember(at, `must be a list of at most ${MAX_ITEMS} objects`);
  return value as Record<string, unknown>[];
}

function cellOf(cell: unknown, at: string): Scalar {
  if (cell === null || (typeof cell === 'number' && Number.isFinite(cell))) return cell;
  return line(cell, at, 500);
}

function line(value: unknown, at: string, max: number): string {
  if (typeof value !== 'string' || value.length > max)
    throw wrongMember(at, `must be text of at most ${max} characters`);
  return value.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim();
}

function isDay(value: unknown): boolean {
  return typeof value === 'string' && isCalendarDate(value);
}

/** An invalid parameter, or member of one. `reason` follows the name. */
export function wrongMember(name: string, reason: string): ServiceError {
  return wrongField(name, 'rest_invalid_param', reason, 'data.params has the reason.');
}
