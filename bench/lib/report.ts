/** Results for readers and for programs. */

import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { goalText, type Measure, met, type Scenario } from './scenario.js';
import { rounded } from './stats.js';

export interface Outcome {
  scenario: Scenario;
  measures: Measure[];
  error: string | null;
}

/** `{name, ratio, goal, ok, spread}`; goal is null for a figure that is only reported. */
export function jsonLine(measure: Measure): string {
  const { name, ratio, goal, spread } = measure;
  return JSON.stringify({
    name,
    ratio: rounded(ratio),
    goal: goal === null ? null : goalText(goal),
    ok: met(measure),
    spread: spread.map(rounded),
  });
}

export function markdown(
  outcomes: readonly Outcome[],
  run: { quick: boolean; partial: boolean; minutes: number },
): string {
  const rows = outcomes.flatMap(({ scenario, measures, error }) => [
    ...measures.map((measure) => row(scenario, measure)),
    ...(error === null ? [] : [`| ${scenario.number} | ${scenario.name} | failed | | | | ${firstLine(error)} |`]),
  ]);
  return [
    '# Results of the benchmarks',
    '',
    `${run.quick ? 'Quick' : 'Full'} run${run.partial ? ', in part,' : ''} of ${new Date().toISOString().slice(0, 10)}, ${Math.ceil(run.minutes)} minutes. ${machine()}`,
    '',
    'Every ratio compares two things measured in turns in one run, or gives CPU as a multiple of a fixed piece of work measured in',
    'the same run (some 5 ms on a current machine). The spread is the middle half of the rounds (of single runs: the lowest and the',
    'highest). A figure without a goal is shown and not judged. `disturbed` = too few quiet rounds.',
    '',
    '| # | what | ratio | spread | goal | met | details |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function row({ number }: Scenario, measure: Measure): string {
  const { name, ratio, spread, goal, rounds, discarded, disturbed, detail } = measure;
  const judged = goal === null ? '' : met(measure) ? 'yes' : '**no**';
  const rest = discarded === 0 ? '' : `, ${discarded} discarded`;
  const details = `${detail}; ${rounds} rounds${rest}${disturbed ? ', disturbed' : ''}`;
  return `| ${number} | ${name} | ${rounded(ratio)} | ${spread.map(rounded).join(' – ')} | ${goalText(goal)} | ${judged} | ${details} |`;
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').replaceAll('|', '/');
}

/** The machine, as far as it is relevant for ratios. */
function machine(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() || 'unknown processor';
  const load = loadAverage();
  const busy = load === null ? '' : `, load average ${load} at the end`;
  return `Node ${process.versions.node} on ${type()} ${release()}, ${processors.length} x ${model}, ${Math.round(totalmem() / 2 ** 30)} GB${busy}.`;
}

function loadAverage(): string | null {
  try {
    return readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 3).join(' ');
  } catch {
    return null;
  }
}
