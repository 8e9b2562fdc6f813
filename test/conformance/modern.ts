/** The fixtures on a server of the product, revision 2026-07-28. */

import type {
  CallToolResult,
  GetPromptResult,
  InputRequiredResult,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  inputRequired,
  MissingRequiredClientCapabilityError,
  ProtocolError,
} from '@modelcontextprotocol/server';
import { declaresTasks, TASKS_REQUIRED, taskParams } from '../../src/surfaces/mcp/tasks.js';
import {
  listed,
  PLAIN,
  PROMPT_ENTRIES,
  promptOf,
  RESOURCE_ENTRIES,
  resourceOf,
  STEPS,
  said,
  text,
  wait,
} from './content.js';

import { answerOf, asking, later } from './tasks.js';

type Outcome = CallToolResult | InputRequiredResult;
type Fixture = (ctx: ServerContext, args: Record<string, unknown>) => Promise<Outcome>;

const states = createRequestStateCodec<{ round: number }>({ key: 'a key for tests only, 32 bytes long' });

const form = (message: string, name: string, type: 'string' | 'boolean' = 'string') =>
  inputRequired.elicit({
    message,
    requestedSchema: {
      type: 'object',
      properties: { [name]: type === 'string' ? { type } : { type } },
      required: [name],
    },
  });
const sample = (message: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(message) }], maxTokens });

const answered = (ctx: ServerContext, key: string) => ctx.mcpReq.inputResponses?.[key];
const accepted = (ctx: ServerContext, key: string) => acceptedContent(ctx.mcpReq.inputResponses, key);

/** The round proven by an echoed state; a forged one ends the call. */
async function roundOf(ctx: ServerContext): Promise<number> {
  const state = ctx.mcpReq.requestState<string>();
  if (state === undefined) return 0;
  try {
    return (await states.verify(state, ctx)).round;
  } catch {
    throw new ProtocolError(-32602, 'Invalid or expired requestState');
  }
}

function capabilities(ctx: ServerContext): Record<string, unknown> {
  const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined;
  return (envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Record<string, unknown>;
}

const TOOLS: Record<string, Fixture> = {
  ...Object.fromEntries(Object.entries(PLAIN).map(([name, result]) => [name, async () => result])),
  json_schema_2020_12_tool: async () => said('ok'),
  test_logging_tool: async () => said('Nothing was logged.'),
  test_tool_with_progress: async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of STEPS) {
      if (progressToken !== undefined)
        await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await wait(50);
    }
    return said('Done.');
  },
  test_missing_capability: async (ctx) => {
    if (capabilities(ctx).sampling === undefined)
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    return said('The client can sample.');
  },
  test_streaming_elicitation: async () =>
    inputRequired({ inputRequests: { user_name: form('What is your name?', 'name') } }),
  test_input_required_result_elicitation: async (ctx) => {
    const content = accepted(ctx, 'user_name');
    if (content === undefined)
      return inputRequired({ inputRequests: { user_name: form('What is your name?', 'name') } });
    return said(`Hello, ${String(content.name)}!`);
  },
  test_input_required_result_sampling: async (ctx) =>
    answered(ctx, 'capital_question') === undefined
      ? inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?', 100) } })
      : said(JSON.stringify(answered(ctx, 'capital_question'))),
  test_input_required_result_list_roots: async (ctx) =>
    answered(ctx, 'client_roots') === undefined
      ? inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
      : said(JSON.stringify(answered(ctx, 'client_roots'))),
  test_input_required_result_request_state: async (ctx) => withState(ctx),
  test_input_required_result_tampered_state: async (ctx) => withState(ctx),
  test_input_required_result_multiple_inputs: async (ctx) => {
    const keys = ['user_name', 'greeting', 'client_roots'];
    if ((await roundOf(ctx)) === 1 && keys.every((key) => answered(ctx, key) !== undefined)) return said('All there.');
    return inputRequired({
      inputRequests: {
        user_name: form('What is your name?', 'name'),
        greeting: sample('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await states.mint({ round: 1 }),
    });
  },
  test_input_required_result_multi_round: async (ctx) => {
    const round = await roundOf(ctx);
    if (round === 2 && accepted(ctx, 'step2') !== undefined) return said('Both steps done.');
    const second = round === 1 && accepted(ctx, 'step1') !== undefined;
    return inputRequired({
      inputRequests: second
        ? { step2: form('Step 2: What is your favorite color?', 'color') }
        : { step1: form('Step 1: What is your name?', 'name') },
      requestState: await states.mint({ round: second ? 2 : 1 }),
    });
  },
  test_input_required_result_capabilities: async (ctx) =>
    inputRequired({
      inputRequests: {
        ...(capabilities(ctx).elicitation === undefined ? {} : { user_name: form('What is your name?', 'name') }),
        ...(capabilities(ctx).sampling === undefined ? {} : { greeting: sample('Generate a greeting', 50) }),
      },
    }),
};

/** Tools whose work is a task for clients that declare tasks. */
const TASK_TOOLS: Record<string, Fixture> = {
  greet: async (_ctx, { name }) => said(`Hello, ${name}!`),
  slow_compute: async (ctx, { seconds }) => {
    const ms = Number(seconds) * 1000;
    if (declaresTasks(capabilities(ctx)))
      return later(ms, { status: 'completed', result: said(`Computed for ${seconds} s.`) });
    await wait(ms);
    return said(`Computed for ${seconds} s.`);
  },
  failing_job: async (ctx) => {
    requireTasks(ctx);
    return later(300, { status: 'completed', result: { ...said('The job failed.'), isError: true } });
  },
  protocol_error_job: async (ctx) => {
    requireTasks(ctx);
    return later(300, { status: 'failed', error: { code: -32603, message: 'The job broke.' } });
  },
  confirm_delete: async (ctx, { filename }) => {
    requireTasks(ctx);
    return asking({ confirm: form(`Delete ${filename}?`, 'confirm', 'boolean') }, () => said(`Deleted ${filename}.`));
  },
  multi_input: async (ctx) => {
    requireTasks(ctx);
    const both = { first: form('What is your name?', 'name'), second: form('And hers?', 'name') };
    return asking(both, () => said('Both are known.'));
  },
  test_tool_with_task: async (ctx) => {
    requireTasks(ctx);
    const content = accepted(ctx, 'user_name');
    if (content === undefined)
      return inputRequired({ inputRequests: { user_name: form('What is your name?', 'name') } });
    return later(100, { status: 'completed', result: said(`Hello, ${String(content.name)}!`) });
  },
};
Object.assign(TOOLS, TASK_TOOLS);

function requireTasks(ctx: ServerContext): void {
  if (!declaresTasks(capabilities(ctx))) throw new MissingRequiredClientCapabilityError(TASKS_REQUIRED);
}

async function withState(ctx: ServerContext): Promise<Outcome> {
  if ((await roundOf(ctx)) === 1 && accepted(ctx, 'confirm') !== undefined) return said('state-ok');
  const inputRequests = { confirm: form('Please confirm', 'ok', 'boolean') };
  return inputRequired({ inputRequests, requestState: await states.mint({ round: 1 }) });
}

const ASKING_PROMPT = 'test_input_required_result_prompt';

function askingPrompt(ctx: ServerContext): GetPromptResult | InputRequiredResult {
  const content = accepted(ctx, 'user_context');
  if (content === undefined)
    return inputRequired({ inputRequests: { user_context: form('What context should the prompt use?', 'context') } });
  return { messages: [{ role: 'user', content: text(String(content.context)) }] };
}

type Handler = (request: unknown, ctx: ServerContext) => Promise<never>;

/** Adds the fixtures; everything else stays the product's. */
export function withModernFixtures(server: Server): Server {
  const before = new Map((server as unknown as { _requestHandlers: Map<string, Handler> })._requestHandlers);
  const otherwise = (method: string, request: unknown, ctx: ServerContext) => {
    const handler = before.get(method);
    if (handler === undefined) throw new Error(`The product does not serve ${method}.`);
    return handler(request, ctx);
  };
  server.setRequestHandler('tools/list', async (request, ctx) => {
    const result = (await otherwise('tools/list', request, ctx)) as { tools: object[] };
    return { ...result, tools: [...result.tools, ...listed(Object.keys(TOOLS))] } as never;
  });
  server.setRequestHandler('tools/call', async (request, ctx) => {
    const fixture = TOOLS[request.params.name];
    return fixture === undefined ? otherwise('tools/call', request, ctx) : fixture(ctx, request.params.arguments ?? {});
  });
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'] as const)
    server.setRequestHandler(
      method,
      { params: taskParams },
      async (params, ctx) => answerOf(method, params.taskId, ctx) ?? otherwise(method, { params }, ctx),
    );
  server.setRequestHandler('prompts/list', async (request, ctx) => {
    const { prompts } = (await otherwise('prompts/list', request, ctx)) as { prompts: [] };
    return { prompts: [...prompts, ...PROMPT_ENTRIES, { name: ASKING_PROMPT, description: 'Fixture.' }] };
  });
  server.setRequestHandler('prompts/get', async (request, ctx) => {
    if (request.params.name === ASKING_PROMPT) return askingPrompt(ctx);
    return promptOf(request.params.name, request.params.arguments) ?? otherwise('prompts/get', request, ctx);
  });
  server.setRequestHandler('resources/list', async (request, ctx) => {
    const { resources } = (await otherwise('resources/list', request, ctx)) as { resources: [] };
    return { resources: [...resources, ...RESOURCE_ENTRIES] };
  });
  server.setRequestHandler(
    'resources/read',
    async (request, ctx) => resourceOf(request.params.uri) ?? otherwise('resources/read', request, ctx),
  );
  return server;
}
