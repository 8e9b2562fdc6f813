/** Output of the commands. stdout carries data, stderr messages for people. Nothing else writes to stdout. */

import { Console } from 'node:console';
import { cleanLine, visibleJson } from '../../schemas/text.js';
import { ConfigError } from '../runtime/config/config.js';
import { withRealDomains } from '../runtime/real-domains.js';

/** `--json`: data instead of words and tables. */
export interface JsonFlag {
  json?: boolean;
}

/** One line of JSON on stdout. */
export function printJson(value: unknown): void {
  process.stdout.write(`${visibleJson(value)}\n`);
}

/** Text on stdout. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Text on stderr, for people. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/**
 * Libraries that print must not corrupt stdout: the HTTP server calls `console.info` when a client disconnects. A
 * reader that goes away (`| head -1`, a closed terminal) is not a failure.
 */
export function keepStdoutClean(): void {
  globalThis.console = new Console(process.stderr, process.stderr);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

export type Cell = string | number | boolean | null;

/** Rows with headings: aligned on a terminal, otherwise one tab-separated line each, for programs. */
export function printTable(headings: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const texts = rows.map((row) => row.map(cellText));
  if (process.stdout.isTTY) print(tableText([headings, ...texts.map((row) => row.map(withRealDomains))]));
  else for (const row of texts) print(row.join('\t'));
}

/** A tab or a line break would start another cell, and a terminal would act on an escape or a change of direction. */
function cellText(cell: Cell): string {
  return cell === null ? '' : oneLine(String(cell), Number.MAX_SAFE_INTEGER);
}

/** One line without invisible characters; where some separated words, a blank is left. */
export function oneLine(text: string, max: number): string {
  return cleanLine(text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '), max);
}

/** Columns as wide as their widest cell. */
export function tableText(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** ISO 8601, from milliseconds since the epoch. */
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** A few lines for a person; with the stack only for internal errors. */
export function problemText(error: unknown): string {
  if (error instanceof ConfigError) return `The configuration is invalid:\n${error.message}`;
  if (!(error instanceof Error)) return String(error);
  if (error instanceof TypeError || error instanceof ReferenceError) return error.stack ?? error.message;
  const advice = 'advice' in error && typeof error.advice === 'string' ? `\n${error.advice}` : '';
  return `${error.message}${advice}`;
}

/** Resolves when standard output takes more. */
export function drained(): Promise<void> {
  return new Promise((done) => process.stdout.once('drain', done));
}
