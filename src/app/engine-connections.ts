/** Opens what the engine works with: the sites and other networks, and the other processes on the same database. */

import { hostname, tmpdir } from 'node:os';
import type { Auditor } from '../outbound/audit/audit.js';
import type { PacedChildSites } from '../outbound/child/create.js';
import type { ChildSites, KeyPair } from '../outbound/child/port.js';
import { noCopies, type SiteCopies } from '../outbound/copies/copies.js';
import type { CopiesParts } from '../outbound/copies/create.js';
import type { VulnerabilityFeed } from '../outbound/feed/vulnerability-feed.js';
import type { SiteGuards } from '../outbound/guard/guards.js';
import { type Mailer, noMailer } from '../outbound/mail/mailer.js';
import { noPictures, type Pictures } from '../outbound/pictures/pictures.js';
import type { Probe } from '../outbound/probe/probe.js';
import type { WebhookSender } from '../outbound/webhook/sender.js';
import type { Clock } from '../runtime/clock.js';
import type { Leases } from '../runtime/cluster/leases.js';
import type { SharedLimits } from '../runtime/cluster/limits.js';
import type { Members } from '../runtime/cluster/members.js';
import { createClusterLimits } from '../runtime/cluster/shared-limits.js';
import type { Config } from '../runtime/config/types.js';
import type { Log } from '../runtime/log.js';
import type { Slots } from '../runtime/slots.js';
import type { Metrics } from '../runtime/telemetry/metrics.js';
import { VERSION } from '../runtime/version.js';
import type { Store } from '../store/store.js';

export async function openChild(
  { config, sharedKey }: { config: Config; sharedKey?: KeyPair | undefined },
  dashboardUrl: string,
  {
    store,
    clock,
    log,
    metrics,
    sharedLimits,
    leases,
  }: {
    store: Store;
    clock: Clock;
    log: Log;
    metrics: Metrics;
    sharedLimits: SharedLimits | undefined;
    leases: Pick<Leases, 'confirm'>;
  },
): Promise<PacedChildSites> {
  const { createChildSites } = await import('../outbound/child/create.js');
  const child = createChildSites({
    dashboardUrl,
    concurrency: config.concurrency,
    perHost: config.per_host,
    minDelayMs: 0,
    perHostDelayMs: 0,
    callTimeoutMs: config.site_timeout_ms,
    allowPrivate: config.allow_private_sites,
    sharedLimits,
    clock,
    beforeSend: leases.confirm,
    onCall: (facts) => {
      metrics.child(facts);
      log.debug({ ...facts }, 'child call');
    },
    beforeChange: store.actionLog.begin,
    // The call itself succeeded: if this cannot be stored, the next sync repairs it.
    onAnswer: (siteId) =>
      store.siteStatus.answered(siteId, clock.now()).catch((err: unknown) => {
        log.warn({ site_id: siteId, err }, "a site's recovery could not be stored");
      }),
  });
  if (sharedKey === undefined) return child;
  const generateKey = async () => sharedKey;
  return {
    ...child,
    generateKey,
    bulk: () => ({ ...child.bulk(), generateKey }),
    many: () => ({ ...child.many(), generateKey }),
  };
}

export async function openGuards(child: ChildSites, clock: Clock): Promise<SiteGuards> {
  const { createGuards } = await import('../outbound/guard/create.js');
  return createGuards({
    exchange: (site, request) => child.exchange(site, 'guard', request),
    now: () => clock.now(),
  });
}

export async function openProbe(config: Config): Promise<Probe> {
  const { createProbe } = await import('../outbound/probe/create.js');
  return createProbe({ allowPrivate: config.allow_private_sites });
}

export async function openAuditor(config: Config, slots: Slots): Promise<Auditor> {
  const { createAuditor } = await import('../outbound/audit/create.js');
  const { lighthouse, chromium, allow_private_sites, pagespeed_url } = config;
  return createAuditor({ lighthouse, chromium, allowPrivate: allow_private_sites, slots, pagespeedUrl: pagespeed_url });
}

/** Only with a browser that the operator has named: it takes memory that he may not expect. */
export async function openPictures(config: Config, slots: Slots): Promise<Pictures> {
  const { chromium, pictures_ms, allow_private_sites } = config;
  if (chromium === null || pictures_ms === 0) return noPictures();
  const { createPictures } = await import('../outbound/pictures/create.js');
  return createPictures({ chromium, allowPrivate: allow_private_sites, slots });
}

export async function openCopies(config: Config): Promise<SiteCopies> {
  if (!config.drills) return noCopies();
  const { createCopies } = await import('../outbound/copies/create.js');
  return createCopies(copiesParts(config));
}

/** Where and with what copies of sites are made. */
export function copiesParts({ drill_dir, drill_path, drill_playground, drill_container }: Config): CopiesParts {
  return {
    folder: drill_dir ?? tmpdir(),
    programs: drill_path,
    playground: drill_playground,
    container: drill_container,
  };
}

export async function openMailer({ smtp_url, mail_from }: Config): Promise<Mailer> {
  if (smtp_url === null) return noMailer();
  const { createMailer } = await import('../outbound/mail/smtp.js');
  return createMailer({ url: smtp_url, from: mail_from });
}

export async function openWebhooks(config: Config): Promise<WebhookSender> {
  const { createWebhookSender } = await import('../outbound/webhook/http.js');
  return createWebhookSender({ allowPrivate: config.allow_private_sites, userAgent: `Sitefleet/${VERSION}` });
}

export async function openVulnerabilityFeed(config: Config): Promise<VulnerabilityFeed> {
  const { createVulnerabilityFeed } = await import('../outbound/feed/create.js');
  return createVulnerabilityFeed({
    location: config.vulnerability_feed,
    key: config.vulnerability_key,
    allowPrivate: config.allow_private_sites,
    userAgent: `Sitefleet/${VERSION}`,
  });
}

/** The interval of the monitor runs: a dead process is noticed after at most three of these. */
const MEMBERS_BEAT_MS = 10_000;

/**
 * The processes that share scheduled tasks: counted separately from those that call sites, because a process may do
 * only one of the two.
 */
export function openMonitoringMembers(
  { beatMs = MEMBERS_BEAT_MS }: { beatMs?: number },
  { store, ...parts }: { store: Store; owner: string; leases: Leases; clock: Clock; log: Log },
): { members: Members; close(): Promise<void> } {
  const kind = 'monitor';
  const sharedLimits = createClusterLimits({
    ...parts,
    heartbeatMs: beatMs,
    heartbeat: (owner, now, until) => store.members.heartbeat(owner, now, until, kind),
    leave: (owner) => store.members.leave(owner, kind),
  });
  const members: Members = {
    host: hostname(),
    leaseMs: 3 * beatMs,
    join: () => sharedLimits.join(),
    count: () => sharedLimits.members(),
    slots: (limit) => sharedLimits.slots(kind, limit),
    part: () => sharedLimits.part(),
  };
  return { members, close: () => sharedLimits.close() };
}
