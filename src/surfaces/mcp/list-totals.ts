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
  return rowLists(operation).find((name) => lengthOf(output[name]) === per_page);
}

/**
 * The list of which an output has this page: the heaviest of those that are as long as the page has to be, or else of all.
 * Undefined if the page is empty.
 */
export function listOfPage(operation: GroupedOperation, output: JsonObject, page: Page): string | undefined {
  const total = totalOfPages(output);
  const rest = typeof total === 'number' ? total - (page.page - 1) * page.per_page : page.per_page;
  if (rest <= 0) return undefined;
  const names = rowLists(operation).filter((name) => (lengthOf(output[name]) ?? 0) > 0);
  const exact = names.filter((name) => lengthOf(output[name]) === Math.min(rest, page.per_page));
  const weight = (name: string) => JSON.stringify(output[name]).length;
  return (exact.length > 0 ? exact : names).sort((a, b) => weight(b) - weight(a))[0];
}

function rowLists(operation: GroupedOperation): string[] {
  return listsOf(contractOf(operation).output_schema).filter((name) => name !== 'errors');
}

function lengthOf(list: unknown): number | undefined {
  return Array.isArray(list) ? list.length : undefined;
}
