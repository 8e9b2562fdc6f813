/** The interface of scenarios and their results. */

import type { Comparison } from './ab.js';
import { type Range, rounded } from './stats.js';

export interface Options {
  /** Smaller data, fewer rounds: for development and for every commit. */
  quick: boolean;
  /** Folder for databases and other files; the runner creates and removes it. */
  dir: string;
  /** Folder of another checkout to measure beside this one; only `users` does. */
  beside?: string | undefined;
}

/** The maximum or minimum of the ratio. */
type Goal = { atMost: number } | { atLeast: number };

export interface Measure {
  name: string;
  ratio: number;
  /** Null for a figure that is only reported. */
  goal: Goal | null;
  spread: Range;
  rounds: number;
  discarded: number;
  disturbed: boolean;
  /** The two sides in their own unit, and other facts for the reader. */
  detail: string;
}

export interface Scenario {
  number: number;
  name: string;
  title: string;
  run(options: Options): Promise<Measure[]>;
}

export function met({ ratio, goal }: Pick<Measure, 'ratio' | 'goal'>, tolerance = 0): boolean {
  if (goal === null) return true;
  return 'atMost' in goal ? ratio <= goal.atMost * (1 + tolerance) : ratio >= goal.atLeast * (1 - tolerance);
}

export function goalText(goal: Goal | null): string {
  if (goal === null) return '';
  return 'atMost' in goal ? `<= ${goal.atMost}` : `>= ${goal.atLeast}`;
}

/** A comparison as a measure; the detail gives both sides in `unit`. */
export function measureOf(name: string, goal: Goal | null, compared: Comparison, unit: string, more = ''): Measure {
  const { ratio, spread, rounds, discarded, disturbed, a, b } = compared;
  const detail = `${rounded(a)} against ${rounded(b)} ${unit}${more === '' ? '' : `; ${more}`}`;
  return { name, ratio, goal, spread, rounds, discarded, disturbed, detail };
}

/** A figure measured in separate runs, without a second side in the same process. */
export function figure(name: string, goal: Goal | null, ratios: readonly number[], detail: string): Measure {
  const sorted = [...ratios].sort((x, y) => x - y);
  const ratio = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  const spread: Range = [sorted[0] ?? Number.NaN, sorted.at(-1) ?? Number.NaN];
  return { name, ratio, goal, spread, rounds: ratios.length, discarded: 0, disturbed: false, detail };
}
