/**
 * The tools a connection chooses to see: toolsets, read-only, the lean list; and single tools chosen by the operator.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolName } from '../../src/operation/contract.js';
import { TOOLSETS, type Toolset } from '../../src/runtime/toolsets.js';
import { operations } from '../../tools/index.js';
import {
  type Driver,
  LOCAL,
  type McpApp,
  mcpApp,
  connect as openClient,
  type Target,
  textOf,
  WAYS,
} from '../support/mcp-clients.js';
import { tokens } from '../support/tokens.js';

const HTTP = WAYS.filter(([, transport]) => transport === 'http');
const namesOf = (groups: string[], reads = false) =>
  operations
    .filter(({ group, effect }) => groups.includes(group) && (!reads || effect === 'read'))
    .map(({ id }) => toolName(id));

interface Found {
  operation: string;
  effect: string;
  input_schema?: { properties: object };
}

/** The last text of an answer. */
const called = (result: Awaited<ReturnType<Driver['call']>>) => textOf(result, result.content.length - 1);

async function find(driver: Driver, query: string): Promise<Found[]> {
  const { structuredContent } = await driver.call('search-operations', { query });
  return (structuredContent as { operations: Found[] } | undefined)?.operations ?? [];
}

let mcp: McpApp;
beforeAll(async () => {
  mcp = await mcpApp({ sites: 1, connected: 1 });
  await mcp.app.call('add-tag', { name: 'shops' });
});

it('a client that asks for ever new choices does not fill the memory with lists', () => {
  const listed = (...toolsets: Toolset[]) =>
    mcp.core.registry.listTools({ ...LOCAL, tools: { toolsets, read_only: false, lean: false } });
  const first = listed('tags');
  expect(listed('tags')).toBe(first);
  for (const one of TOOLSETS) for (const other of TOOLSETS) listed(one, other);
  const again = listed('tags');
  expect(again).not.toBe(first);
  expect(again.every((tool, i) => tool === first[i])).toBe(true);
});

describe.each(HTTP)('over HTTP, %s', (...way) => {
  const connect = (query: string, more: Partial<Target> = {}) =>
    openClient(way, { ...mcp.target, url: `${mcp.url}${query}`, ...more });
  const listed = async (query: string, more: Partial<Target> = {}) => {
    const driver = await connect(query, more);
    const names = (await driver.listTools()).map(({ name }) => name);
    await driver.close();
    return names;
  };

  it('shows the toolsets of the address, and reads only where asked', async () => {
    expect(await listed('?toolsets=tags,batch')).toEqual(namesOf(['tags', 'batch']));
    expect(await listed('?toolsets=%20Tags%20&readonly=1')).toEqual(namesOf(['tags'], true));
    expect(await listed('?readonly=true&toolsets=clients')).toEqual(namesOf(['clients'], true));
    expect(await listed('?readonly=0&toolsets=batch')).toEqual(namesOf(['batch']));
  });

  it('takes the same from headers, and what both show when address and headers choose', async () => {
    const headers = { 'X-Sitefleet-Toolsets': 'tags,clients', 'X-Sitefleet-Readonly': '1' };
    expect(await listed('', { headers })).toEqual(namesOf(['clients', 'tags'], true));
    expect(await listed('?toolsets=tags,sites', { headers })).toEqual(namesOf(['tags'], true));
  });

  it('never shows more than the login may', async () => {
    expect(await listed('?toolsets=tags&readonly=0', { authorization: mcp.read })).toEqual(namesOf(['tags'], true));
  });

  it('refuses calls of what was not chosen, and says why', async () => {
    const driver = await connect('?toolsets=tags&readonly=1');
    const written = await driver.call('svc-add-tag-v1', { name: 'blue' });
    expect([written.isError, textOf(written)]).toEqual([true, expect.stringContaining('this connection is read-only')]);
    const other = await driver.call('svc/list-sites-v1');
    expect([other.isError, textOf(other)]).toEqual([true, expect.stringContaining('this connection did not choose')]);
    await expect(driver.read('svc://sites')).rejects.toThrow();
    expect(await driver.resources()).toEqual(['svc://tags']);
    expect(await mcp.app.call('list-tags')).toMatchObject({ total: 1 });
  });

  it.each(['?toolsets=tags,monitor', '?toolsets=', '?readonly=maybe'])('refuses %s', async (query) => {
    await expect(connect(query)).rejects.toThrow();
  });
});

describe('a refused choice', () => {
  it('names the field, what was wrong and what is allowed', async () => {
    const ask = async (query: string) => {
      const headers = { authorization: mcp.all, 'content-type': 'application/json' };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
      const response = await fetch(`${mcp.url}${query}`, { method: 'POST', headers, body });
      return [response.status, ((await response.json()) as { error: { data: unknown } }).error.data];
    };
    expect(await ask('?toolsets=monitor')).toEqual([
      400,
      expect.objectContaining({ code: 'svc_invalid_input', message: expect.stringContaining('"monitor"') }),
    ]);
    expect(await ask('?readonly=2')).toEqual([400, expect.objectContaining({ code: 'svc_invalid_input' })]);
  });
});

describe('the lean list', () => {
  const lean = { toolsets: null, read_only: false, lean: true };
  const connect = (way = HTTP[1] ?? WAYS[2]) =>
    openClient(way as (typeof WAYS)[number], {
      ...mcp.target,
      url: `${mcp.url}?toolsets=lean`,
      actor: { ...LOCAL, tools: lean },
    });

  it.each(WAYS)('is at most nine tools in under 2,500 tokens, %s over %s', async (...way) => {
    const driver = await connect(way);
    const tools = await driver.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'svc-get-fleet-brief-v1',
      'svc-search-fleet-v1',
      'svc-get-site-v1',
      'svc-list-updates-v1',
      'svc-run-updates-v1',
      'svc-get-batch-job-status-v1',
      'search-operations',
      'run-operation',
    ]);
    expect(tokens(tools)).toBeLessThan(2500);
    for (const { annotations } of tools) expect(Object.values(annotations ?? {})).toHaveLength(4);
  });

  it('reaches every other operation with its own schema and effect', async () => {
    const driver = await connect();
    for (const operation of operations) {
      const query = operation.id.replace(/^svc\/|-v1$/g, '').replaceAll('-', ' ');
      const found = (await find(driver, query)).find((one) => one.operation === toolName(operation.id));
      expect([query, found?.effect]).toEqual([query, operation.effect]);
      expect([
        query,
        Object.keys(found?.input_schema?.properties ?? {}).filter((name) => name !== 'text_from'),
      ]).toEqual([query, Object.keys(operation.input().shape)]);
    }
    const all = await driver.call('search-operations');
    expect(all.structuredContent).toMatchObject({ total: operations.length });
    expect(textOf(all).length / 3.5).toBeLessThan(3000);
  });

  it('finds by words of people', async () => {
    const driver = await connect();
    const first = async (query: string) => (await find(driver, query))[0]?.operation;
    expect(await first('add a tag')).toBe('svc-add-tag-v1');
    expect(await first('deactivate a plugin')).toBe('svc-deactivate-site-plugins-v1');
    expect(await first('delete client')).toBe('svc-delete-client-v1');
    expect(await first('sync')).toBe('svc-sync-sites-v1');
    expect(await first('zzzz')).toBeUndefined();
  });

  it('runs what it found, keeps confirmations, and passes errors on', async () => {
    const driver = await connect();
    const run = (operation: unknown, input?: unknown) => driver.call('run-operation', { operation, input } as never);
    expect((await run('svc-add-tag-v1', { name: 'lean' })).structuredContent).toMatchObject({ name: 'lean' });
    const { structuredContent } = await run('svc/list-tags-v1', { search: 'lean' });
    const [{ id = 0 } = {}] = (structuredContent?.items ?? []) as { id: number }[];
    expect(textOf(await run('svc-delete-tag-v1', { tag_id: id }))).toContain('svc_confirmation_required');
    expect((await run('svc-delete-tag-v1', { tag_id: id, confirm: true })).isError).toBeUndefined();
    expect(await mcp.app.call('list-tags', { search: 'lean' })).toMatchObject({ total: 0 });
    for (const [operation, input, text] of [
      ['svc-add-tagg-v1', {}, 'Did you mean'],
      ['run-operation', { operation: 'svc-add-tag-v1' }, 'There is no tool'],
      ['', {}, 'Field: operation'],
      ['svc-add-tag-v1', { nam: 'x' }, 'Field: nam'],
      ['svc-add-tag-v1', 'x', 'ability_invalid_input'],
    ] as const) {
      const answer = await run(operation, input);
      expect([operation, answer.isError, textOf(answer)]).toEqual([operation, true, expect.stringContaining(text)]);
    }
    expect(textOf(await driver.call('search-operations', { limit: 99 }))).toContain('Field: limit');
    expect(textOf(await driver.call('search-operations', { q: 'x' }))).toContain('Field: q');
  });

  it.each(HTTP)('asks a person before it destroys through run-operation, %s', async (...way) => {
    const own = await mcpApp({ sites: 1, config: { confirm: 'elicit' } });
    const { id } = await own.app.call('add-tag', { name: 'doomed' });
    const questions: string[] = [];
    for (const action of ['decline', 'accept'] as const) {
      const driver = await openClient(way, {
        ...own.target,
        url: `${own.url}?toolsets=lean`,
        answer: async ({ message }) => {
          questions.push(message);
          return action === 'accept' ? { action, content: { confirm: true } } : { action };
        },
      });
      await driver.call('run-operation', { operation: 'svc-delete-tag-v1', input: { tag_id: id, confirm: true } });
      await driver.close();
      expect(await own.app.call('list-tags')).toMatchObject({ total: action === 'accept' ? 0 : 1 });
    }
    expect(questions).toHaveLength(2);
  });

  it.each(HTTP)('asks before the whole fleet changes, even if the input is null, %s', async (...way) => {
    const own = await mcpApp({ sites: 2, connected: 2 });
    const before = Number((await own.app.call('list-updates')).total);
    expect(before).toBeGreaterThan(2);
    const questions: string[] = [];
    const driver = await openClient(way, {
      ...own.target,
      url: `${own.url}?toolsets=lean`,
      answer: async ({ message }) => {
        questions.push(message);
        return { action: 'decline' };
      },
    });
    for (const input of [{}, null]) {
      const answer = await driver.call('run-operation', { operation: 'svc-update-all-v1', input });
      expect([input, textOf(answer)]).toEqual([input, expect.stringContaining('The user declined.')]);
    }
    expect(questions).toHaveLength(2);
    expect(await own.app.call('list-updates')).toMatchObject({ total: before });
  });

  it('is bounded by the rest of the choice', async () => {
    const driver = await openClient(['2026-07-28', 'http'], {
      ...mcp.target,
      url: `${mcp.url}?toolsets=lean,tags&readonly=1`,
    });
    expect((await driver.listTools()).map(({ name }) => name)).toEqual(['search-operations', 'run-operation']);
    expect((await find(driver, '')).map(({ operation }) => operation)).toEqual(namesOf(['tags'], true));
    const refused = await driver.call('run-operation', { operation: 'svc-add-tag-v1', input: { name: 'x' } });
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining('read-only')]);
  });

  it('finds nothing more for those who are listed all there is', async () => {
    const driver = await openClient(['2026-07-28', 'http'], mcp.target);
    for (const name of ['run-operation', 'search-operations'])
      expect(textOf(await driver.call(name, { operation: 'svc-list-tags-v1' }))).toContain('There is no tool');
  });
});

describe('single tools', () => {
  it('are offered or left out as the operator says, under any of their names', async () => {
    const own = await mcpApp({
      sites: 1,
      config: { tools_allow: ['list-tags', 'svc-add-tag-v1', 'svc/delete-tag-v1'], tools_block: ['delete-tag'] },
    });
    const driver = await openClient(['2026-07-28', 'http'], own.target);
    expect((await driver.listTools()).map(({ name }) => name)).toEqual(['svc-list-tags-v1', 'svc-add-tag-v1']);
    for (const name of ['svc-delete-tag-v1', 'svc-list-sites-v1'])
      expect(textOf(await driver.call(name))).toContain('SITEFLEET_TOOLS_');
  });

  it.each([
    [{ tools_block: ['delete-sites'] }, 'SITEFLEET_TOOLS_BLOCK'],
    [{ tools_allow: ['nonsense'] }, 'SITEFLEET_TOOLS_ALLOW'],
  ])('stop the start when there is no such tool: %j', async (config, variable) => {
    await expect(mcpApp({ sites: 1, config })).rejects.toThrow(variable);
  });
});

describe('toolsets that are shown only where they are named', () => {
  const OPTIONAL = ['monitoring', 'reports', 'content', 'costs', 'time'];
  const MORE = ['run-operation', 'search-operations'];
  const DEFAULT = ['sites', 'updates', 'clients', 'tags', 'batch', 'safety', 'fleet', 'insight'];
  let all: McpApp;
  let bounded: McpApp;
  beforeAll(async () => {
    all = await mcpApp({ sites: 1, connected: 1, config: { toolsets: null } });
    bounded = await mcpApp({ sites: 1, config: { toolsets: ['tags', 'costs'] } });
  });
  afterAll(() => Promise.all([all.close(), bounded.close()]));
  const at = (app: McpApp, query: string) =>
    openClient(['2025-11-25', 'http'], { ...app.target, url: `${app.url}${query}` });
  const listed = async (app: McpApp, query: string) => {
    const driver = await at(app, query);
    const names = (await driver.listTools()).map(({ name }) => name);
    await driver.close();
    return names.sort();
  };

  it('are left out of the list, which has the tools that find and run them, and says what they are', async () => {
    expect(await listed(all, '')).toEqual([...namesOf(DEFAULT), ...MORE].sort());
    const hint = all.core.instructionsFor(LOCAL);
    for (const name of OPTIONAL) expect(hint).toContain(`${name} (`);
    for (const name of [...MORE, 'toolsets=all']) expect(hint).toContain(name);
    const driver = await at(all, '');
    const search = (await driver.listTools()).find(({ name }) => name === 'search-operations');
    const unlisted = TOOLSETS.filter((name) => !DEFAULT.includes(name));
    expect(search?.description).toContain(`: ${unlisted.join(', ')}.`);
    for (const tools of [
      { toolsets: null, read_only: false, lean: true },
      { toolsets: ['costs' as const], read_only: false, lean: false },
    ])
      expect(all.core.instructionsFor({ ...LOCAL, tools })).not.toContain('Not listed as tools');
    expect(bounded.core.instructionsFor(LOCAL)).not.toContain('Not listed as tools');
  });

  it.each(HTTP)('are found and run over a connection that names nothing, %s', async (...way) => {
    const driver = await openClient(way, { ...all.target, url: all.url });
    for (const group of TOOLSETS.filter((name) => !DEFAULT.includes(name))) {
      const [id = ''] = namesOf([group]);
      const found = await find(driver, id.replace(/^svc-|-v1$/g, '').replaceAll('-', ' '));
      expect(found.map(({ operation }) => operation)).toContain(id);
    }
    const made = await driver.call('run-operation', {
      operation: 'svc-add-cost-v1',
      input: { name: 'Licence', price: 12, type: 'lifetime', sites: [1] },
    });
    expect([textOf(made), made.isError]).toEqual([expect.stringContaining('Licence'), undefined]);
    const page = await driver.call('run-operation', { operation: 'svc-list-costs-v1', input: { per_page: 1 } });
    const [{ id = 0 } = {}] = (page.structuredContent?.costs ?? []) as { id: number }[];
    // What it deletes wants confirm, as if it had been called by its name.
    const operation = 'svc-delete-cost-v1';
    const refused = await driver.call('run-operation', { operation, input: { cost_id: id } });
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining('svc_confirmation_required')]);
    const preview = await driver.call('run-operation', { operation, input: { cost_id: id, dry_run: true } });
    expect(called(preview)).toBe(
      `Next, once the user has agreed: run-operation ${JSON.stringify({ operation, input: { cost_id: id, confirm: true } })}`,
    );
    const run = JSON.parse(called(preview).replace(/^.*?run-operation /, ''));
    expect((await driver.call('run-operation', run)).isError).toBeUndefined();
    expect(await all.app.call('list-costs')).toMatchObject({ total: 0 });
    await driver.close();
  });

  it('ask a person under the policy that wants it, and are only read by who may only read', async () => {
    const own = await mcpApp({ sites: 1, connected: 1, config: { toolsets: null, confirm: 'elicit' } });
    const { id } = await own.app.call('add-cost', { name: 'Licence', price: 12, type: 'lifetime', sites: [1] });
    for (const way of HTTP) {
      const questions: string[] = [];
      const answer = async ({ message }: { message: string }) => {
        questions.push(message);
        return { action: 'decline' as const };
      };
      const driver = await openClient(way, { ...own.target, url: own.url, answer });
      const input = { cost_id: id, confirm: true };
      const declined = await driver.call('run-operation', { operation: 'svc-delete-cost-v1', input });
      expect([questions.length, textOf(declined)]).toEqual([1, expect.stringContaining('The user declined.')]);
      await driver.close();
      const reader = await openClient(way, { ...own.target, url: own.url, authorization: own.read });
      const tools = await reader.listTools();
      expect(tools.find(({ name }) => name === 'run-operation')?.annotations).toMatchObject({ readOnlyHint: true });
      const written = await reader.call('run-operation', { operation: 'svc-delete-cost-v1', input });
      expect([written.isError, textOf(written)]).toEqual([true, expect.stringContaining('svc_permission_denied')]);
      expect((await find(reader, '')).map(({ operation }) => operation)).not.toContain('svc-delete-cost-v1');
      await reader.close();
    }
    expect(await own.app.call('list-costs')).toMatchObject({ total: 1 });
    await own.close();
  });

  it('are shown to a connection that names them, alone or beside the others', async () => {
    expect(await listed(all, '?toolsets=costs')).toEqual(namesOf(['costs']).sort());
    expect(await listed(all, '?toolsets=all')).toEqual(operations.map(({ id }) => toolName(id)).sort());
    expect(await listed(bounded, '?toolsets=all')).toEqual(namesOf(['tags', 'costs']).sort());
    expect(await listed(all, '?toolsets=default,monitoring')).toEqual(namesOf([...DEFAULT, 'monitoring']).sort());
    expect(await listed(all, `?toolsets=default,${OPTIONAL.join(',')}&readonly=1`)).toEqual(
      namesOf([...DEFAULT, ...OPTIONAL], true).sort(),
    );
  });

  it('are found and run over a lean connection', async () => {
    const driver = await at(all, '?toolsets=lean');
    const [found] = await find(driver, 'list costs');
    expect(found?.operation).toBe('svc-list-costs-v1');
    const ran = await driver.call('run-operation', { operation: 'svc-list-costs-v1', input: {} });
    expect(ran.structuredContent).toMatchObject({ costs: [], total: 0 });
  });

  it('stay within what the operator named', async () => {
    expect(await listed(bounded, '')).toEqual(namesOf(['tags', 'costs']).sort());
    expect(await listed(bounded, '?toolsets=default,costs,time')).toEqual(namesOf(['tags', 'costs']).sort());
    const driver = await at(bounded, '?toolsets=lean');
    const ran = await driver.call('run-operation', { operation: 'svc-list-time-tasks-v1' });
    expect([ran.isError, textOf(ran)]).toEqual([true, expect.stringContaining('SITEFLEET_TOOLSETS')]);
  });
});

describe('the next call in an answer', () => {
  it('names the confirmed call after a preview, and the following page, in words that work', async () => {
    const driver = await openClient(['2025-11-25', 'http'], { ...mcp.target, url: mcp.url });
    const { id } = await mcp.app.call('add-tag', { name: 'blue' });
    const page = await driver.call('svc-list-tags-v1', { per_page: 1, search: '' });
    expect(called(page)).toBe('Next page: svc-list-tags-v1 {"per_page":1,"search":"","page":2}');
    const preview = await driver.call('svc-delete-tag-v1', { tag_id: id, dry_run: true });
    expect(called(preview)).toBe(`Next, once the user has agreed: svc-delete-tag-v1 {"tag_id":${id},"confirm":true}`);
    const last = await driver.call('svc-list-tags-v1', { per_page: 1, page: 2 });
    expect(called(last)).not.toContain('Next');
  });

  it('is run by its name over a lean connection', async () => {
    const driver = await openClient(['2025-11-25', 'http'], { ...mcp.target, url: `${mcp.url}?toolsets=lean` });
    const page = await driver.call('run-operation', { operation: 'svc-list-tags-v1', input: { per_page: 1 } });
    const [, text = ''] = /^Next page: run-operation (.*)$/.exec(called(page)) ?? [];
    const next = await driver.call('run-operation', JSON.parse(text));
    expect(next.structuredContent).toMatchObject({ page: 2, per_page: 1 });
  });
});
