/** `sitefleet demo`: a simulated fleet on loopback, connected and served, to try everything without a real site. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FEW_SITES } from '../../schemas/approval.js';
import type { Service } from '../app/service.js';
import type { DemoSite, Fleet } from '../demo/fleet.js';
import type { Inbox } from '../demo/inbox.js';
import { generateKey } from '../outbound/child/wire/sign.js';
import { systemClock } from '../runtime/clock.js';
import type { Config } from '../runtime/config/types.js';
import { ServiceError } from '../runtime/errors.js';
import { fileUrl } from '../runtime/file-url.js';
import { createLog } from '../runtime/telemetry/log.js';
import type { HttpListener } from '../surfaces/http/server.js';
import { CommandError } from './command-error.js';
import type { Story, StoryFacts } from './demo-story.js';
import { type Credentials, firstStartOf } from './first-start.js';
import { localCaller } from './local-actor.js';
import { print, printJson, say, tableText } from './output.js';
import { progressBar } from './progress.js';
import { endpoints } from './serve.js';
import { stopAll, stopSignal, whenAborted } from './stop.js';

/** The login link of a demo lasts for a day of trying it out. */
const LINK_MS = 12 * 3600_000;
/** Sites connected concurrently. */
const AT_ONCE = 16;

/** Known vulnerabilities of the demo's plugins. */
const FEED = 'vulnerabilities.json';

/**
 * Settings in which the demo differs from a service for real sites: its sites are all on this machine, in a temporary
 * folder.
 */
function demoSettings(folder: string): Partial<Config> {
  return {
    db: fileUrl(join(folder, 'demo.db')),
    db_token: null,
    // Made-up sites do not belong among a user's backups.
    backup_dir: null,
    site_backup_dir: join(folder, 'site-backups'),
    site_backup_s3: null,
    site_backup_s3_region: null,
    site_backup_s3_key: null,
    site_backup_s3_secret: null,
    secret_key: null,
    secret_key_file: join(folder, 'secret.key'),
    base_url: null,
    vulnerability_feed: join(folder, FEED),
    vulnerability_key: null,
    read_only: false,
    // Its own sites, and no other non-public address.
    allow_private_sites: 'loopback',
    // One address plays all the hosts.
    per_host: 100,
  };
}

/** The pause between chunks protects real hosts; the demo needs hardly any. */
const DEMO_DELAY_MS = 500;

/** Reads the configuration, with other values and other defaults. */
export type Settle = (overrides: Partial<Config>, standards: Partial<Config>) => Config;

/** The configuration, and the pause between the steps of a job if the user set one. */
function configured(settle: Settle, folder: string): { config: Config; delay: number | undefined } {
  const config = settle(demoSettings(folder), { job_delay_ms: UNSET });
  if (config.job_delay_ms !== UNSET) return { config, delay: config.job_delay_ms };
  return { config: { ...config, job_delay_ms: DEMO_DELAY_MS }, delay: undefined };
}

const UNSET = -1;

export async function demo(settle: Settle, options: { sites: number; json: boolean }): Promise<void> {
  const stop = stopSignal();
  const folder = mkdtempSync(join(tmpdir(), 'sitefleet-demo-'));
  const steps: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const undo = (step: () => Promise<void> | void) => steps.unshift(step);
  try {
    const { config, delay } = configured(settle, folder);
    const started = await start(config, options.sites, undo);
    const { service, listener, loaded } = started;
    const { outcome, facts } = await fill(started, config, delay, stop);
    const [credentials] = await loaded;
    if (!stop.aborted) {
      await service.start();
      if (options.json) printJson({ ...endpoints(listener.url, credentials), broken_update: facts.broken_update });
      else await introduce(service, listener.url, credentials, outcome, { facts, inbox: started.inbox });
      await whenAborted(stop);
    }
  } finally {
    await stopAll(steps);
  }
}

async function start(config: Config, sites: number, undo: (step: () => Promise<void> | void) => void) {
  // One key for all simulated sites: generating one for each would take most of the time of a large demo. Made while modules are
  // loaded.
  const [sharedKey, { startFleet }, { startInbox }, { createService }, { listen }] = await Promise.all([
    generateKey(),
    import('../demo/fleet.js'),
    import('../demo/inbox.js'),
    import('../app/service.js'),
    import('../surfaces/http/server.js'),
  ]);
  const fleet: Fleet = await startFleet({ sites });
  undo(() => fleet.close());
  const inbox: Inbox = await startInbox();
  undo(() => inbox.close());
  const service: Service = await createService({
    config,
    log: createLog(config.log_level),
    sharedKey,
  });
  undo(() => service.stop());
  // All this goes on while sites are being connected: the engine loads in its own thread, the password is hashed in another, and
  // requests wait until what they need is loaded.
  const app = service.http();
  const loaded = Promise.all([firstLogin(config), app, service.loadEngine()]);
  loaded.catch(() => undefined);
  const listener: HttpListener = await listen({ fetch: async (...request) => (await app).fetch(...request) }, config);
  undo(() => listener.close(2000));
  service.setBaseUrl(listener.url);
  return { service, fleet, inbox, listener, loaded };
}

async function firstLogin(config: Config): Promise<Credentials> {
  const credentials = await firstStartOf(config, systemClock.now(), LINK_MS);
  if (credentials === undefined) throw new CommandError('The demo found a database in use in its new folder.');
  return credentials;
}

type Started = Awaited<ReturnType<typeof start>>;

const NO_FACTS: StoryFacts = { broken_update: null, same_update: null, ordinary: null };

/**
 * Connects the sites and fills the demo with content, before its schedule starts. The verbs run in this thread, in a
 * separate service; only connecting is left to the engine of the service that will serve.
 */
async function fill(
  { service, fleet, inbox, listener }: Started,
  config: Config,
  delay: number | undefined,
  stop: AbortSignal,
): Promise<{ outcome: Outcome; facts: StoryFacts }> {
  const [{ createService }, { beginStory }] = await Promise.all([
    import('../app/service.js'),
    import('./demo-story.js'),
  ]);
  const author = await createService({ config, log: service.log, engine: 'inline', jobs: false });
  try {
    author.setBaseUrl(listener.url);
    const ctx = author.ctx(localCaller(stop));
    const story = await beginStory(ctx, fleet.sites, delay);
    const outcome = await connectAll(service, fleet.sites, story, stop);
    return { outcome, facts: stop.aborted ? NO_FACTS : await story.complete(outcome.ids, inbox.url) };
  } catch (error) {
    if (!stop.aborted) throw error;
    return { outcome: { ids: new Map(), failed: [] }, facts: NO_FACTS };
  } finally {
    await author.stop();
  }
}

interface Outcome {
  ids: Map<DemoSite, number>;
  failed: string[];
}

/** Connects every site through the operation that a user would call; each provides its inventory. */
async function connectAll(
  service: Service,
  sites: readonly DemoSite[],
  story: Story,
  stop: AbortSignal,
): Promise<Outcome> {
  const operation = service.operations.find(({ id }) => id === 'svc/add-site-v1');
  if (operation === undefined)
    throw new CommandError('The demo needs the "sites" toolset. Add it to SITEFLEET_TOOLSETS.');
  const bar = progressBar('Connecting', sites.length);
  const ids = new Map<DemoSite, number>();
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
        ...story.belongingsOf(site),
      };
      try {
        const { id } = (await service.invoke(operation, input, localCaller(stop))) as { id: number };
        ids.set(site, id);
        await story.connected(site, id);
      } catch (error) {
        failed.push(`${site.url} ${error instanceof ServiceError ? error.message : String(error)}`);
      }
      bar.step();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  bar.stop();
  return { ids, failed };
}

async function introduce(
  service: Service,
  url: string,
  credentials: Credentials,
  outcome: Outcome,
  { facts, inbox }: { facts: StoryFacts; inbox: Inbox },
): Promise<void> {
  const all = endpoints(url, credentials);
  const user = `${credentials.user}:${credentials.password}`;
  // The sites get their numbers as they answer, so site 1 may be one that is down.
  const update =
    facts.ordinary === null
      ? ''
      : `
  curl -u '${user}' -H 'Content-Type: application/json' \\
    -d '{"input":{"site_id_or_domain":${facts.ordinary}}}' '${all.abilities}/svc/update-site-plugins-v1/run'`;
  if (process.stdout.isTTY) print(`\n${await fleetTable(service)}\n`);
  print(`${outcome.ids.size} simulated sites are connected.`);
  for (const line of outcome.failed) say(`Not connected: ${line}`);
  print(`
URL       ${url}
User      ${credentials.user}
Password  ${credentials.password}
API key   ${credentials.api_key}
Log in    ${all.login_link} (works once)
Alerts    ${inbox.url} (alerts that were sent)
Monitored every 5 minutes; for your own sites, the page asks on the first start

Try:
  curl -u '${user}' '${all.abilities}/svc/list-sites-v1/run?input[per_page]=5' -g
  curl -u '${user}' '${all.abilities}/svc/list-updates-v1/run'${update}
  curl -H 'Authorization: Bearer ${credentials.api_key}' '${all.v2}/sites'
  claude mcp add --transport http sitefleet ${all.mcp} --header 'Authorization: Bearer ${credentials.api_key}'
${safeUpdateHint(all.abilities, credentials, facts)}
A rollout started with the API key on more than ${FEW_SITES} sites, or without a guard, waits: approve it at ${url}/approvals, and repeat the call.
Ctrl-C ends the demo and removes its data.`);
}

/** How to see an update that breaks its site being rolled back, and then refused elsewhere. */
function safeUpdateHint(
  abilities: string,
  { user, password }: Credentials,
  { broken_update, same_update }: StoryFacts,
): string {
  if (broken_update === null) return '';
  const call = (id: number) =>
    `  curl -u '${user}:${password}' -H 'Content-Type: application/json' \\
    -d '{"input":{"site_id_or_domain":${id},"specific_items":["${broken_update.slug}"]}}' \\
    '${abilities}/svc/safe-update-site-v1/run'`;
  const other =
    same_update === null ? '' : `\nThe same update is then quarantined on another site, too:\n${call(same_update)}\n`;
  return `
An update that breaks site ${broken_update.site_id}, and is rolled back (takes about 10 seconds):
${call(broken_update.site_id)}
${other}`;
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
