/** The child process that syncs a replica. */

import Database from 'libsql';

/** A message from the parent: first the replica's location, then `sync` any number of times. */
export type SyncRequest = { path: string; url: string; token: string | undefined } | 'sync';
/** The reply to each. */
export type SyncReply = { ok: true } | { ok: false; message: string };

/**
 * Serves one parent over the channel of `fork`, and ends with it.
 *
 * Why a process of its own: `sync` of libsql stands still until the server has answered, without a limit of time (the
 * promise flavour of libsql 0.5.29 cannot open a replica at all). On the serving thread it would hold up every request, by
 * a round trip each time; a thread that hangs in it cannot be ended, so the service could not stop. A process can be
 * killed. And when the server is away, libsql writes to stdout, which belongs to MCP.
 *
 * The parent reads the file over a connection of its own meanwhile. That is what libsql does inside one process, and what
 * SQLite's write-ahead log is for: a sync is one transaction of another writer. Neither connection of the parent writes.
 */
export function serveSyncs(): void {
  // The replica contains everything that is stored: other users must not read it.
  process.umask(0o077);
  // Ctrl-C reaches all processes of a terminal: the parent still finishes running requests, and ends this process when
  // it is done.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  process.on('disconnect', () => process.exit());
  let database: Database.Database | undefined;
  process.on('message', (request: SyncRequest) => {
    let reply: SyncReply = { ok: true };
    try {
      if (request === 'sync') database?.sync();
      else database = new Database(request.path, optionsOf(request));
    } catch (error) {
      reply = { ok: false, message: error instanceof Error ? error.message : String(error) };
    }
    process.send?.(reply);
  });
}

/** `authToken` is missing in the declarations of libsql. */
function optionsOf({ url, token }: Exclude<SyncRequest, 'sync'>): Database.Options {
  const options: Database.Options & { authToken?: string } = { syncUrl: url };
  return token === undefined ? options : Object.assign(options, { authToken: token });
}
