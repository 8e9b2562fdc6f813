/** The processes that share scheduled tasks, as seen by one of them. */

import { hostname } from 'node:os';

export interface Members {
  /** Name of this machine: a site that is unreachable from one machine may be reachable from another. */
  readonly host: string;
  /** How long a claim lasts without renewal, in milliseconds. */
  readonly leaseMs: number;
  /** Registers this process and counts the others; later calls cost nothing unless it was paused in between. */
  join(): Promise<void>;
  /** Number of living processes, including this one. */
  count(): number;
  /** This process's part of what all processes together may run at once; 0 while it has none. */
  slots(limit: number): number;
  /** Which of how many equal parts of the sites belongs to this process; null while it has none. */
  part(): { index: number; of: number } | null;
}

/** For a database that no other process can open: claims need not lapse. */
export const ALONE: Members = {
  host: hostname(),
  leaseMs: 3_600_000,
  join: async () => undefined,
  count: () => 1,
  slots: (limit) => limit,
  part: () => ({ index: 0, of: 1 }),
};
