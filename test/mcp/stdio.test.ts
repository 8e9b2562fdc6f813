/** `sitefleet stdio` as assistants start it, in both eras: the built program in its own process. `npm test` builds it first. */

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_TOOLSETS } from '../../src/runtime/toolsets.js';
import { operations } from '../../tools/index.js';
import { tempFolder, tracked } from '../support/cleanup.js';
import { INITIALIZE, PATIENT } from '../support/mcp-messages.js';

const cli = resolve(process.env.SITEFLEET_TEST_CLI ?? 'dist/src/cli.js');
const folder = tempFolder('mcp-stdio');
const bin = join(folder, 'node_modules', '.bin', 'sitefleet');

beforeAll(() => {
  if (!existsSync(cli)) throw new Error(`${cli} is not there: run "npm run build" first.`);
  // As npm links a bin.
  mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true });
  symlinkSync(cli, bin);
});

const environment = (name: string, more: Record<string, string> = {}) => ({
  PATH: process.env.PATH ?? '',
  HOME: join(folder, name),
  ...more,
});

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  [CAPABILITIES]: {},
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
};

function started(name: string, env?: Record<string, string>) {
  const child = tracked(
    spawn(process.execPath, [bin, 'stdio'], { cwd: '/', env: environment(name, env), stdio: 'pipe' }),
  );
  child.stderr.resume();
  return child;
}

/** Writes the messages, closes stdin and returns every line of stdout. */
function talk(
  name: string,
  messages: object[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; lines: string[] }> {
  return new Promise((done) => {
    const child = started(name, env);
    let out = '';
    child.stdout.on('data', (chunk) => (out += String(chunk)));
    child.once('close', (code) => done({ code, lines: out.split('\n').filter((line) => line !== '') }));
    child.stdin.end(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
  });
}

/** Sends one message at a time, each after the answer to the previous one; then closes the input. */
async function converse(name: string, messages: Message[]): Promise<Map<number, Answer>> {
  const child = started(name);
  const answers = new Map<number, Answer>();
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  for (const message of messages) {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    while (message.id !== undefined && !answers.has(message.id)) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`The server ended before it answered ${message.id}.`);
      const answer = JSON.parse(value) as Answer;
      // The acknowledgement of a subscription.
      const id = answer.id ?? answer.params?._meta?.['io.modelcontextprotocol/subscriptionId'];
      if (id !== undefined) answers.set(Number(id), answer);
    }
  }
  child.stdin.end();
  await new Promise((resolve) => child.once('close', resolve));
  return answers;
}

interface Message {
  id?: number;
  method: string;
  params?: object | undefined;
}

interface Answer {
  id?: number;
  method?: string;
  params?: { _meta?: Record<string, unknown> };
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

describe('sitefleet stdio', () => {
  it.each(['legacy', 'auto'] as const)(
    'serves a client that negotiates "%s", from any folder, unconfigured',
    async (mode) => {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [bin, 'stdio'],
        env: environment(`client-${mode}`),
        cwd: '/',
        stderr: 'ignore',
      });
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      await client.connect(transport, PATIENT);
      expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'legacy' ? '2025-11-25' : '2026-07-28');
      const shown = operations.filter(({ group }) => DEFAULT_TOOLSETS.includes(group));
      // Two more find and run the others.
      expect((await client.listTools(undefined, PATIENT)).tools).toHaveLength(shown.length + 2);
      expect(
        (await client.callTool({ name: 'svc-add-tag-v1', arguments: { name: 'Shops' } }, PATIENT)).structuredContent,
      ).toMatchObject({
        name: 'Shops',
      });
      await client.close();
    },
  );

  it('writes nothing but JSON-RPC to stdout, whatever is logged, and ends with its input', async () => {
    const { code, lines } = await talk(
      'raw',
      [
        { id: 1, method: 'server/discover', params: { _meta: meta } },
        { id: 2, method: 'tools/call', params: { name: 'svc-count-sites-v1', arguments: {}, _meta: meta } },
        { id: 3, method: 'tools/call', params: { name: 'no such tool', arguments: {}, _meta: meta } },
        { id: 4, method: 'resources/read', params: { uri: 'svc://tags', _meta: meta } },
      ],
      { SITEFLEET_LOG_LEVEL: 'trace' },
    );
    const answers = lines.map(
      (line) => JSON.parse(line) as { jsonrpc: string; id: number; result: Record<string, unknown> },
    );
    answers.sort((a, b) => a.id - b.id);
    expect(answers.map(({ jsonrpc, id }) => [jsonrpc, id])).toEqual([
      ['2.0', 1],
      ['2.0', 2],
      ['2.0', 3],
      ['2.0', 4],
    ]);
    expect(answers[0]?.result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      ttlMs: 3_600_000,
      cacheScope: 'public',
    });
    expect(answers[1]?.result).toMatchObject({ resultType: 'complete', structuredContent: { total: 0 } });
    expect(answers[2]?.result).toMatchObject({ isError: true });
    expect(answers[3]?.result).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    expect(code).toBe(0);
  });

  it.each([
    ['2025-11-25', {}],
    ['2026-07-28', { _meta: meta }],
  ])('lists the same tools each time, under the id of each request (%s)', async (_era, params) => {
    const ids = [1, 2, '"tools":[]'];
    const greeting = '_meta' in params ? [] : [{ ...INITIALIZE, id: 0 }, { method: 'notifications/initialized' }];
    const requests = ids.map((id) => ({ id, method: 'tools/list', params }));
    const { lines } = await talk('listed', [...greeting, ...requests]);
    const listed = lines.map((line) => JSON.parse(line) as Answer).filter(({ id }) => ids.includes(id as never));
    expect(listed.map(({ id }) => id).sort()).toEqual([...ids].sort());
    const [first, ...more] = listed.map(({ result }) => result);
    expect(first?.tools).toContainEqual(expect.objectContaining({ name: 'svc-count-sites-v1' }));
    for (const result of more) expect(result).toEqual(first);
  });

  it('refuses what is not of either era without falling over', async () => {
    const { code, lines } = await talk('odd', [
      {
        id: 1,
        method: 'tools/list',
        params: { _meta: { ...meta, 'io.modelcontextprotocol/protocolVersion': '2030-01-01' } },
      },
      { id: 2, method: 'tools/list', params: { _meta: meta } },
    ]);
    const answers = lines.map((line) => JSON.parse(line));
    expect(answers[0]).toMatchObject({ id: 1, error: { code: -32022 } });
    expect(answers[1]).toMatchObject({ id: 2, result: { ttlMs: 300_000, cacheScope: 'private' } });
    expect(code).toBe(0);
  });

  it('lets a client that discovered go on in the old era', async () => {
    const count = (id: number) => ({ id, method: 'tools/call', params: { name: 'svc-count-sites-v1', arguments: {} } });
    const answers = await converse('fallback', [
      { id: 1, method: 'server/discover', params: { _meta: meta } },
      {
        id: 2,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
      },
      { method: 'notifications/initialized' },
      count(3),
      count(4),
    ]);
    expect(answers.get(1)?.result).toHaveProperty('supportedVersions');
    expect(answers.get(2)?.result).toMatchObject({ protocolVersion: '2025-11-25' });
    for (const id of [3, 4]) {
      expect(answers.get(id)?.result).toMatchObject({ structuredContent: { total: 0 } });
      expect(answers.get(id)?.result).not.toHaveProperty('resultType');
    }
  });

  it('answers what is odd as the protocol says, also once the era is decided', async () => {
    const count = { name: 'svc-count-sites-v1', arguments: {} };
    const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const sent: [method: string, params: object | undefined, outcome: object][] = [
      ['tools/call', { ...count, _meta: meta }, { result: { structuredContent: { total: 0 } } }],
      ['tools/call', count, { error: { code: -32602 } }],
      ['tools/call', undefined, { error: { code: -32602 } }],
      ['tools/call', { ...count, _meta: { ...meta, [CAPABILITIES]: 7 } }, { error: { code: -32602 } }],
      ['tools/call', { name: 7, _meta: meta }, { error: { code: -32602 } }],
      ['no/such', { _meta: meta }, { error: { code: -32601 } }],
      ['ping', undefined, { error: { code: -32601 } }],
      ['initialize', initialize, { error: { code: -32022 } }],
      ['initialize', { ...initialize, _meta: meta }, { error: { code: -32601 } }],
      ['subscriptions/listen', { _meta: meta, notifications: { toolsListChanged: true } }, { method: ACKNOWLEDGED }],
      ['server/discover', { _meta: meta }, { result: { supportedVersions: ['2026-07-28'] } }],
      ['tools/call', { ...count, _meta: meta }, { result: { structuredContent: { total: 0 } } }],
    ];
    const answers = await converse(
      'odd-later',
      sent.map(([method, params], index) => ({ id: index + 1, method, params })),
    );
    for (const [index, [method, , outcome]] of sent.entries())
      expect([method, answers.get(index + 1)]).toMatchObject([method, outcome]);
  });
});
