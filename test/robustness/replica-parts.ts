/** Shared parts of the replica tests: the syncing program, and a proxy to the server that can be cut. */

import { readdirSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundledPrograms } from '../support/processes/bundle.js';

/** URL of the program that syncs a replica. */
export async function replicaProgram(): Promise<URL> {
  return pathToFileURL(join(await bundledPrograms(), 'replica-process.js'));
}

/** The database file of the replica of that name, including its suffix. */
export function copyOf(name: string): string {
  const files = readdirSync(dirname(name)).filter((file) => /^-[0-9a-f]{8}$/.test(file.replace(basename(name), '')));
  if (files.length !== 1) throw new Error(`${files.length} replicas of ${name}`);
  return join(dirname(name), String(files[0]));
}

export interface Wire {
  /** `127.0.0.1:PORT` of the proxy. */
  host: string;
  /** Requests for SQL so far. Replication runs over the same port, under other paths. */
  queries(): number;
  /** Syncs of replicas so far. */
  syncs(): number;
  /** Allows or cuts off replication; SQL is not affected. */
  replicate(allowed: boolean): void;
  /** Holds back the data; connections stay open. */
  hold(held: boolean): void;
  close(): Promise<void>;
}

/** Several requests may arrive in one chunk; each match is one request. */
const QUERY = /POST \/v\d\/pipeline /g;
const SYNC = /POST \/wal_log\.ReplicationLog\/BatchLogEntries /g;

/**
 * @param delayMs each way
 * @param at port to listen on, any free one by default
 */
export async function wireTo(host: string, delayMs = 0, at = 0): Promise<Wire> {
  const [name = '', port = ''] = host.split(':');
  const ends = new Set<Socket>();
  const counts = { queries: 0, syncs: 0 };
  let refused = false;
  let held: (() => void)[] | null = null;
  const later = (work: () => void) => {
    if (held !== null) held.push(work);
    else if (delayMs > 0) setTimeout(work, delayMs);
    else work();
  };
  const carry = (from: Socket, to: Socket) => {
    ends.add(from);
    from.on('data', (chunk) => later(() => to.write(chunk)));
    from.on('error', () => undefined);
    from.on('close', () => {
      ends.delete(from);
      later(() => to.destroy());
    });
  };
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: name, port: Number(port), noDelay: true });
    client.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      counts.queries += text.match(QUERY)?.length ?? 0;
      counts.syncs += text.match(SYNC)?.length ?? 0;
      if (refused && text.includes('ReplicationLog')) client.destroy();
    });
    carry(client, upstream);
    carry(upstream, client);
  });
  await new Promise<void>((done) => server.listen(at, '127.0.0.1', done));
  const address = server.address();
  return {
    host: `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    queries: () => counts.queries,
    syncs: () => counts.syncs,
    replicate: (allowed) => {
      refused = !allowed;
    },
    hold(on) {
      const waiting = held ?? [];
      held = on ? waiting : null;
      if (!on) for (const work of waiting) work();
    },
    async close() {
      const closed = new Promise((done) => server.close(done));
      for (const end of ends) end.destroy();
      await closed;
    },
  };
}
