/** Compares two things in one run: A, B, B, A in each round, so that a machine that slows down affects both alike. */

import { Calibration } from './calibrate.js';
import { median, middleHalf, type Range } from './stats.js';

/** One side of a comparison. `slice` does some work and returns its cost: time per piece, or a rate. */
export type Slice = () => number | Promise<number>;

interface CompareOptions {
  rounds: number;
  /** Maximum number of discarded rounds; after that, disturbed ones count as well. Default: twice `rounds`. */
  maxDiscarded?: number;
  /** Warm-up slices before the first round. Default 1. */
  warmups?: number;
  /** False for slices in which this process mostly waits: then its own speed is irrelevant. Default true. */
  calibrate?: boolean;
}

export interface Comparison {
  /** Median over the rounds of cost A / cost B. */
  ratio: number;
  spread: Range;
  /** Median costs. */
  a: number;
  b: number;
  rounds: number;
  discarded: number;
  /** There were too few quiet rounds: the figures include disturbed ones. */
  disturbed: boolean;
}

interface Round {
  a: number;
  b: number;
}

export async function compare(a: Slice, b: Slice, options: CompareOptions): Promise<Comparison> {
  const { rounds, maxDiscarded = options.rounds * 2, warmups = 1, calibrate = true } = options;
  for (let i = 0; i < warmups; i++) {
    await a();
    await b();
  }
  const calibration = calibrate ? new Calibration() : null;
  const quiet: Round[] = [];
  const noisy: Round[] = [];
  while (quiet.length < rounds && noisy.length < maxDiscarded) {
    const disturbed = calibration?.watch();
    const round = await abba(a, b);
    (disturbed?.() === true ? noisy : quiet).push(round);
  }
  const disturbed = quiet.length < rounds;
  const counted = disturbed ? [...quiet, ...noisy].slice(-Math.max(rounds, quiet.length)) : quiet;
  const ratios = counted.map((round) => round.a / round.b);
  return {
    ratio: median(ratios),
    spread: middleHalf(ratios),
    a: median(counted.map((round) => round.a)),
    b: median(counted.map((round) => round.b)),
    rounds: counted.length,
    discarded: noisy.length,
    disturbed,
  };
}

async function abba(a: Slice, b: Slice): Promise<Round> {
  const first = await a();
  const second = await b();
  const third = await b();
  const fourth = await a();
  return { a: (first + fourth) / 2, b: (second + third) / 2 };
}
