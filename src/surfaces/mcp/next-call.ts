/** Suggests the next call with ready-to-use arguments: after a preview, within a list, or for a queued job. */

import { toolName } from '../../operation/contract.js';
import type { GroupedOperation } from '../../operation/operation.js';
import { type Page, pageAfter, shortLists, shownOf } from './list-totals.js';
import { RUN_OPERATION } from './messages.js';
import type { JsonObject } from './tool-result.js';

/** Characters of JSON; longer arguments, such as hundreds of sites, are not repeated. */
const LONGEST = 400;

/** Sites named in a suggestion: more would be its greatest part. */
const MOST_SITES = 50;

const UNDO = 'svc/undo-change-v1';
const JOB_STATUS = 'svc/get-batch-job-status-v1';

interface Answered {
  operation: GroupedOperation;
  args: JsonObject;
  output: JsonObject;
  /** The output before it was cut to fit. */
  whole: JsonObject;
  /** The page that the output is; undefined = the operation has no pages. */
  page?: Page | undefined;
  /** Whether the caller is offered an operation. */
  offers(id: string): boolean;
  /** Whether an operation is listed as a tool; others are called through `run-operation`. */
  listed(id: string): boolean;
}

/** The suggestion as text; undefined when there is no next call. */
export function nextCall(answered: Answered): string | undefined {
  const { operation, args, output } = answered;
  if (output.dry_run === true) {
    // What turns the pages of a preview is no part of the call.
    const { dry_run: _, page: _page, ...given } = args;
    if (doesNothing(output)) return undefined;
    return call(
      answered,
      `Next, once the user has agreed${provisoOf(operation.id, output)}`,
      operation.id,
      agreed(given, answered),
    );
  }
  if (typeof output.job_id === 'string' && operation.id !== JOB_STATUS)
    return answered.offers(JOB_STATUS) ? call(answered, 'Next', JOB_STATUS, { job_id: output.job_id }) : undefined;
  const page = nextPage(answered);
  return page === undefined ? undefined : call(answered, 'Next page', operation.id, { ...args, ...page });
}

/** What a preview leaves open: what failed and so is no part of the call, and that a person has to approve it. */
function provisoOf(id: string, { errors, total_errors, needs_approval }: JsonObject): string {
  const failed = typeof total_errors === 'number' ? total_errors : Array.isArray(errors) ? errors.length : 0;
  // What cannot be undone stays so.
  const mend = id === UNDO ? '' : ' (else mend that first, and preview again)';
  const left = failed === 0 ? '' : ` that what is in errors (${failed}) is left out${mend}`;
  return typeof needs_approval === 'string' ? `${left}; it then waits for a person's approval` : left;
}

/** Whether a preview found nothing to do. */
function doesNothing({ planned, would_affect, total_undo, total_changed }: JsonObject): boolean {
  if (Array.isArray(planned)) return planned.length === 0;
  const { total, sites } = (would_affect ?? {}) as JsonObject;
  return (total ?? sites ?? total_undo ?? total_changed) === 0;
}

/**
 * What `truncated` says: which lists are not whole, how many there are, and the next call. A page of the size that the
 * caller named is whole. Undefined = nothing is missing.
 */
export function cutOf(answered: Answered, next: string | undefined, sizeChosen: boolean): string | undefined {
  const { operation, output, page } = answered;
  const said = typeof output.truncated === 'string' ? output.truncated : '';
  const after = page === undefined || sizeChosen ? undefined : pageAfter(operation, output, page);
  if (after !== undefined && page !== undefined)
    return [said, shownOf(operation, output, page), next ?? ''].filter((part) => part !== '').join(' ');
  const short = said === '' ? shortLists(operation, output) : said;
  if (short === '') return undefined;
  return [short, readOn(answered) ?? ''].filter((part) => part !== '').join(' ');
}

/** The call that has what is left out of lists without pages; undefined if there is none. */
function readOn(answered: Answered): string | undefined {
  const { operation, args, output } = answered;
  if (operation.id === UNDO && output.dry_run === true)
    return call(answered, 'Next page', UNDO, { ...args, page: (typeof args.page === 'number' ? args.page : 1) + 1 });
  const rest = restOfSites(answered);
  if (rest.length > 0) {
    const sites = rest.slice(0, MOST_SITES);
    const when = sites.length === rest.length ? 'Next sites' : `Next ${sites.length} of these ${rest.length} sites`;
    return call(answered, when, operation.id, { ...args, site_ids_or_domains: sites });
  }
  const found =
    output.dry_run === true ? offersOf(operation, args) : (insteadOf(operation.id) ?? ofRun(operation, output));
  return found !== undefined && answered.offers(found[0]) ? call(answered, 'Read all', ...found) : undefined;
}

/** Ids of sites that an answer by site has no room for; none for any other answer. */
function restOfSites({ operation, output, whole, page }: Answered): number[] {
  const isBySite =
    operation.effect === 'read' && page === undefined && 'site_ids_or_domains' in operation.input().shape;
  return isBySite ? idsIn(whole).slice(idsIn(output).length) : [];
}

function idsIn({ sites }: JsonObject): number[] {
  const listed = Array.isArray(sites) ? (sites as { site_id?: unknown }[]) : [];
  return listed.flatMap(({ site_id: id }) => (typeof id === 'number' ? [id] : []));
}

type Called = readonly [id: string, input: JsonObject];

const INSTEAD: Readonly<Record<string, Called>> = {
  'svc/get-sites-basic-v1': ['svc/list-sites-v1', { per_page: 100 }],
  'svc/get-client-costs-v1': ['svc/list-costs-v1', {}],
};

/** The operation with pages that has what one without has. */
export function insteadOf(id: string): Called | undefined {
  return INSTEAD[id];
}

/** The list of what a preview of updates is about; several exact items are no filter of it. */
function offersOf({ group }: GroupedOperation, args: JsonObject): Called | undefined {
  const { dry_run: _, specific_items: items, run_id, ...filters } = args;
  if (run_id !== undefined) return ['svc/get-run-v1', { run_id }];
  const [slug, ...others] = Array.isArray(items) ? items : [];
  const one = slug !== undefined && others.length === 0 && filters.slug === undefined;
  return group === 'updates' ? ['svc/list-updates-v1', { ...filters, ...(one ? { slug } : {}) }] : undefined;
}

function ofRun({ effect }: GroupedOperation, { run_id }: JsonObject): Called | undefined {
  return effect !== 'read' && typeof run_id === 'string' ? ['svc/get-run-v1', { run_id }] : undefined;
}

function agreed(given: JsonObject, { operation, output }: Answered): JsonObject {
  const { confirmation_token, digest } = output;
  return {
    ...given,
    ...(operation.id === UNDO && typeof digest === 'string' ? { digest } : {}),
    ...(operation.effect === 'destroy' ? { confirm: true } : {}),
    ...(typeof confirmation_token === 'string' ? { confirmation_token } : {}),
  };
}

/** Parameters of the next page; undefined on the last one. */
function nextPage({ operation, args, output, page }: Answered): JsonObject | undefined {
  if (args.cursor === undefined) return page && pageAfter(operation, output, page);
  return typeof output.next_cursor === 'string' ? { cursor: output.next_cursor } : undefined;
}

function call({ listed }: Answered, when: string, id: string, input: JsonObject): string | undefined {
  const name = toolName(id);
  const [tool, args] = listed(id) ? [name, input] : [RUN_OPERATION, { operation: name, input }];
  const text = JSON.stringify(args);
  return text.length > LONGEST ? undefined : `${when}: ${tool} ${text}`;
}
