/** Maps each activity segment to its event sources and the child's action words (REST §6.8.2). */

import type { Segment } from '../../../schemas/report.js';
import type { Source } from './events.js';

/** The child's word for an action is mostly the same as ours. */
function same(...words: string[]): Record<string, string> {
  return Object.fromEntries(words.map((word) => [word, word]));
}

const CONTENT_WORDS = {
  ...same('created', 'updated', 'trashed', 'deleted', 'restored'),
  published: 'created',
  added: 'created',
  new: 'created',
  modified: 'updated',
  edited: 'updated',
  untrashed: 'restored',
  unpublished: 'updated',
};

const EXTENSION_WORDS = {
  ...same('installed', 'activated', 'deactivated', 'updated', 'rolled-back', 'edited', 'deleted'),
  upgraded: 'updated',
  modified: 'edited',
  'file-edited': 'edited',
  uninstalled: 'deleted',
  switched: 'activated',
};

export interface Activity extends Source {
  /** Rows have a slug; rows of updates also have versions. */
  versions: boolean;
  /** First part of the tokens. */
  token: string;
  /** Last part of the token of the name. */
  nameToken: 'name' | 'title';
  title: string;
}

/** Contents that the child reports in the plural or the singular, unless said otherwise. */
function activity(token: string, title: string, more: Partial<Activity> & Pick<Activity, 'words'>): Activity {
  return {
    token,
    title,
    nameToken: 'title',
    versions: false,
    done: [token],
    contexts: [`${token}s`, token],
    ...more,
  };
}

export const ACTIVITIES: Partial<Record<Segment, Activity>> = {
  plugins: activity('plugin', 'Plugins', { nameToken: 'name', versions: true, words: EXTENSION_WORDS }),
  themes: activity('theme', 'Themes', { nameToken: 'name', versions: true, words: EXTENSION_WORDS }),
  platform: activity('platform', 'WordPress', {
    nameToken: 'name',
    versions: true,
    done: ['core'],
    contexts: ['wordpress', 'core', 'installer'],
    words: { ...same('updated'), upgraded: 'updated' },
  }),
  posts: activity('post', 'Posts', { words: CONTENT_WORDS }),
  pages: activity('page', 'Pages', { words: CONTENT_WORDS }),
  users: activity('user', 'Users', {
    nameToken: 'name',
    done: [],
    contexts: ['users', 'user', 'profiles'],
    words: {
      ...same('created', 'updated', 'deleted'),
      added: 'created',
      registered: 'created',
      modified: 'updated',
      'profile-updated': 'updated',
      'role-changed': 'updated',
    },
  }),
  comments: activity('comment', 'Comments', {
    words: {
      ...same('created', 'updated', 'edited', 'trashed', 'deleted', 'restored', 'approved', 'spam', 'replied'),
      posted: 'created',
      added: 'created',
      modified: 'edited',
      untrashed: 'restored',
      spammed: 'spam',
      unspammed: 'restored',
      unapproved: 'updated',
    },
  }),
  menus: activity('menu', 'Menus', {
    done: [],
    contexts: ['menus', 'menu', 'nav-menu'],
    words: { ...same('created', 'updated', 'deleted'), added: 'created', modified: 'updated' },
  }),
  media: activity('media', 'Media', {
    nameToken: 'name',
    done: [],
    contexts: ['media', 'attachment', 'attachments'],
    words: {
      ...same('uploaded', 'updated', 'deleted'),
      added: 'uploaded',
      created: 'uploaded',
      modified: 'updated',
      edited: 'updated',
    },
  }),
};
