/** Starts the process that syncs a replica when it is needed, and kills it when it hangs. */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { StorageError } from '../driver/db.js';
import type { ReplicaFiles } from './files.js';
import type { SyncReply, SyncRequest } from './process.js';

interface SyncerParts {
  /** Program of the process; it calls `serveSyncs`. */
  program: URL;
  files: Pick<ReplicaFiles, 'path' | 'fingerprint'>;
  /** URL and token of the storage server, as configured. */
  url: string;
  token: string | undefined;
  /** A sync that writes nothing for this long is considered stuck. */
  stuckMs: number;
}

/**
 * SQLite's messages about a damaged file, as worded by libsql; and libsql's message about an incompletely created one.
 */
const DAMAGED = /disk image is malformed|not a database|without a wal_index/;

/**
 * One call at a time. A failed sync rejects with a StorageError that may be logged: `corrupt`, otherwise `unavailable`.
 */
export class Syncer {
  readonly #parts: SyncerParts;
  #child: ChildProcess | null = null;
  /** How many processes have been started: a new one may have another file open. */
  starts = 0;

  constructor(parts: SyncerParts) {
    this.#parts = parts;
  }

  /** Brings the replica to the server's current state, or a later one. */
  async sync(): Promise<void> {
    const child = this.#child ?? (await this.#start());
    await this.#ask(child, 'sync');
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.ref();
    child.kill('SIGKILL');
    await gone;
  }

  async #start(): Promise<ChildProcess> {
    // Its output must not reach ours; see process.ts.
    const child = fork(this.#parts.program, [], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], execArgv: [] });
    child.on('error', () => undefined);
    child.once('exit', () => {
      if (this.#child === child) this.#child = null;
    });
    // A finished command need not wait for it.
    child.unref();
    child.channel?.unref();
    this.#child = child;
    this.starts += 1;
    await this.#ask(child, { path: this.#parts.files.path, ...target(this.#parts.url, this.#parts.token) });
    return child;
  }

  async #ask(child: ChildProcess, request: SyncRequest): Promise<void> {
    const reply = await this.#reply(child, request);
    if (reply.ok) return;
    // A process that could not open the replica never will.
    if (request !== 'sync') await this.stop();
    const kind = DAMAGED.test(reply.message) ? 'corrupt' : 'unavailable';
    throw new StorageError(kind, this.#printable(reply.message));
  }

  #reply(child: ChildProcess, request: SyncRequest): Promise<SyncReply> {
    return new Promise((resolve) => {
      let seen = '';
      const checkEveryMs = Math.max(50, this.#parts.stuckMs / 4);
      let quiet = 0;
      const check = setInterval(() => {
        const fingerprint = this.#parts.files.fingerprint();
        quiet = fingerprint === seen ? quiet + checkEveryMs : 0;
        seen = fingerprint;
        if (quiet >= this.#parts.stuckMs) child.kill('SIGKILL');
      }, checkEveryMs).unref();
      const end = (reply: SyncReply) => {
        clearInterval(check);
        child.off('message', end).off('exit', ended).off('error', ended);
        resolve(reply);
      };
      const ended = () =>
        end({ ok: false, message: quiet > 0 ? 'the server does not answer' : 'the syncing process ended' });
      child.on('message', end).on('exit', ended).on('error', ended);
      if (child.connected) child.send(request, (error) => error && ended());
      else ended();
    });
  }

  /** Messages of libsql are dumps of its state that contain the reason somewhere; the token must never be logged. */
  #printable(message: string): string {
    const { token = '' } = target(this.#parts.url, this.#parts.token);
    const open = token === '' ? message : message.replaceAll(token, '***');
    const reason = /message: "([^"]+)"/.exec(open)?.[1] ?? open;
    return reason.replace(/\p{Cc}+/gu, ' ').slice(0, 150);
  }
}

/** Replication does not work over WebSocket; a server accepts both on one port. The URL may contain the token. */
function target(url: string, token: string | undefined): { url: string; token: string | undefined } {
  // For unknown schemes, URL keeps the port.
  const parsed = new URL(url.replace(/^[a-z]+:/i, 'server:'));
  const plain = /^(http|ws):/i.test(url) || parsed.searchParams.get('tls') === '0';
  return {
    url: `${plain ? 'http' : 'https'}://${parsed.host}${parsed.pathname.replace(/\/$/, '')}`,
    token: token ?? parsed.searchParams.get('authToken') ?? undefined,
  };
}
