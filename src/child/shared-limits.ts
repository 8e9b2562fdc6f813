/** A share of the limits, where several processes call the same sites. */
export interface SharedLimits {
  /** Takes part. Cheap once done; every call waits for it first. */
  join(): Promise<void>;
  /** Processes that share the limits now, at least 1. */
  members(): number;
  /** Calls to one host that this process may have open by itself, of `limit` for all; 0 when others have them. */
  slots(host: string, limit: number): number;
  /** Runs one call under the limits: at once with a place of our own, else when the host's spare place is free. */
  within<T>(host: string, limit: number, signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T>;
  /** Calls back when the number of members or our place among them changed. */
  onChange(listener: () => void): void;
}

/** A process that has all of it. */
export const UNSHARED: SharedLimits = {
  join: async () => undefined,
  members: () => 1,
  slots: (_host, limit) => limit,
  within: (_host, _limit, _signal, call) => call(),
  onChange: () => undefined,
};

/** What one of `members` gets of a limit; never nothing, or it would stand still. */
export function partOf(limit: number, members: number): number {
  return Math.max(1, Math.floor(limit / members));
}
