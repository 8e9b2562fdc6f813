/** Who calls, and through which way in. */

export type Right = 'read' | 'write';

export type WayIn = 'mcp' | 'run' | 'rest' | 'cli' | 'jobs';

/** Who calls, and through which door. Plain data: it crosses the thread border with each call. */
export interface Actor {
  type: 'user' | 'key' | 'token' | 'local' | 'system';
  /** Row id of the user or key; null for an external access token, the local shell and the schedule. */
  id: number | null;
  /** Of an external access token: its subject, by which it is told apart. */
  name: string;
  rights: readonly Right[];
  via: WayIn;
  /** Sites this principal may neither see nor touch (operations §3 "Per-site access"). */
  denied_sites: readonly number[];
}
