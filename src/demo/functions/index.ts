import type { ChildFunction } from '../answer.js';
import { checkAbandoned } from './abandoned.js';
import { cachePurgeAction } from './caches.js';
import { cleanUpChildLogs, deleteActions } from './changes.js';
import { commentAction, commentBulkAction, getAllComments } from './comments.js';
import { deactivate, disconnect, getSiteIcon, settingsTools, updateValues } from './connection.js';
import { codeSnippet, installPluginTheme } from './install.js';
import { newPost } from './newpost.js';
import { getAllPlugins, pluginAction } from './plugins.js';
import { postAction } from './post-action.js';
import { getAllPages, getAllPosts } from './posts.js';
import { security, securityFix, securityUnFix } from './security.js';
import { stats } from './stats.js';
import { getAllThemes, themeAction } from './themes.js';
import { upgradeCore, upgradePluginTheme, upgradeTranslation } from './updates.js';
import { getAllUsers } from './users.js';

/** Every function the simulated child knows, by the name on the wire. `register` is apart: it is unsigned. */
export const FUNCTIONS: Record<string, ChildFunction> = {
  stats,
  disconnect,
  deactivate,
  update_values: updateValues,
  get_all_plugins: getAllPlugins,
  get_all_themes: getAllThemes,
  plugin_action: pluginAction,
  theme_action: themeAction,
  upgradeplugintheme: upgradePluginTheme,
  upgrade: upgradeCore,
  upgradetranslation: upgradeTranslation,
  check_abandoned: checkAbandoned,
  security,
  securityFix,
  securityUnFix,
  get_all_posts: getAllPosts,
  get_all_pages: getAllPages,
  newpost: newPost,
  post_action: postAction,
  get_all_comments: getAllComments,
  comment_action: commentAction,
  comment_bulk_action: commentBulkAction,
  settings_tools: settingsTools,
  get_site_icon: getSiteIcon,
  delete_actions: deleteActions,
  clean_up_child_logs: cleanUpChildLogs,
  cache_purge_action: cachePurgeAction,
  get_all_users: getAllUsers,
  installplugintheme: installPluginTheme,
  code_snippet: codeSnippet,
};

/** Functions that change nothing a stored stats answer depends on. */
export const READS: ReadonlySet<string> = new Set([
  'stats',
  'get_all_plugins',
  'get_all_themes',
  'get_all_posts',
  'get_all_pages',
  'get_all_comments',
  'get_all_users',
  'security',
  'get_site_icon',
  'settings_tools',
]);

/** Functions that install something. */
export const UPDATES: ReadonlySet<string> = new Set([
  'upgradeplugintheme',
  'upgrade',
  'upgradetranslation',
  'installplugintheme',
]);
