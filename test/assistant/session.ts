/** One conversation of an assistant: its visible tools, its calls, and the cost of the answers in tokens. */

import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { Tiktoken } from 'js-tiktoken/lite';
import ranks from 'js-tiktoken/ranks/o200k_base';
import { running } from '../safety/safety-app.js';
import type { Answer } from '../support/harness.js';
import { connect, type Driver, textOf } from '../support/mcp-clients.js';
import type { AssistantFleet } from './fleets.js';

const o200k = new Tiktoken(ranks);

/** Local ports differ between runs, and so would their tokens. */
const PORT = /127\.0\.0\.1:\d+/g;

function tokensOf(result: CallToolResult): number {
  const text = result.content.map((_, index) => textOf(result, index)).join('\n');
  return o200k.encode(text.replace(PORT, '127.0.0.1:8080')).length;
}

/** A call suggested by an answer: a tool and its arguments as JSON. */
const NAMED = /\b(svc-[a-z-]+-v\d+) (\{.*?\})(?=$|["\n])/gm;

export class Session {
  calls = 0;
  tokens = 0;
  /** Number of calls suggested by answers, all of which were tried. */
  named = 0;

  private constructor(
    private readonly fleet: AssistantFleet,
    private readonly driver: Driver,
    private readonly tools: ReadonlySet<string>,
  ) {}

  /** @param toolsets the toolsets the connection requests; '' for the default */
  static async open(fleet: AssistantFleet, toolsets: string): Promise<Session> {
    const { target, url } = fleet.mcp;
    const query = toolsets === '' ? '' : `?toolsets=${toolsets}`;
    const driver = await connect(['2025-11-25', 'http'], { ...target, url: `${url}${query}` });
    const tools = new Set((await driver.listTools()).map(({ name }) => name));
    return new Session(fleet, driver, tools);
  }

  /** Calls a tool by its short name; throws unless it is listed and succeeds. */
  call(name: string, args: Record<string, unknown> = {}): Promise<Answer> {
    return this.use(`svc-${name}-v1`, args);
  }

  /** Finds an operation that is not listed, by what is to be done, and runs the first of those found: two calls. */
  async findAndRun(query: string, name: string, input: Record<string, unknown>): Promise<Answer> {
    const { operations } = await this.use('search-operations', { query });
    const [{ operation }] = operations;
    if (operation !== `svc-${name}-v1`) throw new Error(`search-operations finds ${operation} first for: ${query}`);
    return this.use('run-operation', { operation, input });
  }

  /** As `call`, with the whole name of the tool. */
  private async use(tool: string, args: Record<string, unknown>): Promise<Answer> {
    if (!this.tools.has(tool)) throw new Error(`${tool} is not shown to this connection`);
    this.calls += 1;
    const result = await running(this.fleet.mcp.app, this.driver.call(tool, args));
    if (result.isError === true) throw new Error(`${tool} ${JSON.stringify(args)}: ${textOf(result)}`);
    this.tokens += tokensOf(result);
    const answer = result.structuredContent as Answer;
    await this.tryNamed([...textsOf(answer), ...result.content.slice(1).map((_, at) => textOf(result, at + 1))]);
    return answer;
  }

  /**
   * Tries the calls that an answer suggests: they must work as they stand. Changes are only previewed; nothing is
   * counted.
   */
  private async tryNamed(texts: readonly string[]): Promise<void> {
    for (const [, tool = '', json = ''] of texts.flatMap((text) => [...text.matchAll(NAMED)])) {
      const args = JSON.parse(json) as Record<string, unknown>;
      const reads = /^svc-(get|list|search|count|diagnose)-/.test(tool);
      const { confirm: _, ...harmless } = reads ? args : { ...args, dry_run: true };
      const result = await running(this.fleet.mcp.app, this.driver.call(tool, harmless));
      this.named += 1;
      if (result.isError === true) throw new Error(`an answer names ${tool} ${json}, which fails: ${textOf(result)}`);
    }
  }

  close(): Promise<void> {
    return this.driver.close();
  }
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsOf) : [];
}
