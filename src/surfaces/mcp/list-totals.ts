/** Which lists of an answer are not whole, by the totals that it has beside them. */

import { contractOf } from '../../operation/contract.js';
import type { GroupedOperation } from '../../operation/operation.js';
import { listsOf } from './tool.js';
import type { JsonObject } from './tool-result.js';

export type Page = { page: number; per_page: number };

/** Members of `summary` that count a list. Its errors are not always those of the list. */
const IN_SUMMARY: Readonly<Record<string, string>> = { updated: 'total_updated', results: 'total_checked' };

/** How many items of a list there are in all; undefined if the answer does not say. */
export function totalOf(list: string, output: JsonObject): number | undefined {
  const { would_affect: affected, summary, total } = output;
  const { total: updates, sites } = (affected ?? {}) as JsonObject;
  const counted = (summary as JsonObject | undefined)?.[IN_SUMMARY[list] ?? ''];
  const found =
    output[`total_${list}`] ?? (list.startsWith('would_') ? (updates ?? sites ?? total) : undefined) ?? counted;
  return typeof found === 'number' ? found : undefined;
}

/** The page after this one; undefined if there is none, or if the answer does not have all of this one. */
export function pageAfter(operation: GroupedOperation, output: JsonObject, { page, per_page }: Page): Page | undefined {
  const total = totalOfPages(output);
  if (typeof total !== 'number' || page * per_page >= total) return undefined;
  return pagedList(operation, output, per_page) === undefined ? undefined : { page: page + 1, per_page };
}

/** Lists that are shorter than their totals, in words; '' = none. */
export function shortLists(operation: GroupedOperation, output: JsonObject): string {
  const cuts = listsOf(contractOf(operation).output_schema).flatMap((name) => {
    const [shown, total] = [lengthOf(output[name]), totalOf(name, output)];
    return shown === undefined || total === undefined || shown >= total ? [] : [`${shown} of ${total} ${name}`];
  });
  return cuts.length === 0 ? '' : `${cuts.join(', ')} are shown.`;
}

/** What of all pages this one shows, in words. */
export function shownOf(operation: GroupedOperation, output: JsonObject, { per_page }: Page): string {
  const list = pagedList(operation, output, per_page) ?? 'items';
  return `${per_page} of ${String(totalOfPages(output))} ${list} are shown.`;
}

/** Groups and items have totals of their own where `total` counts sites. */
function totalOfPages({ items_total, total_groups, total }: JsonObject): unknown {
  return items_total ?? total_groups ?? total;
}

/** The list that is a whole page; errors have no pages. */
function pagedList(operation: GroupedOperation, output: JsonObject, per_page: number): string | undefined {
  const names = listsOf(contractOf(operation).output_schema).filter((name) => name !== 'errors');
  return names.find((name) => lengthOf(output[name]) === per_page);
}

function lengthOf(list: unknown): number | undefined {
  return Array.isArray(list) ? list.length : undefined;
}
