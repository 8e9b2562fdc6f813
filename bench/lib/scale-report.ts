/** The report of the large-fleet simulation, as tables. */

import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { ScaleOptions } from '../scale.js';
import { memoryOf } from './process.js';
import type { Done, Outcome, Ticks } from './scale-outcome.js';
import type { ScaleSitesCounts } from './scale-sites.js';
import { cpuOf, shareOf } from './served.js';
import { quantile, rounded, sum } from './stats.js';
import { noTraffic, PURPOSES, type Traffic, type WireCounts } from './storage-wire.js';

/** Resources used by a process: since `before`, where given. */
export interface Usage {
  cpuMs: number;
  /** MB: its share (PSS) now, and its peak resident size. */
  memory: { now: number; peak: number };
  /** Bytes it caused to be sent to disk. */
  written: number;
}

export function usageOf(pid: number, before?: Usage): Usage {
  const io = readFileSync(`/proc/${pid}/io`, 'utf8');
  const written = Number(/^write_bytes: (\d+)/m.exec(io)?.[1] ?? Number.NaN);
  return {
    cpuMs: cpuOf(pid) - (before?.cpuMs ?? 0),
    memory: { now: shareOf(pid), peak: memoryOf(pid).peak },
    written: written - (before?.written ?? 0),
  };
}

interface Found {
  chosen: ScaleOptions;
  seconds: number;
  /** Storage server, workers, sites, counting proxy. */
  usage: readonly Usage[];
  counts: readonly WireCounts[];
  visited: ScaleSitesCounts;
  ticks: Ticks;
  outcome: Outcome;
}

export function report(found: Found): string {
  const { chosen, seconds } = found;
  const load = readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 3).join(' ');
  return [
    `${chosen.sites} sites at ${chosen.rate} of the real pace, ${chosen.workers} processes, ${seconds / 60} minutes; ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]?.model.trim() ?? ''}, load average ${load} at the end.`,
    `Sites answer after ${chosen.latencyMs} ms, ${chosen.perAddress} share an address; at most ${chosen.checksAtOnce} uptime checks at once.`,
    '',
    ...table(
      ['Work', 'Due', 'Done', 'A second', 'Late p50', 'p99', 'longest'],
      [
        doneRow('uptime checks', found.outcome.checks, seconds),
        doneRow('syncs', found.outcome.syncs, seconds),
        tickRow(found.ticks),
      ],
    ),
    `${found.outcome.up} of the checks found their site up; ${found.outcome.failed} syncs failed. The sites saw ${found.visited.visits} visits and ${found.visited.calls} calls${errorsOf(found.visited.errors)}.`,
    '',
    ...table(
      ['Task', 'Runs seen', 'Took p50', 'longest', 'began late p99', 'longest', 'last outcome'],
      taskRows(found.ticks),
    ),
    '',
    ...table(
      ['To the storage server, a second', 'Statements', 'Rows read', 'Rows written', 'KB', 'Share of statements'],
      trafficRows(found.counts, seconds),
    ),
    waitLine(found.counts, seconds),
    '',
    ...table(['Process', 'CPU, ms a second', 'Memory, MB', 'at most', 'Written, KB a second'], usageRows(found)),
    `The database is ${mega(found.outcome.databaseBytes)} MB.`,
    '',
  ].join('\n');
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).concat('');
}

function doneRow(name: string, { due, done, late }: Done, seconds: number): (string | number)[] {
  return [name, due, done, rounded(done / seconds), ...lateness(late)];
}

/** Seconds: median, 99th percentile, maximum. */
function lateness(late: readonly number[]): string[] {
  return [quantile(late, 0.5), quantile(late, 0.99), Math.max(...late)].map(inSeconds);
}

function inSeconds(ms: number): string {
  return Number.isFinite(ms) ? `${rounded(ms / 1_000)} s` : '–';
}

/** Runs of this task also begin after syncs, and are not late then. */
const ALSO_AT_OTHER_TIMES = 'abandoned-refresh';

function tickRow({ all }: Ticks): (string | number)[] {
  const late = all.filter(({ name }) => name !== ALSO_AT_OTHER_TIMES).map((tick) => tick.late);
  return ['runs of the timetable', '', all.length, '', ...lateness(late)];
}

function taskRows({ all }: Ticks): (string | number)[][] {
  return [...new Set(all.map(({ name }) => name))].sort().map((name) => {
    const runs = all.filter((tick) => tick.name === name);
    const took = runs.flatMap((tick) => tick.took ?? []);
    const late = name === ALSO_AT_OTHER_TIMES ? [] : runs.map((tick) => tick.late);
    return [
      name,
      runs.length,
      inSeconds(quantile(took, 0.5)),
      inSeconds(Math.max(...took)),
      inSeconds(quantile(late, 0.99)),
      inSeconds(Math.max(...late)),
      runs.at(-1)?.outcome ?? '',
    ];
  });
}

function trafficRows(counts: readonly WireCounts[], seconds: number): (string | number)[][] {
  const by = noTraffic();
  for (const wire of counts)
    for (const purpose of PURPOSES)
      for (const figure of Object.keys(by[purpose]) as (keyof Traffic)[])
        by[purpose][figure] += wire.by[purpose][figure];
  const all = sum(PURPOSES.map((purpose) => by[purpose].statements));
  const row = (name: string, traffic: Traffic) => [
    name,
    ...[traffic.statements, traffic.rowsRead, traffic.rowsWritten, traffic.bytes / 1_000].map((value) =>
      rounded(value / seconds),
    ),
    `${rounded((100 * traffic.statements) / all)} %`,
  ];
  const total = (figure: keyof Traffic) => sum(PURPOSES.map((purpose) => by[purpose][figure]));
  const together = {
    statements: all,
    rowsRead: total('rowsRead'),
    rowsWritten: total('rowsWritten'),
    bytes: total('bytes'),
  };
  return [...PURPOSES.map((purpose) => row(purpose, by[purpose])), row('together', together)];
}

function waitLine(counts: readonly WireCounts[], seconds: number): string {
  const waits = counts.flatMap((wire) => wire.waits);
  const each = (figure: 'bytesUp' | 'bytesDown') => rounded(sum(counts.map((wire) => wire[figure])) / seconds / 1_000);
  const errors = counts.flatMap((wire) => wire.errors);
  const ms = (q: number) => rounded(quantile(waits, q));
  return `${rounded(waits.length / seconds)} requests a second, ${each('bytesUp')} KB a second there and ${each('bytesDown')} KB back; answered after ${ms(0.5)} ms (p50), ${ms(0.99)} ms (p99), ${ms(1)} ms (longest)${errorsOf(errors)}.`;
}

function errorsOf(errors: readonly string[]): string {
  return errors.length === 0
    ? ', no errors'
    : `, ${errors.length} errors: ${[...new Set(errors)].slice(0, 5).join(' / ')}`;
}

function usageRows({ usage, seconds, chosen }: Found): (string | number)[][] {
  const names = [
    'sqld',
    ...Array.from({ length: chosen.workers }, (_, at) => `worker ${at + 1}`),
    'the sites',
    'the counting',
  ];
  return usage.map(({ cpuMs, memory, written }, at) => [
    names[at] ?? '',
    rounded(cpuMs / seconds),
    Math.round(memory.now),
    Math.round(memory.peak),
    at === 0 ? rounded(written / seconds / 1_000) : '',
  ]);
}

function mega(bytes: number): number {
  return Math.round(bytes / 1_000_000);
}
