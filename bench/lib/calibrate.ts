/** Detects other load on the machine during a measurement. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { median } from './stats.js';

/** Rounds whose calibration is slower than usual by more than this share are discarded. */
const MAX_DRIFT = 0.25;

const BLOCK = Buffer.alloc(64 * 1024, 'calibration');

/** A fixed piece of work: a loop and some hashing, about 5 ms on a current machine. */
function work(): void {
  let x = 1;
  for (let i = 0; i < 2_000_000; i++) x = (Math.imul(x, 1_664_525) + 1_013_904_223) | 0;
  const hash = createHash('sha256');
  for (let i = 0; i < 60; i++) hash.update(BLOCK);
  hash.update(String(x)).digest();
}

function calibrationMs(): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}

/**
 * Milliseconds of CPU that the fixed piece of work takes now. Costs of CPU are given as multiples of it, because results
 * depend on the speed of the machine, which differs between machines and from hour to hour.
 */
export function unitOfWork(): number {
  const costs = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return median(costs);
}

/** Ticks since boot that the host took away (steal time); 0 where there is no /proc. */
function stolenTicks(): number {
  try {
    const fields = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]?.split(' ').map(Number) ?? [];
    return fields[7] ?? 0;
  } catch {
    return 0;
  }
}

/** Compares the speed of the machine before and after each round with its usual speed. */
export class Calibration {
  readonly #usual: number[] = [];

  constructor() {
    calibrationMs();
    for (let i = 0; i < 5; i++) this.#usual.push(calibrationMs());
  }

  /** Starts a measurement; calling the result, once, returns whether it was disturbed. */
  watch(): () => boolean {
    const before = calibrationMs();
    const stolen = stolenTicks();
    return () => {
      const after = calibrationMs();
      // Only the fastest runs: on a machine that is disturbed all the time, the median of all would be a disturbed one.
      const usual = median([...this.#usual].sort((a, b) => a - b).slice(0, 5));
      this.#usual.push(before, after);
      const drift = Math.max(before, after) / usual - 1;
      return drift > MAX_DRIFT || stolenTicks() - stolen > 10;
    };
  }
}
