/** A report as a printable page: no scripts, no requests, inline charts. */

import type { Segment } from '../../../schemas/report.js';
import { type Html, html, raw } from '../../runtime/html.js';
import { withRealDomains } from '../../runtime/real-domains.js';
import { dayStart } from '../../runtime/time-zones.js';
import { ACTIVITIES } from './activity-words.js';
import { chartSvg } from './charts.js';
import { RECORD_SEGMENTS } from './record-segments.js';
import type { Report } from './report.js';
import type { DateStyle } from './shapes.js';
import type { ReportRow, ReportValue, Scalar, Section } from './types.js';

/** Titles of segments whose own title does not fit here, or that have none. */
const TITLES: Partial<Record<Segment, string>> = {
  'perf-audit': 'Performance',
  domainmonitor: 'Domain',
  sslmonitor: 'Certificate',
  uptime: 'Uptime',
  misc: 'Report data',
  website: 'Website',
  pending: 'Pending updates',
  abandoned: 'Abandoned plugins and themes',
  feedback_tool: 'Tasks',
};

const STYLE = raw(`
:root{color-scheme:light}
*{box-sizing:border-box}
body{margin:0;padding:32px;background:#f3f4f6;color:#1f2937;font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}
main{max-width:900px;margin:0 auto;background:#fff;border:1px solid #e5e7eb;border-radius:10px;padding:32px 36px}
header{border-bottom:2px solid #2563eb;padding-bottom:16px;margin-bottom:24px}
h1{margin:0;font-size:26px;line-height:1.2;color:#111827}
h2{margin:32px 0 10px;font-size:18px;color:#111827}
.part>h2{font-size:21px;padding-top:24px;border-top:1px solid #e5e7eb}
.part:first-of-type>h2{border-top:0;padding-top:0;margin-top:0}
h3{margin:22px 0 8px;font-size:16px;color:#111827;break-after:avoid}
p{margin:4px 0}
.site,.range,.note,.empty{color:#4b5563;overflow-wrap:anywhere}
.counts,.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));gap:12px;margin:0 0 8px;padding:0}
.counts div,.figures div{border:1px solid #e5e7eb;border-radius:8px;padding:10px 14px;break-inside:avoid}
dt{font-size:13px;color:#4b5563}
dd{margin:2px 0 0;font-size:20px;font-weight:600;color:#111827;overflow-wrap:anywhere}
dd.text{font-size:16px;font-weight:500}
table{width:100%;border-collapse:collapse;font-size:14px}
th,td{text-align:left;vertical-align:top;padding:6px 10px 6px 0;border-bottom:1px solid #e5e7eb;overflow-wrap:anywhere}
th{color:#4b5563;font-weight:600;white-space:nowrap}
th.number,td.number{text-align:right;font-variant-numeric:tabular-nums}
table+.note,figure+.note{margin-top:12px}
.note+.note{margin-top:0}
figure{margin:0;break-inside:avoid}
footer{margin-top:32px;padding-top:12px;border-top:1px solid #e5e7eb;font-size:13px;color:#6b7280}
thead{display:table-header-group}
tr{break-inside:avoid}
h2{break-after:avoid}
@page{margin:16mm}
@media print{body{background:#fff;padding:0}main{border:0;border-radius:0;padding:0;max-width:none}}
`);

/** One page of one or more segments of a site. */
export function htmlReport(reports: readonly Report[], style: DateStyle): string {
  const [first] = reports;
  if (first === undefined) return '';
  const { site, meta } = first;
  const single = reports.length === 1;
  const title = single ? titleOf(first) : 'Report';
  const range = `${longDay(meta.start_date, style)} – ${longDay(meta.end_date, style)}`;
  const parts = reports.map((report) =>
    single
      ? body(report, style)
      : html`<section class="part"><h2>${titleOf(report)}</h2>${body(report, style, 3)}</section>`,
  );
  const page = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${title} – ${site.name}</title><style>${STYLE}</style></head>
<body><main>
<header><h1>${title}</h1>
<p class="site"><strong>${site.name}</strong> · ${site.url}</p>
<p class="range">${range} (${meta.time_zone})</p></header>
${parts}
<footer>${footer(meta, style)}</footer>
</main></body>
</html>
`;
  // The page has no links.
  return withRealDomains(String(page));
}

function titleOf({ segment }: Report): string {
  return TITLES[segment] ?? ACTIVITIES[segment]?.title ?? RECORD_SEGMENTS[segment]?.title ?? segment;
}

function longDay(day: string, { date, zone }: DateStyle): string {
  return date(dayStart(day, zone));
}

function footer(meta: Report['meta'], style: DateStyle): string {
  const made = Date.parse(meta.generated_at);
  const synced =
    meta.as_of === null
      ? 'The site was never synced.'
      : `Last sync of the site: ${moment(Date.parse(meta.as_of), style)}.`;
  return `Created on ${moment(made, style)}. ${synced}`;
}

function moment(at: number, style: DateStyle): string {
  return `${style.date(at)}, ${style.time(at)}`;
}

function body(report: Report, style: DateStyle, level = 2): (Html | false)[] {
  const { sections, values, notes, truncated } = report.findings;
  const filled = sections.filter((section) => section.rows.length > 0);
  return [
    // If there are figures, the number of rows is one of them, but of activity.
    (values.length === 0 || ACTIVITIES[report.segment] !== undefined) &&
      counts(level === 2 ? sections : sections.filter(({ count }) => (count ?? 0) > 0)),
    figures(values, style),
    ...values.map((value) => block(value, level)),
    ...filled.map((section) => table(section, style, level)),
    sections.some(({ count }) => count !== null) &&
      filled.length === 0 &&
      html`<p class="empty">Nothing happened in this range.</p>`,
    truncated && html`<p class="note">Only the newest rows are shown.</p>`,
    ...notes.map((note) => html`<p class="note">${note}</p>`),
  ];
}

function counts(sections: readonly Section[]): Html | false {
  const boxes = sections.map(({ title, count }) => html`<div><dt>${title}</dt><dd>${count ?? '–'}</dd></div>`);
  return boxes.length > 0 && html`<dl class="counts">${boxes}</dl>`;
}

/** Already shown in the header. */
const IN_HEADER: ReadonlySet<string> = new Set(['startdate', 'enddate', 'report_daterange']);

/** Single figures as boxes; unknown values are a dash. */
function figures(values: readonly ReportValue[], style: DateStyle): Html | false {
  const boxes = values.flatMap((value) => {
    if (value.kind === 'list' || value.kind === 'chart' || IN_HEADER.has(value.key)) return [];
    const text = figure(value, style);
    const size = text.length > 10 && raw(' class="text"');
    return html`<div><dt>${value.title}</dt><dd${size}>${text}</dd></div>`;
  });
  return boxes.length > 0 && html`<dl class="figures">${boxes}</dl>`;
}

function figure(value: Exclude<ReportValue, { kind: 'list' | 'chart' }>, style: DateStyle): string {
  if (value.value === null || value.value === '') return '–';
  switch (value.kind) {
    case 'percent':
      return `${Math.round(value.value * 1000) / 1000} %`;
    case 'ms':
      return `${value.value} ms`;
    case 'date':
      return longDay(value.value, style);
    case 'moment':
      return moment(Date.parse(value.value), style);
    default:
      return String(value.value);
  }
}

/** Lists and charts, each with its heading; empty ones are left out. */
function block(value: ReportValue, level: number): Html | false {
  if (value.kind === 'chart' && value.value.length > 0)
    return html`<figure><h${level}>${value.title}</h${level}>${chartSvg(value)}</figure>`;
  if (value.kind !== 'list' || value.value.length === 0) return false;
  const columns = [...new Set(value.value.flatMap((item) => Object.keys(item)))];
  const rows = value.value.map((item) => columns.map((column) => cellText(column, item[column] ?? '')));
  return html`<h${level}>${value.title}</h${level}>${grid(columns, rows)}`;
}

function table(section: Section, style: DateStyle, level: number): Html {
  const timed = section.rows.some(({ at }) => at !== null);
  const used = (key: string) => section.rows.some(({ fields }) => (fields[key] ?? '') !== '');
  const columns = [...new Set(section.rows.flatMap(({ fields }) => Object.keys(fields)))].filter(used).filter(
    // Readers identify items by name.
    (column) => column !== 'slug' || !used('name'),
  );
  const rows = section.rows.map((row) => [
    ...(timed ? [row.at === null ? '' : moment(row.at, style)] : []),
    ...columns.map((column) => shown(column, row, style)),
  ]);
  return html`<h${level}>${section.title}</h${level}>${grid([...(timed ? ['date'] : []), ...columns], rows)}`;
}

function shown(column: string, { fields }: ReportRow, style: DateStyle): Scalar {
  const value = fields[column] ?? '';
  if (column === 'ended_at' && typeof value === 'string' && value !== '') return moment(Date.parse(value), style);
  return cellText(column, value);
}

function cellText(column: string, value: Scalar): Scalar {
  return (column === 'duration_sec' || column === 'seconds') && typeof value === 'number' ? duration(value) : value;
}

function duration(seconds: number): string {
  const hours = Math.floor(seconds / 3600);
  if (hours >= 48) return `${Math.floor(hours / 24)} days ${hours % 24} h`;
  const minutes = Math.floor((seconds % 3600) / 60);
  return hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

const HEADS: Readonly<Record<string, string>> = {
  seconds: 'Duration',
  duration_sec: 'Duration',
  ended_at: 'Ended',
  display_value: 'Detail',
};

const NUMBER = raw(' class="number"');

function grid(columns: readonly string[], rows: readonly (readonly Scalar[])[]): Html {
  const head = columns.map((column, i) => {
    const numbers = rows.every((row) => typeof row[i] === 'number') && NUMBER;
    const words = HEADS[column] ?? column.replaceAll('_', ' ');
    return html`<th scope="col"${numbers}>${words.charAt(0).toUpperCase() + words.slice(1)}</th>`;
  });
  const cell = (value: Scalar) => html`<td${typeof value === 'number' && NUMBER}>${value}</td>`;
  const lines = rows.map((row) => html`<tr>${row.map(cell)}</tr>\n`);
  return html`<table><thead><tr>${head}</tr></thead><tbody>\n${lines}</tbody></table>`;
}
