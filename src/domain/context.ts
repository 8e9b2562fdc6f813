/**
 * The context of a verb: everything it may use. Built by app/; a way in adds the caller and the signal that ends the
 * call.
 */

import type { ChangeKind, ChangeOf } from '../../schemas/approval.js';
import type { Auditor } from '../outbound/audit/audit.js';
import type { ChildSites } from '../outbound/child/port.js';
import type { SiteCopies } from '../outbound/copies/copies.js';
import type { VulnerabilityFeed } from '../outbound/feed/vulnerability-feed.js';
import type { SiteGuards } from '../outbound/guard/guards.js';
import type { Mailer } from '../outbound/mail/mailer.js';
import type { Pictures } from '../outbound/pictures/pictures.js';
import type { Probe } from '../outbound/probe/probe.js';
import type { WebhookSender } from '../outbound/webhook/sender.js';
import type { Actor } from '../runtime/actor.js';
import type { Cancellable } from '../runtime/cancellable.js';
import type { Clock } from '../runtime/clock.js';
import type { Config } from '../runtime/config/types.js';
import type { Events, Origin } from '../runtime/events.js';
import type { Log } from '../runtime/log.js';
import type { Progress } from '../runtime/progress.js';
import type { SiteLocks } from '../runtime/site-locks.js';
import type { Backups } from '../store/backups/folder.js';
import type { BackupStorage } from '../store/backups/repository/types.js';
import type { Store } from '../store/store.js';

/** A change that a caller asks for. */
export interface AskedChange {
  /** What is called, in a few words. */
  title: string;
  /** As it was validated. */
  input: unknown;
  change: ChangeOf;
  /** What would be done; undefined if that is not known beforehand. */
  plan(): Promise<unknown>;
  /** The sites of a change of this kind, if it is one of `planned` ones or of a number. */
  covers?: ((kind: ChangeKind) => Promise<CoveredSites>) | undefined;
}

/** Ids of sites; or all, if nothing narrows the call to some of them. */
export type CoveredSites = readonly number[] | 'all';

/** What a person said to a request for approval, as the program says that put it to them. */
export interface AnsweredRequest {
  approval_id: string;
  approved: boolean;
}

/** `ask`: the call is made only to ask for an approval, where the program may put the request to a person. */
export type AnswerToRequest = 'ask' | AnsweredRequest;

export interface CallState {
  /**
   * What names have meant so far, by kind and name. Another call may give a name to something else meanwhile; and this one may
   * have been approved for what it meant at first.
   */
  readonly meant: Map<string, number>;
  /** A person has approved it, for what was shown. */
  approved: boolean;
}

export interface Ctx {
  readonly store: Store;
  readonly child: ChildSites;
  /** Guards installed on sites, which keep and restore versions. */
  readonly guards: SiteGuards;
  readonly auditor: Auditor;
  /** A browser that shows how pages look. */
  readonly pictures: Pictures;
  /** Throw-away copies of sites on this machine. */
  readonly copies: SiteCopies;
  readonly mailer: Mailer;
  /** The folder of the daily backups; null if none is configured. */
  readonly backups: Backups | null;
  /** The repository of the sites' backups. */
  readonly backupStorage: BackupStorage;
  /**
   * The id of a complete backup of a site that began at or after this time (ms): the newest, otherwise one that is made
   * now. Rejects with the error of the backup.
   */
  readonly backUp: (ctx: Ctx, siteId: number, since: number) => Promise<string>;
  /** Webhooks and chat services that receive alerts. */
  readonly webhooks: WebhookSender;
  /** The source of known vulnerabilities. */
  readonly vulnerabilities: VulnerabilityFeed;
  /** The network of monitors, certificates and registries, separate from that of the child sites. */
  readonly probe: Probe;
  readonly clock: Clock;
  readonly config: Config;
  readonly log: Log;
  readonly events: Events;
  readonly locks: SiteLocks;
  /** Calls at work in this process that others may cancel, by the id of their run. */
  readonly calls: Cancellable;
  readonly actor: Actor;
  /** Id of the operation or the REST row that was called; '' for what the service does on its own. */
  readonly operation: string;
  /** The program that called, as it names itself; '' = unknown. */
  readonly client: string;
  /** Over MCP only; undefined for a call as any other. */
  readonly answer?: AnswerToRequest | undefined;
  /** The call from outside that this is, or is a part of. */
  readonly call?: CallState | undefined;
  /** Id of the run of updates that the call makes or continues; '' = none. */
  readonly run_id: string;
  /** Id of the request, for logs and error reports. */
  readonly request_id: string;
  /** Runs the work of a call that changes something, and records it in the action log. */
  readonly record: <T>(ctx: Ctx, input: unknown, work: () => Promise<T>) => Promise<T>;
  /**
   * The same for a call from outside, if the rules let it happen, or a person has approved it. Rejects with
   * `svc_approval_required`, `svc_approval_refused` or `svc_change_not_allowed`.
   */
  readonly change: <T>(ctx: Ctx, call: AskedChange, work: () => Promise<T>) => Promise<T>;
  /**
   * Why the call would wait for a person, or be refused, by the rules in force, in words; null: it would happen. Changes
   * nothing.
   */
  readonly foretell: (ctx: Ctx, call: AskedChange) => Promise<string | null>;
  /** Aborted when the caller gave up, or the process is shutting down. */
  readonly signal: AbortSignal;
  /** Reports the progress of a multi-site call to the caller. */
  readonly progress: (progress: Progress) => void;
  /** Public base URL without a trailing slash, for `status_url`. */
  readonly base_url: string;
}

/** The caller to store with what the call does or queues. */
export function originOf({ actor, operation, request_id, client }: Ctx): Origin {
  const { type, id, name, via } = actor;
  return { type, id, name, via, operation, request_id, ...(client === '' ? {} : { client }) };
}

/** The context of a call under its operation: events in it are attributed to that call. */
export function withOperation(ctx: Ctx, operation: string, answer?: AnswerToRequest): Ctx {
  const named = { ...ctx, operation, answer, call: ctx.call ?? { meant: new Map(), approved: false } };
  return { ...named, events: ctx.events.from(originOf(named)) };
}
