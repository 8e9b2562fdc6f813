/** What the person who decides a request is shown of the change: its plan, or the sites it names. */

import { cut } from '../../../schemas/text.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Named } from './extent.js';

type ShownSite = Pick<SiteRow, 'id' | 'url' | 'name'>;

/** Characters that are kept of a plan: room for the 200 updates that a preview lists. */
const MOST_PLAN = 60_000;
const MOST_ITEMS = 200;
const SITES_SHOWN = 20;

/** JSON of at most `MOST_PLAN` characters. Of lists that are too long it has the first items, and how many more there are. */
export function shownPlan({ sites }: Named, plan: unknown): string {
  const shown = plan ?? namedPlan(sites);
  for (let most = MOST_ITEMS; most > 0; most = Math.floor(most / 2)) {
    const text = JSON.stringify(most === MOST_ITEMS ? shown : withShortLists(shown, most));
    if (text.length <= MOST_PLAN) return text;
  }
  const text = JSON.stringify(shown);
  return JSON.stringify({ characters: text.length, begins: cut(text, 1_000) });
}

function namedPlan(sites: Named['sites']) {
  if (sites === null) return {};
  return { sites: shownSites(sites.slice(0, SITES_SHOWN)), total_sites: sites.length };
}

/** All sites that a call names; null if these, or its plan, are more than is shown whole. */
export function shownNames({ sites }: Named, plan: unknown): ShownSite[] | null {
  if (JSON.stringify(plan ?? {}).length > MOST_PLAN) return null;
  if (sites === null) return [];
  return sites.length > SITES_SHOWN ? null : shownSites(sites);
}

function shownSites(sites: readonly ShownSite[]): ShownSite[] {
  return sites.map(({ id, url, name }) => ({ id, url, name }));
}

function withShortLists(value: unknown, most: number): unknown {
  if (Array.isArray(value)) {
    const items = value.slice(0, most).map((item) => withShortLists(item, most));
    return value.length > most ? [...items, `… and ${value.length - most} more`] : items;
  }
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withShortLists(member, most)]));
}
