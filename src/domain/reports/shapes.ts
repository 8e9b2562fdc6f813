/** The two shapes of a report as data: bracketed tokens (`raw`) and plain keys (`normal`) (REST §6.8.1). */

import { html } from '../../runtime/html.js';
import { isoTime } from '../../runtime/iso-time.js';
import { dayStart, wallOf, wordpressTime } from '../../runtime/time-zones.js';
import type { Ctx } from '../context.js';
import { groupValues } from '../settings/effects.js';
import { chartSvg } from './charts.js';
import { phpDate } from './php-date.js';
import type { Report } from './report.js';
import type { ReportRow, ReportValue, Scalar, Section } from './types.js';

/** Date and time formats of the general settings. */
export interface DateStyle {
  zone: string;
  date: (at: number) => string;
  time: (at: number) => string;
}

export async function dateStyle(ctx: Ctx, zone: string): Promise<DateStyle> {
  const { date_format, time_format } = await groupValues(ctx, 'general');
  return {
    zone,
    date: (at) => phpDate(date_format, wallOf(at, zone)),
    time: (at) => phpDate(time_format, wallOf(at, zone)),
  };
}

/** Values as texts and markup, ready to replace the tokens of a report template. */
export function rawData(report: Report, style: DateStyle) {
  const { sections, values } = report.findings;
  const others = [
    ...sections.map((section) => [`[${section.countToken}]`, section.count ?? ''] as const),
    ...values.map((value) => [`[${value.token}]`, rawValue(value, style)] as const),
  ];
  return {
    sections_data: sections.map((section) => section.rows.map((row) => rawRow(section, row, style))),
    other_tokens_data: Object.fromEntries(others),
  };
}

function rawRow({ tokens }: Section, { at, fields }: ReportRow, style: DateStyle): Record<string, Scalar> {
  const when = at === null ? {} : { date: style.date(at), time: style.time(at), utime: Math.floor(at / 1000) };
  const row: Record<string, Scalar> = {};
  for (const [key, value] of Object.entries({ ...fields, ...when })) {
    const token = tokens[key];
    if (token !== undefined) row[`[${token}]`] = value ?? '';
  }
  return row;
}

function rawValue(value: ReportValue, style: DateStyle): Scalar {
  switch (value.kind) {
    case 'list':
      return listMarkup(value.value);
    case 'chart':
      return value.value.length === 0 ? '' : String(chartSvg(value));
    case 'date':
      return value.value === null ? '' : style.date(dayStart(value.value, style.zone));
    case 'moment':
      return value.value === null ? '' : style.date(Date.parse(value.value));
    case 'percent':
      return value.value === null ? '' : `${Math.round(value.value * 100) / 100}%`;
    default:
      return value.value ?? '';
  }
}

function listMarkup(items: readonly Readonly<Record<string, Scalar>>[]): string {
  if (items.length === 0) return '';
  const line = (item: Readonly<Record<string, Scalar>>) =>
    Object.values(item)
      .filter((cell) => cell !== null && cell !== '')
      .map(String)
      .join(' ');
  return String(html`<ul>${items.map((item) => html`<li>${line(item)}</li>`)}</ul>`);
}

/** Typed values under plain keys; rows of all actions, newest first, and after them those without a time. */
export function normalData(report: Report) {
  const { sections, values } = report.findings;
  const { time_zone } = report.meta;
  const rows = sections.flatMap((section) => section.rows.map((row) => ({ section, row })));
  rows.sort((one, other) => (other.row.at ?? 0) - (one.row.at ?? 0));
  return {
    rows: rows.map(({ section, row }) => normalRow(section, row, time_zone)),
    counts: Object.fromEntries(sections.map(({ name, count }) => [name, count])),
    values: Object.fromEntries(values.map(({ key, value }) => [key, value])),
  };
}

export function normalRow({ name }: Section, { at, fields }: ReportRow, zone: string): Record<string, Scalar> {
  if (at === null) return { action: name, ...fields };
  const [date = '', time = ''] = wordpressTime(at, zone).split(' ');
  return { action: name, ...fields, date, time, utime: Math.floor(at / 1000), at: isoTime(at) };
}
