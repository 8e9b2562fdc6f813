/** A service as `serve` runs it, in its own process: HTTP in the main thread, the engine in its thread. */

import { firstStartOf } from '../../src/cli/first-start.js';
import type { Config } from '../../src/runtime/config/types.js';
import { type HttpListener, listen } from '../../src/surfaces/http/server.js';
import { benchConfig } from './config.js';
import { cpuMs, serveCommands } from './process.js';
import { type BenchService, openService } from './service.js';

export interface ServerReady {
  url: string;
  /** Values of the Authorization header. */
  key: string;
  login: string;
}

let service: BenchService;
let listener: HttpListener;

async function start(change: Partial<Config> & { db: string }): Promise<ServerReady> {
  const credentials = await firstStartOf(benchConfig(change), Date.now());
  if (credentials === undefined) throw new Error('The database has users already.');
  service = await openService(change.db, change);
  listener = await listen(await service.http(), { host: '127.0.0.1', port: 0 });
  const { user, password, api_key } = credentials;
  return {
    url: listener.url,
    key: `Bearer ${api_key}`,
    login: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  };
}

/** Syncs every site once; returns how many. */
async function sync(): Promise<number> {
  const answer = await service.call('sync-sites', { site_ids_or_domains: [] });
  const { synced, errors } = answer as { synced?: unknown[]; errors?: unknown[] };
  if (errors !== undefined && errors.length > 0) throw new Error(`Sites failed: ${JSON.stringify(errors[0])}`);
  return synced?.length ?? 0;
}

serveCommands({ start, sync, cpu: cpuMs }, async () => {
  await listener.close(0);
  await service.stop();
});
