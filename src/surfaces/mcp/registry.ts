/**
 * The tool registry: which operations a principal is offered as MCP tools, and how they are called. Independent of the
 * protocol revision; used by the adapters of both eras, on stdio and HTTP.
 */

import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { AnswerToRequest } from '../../domain/context.js';
import { toolName } from '../../operation/contract.js';
import type { Caller, GroupedOperation, Invoke, Operation } from '../../operation/operation.js';
import { holdsAdvice, withTexts } from '../../operation/operation-names.js';
import type { Actor, Right } from '../../runtime/actor.js';
import { canonicalJson } from '../../runtime/canonical-json.js';
import type { Clock } from '../../runtime/clock.js';
import { closestNames } from '../../runtime/closest-names.js';
import type { ConfirmPolicy, Toolset } from '../../runtime/config/types.js';
import { dropOldest } from '../../runtime/drop-oldest.js';
import { asServiceError, isOurFault, type ServiceError } from '../../runtime/errors.js';
import type { Log } from '../../runtime/log.js';
import { permissionError } from '../../runtime/permission.js';
import { isObject } from '../../runtime/plain-json.js';
import { DEFAULT_TOOLSETS, TOOLSETS } from '../../runtime/toolsets.js';
import { turnForEach } from '../../runtime/turns.js';
import { AskedApprovals } from './approval-questions.js';
import { type Fitted, fitToBudget } from './budget.js';
import { CallDeduplication, type Participant } from './call-deduplication.js';
import { ConfirmationQuestion, Confirmations, type Elicitation, principalOf } from './confirm.js';
import { notChosen, toolOff, toolsetOff, unknownTool } from './errors.js';
import { aloneOf, idempotencyOf } from './idempotency.js';
import { findingTools, isShown, leanOperations, operationCall, SEARCH_OPERATIONS, searchOperations } from './lean.js';
import { splitTextFrom } from './long-texts.js';
import { RUN_OPERATION } from './messages.js';
import { cutOf, nextCall } from './next-call.js';
import type { FileContent } from './run-files.js';
import { carriesSiteText, toolOf } from './tool.js';
import { type NameTools, toolNamer, withToolNames } from './tool-names.js';
import {
  errorResult,
  hasSiteText,
  type JsonObject,
  type SerializedOutput,
  SITE_TEXT_NOTE,
  successResult,
} from './tool-result.js';
import { cleanMember } from './untrusted-text.js';

export interface RegistryParts {
  operations: readonly GroupedOperation[];
  invoke: Invoke;
  log: Log;
  readOnly: boolean;
  /** The toolsets the operator allows; null = all, of which only the default ones are listed unless a connection names others. */
  toolsets: readonly Toolset[] | null;
  /** Operation ids: if `allow` has any, only these are offered; those in `block` never are. */
  tools?: { allow: readonly string[]; block: readonly string[] };
  /** Default: only the confirmation that the operations themselves require. */
  confirm?: ConfirmPolicy;
  /** Milliseconds that a user who is asked to confirm has to answer. */
  confirmTimeoutMs?: number;
  /** Largest output in estimated tokens. */
  maxTokens?: number;
  clock: Clock;
  /** The address of the page, without a trailing slash. */
  pageUrl?: () => string;
}

export interface ToolRegistry {
  /** Tools the principal may call, the same list for the same rights and choice of late. Always in the same order. */
  listTools(actor: Actor): Tool[];
  /**
   * Runs a tool by its name or by the operation's id. Failures are results with `isError`, never rejections. A
   * ConfirmationQuestion is only returned when the elicitation is of the kind `later`.
   */
  callTool(
    name: string,
    args: unknown,
    caller: Participant,
    elicitation?: Elicitation,
  ): Promise<CallToolResult | ConfirmationQuestion>;
  /** Whether a principal is offered the operation, as a tool or through `run-operation`. */
  offers(id: string, actor: Actor): boolean;
  /** Whether a principal is offered the operation as a tool. */
  isListed(id: string, actor: Actor): boolean;
  /** The toolsets of which a principal finds operations by `search-operations` only. */
  unlistedToolsets(actor: Actor): readonly Toolset[];
  /**
   * The output of a reading operation, cleaned and within the token budget. Rejects with ServiceError.
   * @param sizeChosen the caller named the size of the page, which then keeps all its items
   */
  read(id: string, args: JsonObject, caller: Caller, sizeChosen?: boolean): Promise<JsonObject>;
  /** As `read`, whole, of an operation that no list has, for callers who are offered the listed one. Rejects with ServiceError. */
  readUnlisted(operation: Operation, listed: string, args: JsonObject, caller: Caller): Promise<JsonObject>;
  /** The files of an operation that no list has, byte for byte, for callers who are offered the listed one. Rejects with ServiceError. */
  readFiles(operation: Operation, listed: string, args: JsonObject, caller: Caller): Promise<FileContent[]>;
  /**
   * Runs the operation that a method of the protocol stands for: unlike a tool, it costs a connection nothing, so its
   * toolset need not be shown. Every other limit holds. Asks for no confirmation. Rejects with ServiceError.
   */
  runUnshown(id: string, args: JsonObject, caller: Caller): Promise<JsonObject>;
  /** The result of a call of the operation that ended with this output: what it declares, cut to the token budget. */
  resultOf(id: string, output: JsonObject, caller: Caller): Promise<CallToolResult>;
  /** Replaces names of operations in a text of ours with those of tools. */
  nameTools: NameTools;
  /** The right that a tool needs; undefined when there is no such tool. */
  rightFor(name: unknown): Right | undefined;
  /** Whether a call may have to ask the user to confirm or approve before it returns. */
  mayElicit(name: unknown): boolean;
  /** Running calls on many sites, some perhaps without a connected client. */
  readonly runningCalls: CallDeduplication;
}

const MAX_TOKENS = 5_000;
/** Lists kept; a client may ask for any of thousands of choices of toolsets. */
const MAX_LISTS = 16;
/** Default time to answer a question. */
export const CONFIRM_TIMEOUT_MS = 5 * 60_000;

export function createToolRegistry(parts: RegistryParts): ToolRegistry {
  const { operations, invoke, log } = parts;
  const turn = turnForEach();
  const { allow = [], block = [] } = parts.tools ?? {};
  const policy = parts.confirm ?? 'confirm';
  const confirmations = new Confirmations(policy, parts.clock, parts.confirmTimeoutMs ?? CONFIRM_TIMEOUT_MS);
  const approvals = new AskedApprovals(parts.clock, parts.confirmTimeoutMs ?? CONFIRM_TIMEOUT_MS);
  const runningCalls = new CallDeduplication(parts.clock);
  const byName = new Map<string, GroupedOperation>();
  for (const operation of operations) {
    byName.set(toolName(operation.id), operation);
    byName.set(operation.id, operation);
    // The short form that users and our own texts use.
    byName.set(operation.id.replace(/^svc\//, ''), operation);
  }
  const nameTools = toolNamer(operations.map(({ id }) => id));
  const lists = new Map<string, Tool[]>();
  const tools = new Map<GroupedOperation, Tool>();

  /** Why the principal is not offered the operation; undefined when it is. */
  function visibilityError(operation: GroupedOperation, actor: Actor): ServiceError | undefined {
    const { id, group, needs } = operation;
    const chosen = actor.tools?.toolsets ?? null;
    if (parts.toolsets?.includes(group) === false) return toolsetOff(toolName(id), group);
    if (allow.length > 0 && !allow.includes(id)) return toolOff(toolName(id));
    if (block.includes(id)) return toolOff(toolName(id));
    if (chosen?.includes(group) === false) return notChosen(toolName(id), 'toolsets');
    if (actor.tools?.read_only === true && needs !== 'read') return notChosen(toolName(id), 'readonly');
    return permissionError(actor, needs, parts.readOnly);
  }

  /** Whether an operation that the principal is offered is also listed as a tool. */
  function asTool({ id, group }: GroupedOperation, { tools: choice }: Actor): boolean {
    if (choice?.lean === true) return isShown(id);
    const named = (choice?.toolsets ?? null) !== null || parts.toolsets !== null;
    return named || DEFAULT_TOOLSETS.includes(group);
  }

  /** Whether the principal finds and runs operations that are not listed: the lean list and the default one leave some out. */
  function findsMore(actor: Actor): boolean {
    return actor.tools?.lean === true || visibleTo(actor).some((operation) => !asTool(operation, actor));
  }

  /** The toolsets of which the principal is offered operations, but none as a tool. */
  function unlistedToolsets(actor: Actor): Toolset[] {
    const visible = visibleTo(actor);
    return TOOLSETS.filter((name) => {
      const own = visible.filter(({ group }) => group === name);
      return own.length > 0 && !own.some((operation) => asTool(operation, actor));
    });
  }

  /**
   * The operations a principal is offered. A client with an access token requests more rights when a call needs them (`requireScope`
   * in `http.ts`), so it also sees the operations for which it lacks the right.
   */
  function visibleTo(actor: Actor): GroupedOperation[] {
    const reachable: Actor = actor.type === 'token' ? { ...actor, rights: ['read', 'write'] } : actor;
    return operations.filter((operation) => visibilityError(operation, reachable) === undefined);
  }

  function shown(operation: GroupedOperation): Tool {
    const tool = tools.get(operation) ?? toolOf(operation, policy, nameTools);
    tools.set(operation, tool);
    return tool;
  }

  function find(name: string, actor: Actor): GroupedOperation {
    const operation = byName.get(name);
    if (operation === undefined) {
      const names = visibleTo(actor).map(({ id }) => toolName(id));
      throw unknownTool(name, closestNames(name, names));
    }
    const error = visibilityError(operation, actor);
    if (error !== undefined) throw error;
    return operation;
  }

  /** Runs the operation. Identical calls on many sites share one run, except previews, which show the current state. */
  async function run(
    operation: GroupedOperation,
    args: unknown,
    caller: Participant,
    answer?: AnswerToRequest,
  ): Promise<JsonObject> {
    // The calls of one body arrive at once.
    await turn();
    const idempotency = idempotencyOf(operation, args, caller);
    const output =
      operation.multi && operation.parse(args)?.dry_run !== true
        ? await runningCalls.run(callKey(operation, args, caller.actor, answer), caller, (alone) =>
            invoke(operation, args, { ...alone, idempotency, answer }),
          )
        : await invoke(
            operation,
            args,
            idempotency === undefined && answer === undefined ? caller : { ...aloneOf(caller), idempotency, answer },
          );
    return withTexts(output, (text, member) => {
      const clean = cleanMember(text, member);
      return holdsAdvice(member) ? nameTools(clean) : clean;
    });
  }

  function fitOutput(
    operation: GroupedOperation,
    input: JsonObject,
    output: JsonObject,
    caller: Caller,
    { sizeChosen, textFrom = 0 }: { sizeChosen: boolean; textFrom?: number },
  ): Promise<Fitted> {
    const rerun = (other: JsonObject) => run(operation, other, caller);
    const maxTokens = parts.maxTokens ?? MAX_TOKENS;
    return fitToBudget({ operation, input, output, sizeChosen, textFrom, maxTokens, rerun });
  }

  async function call(
    name: string,
    given: unknown,
    caller: Participant,
    elicitation?: Elicitation,
  ): Promise<CallToolResult | ConfirmationQuestion> {
    const operation = find(name, caller.actor);
    if (!isObject(given)) {
      const output = await run(operation, given, caller);
      return successResult({ output, text: JSON.stringify(output) });
    }
    const { args, textFrom } = splitTextFrom(operation, given);
    const asking = (input: JsonObject) => ({
      ...{ operation, args: input, actor: caller.actor, client: caller.client, elicitation },
      run: (answer?: AnswerToRequest) => run(operation, input, caller, answer),
    });
    const outcome = await confirmations.guard({
      operation,
      args,
      actor: caller.actor,
      elicitation,
      run: (input) => approvals.run(asking(input)),
      approve: (input) => approvals.runIfAsked(asking(input)),
      preview: (input) => run(operation, input, caller),
      isRunning: (input) => runningCalls.has(callKey(operation, input, caller.actor)),
    });
    if (outcome instanceof ConfirmationQuestion) return outcome;
    return resultFor(operation, args, outcome, caller, textFrom);
  }

  async function resultFor(
    operation: GroupedOperation,
    args: JsonObject,
    output: JsonObject,
    caller: Caller,
    textFrom = 0,
  ): Promise<CallToolResult> {
    // One who walks by page alone would miss what lies between pages of different sizes.
    const sizeChosen = (args.per_page ?? args.page ?? null) !== null;
    const fitted = await fitOutput(operation, args, output, caller, { sizeChosen, textFrom });
    const answered = {
      operation,
      args,
      output: fitted.output,
      whole: output,
      page: fitted.page,
      offers: (id: string) => offers(id, caller.actor),
      listed: (id: string) => isListed(id, caller.actor),
    };
    const next = nextCall(answered);
    const cut = cutOf(answered, next, sizeChosen);
    return successResult(cut === undefined ? fitted : withNote(fitted, cut), [
      ...(carriesSiteText(operation) && hasSiteText(fitted.output) ? [SITE_TEXT_NOTE] : []),
      ...(next === undefined || cut?.endsWith(next) === true ? [] : [next]),
    ]);
  }

  function offers(id: string, actor: Actor): boolean {
    const operation = byName.get(id);
    return operation !== undefined && visibilityError(operation, actor) === undefined;
  }

  function isListed(id: string, actor: Actor): boolean {
    const operation = byName.get(id);
    return operation !== undefined && offers(id, actor) && asTool(operation, actor);
  }

  return {
    runningCalls,
    listTools(actor) {
      const key = JSON.stringify([actor.type === 'token', [...actor.rights].sort(), actor.tools]);
      const known = lists.get(key);
      if (known !== undefined) return known;
      const visible = visibleTo(actor);
      const lean = actor.tools?.lean === true;
      const listed = lean ? leanOperations(visible) : visible.filter((operation) => asTool(operation, actor));
      // The lean list names no toolsets: the instructions do.
      const more = findsMore(actor) ? findingTools(visible, lean ? [] : unlistedToolsets(actor)) : [];
      const tools = [...listed.map(shown), ...more];
      const list = lean ? tools.map(({ outputSchema: _, ...tool }) => tool) : tools;
      lists.set(key, list);
      dropOldest(lists, MAX_LISTS);
      return list;
    },

    async callTool(name, args, caller, elicitation) {
      try {
        if (name === SEARCH_OPERATIONS && findsMore(caller.actor)) {
          const output = searchOperations(visibleTo(caller.actor), shown, args ?? {}, parts.pageUrl?.() ?? '');
          return successResult({ output, text: JSON.stringify(output) });
        }
        const runs = name === RUN_OPERATION && findsMore(caller.actor);
        const meant = runs ? operationCall(args) : { name, input: args };
        // Absent or null: the operation reads both as no input, so a confirmation must judge both alike.
        return await call(meant.name, meant.input ?? {}, caller, elicitation);
      } catch (error) {
        const known = asServiceError(error);
        if (isOurFault(known)) {
          log.error({ err: known.cause ?? known, request_id: caller.request_id, tool: name }, 'tool call failed');
        }
        return errorResult(withToolNames(known, nameTools));
      }
    },

    offers,
    isListed,
    unlistedToolsets,
    nameTools,

    async read(id, args, caller, sizeChosen = false) {
      try {
        const operation = find(id, caller.actor);
        return (await fitOutput(operation, args, await run(operation, args, caller), caller, { sizeChosen })).output;
      } catch (error) {
        throw withToolNames(asServiceError(error), nameTools);
      }
    },

    async readUnlisted(operation, listed, args, caller) {
      const { group } = find(listed, caller.actor);
      return run({ ...operation, group }, args, caller);
    },

    async readFiles(operation, listed, args, caller) {
      const { group } = find(listed, caller.actor);
      await turn();
      const read: GroupedOperation = { ...operation, group };
      return (await invoke(read, args, caller)).files as FileContent[];
    },

    async runUnshown(id, args, caller) {
      const { actor } = caller;
      const tools = { read_only: false, lean: false, ...actor.tools, toolsets: TOOLSETS };
      return run(find(id, { ...actor, tools }), args, caller);
    },

    async resultOf(id, output, caller) {
      const operation = byName.get(id);
      if (operation === undefined) throw unknownTool(id, []);
      return resultFor(operation, {}, operation.output().parse(output), caller);
    },

    rightFor(name) {
      return typeof name === 'string' ? byName.get(name)?.needs : undefined;
    },

    mayElicit(name) {
      const operation = typeof name === 'string' ? byName.get(name) : undefined;
      return operation !== undefined && operation.needs !== 'read';
    },
  };
}

function withNote({ output }: SerializedOutput, truncated: string): SerializedOutput {
  const { truncated: _, ...rest } = output;
  const noted = { truncated, ...rest };
  return { output: noted, text: JSON.stringify(noted) };
}

/** A key that is equal for identical calls of one principal, regardless of how the arguments are written. */
function callKey(operation: GroupedOperation, args: unknown, actor: Actor, answer?: AnswerToRequest): string {
  const key = [principalOf(actor), actor.rights, operation.id, operation.parse(args) ?? args];
  return canonicalJson(answer === undefined ? key : [...key, answer]);
}
