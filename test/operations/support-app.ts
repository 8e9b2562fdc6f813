/** A simulated fleet behind both ways in of an operation: a tool over MCP, and the run endpoint over HTTP. */

import { expect } from 'vitest';
import type { PluginState } from '../../src/demo/state.js';
import { operations } from '../../tools/index.js';
import { ordinary, running } from '../safety/safety-app.js';
import type { Answer, TestOptions } from '../support/harness.js';
import { newUser } from '../support/logins.js';
import { connect, type McpApp, mcpApp, textOf } from '../support/mcp-clients.js';
import { tokens } from '../support/tokens.js';

/** Tokens of an answer, at most. */
const MOST_TOKENS = 5_000;
const PASSWORD = 'correct horse';

export interface SupportApp extends McpApp {
  /** Reads the same over both ways in, and returns the answer. */
  ask(name: string, input?: Record<string, unknown>): Promise<Answer>;
  /** One call over MCP. */
  tool(name: string, input?: Record<string, unknown>): Promise<Answer>;
  /** One call of the run endpoint, by the method of the operation: its status and its body. */
  post(name: string, input?: Record<string, unknown>): Promise<{ status: number; body: Answer }>;
  /** A tool and its arguments, as an answer names them. */
  follow(next: string): Promise<Answer>;
  cell(sql: string, ...args: (string | number | null)[]): Promise<unknown>;
}

/** Operations are tools here, `svc-…-v1`, and elsewhere `…-v1`. */
const named = (answer: Answer): Answer =>
  JSON.parse(
    JSON.stringify(answer).replace(/(?<![a-z-])([a-z]+(?:-[a-z]+)+-v1)\b/g, (name) =>
      name.startsWith('svc-') ? name : `svc-${name}`,
    ),
  );

/** @param prepare changes the sites before they are connected */
export async function supportApp(
  options: TestOptions & { connected?: number; prepare?: (app: McpApp['app']) => void } = {},
): Promise<SupportApp> {
  const { connected = 0, prepare, ...others } = options;
  const mcp = await mcpApp({ sites: connected, realClock: false, fleet: { plugins: 3 }, ...others });
  prepare?.(mcp.app);
  for (let place = 0; place < connected; place++) await mcp.app.connect(place);
  await newUser(mcp.app.service.store.users, 'ada', PASSWORD);
  const authorization = `Basic ${Buffer.from(`ada:${PASSWORD}`).toString('base64')}`;
  const toolsets = 'default,support,monitoring,costs';
  const driver = await connect(['2025-11-25', 'http'], { ...mcp.target, url: `${mcp.url}?toolsets=${toolsets}` });
  const run = <T>(work: Promise<T>) => running(mcp.app, work);
  const calls = {
    async tool(name: string, input: Record<string, unknown> = {}) {
      const result = await run(driver.call(`svc-${name}-v1`, input));
      if (result.isError === true) throw new Error(textOf(result));
      const answer = result.structuredContent as Answer;
      expect(tokens(answer)).toBeLessThanOrEqual(MOST_TOKENS);
      return answer;
    },
    async post(name: string, input: Record<string, unknown> = {}) {
      const url = mcp.url.replace(/\/mcp$/, `/wp-json/wp-abilities/v1/abilities/svc/${name}-v1/run`);
      const headers = { authorization, 'content-type': 'application/json' };
      const fields = Object.entries(input).map(([field, value]) => [`input[${field}]`, String(value)] as const);
      const query = new URLSearchParams(Object.fromEntries(fields));
      const reads = operations.find(({ id }) => id === `svc/${name}-v1`)?.methods.includes('POST') === false;
      const response = await run(
        reads
          ? fetch(`${url}?${query}`, { headers })
          : fetch(url, { method: 'POST', headers, body: JSON.stringify({ input }) }),
      );
      return { status: response.status, body: (await response.json()) as Answer };
    },
    async ask(name: string, input: Record<string, unknown> = {}) {
      const answer = await calls.tool(name, input);
      const { status, body } = await calls.post(name, input);
      expect(status, JSON.stringify(body)).toBe(200);
      expect(named(body)).toEqual(named(answer));
      return answer;
    },
    follow(next: string) {
      const [, name = '', input = ''] = /^svc-(.+)-v1 (\{.*\})$/.exec(next) ?? [];
      return calls.tool(name, JSON.parse(input) as Record<string, unknown>);
    },
    cell: async (sql: string, ...args: (string | number | null)[]) =>
      Object.values((await mcp.app.db.one(sql, args)) ?? { nothing: undefined })[0],
  };
  return Object.assign(mcp, calls);
}

/** A plugin like those of the site, active and without an update. */
export function plugin(app: McpApp['app'], place: number, change: Partial<PluginState>): PluginState {
  const site = app.fleet.site(place);
  const [like] = ordinary(site);
  if (like === undefined) throw new Error('a site without a plugin');
  const made = { ...like, active: true, premium: false, update: null, breaksOnActivation: false, ...change };
  site.state.plugins.push(made);
  return made;
}
