/** The processes that share scheduled tasks, as one of them sees it. */

import { hostname } from 'node:os';

export interface Members {
  /** Name of this machine: what one cannot reach, another may. */
  readonly host: string;
  /** How long a claim of a process that says nothing lasts, milliseconds. */
  readonly leaseMs: number;
  /** Shows this process to the others and counts them; later calls cost nothing unless it was paused meanwhile. */
  join(): Promise<void>;
  /** Processes that live, this one included. */
  count(): number;
  /** This process's part of what all of them together may do at once; 0 while it has none. */
  slots(limit: number): number;
  /** Which of how many equal parts of the sites is this process's; null while it has none. */
  part(): { index: number; of: number } | null;
}

/** A database that no other process can open: claims need not lapse. */
export const ALONE: Members = {
  host: hostname(),
  leaseMs: 3_600_000,
  join: async () => undefined,
  count: () => 1,
  slots: (limit) => limit,
  part: () => ({ index: 0, of: 1 }),
};
