/**
 * Events: facts that happened, by kind, and the bus that delivers them within a process. The log is the first listener.
 */

import type { Actor } from './actor.js';
import type { Clock } from './clock.js';
import type { Log } from './log.js';

type UpdateType = 'core' | 'plugin' | 'theme' | 'translation';
type ExtensionType = 'plugin' | 'theme';
type ExtensionAction = 'activated' | 'deactivated' | 'deleted';
type ExtensionFailure = 'activate_failed' | 'deactivate_failed' | 'delete_failed';

type NoFacts = Record<never, never>;
type UpdateFacts = { slug: string; old_version: string; new_version: string };
/** An update that harmed a site, or may have; `item` is its name, quoted if it is from the site. */
type ChangeFacts = {
  slug: string;
  change_id: string;
  item: string;
  old_version: string;
  new_version: string;
  findings: string;
};
type MonitorFacts = { url: string; name: string; http_code: number | null; msg: string };
type IncidentFacts = { incident_id: number; title: string };
type CertificateFacts = {
  url: string;
  name: string;
  /** ISO 8601. */
  valid_to: string | null;
  days_left: number;
  issuer: string | null;
  problem: string;
};
type DomainFacts = { domain_name: string; site_ids: number[] };
type DomainExpiryFacts = DomainFacts & {
  /** ISO 8601. */
  expiry_date: string | null;
  /** Days left, negative once expired. */
  expires: number;
  registrar: string | null;
};
type NetworkFacts = { host: string; down_for_s?: number };
type SuspensionFacts = { url?: string; client_id?: number };
type PostFacts = {
  /** 0 for a post that was to be created. */
  post_id: number;
  post_title?: string;
  post_type?: string;
  fields?: string[];
  step?: string;
  post_status?: string;
};
type CommentFacts = { comment_id: number; action: string; author: string; post_title: string };
type IgnoreFacts = { type: string; slug?: string };
type JobFacts = { job_id: string; type: string };
type ToolJobFacts = { job_id: string; kind: string };
type AuditFacts = { strategy: string; performance: number | null };
type CostFacts = { cost_id: number; cost_name: string };
type ClientFacts = { client_id: number; client_name: string };
type GuidanceFacts = { guidance_id: number; guidance_name: string };
type TagFacts = { tag_id: number; tag_name: string };
type KeyFacts = { key_id: number; by: string };
type UserFacts = { user_id: number; user_name: string };
type VulnerabilityFacts = {
  url: string;
  name: string;
  type: 'plugin' | 'theme' | 'core';
  slug: string;
  /** Name of the plugin or theme. */
  item: string;
  version: string;
  /** How many became known for it; the other fields describe the worst. */
  count: number;
  severity: string | null;
  cve: string | null;
  reference: string | null;
  fixed_in: string | null;
};
type ApprovalFacts = { approval_id: string; title: string };
/** `detail` is a sentence. */
type RolloutFacts = { rollout_id: string; detail: string };
/** `detail` is a sentence, or the names of what was changed. */
type PolicyFacts = { policy_id: number; policy_name: string; detail: string };
type RolloutStep =
  | 'started'
  | 'wave_started'
  | 'wave_ended'
  | 'wave_approved'
  | 'item_halted'
  | 'paused'
  | 'resumed'
  | 'halted'
  | 'aborted'
  | 'ended';
type TaskFacts = { task_id: number; title: string };
type BucketFacts = { bucket_id: number; title: string };

/** Events about one site. */
type SiteEvents = { [K in `${UpdateType}.updated`]: UpdateFacts } & {
  [K in `${UpdateType}.update_started`]: { slug: string };
} & {
  /** With versions if it was installed and did harm. */
  [K in `${UpdateType}.update_failed`]: { slug: string; code: string } & Partial<UpdateFacts>;
} & {
  [K in `${ExtensionType}.${ExtensionAction}`]: { slug: string };
} & { [K in `${ExtensionType}.${ExtensionFailure}`]: { slug: string; code: string } } & {
  /** `old_version` is restored; `by` is null if it is unknown who restored it. */
  [K in `${UpdateType}.rolled_back`]: UpdateFacts & { change_id: string; by: 'sitefleet' | 'guard' | null };
} & {
  /** A process left items of a safe update unfinished; the next process that takes them over settles them. */
  'update.interrupted': { run_id: string };
  'update.broke_site': ChangeFacts;
  /** It was kept, although something about the site is doubtful since. */
  'update.suspect': ChangeFacts;
  /** `previous_version`: the guard version before a renewal. */
  'site.guard_installed': { version: string; previous_version: string | null; login_allowed: boolean };
  'site.guard_removed': NoFacts;
  'site.backed_up': { backup_id: string };
  'site.backup_exported': { backup_id: string };
  /** A trial restore of a backup showed that it is not the site. */
  'site.drill_failed': { backup_id: string; made_at: string; reason: string };
  /** `what`: the site, or a part of it in words. */
  'site.restored': { backup_id: string; what: string; taken_back: boolean };
  /** By the schedule; `last_backup` is when the newest good one was begun. */
  'site.backup_failed': { reason: string; last_backup: string | null; next_at: string | null };
} & {
  'site.added': { url: string };
  'site.updated': { fields: string[] };
  'site.deleted': { url: string };
  'site.suspended': SuspensionFacts;
  'site.unsuspended': SuspensionFacts;
  'site.disconnected': NoFacts;
  'site.reconnected': NoFacts;
  'site.connection_renewed': NoFacts;
  'site.sessions_destroyed': { users: number };
  /** A URL that logs a browser in was issued. */
  'site.admin_login': { user: string };
  'site.synced': NoFacts;
  'site.sync_failed': { code: string };
  'site.checked': { reachable: boolean | null; http_status: number };
  /**
   * After updates; `items` names what was installed, with names from the site quoted unless they are one plain word.
   * `http_status` is the response of `part`.
   */
  'site.http_check_failed': { http_status: number; part: 'front_page' | 'child_plugin'; items: string };
  /** `threshold` is the one that the score was compared with. */
  'site.unhealthy': { health_score: number | null; threshold?: number };
  'update.ignored': IgnoreFacts;
  'update.unignored': IgnoreFacts;
  'post.created': PostFacts;
  'post.changed': PostFacts;
  'post.failed': PostFacts & { code: string };
  'comment.changed': CommentFacts & { comment_status: string };
  'comment.failed': CommentFacts & { code: string };
  'monitor.changed': { fields: string[] };
  'incident.acknowledged': IncidentFacts;
  'incident.acknowledgement_withdrawn': IncidentFacts;
  /** `since` is null after it kept changing between up and down. */
  'monitor.down': MonitorFacts & { since: string | null };
  'monitor.up': MonitorFacts;
  'monitor.flapping': MonitorFacts;
  'certificate.changed': { fingerprint: string; previous: string };
  'certificate.expiring': CertificateFacts;
  'certificate.expired': CertificateFacts;
  'certificate.invalid': CertificateFacts;
  'vulnerability.found': VulnerabilityFacts;
  /** Which audits of the site are made, and how often. */
  'site.audits_chosen': { fields: string[] };
  /** Dates of its domain were entered by hand. */
  'site.domain_entered': { domain_name: string; fields: string[] };
  /** What another tool did or found, for reports. */
  'site.record_added': { segment: string };
  'site.records_deleted': { segment: string; records: number };
  'audit.completed': AuditFacts;
  'audit.poor': AuditFacts & { threshold: number };
  'audit.failed': { strategy: string; reason: string };
};

/** Events about a domain; about a site too if only one site uses the domain. */
type DomainEvents = {
  'domain.expiring': DomainExpiryFacts;
  'domain.expired': DomainExpiryFacts;
  'domain.not_found': DomainFacts & { problem: string };
};

/** A person set aside what needs attention, or took that back; about a site too, if it concerns one. */
type MatterEvents = { 'matter.marked': { matter_id: string; title: string; state: string } };

/** Events about the service and its records. */
type ServiceEvents = { [K in `rollout.${RolloutStep}`]: RolloutFacts } & {
  /** A call that had changed something, or may have; `code` says why it failed. */
  'call.ended': { detail: string } | { code: string };
  'job.queued': JobFacts & { sites: number };
  'job.completed': JobFacts;
  'job.failed': JobFacts;
  /** By a caller; its unfinished sites fail. */
  'job.cancelled': JobFacts;
  'job.timed_out': { job_id: string };
  'tool_job.queued': ToolJobFacts & { sites: number };
  'tool_job.completed': ToolJobFacts;
  /** A scheduled backup, see SITEFLEET_BACKUP_DIR; `last_backup` is the time of the latest successful one. */
  'backup.failed': { reason: string; last_backup: string | null };
  /** Sent when many became known at once; `items` counts pairs of a site and an installed item. */
  'vulnerability.summary': {
    vulnerabilities: number;
    critical: number;
    items: number;
    sites: number;
    /** The first of the pairs, most severe first: the site by its address, and name and version. */
    worst: { site: string; item: string; severity: string | null }[];
  };
  'network.up': NetworkFacts;
  'network.down': NetworkFacts;
  'cost.added': CostFacts;
  'cost.updated': CostFacts;
  'cost.deleted': CostFacts;
  'client.added': ClientFacts & { sites: number };
  'client.updated': ClientFacts & { fields: string[] };
  'client.deleted': ClientFacts & { sites: number };
  'client.suspended': ClientFacts & { sites: number };
  'client.unsuspended': ClientFacts & { sites: number };
  'guidance.added': GuidanceFacts;
  'guidance.confirmed': GuidanceFacts;
  'guidance.removed': GuidanceFacts;
  'tag.created': TagFacts;
  'tag.updated': TagFacts;
  'tag.deleted': TagFacts & { sites: number };
  'key.created': KeyFacts & { scope: string };
  'key.updated': KeyFacts & { fields: string[] };
  'key.deleted': KeyFacts;
  'user.created': UserFacts & { right: string };
  'user.updated': UserFacts & { fields: string[] };
  'user.deleted': UserFacts;
  'update.ignored_everywhere': IgnoreFacts;
  'update.unignored_everywhere': IgnoreFacts;
  'version.quarantined': { type: string; slug: string; version: string; site_url: string; scope: string };
  'version.scope_changed': { type: string; slug: string; version: string; scope: string; by: string; reason: string };
  'version.released': { type: string; slug: string; version: string; by: string };
  /** A change waits for a person; `by` asked for it, `url` is where it can be approved. */
  'approval.asked': ApprovalFacts & { kind: string; sites: number | null; by: string; url: string };
  'approval.approved': ApprovalFacts & { decided_by: string };
  'approval.refused': ApprovalFacts & { decided_by: string };
  'approval.used': ApprovalFacts;
  'approval.withdrawn': ApprovalFacts;
  'policy.created': PolicyFacts;
  'policy.changed': PolicyFacts;
  'policy.deleted': PolicyFacts;
  /** It was due, and made a plan, if there was anything to do. */
  'policy.ran': PolicyFacts;
  /** Its plan waits for a person. */
  'policy.asked': PolicyFacts;
  /** It was due and did nothing; `detail` says why. */
  'policy.skipped': PolicyFacts;
  'settings.changed': { group: string; fields: string[] };
  'bucket.added': BucketFacts;
  'bucket.updated': BucketFacts & { fields: string[] };
  'bucket.deleted': BucketFacts;
  'task.added': TaskFacts;
  'task.updated': TaskFacts & { fields: readonly string[] };
  'task.deleted': TaskFacts;
  'task.started': TaskFacts;
  'task.paused': TaskFacts;
  'task.completed': TaskFacts;
};

/** The facts of every kind of event (operations §5.13). Names are `<noun>.<past participle>`. */
export type EventFacts = SiteEvents & DomainEvents & MatterEvents & ServiceEvents;
export type EventName = keyof EventFacts;

type SiteIdOf<K extends EventName> = K extends keyof SiteEvents
  ? { site_id: number }
  : K extends keyof DomainEvents | keyof MatterEvents
    ? { site_id?: number }
    : { site_id?: never };

/**
 * What changed, by field: what it was before and what it is since. null: it may have changed, and what it was is not kept.
 * Needed to undo it; never a secret.
 */
export type FieldChanges = Readonly<Record<string, readonly [before: unknown, since: unknown] | null>>;

/** An event without its time. `logged`: its entry in the action log was stored with what happened. */
export type NewEvent<K extends EventName = EventName> = {
  [Name in K]: { name: Name; facts: EventFacts[Name]; changed?: FieldChanges; logged?: true } & SiteIdOf<Name>;
}[K];

/** A fact that happened, at `at` milliseconds since the epoch. */
export type Event<K extends EventName = EventName> = NewEvent<K> & { at: number; origin?: Origin };

/**
 * The caller that an event is attributed to. Plain data: it is stored with a queued job, so that the job's events are
 * the caller's.
 */
export interface Origin extends Pick<Actor, 'type' | 'id' | 'name' | 'via'> {
  /** Id of the operation or the REST row; '' for what the service does on its own. */
  operation: string;
  request_id: string;
  /** The program that called, as it names itself. */
  client?: string;
  /** Entries of the action log that are undone by it. */
  undoes?: readonly number[];
}

/** Kinds that are stored as alerts, from which mails are made. */
export type AlertKind =
  | 'monitor.down'
  | 'monitor.up'
  | 'monitor.flapping'
  | 'certificate.expiring'
  | 'certificate.expired'
  | 'certificate.invalid'
  | keyof DomainEvents
  | 'site.unhealthy'
  | 'site.http_check_failed'
  | 'update.broke_site'
  | 'update.suspect'
  | 'vulnerability.found'
  | 'vulnerability.summary'
  | 'backup.failed'
  | 'site.backup_failed'
  | 'site.drill_failed'
  | 'approval.asked';

/** An event as stored for delivery. */
export type Alert<K extends AlertKind = AlertKind> = {
  [Kind in K]: {
    /** Identifies the occurrence: a second alert with the same key is not stored. */
    key: string;
    kind: Kind;
    site_id: number | null;
    at: number;
    facts: EventFacts[Kind];
  };
}[K];

export interface Events {
  /** The caller these events are attributed to; absent for what the service does on its own. */
  readonly origin?: Origin;
  emit(event: NewEvent): void;
  /** @returns the same bus, attributing its events to this call */
  from(origin: Origin): Events;
}

export interface EventBus extends Events {
  subscribe(listener: (event: Event) => void): void;
}

/** Emits the event of each stored alert. */
export function emitAlerts(events: Events, alerts: readonly Alert[]): void {
  for (const { kind, facts, site_id } of alerts)
    events.emit({ name: kind, facts, ...(site_id === null ? {} : { site_id }) } as NewEvent);
}

/**
 * @returns a bus that calls listeners in order of subscription; an error of one is logged and does not stop the others
 */
export function createEvents(clock: Clock, log: Log): EventBus {
  const listeners: ((event: Event) => void)[] = [];
  const emit = (undated: NewEvent, origin?: Origin) => {
    const event = { ...undated, at: clock.now(), ...(origin === undefined ? {} : { origin }) } as Event;
    log.debug({ event: event.name, site_id: event.site_id, ...event.facts }, 'event');
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        log.error({ err: error, event: event.name }, 'an event listener failed');
      }
    }
  };
  const from = (origin: Origin): Events => ({ emit: (event) => emit(event, origin), from, origin });
  return {
    subscribe: (listener) => {
      listeners.push(listener);
    },
    emit: (event) => emit(event),
    from,
  };
}
