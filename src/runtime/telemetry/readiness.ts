/** Readiness: whether the service can work, and if not, why. */

import type { Clock } from '../clock.js';
import { asServiceError } from '../errors.js';

/** How long a result is cached: load balancers ask every second, and each check costs a write. */
const FRESH_MS = 3_000;
const PATIENCE_MS = 2_000;

export interface ReadyParts {
  clock: Clock;
  /** Reads something small. */
  read(): Promise<unknown>;
  /** Writes something small, through the writer connection. */
  write(): Promise<unknown>;
  /** Further problems, known without waiting: evaluated each time. */
  known?: () => readonly (string | null)[];
}

export interface Readiness {
  check(): Promise<{ ok: boolean; reasons: string[] }>;
  /** Something failed since: the cached result no longer counts. */
  doubt(): void;
}

export function createReadiness({ clock, read, write, known }: ReadyParts): Readiness {
  let last: { at: number; reasons: Promise<string[]> } | null = null;
  const check = async (): Promise<string[]> => {
    const outcomes = await Promise.all([
      failure(read(), 'Reading from the database'),
      failure(write(), 'Writing to the database'),
    ]);
    return outcomes.filter((reason) => reason !== null);
  };
  return {
    async check() {
      const now = clock.elapsed();
      if (last === null || now - last.at >= FRESH_MS) last = { at: now, reasons: check() };
      const found = await last.reasons;
      // A failure is not cached, so that recovery shows at once.
      if (found.length > 0) last = null;
      const reasons = [...found, ...(known?.() ?? []).filter((reason) => reason !== null)];
      return { ok: reasons.length === 0, reasons };
    },
    doubt() {
      last = null;
    },
  };
}

async function failure(work: Promise<unknown>, what: string): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`${what} takes more than ${PATIENCE_MS / 1000} s.`), PATIENCE_MS);
  });
  try {
    return await Promise.race([work.then(() => null), late]);
  } catch (error) {
    return `${what} failed: ${asServiceError(error).message}`;
  } finally {
    clearTimeout(timer);
  }
}
