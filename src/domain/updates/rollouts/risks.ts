/** What is known to be risky about planned updates, and what protects them, counted by update. Pure. */

import { fold } from '../../../../schemas/fold.js';
import { RISKS } from '../../../../schemas/rollout.js';
import type { PlanItem } from '../../../store/rollouts/plans.js';
import { slugForms } from '../../extensions/names.js';
import { isGuardable, UPDATE_TYPES } from '../results.js';

export type Risk = (typeof RISKS)[number];

/** An update, as it is planned or on offer. */
type Version = Pick<PlanItem, 'type' | 'slug' | 'new_version'>;

/** What of the fleet makes an update risky. */
export interface RiskFacts {
  down: ReadonlySet<number>;
  /** Keys of versions that are quarantined on some site. */
  elsewhere: ReadonlySet<string>;
  /** Keys of versions that were quarantined, and released by a person. */
  before: ReadonlySet<string>;
}

/** The keys of versions that are quarantined, or were. */
export function keysOf(rows: readonly { type: number; slug: string; version: string }[]): Set<string> {
  return new Set(rows.map(({ type, slug, version }) => versionKey({ type, slug, new_version: version })));
}

/** One string for each version of each item. */
export function versionKey({ type, slug, new_version }: Version): string {
  return JSON.stringify([type, slug, new_version]);
}

/** What protects an update of a site. */
export function protectionOf(type: number, site_id: number, guarded: ReadonlySet<unknown>): PlanItem['protection'] {
  if (!isGuardable(type)) return 'none';
  return guarded.has(site_id) ? 'guard' : 'reinstall';
}

/** The updates with their risks. */
export function withRisks<T extends PlanItem>(
  items: readonly T[],
  { down, elsewhere, before }: RiskFacts,
): (T & { risks: Risk[] })[] {
  const first = new Set(items.filter(({ wave }) => wave === 1).map(versionKey));
  return items.map((item) => {
    const holding: Partial<Record<Risk, boolean>> = {
      major: item.level === 2,
      site_down: down.has(item.site_id),
      no_guard: item.protection === 'reinstall',
      no_roll_back: item.protection === 'none',
      quarantined_elsewhere: elsewhere.has(versionKey(item)),
      quarantined_before: before.has(versionKey(item)),
      not_in_first_wave: !first.has(versionKey(item)),
    };
    return { ...item, risks: RISKS.filter((risk) => holding[risk] === true) };
  });
}

/** How many updates have a risk, on how many sites. */
export function riskCounts(items: readonly { site_id: number; risks: readonly Risk[] }[]) {
  return RISKS.map((risk) => ({ risk, own: items.filter((item) => item.risks.includes(risk)) }))
    .filter(({ own }) => own.length > 0)
    .map(({ risk, own }) => ({
      risk,
      updates: own.length,
      sites: new Set(own.map(({ site_id }) => site_id)).size,
    }));
}

/** How many updates are protected how: they add up to all. */
export function protectionCounts(items: readonly Pick<PlanItem, 'protection'>[]) {
  const counts = { guard: 0, reinstall: 0, none: 0 };
  for (const { protection } of items) counts[protection] += 1;
  return counts;
}

interface Said {
  site_id: number | null;
  client_id: number | null;
  text: string;
}

/**
 * The updates that guidance is about: those of the items that it names, or else all of its site or client. What is said of
 * all sites, and names none of the items, makes no single update risky.
 */
export function concernedBy<T extends { site_id: number; type: number; slug: string; name: string }>(
  items: readonly T[],
  said: readonly Said[],
  clientOf: ReadonlyMap<number, number | null>,
): Set<T> {
  const found = new Set<T>();
  for (const { site_id, client_id, text } of said) {
    const general = site_id === null && client_id === null;
    const own = items.filter((item) =>
      general ? true : site_id === null ? clientOf.get(item.site_id) === client_id : item.site_id === site_id,
    );
    const named = own.filter((item) => isNamedIn(text, item));
    for (const item of named.length > 0 ? named : general ? [] : own) found.add(item);
  }
  return found;
}

function isNamedIn(text: string, { type, slug, name }: { type: number; slug: string; name: string }): boolean {
  const said = wordsOf(text);
  const names = UPDATE_TYPES[type] === 'core' ? ['wordpress'] : [...slugForms(slug), name];
  return names.some((each) => {
    const words = wordsOf(each);
    return words.trim().length >= SHORTEST && said.includes(words);
  });
}

/** Letters of a name that is looked for. */
const SHORTEST = 3;

/** The words of a text between blanks: a name is found as whole words. */
function wordsOf(text: string): string {
  return ` ${fold(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .join(' ')} `;
}
