/** Events on a site, merged from our own history and the child's logs without duplicates. */

import { PROMOTED } from '../../outbound/child/port.js';
import type { Ctx } from '../context.js';
import { MAX_ROWS, type ReportRequest } from './types.js';

export interface SiteEvent {
  action: string;
  /** Milliseconds. */
  at: number;
  name: string;
  slug: string;
  author: string;
  old_version: string;
  current_version: string;
  /** The user's new role. */
  role: string;
  /** The outcome, beyond the action. */
  detail: string;
  /** A user became an administrator. */
  promoted: boolean;
}

/** The event sources of a segment, and the meaning of the child's words. */
export interface Source {
  /** Contexts of our own action log. */
  done: readonly string[];
  /** The child's contexts, lower case. */
  contexts: readonly string[];
  /** The child's action words → actions of the segment. Other words do not belong to the segment. */
  words: Readonly<Record<string, string>>;
}

export interface Events {
  events: SiteEvent[];
  /** By action, over the whole range. */
  counts: Map<string, number>;
  truncated: boolean;
}

/** The actor of what the service did. */
const OURSELVES = 'Sitefleet';
/** The two logs of a child and ours record the same event within this time. */
const SAME_MS = 60_000;

/** Newest first, at most `MAX_ROWS`. `withChild` false leaves out the child's logs (their module is off). */
export async function eventsOf(ctx: Ctx, question: ReportRequest, source: Source, withChild: boolean): Promise<Events> {
  const { site, from, to, actions } = question;
  const wanted = new Set(actions);
  const limit = MAX_ROWS + 1;
  const [ours, ourCounts, theirs] = await Promise.all([
    source.done.length === 0 ? [] : ctx.store.actionLog.done(site.id, source.done, from, to, limit),
    source.done.length === 0 ? [] : ctx.store.actionLog.doneCounts(site.id, source.done, from, to),
    withChild
      ? ctx.store.reportData.changes(site.id, source.contexts, from / 1000, to / 1000, limit)
      : { items: [], counts: [] },
  ]);
  const meaning = (action: string) => source.words[action.toLowerCase().replaceAll('_', '-')] ?? '';
  const logged = theirs.items.map((row) => ({ row, action: meaning(row.action) }));
  const ranked: Ranked[] = [
    ...ours.map(({ action, at, name, slug, detail, old_version, new_version }) => ({
      rank: 0,
      event: {
        action: meaning(action),
        at,
        name,
        slug,
        author: OURSELVES,
        old_version,
        current_version: new_version,
        role: '',
        detail,
        promoted: false,
      },
    })),
    ...logged.map(({ row, action }) => ({
      rank: row.source === 'actions' ? 1 : 2,
      event: {
        action,
        at: Math.round(row.created * 1000),
        name: row.item,
        slug: row.slug,
        author: row.user_login,
        old_version: row.old_value,
        current_version: row.new_value,
        role: row.new_value,
        detail: [row.summary, row.detail].filter((text) => text !== '').join(', '),
        promoted: row.summary === PROMOTED,
      },
    })),
  ].filter(({ event }) => wanted.has(event.action));
  const events = withoutDoubles(ranked).sort((a, b) => b.at - a.at);
  const cut = ours.length >= limit || theirs.items.length >= limit;
  const counts = cut
    ? sum(
        [...ourCounts, ...theirs.counts].map(({ action, n }) => ({ action: meaning(action), n })),
        wanted,
      )
    : sum(
        events.map(({ action }) => ({ action, n: 1 })),
        wanted,
      );
  return { events: events.slice(0, MAX_ROWS), counts, truncated: cut || events.length > MAX_ROWS };
}

interface Ranked {
  /** 0 for our own log, 1 and 2 for the child's two logs: the lower one has more detail. */
  rank: number;
  event: SiteEvent;
}

function withoutDoubles(ranked: readonly Ranked[]): SiteEvent[] {
  const kept = new Map<string, Ranked[]>();
  for (const one of [...ranked].sort((a, b) => a.rank - b.rank)) {
    const key = `${one.event.action} ${one.event.name.toLowerCase()}`;
    const same = kept.get(key) ?? [];
    if (same.length === 0) kept.set(key, same);
    const known =
      one.event.name !== '' &&
      same.some((other) => other.rank !== one.rank && Math.abs(other.event.at - one.event.at) <= SAME_MS);
    if (!known) same.push(one);
  }
  return [...kept.values()].flat().map(({ event }) => event);
}

function sum(counts: readonly { action: string; n: number }[], wanted: ReadonlySet<string>): Map<string, number> {
  const total = new Map<string, number>();
  for (const { action, n } of counts) if (wanted.has(action)) total.set(action, (total.get(action) ?? 0) + n);
  return total;
}
