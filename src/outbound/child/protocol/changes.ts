/**
 * Parses the two change logs of a child's answer: what was changed on the site, by whom, and how (child protocol §6.7).
 */

import { siteWord } from '../../../../schemas/site-text.js';
import { PROMOTED, type SnapshotChange } from '../port.js';
import { detailOf, objectName, textAt } from './change-objects.js';
import { actionOfType, contextOfType, isNoChange, phraseOf, settingOf } from './change-phrases.js';
import { exactText, plainText } from './text.js';
import { countOf, entriesOf, get, numberOf } from './values.js';

/** Maximum entries taken of each list, and requested of the larger log. */
export const MAX_CHANGES = 500;
/** The year 2100: a later entry would move "newer than" past every genuine one. */
const LAST_SECOND = 4_102_444_800;
/** How this service identifies itself to sites: a site's log names the caller of each change. */
const OURSELVES = /\bsitefleet\b/i;

/**
 * Both change lists of an answer, oldest first (child protocol §6.7); null if it has neither. The next request
 * continues at the newest `created`: if one list was truncated, later entries of the other are left for then.
 */
export function changesOf(answer: unknown): SnapshotChange[] | null {
  const actions = logOf(get(answer, 'child_site_actions_data'), actionOf);
  const logs = logOf(get(answer, 'changes_logs_data'), logEntryOf);
  if (actions === null && logs === null) return null;
  let until = Number.POSITIVE_INFINITY;
  for (const list of [actions, logs]) {
    if (list !== null && list.length >= MAX_CHANGES) until = Math.min(until, list.at(-1)?.created ?? until);
  }
  return [...(actions ?? []), ...(logs ?? [])]
    .filter((one) => one.created <= until)
    .sort((a, b) => a.created - b.created)
    .filter((one, at, all) => !isPartOfCreation(one, at, all));
}

/**
 * WordPress stores a new user with a role and profile fields at once; the log has an entry for each, before or after
 * the user's own.
 */
const CREATION_SECONDS = 3;

/** Part of the creation: of the same user, by the same actor, within seconds, and with this role. */
function isPartOfCreation(one: SnapshotChange, at: number, all: readonly SnapshotChange[]): boolean {
  const isField = one.summary === phraseOf(PROFILE_FIELD_CREATED);
  if (one.source !== 'logs' || (!isField && one.action !== 'role-changed')) return false;
  const isCreation = (other: SnapshotChange) =>
    other.context === 'user' &&
    other.action === 'created' &&
    other.summary !== one.summary &&
    other.item === one.item &&
    other.user_login === one.user_login &&
    (isField || (one.old_value === '' && other.new_value.toLowerCase() === one.new_value.toLowerCase()));
  for (const step of [-1, 1]) {
    for (let i = at + step; ; i += step) {
      const other = all[i];
      if (other === undefined || Math.abs(other.created - one.created) > CREATION_SECONDS) break;
      if (isCreation(other)) return true;
    }
  }
  return false;
}

type Reader = (id: string, item: unknown) => SnapshotChange | null;

function logOf(value: unknown, read: Reader): SnapshotChange[] | null {
  // The larger log uses "" for nothing.
  const entries = value === '' ? [] : entriesOf(value, MAX_CHANGES * 10);
  if (entries === null) return null;
  return entries
    .map(([id, item]) => read(id, item))
    .filter((one) => one !== null)
    .sort((a, b) => a.created - b.created)
    .slice(0, MAX_CHANGES);
}

function actionOf(key: string, item: unknown): SnapshotChange | null {
  const meta = get(item, 'meta_data');
  const user = get(meta, 'user_meta');
  const extra = get(meta, 'extra_info');
  const context = plainText(get(item, 'context'), 100);
  const slug = plainText(get(meta, 'slug'), 256);
  // An update of WordPress only names versions.
  const name = context === 'wordpress' ? 'WordPress' : objectName(extra);
  return change('actions', key, item, {
    ...versionsOf(extra),
    context,
    action: plainText(get(item, 'action'), 100),
    created: get(item, 'created'),
    item: name || slug || plainText(get(item, 'summary'), 256),
    detail: detailOf(extra, name),
    summary: '',
    slug,
    user_login: plainText(get(user, 'username'), 100) || plainText(get(item, 'action_user'), 100),
    user,
    not_a_change: get(user, 'agent') === 'wp_cron',
  });
}

function logEntryOf(key: string, item: unknown): SnapshotChange | null {
  const meta = get(item, 'meta_data');
  const own = get(item, 'id');
  const id = typeof own === 'number' || typeof own === 'string' ? String(own) : key;
  const type = numberOf(get(item, 'log_type_id')) ?? 0;
  const action = plainText(get(item, 'action_name'), 100);
  const said = contextOfType(type, plainText(get(item, 'context'), 100));
  const post = plainText(get(item, 'post_type'), 50) || 'post';
  const setting = settingOf(type);
  const name = setting || objectName(meta) || objectName(get(meta, 'extra_info'));
  const role = roleOf(meta);
  return change('logs', id, item, {
    ...(said === 'user' ? { old_value: textAt(meta, 'oldrole', 100), new_value: role } : versionsOf(meta)),
    // Pages are distinguished from posts only by their type.
    context: said === 'post' && post === 'page' ? 'page' : said,
    action: actionOfType(type, action),
    created: get(item, 'created_on'),
    item: name,
    detail: detailOf(meta, name) || roleDetail(type, action, meta),
    summary: setting === '' ? promotion(meta) || phraseOf(type).replace('{post}', post) : settingPhrase(action),
    slug: textAt(meta, 'plugindata.slug', 256) || textAt(meta, 'slug', 256),
    user_login: plainText(get(item, 'username'), 100),
    user: get(meta, 'user_meta'),
    not_a_change: isNoChange(type, said, action) || OURSELVES.test(plainText(get(item, 'user_agent'), 256)),
  });
}

function versionsOf(meta: unknown): { old_value: string; new_value: string } {
  const first = (paths: readonly string[]) => paths.map((path) => textAt(meta, path, 100)).find((text) => text !== '');
  return {
    old_value: first(['oldversion', 'old_version']) ?? '',
    new_value: first(['plugindata.version', 'theme.version', 'new_version', 'version']) ?? '',
  };
}

function roleOf(meta: unknown): string {
  return textAt(meta, 'newrole', 100) || textAt(meta, 'newuserdata.userroles', 100);
}

const ROLE_CHANGED = 1615;
const PROFILE_FIELD_CREATED = 1690;

/** For entries that do not have both the old and the new role. */
function roleDetail(type: number, action: string, meta: unknown): string {
  const [role, old] = [roleOf(meta), textAt(meta, 'oldrole', 100)];
  if (type !== ROLE_CHANGED) return action === 'created' && role !== '' ? `role ${role}` : '';
  if (role !== '') return `to ${siteWord(role)}`;
  // WordPress' REST API removes all roles, which the child logs, and then adds the new ones, which it does not.
  return old === '' ? '' : `from ${siteWord(old)}, the new role is not in the log of the site`;
}

/** A role change that makes someone an administrator must stand out; '' for every other entry. */
function promotion(meta: unknown): string {
  const administers = (path: string) => /(^|,)\s*administrator\s*(,|$)/i.test(textAt(meta, path, 200));
  // The default role of new users has these keys as well, but no user.
  if (textAt(meta, 'changeusername', 100) === '') return '';
  if (administers('newrole') && !administers('oldrole')) return PROMOTED;
  const known = textAt(meta, 'newrole', 100) !== '';
  return known && administers('oldrole') && !administers('newrole') ? 'Demoted from administrator' : '';
}

function settingPhrase(action: string): string {
  if (action === 'enabled') return 'Turned on setting';
  return action === 'disabled' ? 'Turned off setting' : 'Changed setting';
}

/** A change whose time and user are as the child sent them. */
interface Facts extends Omit<SnapshotChange, 'child_id' | 'source' | 'user_id' | 'created' | 'duration'> {
  created: unknown;
  user: unknown;
}

function change(source: 'actions' | 'logs', id: string, item: unknown, facts: Facts): SnapshotChange | null {
  const { created: at, user, ...rest } = facts;
  const child_id = exactText(id, 64);
  const created = numberOf(at);
  if (child_id === null || created === null || created <= 0 || created > LAST_SECOND || rest.action === '') return null;
  return {
    ...rest,
    child_id,
    source,
    user_id: countOf(get(item, 'user_id')) ?? countOf(get(user, 'wp_user_id')) ?? 0,
    created,
    duration: numberOf(get(item, 'duration')),
  };
}
