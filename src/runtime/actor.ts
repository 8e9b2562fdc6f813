/** The actor of a call: its rights and its way in. */

import type { Toolset } from './toolsets.js';

export type Right = 'read' | 'write';

export type WayIn = 'mcp' | 'run' | 'rest' | 'cli' | 'jobs';

/** Which tools one MCP connection chose to see: a subset of what its login allows. */
export interface ToolChoice {
  /** Null = all. */
  toolsets: readonly Toolset[] | null;
  read_only: boolean;
  /** Only a few tools, through which the others are found and run. */
  lean: boolean;
}

/** Who makes a call, and through which way in. Plain data: it crosses the thread boundary with each call. */
export interface Actor {
  type: 'user' | 'key' | 'token' | 'local' | 'system';
  /** Row id of the user or key; null for an external access token, the local shell and the schedule. */
  id: number | null;
  /** For an external access token: its subject, which identifies it. */
  name: string;
  rights: readonly Right[];
  via: WayIn;
  /** Over MCP only; absent = all tools that the login allows. */
  tools?: ToolChoice;
}
