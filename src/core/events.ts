/** Events: facts that happened, by kind, and the bus that delivers them within a process. The log is the first listener. */

import type { Actor } from './actor.js';
import type { Clock } from './clock.js';
import type { Log } from './log.js';

type UpdateType = 'core' | 'plugin' | 'theme' | 'translation';
type ExtensionType = 'plugin' | 'theme';
type ExtensionAction = 'activated' | 'deactivated' | 'deleted';
type ExtensionFailure = 'activate_failed' | 'deactivate_failed' | 'delete_failed';

type NoFacts = Record<never, never>;
type UpdateFacts = { slug: string; old_version: string; new_version: string };
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
type TagFacts = { tag_id: number; tag_name: string };
type KeyFacts = { key_id: number; by: string };
type UserFacts = { user_id: number; user_name: string };
type TaskFacts = { task_id: number; title: string };

/** Events about one site. */
type SiteEvents = { [K in `${UpdateType}.updated`]: UpdateFacts } & {
  [K in `${UpdateType}.update_started`]: { slug: string };
} & { [K in `${UpdateType}.update_failed`]: { slug: string; code: string } } & {
  [K in `${ExtensionType}.${ExtensionAction}`]: { slug: string };
} & { [K in `${ExtensionType}.${ExtensionFailure}`]: { slug: string; code: string } } & {
  [K in `${UpdateType}.rolled_back`]: UpdateFacts & { change_id: string };
} & {
  /** A process left items of a safe update open; they are settled by the next that takes them. */
  'update.interrupted': { run_id: string };
  'update.broke_site': { slug: string; change_id: string };
  'site.guard_installed': { version: string };
  'site.guard_removed': NoFacts;
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
  /** An address that logs a browser in was handed out. */
  'site.admin_login': { user: string };
  'site.synced': NoFacts;
  'site.sync_failed': { code: string };
  'site.checked': { reachable: boolean | null; http_status: number };
  /**
   * After updates; `items` names what was installed, each name of the site quoted unless it is one plain word. `http_status` is the
   * answer of `part`.
   */
  'site.http_check_failed': { http_status: number; part: 'front_page' | 'child_plugin'; items: string };
  /** `threshold` is the one the score was judged by. */
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
  'monitor.down': MonitorFacts;
  'monitor.up': MonitorFacts;
  'monitor.flapping': MonitorFacts;
  'certificate.changed': { fingerprint: string; previous: string };
  'certificate.expiring': CertificateFacts;
  'certificate.expired': CertificateFacts;
  'certificate.invalid': CertificateFacts;
  'audit.completed': AuditFacts;
  'audit.poor': AuditFacts & { threshold: number };
  'audit.failed': { strategy: string; reason: string };
};

/** Events about a domain: about a site as well when only one lives under it. */
type DomainEvents = {
  'domain.expiring': DomainExpiryFacts;
  'domain.expired': DomainExpiryFacts;
  'domain.not_found': DomainFacts & { problem: string };
};

/** Events about the service and its records. */
type ServiceEvents = {
  'job.queued': JobFacts & { sites: number };
  'job.completed': JobFacts;
  'job.failed': JobFacts;
  'job.timed_out': { job_id: string };
  'tool_job.queued': ToolJobFacts & { sites: number };
  'tool_job.completed': ToolJobFacts;
  /** By the clock, see SITEFLEET_BACKUP_DIR; `last_backup` is the time of the newest good one. */
  'backup.failed': { reason: string; last_backup: string | null };
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
  'version.quarantined': { type: string; slug: string; version: string; site_url: string };
  'version.released': { type: string; slug: string; version: string; by: string };
  'settings.changed': { group: string; fields: string[] };
  'task.started': TaskFacts;
  'task.paused': TaskFacts;
  'task.completed': TaskFacts;
};

/** The facts of every kind of event (operations §5.13). Names are `<noun>.<past participle>`. */
export type EventFacts = SiteEvents & DomainEvents & ServiceEvents;
export type EventName = keyof EventFacts;

type SiteIdOf<K extends EventName> = K extends keyof SiteEvents
  ? { site_id: number }
  : K extends keyof DomainEvents
    ? { site_id?: number }
    : { site_id?: never };

/** An event that is not dated yet. */
export type NewEvent<K extends EventName = EventName> = {
  [Name in K]: { name: Name; facts: EventFacts[Name] } & SiteIdOf<Name>;
}[K];

/** A fact that happened, at `at` milliseconds since the epoch. */
export type Event<K extends EventName = EventName> = NewEvent<K> & { at: number; origin?: Origin };

/** Whose call an event belongs to. Plain data: it is stored with a queued job, whose deeds are the caller's. */
export interface Origin extends Pick<Actor, 'type' | 'id' | 'name' | 'via'> {
  /** Id of the operation or the REST row; '' for what the service does by itself. */
  operation: string;
  request_id: string;
}

/** Kinds that are stored as alerts, which mails are made of. */
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
  | 'backup.failed';

/** An event as it is stored for delivery. */
export type Alert<K extends AlertKind = AlertKind> = {
  [Kind in K]: {
    /** Names the occasion: a second alert with the same key is none. */
    key: string;
    kind: Kind;
    site_id: number | null;
    at: number;
    facts: EventFacts[Kind];
  };
}[K];

export interface Events {
  /** Whose calls these events belong to; left out for what the service does by itself. */
  readonly origin?: Origin;
  emit(event: NewEvent): void;
  /** @returns the same bus, whose events belong to this call */
  from(origin: Origin): Events;
}

export interface EventBus extends Events {
  subscribe(listener: (event: Event) => void): void;
}

/** Emits the event that belongs to each stored alert. */
export function emitAlerts(events: Events, alerts: readonly Alert[]): void {
  for (const { kind, facts, site_id } of alerts)
    events.emit({ name: kind, facts, ...(site_id === null ? {} : { site_id }) } as NewEvent);
}

/** @returns a bus whose listeners run in order of subscription; what one throws is logged and does not reach the others */
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
