/** MCP server for the revisions up to 2025-11-25. One per connection or session. */

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ElicitResultSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  type LoggingLevel,
  LoggingLevelSchema,
  McpError,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Actor } from '../../runtime/actor.js';
import { asServiceError, isOurFault } from '../../runtime/errors.js';
import { showsApps } from './apps.js';
import type { Participant } from './call-deduplication.js';
import { Cancellation } from './cancellation.js';
import { softwareOf } from './client-software.js';
import { type Asked, ConfirmationQuestion, type ConfirmationReply, type Elicitation } from './confirm.js';
import type { McpCore } from './core.js';
import { confirmForm, replyOf } from './elicitation.js';
import { tokenNeeded } from './errors.js';
import { ICONS } from './icon.js';
import { IDEMPOTENCY_META_KEY } from './idempotency.js';
import { progressReporter } from './progress.js';
import { PromptProblem } from './prompts.js';
import { UnknownResource } from './resources.js';
import { errorData, errorResult } from './tool-result.js';
import { cleanText } from './untrusted-text.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** Not in the SDK's list of codes. */
const RESOURCE_NOT_FOUND = -32002;
const MAX_SUBSCRIPTIONS = 50;

/** The result of an elicitation is checked by `replyOf`; the SDK's default validator would build an Ajv per session. */
const NO_VALIDATOR = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'No answer was requested.' }),
};

/** Sets `closing` before the calls on a closing connection are aborted: they are not cancelled, only disconnected. */
class SessionServer extends Server {
  closing = false;
  /** Called when the connection closes. */
  whenClosing: (() => void) | undefined;

  override async connect(transport: Transport): Promise<void> {
    const before = transport.onclose;
    transport.onclose = () => {
      this.closing = true;
      this.whenClosing?.();
      before?.();
    };
    await super.connect(transport);
  }
}

/** Creates the server of one session. @param actor the caller, read at each call: rights may change during a session */
export function createMcpServer(core: McpCore, actor: () => Actor): Server {
  const server = new SessionServer(
    { ...core.info, icons: ICONS },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} },
      instructions: core.instructionsFor(actor()),
      jsonSchemaValidator: NO_VALIDATOR,
    },
  );
  const logOutcome = serveLogging(server);
  // Clients request the tool list next, and the first one is read from a file: prepare it now.
  server.oninitialized = () => void core.registry.listTools(actor());
  server.setRequestHandler(ListToolsRequestSchema, () => {
    const tools = core.registry.listTools(actor());
    return { tools: showsApps(server.getClientCapabilities()) ? core.apps.attach(tools) : tools };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra): Promise<CallToolResult> => {
    const caller = participant(core, actor, extra, server);
    const elicitation = elicitationOf(server, extra, core.elicitationTimeoutMs);
    const outcome = await core.registry.callTool(params.name, params.arguments, caller, elicitation);
    // The elicitation is of the kind `now`, so a question is never returned; if it were, the call is refused.
    const result = outcome instanceof ConfirmationQuestion ? errorResult(tokenNeeded(true)) : outcome;
    logOutcome(params.name, result);
    return result;
  });
  serveResources(core, server, actor);
  serveSubscriptions(core, server, actor);
  servePrompts(core, server, actor);
  return server;
}

/**
 * Logs a failed call to a client that enabled logging (`logging/setLevel`): the error text is for the model, and the
 * log message lets the user see that there was an error.
 */
function serveLogging(server: SessionServer): (tool: string, result: CallToolResult) => void {
  let level: LoggingLevel | undefined;
  server.setRequestHandler(SetLevelRequestSchema, ({ params }) => {
    level = params.level;
    return {};
  });
  return (tool, { isError, content: [first] }) => {
    const levels = LoggingLevelSchema.options;
    if (isError !== true || level === undefined || levels.indexOf(level) > levels.indexOf('warning')) return;
    const code = first?.type === 'text' ? /^\w+/.exec(first.text)?.[0] : undefined;
    const params = { level: 'warning' as const, logger: 'sitefleet', data: { tool: tool.slice(0, 100), code } };
    server.notification({ method: 'notifications/message', params }).catch(() => undefined);
  };
}

function serveResources(core: McpCore, server: SessionServer, actor: () => Actor): void {
  server.setRequestHandler(ListResourcesRequestSchema, () => {
    const apps = showsApps(server.getClientCapabilities())
      ? core.apps.list((id) => core.registry.offers(id, actor()))
      : [];
    return { resources: [...core.resources.list(actor()), ...apps] };
  });
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: core.resources.templates(actor()),
  }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }, extra) => {
    try {
      const app = core.apps.read(uri);
      return { contents: app ?? (await core.resources.read(uri, participant(core, actor, extra, server))) };
    } catch (error) {
      throw asRpcError(core, error);
    }
  });
}

function serveSubscriptions(core: McpCore, server: SessionServer, actor: () => Actor): void {
  const subscriptions = new Map<string, () => void>();
  server.setRequestHandler(SubscribeRequestSchema, async ({ params: { uri } }) => {
    if (subscriptions.has(uri)) return {};
    if (subscriptions.size >= MAX_SUBSCRIPTIONS)
      throw new McpError(ErrorCode.InvalidRequest, `A session has at most ${MAX_SUBSCRIPTIONS} subscriptions.`);
    try {
      const stop = await core.jobs.subscribe(uri, actor(), () => {
        server.sendResourceUpdated({ uri }).catch(() => undefined);
      });
      if (server.closing || subscriptions.has(uri)) stop();
      else subscriptions.set(uri, stop);
    } catch (error) {
      throw asRpcError(core, error);
    }
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
    subscriptions.get(uri)?.();
    subscriptions.delete(uri);
    return {};
  });
  server.whenClosing = () => {
    for (const stop of subscriptions.values()) stop();
    subscriptions.clear();
  };
}

function servePrompts(core: McpCore, server: SessionServer, actor: () => Actor): void {
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: core.prompts.list(actor()) }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    try {
      const { description, text } = core.prompts.get(params.name, params.arguments ?? {}, actor());
      return { description, messages: [{ role: 'user', content: { type: 'text', text } }] };
    } catch (error) {
      throw asRpcError(core, error);
    }
  });
  server.setRequestHandler(CompleteRequestSchema, async ({ params }, extra) => {
    try {
      return await core.completions.complete(params, participant(core, actor, extra, server));
    } catch (error) {
      throw asRpcError(core, error);
    }
  });
}

/**
 * The caller of a request. A closed connection is not a cancelled call (2025-11-25, "Sending Messages to the Server"),
 * and neither is a client's own timeout: both only mean that the client stopped waiting.
 */
function participant(core: McpCore, actor: () => Actor, extra: Extra, server: SessionServer): Participant {
  const cancellation = new Cancellation({
    aborted: () => extra.signal,
    isClosing: () => server.closing,
    hangUp: () => hangUpSignalOf(extra),
  });
  return {
    // Read each time: while a user was asked, the login may have lost the right.
    get actor() {
      return actor();
    },
    request_id: core.newRequestId(),
    client: softwareOf(server.getClientVersion()),
    get signal() {
      return cancellation.signal;
    },
    get disconnected() {
      return cancellation.disconnected;
    },
    idempotency_key: extra._meta?.[IDEMPOTENCY_META_KEY],
    progress: progressReporter(extra._meta?.progressToken, core.clock, (params) =>
      extra.sendNotification({ method: 'notifications/progress', params }),
    ),
  };
}

function hangUpSignalOf({ authInfo }: Extra): AbortSignal | undefined {
  const hangup = authInfo?.extra?.hangup;
  return typeof hangup === 'function' ? (hangup() as AbortSignal) : undefined;
}

/** Elicitation through the client, when it has declared the capability. */
function elicitationOf(server: Server, extra: Extra, askMs: number): Elicitation | undefined {
  const elicitation = server.getClientCapabilities()?.elicitation;
  if (elicitation === undefined || (elicitation.form === undefined && elicitation.url !== undefined)) return undefined;
  return { kind: 'now', ask: (asked) => ask(extra, asked, askMs) };
}

async function ask(extra: Extra, asked: Asked, timeout: number): Promise<ConfirmationReply> {
  const params = { mode: 'form' as const, message: asked.message, requestedSchema: confirmForm(asked) };
  try {
    const request = { method: 'elicitation/create' as const, params };
    const { action, content } = await extra.sendRequest(request, ElicitResultSchema, { timeout, signal: extra.signal });
    return replyOf(action, content, asked.instead);
  } catch (error) {
    const late = error instanceof McpError && error.code === ErrorCode.RequestTimeout;
    return { outcome: late ? 'timeout' : 'cancel' };
  }
}

function asRpcError(core: McpCore, error: unknown): McpError {
  if (error instanceof UnknownResource) return new McpError(RESOURCE_NOT_FOUND, error.message, { uri: error.uri });
  if (error instanceof PromptProblem) return new McpError(ErrorCode.InvalidParams, error.message);
  const known = asServiceError(error);
  if (isOurFault(known)) core.log.error({ err: known.cause ?? known }, 'mcp request failed');
  return new McpError(
    known.status >= 500 ? ErrorCode.InternalError : ErrorCode.InvalidParams,
    cleanText(known.message),
    errorData(known),
  );
}
