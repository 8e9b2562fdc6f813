/** The change log of a site: changes made on the site itself and changes made through this service (REST §6.3.3). */

import { z } from '../../../../schemas/zod.js';
import { CHANGE_SOURCES, changeSentence, changesOfSite } from '../../../domain/sites/changes.js';
import { isoTime } from '../../../runtime/iso-time.js';
import type { ChangeRow } from '../../../store/sites/change-list.js';
import type { SiteRow } from '../../../store/sites/sites.js';
import { csv, flag, int, text } from '../params.js';
import { changeShape } from '../schemas/records.js';
import { siteRoute } from './references.js';

type Spellings = Readonly<Record<string, readonly string[]>>;

/** Other spellings in the log: the child uses the past tense, and its two logs use singular or plural context names. */
const ACTIONS: Spellings = {
  install: ['installed'],
  activate: ['activated', 'switched'],
  deactivate: ['deactivated'],
  delete: ['deleted'],
  updated: ['update'],
};
const CONTEXTS: Spellings = { core: ['wordpress'], media: ['attachment'] };

function spellings(words: readonly string[], others: Spellings): string[] {
  const more = (word: string) => (Object.hasOwn(others, word) ? (others[word] ?? []) : []);
  return words.flatMap((word) => [word, word.replace(/s$/, ''), ...more(word)]);
}

export const siteChanges = siteRoute({
  on: 'GET /sites/{id_or_domain}/non-mainwp-changes',
  module: 'logs',
  summary: 'List changes made on the site itself or through this service',
  params: () => ({
    source: z
      .enum(CHANGE_SOURCES)
      .default('wpadmin')
      .describe('wpadmin: made on the site. dashboard: done through this service. all: both.'),
    actions: csv(text(50), 50).optional().describe('install, activate, deactivate, delete, updated; allevents = all.'),
    contexts: csv(text(50), 50).optional().describe('plugins, themes, core, translation, posts, pages, users, …'),
    total_count: flag().default(false).describe('true: only the number of matches.'),
    order: z.enum(['asc', 'desc']).default('desc'),
    orderby: z.enum(['created']).default('created'),
    page: int(1).default(1),
    per_page: int(1, 200).default(50),
  }),
  returns: () =>
    z.object({
      total: z.number().int(),
      page: z.number().int().optional(),
      per_page: z.number().int().optional(),
      pages: z.number().int().optional(),
      data: z
        .union([z.array(changeShape()), z.object({ total: z.number().int() })])
        .describe('With total_count its number.'),
    }),
  async answer(ctx, found, { source, actions = [], contexts = [], total_count, order, page, per_page }) {
    const filter = {
      source,
      actions: actions.includes('allevents') ? [] : spellings(actions, ACTIONS),
      contexts: spellings(contexts, CONTEXTS),
      oldest_first: order === 'asc',
    };
    const { items, total } = await changesOfSite(ctx, found.id, filter, page, per_page);
    if (total_count) return { total, data: { total } };
    return { total, page, per_page, data: items.map((row) => changeView(found, row)) };
  },
});

/** The record of the user's interface, together with the plain fields of the operations (REST §4.4). */
function changeView(site: SiteRow, row: ChangeRow) {
  return {
    id: row.id,
    type: row.context,
    description: changeSentence(row),
    user: row.user_login,
    timestamp: isoTime(Math.round(row.created * 1000)),
    log_id: row.id,
    site_id: site.id,
    item: row.item,
    user_id: row.user_id,
    user_login: row.user_login,
    action: row.action,
    context: row.context,
    created: Math.floor(row.created),
    duration: row.duration,
    log_site_name: site.name,
    url: site.url,
    source: row.source,
    ...(row.source === 'dashboard'
      ? { via: row.via, operation: row.operation, result: row.code === '' ? 'done' : 'failed', error_code: row.code }
      : {}),
  };
}
