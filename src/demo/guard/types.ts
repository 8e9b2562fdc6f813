/** What a simulated guard keeps. */

import type { Harm } from '../faults.js';
import type { UpdateOffer } from '../state.js';

export type ItemKind = 'plugin' | 'theme';

export interface KeptVersion {
  id: string;
  role: 'snapshot' | 'replaced';
  kind: ItemKind;
  slug: string;
  version: string;
  /** The update that was available for it. */
  update: UpdateOffer | null;
  /** Unix seconds. */
  created: number;
  files: number;
  bytes: number;
  digest: string;
  /** Absent = nothing. */
  left_out?: { over: number; files: number; bytes: number; long?: number; largest: string[] };
}

export interface ArmedVersion {
  snapshot: string;
  kind: ItemKind;
  slug: string;
  at: number;
  until: number;
  /** Seconds after a change of the item in which no visitor's request restores. */
  patience: number;
  /** A request has passed since the item last changed. */
  alive?: boolean;
}

export interface RecordedFault {
  time: number;
  first: number;
  count: number;
  message: string;
  file: string;
  line: number;
  kind: ItemKind | null;
  item: string | null;
  armed: boolean;
  blames: string | null;
  ours: number | null;
  cron: boolean;
  restored: string | null;
  waited: string | null;
}

export interface StoredFile {
  bytes: Buffer;
  time: number;
  inode: number;
}

export interface Restore {
  id: string;
  phase: 'staging' | 'swapped';
  tables: string[];
  entries: [string, string][];
  written: Map<number, Buffer>;
  loaded: Map<string, string[]>;
  /** Of a row that arrives in parts, what is there. */
  row: Buffer;
  before: { files: Map<string, StoredFile>; tables: Map<string, string[]> } | null;
}

/** What the plugin for backups finds on a simulated site. Tests change it. */
export interface BackupState {
  version: string;
  files: Map<string, StoredFile>;
  /** Rows as the plugin sends them, without line ends, by table; the first cell is the key. */
  tables: Map<string, string[]>;
  restore: Restore | null;
  /** Bytes that were read from files, and after how many no more can be read. */
  read: number;
  stopsAfter?: number;
  /** Bytes of the longest request that the web server lets through; undefined = as many as the plugin takes. */
  takes?: number;
  /** What it answers in place of the truth; undefined = the truth. */
  lies?: (action: string, asked: Record<string, unknown>) => Record<string, unknown> | undefined;
  /** Requests that asked for rests. */
  gentle: number;
  /** Bytes of rows that were sent. */
  sentRows: number;
  inode: number;
}

export interface GuardState {
  version: string;
  login: boolean;
  /** Used nonces, with the second after which they may be forgotten. */
  nonces: Map<string, number>;
  /** Newest first. */
  kept: KeptVersion[];
  armed: ArmedVersion[];
  faults: RecordedFault[];
  /** Running updates. */
  updating: { kind: ItemKind; slug: string; since: number }[];
  /** Changes that versions made outside their own files and that have not been restored. */
  harms: Set<Harm>;
  /** Until when the sandbox is open, in unix seconds. */
  openUntil: number;
  /** What it has counted; null = no whole day yet. */
  visits: { days: number; count: number } | null;
  /** The plugin for backups beside it; null = none. */
  backup: BackupState | null;
  /** Executed actions, in order. */
  actions: string[];
  /** Login tokens by their digest; `until` in unix seconds. */
  logins: Map<string, { user: string; until: number }>;
}
