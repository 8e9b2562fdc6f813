/**
 * The copyable examples of the README and of the documents for users: each configuration is started, each call is sent, and none needs a package that is
 * not published.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { describeConfig } from '../../src/runtime/config/config.js';
import { DEFAULT_TOOLSETS, TOOLSETS } from '../../src/runtime/toolsets.js';
import { operations } from '../../tools/index.js';
import { tempFolder } from '../support/cleanup.js';
import { PATIENT } from '../support/mcp-messages.js';
import { type Commands, commands, type Served } from '../support/processes/commands.js';

const readme = ['README.md', 'docs/assistants.md', 'docs/using.md', 'docs/configuration.md']
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`^ *\`\`\`${language}\n([\\s\\S]*?)^ *\`\`\``, 'gm'))].map(([, text = '']) => text);

interface Stdio {
  command: string;
  args: string[];
}
interface Http {
  url: string;
  headers: Record<string, string>;
}

/** Initializes and lists the tools, as the program that reads the configuration would. */
async function listed(transport: StdioClientTransport | StreamableHTTPClientTransport) {
  const client = new Client({ name: 'readme', version: '1' });
  await client.connect(transport, PATIENT);
  const { tools } = await client.listTools(undefined, PATIENT);
  await client.close();
  return tools;
}

const toolsOver = async (transport: StdioClientTransport | StreamableHTTPClientTransport): Promise<number> =>
  (await listed(transport)).length;

const viaStdio = ({ command, args }: Stdio) => {
  const home = tempFolder('readme');
  return toolsOver(
    new StdioClientTransport({
      command,
      args: args.map((text) => text.replace('<folder>', resolve('.'))),
      env: { PATH: process.env.PATH ?? '', HOME: home, XDG_DATA_HOME: home, SITEFLEET_LOG_LEVEL: 'error' },
      stderr: 'ignore',
    }),
  );
};

describe('configurations of assistants', () => {
  const shown = blocks('json').map((text) => JSON.parse(text) as { mcpServers?: object; servers?: object });
  const ready = JSON.parse(readFileSync('mcp.json', 'utf8')) as { mcpServers: Record<string, Stdio & Http> };

  it('are all JSON, two of them', () => expect(shown).toHaveLength(2));

  it.each(shown.map((config, index) => [index, config] as const))('%i starts an assistant', async (_index, config) => {
    const servers = Object.values(config.mcpServers ?? config.servers ?? {}) as Stdio[];
    expect(servers).toHaveLength(1);
    for (const server of servers) expect(await viaStdio(server)).toBeGreaterThan(50);
  });

  it('mcp.json starts one in this folder', async () => {
    expect(await viaStdio(ready.mcpServers.sitefleet as Stdio)).toBeGreaterThan(50);
  });
});

describe('calls', () => {
  let run: Commands;
  let server: Served;
  beforeAll(async () => {
    run = await commands();
    server = (await run.serve({ SITEFLEET_LOG_LEVEL: 'error' })).said;
  });
  const here = (url: string) => url.replace('http://127.0.0.1:8787', server.url);
  const withKey = (text: string) => text.replace(/<API_KEY>|\$\{input:\w+\}/, server.api_key ?? '');

  it('by curl are answered', async () => {
    const calls = blocks('sh').flatMap((text) =>
      text
        .replace(/\\\n/g, ' ')
        .split('\n')
        .filter((line) => line.trim().startsWith('curl ')),
    );
    expect(calls.length).toBeGreaterThan(3);
    for (const line of calls) {
      const url = /https?:\/\/[^\s"]+/.exec(line)?.[0] ?? '';
      const headers = [...line.matchAll(/-H (["'])([^"']+): ([^"']+)\1/g)].map(([, , name = '', value = '']) => [
        name,
        withKey(value),
      ]);
      const body = /-d '([^']+)'/.exec(line)?.[1];
      const answer = await fetch(here(url), {
        method: /-X (\w+)/.exec(line)?.[1] ?? 'GET',
        headers: headers as [string, string][],
        ...(body === undefined ? {} : { body }),
      });
      expect(answer.ok, `${line}\n${await answer.text()}`).toBe(true);
    }
  });

  it('by the shell take what they are given', () => {
    const calls = [...readme.matchAll(/sitefleet call ([a-z-]+) '([^']+)'/g)];
    expect(calls.length).toBeGreaterThan(1);
    for (const [, name = '', input = ''] of calls) {
      const operation = operations.find(({ id }) => id === `svc/${name}-v1`);
      expect(operation?.input().safeParse(JSON.parse(input)).success, `${name} ${input}`).toBe(true);
    }
  });

  it('to the addresses of its table are answered', async () => {
    const [, table = ''] = /## REST in a minute([\s\S]*?)## Commands/.exec(readme) ?? [];
    const addresses = [...table.matchAll(/`(\/[^`]*)`/g)].map(([, path = '']) => path);
    for (const path of ['/', '/mcp', '/v2/openapi.json', '/docs', '/healthz', '/readyz', '/metrics'])
      expect(addresses).toContain(path);
    for (const path of addresses.filter((each) => !/[<…]/.test(each))) {
      const answer = await fetch(`${server.url}${path}`, { headers: { accept: '*/*' } });
      // Without a login or a message some answer with an error, but they exist.
      expect([200, 401, 405, 406], path).toContain(answer.status);
    }
  });

  it('narrow and widen a connection as the table says', async () => {
    const [, table = ''] = /\| Address, header or command line([\s\S]*?)\n\n/.exec(readme) ?? [];
    const tools = (query: string, header: Record<string, string> = {}) => {
      const headers = { authorization: `Bearer ${server.api_key}`, ...header };
      return listed(new StreamableHTTPClientTransport(new URL(`${server.mcp}${query}`), { requestInit: { headers } }));
    };
    const usual = await tools('');
    const queries = [...table.matchAll(/`\/mcp(\?[^`]+)`/g)].map(([, query = '']) => query);
    expect(queries).toHaveLength(4);
    const [few = [], more = [], looking = [], lean = []] = await Promise.all(queries.map((query) => tools(query)));
    expect(few.length).toBeLessThan(usual.length);
    // The two tools that find all others are listed where no toolsets are named.
    const operations = usual.filter(({ name }) => name.startsWith('svc-'));
    expect(usual.length).toBe(operations.length + 2);
    expect(more.length).toBeGreaterThan(operations.length);
    expect(looking.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    expect(lean).toHaveLength(8);
    expect(await tools('', { 'x-sitefleet-toolsets': 'sites,insight' })).toEqual(few);
    expect(await tools('', { 'x-sitefleet-readonly': '1' })).toEqual(looking);
    // Those that are shown only when named.
    const named = /(`monitoring`[^.]*) are shown only when named/.exec(table)?.[1] ?? '';
    const extra = [...named.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    expect(extra.sort()).toEqual(TOOLSETS.filter((name) => !DEFAULT_TOOLSETS.includes(name)).sort());
  });

  it('by commands that there are, with options that they have', async () => {
    const { out } = await run.run({}, ['completion', 'bash']);
    const words = new Map(
      [...out.matchAll(/^ +'([^']*)'\) words='([^']*)'/gm)].map(([, after = '', list = '']) => [
        after,
        list.split(' '),
      ]),
    );
    const [, table = ''] = /## Commands([\s\S]*?)## Your data/.exec(readme) ?? [];
    const shown = [
      ...[...table.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell = '']) => [
        ...cell.matchAll(/`(?:sitefleet )?([^`]+)`/g),
      ]),
      ...readme.matchAll(/(?:`|^ *)sitefleet ([a-z][^`\n|#]*)/gm),
    ];
    expect(shown.length).toBeGreaterThan(30);
    for (const [whole, line = ''] of shown) {
      let path = '';
      for (const word of line.replace(/'[^']*'/g, '').split(/\s+/)) {
        // The file of an import is in the position of the subcommands.
        const commandsHere = path !== 'import' && words.get(path)?.includes('help') === true;
        if (/^--[a-z]/.test(word) ? path !== 'import' : commandsHere && /^[a-z]/.test(word))
          expect(words.get(path), whole).toContain(word);
        if (words.get(path)?.includes(word) === true && !word.startsWith('-')) path = `${path} ${word}`.trim();
      }
      expect(path, whole).not.toBe('');
    }
  });

  it('that the links for VS Code and Cursor set up reach the tools', async () => {
    const [vscode = '', cursor = ''] = ['insiders.vscode.dev', 'cursor.com'].map(
      (host) => new RegExp(`\\(https://${host.replaceAll('.', '\\.')}([^)]+)\\)`).exec(readme)?.[0].slice(1, -1) ?? '',
    );
    const asked = new URL(vscode).searchParams;
    const inputs = JSON.parse(asked.get('inputs') ?? '[]') as { id: string; password: boolean }[];
    const code = JSON.parse(asked.get('config') ?? '{}') as Http;
    expect(inputs).toMatchObject([{ type: 'promptString', password: true }]);
    expect(code.headers.Authorization).toBe(`Bearer \${input:${inputs[0]?.id}}`);
    const edited = JSON.parse(
      Buffer.from(new URL(cursor).searchParams.get('config') ?? '', 'base64').toString(),
    ) as Http;
    for (const { url, headers } of [code, edited]) {
      const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, withKey(value)]));
      expect(
        await toolsOver(new StreamableHTTPClientTransport(new URL(here(url)), { requestInit: { headers: sent } })),
      ).toBeGreaterThan(50);
    }
  });
});

it('names scripts, variables and a version of Node that hold', () => {
  const facts = JSON.parse(readFileSync('package.json', 'utf8')) as {
    scripts: Record<string, string>;
    engines: { node: string };
  };
  const scripts = [
    ...`${readme}\n${readFileSync('CONTRIBUTING.md', 'utf8')}`.matchAll(/npm (?:run )?((?<=run )[\w:]+|start|test)\b/g),
  ].map(([, name = '']) => name);
  expect(scripts.length).toBeGreaterThan(8);
  expect(scripts.filter((name) => facts.scripts[name] === undefined)).toEqual([]);
  const variables = new Set(describeConfig().flatMap(({ name }) => [name, `${name}_FILE`]));
  const named = [...readme.matchAll(/\bSITEFLEET_[A-Z0-9_]+/g)].map(([name]) => name);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((name) => !variables.has(name))).toEqual([]);
  expect(readme).toContain(`Node ${facts.engines.node.replace('>=', '')} or newer`);
});

it('nothing tells readers to run a package by our name from the registry, where it is not published', () => {
  const texts = [
    'README.md',
    'mcp.json',
    'CONTRIBUTING.md',
    ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join('docs', name)),
  ];
  const found = texts.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/.*(?:npx|npm (?:i|install|exec)\b)[^\n|]*\bsitefleet\b(?!\.tgz).*/g)].map(
      ([line]) => `${file}: ${line}`,
    ),
  );
  // Copying into a folder of that name is not an installation from the registry.
  expect(found.filter((line) => !/\/sitefleet\b/.test(line))).toEqual([]);
  expect(readme).not.toMatch(/"npx"/);
});
