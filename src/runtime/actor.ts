/** The actor of a call: its rights and its way in. */

import type { Toolset } from './toolsets.js';

/** `approve`: to let changes happen that others asked for, and to say which have to be asked for. */
export type Right = 'read' | 'write' | 'approve';

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
  /** Present = logged in on the page: a person. */
  session?: true;
  /** Over MCP only; absent = all tools that the login allows. */
  tools?: ToolChoice;
}

/** The credential of a caller. The shell is another one than an assistant on the same machine. */
export function credentialOf({ type, id, name, via }: Actor): string {
  return type === 'local' ? `local:${via}` : `${type}:${id ?? name}`;
}

/** Whether a person acts: in the page, or in the shell of the machine. */
export function isPerson({ session, type, via }: Actor): boolean {
  return session === true || (type === 'local' && via === 'cli');
}
