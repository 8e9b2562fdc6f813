/** A replica: reads of a storage server are served from a copy of it on this machine. */

import { pathToFileURL } from 'node:url';
import type { Db } from '../driver/db.js';
import { StorageError } from '../driver/db.js';
import { openEmbedded } from '../driver/embedded.js';
import { readOnly } from '../driver/read-only.js';
import { openRemote, within } from '../driver/remote.js';
import { claimReplica, type ReplicaFiles } from './files.js';
import { Freshness } from './freshness.js';
import { Syncer } from './syncer.js';

/**
 * - `building`: there is no copy yet; the server answers.
 * - `live`: the copy answers.
 * - `behind`: the copy cannot be synced at the moment; the server answers.
 * - `away`: the server does not answer; the copy does, though it may be stale.
 */
export type ReplicaState = 'building' | 'live' | 'behind' | 'away';

export interface ReplicaStatus {
  state: ReplicaState;
  /** Time since the last successful sync began: nothing older is missing. Null before the first. */
  age_ms: number | null;
  syncs: number;
  failures: number;
  /** Reads that the server answered. */
  server_reads: number;
}

export interface Replica {
  /** Reads that include everything written before the last `wrote`. Writing is refused. */
  readonly db: Db;
  /** Reads that include everything any process wrote before the call: for logins. */
  readonly current: Db;
  /** Reports that this process wrote something to the server. */
  wrote(): void;
  status(): ReplicaStatus;
  close(): Promise<void>;
}

export interface ReplicaOptions {
  token?: string | undefined;
  /** Base name of the copy, to which suffixes are added. It is created at the start and removed at the end. */
  file: string;
  syncMs: number;
  /** Program of the syncing process. */
  program: URL;
  /** Called when the state or its reason changes; for the log. */
  changed(state: ReplicaState, reason: string | null): void;
  /** For tests. */
  stuckMs?: number;
  rebuildAfterMs?: number;
}

/** How long a read waits for the copy to catch up, or three times a usual sync; then it goes to the server. */
const CATCH_UP_MS = 500;
/** How long a read waits for the server while there is a copy to fall back on. */
const SERVER_MS = 2000;
const RETRY_MS = 1000;
const STUCK_MS = 10_000;
/**
 * A copy that cannot be synced for this long, although the server answers, is rebuilt. A server that cleans up its log
 * may refuse for half a minute.
 */
const REBUILD_AFTER_MS = 60_000;

/**
 * Opens a storage server for reading, with a replica. Returns at once; the copy is built in the background.
 * @throws StorageError `other` if the name is in use
 */
export function openReplica(url: string, options: ReplicaOptions): Replica {
  return new EmbeddedReplica(url, options);
}

class EmbeddedReplica implements Replica {
  readonly db: Db;
  readonly current: Db;
  readonly #options: ReplicaOptions;
  readonly #files: ReplicaFiles;
  readonly #server: Db;
  readonly #syncer: Syncer;
  readonly #freshness: Freshness;
  #local: Db | null = null;
  /** The process whose file `#local` reads. */
  #opened = 0;
  #state: ReplicaState = 'building';
  #reason: string | null = null;
  #distrusted = false;
  #synced: number | null = null;
  #syncMs = 0;
  #behindSince: number | null = null;
  #syncs = 0;
  #failures = 0;
  #serverReads = 0;

  constructor(url: string, options: ReplicaOptions) {
    this.#options = options;
    const { token, file, program, syncMs, stuckMs = STUCK_MS } = options;
    this.#server = openRemote(url, token, { mode: 'reader' });
    this.#files = claimReplica(file);
    this.#syncer = new Syncer({ program, files: this.#files, url, token, stuckMs });
    this.#freshness = new Freshness({
      sync: () => this.#sync(),
      ended: (failure) => this.#ended(failure),
      everyMs: syncMs,
      retryMs: RETRY_MS,
    });
    this.db = readOnly((work) => this.#read(work));
    this.current = readOnly((work) => {
      if (this.#state === 'live') this.#freshness.mark();
      return this.#read(work);
    });
    this.#freshness.start();
  }

  wrote(): void {
    this.#freshness.mark();
  }

  status(): ReplicaStatus {
    return {
      state: this.#state,
      age_ms: this.#synced === null ? null : performance.now() - this.#synced,
      syncs: this.#syncs,
      failures: this.#failures,
      server_reads: this.#serverReads,
    };
  }

  async close(): Promise<void> {
    await this.#freshness.stop(() => this.#syncer.stop());
    await this.#local?.close();
    this.#local = null;
    await this.#server.close();
    this.#files.release();
  }

  async #read<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const local = await this.#usable();
    if (local !== null) {
      try {
        return await work(local);
      } catch (error) {
        if (!this.#broken(error, local)) throw error;
      }
    }
    try {
      return await this.#askServer(work);
    } catch (error) {
      const copy = this.#local;
      if (copy === null || !isStorage(error, 'unavailable')) throw error;
      this.#enter('away', error);
      return work(copy);
    }
  }

  /** The copy, if it may answer now. */
  async #usable(): Promise<Db | null> {
    if (this.#state === 'away') return this.#local;
    if (this.#local === null) return null;
    if (this.#freshness.fresh && this.#inTime()) return this.#local;
    const timeoutMs = Math.min(SERVER_MS, Math.max(CATCH_UP_MS, 3 * this.#syncMs));
    return (await this.#freshness.reached(timeoutMs)) && this.#inTime() ? this.#local : null;
  }

  /** A sync that hangs has not failed yet. */
  #inTime(): boolean {
    return this.#synced !== null && performance.now() - this.#synced < this.#options.syncMs + SERVER_MS;
  }

  /** Whether the copy failed, or is briefly locked: then the server answers. */
  #broken(error: unknown, local: Db): boolean {
    if (isStorage(error, 'busy')) return true;
    if (!isStorage(error, 'corrupt', 'unavailable')) return false;
    if (this.#local === local) {
      this.#distrusted = true;
      this.#local = null;
      this.#enter('building', error);
      void local.close();
      this.#freshness.mark();
    }
    return true;
  }

  async #askServer<T>(work: (db: Db) => Promise<T>): Promise<T> {
    this.#serverReads += 1;
    try {
      return await (this.#local === null ? work(this.#server) : within(SERVER_MS, work(this.#server)));
    } finally {
      // The server's answer may be newer than the copy, and later reads must not be older.
      this.#freshness.mark();
    }
  }

  async #sync(): Promise<void> {
    if (this.#distrusted) {
      await this.#syncer.stop();
      await this.#local?.close();
      this.#local = null;
      this.#files.renew();
      this.#distrusted = false;
    }
    const began = performance.now();
    await this.#syncer.sync();
    if (this.#opened !== this.#syncer.starts || this.#local === null) {
      const before = this.#local;
      const fresh = openEmbedded(pathToFileURL(this.#files.path).href, { mode: 'reader' });
      // The file shrinks when the server's does, and the system kills a process that touches a mapped page that is
      // gone.
      await fresh.all('PRAGMA mmap_size=0');
      this.#local = fresh;
      this.#opened = this.#syncer.starts;
      await before?.close();
      this.#files.tidy();
    }
    this.#synced = began;
    this.#syncMs = performance.now() - began;
  }

  async #ended(failure: Error | null): Promise<void> {
    if (failure === null) {
      this.#syncs += 1;
      this.#behindSince = null;
      this.#enter('live', null);
      return;
    }
    this.#failures += 1;
    const answers = await within(SERVER_MS, this.#server.one('SELECT 1')).then(
      () => true,
      (error: unknown) => !isStorage(error, 'unavailable'),
    );
    if (!answers) this.#behindSince = null;
    else this.#behindSince ??= performance.now();
    const { rebuildAfterMs = REBUILD_AFTER_MS } = this.#options;
    const tooLong = this.#behindSince !== null && performance.now() - this.#behindSince > rebuildAfterMs;
    if (tooLong || isStorage(failure, 'corrupt')) {
      this.#distrusted = true;
      this.#behindSince = null;
    }
    if (this.#local === null || this.#distrusted) this.#enter('building', failure);
    else this.#enter(answers ? 'behind' : 'away', failure);
  }

  #enter(state: ReplicaState, reason: unknown): void {
    const text = reason instanceof Error ? reason.message : null;
    // The first failure of a replica that was never built does not change the state, but is still reported.
    if (this.#state === state && (text === null || text === this.#reason)) return;
    this.#state = state;
    this.#reason = text;
    this.#options.changed(state, text);
  }
}

function isStorage(error: unknown, ...kinds: StorageError['kind'][]): boolean {
  return error instanceof StorageError && kinds.includes(error.kind);
}
