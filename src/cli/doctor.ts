/** `sitefleet doctor`: checks everything a working service needs, changes nothing, and gives advice. */

import { createSecureContext } from 'node:tls';
import { openBackups } from '../app/backups.js';
import { clockDifference } from '../app/same-clock.js';
import { presentKeys, presentVault } from '../app/secret-key.js';
import { audienceOf } from '../domain/alerts/test-alert.js';
import { feedState } from '../domain/vulnerabilities/state.js';
import { type Mailer, noMailer } from '../outbound/mail/mailer.js';
import { createMailer } from '../outbound/mail/smtp.js';
import { probeHttp } from '../outbound/probe/http.js';
import { Names } from '../outbound/probe/names.js';
import { withTimeLimit } from '../runtime/abort-signals.js';
import { systemClock } from '../runtime/clock.js';
import { databaseFile } from '../runtime/config/config.js';
import type { Config } from '../runtime/config/types.js';
import { maskedUrl } from '../runtime/masked-url.js';
import { withRealDomains } from '../runtime/real-domains.js';
import { VERSION } from '../runtime/version.js';
import type { Db } from '../store/driver/db.js';
import { createStore, type Store } from '../store/store.js';
import { checkpointReport } from './checkpoint-warning.js';
import { mustExist } from './database.js';
import { siteBackupsOf } from './doctor-backups.js';
import type { Finding } from './finding.js';
import { inspect, reportText } from './inspect.js';
import { withReader } from './open-database.js';
import { type JsonFlag, messageOf, print, printJson } from './output.js';
import { stopSignal } from './stop.js';

/** Signatures and leases tolerate this; access tokens and webhooks allow five minutes. */
const CLOCK_TOLERANCE_MS = 60_000;
const SITE_TIMEOUT_MS = 15_000;
const MAIL_TIMEOUT_MS = 60_000;

/** Exit code 1 if something fails. */
export async function doctor(config: Config, options: JsonFlag & { site?: string }): Promise<void> {
  const signal = stopSignal();
  const findings: Finding[] = [versions()];
  try {
    mustExist(config);
    findings.push(...(await withReader(config, (db) => lookOver(config, db, options.site, signal))));
  } catch (error) {
    findings.push({ what: 'Database', status: 'fail', detail: messageOf(error) });
  }
  if (options.json === true) printJson(findings);
  else
    for (const { what, status, detail } of findings)
      print(`${status.padEnd(5)} ${what.padEnd(12)} ${withRealDomains(detail)}`);
  if (findings.some(({ status }) => status === 'fail')) process.exitCode = 1;
}

function versions(): Finding {
  const { node, platform, arch } = { node: process.version, platform: process.platform, arch: process.arch };
  const old = Number(node.slice(1).split('.')[0]) < 20;
  const detail = `Sitefleet ${VERSION}, Node ${node}, ${platform} ${arch}`;
  return {
    what: 'Versions',
    status: old ? 'fail' : 'ok',
    detail: old ? `${detail}: Node 20 or newer is needed` : detail,
  };
}

async function lookOver(config: Config, db: Db, site: string | undefined, signal: AbortSignal): Promise<Finding[]> {
  const vault = presentVault(config);
  const report = await inspect(db, vault);
  const place = databaseFile(config.db) ?? maskedUrl(config.db);
  const database: Finding = {
    what: 'Database',
    status: report.ok || (report.secrets?.unreadable ?? 0) > 0 ? 'ok' : 'fail',
    detail: `${place}, step ${report.schema.step} of ${report.schema.newest}`,
  };
  if (database.status === 'fail')
    return [{ ...database, detail: `${place}\n${reportText(report)}` }, keyOf(config, report)];
  const backups = backupsOf(config, systemClock.now());
  if (vault === undefined) return [database, keyOf(config, report), backups];
  const store = createStore(db, vault);
  return [
    database,
    keyOf(config, report),
    backups,
    ...(await siteBackupsOf(config, store, signal)),
    ...(await checkpointsOf(db)),
    ...(await serverClockOf(db)),
    await scheduleOf(store),
    await mailOf(config, signal),
    await alertsOf(config, store),
    await feedOf(config, store),
    ...(await sitesOf(config, store, site, signal)),
  ];
}

function keyOf(config: Config, { secrets }: Awaited<ReturnType<typeof inspect>>): Finding {
  const [key] = presentKeys(config);
  if (key === undefined)
    return {
      what: 'Key',
      status: (secrets?.sealed ?? 0) > 0 ? 'fail' : 'warn',
      detail: `the secret key is missing: ${config.secret_key_file ?? 'SITEFLEET_SECRET_KEY'}`,
    };
  const lost = secrets?.unreadable ?? 0;
  if (lost > 0)
    return {
      what: 'Key',
      status: 'fail',
      detail: `${key.id} does not open ${lost} of ${secrets?.sealed} secrets: "sitefleet check"`,
    };
  return { what: 'Key', status: 'ok', detail: `${key.id} opens all ${secrets?.sealed ?? 0} secrets` };
}

async function checkpointsOf(db: Db): Promise<Finding[]> {
  const report = await checkpointReport(db);
  if (report === null) return [];
  return [{ what: 'Server', status: report.danger ? 'warn' : 'ok', detail: report.detail }];
}

async function serverClockOf(db: Db): Promise<Finding[]> {
  const difference = await clockDifference(db);
  return difference === null
    ? []
    : [{ what: 'Clock', status: 'fail', detail: `${difference} No process starts here until the clocks agree.` }];
}

async function scheduleOf(store: Store): Promise<Finding> {
  const owner = await store.leases.owner('schedule', systemClock.now());
  return owner === null
    ? {
        what: 'Schedule',
        status: 'warn',
        detail: 'no process is running it: start "sitefleet serve" or "sitefleet work"',
      }
    : { what: 'Schedule', status: 'ok', detail: `run by ${owner}` };
}

/** Age of the latest backup. Backups made by other tools are unknown here. */
function backupsOf(config: Config, now: number): Finding {
  const what = 'Backups';
  try {
    const backups = openBackups(config);
    if (backups === null)
      return databaseFile(config.db) === null
        ? { what, status: 'ok', detail: 'the libSQL server needs backups of its own' }
        : { what, status: 'warn', detail: 'no folder is set (SITEFLEET_BACKUP_DIR), so none are scheduled' };
    const last = backups.list().at(-1);
    if (last === undefined) return { what, status: 'warn', detail: `none yet in ${backups.folder}` };
    const hours = Math.floor((now - last.at) / 3_600_000);
    const detail = `the newest in ${backups.folder} is ${hours} h old`;
    return { what, status: hours > 26 ? 'warn' : 'ok', detail };
  } catch (error) {
    return { what, status: 'fail', detail: messageOf(error) };
  }
}

async function mailOf(config: Config, signal: AbortSignal): Promise<Finding> {
  if (config.smtp_url === null)
    return {
      what: 'Mail',
      status: 'warn',
      detail: 'no mail server is configured (SITEFLEET_SMTP_URL), so no mail is sent',
    };
  const mailer = createMailer({ url: config.smtp_url, from: config.mail_from });
  const { host } = new URL(config.smtp_url);
  try {
    await mailer.verify(withTimeLimit(signal, MAIL_TIMEOUT_MS));
    return { what: 'Mail', status: 'ok', detail: `${host} accepts the login` };
  } catch (error) {
    return { what: 'Mail', status: 'fail', detail: `${host}: ${messageOf(error)}` };
  } finally {
    await mailer.close();
  }
}

async function alertsOf(config: Config, store: Store): Promise<Finding> {
  const mailer: Mailer = noMailer(config.smtp_url !== null);
  const { addresses, recipients, warning } = await audienceOf({ store, config, mailer });
  if (warning !== '') return { what: 'Alerts', status: 'warn', detail: warning };
  const detail = `sent to ${addresses.length} mail addresses and ${recipients.length} webhooks and chats`;
  return { what: 'Alerts', status: 'ok', detail };
}

async function feedOf(config: Config, store: Store): Promise<Finding> {
  const what = 'Feed';
  const { checked_at, note } = await feedState({ store, config, clock: systemClock });
  if (note !== null) return { what, status: 'warn', detail: note };
  const entries = (await store.vulnerabilityFeeds.state())?.entries ?? 0;
  return { what, status: 'ok', detail: `${entries} known vulnerabilities, as of ${checked_at}` };
}

/** A site by its id or a part of its name or address; the first one if none is named. */
async function sitesOf(
  config: Config,
  store: Store,
  wanted: string | undefined,
  signal: AbortSignal,
): Promise<Finding[]> {
  const byId = wanted !== undefined && /^\d{1,15}$/.test(wanted);
  const filter = byId ? { ids: [Number(wanted)] } : { search: wanted ?? '' };
  const { items } = await store.sites.list(filter, 1, 1);
  const [site] = items;
  if (site === undefined)
    return [
      wanted === undefined
        ? { what: 'Site', status: 'warn', detail: 'none yet: see "sitefleet call add-site --help"' }
        : { what: 'Site', status: 'fail', detail: `no site matches ${wanted}` },
    ];
  const names = new Names({ allowPrivate: config.allow_private_sites });
  const parts = { names, context: createSecureContext(), userAgent: `Sitefleet/${VERSION}` };
  const asked = systemClock.now();
  const answer = await probeHttp(
    parts,
    {
      url: site.url,
      method: 'GET',
      http_user: null,
      http_pass: null,
      ssl_verify: true,
      timeoutMs: SITE_TIMEOUT_MS,
      expected: [],
      maxBytes: 0,
      signal,
    },
    '*/*',
  );
  if (answer.http_status === 0)
    return [{ what: 'Site', status: 'fail', detail: `${site.url}: ${answer.failure?.message ?? 'no answer'}` }];
  const detail = `${site.url} answers with HTTP ${answer.http_status}; it is ${site.status} here`;
  const status = site.status === 'connected' && answer.http_status < 500 ? 'ok' : 'warn';
  return [{ what: 'Site', status, detail }, clockOf(answer.headers.date, asked, systemClock.now(), site.url)];
}

/** Compares this machine's clock with that of a site, by the `Date` header, which has whole seconds. */
function clockOf(header: string | undefined, asked: number, answered: number, url: string): Finding {
  const theirs = Date.parse(header ?? '');
  if (Number.isNaN(theirs)) return { what: 'Clock', status: 'warn', detail: `${url} does not report its time` };
  const apart = theirs < asked - 1000 ? asked - theirs : theirs > answered ? theirs - answered : 0;
  const seconds = Math.round(apart / 1000);
  return apart > CLOCK_TOLERANCE_MS
    ? { what: 'Clock', status: 'warn', detail: `${seconds} s apart from ${url}: one of the two is wrong` }
    : { what: 'Clock', status: 'ok', detail: `agrees with ${url}` };
}
