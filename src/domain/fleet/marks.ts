/** Setting aside what needs attention: everyone sees by whom and why, and what happens again is listed again. */

import { isoTime } from '../../runtime/iso-time.js';
import type { Mark } from '../../store/fleet/marks.js';
import type { Ctx } from '../context.js';
import { acknowledgeIncident, callerName } from '../monitoring/incidents.js';

export const MARK_STATES = ['acknowledged', 'snoozed', 'done'] as const satisfies readonly Mark['state'][];

const HOUR_MS = 3_600_000;
/** How long what was done is listed, so that it can be brought back. */
const LISTED_MS = 7 * 24 * HOUR_MS;

export interface Asked {
  state: Mark['state'] | 'open';
  hours: number;
  note: string;
}

export const markView = ({ subject, site_id, title, state, at, until, by_name, note }: Mark) => ({
  subject,
  site_id,
  title,
  state,
  at: isoTime(at),
  until: isoTime(until),
  by: by_name,
  note,
});

/**
 * Sets a matter aside, or with `open` takes that back. Undefined: there is nothing of that name. The mark of an incident
 * that is acknowledged is the incident's own.
 */
export async function markMatter(ctx: Ctx, subject: string, { state, hours, note }: Asked) {
  const { marks } = ctx.store;
  const named = await marks.named(subject);
  if (named === undefined) return undefined;
  const now = ctx.clock.now();
  const until = state === 'snoozed' ? now + hours * HOUR_MS : null;
  const mark = { subject, ...named, state, at: now, until, by_name: callerName(ctx), note };
  const incident = /^incident:(\d+)$/.exec(subject)?.[1];
  if (state === 'open' || (state === 'acknowledged' && incident !== undefined)) {
    const removed = await marks.remove(subject);
    if (incident !== undefined && (state === 'acknowledged' || !removed))
      await acknowledgeIncident(ctx, Number(incident), { acknowledged: state === 'acknowledged', note });
  } else await marks.set({ ...mark, state });
  if (incident === undefined || state !== 'acknowledged')
    ctx.events.emit({
      name: 'matter.marked',
      ...(named.site_id === null ? {} : { site_id: named.site_id }),
      facts: { matter_id: subject, title: named.title, state },
    });
  return markView({ ...mark, state: state as Mark['state'] });
}

/** What was set aside in the last week, and what is snoozed, newest first. */
export async function listAside(ctx: Ctx, page: number, perPage: number) {
  const now = ctx.clock.now();
  const { items, total } = await ctx.store.marks.aside(now - LISTED_MS, now, page, perPage);
  return { items: items.map(markView), total };
}
