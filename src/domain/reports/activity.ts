/** Activity segments: changes to plugins, themes, WordPress itself, and content (REST §6.8.2). */

import { siteWord } from '../../../schemas/site-text.js';
import type { Ctx } from '../context.js';
import { requireModule } from '../settings/modules.js';
import { UPDATE_TYPES } from '../updates/results.js';
import type { Activity } from './activity-words.js';
import { checkedUpdates } from './checked-updates.js';
import { abandonedSection, pendingSection } from './current-state.js';
import { eventsOf, type SiteEvent } from './events.js';
import { type Findings, MAX_ROWS, type ReportRequest, type ReportRow, type Section } from './types.js';

export async function activityFindings(ctx: Ctx, question: ReportRequest, activity: Activity): Promise<Findings> {
  const childTells = ctx.config.modules.includes('logs');
  // Changes to content are known from the child's log alone: a report without it would claim that nothing happened.
  if (!activity.versions) requireModule(ctx, 'logs');
  const [{ events, counts, truncated }, present, checks] = await Promise.all([
    eventsOf(ctx, question, activity, childTells),
    presentSections(ctx, question, activity),
    activity.versions && question.actions.includes('updated')
      ? checkedUpdates(ctx, question, UPDATE_TYPES.indexOf(typeOf(question)), activity.token)
      : { values: [], notes: [] },
  ]);
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
    values: checks.values,
    notes: [...promotionsOf(shown), ...notesOf(activity, childTells, present), ...checks.notes],
    truncated: truncated || shown.length < events.length,
  };
}

/** Maximum number of names in one note. */
const MAX_NAMED = 20;

/**
 * Mentioned separately from the rows: a user who became an administrator is easily overlooked among other changes of
 * users.
 */
function promotionsOf(events: readonly SiteEvent[]): string[] {
  const promoted = events.filter((event) => event.promoted);
  if (promoted.length === 0) return [];
  const named = promoted.slice(0, MAX_NAMED).map(({ name, author }) =>
    [name, author]
      .filter((text) => text !== '')
      .map((text) => siteWord(text))
      .join(' by '),
  );
  const more = promoted.length > MAX_NAMED ? `, and ${promoted.length - MAX_NAMED} more` : '';
  return [`Promoted to administrator: ${named.join(', ')}${more}.`];
}

function notesOf(activity: Activity, childTells: boolean, present: readonly Section[]): string[] {
  const ours = 'What was done through Sitefleet is known since its log began.';
  const theirs = 'What was done on the site itself is known as of its last sync.';
  return [
    ...(activity.done.length === 0 ? [] : [ours]),
    childTells ? theirs : 'What was done on the site itself is left out: the Logs module is disabled.',
    ...(present.length === 0 ? [] : ['Pending and abandoned items are as of the last sync, regardless of the range.']),
  ];
}

function actionSection(activity: Activity, action: string, events: readonly SiteEvent[], count: number): Section {
  const { token, nameToken } = activity;
  const of = `${token}.${action}`;
  const versions = action === 'updated' && activity.versions;
  const rows: ReportRow[] = events.map((event) => ({
    at: event.at,
    fields: {
      [nameToken]: event.name,
      ...(activity.versions ? { slug: event.slug } : {}),
      author: event.author,
      ...(versions ? { old_version: event.old_version, current_version: event.current_version } : {}),
      ...(token === 'user' ? { role: event.role } : {}),
      ...(activity.versions ? {} : { detail: event.detail }),
    },
  }));
  return {
    name: action,
    title: `${activity.title} ${action}`,
    count,
    countToken: `${of}.count`,
    tokens: {
      [nameToken]: `${token}.${nameToken}`,
      slug: `${token}.slug`,
      author: `${of}.author`,
      old_version: `${token}.old.version`,
      current_version: `${token}.current.version`,
      role: `${of}.role`,
      detail: `${of}.detail`,
      date: `${of}.date`,
      time: `${of}.time`,
      utime: `${of}.utime`,
    },
    rows,
  };
}

/** `pending` and `abandoned`: the current state, besides the events. */
async function presentSections(ctx: Ctx, question: ReportRequest, activity: Activity): Promise<Section[]> {
  const { site, actions } = question;
  const { token, title } = activity;
  const type = typeOf(question);
  return Promise.all([
    ...(actions.includes('abandoned') && type !== 'core'
      ? [abandonedSection(ctx, site, type, { name: 'abandoned', title: `${title} abandoned now` })]
      : []),
    ...(actions.includes('pending')
      ? [pendingSection(ctx, site, type, { name: 'pending', token, title: `${title} with an update now` })]
      : []),
  ]);
}

/** The type of updates of a segment that has versions. */
function typeOf({ segment }: ReportRequest): 'plugin' | 'theme' | 'core' {
  return segment === 'plugins' ? 'plugin' : segment === 'themes' ? 'theme' : 'core';
}
