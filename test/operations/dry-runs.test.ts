/**
 * What `dry_run` says is what the same call then does on an unchanged fleet, and it changes nothing: over MCP, for every
 * operation that has it. Updates on offer: `update-previews.test.ts`.
 */

import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { putGuard } from '../../src/demo/guard/state.js';
import { contractOf, toolName } from '../../src/operation/contract.js';
import { TOOLSETS } from '../../src/runtime/config/types.js';
import { operations } from '../../tools/index.js';
import type { Answer } from '../support/harness.js';
import { LOCAL, type McpApp, mcpApp, textOf } from '../support/mcp-clients.js';
import { plugin } from './support-app.js';

const SITES = [1, 2, 3, 4];
const STATES = ['usual', 'suspended', 'disconnected'] as const;
const PLUGIN = 'carousel/carousel.php';
const OTHER = 'other/other.php';
const caller = { actor: LOCAL, request_id: 'r', signal: new AbortController().signal };

let mcp: McpApp;

beforeAll(async () => {
  mcp = await mcpApp({
    sites: 4,
    connected: 4,
    fleet: { plugins: 2 },
    jobs: false,
    config: { toolsets: [...TOOLSETS] },
  });
});

interface Case {
  states: (typeof STATES)[number][];
  /** Of the plugin on each site; null = not installed. */
  active: (boolean | null)[];
  /** Sites that the call names. */
  named: number[];
  one: number;
  yes: boolean;
  guarded: boolean;
}

const cases: fc.Arbitrary<Case> = fc.record({
  states: fc.array(fc.constantFrom(...STATES), { minLength: 4, maxLength: 4 }),
  active: fc.array(fc.constantFrom(true, false, null), { minLength: 4, maxLength: 4 }),
  named: fc.subarray([...SITES, 99]),
  one: fc.constantFrom(...SITES),
  yes: fc.boolean(),
  guarded: fc.boolean(),
});

async function arrange({ states, active, guarded }: Case): Promise<void> {
  const { app } = mcp;
  await app.db.run('UPDATE site SET suspended = 0, disconnected = 0, client_id = NULL');
  await app.db.run('DELETE FROM client');
  await app.db.run('DELETE FROM tag');
  for (const [at, site] of app.fleet.sites.entries()) {
    const { state } = site;
    state.plugins = state.plugins.filter(({ slug }) => slug !== PLUGIN && slug !== OTHER);
    const is = active[at] ?? null;
    if (is !== null) plugin(app, at, { slug: PLUGIN, name: 'Carousel', active: is });
    plugin(app, at, { slug: OTHER, name: 'Other', active: false });
    if (guarded) putGuard(site);
    else site.guard = null;
  }
  await app.call('sync-sites', { site_ids_or_domains: SITES });
  for (const [at, state] of states.entries())
    await app.db.run('UPDATE site SET suspended = ?, disconnected = ? WHERE id = ?', [
      Number(state === 'suspended'),
      Number(state === 'disconnected'),
      at + 1,
    ]);
}

/** All that a call may change, here and on the sites; not what is only looked at. */
async function content(): Promise<unknown> {
  const tables = [
    'site',
    'site_tag',
    'tag',
    'client',
    'cost',
    'time_task',
    'job',
    'job_site',
    'rollout',
    'site_extension',
  ];
  const rows = await Promise.all(tables.map((table) => mcp.app.db.all(`SELECT * FROM ${table} ORDER BY 1, 2`)));
  const sites = mcp.app.fleet.sites.map(({ state: { plugins, themes }, guard }) => [plugins, themes, guard !== null]);
  return JSON.parse(JSON.stringify([rows, sites]));
}

/** The answer, or its error as code and message. */
async function call(name: string, input: object): Promise<Answer> {
  const result = await mcp.core.registry.callTool(toolName(`svc/${name}-v1`), input, caller);
  if (!('content' in result)) throw new Error('a question');
  if (result.isError !== true) return result.structuredContent as Answer;
  return { refused: textOf(result).split('\n')[0] };
}

type Entry = { id?: number; site_id?: number | null; slug?: string; code?: string; identifier?: unknown };
const idsOf = (list: Entry[] = []) => list.map(({ id }) => id).sort();
const slugsOf = (list: (Entry | string)[] = []) => list.map((one) => (typeof one === 'string' ? one : one.slug)).sort();
const errorsOf = ({ errors = [] }: Answer) =>
  (errors as Entry[])
    .map(({ identifier, site_id, slug, code }) => `${site_id ?? identifier} ${slug ?? ''} ${code}`)
    .sort();

interface Promised {
  /** Input without `dry_run`; null = nothing to try in this case. */
  input(each: Case): object | null | Promise<object | null>;
  /** The same of an answer of either kind. */
  told(answer: Answer, dry: boolean): unknown;
}

const client = async ({ named }: Case) => {
  const { id } = await mcp.app.call('add-client', { name: 'C', selected_sites: named.filter((id) => id < 99) });
  return { client_id_or_email: id };
};
const tag = async ({ named }: Case) => {
  const { id } = await mcp.app.call('add-tag', { name: 'T' });
  for (const site of named.filter((one) => one < 99))
    await mcp.app.call('update-site', { site_id_or_domain: site, add_tags: [id] });
  return id as number;
};
const one = ({ one }: Case) => ({ site_id_or_domain: one });
const rest = ({ dry_run: _, needs_approval: _ahead, ...others }: Answer) => others;

/** What each operation tells in both, except the four of updates. */
const PROMISES: Record<string, Promised> = {
  'reconnect-sites': {
    input: ({ named, yes }) => ({ site_ids_or_domains: yes ? [] : named }),
    told: (answer, dry) => [idsOf(dry ? answer.would_reconnect : answer.reconnected), errorsOf(answer)],
  },
  'switch-plugin': {
    input: ({ named, yes, guarded }) => ({
      plugin: PLUGIN,
      action: yes ? 'activate' : 'deactivate',
      site_ids_or_domains: guarded ? [] : named,
    }),
    told: (answer, dry) => [idsOf(dry ? answer.would_switch : answer.switched), errorsOf(answer)],
  },
  'tag-sites': {
    input: async (each) => ({
      site_ids_or_domains: [...each.named, each.one],
      ...(each.yes ? { add: [await tag(each), 'New'] } : { remove: [await tag(each)] }),
      create: true,
    }),
    // Only a tag that is there has an id.
    told: (answer) => ({ ...rest(answer), tags: answer.tags?.map(({ name, change }: Answer) => [name, change]) }),
  },
  'update-monitors': {
    input: async (each) => ({
      site_ids_or_domains: [...each.named, each.one],
      ...(each.yes ? { interval: 30 } : { follow: ['interval'], maxretries: 2 }),
    }),
    told: rest,
  },
  'delete-site-plugins': {
    input: (each) => ({ ...one(each), slugs: each.yes ? [PLUGIN] : [PLUGIN, OTHER, 'no/such.php'] }),
    told: (answer, dry) => [slugsOf(dry ? answer.would_affect : answer.deleted), errorsOf(answer)],
  },
  'delete-site-themes': {
    input: (each) => ({
      ...one(each),
      slugs: mcp.app.fleet
        .site(each.one - 1)
        .state.themes.slice(0, 2)
        .map(({ slug }) => slug),
    }),
    told: (answer, dry) => [slugsOf(dry ? answer.would_affect : answer.deleted), errorsOf(answer)],
  },
  'install-site-guard': {
    input: (each) => ({ ...one(each), allow_login: each.yes }),
    told: ({ version, previous_version, login_allowed }) => [version, previous_version, login_allowed],
  },
  // A guard that does not answer may be there all the same.
  'remove-site-guard': { input: one, told: ({ site_id }) => site_id },
  'delete-client': { input: client, told: ({ client_name, sites_affected }) => [client_name, sites_affected] },
  'delete-tag': {
    input: async (each) => ({ tag_id: await tag(each) }),
    told: ({ tag_id, tag_name }) => [tag_id, tag_name],
  },
  'delete-cost': {
    input: async () => ({
      cost_id: (await mcp.app.call('add-cost', { name: 'L', price: 5, renewal_type: 'yearly', sites: [1] })).id,
    }),
    told: ({ id, name }) => [id, name],
  },
  'delete-time-task': {
    input: async () => ({ task_id: (await mcp.app.call('add-time-task', { title: 'T', site_ids: [1] })).id }),
    told: ({ id, title }) => [id, title],
  },
  'cancel-job': {
    input: async ({ yes }) => {
      const job_id = `sync_${randomUUID()}`;
      const now = mcp.app.ctx().clock.now();
      const pace = { chunk: 20, delay_ms: 0, timeout_ms: 3_600_000, next_run_at: now + 86_400_000 };
      const job = {
        id: job_id,
        type: 'sync',
        params: {},
        sites: yes ? [1] : SITES,
        begun: false,
        refused: [],
      } as const;
      await mcp.app.service.store.jobs.add({ ...job, ...pace }, now);
      return { job_id };
    },
    told: ({ cancelled: _, failed: __, ...answer }) => rest(answer),
  },
  'undo-change': {
    input: async (each) => {
      await mcp.app.call('tag-sites', { site_ids_or_domains: [...each.named, each.one], add: ['Wrong'], create: true });
      return { change_id: (await mcp.app.call('list-actions', { contexts: 'call', per_page: 1 })).actions[0].id };
    },
    told: (answer, dry) => {
      const done: Answer[] = (dry ? answer.undo : answer.undone) ?? [];
      return [done.map(({ site_id, kind, field }) => `${site_id} ${kind} ${field}`).sort(), errorsOf(answer)];
    },
  },
  'start-rollout': {
    input: async () => {
      const { plan_id, digest } = await mcp.app.call('plan-updates', {});
      return { plan_id, digest };
    },
    told: ({ refused, sites, updates }) => [refused, sites, updates],
  },
  'control-rollout': {
    input: async ({ one, yes }) => {
      const { plan_id, digest } = await mcp.app.call('plan-updates', {});
      const { rollout_id } = await call('start-rollout', { plan_id, digest, confirm: true });
      // There was nothing to update.
      if (rollout_id === undefined) return null;
      if (yes) await mcp.app.call('control-rollout', { rollout_id, action: 'pause', confirm: true });
      return { rollout_id, action: ['pause', 'resume', 'abort', 'approve_next_wave'][one - 1] };
    },
    told: ({ refused }) => refused,
  },
  // Last: the site is gone then.
  'delete-site': { input: one, told: ({ site_id, site_url }) => [site_id, site_url] },
};

const previewed = operations.filter(({ input }) => 'dry_run' in input().shape);

it('covers every operation that has a dry_run', () => {
  const elsewhere = ['run-updates', 'update-all', 'safe-update-site', 'retry-run', 'restore-backup'];
  expect(previewed.map(({ id }) => id.slice('svc/'.length, -'-v1'.length)).sort()).toEqual(
    [...Object.keys(PROMISES), ...elsewhere].sort(),
  );
});

describe.each(Object.entries(PROMISES))('%s', (name, { input, told }) => {
  it('does what its preview says, which changes nothing', async () => {
    const operation = operations.find(({ id }) => id === `svc/${name}-v1`);
    const confirms = operation !== undefined && 'confirm' in (contractOf(operation).input_schema.properties as object);
    await fc.assert(
      fc.asyncProperty(cases, async (each) => {
        await arrange(each);
        const asked = await input(each);
        if (asked === null) return;
        const before = await content();
        const preview = await call(name, { ...asked, dry_run: true });
        expect(await content()).toEqual(before);
        const done = await call(name, { ...asked, ...(confirms ? { confirm: true } : {}) });
        expect([done.refused, told(done, false)]).toEqual([preview.refused, told(preview, true)]);
      }),
      { numRuns: name === 'delete-site' ? 2 : 5 },
    );
  });
});
