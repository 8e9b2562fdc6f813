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

export const ACTIVITIES: Partial<Record<Segment, Activity>> = {
  plugins: {
    token: 'plugin',
    nameToken: 'name',
    title: 'Plugins',
    versions: true,
    done: ['plugin'],
    contexts: ['plugins', 'plugin'],
    words: EXTENSION_WORDS,
  },
  themes: {
    token: 'theme',
    nameToken: 'name',
    title: 'Themes',
    versions: true,
    done: ['theme'],
    contexts: ['themes', 'theme'],
    words: EXTENSION_WORDS,
  },
  platform: {
    token: 'platform',
    nameToken: 'name',
    title: 'WordPress',
    versions: true,
    done: ['core'],
    contexts: ['wordpress', 'core', 'installer'],
    words: { ...same('updated'), upgraded: 'updated' },
  },
  posts: {
    token: 'post',
    nameToken: 'title',
    title: 'Posts',
    versions: false,
    done: ['post'],
    contexts: ['posts', 'post'],
    words: CONTENT_WORDS,
  },
  pages: {
    token: 'page',
    nameToken: 'title',
    title: 'Pages',
    versions: false,
    done: ['page'],
    contexts: ['pages', 'page'],
    words: CONTENT_WORDS,
  },
  users: {
    token: 'user',
    nameToken: 'name',
    title: 'Users',
    versions: false,
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
  },
  comments: {
    token: 'comment',
    nameToken: 'title',
    title: 'Comments',
    versions: false,
    done: ['comment'],
    contexts: ['comments', 'comment'],
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
  },
  menus: {
    token: 'menu',
    nameToken: 'title',
    title: 'Menus',
    versions: false,
    done: [],
    contexts: ['menus', 'menu', 'nav-menu'],
    words: { ...same('created', 'updated', 'deleted'), added: 'created', modified: 'updated' },
  },
  media: {
    token: 'media',
    nameToken: 'name',
    title: 'Media',
    versions: false,
    done: [],
    contexts: ['media', 'attachment', 'attachments'],
    words: {
      ...same('uploaded', 'updated', 'deleted'),
      added: 'uploaded',
      created: 'uploaded',
      modified: 'updated',
      edited: 'updated',
    },
  },
};
