/** MCP server for the revision 2026-07-28: stateless, one per request over HTTP. */

import type { ClientCapabilities, ServerContext, Tool } from '@modelcontextprotocol/server';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  inputRequired,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  SERVER_INFO_META_KEY,
  Server,
} from '@modelcontextprotocol/server';
import type { Actor } from '../../runtime/actor.js';
import { asServiceError, isOurFault } from '../../runtime/errors.js';
import { showsApps } from './apps.js';
import type { Participant } from './call-deduplication.js';
import { Cancellation } from './cancellation.js';
import { softwareOf } from './client-software.js';
import { ConfirmationQuestion, type Elicitation } from './confirm.js';
import type { McpCore } from './core.js';
import { confirmForm, replyOf } from './elicitation.js';
import { ICONS } from './icon.js';
import { IDEMPOTENCY_META_KEY } from './idempotency.js';
import { progressReporter } from './progress.js';
import { PromptProblem } from './prompts.js';
import { UnknownResource } from './resources.js';
import { declaresTasks, TASKS, TASKS_REQUIRED, taskParams, UnknownTask } from './tasks.js';
import { errorData } from './tool-result.js';
import { cleanText } from './untrusted-text.js';

const MINUTE = 60_000;
/** Lists change with a restart or the rights of the login, so they are cacheable for minutes and by one client only. */
const OFFERED = { ttlMs: 5 * MINUTE, cacheScope: 'private' } as const;
const NEVER_CHANGES = { ttlMs: 24 * 60 * MINUTE, cacheScope: 'public' } as const;
const LIVE = { ttlMs: 0, cacheScope: 'private' } as const;

const CACHE_HINTS = {
  'server/discover': { ttlMs: 60 * MINUTE, cacheScope: 'public' },
  'tools/list': OFFERED,
  'prompts/list': OFFERED,
  'resources/list': OFFERED,
  'resources/templates/list': OFFERED,
  'resources/read': LIVE,
} as const;

/** Milliseconds that a call continues after its client has disconnected. */
const DISCONNECT_GRACE_MS = 3000;

/** Keys of the input requests. */
const INPUTS = { confirmation: 'confirm', approval: 'approve' } as const;

/** @param actor the caller of the request */
export function createModernServer(core: McpCore, actor: Actor): Server {
  const server = new Server(
    { ...core.info, icons: ICONS },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, extensions: TASKS },
      instructions: core.instructionsFor(actor),
      cacheHints: CACHE_HINTS,
    },
  );
  server.setRequestHandler('tools/list', (_request, ctx) => {
    const offered = core.registry.listTools(actor);
    return { tools: (showsApps(declaredBy(ctx)) ? core.apps.attach(offered) : offered) as Tool[] };
  });
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const caller = participant(core, actor, ctx);
    const outcome = await core.registry.callTool(params.name, params.arguments, caller, elicitationOf(ctx));
    if (!(outcome instanceof ConfirmationQuestion)) {
      const task = declaresTasks(declaredBy(ctx)) ? await core.tasks.created(outcome, caller) : undefined;
      // The SDK knows no results of extensions, and passes them on.
      const result = task === undefined ? outcome : ({ resultType: 'task', ...task } as unknown as typeof outcome);
      // The SDK adds to each result who answered: some models read what they are given whole, and need no picture of it.
      return { ...result, _meta: { ...result._meta, [SERVER_INFO_META_KEY]: core.info } };
    }
    const { asked, state } = outcome;
    const question = inputRequired.elicit({ message: asked.message, requestedSchema: confirmForm(asked) });
    return inputRequired({ inputRequests: { [INPUTS[asked.about]]: question }, requestState: state });
  });
  serveResources(core, server, actor);
  servePrompts(core, server, actor);
  serveTasks(core, server, actor);
  return server;
}

function serveResources(core: McpCore, server: Server, actor: Actor): void {
  server.setRequestHandler('resources/list', (_request, ctx) => {
    const apps = showsApps(declaredBy(ctx)) ? core.apps.list((id) => core.registry.offers(id, actor)) : [];
    return { resources: [...core.resources.list(actor), ...apps] };
  });
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: core.resources.templates(actor) }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }, ctx) => {
    try {
      const app = core.apps.read(uri);
      if (app !== undefined) return { contents: app, ...OFFERED };
      const contents = await core.resources.read(uri, participant(core, actor, ctx));
      const hint = uri.startsWith('svc://errors/') ? NEVER_CHANGES : LIVE;
      return { contents, ...hint };
    } catch (error) {
      throw asProtocolError(core, error);
    }
  });
}

function servePrompts(core: McpCore, server: Server, actor: Actor): void {
  server.setRequestHandler('prompts/list', () => ({ prompts: core.prompts.list(actor) }));
  server.setRequestHandler('prompts/get', ({ params }) => {
    try {
      const { description, text } = core.prompts.get(params.name, params.arguments ?? {}, actor);
      return { description, messages: [{ role: 'user', content: { type: 'text', text } }] };
    } catch (error) {
      throw asProtocolError(core, error);
    }
  });
  server.setRequestHandler('completion/complete', async ({ params }, ctx) => {
    try {
      return await core.completions.complete(params, participant(core, actor, ctx));
    } catch (error) {
      throw asProtocolError(core, error);
    }
  });
}

function serveTasks(core: McpCore, server: Server, actor: Actor): void {
  const asked = async <T>(ctx: ServerContext, answer: (caller: Participant) => Promise<T>) => {
    if (!declaresTasks(declaredBy(ctx))) throw new MissingRequiredClientCapabilityError(TASKS_REQUIRED);
    try {
      return await answer(participant(core, actor, ctx));
    } catch (error) {
      throw asProtocolError(core, error);
    }
  };
  server.setRequestHandler('tasks/get', { params: taskParams }, ({ taskId }, ctx) =>
    asked(ctx, async (caller) => ({ ...(await core.tasks.get(taskId, caller)) })),
  );
  server.setRequestHandler('tasks/cancel', { params: taskParams }, ({ taskId }, ctx) =>
    asked(ctx, async (caller) => {
      await core.tasks.cancel(taskId, caller);
      return {};
    }),
  );
  // No task of ours asks for anything, so there is nothing that an answer could be of.
  server.setRequestHandler('tasks/update', { params: taskParams }, ({ taskId }, ctx) =>
    asked(ctx, async (caller) => {
      await core.tasks.get(taskId, caller);
      return {};
    }),
  );
}

/**
 * The caller of a request. Over HTTP a client cancels by closing the response, but a lost connection looks the same and
 * makes the client repeat the call; so the work continues for a few seconds. On stdio, a message cancels a call.
 */
function participant(core: McpCore, actor: Actor, ctx: ServerContext): Participant {
  const cancellation = new Cancellation({ aborted: () => ctx.mcpReq.signal, isClosing: () => false });
  return {
    actor,
    request_id: core.newRequestId(),
    client: softwareOf(envelopeOf(ctx)?.[CLIENT_INFO_META_KEY]),
    get signal() {
      return cancellation.signal;
    },
    get disconnected() {
      return cancellation.disconnected;
    },
    graceMs: ctx.http === undefined ? undefined : DISCONNECT_GRACE_MS,
    idempotency_key: ctx.mcpReq._meta?.[IDEMPOTENCY_META_KEY],
    progress: progressReporter(ctx.mcpReq._meta?.progressToken, core.clock, (params) =>
      ctx.mcpReq.notify({ method: 'notifications/progress', params }),
    ),
  };
}

/** The client capabilities that a request declares. */
function declaredBy(ctx: ServerContext): ClientCapabilities | undefined {
  return envelopeOf(ctx)?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
}

function envelopeOf(ctx: ServerContext): Record<string, unknown> | undefined {
  return ctx.mcpReq.envelope as Record<string, unknown> | undefined;
}

function elicitationOf(ctx: ServerContext): Elicitation | undefined {
  const elicitation = declaredBy(ctx)?.elicitation;
  if (elicitation === undefined || (elicitation.form === undefined && elicitation.url !== undefined)) return undefined;
  const state = ctx.mcpReq.requestState();
  const given = ctx.mcpReq.inputResponses;
  return {
    kind: 'later',
    state: typeof state === 'string' ? state : undefined,
    reply: (about, instead) => {
      const key = INPUTS[about];
      if (given === undefined || !Object.hasOwn(given, key)) return undefined;
      const { action, content } = (given[key] ?? {}) as { action?: unknown; content?: unknown };
      return replyOf(action, content, instead);
    },
  };
}

function asProtocolError(core: McpCore, error: unknown): ProtocolError {
  if (error instanceof UnknownResource) return new ResourceNotFoundError(error.uri, error.message);
  if (error instanceof PromptProblem || error instanceof UnknownTask)
    return new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
  const known = asServiceError(error);
  if (isOurFault(known)) core.log.error({ err: known.cause ?? known }, 'mcp request failed');
  const code = known.status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, cleanText(known.message), errorData(known));
}
