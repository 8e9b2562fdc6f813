/** Maps events to entries of the action log: which events a user caused, and how each is described. */

import type { EventFacts, EventName } from '../../runtime/events.js';
import type { LogEntry } from '../../store/action-log/action-log.js';

/** An entry of the action log, without time and actor. */
export type LoggedAction = Pick<LogEntry, 'context' | 'action'> &
  Partial<Pick<LogEntry, 'slug' | 'name' | 'detail' | 'old_version' | 'new_version' | 'code'>>;

type Describe<K extends EventName> = (facts: EventFacts[K]) => LoggedAction;

type UpdateType = 'core' | 'plugin' | 'theme' | 'translation';
const NAMES: Partial<Record<UpdateType, { name: string }>> = { core: { name: 'WordPress' } };

/** Also for an update that failed: its `code` says why. */
const updated =
  (context: UpdateType) =>
  (facts: EventFacts['plugin.updated'] | { slug: string; code: string }): LoggedAction => ({
    context,
    action: 'updated',
    ...NAMES[context],
    ...facts,
  });
const did =
  (context: string, action: string) =>
  (facts: { slug?: string; code?: string }): LoggedAction => ({ context, action, ...facts });
const site =
  (action: string) =>
  ({ url, fields, users }: { url?: string; fields?: string[]; users?: number }): LoggedAction => ({
    context: 'site',
    action,
    ...(url === undefined ? {} : { slug: url }),
    ...(fields === undefined ? {} : { detail: fields.join(', ') }),
    ...(users === undefined ? {} : { detail: `${users} users` }),
  });
const record =
  (context: string, action: string) =>
  (facts: Record<string, unknown>): LoggedAction => {
    const text = (key: string) => (facts[key] === undefined ? '' : String(facts[key]));
    const fields = facts.fields;
    return {
      context,
      action,
      slug: text(`${context}_id`),
      name: text(`${context}_name`) || text('title') || text(`${context}_id`),
      detail: Array.isArray(fields) ? fields.join(', ') : '',
    };
  };
/** Who called may not be who decided: an assistant's program tells what a person said. */
const decision =
  (action: string) =>
  (facts: EventFacts['approval.approved']): LoggedAction => ({
    ...record('approval', action)(facts),
    detail: `by ${facts.decided_by}`,
  });
const ignored =
  (action: string) =>
  ({ type, slug = '' }: { type: string; slug?: string }): LoggedAction => ({
    context: type.replace(/s$/, ''),
    action,
    slug,
    ...(slug === '' ? { name: `all ${type}` } : {}),
  });

/** Where a version is quarantined; the version is in what changed, too. */
const quarantine =
  (action: string) =>
  ({ type, slug, version }: { type: string; slug: string; version: string }): LoggedAction => ({
    context: type,
    action,
    slug,
    detail: `version ${version}`,
  });

/** The restored version is the new one in this case. */
const rolledBack =
  (context: UpdateType) =>
  ({ slug, old_version, new_version, by }: EventFacts['plugin.rolled_back']): LoggedAction => ({
    context,
    action: 'rolled-back',
    ...NAMES[context],
    slug,
    old_version: new_version,
    new_version: old_version,
    ...(by === 'guard' ? { detail: `from ${new_version} to ${old_version}, by the site's guard` } : {}),
  });

const rollout =
  (action: string) =>
  ({ rollout_id, detail }: EventFacts['rollout.started']): LoggedAction => ({
    context: 'rollout',
    action,
    slug: rollout_id,
    name: 'rollout',
    detail,
  });

const policy =
  (action: string) =>
  ({ policy_id, policy_name, detail }: EventFacts['policy.ran']): LoggedAction => ({
    context: 'policy',
    action,
    slug: String(policy_id),
    name: policy_name,
    detail,
  });

/** The result of a step for a post. */
const POST_STEPS: Readonly<Record<string, string>> = {
  publish: 'published',
  approve: 'published',
  unpublish: 'unpublished',
  trash: 'trashed',
  restore: 'restored',
  delete: 'deleted',
};
/** The result of an action for a comment. */
const COMMENT_ACTIONS: Readonly<Record<string, string>> = {
  approve: 'approved',
  unapprove: 'unapproved',
  spam: 'spammed',
  unspam: 'unspammed',
  trash: 'trashed',
  restore: 'restored',
  delete: 'deleted',
};

const post = (facts: EventFacts['post.changed'] & { code?: string }): LoggedAction => {
  const { post_id, post_title = '', post_type = 'post', step, fields, code } = facts;
  return {
    context: post_type,
    action: step === undefined ? 'updated' : (POST_STEPS[step] ?? step),
    slug: String(post_id),
    name: post_title || `${post_type} ${post_id}`,
    detail: fields?.join(', ') ?? '',
    ...(code === undefined ? {} : { code }),
  };
};
const comment = (facts: Omit<EventFacts['comment.failed'], 'code'> & { code?: string }): LoggedAction => {
  const { comment_id, action, author, post_title, code } = facts;
  return {
    context: 'comment',
    action: COMMENT_ACTIONS[action] ?? action,
    slug: String(comment_id),
    name: post_title || `comment ${comment_id}`,
    detail: `comment ${comment_id}${author ? ` by ${author}` : ''}`,
    ...(code === undefined ? {} : { code }),
  };
};

/** Not included: what was only started, checked or detected, and what a job or a monitor reports. */
export const LOGGED_ACTIONS: { [K in EventName]?: Describe<K> } = {
  'core.updated': updated('core'),
  'plugin.updated': updated('plugin'),
  'theme.updated': updated('theme'),
  'translation.updated': updated('translation'),
  'core.update_failed': updated('core'),
  'plugin.update_failed': updated('plugin'),
  'theme.update_failed': updated('theme'),
  'translation.update_failed': updated('translation'),
  'core.rolled_back': rolledBack('core'),
  'plugin.rolled_back': rolledBack('plugin'),
  'theme.rolled_back': rolledBack('theme'),
  'translation.rolled_back': rolledBack('translation'),
  'plugin.activated': did('plugin', 'activated'),
  'plugin.deactivated': did('plugin', 'deactivated'),
  'plugin.deleted': did('plugin', 'deleted'),
  'theme.activated': did('theme', 'activated'),
  'theme.deactivated': did('theme', 'deactivated'),
  'theme.deleted': did('theme', 'deleted'),
  'plugin.activate_failed': did('plugin', 'activated'),
  'plugin.deactivate_failed': did('plugin', 'deactivated'),
  'plugin.delete_failed': did('plugin', 'deleted'),
  'theme.activate_failed': did('theme', 'activated'),
  'theme.deactivate_failed': did('theme', 'deactivated'),
  'theme.delete_failed': did('theme', 'deleted'),
  'update.ignored': ignored('ignored'),
  'update.unignored': ignored('unignored'),
  'update.ignored_everywhere': (facts) => ({ ...ignored('ignored')(facts), detail: 'on every site' }),
  'update.unignored_everywhere': (facts) => ({ ...ignored('unignored')(facts), detail: 'on every site' }),
  'version.scope_changed': quarantine('quarantine-changed'),
  'version.released': quarantine('quarantine-lifted'),
  'post.created': (facts) => ({ ...post({ ...facts, step: 'created' }), detail: facts.post_status ?? '' }),
  'post.changed': post,
  'post.failed': post,
  'comment.changed': comment,
  'comment.failed': comment,
  'site.added': site('added'),
  'site.updated': site('updated'),
  'site.deleted': ({ url }) => ({ context: 'site', action: 'deleted', slug: url, name: url }),
  'site.suspended': site('suspended'),
  'site.unsuspended': site('unsuspended'),
  'site.disconnected': site('disconnected'),
  'site.reconnected': site('reconnected'),
  'site.connection_renewed': site('connection-renewed'),
  'site.sessions_destroyed': site('sessions-destroyed'),
  'site.admin_login': ({ user }) => ({ context: 'site', action: 'admin-login', detail: `as ${user}` }),
  'site.guard_installed': ({ version, previous_version, login_allowed }) => ({
    context: 'site',
    action: previous_version === null ? 'guard-installed' : 'guard-renewed',
    detail: `version ${version}, logins by token ${login_allowed ? 'allowed' : 'not allowed'}`,
    old_version: previous_version ?? '',
    new_version: version,
  }),
  'site.guard_removed': site('guard-removed'),
  'site.backed_up': ({ backup_id }) => ({ context: 'site', action: 'backed-up', detail: backup_id }),
  'site.backup_exported': ({ backup_id }) => ({ context: 'site', action: 'backup-exported', detail: backup_id }),
  'site.restored': ({ backup_id, what, taken_back }) => ({
    context: 'site',
    action: taken_back ? 'restore-taken-back' : 'restored',
    detail: `${what}, from ${backup_id}`,
  }),
  'site.audits_chosen': ({ fields }) => ({
    context: 'audit',
    action: 'updated',
    name: 'audits',
    detail: fields.join(', '),
  }),
  'site.domain_entered': ({ domain_name, fields }) => ({
    context: 'domain',
    action: 'updated',
    slug: domain_name,
    name: domain_name,
    detail: fields.join(', '),
  }),
  'site.record_added': ({ segment }) => ({ context: 'record', action: 'added', slug: segment, name: segment }),
  'site.records_deleted': ({ segment, records }) => ({
    context: 'record',
    action: 'deleted',
    slug: segment,
    name: segment,
    detail: `${records} records`,
  }),
  'monitor.changed': ({ fields }) => ({
    context: 'monitor',
    action: 'updated',
    name: 'monitor',
    detail: fields.join(', '),
  }),
  'incident.acknowledged': record('incident', 'acknowledged'),
  'incident.acknowledgement_withdrawn': record('incident', 'acknowledgement-withdrawn'),
  'matter.marked': ({ matter_id, title, state }) => ({
    context: 'matter',
    action: state,
    slug: matter_id,
    name: title,
  }),
  'cost.added': record('cost', 'added'),
  'cost.updated': record('cost', 'updated'),
  'cost.deleted': record('cost', 'deleted'),
  'client.added': record('client', 'added'),
  'client.updated': record('client', 'updated'),
  'client.deleted': record('client', 'deleted'),
  'client.suspended': record('client', 'suspended'),
  'client.unsuspended': record('client', 'unsuspended'),
  'guidance.added': record('guidance', 'added'),
  'guidance.confirmed': record('guidance', 'confirmed'),
  'guidance.removed': record('guidance', 'removed'),
  'tag.created': record('tag', 'created'),
  'tag.updated': record('tag', 'updated'),
  'tag.deleted': record('tag', 'deleted'),
  'key.created': record('key', 'created'),
  'key.updated': record('key', 'updated'),
  'key.deleted': record('key', 'deleted'),
  'user.created': record('user', 'created'),
  'user.updated': record('user', 'updated'),
  'user.deleted': record('user', 'deleted'),
  'approval.asked': record('approval', 'asked'),
  'approval.approved': decision('approved'),
  'approval.refused': decision('refused'),
  'approval.used': record('approval', 'used'),
  'approval.withdrawn': record('approval', 'withdrawn'),
  'settings.changed': ({ group, fields }) => ({
    context: 'settings',
    action: 'updated',
    name: group,
    detail: fields.join(', '),
  }),
  'job.cancelled': ({ job_id, type }) => ({ context: 'job', action: 'cancelled', slug: job_id, name: type }),
  'call.ended': (outcome) => ({ context: 'call', action: 'ended', ...outcome }),
  'rollout.started': rollout('started'),
  'rollout.wave_started': rollout('wave-started'),
  'rollout.wave_ended': rollout('wave-ended'),
  'rollout.wave_approved': rollout('wave-approved'),
  'rollout.item_halted': rollout('item-halted'),
  'rollout.paused': rollout('paused'),
  'rollout.resumed': rollout('resumed'),
  'rollout.halted': rollout('halted'),
  'rollout.aborted': rollout('aborted'),
  'rollout.ended': rollout('ended'),
  'policy.created': policy('created'),
  'policy.changed': policy('changed'),
  'policy.deleted': policy('deleted'),
  'policy.ran': policy('ran'),
  'policy.asked': policy('asked'),
  'policy.skipped': policy('skipped'),
  'bucket.added': record('bucket', 'added'),
  'bucket.updated': record('bucket', 'updated'),
  'bucket.deleted': record('bucket', 'deleted'),
  'task.added': record('task', 'added'),
  'task.updated': record('task', 'updated'),
  'task.deleted': record('task', 'deleted'),
  'task.started': record('task', 'started'),
  'task.paused': record('task', 'paused'),
  'task.completed': record('task', 'completed'),
};
