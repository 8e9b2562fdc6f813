/** Words of change logs: the logs of sites name one thing in several ways. */

/** Contexts of the logs, where the kind that callers name is another word. */
export const CHANGE_KINDS: Readonly<Record<string, string>> = {
  wordpress: 'core',
  plugins: 'plugin',
  themes: 'theme',
  translations: 'translation',
  posts: 'post',
  pages: 'page',
  users: 'user',
  comments: 'comment',
  menus: 'menu',
  widgets: 'widget',
  attachment: 'media',
  settings: 'setting',
  'system-setting': 'setting',
};

/** What is stored of a kind or of an action may be in the past tense: `update` means `updated`, too. */
export function actionForms(action: string): string[] {
  return [action, `${action}d`, `${action}ed`];
}
