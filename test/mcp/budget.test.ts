/** The token cost of MCP in a conversation: the catalogue, and every answer. And what never reaches a model. */

import { Ajv } from 'ajv';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from '../../schemas/zod.js';
import { contractOf, type JsonSchema } from '../../src/operation/contract.js';
import { defineOperation, type GroupedOperation } from '../../src/operation/operation.js';
import { canonicalJson } from '../../src/runtime/canonical-json.js';
import { systemClock } from '../../src/runtime/clock.js';
import { TOOLSETS } from '../../src/runtime/config/types.js';
import { ERROR_CODES, errorHelp } from '../../src/runtime/error-codes.js';
import { ServiceError } from '../../src/runtime/errors.js';
import { pageFrom } from '../../src/surfaces/mcp/budget.js';
import { createMcpCore } from '../../src/surfaces/mcp/core.js';
import { Prompts } from '../../src/surfaces/mcp/prompts.js';
import { createToolRegistry } from '../../src/surfaces/mcp/registry.js';
import { estimateTokens } from '../../src/surfaces/mcp/token-estimate.js';
import { errorText } from '../../src/surfaces/mcp/tool-result.js';
import { cleanText, cleanValue } from '../../src/surfaces/mcp/untrusted-text.js';
import { operations } from '../../tools/index.js';
import { walk } from '../support/json-schema.js';
import { connect, LOCAL, type McpApp, mcpApp, textOf, WAYS } from '../support/mcp-clients.js';
import { silent } from '../support/surfaces.js';

const MAX = 1000;
const caller = { actor: LOCAL, request_id: 'r', signal: new AbortController().signal };

function registryOf(list: readonly GroupedOperation[], maxTokens = MAX) {
  return createToolRegistry({
    operations: list,
    invoke: (operation, raw) => operation.call(raw, { config: {}, actor: LOCAL } as never),
    log: silent,
    clock: systemClock,
    readOnly: false,
    toolsets: TOOLSETS,
    maxTokens,
  });
}

/** A registry with one tool, which answers this text. */
function toolThatAnswers(note: string) {
  const say = defineOperation({
    id: 'svc/say-v1',
    title: 'Say',
    about: 'Says.',
    run: 'GET',
    effect: 'read',
    input: () => z.object({}),
    output: () => z.object({ note: z.string() }),
    handle: async () => ({ note }),
  });
  return registryOf([{ ...say, group: 'sites' }]);
}

const structured = (result: unknown) => (result as { structuredContent: Record<string, unknown> }).structuredContent;

describe('the catalogue', () => {
  const tools = registryOf(operations).listTools(LOCAL);

  /** A schema without the words in which operations are named, and without the members that MCP adds. */
  const bare = (schema: unknown, added: readonly string[] = []) =>
    JSON.parse(JSON.stringify(schema), (keyword, value) => {
      if (added.includes(keyword)) return undefined;
      return keyword === 'description' && typeof value === 'string' ? 'svc' : value;
    });

  it('has the input schemas that the converter gives: limits, closed objects, and what must be present', () => {
    for (const [at, operation] of operations.entries()) {
      const { input_schema } = contractOf(operation);
      const { inputSchema } = tools[at] ?? {};
      expect([operation.id, bare(inputSchema, ['text_from', 'confirmation_token'])]).toEqual([
        operation.id,
        bare(input_schema),
      ]);
      expect(inputSchema).toHaveProperty('additionalProperties', false);
    }
    const list = tools.find(({ name }) => name === 'svc-list-sites-v1');
    expect(list?.inputSchema.properties).toMatchObject({
      page: { type: 'integer', minimum: 1, default: 1 },
      per_page: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      status: { default: 'any' },
      search: { default: '' },
      client_id: { minimum: 1 },
    });
  });

  it('calls every update destructive, and those of the whole fleet say first what an empty list means', () => {
    const named = (name: string) => tools.find((tool) => tool.name === `svc-${name}-v1`);
    const ofFleet = ['run-updates', 'update-all'];
    const ofSite = ['core', 'plugins', 'themes', 'translations'].map((what) => `update-site-${what}`);
    for (const name of [...ofFleet, ...ofSite, 'safe-update-site'])
      expect([name, named(name)?.annotations]).toEqual([
        name,
        expect.objectContaining({ readOnlyHint: false, destructiveHint: true }),
      ]);
    for (const name of ofFleet) expect(named(name)?.description).toMatch(/^Empty site list = ALL /);
    expect(named('sync-sites')?.annotations?.destructiveHint).toBe(false);
  });

  it('gives every value a type, so that strict clients have nothing to warn of', () => {
    const warnings: unknown[] = [];
    const logger = { log: () => {}, warn: (text: unknown) => warnings.push(text), error: () => {} };
    for (const { name, inputSchema, outputSchema } of tools) {
      const ajv = new Ajv({ logger });
      for (const schema of [inputSchema, outputSchema]) {
        expect(ajv.compile(schema as object)).toBeTypeOf('function');
        for (const { path, schema: part } of walk(schema as JsonSchema, name))
          expect([path, 'type' in part || 'anyOf' in part]).toEqual([path, true]);
      }
    }
    expect(warnings).toEqual([]);
    const site = tools.find(({ name }) => name === 'svc-get-site-v1')?.outputSchema?.properties;
    expect(site).toMatchObject({
      last_sync: { type: ['string', 'null'] },
      client_id: { type: ['integer', 'null'] },
    });
  });

  it('names tools as they are called', () => {
    const names = new Set(tools.map(({ name }) => name));
    const text = tools.map(({ _meta, name, ...tool }) => JSON.stringify(tool)).join('\n');
    const named = text.match(/[\w/-]+-v\d+/g) ?? [];
    expect(named.length).toBeGreaterThan(5);
    for (const name of named) expect([name, names.has(name)]).toEqual([name, true]);
  });

  it('has prompts and instructions that name only tools that are offered', () => {
    const full = { site: 'a', client: 'b', url: 'c', tag: 'd', plugin: 'e', month: 'f' } as Record<string, string>;
    for (const [toolsets, rights] of [
      [TOOLSETS, ['read']],
      [['sites'], ['read', 'write']],
      [['sites', 'clients'], ['read']],
      [['tags'], ['read', 'write']],
    ] as const) {
      const parts = {
        operations,
        invoke: () => Promise.reject(new Error('not called')),
        log: silent,
        clock: systemClock,
      };
      const core = createMcpCore({ ...parts, readOnly: false, toolsets, version: '0', newRequestId: () => 'r' });
      const actor = { ...LOCAL, rights };
      const texts = core.prompts.list(actor).map((prompt) => {
        const args = Object.fromEntries(prompt.arguments.map(({ name }) => [name, full[name] ?? '']));
        const { text } = core.prompts.get(prompt.name, args, actor);
        const steps = (text.match(/^\d+\./gm) ?? []).map((step) => Number.parseInt(step, 10));
        expect(steps.length).toBeGreaterThan(1);
        expect(steps).toEqual(steps.map((_, i) => i + 1));
        return text;
      });
      const offered = (all: boolean) => new Set(core.registry.listTools(all ? LOCAL : actor).map(({ name }) => name));
      for (const tool of texts.join('\n').match(/svc-[a-z0-9-]+/g) ?? [])
        expect([tool, offered(false).has(tool)]).toEqual([tool, true]);
      for (const tool of core.instructionsFor(LOCAL).match(/svc-[a-z0-9-]+/g) ?? [])
        expect([tool, offered(true).has(tool)]).toEqual([tool, true]);
    }
  });

  it('takes tools by any of their names, and advises by the right one', async () => {
    const seen: string[] = [];
    const registry = createToolRegistry({
      operations,
      invoke: (operation) => {
        seen.push(operation.id);
        throw new ServiceError('svc_site_suspended', 'Site "unsuspend-this-v1" is suspended.', {
          advice: 'Lift the suspension with unsuspend-site-v1 first.',
        });
      },
      log: silent,
      clock: systemClock,
      readOnly: false,
      toolsets: TOOLSETS,
    });
    for (const name of ['svc-check-site-v1', 'svc/check-site-v1', 'check-site-v1']) {
      const result = (await registry.callTool(name, { site_id_or_domain: 1 }, caller)) as never;
      expect(textOf(result)).toContain('Site "unsuspend-this-v1" is suspended.');
      expect(textOf(result)).toContain('Next step: Lift the suspension with svc-unsuspend-site-v1 first.');
    }
    expect(seen).toEqual(Array(3).fill('svc/check-site-v1'));
    expect(registry.rightFor('delete-site-v1')).toBe('write');
  });

  it('has prompts that name only tools that exist', () => {
    const names = new Set(tools.map(({ name }) => name));
    const prompts = new Prompts(registryOf(operations));
    const all = { site: 'a', client: 'b', url: 'c', tag: 'd', plugin: 'e', month: 'f' } as Record<string, string>;
    const texts = prompts.list(LOCAL).flatMap((prompt) =>
      [prompt.arguments, prompt.arguments.filter((argument) => argument.required)].map((given) => {
        const args = Object.fromEntries(given.map(({ name }) => [name, all[name] ?? '']));
        return prompts.get(prompt.name, args, LOCAL).text;
      }),
    );
    expect(texts).toHaveLength(14);
    for (const tool of texts.join('\n').match(/svc-[a-z0-9-]+/g) ?? [])
      expect([tool, names.has(tool)]).toEqual([tool, true]);
  });
});

describe('large answers', () => {
  let mcp: McpApp;
  beforeAll(async () => {
    mcp = await mcpApp({ sites: 60, connected: 60, config: { mcp_max_tokens: MAX } });
  });

  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const result = (await mcp.core.registry.callTool(name, args, caller)) as never;
    expect(JSON.parse(textOf(result))).toEqual(structured(result));
    expect(estimateTokens(structured(result))).toBeLessThanOrEqual(MAX);
    return structured(result);
  };

  it('pages of no particular size become smaller, and following them gives every item once', async () => {
    const first = await call('svc-list-updates-v1');
    const { total, per_page } = first as { total: number; per_page: number };
    expect(first.truncated).toBe(
      `per_page was lowered from 50 to ${per_page}, so that the answer fits. ${per_page} of ${total} updates are shown. Next page: svc-list-updates-v1 {"page":2,"per_page":${per_page}}`,
    );
    const seen: string[] = [];
    for (let page = 1; (page - 1) * per_page < total; page += 1) {
      const answer = structured(
        await mcp.core.registry.callTool('svc-list-updates-v1', { page, per_page }, caller),
      ) as { updates: object[] };
      seen.push(...answer.updates.map((update) => JSON.stringify(update)));
    }
    expect([seen.length, new Set(seen).size]).toEqual([total, total]);
  });

  it.each([95, 400])('failures do not size the pages of what is listed beside them: %i', async (unknown) => {
    const { operations, invoke } = mcp.app.service;
    const parts = { log: silent, clock: systemClock, readOnly: false, toolsets: TOOLSETS };
    const registry = createToolRegistry({ operations, invoke, ...parts, maxTokens: 12_000 });
    const strangers = Array.from({ length: unknown }, (_, i) => `unknown-site-${i}.example`);
    const site_ids_or_domains = [...Array.from({ length: 60 }, (_, i) => i + 1), ...strangers];
    const list = async (page: object) =>
      structured(await registry.callTool('svc-list-updates-v1', { site_ids_or_domains, ...page }, caller));
    const first = await list({});
    if (unknown === 400) {
      // The errors alone exceed the limit, and leave room.
      expect(first.truncated).toMatch(
        /^Cut to fit: \d+ of 400 errors .* site_ids_or_domains.* \d+ of \d+ updates are shown/,
      );
      expect((first.updates as object[]).length).toBeGreaterThan(20);
      return;
    }
    const { per_page, total } = first as { per_page: number; total: number };
    expect(first.truncated).toMatch(/^per_page was lowered from 50 to \d+/);
    expect(per_page).toBeLessThan(50);
    const seen: string[] = [];
    for (let page = 1; (page - 1) * per_page < total; page += 1) {
      const { updates, errors } = (await list({ page, per_page })) as Record<'updates' | 'errors', object[]>;
      expect(errors).toHaveLength(unknown);
      seen.push(...updates.map((update) => JSON.stringify(update)));
    }
    expect([seen.length, new Set(seen).size]).toEqual([total, total]);
  });

  it('keeps the schema: what was cut is a member that the tool declares', async () => {
    const tool = mcp.core.registry.listTools(LOCAL).find(({ name }) => name === 'svc-list-sites-v1');
    expect(tool?.outputSchema).toMatchObject({
      properties: { truncated: { type: 'string' } },
    });
    expect(Object.keys(await call('svc-list-updates-v1'))[0]).toBe('truncated');
    expect(await call('svc-list-sites-v1', { per_page: 3 })).not.toHaveProperty('truncated');
  });

  it('a client that checks answers against the schemas is content', async () => {
    const driver = await connect(['2025-11-25', 'stdio'], mcp.target);
    await driver.listTools();
    for (const name of ['svc-list-updates-v1', 'svc-get-sites-basic-v1'])
      expect((await driver.call(name)).structuredContent).toHaveProperty('truncated');
    expect((await driver.call('svc-get-site-v1', { site_id_or_domain: 1 })).structuredContent).toMatchObject({ id: 1 });
    for (const name of ['svc-search-fleet-v1', 'svc-list-vulnerabilities-v1', 'svc-get-fleet-brief-v1'])
      expect((await driver.call(name)).structuredContent).toBeTypeOf('object');
  });

  it('a list without pages is cut, and names the tool that has pages', async () => {
    const answer = await call('svc-get-sites-basic-v1');
    expect(answer.truncated).toMatch(
      /^Cut to fit: \d+ of 60 sites are shown\. Read all: svc-list-sites-v1 \{"per_page":100\}$/,
    );
    expect(answer.total).toBe(60);
  });

  it('the result of work is cut without taking it back, failures last', async () => {
    mcp.app.fleet.site(59).faults = { offline: true };
    const answer = await call('svc-sync-sites-v1');
    expect(answer).toMatchObject({ total_synced: 59, total_errors: 1, errors: [{ site_id: 60 }] });
    expect(answer.truncated).toContain('Only the listing is cut');
    expect((answer.synced as unknown[]).length).toBeLessThan(59);
  });

  it('resources keep to it as well, and name the next address', async () => {
    const text = (await mcp.core.resources.read('svc://sites', caller))[0]?.text ?? '';
    expect(estimateTokens(JSON.parse(text))).toBeLessThanOrEqual(MAX + 50);
    expect(JSON.parse(text).next).toMatch(/^svc:\/\/sites\?page=2&per_page=\d+$/);
  });

  it('huge texts are cut when there is nothing else to cut', async () => {
    const result = await toolThatAnswers('x'.repeat(50_000)).callTool('svc-say-v1', {}, caller);
    expect(estimateTokens(structured(result))).toBeLessThan(MAX);
    expect(structured(result).note).toMatch(/^x+…$/);
  });

  it('says which text was cut, and reading on gives the whole of it', async () => {
    const { app } = mcp;
    // Characters of two code units: a cut must not split one.
    const note = Array.from({ length: 9000 }, (_, i) => (i % 7 === 0 ? '😀' : String(i % 10))).join('');
    const { id } = await app.call('add-client', { name: 'Long', note });
    const read = async (more: object = {}) => call('svc-get-client-v1', { client_id_or_email: id, ...more });
    const first = await read();
    expect(first.truncated).toMatch(
      new RegExp(
        `^Texts are cut: note \\(up to \\d+ of ${note.length}\\)\\. Never save a cut text: .* text_from: \\d+\\.$`,
      ),
    );
    let whole = String(first.note).slice(0, -1);
    let answer: Record<string, unknown> = first;
    for (let calls = 0; calls < 100; calls += 1) {
      const from = /text_from: (\d+)\.$/.exec(String(answer.truncated))?.[1];
      if (from === undefined) break;
      answer = await read({ text_from: Number(from) });
      expect(estimateTokens(answer)).toBeLessThanOrEqual(MAX);
      whole += String(answer.note).replace(/^…/, '').replace(/…$/, '');
    }
    expect(whole).toBe(note);
    expect(answer.name).toBe('Long');
    // Answers of writes are cut as well, and name the tool to read on with.
    const written = await call('svc-update-client-v1', { client_id_or_email: id, city: 'Bern' });
    expect(written.truncated).toMatch(/Continue with svc-get-client-v1, text_from: \d+\.$/);
    const wrong = await mcp.core.registry.callTool(
      'svc-get-client-v1',
      { client_id_or_email: id, text_from: -1 },
      caller,
    );
    expect(wrong).toMatchObject({ isError: true });
    expect(textOf(wrong as never)).toContain('Field: text_from');
    await app.call('delete-client', { client_id_or_email: id, confirm: true });
  });

  it('reads on in a post, which could be written back', async () => {
    const content = Array.from({ length: 2000 }, (_, i) => `word${i}`).join(' ');
    const of = { site_id_or_domain: 1 };
    const { post_id } = await mcp.app.call('create-post', { ...of, post_title: 'Long', post_content: content });
    let whole = '';
    let from: string | undefined = '0';
    for (let calls = 0; from !== undefined && calls < 100; calls += 1) {
      const answer = await call('svc-get-post-v1', { ...of, post_id, text_from: Number(from) });
      whole += String(answer.post_content).replace(/^…/, '').replace(/…$/, '');
      from = /Never save a cut text: .* text_from: (\d+)\.$/.exec(String(answer.truncated))?.[1];
    }
    expect(whole).toBe(content);
  });
});

describe('a page of a size that the caller names', () => {
  let mcp: McpApp;
  beforeAll(async () => {
    mcp = await mcpApp({ sites: 60, connected: 60 });
  });

  it.each(WAYS)('is whole at the largest size of the interface: %s over %s', async (...way) => {
    const driver = await connect(way, mcp.target);
    const result = await driver.call('svc-list-updates-v1', { per_page: 200 });
    const answer = result.structuredContent as { updates: unknown[]; total: number };
    expect(answer.total).toBeGreaterThan(200);
    expect(estimateTokens(answer)).toBeGreaterThan(20_000);
    expect(answer.updates).toHaveLength(200);
    expect(answer).toMatchObject({ page: 1, per_page: 200 });
    expect(answer).not.toHaveProperty('truncated');
    expect(JSON.parse(textOf(result))).toEqual(answer);
  });

  it.each(WAYS)('is the default where only the page is named, and nothing is missed: %s over %s', async (...way) => {
    const driver = await connect(way, mcp.target);
    const slugs: string[] = [];
    let [page, total] = [0, 1];
    while (page * 50 < total) {
      page += 1;
      const { structuredContent } = await driver.call('svc-list-updates-v1', { page });
      const answer = structuredContent as { updates: { site_id: number; type: string; slug: string }[]; total: number };
      expect(answer).toMatchObject({ page, per_page: 50 });
      slugs.push(...answer.updates.map(({ site_id, type, slug }) => `${site_id} ${type} ${slug}`));
      total = answer.total;
    }
    expect(new Set(slugs).size).toBe(total);
    expect(slugs).toHaveLength(total);
  });

  it('keeps every item when texts are too long, and cuts only those', async () => {
    const { app, core } = mcp;
    await app.db.run("UPDATE site_detail SET notes = ''");
    const { id } = await app.call('add-client', { name: 'Long', note: 'x'.repeat(60_000) });
    for (let i = 0; i < 99; i += 1) await app.call('add-client', { name: 'n'.repeat(255) });
    const answer = structured(await core.registry.callTool('svc-list-clients-v1', { per_page: 100 }, caller)) as {
      items: { id: number; name: string }[];
    };
    expect([answer.items.length, answer.items.filter(({ name }) => name.length === 255).length]).toEqual([100, 99]);
    expect(answer.items.map((item) => item.id)).toContain(id);
  });
});

describe('pageFrom', () => {
  it.each([
    [0, 33, { page: 1, per_page: 33 }],
    [100, 40, { page: 5, per_page: 25 }],
    [100, 30, { page: 5, per_page: 25 }],
    [97, 40, { page: 3, per_page: 40 }],
    [50, 1, { page: 51, per_page: 1 }],
  ])('item %i, at most %i', (offset, size, page) => {
    expect(pageFrom(offset, size)).toEqual(page);
    expect((page.page - 1) * page.per_page).toBeLessThanOrEqual(offset);
    expect(page.page * page.per_page).toBeGreaterThan(offset);
  });
});

describe('text for models', () => {
  it.each([
    ['plain', 'plain'],
    ['a\u0000b\u001b[31mc', 'ab[31mc'],
    ['abc\u202Edef\u2066x', 'abcdefx'],
    ['tag\u{E0041}\u{E0042}', 'tag'],
    ['zero\u200Bwidth\uFEFF', 'zerowidth'],
    ['line\nand\ttab', 'line\nand\ttab'],
    ['fa\u200Cmily \u{1F468}\u200D\u{1F469}', 'fa\u200Cmily \u{1F468}\u200D\u{1F469}'],
    ['half\uD800', 'half'],
    ['sep\u2028arator', 'separator'],
  ])('%j becomes %j', (text, clean) => expect(cleanText(text)).toBe(clean));

  it('is capped without half a character', () => {
    expect(cleanText('abcdef', 4)).toBe('abc…');
    expect(cleanText('ab\u{1F468}cd', 4)).toBe('ab…');
  });

  it('is cleaned at every depth, and copied only where needed', () => {
    const same = { a: ['b', { c: 'd' }], n: 1, z: null };
    expect(cleanValue(same)).toBe(same);
    expect(cleanValue({ a: ['b\u202E', { c: 'd' }] })).toEqual({ a: ['b', { c: 'd' }] });
    const sly = cleanValue(JSON.parse('{"__proto__":{"x":"y\u202E"}}'));
    expect(Object.keys(sly)).toEqual(['__proto__']);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('an answer with unseen characters is cleaned on its way out', async () => {
    const result = await toolThatAnswers('Good\u202Ename\u0007').callTool('svc/say-v1', {}, caller);
    expect(structured(result)).toEqual({ note: 'Goodname' });
    expect(JSON.stringify(result)).not.toMatch(/\u202E|\\u0007/);
  });

  it('errors are bounded and say what to do even without advice of their own', () => {
    const text = errorText(new ServiceError('svc_site_offline', `It said: ${'x'.repeat(9000)}\u202E`));
    expect(text.length).toBeLessThan(1300);
    expect(text).toMatch(/\nNext step: Run check-site-v1/);
    expect(text).not.toContain('\u202E');
  });

  it('there is help for every error code', () => {
    const without = ERROR_CODES.filter((code) => errorHelp(code) === undefined);
    expect(without).toEqual([]);
  });
});

describe('canonicalJson', () => {
  it.each<[unknown, unknown]>([
    [
      { a: 1, b: [1, { d: 2, c: 3 }] },
      { b: [1, { c: 3, d: 2 }], a: 1 },
    ],
    [{ a: undefined, b: 1 }, { b: 1 }],
  ])('is the same for %j and %j', (a, b) => expect(canonicalJson(a)).toBe(canonicalJson(b)));

  it.each<[unknown, unknown]>([
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: '1' }, { a: 1 }],
    [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }],
    [['a,b'], ['a', 'b']],
    [JSON.parse('{"__proto__":1}'), {}],
  ])('differs for %j and %j', (a, b) => expect(canonicalJson(a)).not.toBe(canonicalJson(b)));
});
