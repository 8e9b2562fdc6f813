/**
 * Defines an operation as a single value. Generics end here: a way in sees a plain `Operation` with `call(raw, ctx)`.
 */

import { type ChangeOf, needsApproval } from '../../schemas/approval.js';
import { z } from '../../schemas/zod.js';
import type { IdempotencyKey } from '../domain/access/idempotency.js';
import type { Question } from '../domain/common/question.js';
import type { AnswerToRequest, CoveredSites, Ctx } from '../domain/context.js';
import type { Actor, Right } from '../runtime/actor.js';
import type { Toolset } from '../runtime/config/types.js';
import { ServiceError } from '../runtime/errors.js';
import { once } from '../runtime/once.js';
import { requirePermission } from '../runtime/permission.js';
import type { Progress } from '../runtime/progress.js';
import { compileInputParser, withoutNulls } from './validation/input-parser.js';
import { tooLong } from './validation/lengths.js';
import { compileSerializer } from './validation/response-serializer.js';
import { firstValidationError } from './validation/validation-error.js';

export type Effect = 'read' | 'write' | 'destroy';
export type RunMethod = 'GET' | 'POST' | 'DELETE';

type AnyObject = z.AnyZodObject;

interface Facts<I extends AnyObject, O extends AnyObject> {
  /** `svc/<name>-v1`; the file name is `<name>-v1.ts`. */
  id: `svc/${string}`;
  title: string;
  /** Description for users and models: what it does, when to use it, what it costs. */
  about: string;
  /** Advice for automated callers; default: for a deletion to preview it, otherwise none (operations §2). */
  instructions?: string;
  /** Works on many sites: reports progress, may be queued. */
  multi?: true;
  /** Contacts child sites, or keeps a note of its answer, although it only reads. */
  live?: true;
  /** What it does can be undone. */
  reversible?: true;
  /** Overwrites data without deleting: published as destructive, like a deletion. */
  replaces?: true;
  /**
   * Called on first use: creating the schemas of all operations would slow down startup and cost memory in each thread.
   */
  input: () => I;
  output: () => O;
  /** What a person is asked before it is done, from its preview; default: its title. */
  question?: (preview: z.output<O>, input: z.output<I>) => Question;
}

type Handler<I extends AnyObject, O extends AnyObject> = (input: z.output<I>, ctx: Ctx) => Promise<z.input<O>>;

interface Changes<I extends AnyObject> {
  /** What kind of change it makes, by which the rules of approvals decide. */
  change: ChangeOf;
  /** What would be done, for the person who is to approve it; default: its preview, or a dry run if it has `dry_run`. */
  plan?: (input: z.output<I>, ctx: Ctx) => Promise<unknown>;
  /** Of a change of `planned` sites: which these are. Contacts no site. */
  covers?: (input: z.output<I>, ctx: Ctx) => Promise<CoveredSites>;
}

export type Definition<I extends AnyObject, O extends AnyObject> = Facts<I, O> &
  /** `run` is the method of the user's document. */
  (
    | { effect: 'read'; run: 'GET' | 'POST'; handle: Handler<I, O> }
    /**
     * `preview` is for operations whose empty `site_ids_or_domains` changes more than one site: it returns the result
     * of `dry_run`, with the number of sites as `would_affect.sites`. Over MCP these calls may need a confirmation
     * (operations §1.9).
     */
    | (Changes<I> & { effect: 'write'; idempotent: boolean; preview?: Handler<I, O>; handle: Handler<I, O> })
    /**
     * `preview` loads the targets, checks access and returns the result of the dry run; it changes nothing. It runs before the
     * confirmation is checked, so that a missing target is reported before a missing confirmation (operations §1.9).
     * `requireTarget` does the latter alone, for a preview that contacts the site: a call without confirmation must not.
     */
    | (Changes<I> & {
        effect: 'destroy';
        idempotent: boolean;
        requireTarget?: (input: z.output<I>, ctx: Ctx) => Promise<unknown>;
        preview: Handler<I, O>;
        handle: Handler<I, O>;
      })
  );

/** An operation or a REST row: called by its id, in this thread or in the engine thread. */
export interface Callable<In, Out> {
  readonly id: string;
  /** Must run where the writer connection and the child sites are: the engine thread. */
  readonly engine: boolean;
  /** Input and output are plain data, because they are passed between threads. Rejects with ServiceError. */
  call(input: In, ctx: Ctx): Promise<Out>;
}

/** Calls a target in the thread it belongs to. Rejects with ServiceError. */
export type Call = <In, Out>(target: Callable<In, Out>, input: In, caller: Caller) => Promise<Out>;

export interface Operation extends Callable<unknown, Record<string, unknown>> {
  readonly title: string;
  readonly about: string;
  readonly instructions: string;
  readonly run: 'GET' | 'POST';
  /** Methods the run endpoint accepts (operations §1.2, §8.0 "Accept"). */
  readonly methods: readonly RunMethod[];
  readonly effect: Effect;
  /** Null: it changes nothing. */
  readonly change: ChangeOf | null;
  /** The right that the caller needs. */
  readonly needs: Right;
  readonly idempotent: boolean;
  readonly multi: boolean;
  /** Whether it deletes or overwrites something. */
  readonly replaces: boolean;
  /** Whether an empty `site_ids_or_domains` changes more than one site. */
  readonly wholeFleet: boolean;
  input(): AnyObject;
  output(): AnyObject;
  /** Whether it has a question of its own, or else its title is one. */
  readonly asks: boolean;
  /** What a person is asked before it is done. @param preview its own output for this input, with `dry_run` */
  question(preview: Record<string, unknown>, input: Record<string, unknown>): Question;
  /** The input as the operation reads it; undefined when it is not valid. */
  parse(raw: unknown): Record<string, unknown> | undefined;
  /**
   * Checks the right, parses the input, requires the confirmation, runs the verb, and reduces its result to the
   * declared output. Rejects with ServiceError.
   */
  call(raw: unknown, ctx: Ctx): Promise<Record<string, unknown>>;
}

/** The caller of an operation, with the means to report its progress and to cancel it. */
export interface Caller {
  actor: Actor;
  request_id: string;
  signal: AbortSignal;
  progress?: ((progress: Progress) => void) | undefined;
  /** The program that calls, as it names itself. */
  client?: string | undefined;
  /** A repeated call with this key gets the answer of the first. */
  idempotency?: IdempotencyKey | undefined;
  /** What a person said to the request for approval that the call made before. */
  answer?: AnswerToRequest | undefined;
}

/** `Call` for operations. */
export type Invoke = (operation: Operation, raw: unknown, caller: Caller) => Promise<Record<string, unknown>>;

/** An operation with the group it is listed under. */
export interface GroupedOperation extends Operation {
  readonly group: Toolset;
}

/** Creates an operation from its definition. Fields that the input does not declare are refused. */
export function defineOperation<I extends AnyObject, O extends AnyObject>(definition: Definition<I, O>): Operation {
  const input = once(() => definition.input().strict());
  const previews = once(() => definition.effect !== 'read' && 'dry_run' in input().shape);
  const output = once(() =>
    previews() ? definition.output().extend({ needs_approval: needsApproval() }) : definition.output(),
  );
  const needs = definition.effect === 'read' ? 'read' : 'write';
  const run = definition.effect === 'read' ? definition.run : 'POST';
  const idempotent = definition.effect === 'read' || definition.idempotent;
  const replaces = definition.effect === 'destroy' || definition.replaces === true;
  const fastParse = once(() => compileInputParser(input()));
  const fastSerialize = once(() => compileSerializer(output()));
  const parse = (given: unknown) => {
    const raw = withoutNulls(input(), given);
    const issues = tooLong(input(), raw);
    if (issues.length > 0) throw invalidInput(new z.ZodError(issues), raw);
    return fastParse()(raw ?? {}) ?? parseInput(input(), raw);
  };
  const serialize = (value: unknown) => fastSerialize()(value) ?? parseOutput(output(), value, definition.id);
  /** The answer of a preview, with why the call itself would wait for a person. */
  const previewed = async (parsed: z.output<I>, ctx: Ctx, answer: z.input<O>) => {
    if (definition.effect === 'read') return serialize(answer);
    const { title, change } = definition;
    const called = { ...parsed, dry_run: false, ...(definition.effect === 'destroy' && { confirm: true }) };
    const plan = async () => (definition.plan === undefined ? answer : definition.plan(called, ctx));
    const covers = coversOf(definition, called, ctx);
    const asked = { title, input: called, change, plan, covers };
    return serialize({ ...answer, needs_approval: await ctx.foretell(ctx, asked) });
  };
  return {
    id: definition.id,
    title: definition.title,
    about: definition.about,
    instructions: definition.instructions ?? (definition.effect === 'destroy' ? PREVIEW_FIRST : ''),
    run,
    methods: acceptedMethods(run, definition.effect, replaces && idempotent),
    effect: definition.effect,
    change: definition.effect === 'read' ? null : definition.change,
    needs,
    idempotent,
    multi: definition.multi ?? false,
    replaces,
    wholeFleet: definition.effect === 'write' && definition.preview !== undefined,
    engine: definition.effect !== 'read' || definition.live === true,
    input,
    output,
    asks: definition.question !== undefined,
    question(preview, given) {
      const asked = definition.question?.(preview as z.output<O>, given as z.output<I>);
      return (
        asked ?? { text: `${definition.title}?${definition.effect === 'destroy' ? ' This cannot be undone.' : ''}` }
      );
    },
    parse(raw) {
      const result = input().safeParse(withoutNulls(input(), raw) ?? {});
      return result.success ? result.data : undefined;
    },
    async call(raw, ctx) {
      requirePermission(ctx.actor, needs, ctx.config.read_only);
      const parsed = parse(raw) as z.output<I>;
      if (definition.effect === 'destroy') {
        const { confirm, dry_run } = parsed as { confirm?: boolean; dry_run?: boolean };
        if (confirm && dry_run) throw bothConfirmAndDryRun();
        if (dry_run) return previewed(parsed, ctx, await definition.preview(parsed, ctx));
        await (definition.requireTarget ?? definition.preview)(parsed, ctx);
        if (!confirm) throw confirmationRequired(definition);
      } else if (definition.effect === 'write' && definition.preview !== undefined) {
        const { dry_run } = parsed as { dry_run?: boolean };
        if (dry_run) return previewed(parsed, ctx, await definition.preview(parsed, ctx));
      }
      const handle = () => definition.handle(parsed, ctx);
      if (definition.effect === 'read') return serialize(await handle());
      const { title, change } = definition;
      const plan = () => planOf(definition, parsed, ctx);
      const covers = coversOf(definition, parsed, ctx);
      const answer = await ctx.change(ctx, { title, input: parsed, change, plan, covers }, handle);
      const isPreview = (parsed as { dry_run?: boolean }).dry_run === true;
      return isPreview ? previewed(parsed, ctx, answer) : serialize(answer);
    },
  };
}

/** What a call would do; undefined if that is not known beforehand. */
async function planOf<I extends AnyObject, O extends AnyObject>(
  definition: Exclude<Definition<I, O>, { effect: 'read' }>,
  input: z.output<I>,
  ctx: Ctx,
): Promise<unknown> {
  const { plan, preview, handle } = definition;
  if (plan !== undefined) return plan(input, ctx);
  if (preview !== undefined) return preview(input, ctx);
  return (input as { dry_run?: boolean }).dry_run === undefined ? undefined : handle({ ...input, dry_run: true }, ctx);
}

function coversOf<I extends AnyObject>({ covers }: Changes<I>, input: z.output<I>, ctx: Ctx) {
  return covers === undefined ? undefined : () => covers(input, ctx);
}

const PREVIEW_FIRST = 'Preview with dry_run, then confirm.';

/**
 * The method of the user's document, plus those that WordPress clients choose by the annotations: GET for reads, DELETE
 * for what is destructive and idempotent.
 */
function acceptedMethods(run: 'GET' | 'POST', effect: Effect, deletes: boolean): RunMethod[] {
  const methods: RunMethod[] = [run];
  if (effect === 'read' && run === 'POST') methods.push('GET');
  if (deletes) methods.push('DELETE');
  return methods;
}

/** The input as the schema parses it. Throws `ability_invalid_input`, which names the field. */
export function parseInput<S extends AnyObject>(schema: S, raw: unknown): z.output<S> {
  const result = schema.safeParse(raw ?? {});
  if (result.success) return result.data;
  throw invalidInput(result.error, raw);
}

function invalidInput(error: z.ZodError, raw: unknown): ServiceError {
  const issue = firstValidationError(error, raw);
  return new ServiceError('ability_invalid_input', issue.message, { field: issue.field, advice: issue.advice });
}

function parseOutput(schema: AnyObject, value: unknown, id: string): Record<string, unknown> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new ServiceError('ability_invalid_output', `The answer of ${id} does not match its own schema.`, {
    cause: result.error,
  });
}

function bothConfirmAndDryRun(): ServiceError {
  return new ServiceError('svc_invalid_input', 'confirm and dry_run cannot both be true.', {
    field: 'confirm',
    advice: 'Send dry_run: true to preview, or confirm: true to proceed.',
  });
}

function confirmationRequired({
  id,
  reversible,
}: Pick<Facts<AnyObject, AnyObject>, 'id' | 'reversible'>): ServiceError {
  const what = reversible === true ? id : `${id} cannot be undone and`;
  return new ServiceError('svc_confirmation_required', `${what} was not confirmed. Nothing changed.`, {
    field: 'confirm',
    advice: 'Preview with dry_run: true, then repeat the call with confirm: true.',
  });
}
