/** The actor of a call: its rights and the way in it came through. */

import type { Toolset } from './toolsets.js';

export type Right = 'read' | 'write';

export type WayIn = 'mcp' | 'run' | 'rest' | 'cli' | 'jobs';

/** What one MCP connection chose to be shown: less than its login may, never more. */
export interface ToolChoice {
  /** Null = all. */
  toolsets: readonly Toolset[] | null;
  read_only: boolean;
  /** A few tools, through which the others are found and run. */
  lean: boolean;
}

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
  /** Over MCP only; absent = all that the login may. */
  tools?: ToolChoice;
}
