/** The fixtures on a server of the product, revisions up to 2025-11-25. */

import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import * as mcp from '@modelcontextprotocol/sdk/types.js';
import { listed, PLAIN, PROMPT_ENTRIES, promptOf, RESOURCE_ENTRIES, resourceOf, STEPS, said, wait } from './content.js';

type Extra = RequestHandlerExtra<mcp.ServerRequest, mcp.ServerNotification>;
type Fixture = (args: Record<string, unknown>, extra: Extra) => Promise<mcp.CallToolResult>;

async function elicit(extra: Extra, message: string, requestedSchema: mcp.ElicitRequestFormParams['requestedSchema']) {
  const request = {
    method: 'elicitation/create' as const,
    params: { mode: 'form' as const, message, requestedSchema },
  };
  const { action, content } = await extra.sendRequest(request, mcp.ElicitResultSchema);
  return said(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
}

const options = ['option1', 'option2', 'option3'];
const titled = ['First Option', 'Second Option', 'Third Option'].map((title, i) => ({ const: `value${i + 1}`, title }));

const TOOLS: Record<string, Fixture> = {
  ...Object.fromEntries(Object.entries(PLAIN).map(([name, result]) => [name, async () => result])),
  json_schema_2020_12_tool: async () => said('ok'),
  test_tool_with_logging: async (_args, extra) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
      await wait(50);
    }
    return said('Logged.');
  },
  test_tool_with_progress: async (_args, extra) => {
    const progressToken = extra._meta?.progressToken;
    for (const progress of STEPS) {
      if (progressToken !== undefined)
        await extra.sendNotification({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100 },
        });
      await wait(50);
    }
    return said('Done.');
  },
  test_sampling: async ({ prompt }, extra) => {
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: String(prompt) } }];
    const request = { method: 'sampling/createMessage' as const, params: { messages, maxTokens: 100 } };
    const { content } = await extra.sendRequest(request, mcp.CreateMessageResultSchema);
    return said(`LLM response: ${content.type === 'text' ? content.text : content.type}`);
  },
  test_elicitation: async ({ message }, extra) =>
    elicit(extra, String(message), {
      type: 'object',
      properties: {
        username: { type: 'string', description: "User's response" },
        email: { type: 'string', description: "User's email address" },
      },
      required: ['username', 'email'],
    }),
  test_elicitation_sep1034_defaults: async (_args, extra) =>
    elicit(extra, 'Please check.', {
      type: 'object',
      properties: {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      },
    }),
  test_elicitation_sep1330_enums: async (_args, extra) =>
    elicit(extra, 'Please choose.', {
      type: 'object',
      properties: {
        untitledSingle: { type: 'string', enum: options },
        titledSingle: { type: 'string', oneOf: titled },
        legacyEnum: {
          type: 'string',
          enum: ['opt1', 'opt2', 'opt3'],
          enumNames: ['Option One', 'Option Two', 'Option Three'],
        },
        untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
        titledMulti: { type: 'array', items: { anyOf: titled } },
      },
    }),
};

type Handler = (request: unknown, extra: Extra) => Promise<never>;

/** Adds the fixtures; everything else stays the product's. */
export function withLegacyFixtures(server: Server): Server {
  const own = (server as unknown as { _requestHandlers: Map<string, Handler> })._requestHandlers;
  const before = new Map(own);
  const otherwise = (method: string, request: unknown, extra: Extra) => {
    const handler = before.get(method);
    if (handler === undefined) throw new Error(`The product does not serve ${method}.`);
    return handler(request, extra);
  };
  server.setRequestHandler(mcp.ListToolsRequestSchema, async (request, extra) => {
    const { tools } = (await otherwise('tools/list', request, extra)) as mcp.ListToolsResult;
    return { tools: [...tools, ...listed(Object.keys(TOOLS))] as mcp.Tool[] };
  });
  server.setRequestHandler(mcp.CallToolRequestSchema, async (request, extra) => {
    const fixture = TOOLS[request.params.name];
    return fixture === undefined
      ? otherwise('tools/call', request, extra)
      : fixture(request.params.arguments ?? {}, extra);
  });
  server.setRequestHandler(mcp.ListPromptsRequestSchema, async (request, extra) => {
    const { prompts } = (await otherwise('prompts/list', request, extra)) as mcp.ListPromptsResult;
    return { prompts: [...prompts, ...PROMPT_ENTRIES] };
  });
  server.setRequestHandler(
    mcp.GetPromptRequestSchema,
    async (request, extra) =>
      promptOf(request.params.name, request.params.arguments) ?? otherwise('prompts/get', request, extra),
  );
  server.setRequestHandler(mcp.ListResourcesRequestSchema, async (request, extra) => {
    const { resources } = (await otherwise('resources/list', request, extra)) as mcp.ListResourcesResult;
    return { resources: [...resources, ...RESOURCE_ENTRIES] };
  });
  server.setRequestHandler(
    mcp.ReadResourceRequestSchema,
    async (request, extra) => resourceOf(request.params.uri) ?? otherwise('resources/read', request, extra),
  );
  for (const schema of [mcp.SubscribeRequestSchema, mcp.UnsubscribeRequestSchema] as const) {
    server.setRequestHandler(schema, async (request, extra) =>
      request.params.uri.startsWith('test://') ? {} : otherwise(request.method, request, extra),
    );
  }
  return server;
}
