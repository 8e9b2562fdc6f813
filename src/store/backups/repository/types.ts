/** Types of the backup repository: what it offers, and what it consists of. */

import type { ChunkIndex } from './chunk-index.js';
import type { Backend } from './folder.js';
import type { Sealer } from './seal.js';

export interface RepositoryParts {
  backend: Backend;
  sealer: Sealer;
  index: ChunkIndex;
}

/** Stores chunks on behalf of one backup. */
export interface ChunkWriter {
  /**
   * Stores bytes unless the same are there already; returns the name of the chunk. It is safe only after `flush`.
   */
  put(bytes: Uint8Array): Promise<string>;
  /** Writes what is still in memory. */
  flush(): Promise<void>;
  /** Bytes that packs written by this writer take. */
  readonly added: number;
}

export interface Repository {
  /** Chosen when it was made. */
  readonly id: string;
  /** Whether it is still where it was opened: another process, or person, may have put another one in its place. */
  isInPlace(): Promise<boolean>;
  writer(): ChunkWriter;
  /** @throws RepositoryError `missing`, `damaged` */
  read(chunk: string): Promise<Buffer>;
  saveSnapshot(id: string, snapshot: object): Promise<void>;
  /** @throws RepositoryError `missing`, `damaged` */
  snapshot(id: string): Promise<unknown>;
  /** Ids of all snapshots. */
  snapshots(): Promise<string[]>;
  removeSnapshot(id: string): Promise<void>;
  /** Removes packs that no snapshot needs, in two steps (`sweep.ts`). */
  sweep(parts: SweepParts): Promise<Swept>;
  /** Reads packs, all or a sample, and compares them with what was stored. */
  check(parts: CheckParts): Promise<Checked>;
  /** Those of these chunks that no pack has, by the index. */
  absent(chunks: readonly string[]): Promise<string[]>;
  /** Removes damaged packs, after what can be read of them was written to others. What is lost is stored when it is put again. */
  repair(damage: readonly Damage[]): Promise<void>;
  /**
   * Makes the index again from the packs, once all of them were looked at; rejects, and changes nothing, if they cannot be.
   * @param settle done between the old index and the new one
   */
  rebuildIndex(settle?: () => Promise<void>): Promise<Rebuilt>;
}

export interface SweepParts {
  /** Ids of snapshots that there are, too, even if a list of the repository does not show them yet. */
  known: () => Promise<readonly string[]>;
  /** Names of all chunks that a snapshot needs, but for those that only chunks among `known` name. */
  chunksOf: (snapshot: unknown, known: ReadonlySet<string>) => AsyncIterable<string>;
  /** When the oldest backup that is under way began, in milliseconds; null = none is. */
  oldestRunning: () => Promise<number | null>;
  /** Milliseconds. */
  now: number;
  /** A pack is removed this long after it was found unused; default: a day. */
  graceMs?: number;
}

/** Packs, and bytes of them, that a sweep has marked and removed. */
export interface Swept {
  packs: number;
  marked: number;
  removed: number;
  removed_bytes: number;
}

export interface CheckParts {
  /** Share of the packs that are read, from 0 to 1. */
  share: number;
  /** A number from 0 to 1 for each pack: those below the share are read. */
  pick: () => number;
  signal: AbortSignal;
}

/** What is wrong with a pack. */
export interface Damage {
  pack: string;
  problem: string;
  /** Those that cannot be read any more. */
  chunks: string[];
}

export interface Rebuilt {
  packs: number;
  /** Packs that cannot be read. */
  damage: Omit<Damage, 'chunks'>[];
}

export interface Checked {
  packs: number;
  read: number;
  bytes: number;
  damage: Damage[];
}

/** Where the backups of an installation are: the same for all of its processes. */
export interface BackupHome {
  /** Of the repository. */
  id: string;
  /** The folder, or the address of the bucket. */
  place: string;
  /** The machine whose folder it is; null = a bucket. */
  host: string | null;
}

/** What was found at a place of backups. */
export interface PlaceLook {
  /** Id of the repository there; null = none. */
  found: string | null;
  /** On the disk of a folder; null = unknown. */
  free_bytes: number | null;
  /** The database has a key of backups. It opens what was found. */
  has_key: boolean;
}

/** The repository of this installation, opened when it is first needed. */
export interface BackupStorage {
  /** The folder, or the address of the bucket. */
  readonly place: string;
  /** Where the backups are, by the database; null = there are none yet. */
  home(): Promise<BackupHome | null>;
  /** The repository at the configured place; makes the first one. @throws RepositoryError, also `elsewhere` */
  open(): Promise<Repository>;
  /** From now on backups are in the repository at the configured place; makes one where there is none. @throws RepositoryError */
  usePlace(): Promise<Repository>;
  /**
   * What is at the configured place, of which nothing is changed: an object is written, read and removed again. Where there is no
   * folder yet, that it could be made.
   * @throws RepositoryError if it cannot be used
   */
  look(): Promise<PlaceLook>;
  /** The key, for the recovery sheet: 64 hex digits. It is a secret. */
  key(): Promise<string>;
  /** Takes over a repository that was made with this key. @throws RepositoryError `wrong_key` */
  useKey(key: string): Promise<void>;
  close(): Promise<void>;
}
