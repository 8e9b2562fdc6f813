/** What a verb may touch. Built by main.ts; a way in adds who calls and what may cut the call short. */

import type { Auditor } from '../audit/audit.js';
import type { ChildSites } from '../child/child.js';
import type { Config } from '../config/types.js';
import type { Actor } from '../core/actor.js';
import type { Clock } from '../core/clock.js';
import type { Events, Origin } from '../core/events.js';
import type { Log } from '../core/log.js';
import type { Progress } from '../core/progress.js';
import type { SiteLocks } from '../core/site-locks.js';
import type { VulnerabilityFeed } from '../feed/vulnerability-feed.js';
import type { SiteGuards } from '../guard/guards.js';
import type { Mailer } from '../mail/mailer.js';
import type { Probe } from '../probe/probe.js';
import type { Backups } from '../store/backups/folder.js';
import type { Store } from '../store/store.js';
import type { WebhookSender } from '../webhook/sender.js';

export interface Ctx {
  readonly store: Store;
  readonly child: ChildSites;
  /** The guards that sites carry: they keep and restore versions. */
  readonly guards: SiteGuards;
  readonly auditor: Auditor;
  readonly mailer: Mailer;
  /** The folder of the daily backups; null where none is set. */
  readonly backups: Backups | null;
  /** Webhooks and chat services that are told of alerts. */
  readonly webhooks: WebhookSender;
  /** Where known vulnerabilities are read from. */
  readonly vulnerabilities: VulnerabilityFeed;
  /** Monitors, certificates, registries: the other outgoing network. */
  readonly probe: Probe;
  readonly clock: Clock;
  readonly config: Config;
  readonly log: Log;
  readonly events: Events;
  readonly locks: SiteLocks;
  readonly actor: Actor;
  /** Id of the operation or the REST row that was called; '' for what the service does by itself. */
  readonly operation: string;
  /** Id of the request, for logs and error reports. */
  readonly request_id: string;
  /** The caller gave up, or the process is shutting down. */
  readonly signal: AbortSignal;
  /** Tells the caller how far a multi-site call has come. */
  readonly progress: (progress: Progress) => void;
  /** Public base URL without a trailing slash, for `status_url`. */
  readonly base_url: string;
}

/** Whose call this is, to be kept with what it does or queues. */
export function originOf({ actor, operation, request_id }: Ctx): Origin {
  const { type, id, name, via } = actor;
  return { type, id, name, via, operation, request_id };
}

/** The context of a call by its operation: what happens in it is told as that call's. */
export function withOperation(ctx: Ctx, operation: string): Ctx {
  const named = { ...ctx, operation };
  return { ...named, events: ctx.events.from(originOf(named)) };
}
