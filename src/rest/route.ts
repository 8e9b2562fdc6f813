/**
 * One REST route as one value. Generics end here: the app sees plain `Route`s, and a row holds only what is its own.
 *
 * A row of a table reads:
 *
 *     route({
 *       on: ['PUT', 'PATCH'],
 *       path: '/posts/{id_or_domain}/{post_id}/edit',      // spelled as in the routes document
 *       needs: 'write',
 *       live: true,                                        // contacts child sites (a write row always runs in the engine)
 *       module: 'comments',                                // refused with svc_module_not_available while it is off
 *       body: 'required',                                  // an empty call is `empty_body` 400
 *       summary: 'Change a post',
 *       params: () => z.object({ ...sitePath, post_id: int(1), post_title: text(255).optional() }),
 *       answer: async ({ id_or_domain, post_id, ...change }, ctx) => {
 *         const site = await siteOf(ctx, id_or_domain);     // references.ts: 404 codes of REST §3.3
 *         const post = await editPost(ctx, site, post_id, change);
 *         return { message: 'The post was changed.', data: post, site: simpleSite(site) };
 *       },
 *     })
 *
 * What the app does around `answer`, so that no row does it: login, right, module, method (405 with `Allow`), merging
 * of path over body over query, validation (`rest_missing_callback_param`, `rest_invalid_param` naming every field; unknown ones
 * are refused),
 * `{success: 1, …}` in front of what `answer` returns, count headers from `total`, `page` and `per_page`, ETag,
 * idempotency keys, rate limit, thread, and errors. A row fails by throwing a ServiceError; `invalidParam` of
 * errors.ts is for rules that span several parameters.
 */

import type { z } from '../../schemas/zod.js';
import type { ModuleName } from '../config/types.js';
import type { Right } from '../core/actor.js';
import { once } from '../core/once.js';
import type { Ctx } from '../domain/context.js';
import { compileInputParser } from '../validation/input-parser.js';
import type { InnerCodes } from './errors.js';
import { aliasesOf } from './names.js';
import type { Naming } from './validate.js';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * What a row answers, without `success`: `message` on writes; `data`; on lists `total` (matches before paging) and, when
 * paged, `page` and `per_page`; `site` on per-site routes; `errors` of items that failed. Where the row runs in the engine,
 * plain data: it crosses the thread border and becomes JSON as it is.
 */
export type RouteAnswer = Record<string, unknown>;

/** An answer `{ file }` leaves as this file instead of JSON. `name` holds letters, digits, dots and dashes only. */
export interface AnswerFile {
  type: 'text/html' | 'text/csv';
  name: string;
  text: string;
}

type AnyObject = z.AnyZodObject;

export interface RouteFacts<P extends AnyObject> {
  /** Methods of the routes document; all mean the same. */
  on: HttpMethod | readonly HttpMethod[];
  /** Below `/v2`, parameters in braces: `/sites/{id_or_domain}/edit`. One parameter is one percent-encoded segment. */
  path: `/${string}`;
  /** Right of the key. A `write` row runs in the engine thread. */
  needs: Right;
  /** Asks child sites while the call runs. A read that does runs in the engine thread too, and its answer is not cached. */
  live?: boolean;
  module?: ModuleName;
  /** One line, for the interface description. */
  summary: string;
  /** What a caller must know beyond the summary: costs, effects, what it does not do. */
  description?: string;
  /**
   * Path, query and body parameters in one object; every name in braces is a key of it. Use the lenient scalars of
   * params.ts: values from a query are text. Give each field a `.describe(…)` where its name does not say it all.
   *
   * Called with the first use, as the other schemas: those of all rows would be felt at the start, and as memory of each thread.
   */
  params: () => P;
  /** The same parameters as they are described, where `params` leaves to `answer` to judge them. */
  described?: () => AnyObject;
  /** Statuses of refusals beside those that its right, its path, its module and asking the sites bring with them. */
  fails?: readonly number[];
  /** Codes of wrong parameters in `data.details`, where the routes document has one of their own (REST §6.10). */
  inner?: InnerCodes;
  /** `required`: a call without any parameter beside the path is refused as `empty_body`. */
  body?: 'required';
  /** Path parameters of another form than these are no route (404). */
  where?: Readonly<Record<string, RegExp>>;
  /** A successful answer without `success`, for the interface description. */
  returns: () => z.ZodTypeAny;
  /** An answer as it looks, for the interface description, without `success`. */
  example?: RouteAnswer;
  /** `either`: a user's Basic login is as good as a key. */
  login?: 'key' | 'either';
  /** Headers of a successful answer. With `Cache-Control` among them, the answer gets no ETag. */
  headers?: (answer: RouteAnswer) => Record<string, string>;
  /**
   * What the answer is known by, read without making it: it changes with everything the answer shows. `answer` returns the same
   * as `revision`, read in the snapshot of the answer; it does not leave but in the ETag.
   */
  revision?: (ctx: Ctx) => Promise<string>;
  /** Changes who may log in: cached logins are dropped afterwards. */
  changesLogins?: boolean;
  /** `fields`: the members of each item that leave, undefined for all; what is expensive and not among them need not be made. */
  answer(params: z.output<P>, ctx: Ctx, fields?: readonly string[]): Promise<RouteAnswer>;
}

export interface Route {
  /** Stable name, also across the thread border: `PUT|PATCH /sites/{id_or_domain}/edit`. */
  readonly key: string;
  readonly on: readonly HttpMethod[];
  readonly path: string;
  /** Names in braces, in order. */
  readonly pathParams: readonly string[];
  readonly needs: Right;
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
  readonly revision: ((ctx: Ctx) => Promise<string>) | undefined;
  readonly changesLogins: boolean;
  /** `params` are those that `params` parsed. */
  answer(params: unknown, ctx: Ctx, fields?: readonly string[]): Promise<RouteAnswer>;
}

/** The schemas throw when the table is wrong: a name in braces without a parameter of that name. */
export function route<P extends AnyObject>(facts: RouteFacts<P>): Route {
  const on = typeof facts.on === 'string' ? [facts.on] : facts.on;
  const key = `${on.join('|')} ${facts.path}`;
  const pathParams = [...facts.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const params = once(() => {
    const own = facts.params();
    for (const name of [...pathParams, ...Object.keys(facts.where ?? {})]) {
      if (!(name in own.shape)) throw new Error(`${key} has no parameter ${name}.`);
    }
    // What is not known is refused by name: a misspelled filter that is ignored widens a call to the whole fleet.
    return own.strict();
  });
  const fastParse = once(() => compileInputParser(params()));
  return {
    key,
    on,
    path: facts.path,
    pathParams,
    needs: facts.needs,
    live: facts.live ?? false,
    engine: facts.needs === 'write' || facts.live === true,
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
      return { names, aliases: aliasesOf(facts.path, names), inner: facts.inner ?? {}, nullIsAbsent };
    }),
    bodyRequired: facts.body === 'required',
    where: facts.where ?? {},
    returns: once(facts.returns),
    example: facts.example,
    login: facts.login ?? 'key',
    headers: facts.headers,
    revision: facts.revision,
    changesLogins: facts.changesLogins ?? false,
    answer: (params, ctx, fields) => facts.answer(params as z.output<P>, ctx, fields),
  };
}
