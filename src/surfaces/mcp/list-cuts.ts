/**
 * Which lists of an answer are cut so that it fits, and how far: the longest to the same length, so that short ones stay
 * whole. What tells of failures, of what is not known or of what needs a person has half of the room to itself.
 */

import { contractOf } from '../../operation/contract.js';
import type { GroupedOperation } from '../../operation/operation.js';
import { totalOf } from './list-totals.js';
import { estimateTokens, tokenWeight } from './token-estimate.js';
import { listsOf } from './tool.js';
import type { JsonObject } from './tool-result.js';

/** Without them an answer says something else: they are cut last. */
const TELLING: ReadonlySet<string> = new Set([
  ...['errors', 'not_known', 'not_checked', 'needs_attention'],
  ...['suspects', 'warnings', 'notices', 'problems', 'guidance'],
]);

/** A list of so few tokens is whole beside a page whose size the caller named: the page may take all of the room. */
const SHORT_LIST = 300;

export interface CutLists {
  output: JsonObject;
  /** Each cut list in words, such as `3 of 40 waves`. */
  cuts: string[];
}

/**
 * Cuts lists until the output has no more than this many tokens, or one row of each is left.
 * @param kept a list that stays whole, and with it those that weigh no more
 */
export function cutLists(operation: GroupedOperation, output: JsonObject, room: number, kept?: string): CutLists {
  const names = listsOf(contractOf(operation).output_schema).filter(
    (name) => name !== kept && lengthOf(output[name]) > 0,
  );
  if (names.length === 0) return { output, cuts: [] };
  const over = estimateTokens(output) - room;
  if (over <= 0) return { output, cuts: [] };
  const lists = names.map((name) => ({
    name,
    items: output[name] as unknown[],
    weight: estimateTokens(output[name]),
  }));
  const telling = lists.filter(({ name }) => TELLING.has(name));
  const others = lists.filter(({ name }) => !TELLING.has(name));
  const forLists = total(lists) - over;
  const forTelling = Math.min(total(telling), Math.max(forLists / 2, forLists - total(others)));
  const least = kept === undefined ? 0 : Math.max(SHORT_LIST, estimateTokens(output[kept]));
  const shorter = { ...output };
  for (const [some, most] of [
    [telling, forTelling],
    [others, forLists - forTelling],
  ] as const) {
    const level = Math.max(levelOf(some, most), least);
    for (const { name, items, weight } of some) if (weight > level) shorter[name] = firstOf(items, level);
  }
  const cuts = lists
    .filter(({ name, items }) => lengthOf(shorter[name]) < items.length)
    .map(({ name, items }) => `${lengthOf(shorter[name])} of ${totalOf(name, output) ?? items.length} ${name}`);
  return { output: shorter, cuts };
}

interface Weighed {
  weight: number;
}

function total(lists: readonly Weighed[]): number {
  return lists.reduce((sum, { weight }) => sum + weight, 0);
}

/** The weight to which the heavier of these lists are cut, so that all of them fit. */
function levelOf(lists: readonly Weighed[], room: number): number {
  let left = room;
  const byWeight = [...lists].sort((a, b) => a.weight - b.weight);
  for (const [at, { weight }] of byWeight.entries()) {
    const share = left / (byWeight.length - at);
    if (weight > share) return share;
    left -= weight;
  }
  return Number.POSITIVE_INFINITY;
}

/** The first items that weigh no more than this, and at least one. Lists may have thousands: each is serialized once. */
function firstOf(items: readonly unknown[], most: number): unknown[] {
  let weight = 0;
  for (const [at, item] of items.entries()) {
    weight += tokenWeight(`${JSON.stringify(item)},`);
    if (weight > most) return items.slice(0, Math.max(1, at));
  }
  return [...items];
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}
