/** What every task is, and what its checks read: columns of rows, and the state of the simulated sites. */

import { expect } from 'vitest';
import type { AssistantFleet, LiveSite } from './fleets.js';
import type { Session } from './session.js';

export interface Task {
  /** The user's request. */
  ask: string;
  /** Limits the calls: three for a read, four for a change. */
  kind: 'read' | 'change';
  /** Toolsets that the connection requests; default: those shown by default. */
  toolsets?: string;
  run(session: Session, fleet: AssistantFleet): Promise<void>;
}

export const ids = (sites: readonly LiveSite[]) => sites.map(({ id }) => id).sort((a, b) => a - b);
export const pluginOf = ({ site }: LiveSite, slug: string) => site.state.plugins.find((item) => item.slug === slug);
export const asked = ({ site }: LiveSite, from: number, name: string) =>
  site.calls.slice(from).filter((call) => call.function === name).length;

/** A column of the rows of one page. */
export function column(answer: { columns: string[]; rows: unknown[][] }, name: string): unknown[] {
  const at = answer.columns.indexOf(name);
  return answer.rows.map((row) => row[at]);
}

/** Checks the live sites among the rows: a page shows only part of a large fleet's sites. */
export function expectSites(
  answer: { columns: string[]; rows: unknown[][]; sites: number; total: number },
  fleet: AssistantFleet,
  live: readonly LiveSite[],
  stored: number,
): void {
  expect(answer.sites).toBe(live.length + stored);
  const shown = column(answer, 'id') as number[];
  expect(shown.length).toBe(Math.min(answer.total, 50));
  const known = new Set(fleet.live.map(({ id }) => id));
  const wanted = new Set(ids(live));
  expect(shown.filter((id) => known.has(id) && !wanted.has(id))).toEqual([]);
  if (stored === 0) expect([...new Set(shown)].sort((a, b) => a - b)).toEqual(ids(live));
}

/** The id of the only item with this name. */
export async function idOf(session: Session, tool: 'list-clients' | 'list-tags', name: string): Promise<number> {
  const { items } = await session.call(tool, { search: name });
  const found = items.filter((item: { name: string }) => item.name.startsWith(name));
  expect(found).toHaveLength(1);
  return found[0].id ?? found[0].client_id;
}
