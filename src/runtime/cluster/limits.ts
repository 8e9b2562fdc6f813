/** This process's share of the limits, if several processes call the same sites. */
export interface SharedLimits {
  /** Joins the others. Cheap afterwards; every call awaits it first. */
  join(): Promise<void>;
  /** Processes that share the limits now, at least 1. */
  members(): number;
  /**
   * How many of the `limit` calls to one host this process may have open on its own; 0 if other processes have them
   * all.
   */
  slots(host: string, limit: number): number;
  /** Runs one call under the limits: at once with a slot of its own, otherwise when the host's spare slot is free. */
  within<T>(host: string, limit: number, signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T>;
  /** Calls back when the number of members or this process's position among them changed. */
  onChange(listener: () => void): void;
}

/** For a process that has all of it. */
export const UNSHARED: SharedLimits = {
  join: async () => undefined,
  members: () => 1,
  slots: (_host, limit) => limit,
  within: (_host, _limit, _signal, call) => call(),
  onChange: () => undefined,
};

/** The part of a limit for one of `members`; at least 1, otherwise the process would stall. */
export function partOf(limit: number, members: number): number {
  return Math.max(1, Math.floor(limit / members));
}
