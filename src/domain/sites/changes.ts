/** The history of a site as sentences: changes made on the site itself, and through this service. */

import { isoTime } from '../../runtime/iso-time.js';
import type { ChangeFilter, ChangeRow, ChangeSource } from '../../store/sites/change-list.js';
import type { Ctx } from '../context.js';
import { requireModule } from '../settings/modules.js';
import { getSite, type SiteRef } from './resolve.js';

/** A caller's names for where a change was made. */
export const CHANGE_SOURCES = ['wpadmin', 'dashboard', 'all'] as const;

/** Throws `svc_module_not_available`. */
export function changesOfSite(
  ctx: Ctx,
  siteId: number,
  filter: Omit<ChangeFilter, 'sources'> & { source: (typeof CHANGE_SOURCES)[number] },
  page: number,
  perPage: number,
): Promise<{ items: ChangeRow[]; total: number }> {
  requireModule(ctx, 'logs');
  const sources: ChangeSource[] = filter.source === 'all' ? ['wpadmin', 'dashboard'] : [filter.source];
  return ctx.store.changes.list(siteId, { ...filter, sources }, page, perPage);
}

export async function siteChanges(
  ctx: Ctx,
  ref: SiteRef,
  source: (typeof CHANGE_SOURCES)[number],
  page: number,
  perPage: number,
) {
  const site = await getSite(ctx, ref);
  const filter = { source, actions: [], contexts: [], oldest_first: false };
  const { items, total } = await changesOfSite(ctx, site.id, filter, page, perPage);
  return {
    site_id: site.id,
    changes: items.map((row) => ({
      id: row.id,
      type: row.context,
      description: changeSentence(row),
      user: row.user_login,
      timestamp: isoTime(Math.round(row.created * 1000)) ?? '',
      source: row.source,
    })),
    total,
  };
}

/** Singular forms of contexts, where they differ from the context's name. */
const KINDS: Readonly<Record<string, string>> = {
  plugins: 'plugin',
  themes: 'theme',
  posts: 'post',
  pages: 'page',
  users: 'user',
  comments: 'comment',
  menus: 'menu',
  // The item itself says it.
  wordpress: '',
  core: '',
  monitor: '',
};

type DescribedChange = Pick<
  ChangeRow,
  'context' | 'action' | 'item' | 'detail' | 'summary' | 'old_value' | 'new_value' | 'code'
>;

/** `Activated plugin: Akismet`, `Promoted to administrator: jane (from Editor to Administrator)`, `Failed: updated plugin: …`. */
export function changeSentence(change: DescribedChange): string {
  const { item, code, old_value, new_value } = change;
  const versions = old_value !== '' && new_value !== '' ? `from ${old_value} to ${new_value}` : '';
  const why = code.replace(/^svc_/, '').replaceAll('_', ' ');
  const more = [change.detail || versions, why].filter((text) => text !== '').join(', ');
  const words = change.summary || actionWords(change);
  const did = code === '' ? words : `Failed: ${words.charAt(0).toLowerCase()}${words.slice(1)}`;
  return `${did}${item === '' ? '' : `: ${item}`}${more === '' ? '' : ` (${more})`}`;
}

function actionWords({ action, context }: Pick<DescribedChange, 'action' | 'context'>): string {
  const words = action.replace(/[-_]+/g, ' ').trim() || 'changed';
  const kind = (Object.hasOwn(KINDS, context) ? KINDS[context] : context)?.replace(/[-_]+/g, ' ').trim() ?? '';
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${kind === '' ? '' : ` ${kind}`}`;
}
