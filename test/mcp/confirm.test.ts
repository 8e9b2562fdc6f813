/** The levels of confirmation: who may destroy something, and attempts to bypass them. */

import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/clock.js';
import { ConfirmationTokens } from '../../src/surfaces/mcp/confirmation-tokens.js';
import { createMcpCore } from '../../src/surfaces/mcp/core.js';
import { handClock } from '../support/harness.js';
import { newKey } from '../support/logins.js';
import {
  type Answerer,
  connect,
  type Driver,
  LOCAL,
  type McpApp,
  mcpApp,
  type Target,
  textOf,
  WAYS,
} from '../support/mcp-clients.js';
import { sendModern } from '../support/mcp-messages.js';

const yes: Answerer = async () => ({ action: 'accept', content: { confirm: true } });
const SITE = 'svc-delete-site-v1';
const PLUGINS = 'svc-delete-site-plugins-v1';

async function withApp(confirm: 'ask' | 'confirm' | 'preview' | 'elicit'): Promise<McpApp> {
  return mcpApp({ sites: 10, connected: 10, config: { confirm } });
}

async function exists(mcp: McpApp, id: number): Promise<boolean> {
  const { sites } = await mcp.app.call('get-sites-basic');
  return (sites as { id: number }[]).some((site) => site.id === id);
}

function clientOf(mcp: McpApp, way: (typeof WAYS)[number], change: Partial<Target> = {}): Promise<Driver> {
  return connect(way, { ...mcp.target, ...change });
}

describe('by default, as the interface says', () => {
  let mcp: McpApp;
  beforeAll(async () => {
    mcp = await withApp('confirm');
  });

  it.each(WAYS)('confirm: true is enough, and nothing less (%s over %s)', async (era, transport) => {
    const id = WAYS.findIndex((way) => way[0] === era && way[1] === transport) + 1;
    const driver = await clientOf(mcp, [era, transport], { answer: yes });
    expect(textOf(await driver.call(SITE, { site_id_or_domain: id }))).toMatch(/^svc_confirmation_required/);
    const preview = await driver.call(SITE, { site_id_or_domain: id, dry_run: true });
    expect(preview.structuredContent).toMatchObject({ dry_run: true, deleted: false });
    expect(preview.structuredContent).not.toHaveProperty('confirmation_token');
    expect(await exists(mcp, id)).toBe(true);
    const done = await driver.call(SITE, { site_id_or_domain: id, confirm: true });
    expect(done.structuredContent).toMatchObject({ deleted: true });
    expect(await exists(mcp, id)).toBe(false);
  });

  it('shows no token in the schemas', () => {
    const tool = mcp.core.registry.listTools(LOCAL).find(({ name }) => name === SITE);
    expect(JSON.stringify(tool)).not.toContain('confirmation_token');
  });
});

describe('ask, the default', () => {
  let mcp: McpApp;
  beforeAll(async () => {
    mcp = await mcpApp({ sites: 10, connected: 10 });
  });

  it.each(WAYS)(
    'a deletion is asked about where the client can ask, and confirmed without (%s over %s)',
    async (...way) => {
      const id = WAYS.findIndex(([era, transport]) => era === way[0] && transport === way[1]) + 1;
      const asked: string[] = [];
      const answer: Answerer = async ({ message }) => {
        asked.push(message);
        return { action: 'decline' };
      };
      const asking = await clientOf(mcp, way, { answer });
      expect(textOf(await asking.call(SITE, { site_id_or_domain: id, confirm: true }))).toContain('The user declined.');
      expect(asked).toHaveLength(1);
      expect(await exists(mcp, id)).toBe(true);
      const silent = await clientOf(mcp, way);
      expect(textOf(await silent.call(SITE, { site_id_or_domain: id }))).toMatch(/^svc_confirmation_required/);
      const preview = await silent.call(SITE, { site_id_or_domain: id, dry_run: true });
      expect(preview.structuredContent).not.toHaveProperty('confirmation_token');
      const done = await silent.call(SITE, { site_id_or_domain: id, confirm: true });
      expect(done.structuredContent).toMatchObject({ deleted: true });
      expect(await exists(mcp, id)).toBe(false);
    },
  );

  it('asks about an internationalised domain, and completes it, by its real name', async () => {
    await mcp.app.db.run(
      "UPDATE site SET url = 'https://xn--bcher-kva.example/', url_key = 'xn--bcher-kva.example/' WHERE id = 10",
    );
    await mcp.app.call('update-site', { site_id_or_domain: 10, name: 'Books' });
    const asked: string[] = [];
    const answer: Answerer = async ({ message }) => {
      asked.push(message);
      return { action: 'decline' };
    };
    const driver = await clientOf(mcp, ['2025-11-25', 'http'], { answer });
    await driver.call(SITE, { site_id_or_domain: 10, confirm: true });
    expect(asked[0]).toContain('https://bücher.example/');
    expect(asked[0]).not.toContain('xn--');
    const site = { type: 'ref/resource', uri: 'svc://sites/{id}' } as const;
    expect(await driver.complete(site, 'id', 'bücher')).toEqual(['bücher.example']);
    // A completed value can be read.
    for (const id of ['bücher.example', encodeURIComponent('bücher.example')])
      expect(JSON.parse(await driver.read(`svc://sites/${id}`))).toMatchObject({
        id: 10,
        url: 'https://xn--bcher-kva.example/',
      });
  });

  it('shows no token in the schemas, and refuses one as an unknown field', async () => {
    for (const tool of mcp.core.registry.listTools(LOCAL))
      expect(JSON.stringify(tool)).not.toContain('confirmation_token');
    const driver = await clientOf(mcp, ['2025-11-25', 'stdio'], { answer: yes });
    const args = { site_id_or_domain: 9, confirm: true, confirmation_token: 'x' };
    expect(textOf(await driver.call(SITE, args))).toMatch(/^ability_invalid_input: confirmation_token/);
  });
});

describe('a change whose empty list means several sites', () => {
  const UPDATES = 'svc-run-updates-v1';
  const ALL = 'svc-update-all-v1';
  const offersOf = async (mcp: McpApp): Promise<number> => Number((await mcp.app.call('list-updates')).total);
  const withPolicy = (confirm: 'ask' | 'confirm' | 'preview' | 'elicit') =>
    mcpApp({ sites: 3, connected: 3, config: { confirm } });

  it.each(WAYS)('is asked about with what it would do, and only then done (%s over %s)', async (...way) => {
    const mcp = await withPolicy('ask');
    const asked: string[] = [];
    let action: 'accept' | 'decline' = 'decline';
    const answer: Answerer = async ({ message }) => {
      asked.push(message);
      return { action, content: { confirm: true } };
    };
    const driver = await clientOf(mcp, way, { answer });
    const before = await offersOf(mcp);
    expect(before).toBeGreaterThan(3);
    // An optional input that is null counts as absent, and does not bypass the question.
    for (const args of [{}, { site_ids_or_domains: [] }, { site_ids_or_domains: [], types: null }])
      expect(textOf(await driver.call(UPDATES, args))).toContain('The user declined. Nothing changed.');
    expect(textOf(await driver.call(ALL, {}))).toContain('The user declined. Nothing changed.');
    expect(await offersOf(mcp)).toBe(before);
    expect(asked).toHaveLength(4);
    const { sites } = await mcp.app.call('get-sites-basic');
    expect(asked[3]).toMatch(/^Update .* on "[^"]+", "[^"]+" and "[^"]+"\? /);
    for (const { name } of sites as { name: string }[]) expect(asked[3]).toContain(name);
    // Previews, calls on a named site and reads need no confirmation.
    const preview = (await driver.call(ALL, { dry_run: true })).structuredContent;
    expect(preview).toMatchObject({ dry_run: true, queued: false, would_affect: { sites: 3, total: before } });
    expect(preview?.would_update).toHaveLength(before);
    expect(preview).not.toHaveProperty('confirmation_token');
    const one = await driver.call(UPDATES, { site_ids_or_domains: [1], types: ['translations'] });
    expect(one.isError).toBeUndefined();
    expect((await driver.call('svc-sync-sites-v1', {})).structuredContent).toMatchObject({ total_synced: 3 });
    expect(asked).toHaveLength(4);
    action = 'accept';
    expect((await driver.call(ALL, {})).structuredContent).toMatchObject({ queued: false, errors: [] });
    expect(asked).toHaveLength(5);
    expect(await offersOf(mcp)).toBe(0);
  });

  it.each(['ask', 'confirm'] as const)('runs as documented where no person can be asked: %s', async (policy) => {
    const mcp = await withPolicy(policy);
    const driver = await clientOf(mcp, ['2025-11-25', 'http'], policy === 'confirm' ? { answer: yes } : {});
    expect((await driver.call(ALL)).structuredContent).toMatchObject({ queued: false, errors: [] });
    expect(await offersOf(mcp)).toBe(0);
  });

  it.each(['preview', 'elicit'] as const)(
    'needs the token of a preview where nobody can be asked: %s',
    async (policy) => {
      const mcp = await withPolicy(policy);
      const driver = await clientOf(mcp, ['2026-07-28', 'http']);
      const before = await offersOf(mcp);
      const bare = textOf(await driver.call(ALL, { site_ids_or_domains: [] }));
      expect(bare).toMatch(
        /^svc_confirmation_required: No site was named[\s\S]*Next step: Name the sites, or call with dry_run/,
      );
      const preview = (await driver.call(UPDATES, { types: ['themes'], dry_run: true })).structuredContent;
      const confirmation_token = String(preview?.confirmation_token);
      const other = await driver.call(UPDATES, { confirmation_token });
      // These tools take no `confirm`, so the advice must not ask for it.
      expect(textOf(other)).toMatch(/for another call[\s\S]*Next step: Name the sites, or call with dry_run/);
      expect(textOf(other)).not.toContain('confirm: true');
      expect(await offersOf(mcp)).toBe(before);
      // A site that goes down meanwhile changes nothing of what was agreed to.
      await mcp.app.db.run('UPDATE site SET unreached = 1 WHERE id = 1');
      const done = await driver.call(UPDATES, { types: ['themes'], confirmation_token });
      const { themes } = (preview?.would_affect ?? {}) as { themes: number };
      expect(done.structuredContent).toMatchObject({ summary: { total_updated: themes, total_errors: 0 } });
      expect(await offersOf(mcp)).toBe(before - themes);
      await mcp.close();
    },
  );

  it('is not asked about when it comes down to one site', async () => {
    const mcp = await mcpApp({ sites: 1, connected: 1 });
    const answer: Answerer = () => Promise.reject(new Error('asked'));
    const driver = await clientOf(mcp, ['2025-11-25', 'stdio'], { answer });
    expect((await driver.call(ALL)).structuredContent).toMatchObject({ queued: false, errors: [] });
    expect(await offersOf(mcp)).toBe(0);
  });

  it('is not done when the client gives up before its user answers', async () => {
    const mcp = await withPolicy('ask');
    let reply: (answer: { action: 'accept'; content: { confirm: boolean } }) => void = () => undefined;
    const answer: Answerer = () => new Promise((resolve) => (reply = resolve));
    const driver = await clientOf(mcp, ['2025-11-25', 'stdio'], { answer });
    const before = await offersOf(mcp);
    await expect(driver.call(ALL, {}, { timeout: 300 })).rejects.toThrow();
    reply({ action: 'accept', content: { confirm: true } });
    await driver.call('svc-list-sites-v1');
    expect(await offersOf(mcp)).toBe(before);
  });

  it('previews what it would leave out, and reconnects nothing that was not agreed to', async () => {
    const mcp = await withPolicy('ask');
    await mcp.app.call('suspend-site', { site_id_or_domain: 1 });
    await mcp.app.call('disconnect-sites', { site_ids_or_domains: [2, 3] });
    const preview = await mcp.app.call('update-all', { site_ids_or_domains: [1, 2, 99], dry_run: true });
    expect(preview).toMatchObject({ dry_run: true, would_affect: { sites: 0, total: 0 }, would_update: [] });
    expect(preview.errors.map(({ site_id, code }: { site_id: number; code: string }) => [site_id, code])).toEqual([
      [0, 'svc_site_not_found'],
      [1, 'svc_site_suspended'],
      [2, 'svc_site_offline'],
    ]);
    const asked: string[] = [];
    const answer: Answerer = async ({ message }) => {
      asked.push(message);
      return { action: 'decline' };
    };
    const driver = await clientOf(mcp, ['2026-07-28', 'stdio'], { answer });
    const shown = (await driver.call('svc-reconnect-sites-v1', { dry_run: true })).structuredContent;
    expect(shown).toMatchObject({ dry_run: true, would_affect: { sites: 2 }, would_reconnect: [{}, {}] });
    expect((await driver.call('svc-reconnect-sites-v1')).isError).toBe(true);
    expect(asked[0]).toMatch(/^Restore the connection of \S+ and \S+\?$/);
    expect(await mcp.app.call('count-sites', { status: 'disconnected' })).toEqual({ total: 2 });
  });
});

describe('with a preview', () => {
  let mcp: McpApp;
  beforeAll(async () => {
    mcp = await withApp('preview');
  });

  const tokenOf = async (driver: Driver, name: string, args: Record<string, unknown>) => {
    const preview = await driver.call(name, { ...args, dry_run: true });
    expect(preview.isError).toBeUndefined();
    return String(preview.structuredContent?.confirmation_token);
  };

  it('is asked for in the schemas, and only where something is destroyed or the whole fleet may change', () => {
    const tools = mcp.core.registry.listTools(LOCAL);
    const guarded = tools.filter((tool) => 'confirmation_token' in (tool.inputSchema.properties ?? {}));
    const deletions = tools.filter((tool) => 'confirm' in (tool.inputSchema.properties ?? {})).map(({ name }) => name);
    const fleet = ['svc-reconnect-sites-v1', 'svc-run-updates-v1', 'svc-switch-plugin-v1', 'svc-update-all-v1'];
    // Some of them start or control background work.
    expect(deletions).toHaveLength(13);
    expect(guarded.map(({ name }) => name).sort()).toEqual([...deletions, ...fleet].sort());
    for (const { name, inputSchema, outputSchema } of guarded) {
      const token = outputSchema?.properties?.confirmation_token as { description: string } | undefined;
      const takesConfirm = 'confirm' in (inputSchema.properties ?? {});
      expect([name, token?.description.includes('confirm: true')]).toEqual([name, takesConfirm]);
    }
  });

  it.each(WAYS)('the token of a preview lets the same call through once (%s over %s)', async (era, transport) => {
    const id = WAYS.findIndex((way) => way[0] === era && way[1] === transport) + 1;
    const driver = await clientOf(mcp, [era, transport], { answer: yes });
    const bare = await driver.call(SITE, { site_id_or_domain: id, confirm: true });
    expect(textOf(bare)).toMatch(/^svc_confirmation_required: .*confirmation_token[\s\S]*Next step: Call with dry_run/);
    const confirmation_token = await tokenOf(driver, SITE, { site_id_or_domain: id });
    const forged = `${confirmation_token.slice(0, -1)}${confirmation_token.endsWith('A') ? 'B' : 'A'}`;
    expect(
      (await driver.call(SITE, { site_id_or_domain: id, confirm: true, confirmation_token: forged })).isError,
    ).toBe(true);
    expect(await exists(mcp, id)).toBe(true);
    // The same site in another form.
    const done = await driver.call(SITE, { confirmation_token, confirm: 'true', site_id_or_domain: id });
    expect(done.structuredContent).toMatchObject({ deleted: true });
    const twice = await driver.call(SITE, { site_id_or_domain: id, confirm: true, confirmation_token });
    expect(twice.isError).toBe(true);
  });

  it('a token is good for one use, even of a call that failed', async () => {
    const driver = await clientOf(mcp, ['2026-07-28', 'http']);
    const args = { site_id_or_domain: 5, slugs: ['akismet/akismet.php'] };
    const plugins = (await driver.call('svc-get-site-plugins-v1', { site_id_or_domain: 5 })).structuredContent?.plugins;
    const slug = (plugins as { slug: string }[]).find((plugin) => !plugin.slug.startsWith('mainwp'))?.slug;
    const mine = { ...args, slugs: [slug] };
    const confirmation_token = await tokenOf(driver, PLUGINS, mine);
    mcp.app.fleet.site(4).faults = { offline: true };
    await driver.call(PLUGINS, { ...mine, confirm: true, confirmation_token });
    mcp.app.fleet.site(4).faults = {};
    const again = await driver.call(PLUGINS, { ...mine, confirm: true, confirmation_token });
    expect(textOf(again)).toContain('already used');
  });

  it('swapped arguments are refused, also inside a list', async () => {
    const driver = await clientOf(mcp, ['2025-11-25', 'http']);
    const { plugins } = (await driver.call('svc-get-site-plugins-v1', { site_id_or_domain: 6 })).structuredContent as {
      plugins: { slug: string }[];
    };
    const [a, b] = plugins.map(({ slug }) => slug).filter((slug) => !slug.startsWith('mainwp'));
    const confirmation_token = await tokenOf(driver, PLUGINS, { site_id_or_domain: 6, slugs: [a] });
    const swaps = [{ slugs: [b] }, { slugs: [a, b] }, { slugs: [] }, { site_id_or_domain: 7 }];
    for (const swap of swaps) {
      const refused = await driver.call(PLUGINS, {
        site_id_or_domain: 6,
        slugs: [a],
        ...swap,
        confirm: true,
        confirmation_token,
      });
      expect([swap, refused.isError]).toEqual([swap, true]);
    }
    expect(textOf(await driver.call(SITE, { site_id_or_domain: 6, confirm: true, confirmation_token }))).toContain(
      'for another call',
    );
    const still = (await driver.call('svc-get-site-plugins-v1', { site_id_or_domain: 6 })).structuredContent;
    expect(still?.plugins).toHaveLength(plugins.length);
  });

  it('a token belongs to the login it was made for', async () => {
    const key = await clientOf(mcp, ['2025-11-25', 'http']);
    const local = await clientOf(mcp, ['2025-11-25', 'stdio']);
    const confirmation_token = await tokenOf(key, SITE, { site_id_or_domain: 8 });
    const refused = await local.call(SITE, { site_id_or_domain: 8, confirm: true, confirmation_token });
    expect(textOf(refused)).toContain('for another call');
  });

  it('a preview that no longer holds has to be made again', async () => {
    const driver = await clientOf(mcp, ['2026-07-28', 'stdio']);
    const confirmation_token = await tokenOf(driver, SITE, { site_id_or_domain: 9 });
    await driver.call('svc-update-site-v1', { site_id_or_domain: 9, name: 'Renamed since' });
    const refused = await driver.call(SITE, { site_id_or_domain: 9, confirm: true, confirmation_token });
    expect(textOf(refused)).toContain('for another call');
    expect(await exists(mcp, 9)).toBe(true);
  });

  it('a __proto__ member is an unknown field like any other', async () => {
    const args = JSON.parse('{"site_id_or_domain":9,"confirm":true,"__proto__":{"confirmation_token":"x"}}');
    const caller = { actor: LOCAL, request_id: 'r', signal: new AbortController().signal };
    const refused = await mcp.core.registry.callTool(SITE, args, caller);
    expect(refused).toMatchObject({ isError: true });
    expect(JSON.stringify(refused)).toContain('__proto__');
    expect(await exists(mcp, 9)).toBe(true);
  });
});

describe('with a person asked', () => {
  let mcp: McpApp;
  beforeAll(async () => {
    mcp = await withApp('elicit');
  });

  it.each(WAYS)('accept, decline, an unticked box and a closed question (%s over %s)', async (era, transport) => {
    const id = WAYS.findIndex((way) => way[0] === era && way[1] === transport) + 1;
    const asked: string[] = [];
    const answers: Awaited<ReturnType<Answerer>>[] = [
      { action: 'decline' },
      { action: 'accept', content: { confirm: false } },
      { action: 'cancel' },
      { action: 'accept', content: { confirm: true } },
    ];
    const answer: Answerer = async ({ message }) => {
      asked.push(message);
      return answers[asked.length - 1] ?? { action: 'cancel' };
    };
    const driver = await clientOf(mcp, [era, transport], { answer });
    const call = () => driver.call(SITE, { site_id_or_domain: id, confirm: true });
    expect(textOf(await call())).toContain('The user declined. Nothing changed.');
    expect(textOf(await call())).toContain('The user declined. Nothing changed.');
    expect(textOf(await call())).toContain('dismissed the question');
    expect(await exists(mcp, id)).toBe(true);
    expect((await call()).structuredContent).toMatchObject({ deleted: true });
    expect(await exists(mcp, id)).toBe(false);
    expect(asked[0]).toMatch(/^Remove "[^"]+" \(http\S+\) and its history from here\? This cannot be undone\./);
    // A preview asks for no confirmation, and returns no token that would bypass it.
    const preview = await driver.call(SITE, { site_id_or_domain: 5, dry_run: true });
    expect(preview.structuredContent).not.toHaveProperty('confirmation_token');
    expect(asked).toHaveLength(4);
  });

  it('an agreement does nothing for a key that meanwhile may only read', async () => {
    const { key, token } = await newKey(mcp.app.service.store.keys);
    const answer: Answerer = async () => {
      const changed = await fetch(`${mcp.target.url.replace('/mcp', '/v2')}/rest-api/edit-key/${key.id}`, {
        method: 'PATCH',
        headers: { authorization: mcp.all, 'content-type': 'application/json' },
        body: JSON.stringify({ permissions: 'read' }),
      });
      expect(changed.status).toBe(200);
      return { action: 'accept', content: { confirm: true } };
    };
    const driver = await clientOf(mcp, ['2025-11-25', 'http'], { answer, authorization: `Bearer ${token}` });
    const said = textOf(await driver.call(SITE, { site_id_or_domain: 6, confirm: true }));
    expect(said).toContain('svc_permission_denied');
    expect(await exists(mcp, 6)).toBe(true);
  });

  it.each(WAYS)('a client that cannot ask needs the preview (%s over %s)', async (era, transport) => {
    const driver = await clientOf(mcp, [era, transport]);
    expect(textOf(await driver.call(SITE, { site_id_or_domain: 5, confirm: true }))).toContain('confirmation_token');
    expect(await exists(mcp, 5)).toBe(true);
    const preview = await driver.call(SITE, { site_id_or_domain: 5, dry_run: true });
    expect(preview.structuredContent?.confirmation_token).toMatch(/^[\w-]{40}$/);
  });

  it('a question without an answer ends in a refusal, before clients give up', async () => {
    expect(mcp.core.elicitationTimeoutMs).toBe(300_000);
    const { service } = mcp.app;
    const core = createMcpCore({
      operations: service.operations,
      invoke: service.invoke,
      log: service.log,
      clock: { ...systemClock, sleep: async () => undefined },
      readOnly: false,
      toolsets: ['sites'],
      confirm: 'elicit',
      version: '0.0.0',
      newRequestId: () => 'r',
      confirmTimeoutMs: 150,
    });
    const driver = await connect(['2025-11-25', 'stdio'], { ...mcp.target, core, answer: () => new Promise(() => {}) });
    const late = await driver.call(SITE, { site_id_or_domain: 6, confirm: true });
    expect(textOf(late)).toContain('The question was not answered in time. Nothing changed.');
    expect(await exists(mcp, 6)).toBe(true);
  });

  describe('2026-07-28, by hand', () => {
    async function send(args: object, more: object = {}, authorization = mcp.all) {
      const from = { url: mcp.url, authorization, capabilities: { elicitation: {} } };
      const { body } = await sendModern(from, 'tools/call', { name: SITE, arguments: args, ...more });
      return body.result as Record<string, unknown>;
    }
    const args = { site_id_or_domain: 7, confirm: true };
    const accept = { inputResponses: { confirm: { action: 'accept', content: { confirm: true } } } };

    it('refuses states that are forged, used, for other arguments or of another login', async () => {
      const asked = await send(args);
      expect(asked).toMatchObject({
        resultType: 'input_required',
        inputRequests: { confirm: { method: 'elicitation/create' } },
        requestState: expect.stringMatching(/^[\w-]{40}$/),
      });
      const requestState = String(asked.requestState);
      const forged = `${requestState.slice(0, -1)}${requestState.endsWith('_') ? '-' : '_'}`;
      const other = `Bearer ${(await newKey(mcp.app.service.store.keys)).token}`;
      for (const refused of [
        await send(args, { ...accept, requestState: forged }),
        await send(args, { ...accept, requestState: `${requestState}-TAMPERED` }),
        await send({ ...args, site_id_or_domain: 8 }, { ...accept, requestState }),
        await send(args, { ...accept, requestState }, other),
      ])
        expect(refused).toMatchObject({ isError: true });
      // An answer without the state, or a state without an answer, is asked for again.
      expect(await send(args, accept)).toMatchObject({ resultType: 'input_required' });
      expect(await send(args, { requestState })).toMatchObject({ resultType: 'input_required' });
      expect(await exists(mcp, 7)).toBe(true);
      expect(await send(args, { inputResponses: { confirm: { action: 'decline' } }, requestState })).toMatchObject({
        isError: true,
      });
      // Used up by the decline.
      expect(await send(args, { ...accept, requestState })).toMatchObject({ isError: true });
      expect(await exists(mcp, 7)).toBe(true);
    });
  });
});

describe('tokens', () => {
  it('are for one use, one purpose, one text, five minutes and one process', () => {
    const clock = handClock();
    const tokens = new ConfirmationTokens(clock);
    const made = tokens.issue('preview', 'a');
    expect(tokens.redeem('preview', made, 'b')).toBe('other');
    expect(tokens.redeem('question', made, 'a')).toBe('other');
    expect(new ConfirmationTokens(clock).redeem('preview', made, 'a')).toBe('other');
    for (const bad of ['', 'x', made.slice(1), `${made}=`, `${made} `])
      expect(tokens.redeem('preview', bad, 'a')).toBe('other');
    expect(tokens.redeem('preview', made, 'a')).toBeUndefined();
    expect(tokens.redeem('preview', made, 'a')).toBe('used');
    const old = tokens.issue('preview', 'a');
    clock.move(5 * 60_000);
    expect(tokens.redeem('preview', old, 'a')).toBe('expired');
    expect(tokens.redeem('preview', made, 'a')).toBe('expired');
  });
});
