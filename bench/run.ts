/**
 * Runs the benchmarks: `npm run bench [-- --quick] [-- --only lists] [-- --json] [-- --gate] [-- --only users --beside FOLDER]`. Every scenario
 * runs in its own process. It compares two things in turns, or gives CPU as a multiple of a fixed piece of work measured in the
 * same run, because results depend on the speed of the machine.
 */

import { fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { inherited } from './lib/process.js';
import { jsonLine, markdown, type Outcome } from './lib/report.js';
import { type Measure, met, type Options, type Scenario } from './lib/scenario.js';
import { scenarios } from './scenarios/index.js';

/** A goal missed by more than this fails the gate; less may be noise of the machine. */
const TOLERANCE = 0.15;
/** Timeout of one scenario; beyond it something hangs. */
const PATIENCE_MS = 30 * 60_000;

function options() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
      gate: { type: 'boolean', default: false },
      out: { type: 'string' },
      child: { type: 'string' },
      dir: { type: 'string', default: '' },
      beside: { type: 'string' },
    },
  });
  return values;
}

function chosen(only: readonly string[]): Scenario[] {
  const names = only.flatMap((entry) => entry.split(','));
  const unknown = names.find((name) => !scenarios.some((one) => one.name === name || String(one.number) === name));
  if (unknown !== undefined) {
    const known = scenarios.map(({ number, name }) => `${number} ${name}`).join(', ');
    throw new TypeError(`--only: there is no scenario ${JSON.stringify(unknown)}. There are ${known}.`);
  }
  return scenarios.filter(
    (one) => names.length === 0 || names.includes(one.name) || names.includes(String(one.number)),
  );
}

/** Runs one scenario in its own process, so that earlier scenarios have not warmed or filled anything. */
function inChild(scenario: Scenario, { quick, dir, beside }: Options): Promise<Outcome> {
  const args = ['--child', String(scenario.number), '--dir', dir, ...(quick ? ['--quick'] : [])];
  if (beside !== undefined) args.push('--beside', beside);
  const child = fork(fileURLToPath(import.meta.url), args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: inherited(),
  });
  return new Promise((resolve) => {
    let answer: { measures?: Measure[]; error?: string } = { error: 'It ended without a result.' };
    const timer = setTimeout(() => {
      answer = { error: 'It took too long.' };
      child.kill('SIGKILL');
    }, PATIENCE_MS);
    child.on('message', (message) => {
      answer = message as typeof answer;
    });
    child.once('exit', () => {
      clearTimeout(timer);
      resolve({ scenario, measures: answer.measures ?? [], error: answer.error ?? null });
    });
  });
}

async function beChild(number: string, given: Options): Promise<void> {
  const scenario = scenarios.find((one) => String(one.number) === number);
  let answer: { measures?: Measure[]; error?: string };
  try {
    answer = { measures: (await scenario?.run(given)) ?? [] };
  } catch (error) {
    answer = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  process.send?.(answer, () => process.exit(0));
}

async function main(): Promise<void> {
  const { quick, only, json, gate, out, child, dir, beside } = options();
  if (child !== undefined) return beChild(child, { quick, dir, beside });
  const say = (text: string) => process.stderr.write(`${text}\n`);
  const base = mkdtempSync(join(tmpdir(), 'sitefleet-bench-'));
  const outcomes: Outcome[] = [];
  const began = Date.now();
  try {
    for (const scenario of chosen(only)) {
      say(`${scenario.number} ${scenario.name}: ${scenario.title}`);
      const own = join(base, scenario.name);
      mkdirSync(own);
      const outcome = await inChild(scenario, { quick, dir: own, beside });
      rmSync(own, { recursive: true });
      outcomes.push(outcome);
      if (outcome.error !== null) say(`  failed: ${outcome.error}`);
      for (const measure of outcome.measures) {
        if (json) process.stdout.write(`${jsonLine(measure)}\n`);
        else say(`  ${met(measure) ? 'ok  ' : 'MISS'} ${measure.name}: ${measure.ratio.toPrecision(3)}`);
      }
    }
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
  const text = markdown(outcomes, { quick, partial: only.length > 0, minutes: (Date.now() - began) / 60_000 });
  if (!json) process.stdout.write(text);
  if (out !== undefined) writeFileSync(out, text);
  const failed = outcomes.some(({ error }) => error !== null);
  const missed = outcomes.some(({ measures }) => measures.some((measure) => !met(measure, TOLERANCE)));
  if (failed || (gate && missed)) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
