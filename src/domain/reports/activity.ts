/** Activity segments: what was done to plugins, themes, WordPress itself, and to the content (REST §6.8.2). */

import type { Segment } from '../../../schemas/report.js';
import type { Ctx } from '../../context.js';
import { requireModule } from '../modules.js';
import { eventsOf, type SiteEvent, type Source } from './events.js';
import { abandonedRows, pendingRows } from './present.js';
import { type Findings, MAX_ROWS, type Question, type ReportRow, type Section } from './types.js';

/** The child's word for an action is mostly ours already. */
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
};

const EXTENSION_WORDS = {
  ...same('installed', 'activated', 'deactivated', 'updated', 'edited', 'deleted'),
  upgraded: 'updated',
  modified: 'edited',
  'file-edited': 'edited',
  uninstalled: 'deleted',
  switched: 'activated',
};

interface Activity extends Source {
  /** First part of the tokens. */
  token: string;
  /** Last part of the token of the name. */
  nameToken: 'name' | 'title';
  title: string;
}

const ACTIVITIES: Partial<Record<Segment, Activity>> = {
  plugins: {
    token: 'plugin',
    nameToken: 'name',
    title: 'Plugins',
    history: 'plugin',
    contexts: ['plugins', 'plugin'],
    words: EXTENSION_WORDS,
  },
  themes: {
    token: 'theme',
    nameToken: 'name',
    title: 'Themes',
    history: 'theme',
    contexts: ['themes', 'theme'],
    words: EXTENSION_WORDS,
  },
  platform: {
    token: 'platform',
    nameToken: 'name',
    title: 'WordPress',
    history: 'core',
    contexts: ['wordpress', 'core', 'installer'],
    words: { ...same('updated'), upgraded: 'updated' },
  },
  posts: {
    token: 'post',
    nameToken: 'title',
    title: 'Posts',
    history: null,
    contexts: ['posts', 'post'],
    words: CONTENT_WORDS,
  },
  pages: {
    token: 'page',
    nameToken: 'title',
    title: 'Pages',
    history: null,
    contexts: ['pages', 'page'],
    words: CONTENT_WORDS,
  },
  users: {
    token: 'user',
    nameToken: 'name',
    title: 'Users',
    history: null,
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
    history: null,
    contexts: ['comments', 'comment'],
    words: {
      ...same('created', 'updated', 'edited', 'trashed', 'deleted', 'restored', 'approved', 'spam', 'replied'),
      posted: 'created',
      added: 'created',
      modified: 'edited',
      untrashed: 'restored',
      spammed: 'spam',
    },
  },
  menus: {
    token: 'menu',
    nameToken: 'title',
    title: 'Menus',
    history: null,
    contexts: ['menus', 'menu', 'nav-menu'],
    words: { ...same('created', 'updated', 'deleted'), added: 'created', modified: 'updated' },
  },
  media: {
    token: 'media',
    nameToken: 'name',
    title: 'Media',
    history: null,
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

export async function activityFindings(ctx: Ctx, question: Question): Promise<Findings> {
  const activity = ACTIVITIES[question.segment] as Activity;
  const childTells = ctx.config.modules.includes('logs');
  // Content is known from the child's log alone; plugins, themes and WordPress from our own work as well.
  if (activity.history === null) requireModule(ctx, 'logs');
  const { events, counts, truncated } = await eventsOf(ctx, question, activity, childTells);
  const present = await presentSections(ctx, question, activity);
  const left = Math.max(0, MAX_ROWS - present.reduce((sum, section) => sum + section.rows.length, 0));
  const shown = events.slice(0, left);
  const sections = question.actions.map(
    (action) =>
      present.find((section) => section.name === action) ??
      actionSection(
        activity,
        action,
        shown.filter((event) => event.action === action),
        counts.get(action) ?? 0,
      ),
  );
  return {
    sections,
    values: [],
    notes: notesOf(activity, childTells, present),
    truncated: truncated || shown.length < events.length,
  };
}

function notesOf(activity: Activity, childTells: boolean, present: readonly Section[]): string[] {
  const ours = 'What was done through Sitefleet is known since it began to keep a history.';
  const theirs = 'What was done on the site itself is known as of its last sync.';
  return [
    ...(activity.history === null ? [] : [ours]),
    childTells ? theirs : 'What was done on the site itself is left out: the Logs module is off.',
    ...(present.length === 0 ? [] : ['Pending and abandoned items are those of the last sync, whatever the range.']),
  ];
}

function actionSection(activity: Activity, action: string, events: readonly SiteEvent[], count: number): Section {
  const { token, nameToken } = activity;
  const of = `${token}.${action}`;
  const versions = action === 'updated' && activity.history !== null;
  const name = nameToken === 'name' ? 'name' : 'title';
  const rows: ReportRow[] = events.map((event) => ({
    at: event.at,
    fields: {
      [name]: event.name,
      ...(activity.history === null ? {} : { slug: event.slug }),
      author: event.author,
      ...(versions ? { old_version: event.old_version, current_version: event.current_version } : {}),
      // The logs of a child do not say which role it was.
      ...(token === 'user' ? { role: '' } : {}),
    },
  }));
  return {
    name: action,
    title: `${activity.title} ${action}`,
    count,
    countToken: `${of}.count`,
    tokens: {
      [name]: `${token}.${nameToken}`,
      slug: `${token}.slug`,
      author: `${of}.author`,
      old_version: `${token}.old.version`,
      current_version: `${token}.current.version`,
      role: `${of}.role`,
      date: `${of}.date`,
      time: `${of}.time`,
      utime: `${of}.utime`,
    },
    rows,
  };
}

/** `pending` and `abandoned`: what is, beside what happened. */
async function presentSections(ctx: Ctx, { site, segment, actions }: Question, activity: Activity): Promise<Section[]> {
  const { token, title } = activity;
  const type = segment === 'plugins' ? 'plugin' : segment === 'themes' ? 'theme' : 'core';
  const sections: Section[] = [];
  if (actions.includes('abandoned') && type !== 'core') {
    const rows = await abandonedRows(ctx, site, type);
    sections.push({
      name: 'abandoned',
      title: `${title} abandoned`,
      count: rows.length,
      countToken: `${token}.abandoned.count`,
      tokens: {
        name: `${token}.name`,
        slug: `${token}.slug`,
        version: `${token}.version`,
        last_updated: 'last.updated',
      },
      rows,
    });
  }
  if (actions.includes('pending')) {
    const rows = await pendingRows(ctx, site, [type]);
    sections.push({
      name: 'pending',
      title: `${title} pending`,
      count: rows.length,
      countToken: `${token}.pending.count`,
      tokens: {
        name: `${token}.name`,
        slug: `${token}.slug`,
        current_version: `${token}.current.version`,
        new_version: `${token}.new.version`,
      },
      rows,
    });
  }
  return sections;
}
