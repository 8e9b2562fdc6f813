import { type Call, type ChildFunction, Framed, frame } from '../answer.js';
import { integer, isRecord, json, nested, type Params, phpMap, text } from '../params.js';
import { issueSecret } from '../secrets.js';
import type { SiteState } from '../state.js';
import { outdatedMaps } from './abandoned.js';
import { lastBackup, noteBackups } from './backups.js';
import { changedSince, changeLogSince } from './changes.js';
import { recentComments } from './comments.js';
import { pluginItem, pluginOffers, premiumOffers, themeItems, themeOffers } from './items.js';
import { recentPosts } from './posts.js';
import { securityIssues, securityStats } from './security-stats.js';
import { userItems } from './users.js';

/** `full` is a stats call, `sync` the part that rides on other answers, `register` the answer to connecting. */
export type PayloadKind = 'full' | 'sync' | 'register';

/** `stats`: stores what the dashboard sends along, answers with the site's whole record (child protocol §5). */
export const stats: ChildFunction = (call) => {
  storeSettings(call);
  const secret = text(call.params, 'sync_regverify') === '1' && call.user !== undefined ? issueSecret(call.user) : '';
  if (secret !== '') return { ...statsPayload(call, 'full'), regverify_info: secret };
  const key = payloadKey(call);
  const stored = call.site.remembered(key);
  if (stored !== undefined) return new Framed(stored);
  const body = frame(call.site, statsPayload(call, 'full'));
  // What its backup plugins have done meanwhile is noted by the child at the end, and told by the next call.
  if (noteBackups(call.state)) call.site.touch();
  else call.site.remember(key, body);
  return new Framed(body);
};

function storeSettings({ site, state, params }: Call): void {
  if (params.server !== undefined && state.connection !== null) state.connection.server = text(params, 'server');
  if (params.siteId !== undefined) state.siteId = text(params, 'siteId');
  const days = integer(params, 'numberdaysOutdatePluginTheme');
  if (days > 0 && days !== state.abandoned.days) {
    site.touch();
    state.abandoned = { days, plugins: new Map(), themes: new Map(), queue: [] };
  }
}

/** Everything the payload depends on besides the site's content. */
function payloadKey({ site, state, params, tls }: Call): string {
  const asked = ['optimize', 'othersData', 'cloneSites', 'primaryBackup', 'recent_number', 'user', 'alt_user'];
  const given = asked.map((name) => text(params, name));
  const logs = JSON.stringify(params.params_logs ?? '');
  const since = text(params, 'child_actions_last_created');
  const choice = params.syncdata === undefined ? JSON.stringify(state.syncdata) : text(params, 'syncdata');
  return [...given, logs, since, choice, site.childVersion, state.abandoned.days, tls].join('\u0001');
}

/** The parts of a payload that the stored `syncdata` leaves in, in the order of the real child (child protocol §5.1, §5.2). */
export function statsPayload(call: Call, kind: PayloadKind): Record<string, unknown> {
  const { state, params } = call;
  rememberChoice(state, params);
  const payload: Record<string, unknown> = {};
  for (const [name, make] of Object.entries(PARTS)) {
    const choice = state.syncdata[PART_OF[name] ?? name];
    if (choice !== undefined && Number(choice) !== 1) continue;
    const value = make(call, kind);
    if (value !== undefined) payload[name] = value;
  }
  return payload;
}

function rememberChoice(state: SiteState, params: Params): void {
  if (params.syncdata === undefined) return;
  const choice = json(text(params, 'syncdata'));
  state.syncdata = isRecord(choice) ? choice : {};
}

/** Keys that go with a part of another name. */
const PART_OF: Record<string, string> = { securityIssues: 'securityStats', categories_list: 'categories' };

const PARTS: Record<string, (call: Call, kind: PayloadKind) => unknown> = {
  version: ({ site }) => site.childVersion,
  wpversion: ({ state }) => state.wpVersion,
  siteurl: ({ site }) => site.siteUrl,
  wpe: ({ state }) => (state.wpe ? 1 : 0),
  wphost: ({ state }) => state.wphost,
  site_info: siteInfo,
  wp_updates: ({ state }) => state.wpUpdate,
  plugin_updates: ({ state }) => phpMap(pluginOffers(state, 'stats')),
  theme_updates: ({ state }) => phpMap(themeOffers(state)),
  translation_updates: ({ state }) => state.translations.map((each) => ({ ...each })),
  premium_updates: ({ state }) => premiumOffers(state),
  recent_comments: ({ state, params }) => recentComments(state, recentNumber(params)),
  recent_posts: ({ state, params }) => recentPosts(state, 'post', recentNumber(params)),
  recent_pages: ({ state, params }) => recentPosts(state, 'page', recentNumber(params)),
  securityIssues: ({ state, tls }) => securityIssues(state, tls),
  securityStats: ({ state, tls }) => securityStats(state, tls),
  directories: () => '',
  categories: ({ state }) => state.categories.map((each) => each.name),
  categories_list: ({ state }) => state.categories.map((each) => ({ ...each, taxonomy: 'category', parent: 0 })),
  totalsize: ({ state, params }, kind) =>
    kind !== 'sync' && integer(params, 'cloneSites') !== 0 ? String(state.totalSize) : undefined,
  dbsize: ({ state }) => state.dbSize,
  extauth: ({ state }) => state.dayCode,
  plugins: ({ state }) => state.plugins.map(pluginItem),
  themes: ({ state }) => themeItems(state),
  users: ({ state, params }) =>
    text(params, 'optimize') === '1' ? userItems(state).slice(0, usersWanted(params)) : undefined,
  last_post_gmt: ({ state }) => Math.max(0, ...state.posts.filter((p) => p.status === 'publish').map((p) => p.date)),
  mainwpdir: () => 1,
  uniqueId: ({ state }) => state.uniqueId,
  plugins_outdate_info: ({ state }) => outdatedMaps(state).plugins,
  themes_outdate_info: ({ state }) => outdatedMaps(state).themes,
  health_site_status: ({ state }) => ({ ...state.health }),
  dbsize_activitylogs: ({ params }) => (params.params_logs === undefined ? undefined : 114688),
  child_site_actions_data: ({ state, params }) =>
    changedSince(state, Number(text(params, 'child_actions_last_created') || 0)),
  changes_logs_data: ({ state, params }) => changeLogSince(state, nested(params, 'params_logs')),
  admin_nicename: (call) => connectedUser(call)?.login ?? '',
  admin_useremail: (call) => connectedUser(call)?.email ?? '',
  password_policy_options: () => ({
    max_age_days: '0',
    policy_enabled_at: null,
    due_soon_days: '7',
    due_soon_message: '',
    overdue_message: '',
    show_notices_to: 'edit_posts',
  }),
  primaryLasttimeBackup: ({ state, params }) => lastBackup(state, text(params, 'primaryBackup')),
};

function siteInfo({ site, state }: Call): Record<string, unknown> {
  const active = state.themes.find((theme) => theme.slug === state.activeTheme);
  return {
    wpversion: state.wpVersion,
    debug_mode: state.debug,
    phpversion: state.phpVersion,
    child_version: site.childVersion,
    memory_limit: state.memoryLimit,
    mysql_version: state.mysqlVersion,
    db_size: (state.dbSize / 1048576).toFixed(2),
    themeactivated: active?.name ?? state.activeTheme,
    ip: state.ip,
    child_curl_version: '7.88.1',
    child_openssl_version: 'OpenSSL/3.0.19',
    site_lang: state.language,
    site_public: state.isPublic ? 1 : 0,
    format_datetime: {
      timezone_string: state.timezone,
      gmt_offset: String(state.gmtOffset),
      date_format: 'F j, Y',
      time_format: 'g:i a',
    },
  };
}

function connectedUser({ state, user }: Call) {
  return user ?? state.users.find((each) => each.login === state.connection?.user);
}

function recentNumber(params: Params): number {
  const wanted = integer(params, 'recent_number');
  return wanted >= 1 && wanted <= 30 ? wanted : 5;
}

function usersWanted(params: Params): number {
  const others = json(text(params, 'othersData'));
  const wanted = isRecord(others) ? Number(others.users_number) : 0;
  return wanted > 0 ? wanted : 500;
}
