import type { SnapshotChange } from './child.js';
import { exactText, plainText } from './text.js';
import { countOf, entriesOf, get, numberOf } from './values.js';

/** Most entries taken of each list, and asked for of the larger log. */
export const MAX_CHANGES = 500;
/** The year 2100: an entry from beyond would move "newer than" past every honest one. */
const LAST_SECOND = 4_102_444_800;
/** Where the two logs keep the name of what was changed, best first. */
const ITEM_KEYS = [
  'name',
  'title',
  'plugin_name',
  'theme_name',
  'post_title',
  'plugin',
  'theme',
  'task_name',
  'new_version',
  'slug',
];

/**
 * Both change lists of an answer, oldest first (child protocol §6.7); null when it has neither. The newest `created`
 * in it is where the next request goes on: when one list was cut, what the other has from later is left for then.
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
    .sort((a, b) => a.created - b.created);
}

type Reader = (id: string, item: unknown) => SnapshotChange | null;

function logOf(value: unknown, read: Reader): SnapshotChange[] | null {
  // The larger log says "" for nothing.
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
  const login = plainText(get(user, 'username'), 100) || plainText(get(item, 'action_user'), 100);
  const name =
    itemName(get(meta, 'extra_info')) || plainText(get(meta, 'slug'), 256) || plainText(get(item, 'summary'), 256);
  return change('actions', key, item, {
    action: get(item, 'action'),
    created: get(item, 'created'),
    item: name,
    login,
    user,
  });
}

function logEntryOf(key: string, item: unknown): SnapshotChange | null {
  const meta = get(item, 'meta_data');
  const own = get(item, 'id');
  const id = typeof own === 'number' || typeof own === 'string' ? String(own) : key;
  const login = plainText(get(item, 'username'), 100);
  const name = itemName(meta) || itemName(get(meta, 'extra_info'));
  const facts = {
    action: get(item, 'action_name'),
    created: get(item, 'created_on'),
    item: name,
    login,
    user: get(meta, 'user_meta'),
  };
  return change('logs', id, item, facts);
}

interface Facts {
  action: unknown;
  created: unknown;
  item: string;
  login: string;
  user: unknown;
}

function change(source: 'actions' | 'logs', id: string, item: unknown, facts: Facts): SnapshotChange | null {
  const child_id = exactText(id, 64);
  const created = numberOf(facts.created);
  const action = plainText(facts.action, 100);
  if (child_id === null || created === null || created <= 0 || created > LAST_SECOND || action === '') return null;
  return {
    child_id,
    source,
    context: plainText(get(item, 'context'), 100),
    action,
    item: facts.item,
    user_login: facts.login,
    user_id: countOf(get(item, 'user_id')) ?? countOf(get(facts.user, 'wp_user_id')) ?? 0,
    created,
    duration: numberOf(get(item, 'duration')),
  };
}

function itemName(value: unknown): string {
  for (const key of ITEM_KEYS) {
    const text = plainText(get(value, key), 256);
    if (text !== '') return text;
  }
  return '';
}
