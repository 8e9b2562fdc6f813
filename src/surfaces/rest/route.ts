/**
 * Defines a REST route as a single value. Generics end here: the app sees plain `Route`s, and a row contains only what
 * is specific to it.
 *
 * A row of a table reads:
 *
 *     siteRoute({                                              // references.ts: a route about one site, which it loads
 *       on: 'PUT|PATCH /posts/{id_or_domain}/{post_id}/edit',  // spelled as in the routes document
 *       live: true,                                            // contacts child sites (a write row always runs in the engine)
 *       module: 'comments',                                    // refused with svc_module_not_available while it is off
 *       body: 'required',                                      // an empty call is `empty_body` 400
 *       summary: 'Change a post',
 *       params: () => ({ post_id: int(1), post_title: text(255).optional() }),
 *       answer: async (ctx, site, { post_id, ...change }) => ({
 *         message: 'The post was changed.',
 *         data: await editPost(ctx, site, post_id, change),
 *       }),
 *     })
 *
 * All others are a `route`, with `params: () => z.object({ … })` and `answer: async (params, ctx) => …`, or for the page
 * of a verb a `listRoute` with `list` in place of `answer`.
 *
 * The app does the following around `answer`, so rows do not: login, right, module, method (405 with `Allow`), merging
 * of path over body over query, validation (`rest_missing_callback_param`, `rest_invalid_param` naming every field;
 * unknown ones are refused), `{success: 1, …}` in front of the members of the answer, count headers from `total`,
 * `page` and `per_page`, ETag, idempotency keys, rate limit, thread, and errors. A row fails by throwing a
 * ServiceError; `invalidParam` of errors.ts is for rules that span several parameters.
 */

import { type ChangeKind, type ChangeOf, needsApproval } from '../../../schemas/approval.js';
import { z } from '../../../schemas/zod.js';
import type { CoveredSites, Ctx } from '../../domain/context.js';
import { compileInputParser } from '../../operation/validation/input-parser.js';
import type { Right } from '../../runtime/actor.js';
import type { ModuleName } from '../../runtime/config/types.js';
import { once } from '../../runtime/once.js';
import type { Naming } from './names.js';
import { aliasesOf } from './names.js';
import type { InnerCodes } from './parameter-errors.js';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The answer of a row, without `success`: `message` on writes; `data`; on lists `total` (matches before paging) and,
 * when paged, `page` and `per_page`; `site` on per-site routes; `errors` of items that failed. A row that runs in the
 * engine returns plain data, because it is passed between threads and becomes JSON as it is.
 */
export type RouteAnswer = Record<string, unknown>;

/** An answer `{ file }` is sent as this file instead of JSON. `name` contains only letters, digits, dots and dashes. */
export interface AnswerFile {
  type: 'text/html' | 'text/csv' | 'application/x-ndjson';
  name: string;
  text: string;
}

type AnyObject = z.AnyZodObject;

export interface RouteFacts<P extends AnyObject> {
  /**
   * Methods and path of the routes document: `PUT|PATCH /sites/{id_or_domain}/edit`, below `/v2`. All methods mean the
   * same; a GET needs the right to read, all others that to write, and these run in the engine thread. One parameter in
   * braces is one percent-encoded segment.
   */
  on: `${string} /${string}`;
  /**
   * What kind of change it makes, by which the rules of approvals decide; required unless it is a GET. `approvals`: it
   * checks the right to approve itself.
   */
  change?: ChangeOf;
  /** What would be done, for the person who is to approve it; default: a dry run, if it has the parameter `dry_run`. */
  plan?(params: z.output<P>, ctx: Ctx): Promise<unknown>;
  /** Of a change of `planned` sites, or of a number: which of those there are. Contacts no site. */
  covers?(params: z.output<P>, ctx: Ctx, kind: ChangeKind): Promise<CoveredSites>;
  /** What is logged of the parameters and shown for approval, where `params` lets pass what only `answer` refuses. */
  recorded?(params: z.output<P>): unknown;
  /** For what only those may have or decide who may also write: a GET of secrets, or what will act. It needs both rights. */
  needs?: 'write';
  /** Contacts child sites during the call. Such a read also runs in the engine thread, and its answer is not cached. */
  live?: boolean;
  module?: ModuleName;
  /** One line, for the interface description. */
  summary: string;
  /** Facts a caller needs beyond the summary: costs, effects, limits. */
  description?: string;
  /**
   * Path, query and body parameters in one object; every name in braces is a key of it. Use the lenient scalars of
   * params.ts: values from a query are text. Give each field a `.describe(…)` unless its name is self-explanatory.
   *
   * Called on first use, like the other schemas: creating those of all rows would slow down startup and cost memory in
   * each thread.
   */
  params: () => P;
  /** The same parameters for the interface description, if `params` leaves their validation to `answer`. */
  described?: () => AnyObject;
  /** Error statuses in addition to those that follow from its right, path, module and `live`. */
  fails?: readonly number[];
  /** Codes of invalid parameters in `data.details`, where the routes document has specific ones (REST §6.10). */
  inner?: InnerCodes;
  /** `required`: a call without any parameter besides the path is refused as `empty_body`. */
  body?: 'required';
  /** Patterns of path parameters; a path with other values does not match this route (404). */
  where?: Readonly<Record<string, RegExp>>;
  /** A successful answer without `success`, for the interface description. */
  returns: () => z.ZodTypeAny;
  /** An example of an answer without `success`, for the interface description. */
  example?: RouteAnswer;
  /** `either`: a user's Basic login is accepted like a key. */
  login?: 'key' | 'either';
  /** Headers of a successful answer. With `Cache-Control` among them, the answer gets no ETag. */
  headers?: (answer: RouteAnswer) => Record<string, string>;
  /** Type of the file that is streamed in place of an answer, which says what is to be in it. */
  streams?: 'application/x-tar';
  /**
   * The revision of the answer, read without building the answer: it changes with everything the answer shows. `answer`
   * returns the same as `revision`, read in the snapshot of the answer; it is sent only in the ETag.
   */
  revision?: (ctx: Ctx) => Promise<string>;
  /** The answer may have many megabytes: see `http/unread-answers.ts`. */
  large?: boolean;
  /** Changes who may log in: cached logins are dropped afterwards. */
  changesLogins?: boolean;
  /** `fields`: the requested members of each item, undefined for all; expensive others may be skipped. */
  answer(params: z.output<P>, ctx: Ctx, fields?: readonly string[]): Promise<RouteAnswer>;
}

export interface Route {
  /** Stable name, also between threads: `PUT|PATCH /sites/{id_or_domain}/edit`. */
  readonly key: string;
  readonly on: readonly HttpMethod[];
  readonly path: string;
  /** Names in braces, in order. */
  readonly pathParams: readonly string[];
  readonly needs: Right;
  /** All rights it needs. */
  readonly rights: readonly Right[];
  /** Null: it changes nothing. */
  readonly change: ChangeOf | null;
  /** What would be done; undefined if that is not known beforehand. @param preview the dry run, if there was one */
  plan(params: unknown, ctx: Ctx, preview?: RouteAnswer): Promise<unknown>;
  /** As in `RouteFacts`. */
  readonly covers: ((params: unknown, ctx: Ctx, kind: ChangeKind) => Promise<CoveredSites>) | undefined;
  /** The parameters as they are logged. */
  recorded(params: unknown): unknown;
  readonly live: boolean;
  /** Must run where the writer connection and the child sites are. */
  readonly engine: boolean;
  readonly module: ModuleName | undefined;
  readonly summary: string;
  readonly description: string;
  params(): AnyObject;
  described(): AnyObject;
  readonly fails: readonly number[];
  /** Parses the parameters as `params` does; undefined when they do not match. */
  readonly quick: (given: unknown) => Record<string, unknown> | undefined;
  naming(): Naming & { names: readonly string[] };
  readonly bodyRequired: boolean;
  readonly where: Readonly<Record<string, RegExp>>;
  returns(): z.ZodTypeAny;
  readonly example: RouteAnswer | undefined;
  readonly login: 'key' | 'either';
  readonly headers: ((answer: RouteAnswer) => Record<string, string>) | undefined;
  readonly streams: RouteFacts<AnyObject>['streams'];
  readonly revision: ((ctx: Ctx) => Promise<string>) | undefined;
  readonly large: boolean;
  readonly changesLogins: boolean;
  /** @param params as parsed by the schema `params` */
  answer(params: unknown, ctx: Ctx, fields?: readonly string[]): Promise<RouteAnswer>;
}

/** Creates a route. Its schema throws when the table is wrong: a name in braces without a parameter of that name. */
export function route<P extends AnyObject>(facts: RouteFacts<P>): Route {
  const { on: key } = facts;
  const [methods = '', path = ''] = key.split(' ');
  const on = methods.split('|') as HttpMethod[];
  const { change = null, covers } = facts;
  if ((change === null) !== (methods === 'GET'))
    throw new Error(`${key} needs the kind of its change, or has one as a GET.`);
  const needs = methods === 'GET' ? (facts.needs ?? 'read') : change === 'approvals' ? 'approve' : 'write';
  const pathParams = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const params = once(() => {
    const own = facts.params();
    for (const name of [...pathParams, ...Object.keys(facts.where ?? {})]) {
      if (!(name in own.shape)) throw new Error(`${key} has no parameter ${name}.`);
    }
    // Unknown parameters are refused by name: ignoring a misspelled filter would widen a call to the whole fleet.
    return own.strict();
  });
  const fastParse = once(() => compileInputParser(params()));
  return {
    key,
    on,
    path,
    pathParams,
    needs,
    // What shows something is never for those who may only write.
    rights: [...new Set<Right>([methods === 'GET' ? 'read' : needs, facts.needs ?? needs])],
    change,
    async plan(given, ctx, preview) {
      if (facts.plan !== undefined) return facts.plan(given as z.output<P>, ctx);
      if (!('dry_run' in params().shape)) return undefined;
      if (preview !== undefined) return preview;
      const asked = given as z.output<P>;
      // What has both is asked for with the one and would be refused with the other.
      return facts.answer({ ...asked, ...('confirm' in asked && { confirm: false }), dry_run: true }, ctx);
    },
    covers: covers === undefined ? undefined : (given, ctx, kind) => covers(given as z.output<P>, ctx, kind),
    recorded: (given) => facts.recorded?.(given as z.output<P>) ?? given,
    live: facts.live ?? false,
    engine: needs !== 'read' || facts.live === true,
    module: facts.module,
    summary: facts.summary,
    description: facts.description ?? '',
    params,
    described: facts.described === undefined ? params : once(facts.described),
    fails: facts.fails ?? [],
    quick: (given) => fastParse()(given),
    naming: once(() => {
      const names = Object.keys(params().shape as object);
      const nullIsAbsent = on.length === 1 && on[0] === 'POST';
      return { names, aliases: aliasesOf(path, names), inner: facts.inner ?? {}, nullIsAbsent };
    }),
    bodyRequired: facts.body === 'required',
    where: facts.where ?? {},
    returns: once(() => ('dry_run' in params().shape ? withApprovalAhead(facts.returns()) : facts.returns())),
    example: facts.example,
    login: facts.login ?? 'key',
    headers: facts.headers,
    streams: facts.streams,
    revision: facts.revision,
    large: facts.large ?? false,
    changesLogins: facts.changesLogins ?? false,
    answer: (params, ctx, fields) => facts.answer(params as z.output<P>, ctx, fields),
  };
}

/** An answer that may be a preview, which says why the call would wait for a person. */
function withApprovalAhead(answer: z.ZodTypeAny): z.ZodTypeAny {
  if (answer instanceof z.ZodObject) return answer.extend({ needs_approval: needsApproval() });
  if (answer instanceof z.ZodUnion)
    return z.union((answer.options as z.ZodTypeAny[]).map(withApprovalAhead) as never as [z.ZodTypeAny, z.ZodTypeAny]);
  throw new Error('An answer with dry_run is an object or one of several.');
}

/** Routes of a module: all are refused while it is off. */
export function ofModule(module: ModuleName, rows: readonly Route[]): readonly Route[] {
  return rows.map((row) => ({ ...row, module }));
}

interface ListFacts<P extends AnyObject> extends Omit<RouteFacts<P>, 'answer'> {
  /** A page of a verb: its `items` become `data`, beside the page that was asked for. */
  list(params: z.output<P>, ctx: Ctx): Promise<{ items: unknown[]; total: number }>;
}

/** A route that answers the page of a list. */
export function listRoute<P extends AnyObject>({ list, ...facts }: ListFacts<P>): Route {
  return route<P>({
    ...facts,
    async answer(params, ctx) {
      const { items, ...counts } = await list(params, ctx);
      return { page: params.page, per_page: params.per_page, ...counts, data: items };
    },
  });
}
