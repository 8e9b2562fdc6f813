/** The actor of a call: its rights and the way in it came through. */

export type Right = 'read' | 'write';

export type WayIn = 'mcp' | 'run' | 'rest' | 'cli' | 'jobs';

/** Who calls, and through which way in. Plain data: it crosses the thread border with each call. */
export interface Actor {
  type: 'user' | 'key' | 'token' | 'local' | 'system';
  /** Row id of the user or key; null for an external access token, the local shell and the schedule. */
  id: number | null;
  /** Of an external access token: its subject, which identifies it. */
  name: string;
  rights: readonly Right[];
  via: WayIn;
  /** Sites this principal may neither see nor touch (operations §3 "Per-site access"). */
  denied_sites: readonly number[];
}
