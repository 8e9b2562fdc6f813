import { type Clock, systemClock } from '../../runtime/clock.js';
import { type SharedLimits, UNSHARED } from '../../runtime/cluster/limits.js';
import type { Lookup } from '../name-lookup.js';
import type { PrivateReach } from '../public-address.js';
import { LatencyBook } from './pacing/latency.js';
import { type CallKind, type PaceLimits, Pacer } from './pacing/pacer.js';
import { paceClock } from './pacing/types.js';
import type { ChildSettings, ChildSites } from './port.js';
import type { CallFacts } from './protocol/call.js';
import { createCalls } from './protocol/calls.js';
import { ChildClient, type ChildClientSettings } from './protocol/client.js';
import { Sessions } from './protocol/sessions.js';
import { UnfinishedChanges } from './protocol/unfinished-changes.js';
import { Resolver } from './wire/resolve.js';
import { Signer } from './wire/sign.js';
import { Transport } from './wire/transport.js';

export type { Lookup } from '../name-lookup.js';
export type { CallFacts } from './protocol/call.js';

/** All times in milliseconds. */
export interface ChildSitesOptions extends PaceLimits {
  /**
   * The opaque `server` string, which must never change: a different one would cut this service off from its sites
   * (child protocol §3.2).
   */
  dashboardUrl: string;
  /** Allows connections to private and loopback addresses; for sites in a local network, the demo and tests. */
  allowPrivate: PrivateReach;
  /** False = TLS certificates are never checked, regardless of the site's own setting. Default true. */
  verify?: boolean;
  /** Default 10 s. */
  connectTimeoutMs?: number;
  /** Longest pause within a body. Default 15 s. */
  bodyTimeoutMs?: number;
  /** Time limit of a whole call, and how long `close` waits for running changes. Default 30 s. */
  callTimeoutMs?: number;
  /** Largest answer, before and after decompression. Default 32 MiB. */
  maxBodyBytes?: number;
  lookup?: Lookup;
  onCall?: (facts: CallFacts) => void;
  /** Called when a site answers whose last sync had failed (`ChildConnection.failing`). Must not reject. */
  onAnswer?: (siteId: number) => Promise<void>;
  /** Called before anything is sent that may change a site: if it rejects, nothing is sent. */
  beforeChange?: () => Promise<void>;
  /** Awaited before anything is sent; may abort the signal of the call. */
  beforeSend?: (() => Promise<void> | undefined) | undefined;
  /** This process's share of the limits; all of them by default. */
  sharedLimits?: SharedLimits | undefined;
  /** Measures and limits calls; the system's by default. */
  clock?: Pick<Clock, 'elapsed' | 'after'>;
}

export interface PacedChildSites extends ChildSites {
  /** Running and waiting calls. */
  load(): { running: number; queued: number };
}

/** Hosts' firewalls know this prefix from the original dashboard (child protocol §1). */
const USER_AGENT = 'Mozilla/5.0 (compatible; MainWP/6.1.2; Sitefleet)';

/** Creates the port to the child sites over HTTP. Nothing is opened until the first call. */
export function createChildSites(options: ChildSitesOptions): PacedChildSites {
  const { allowPrivate, clock = systemClock } = options;
  const connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
  const resolver = new Resolver({
    allowPrivate,
    lookup: options.lookup,
    timeoutMs: connectTimeoutMs,
    now: clock.elapsed,
  });
  const transport = new Transport({
    resolver,
    allowPrivate,
    clock,
    connectTimeoutMs,
    beforeSend: options.beforeSend,
    finishMs: options.callTimeoutMs ?? 30_000,
  });
  const { concurrency, perHost, perHostDelayMs, minDelayMs } = options;
  const sharedLimits = options.sharedLimits ?? UNSHARED;
  const pacer = new Pacer(
    { concurrency, perHost, perHostDelayMs, minDelayMs },
    paceClock(clock),
    new LatencyBook(),
    sharedLimits,
  );
  const unfinishedChanges = new UnfinishedChanges();
  const client = new ChildClient(clientSettings(options), {
    resolver,
    transport,
    pacer,
    sharedLimits,
    signer: new Signer(),
    sessions: new Sessions(),
    unfinishedChanges,
    now: clock.elapsed,
    onCall: options.onCall,
  });
  const kinds: Partial<Record<CallKind, number>> = {};
  sharedLimits.onChange(() => pacer.configure({}));
  let updateTimeoutMs = 300_000;
  const parts = {
    client,
    server: options.dashboardUrl,
    onAnswer: options.onAnswer,
    beforeChange: options.beforeChange,
    updateTimeoutMs: () => updateTimeoutMs,
    async close() {
      pacer.close();
      await transport.close();
    },
  };
  const shared = {
    configure(settings: Partial<ChildSettings>) {
      const {
        verify,
        ipv4Only,
        callTimeoutMs,
        hash,
        maxSyncs,
        maxUpdates,
        updateTimeoutMs: slow,
        ...limits
      } = settings;
      if (verify !== undefined) client.settings.verify = verify;
      if (callTimeoutMs !== undefined) client.settings.callTimeoutMs = callTimeoutMs;
      if (ipv4Only !== undefined) resolver.family = ipv4Only ? 4 : 0;
      if (slow !== undefined) updateTimeoutMs = slow;
      if (hash !== undefined) client.settings.hash = hash;
      if (maxSyncs !== undefined) kinds.sync = maxSyncs;
      if (maxUpdates !== undefined) kinds.update = maxUpdates;
      pacer.configure({ ...limits, kinds });
    },
    load: () => ({ running: pacer.running, queued: pacer.queued }),
    bulk: (): ChildSites => bulk,
    many: (): ChildSites => many,
    leftRunning: (siteId: number) => unfinishedChanges.of(siteId),
    expedite: (siteId: number) => pacer.expedite(siteId),
  };
  const bulk: ChildSites = { ...createCalls({ ...parts, turn: 'bulk' }), ...shared };
  const many: ChildSites = { ...createCalls({ ...parts, turn: 'many' }), ...shared };
  return { ...createCalls({ ...parts, turn: 'one' }), ...shared };
}

function clientSettings(options: ChildSitesOptions): ChildClientSettings {
  return {
    hash: 'SHA256',
    verify: options.verify ?? true,
    callTimeoutMs: options.callTimeoutMs ?? 30_000,
    bodyTimeoutMs: options.bodyTimeoutMs ?? 15_000,
    maxBodyBytes: options.maxBodyBytes ?? 32 * 1_024 * 1_024,
    userAgent: USER_AGENT,
  };
}
