/** `sitefleet demo`: a simulated fleet on loopback, connected and served, to try everything without a single real site. */

import { generateKeyPair, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KeyPair } from '../app/engine-services.js';
import type { Service } from '../app/service.js';
import { fileUrl } from '../config/config.js';
import type { Config } from '../config/types.js';
import { systemClock } from '../core/clock.js';
import { ServiceError } from '../core/errors.js';
import type { DemoSite, Fleet } from '../demo/fleet.js';
import type { HttpListener } from '../http/server.js';
import { createLog } from '../telemetry/log.js';
import { CommandError } from './accounts.js';
import { type Credentials, firstStartOf } from './first-start.js';
import { print, printJson, say, tableText } from './output.js';
import { progressBar } from './progress.js';
import { endpoints } from './serve.js';
import { localActor } from './stdio.js';
import { stopAll, stopSignal, whenAborted } from './stop.js';

/** The login link of a demo lasts as long as a day of trying it out. */
const LINK_MS = 12 * 3600_000;
/** Sites connected at the same time. */
const AT_ONCE = 16;

/** What the demo needs otherwise than a service for real sites: they all live on this machine, in a folder that goes. */
function demoSettings(folder: string): Partial<Config> {
  return {
    db: fileUrl(join(folder, 'demo.db')),
    db_token: null,
    db_replica: null,
    // Made-up sites do not belong among somebody's backups.
    backup_dir: null,
    secret_key: null,
    secret_key_file: join(folder, 'secret.key'),
    base_url: null,
    read_only: false,
    // Its own sites, and nothing else that is not public.
    allow_private_sites: 'loopback',
    // One address plays all the hosts.
    per_host: 100,
  };
}

/** The pause between chunks protects real hosts; the demo has none. */
function atDemoPace(config: Config): Config {
  return config.job_delay_ms === 30_000 ? { ...config, job_delay_ms: 500 } : config;
}

export async function demo(
  settle: (overrides: Partial<Config>) => Config,
  options: { sites: number; json: boolean },
): Promise<void> {
  const stop = stopSignal();
  const folder = mkdtempSync(join(tmpdir(), 'sitefleet-demo-'));
  const steps: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const undo = (step: () => Promise<void> | void) => steps.unshift(step);
  try {
    const { service, fleet, listener, credentials } = await start(
      atDemoPace(settle(demoSettings(folder))),
      options.sites,
      undo,
    );
    const { added, failed } = await connectAll(service, fleet.sites, stop);
    if (!stop.aborted) {
      if (options.json) printJson(endpoints(listener.url, credentials));
      else await introduce(service, listener.url, credentials, { added, failed });
      await whenAborted(stop);
    }
  } finally {
    await stopAll(steps);
  }
}

async function start(config: Config, sites: number, undo: (step: () => Promise<void> | void) => void) {
  const [{ startFleet }, { createService }, { listen }] = await Promise.all([
    import('../demo/fleet.js'),
    import('../app/service.js'),
    import('../http/server.js'),
  ]);
  const credentials = await firstStartOf(config, systemClock.now(), LINK_MS);
  if (credentials === undefined) throw new CommandError('The demo found a used database where it made a new folder.');
  const fleet: Fleet = await startFleet({ sites });
  undo(() => fleet.close());
  const service: Service = await createService({
    config,
    log: createLog(config.log_level),
    // One key for all simulated sites: making one each would take most of the time of a large demo.
    sharedKey: await keyPair(),
  });
  undo(() => service.stop());
  const app = await service.http();
  await service.loadEngine();
  const listener: HttpListener = await listen(app, config);
  undo(() => listener.close(2000));
  service.setBaseUrl(listener.url);
  await service.start();
  return { service, fleet, listener, credentials };
}

async function keyPair(): Promise<KeyPair> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { public_key: publicKey, private_key: privateKey };
}

interface Outcome {
  added: number;
  failed: string[];
}

/** Connects every site through the operation that a user would call; each brings its inventory along. */
async function connectAll(service: Service, sites: readonly DemoSite[], stop: AbortSignal): Promise<Outcome> {
  const operation = service.operations.find(({ id }) => id === 'svc/add-site-v1');
  if (operation === undefined)
    throw new CommandError('The demo needs the "sites" toolset. Add it to SITEFLEET_TOOLSETS.');
  const bar = progressBar('Connecting', sites.length);
  const failed: string[] = [];
  let next = 0;
  const worker = async () => {
    for (let site = sites[next++]; site !== undefined && !stop.aborted; site = sites[next++]) {
      const input = {
        url: site.url,
        name: site.name,
        admin: site.admin,
        admin_password: site.password,
        ...(site.uniqueId === '' ? {} : { unique_id: site.uniqueId }),
      };
      try {
        await service.invoke(operation, input, { actor: localActor('cli'), request_id: randomUUID(), signal: stop });
      } catch (error) {
        failed.push(`${site.url} ${error instanceof ServiceError ? error.message : String(error)}`);
      }
      bar.step();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  bar.stop();
  return { added: sites.length - failed.length, failed };
}

async function introduce(service: Service, url: string, credentials: Credentials, outcome: Outcome): Promise<void> {
  const all = endpoints(url, credentials);
  if (process.stdout.isTTY) print(`\n${await fleetTable(service)}\n`);
  print(`${outcome.added} simulated sites are connected.`);
  for (const line of outcome.failed) say(`Not connected: ${line}`);
  print(`
URL       ${url}
User      ${credentials.user}
Password  ${credentials.password}
API key   ${credentials.api_key}
Log in    ${all.login_link} (works once)

Try:
  curl -u '${credentials.user}:${credentials.password}' '${all.abilities}/svc/list-sites-v1/run?input[per_page]=5' -g
  curl -u '${credentials.user}:${credentials.password}' '${all.abilities}/svc/list-updates-v1/run'
  curl -u '${credentials.user}:${credentials.password}' -H 'Content-Type: application/json' \\
    -d '{"input":{"site_id_or_domain":1}}' '${all.abilities}/svc/update-site-plugins-v1/run'
  curl -H 'Authorization: Bearer ${credentials.api_key}' '${all.v2}/sites'
  claude mcp add --transport http sitefleet ${all.mcp} --header 'Authorization: Bearer ${credentials.api_key}'

Ctrl-C ends the demo and removes its data.`);
}

/** The first sites as a table; more would scroll the credentials away. */
async function fleetTable(service: Service): Promise<string> {
  const shown = 25;
  const { items, total } = await service.store.sites.list({}, 1, shown);
  const records = new Map((await service.store.sites.records(items.map(({ id }) => id))).map((one) => [one.id, one]));
  const rows = items.map((site) => {
    const { wp_version = '', php_version = '' } = records.get(site.id) ?? {};
    return [String(site.id), site.name, site.url, site.status, wp_version, php_version];
  });
  const more = total > shown ? `\n… and ${total - shown} more` : '';
  return `${tableText([['ID', 'Name', 'URL', 'Status', 'WordPress', 'PHP'], ...rows])}${more}`;
}
