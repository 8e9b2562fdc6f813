/** Layout of mails: renders one content as plain text and as HTML that every mail client displays. Pure. */

import { type Html, html, raw } from '../../../runtime/html.js';

/**
 * The content of a mail, independent of its layout. All texts are plain; names and reasons may come from a third party.
 */
export interface MailContent {
  heading: string;
  /** Paragraphs before the tables. */
  lines: readonly string[];
  tables: readonly MailTable[];
  /** Shown below the first lines, as buttons. Only web addresses become links. */
  links?: readonly MailLink[];
  /** Color of the bar at the top. */
  tone?: Tone;
}

export interface MailLink {
  label: string;
  url: string;
}

/** Red for bad news, green for good, amber for what can wait. */
export type Tone = 'bad' | 'good' | 'warning';

export interface MailLook {
  /** Zone of the times. */
  zone: string;
  /** Public page of the service; null if it has no public address. */
  page: string | null;
}

export interface MailTable {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly (string | MailLink)[])[];
  /** Shown below if rows were left out. */
  more?: string;
}

const FOOTER = 'Sent by Sitefleet. You can change which mails are sent, and to whom, in the e-mail settings.';
const FONT = raw("font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif");

/** Replaces tokens of headings and subjects, in square brackets. Unknown ones stay as they are. */
export function withTokens(text: string, tokens: Readonly<Record<string, string>>): string {
  return text.replace(/\[([a-z][a-z0-9._-]*)\]/g, (whole, name: string) =>
    Object.hasOwn(tokens, name) ? (tokens[name] ?? whole) : whole,
  );
}

/** Reduces a text to one line: text in a header must not start another one. */
export function oneLine(text: string, max = 255): string {
  return beginningOf(text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim(), max);
}

/** At most so many units of a text, without half a character at the end: services refuse messages that contain one. */
export function beginningOf(text: string, max: number): string {
  return text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
}

export function renderText({ heading, lines, tables, links }: MailContent): string {
  const parts = [heading, '='.repeat(Math.min(heading.length, 70)), ...lines];
  const places = webLinks(links).map(({ label, url }) => `${label}: ${url}`);
  if (places.length > 0) parts.push(places.join('\n'));
  for (const table of tables) {
    const rows = table.rows.map((row) => {
      const texts = row.map((cell) => (typeof cell === 'string' ? cell : cell.label));
      return `- ${texts.filter((text) => text !== '').join(' · ')}`;
    });
    parts.push([table.title, ...rows, ...(table.more === undefined ? [] : [table.more])].join('\n'));
  }
  return `${[...parts, `-- \n${FOOTER}`].join('\n\n')}\n`;
}

/** An address from a third party must not become a script. */
function webLinks(links: readonly MailLink[] = []): readonly MailLink[] {
  return links.filter(({ url }) => /^https?:\/\/[^\s"'<>]+$/.test(url));
}

export const TONE_COLOURS: Readonly<Record<Tone, string>> = { bad: '#dc2626', good: '#16a34a', warning: '#d97706' };
const NO_TONE = '#9ca3af';

/** Mail clients with a dark mode override the colors of the elements, which all others show. */
const DARK = raw(`@media (prefers-color-scheme:dark){
.page{background:#111827!important;color:#d1d5db!important}
.card{background:#1f2937!important;border-left-color:#374151!important;border-right-color:#374151!important;border-bottom-color:#374151!important}
.strong{color:#f9fafb!important}
.weak{color:#9ca3af!important}
.cell{border-color:#374151!important}
.link{color:#93c5fd!important;border-color:#4b5563!important}
}`);

export function renderHtml({ heading, lines, tables, links, tone }: MailContent): string {
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><title>${heading}</title><style>${DARK}</style></head>
<body class="page" style="margin:0;padding:24px 12px;background:#f3f4f6;color:#374151;${FONT}">
<div class="card" style="max-width:640px;margin:0 auto;background:#ffffff;border:1px solid #e5e7eb;border-top:4px solid ${tone === undefined ? NO_TONE : TONE_COLOURS[tone]};border-radius:8px;padding:24px;overflow-wrap:anywhere">
<h1 class="strong" style="margin:0 0 16px;font-size:20px;line-height:1.3;color:#111827">${heading}</h1>
${lines.map((line) => html`<p style="margin:0 0 12px;font-size:15px;line-height:1.5">${line}</p>\n`)}
${linksHtml(webLinks(links))}
${tables.map(tableHtml)}
</div>
<p class="weak" style="max-width:640px;margin:12px auto 0;font-size:12px;color:#6b7280">${FOOTER}</p>
</body></html>
`;
  return String(page);
}

function linksHtml(links: readonly MailLink[]): Html | false {
  const each = links.map(
    ({ label, url }) =>
      html`<a class="link" href="${url}" style="display:inline-block;margin:4px 8px 4px 0;padding:8px 14px;border:1px solid #d1d5db;border-radius:6px;font-size:14px;color:#1d4ed8;text-decoration:none">${label}</a>`,
  );
  return each.length > 0 && html`<p style="margin:0 0 12px">${each}</p>`;
}

const CELL =
  'padding:6px 12px 6px 0;border-bottom:1px solid #e5e7eb;text-align:left;vertical-align:top;overflow-wrap:anywhere';

function cellHtml(cell: string | MailLink): Html | string {
  if (typeof cell === 'string') return cell;
  const [link] = webLinks([cell]);
  return link === undefined
    ? cell.label
    : html`<a class="link" href="${link.url}" style="color:#1d4ed8">${link.label}</a>`;
}

function tableHtml({ title, columns, rows, more }: MailTable): Html {
  const head = columns.map(
    (name) => html`<th class="cell weak" style="${CELL};color:#6b7280;font-weight:600">${name}</th>`,
  );
  const body = rows.map(
    (row) =>
      html`<tr>${row.map((cell, index) => html`<td class="cell" style="${CELL}${index === 0 ? ';width:38%' : ''}">${cellHtml(cell)}</td>`)}</tr>\n`,
  );
  const rest =
    more !== undefined && html`<p class="weak" style="margin:8px 0 0;font-size:13px;color:#6b7280">${more}</p>`;
  return html`<h2 class="strong" style="margin:20px 0 8px;font-size:16px;color:#111827">${title}</h2>
<table role="presentation" style="border-collapse:collapse;width:100%;font-size:14px">${columns.some((name) => name !== '') && html`<tr>${head}</tr>\n`}${body}</table>${rest}
`;
}
