/** What leads to a change of every site counts as one, whatever the call names instead of the sites. */

import { beforeAll, describe, expect, it } from 'vitest';
import type { Rule } from '../../schemas/approval.js';
import { localActor } from '../../src/cli/local-actor.js';
import { type RulesChange, setApprovalRules } from '../../src/domain/approvals/rules.js';
import { type RolloutApp, rolloutApp } from '../rollouts/rollout-app.js';
import type { Answer } from '../support/harness.js';
import { newKey } from '../support/logins.js';
import { connect, type Driver, textOf } from '../support/mcp-clients.js';

const SHELL = { actor: localActor('cli') };
const ASKED = 'svc_approval_required';
const NEVER = 'svc_change_not_allowed';
/** Sites with an update; there is one more, without any. */
const OFFERING = [1, 2, 3, 4];
const BARE = 5;
const WAVES = { canaries: 1, soak_minutes: 1 };

let app: RolloutApp;
let assistant: Driver;
let rest: (call: string, body?: object) => Promise<string>;

/** Nothing but the size of a change matters: every site is asked for, and never let happen to an assistant. */
const RULE: Rule = { few: 'auto', many: 'auto', all: 'ask', all_by_assistant: 'never', unguarded: 'auto' };
const RULES: RulesChange = { preset: 'open', rules: { updates: RULE, rollouts: RULE } };

async function restOf({ service, running }: RolloutApp): Promise<typeof rest> {
  const { token } = await newKey(service.store.keys, { scope: 'read_write', description: 'script' });
  const http = await service.http();
  return async (call, body = {}) => {
    const [method = '', path = ''] = call.split(' ');
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = { method, headers, body: JSON.stringify(body) };
    const reply = await running(Promise.resolve(http.request(`http://127.0.0.1:8787/v2${path}`, sent)));
    const answer = (await reply.json()) as Answer;
    return reply.status === 200 ? 'done' : answer.code;
  };
}

async function mcp(tool: string, input: object): Promise<string> {
  const answer = await app.running(assistant.call(`svc-${tool}-v1`, { ...input }));
  return answer.isError === true ? (/^\w+/.exec(textOf(answer))?.[0] ?? '') : 'done';
}

/** In the shell, of which nothing is asked. */
const call = (name: string, input: object) => app.running(app.call(name, input, SHELL));

/** Offers the next version on these sites, and only there. */
async function offerOn(ids: readonly number[], version: string) {
  for (const [at, plugin] of app.plugins.entries())
    plugin.update = ids.includes(at + 1) ? { version, requiresPhp: '', requiresWp: '' } : null;
  await call('sync-sites', {});
}

async function plan(input: object = {}) {
  const { plan_id, digest, sites } = await call('plan-updates', { waves: WAVES, ...input });
  return { plan_id, digest, sites };
}

beforeAll(async () => {
  app = await rolloutApp(OFFERING.length + 1);
  await offerOn(OFFERING, '2.0');
  await setApprovalRules(app.ctx(SHELL), RULES);
  rest = await restOf(app);
  assistant = await connect(['2025-11-25', 'stdio'], { url: '', core: await app.service.mcp() });
});

describe('every site is meant', () => {
  it('by an update of all, and by the start of a plan that names no sites: whichever of them have updates', async () => {
    expect([await rest('POST /updates/update'), await mcp('update-all', {})]).toEqual([ASKED, NEVER]);
    for (const input of [{}, { slugs: ['shop'] }]) {
      const { sites, ...start } = await plan(input);
      expect(sites).toBe(OFFERING.length);
      expect(await rest('POST /rollouts', start)).toBe(ASKED);
      expect(await mcp('start-rollout', { ...start, confirm: true })).toBe(NEVER);
      expect((await app.call('start-rollout', { ...start, dry_run: true })).needs_approval).toMatch(/every site/);
    }
  });

  it('by a plan that names every connected site, as by an update that names them', async () => {
    await call('suspend-site', { site_id_or_domain: BARE });
    const named = { site_ids_or_domains: OFFERING };
    expect(await rest('POST /updates/update', { include: OFFERING })).toBe(ASKED);
    expect(await mcp('update-all', named)).toBe(NEVER);
    const { sites: _, ...start } = await plan(named);
    expect(await rest('POST /rollouts', start)).toBe(ASKED);
    expect(await mcp('start-rollout', { ...start, confirm: true })).toBe(NEVER);
  });

  it('by what continues such a rollout, and by its undo', async () => {
    const { sites: _, ...start } = await plan({ waves: { ...WAVES, approve: true } });
    const { rollout_id } = await call('start-rollout', { ...start, confirm: true });
    const control = (action: string) => ({ rollout_id, action, confirm: true });
    await call('control-rollout', control('pause'));
    expect(await rest(`POST /rollouts/${rollout_id}/resume`)).toBe(ASKED);
    expect(await mcp('control-rollout', control('resume'))).toBe(NEVER);
    await call('control-rollout', control('resume'));
    await app.turn();
    await app.after(2);
    expect(await rest(`POST /rollouts/${rollout_id}/approve`)).toBe(ASKED);
    expect(await mcp('control-rollout', control('approve_next_wave'))).toBe(NEVER);
    // So far only the canary was updated: that is not every site.
    expect(await mcp('control-rollout', control('pause'))).toBe('done');
    expect(await mcp('undo-change', { rollout_id, confirm: true })).toBe('done');
  });

  it('by the undo of a run, or of all since a time, that reaches each of them', async () => {
    await offerOn(OFFERING, '3.0');
    const since = new Date(app.clock.now()).toISOString();
    const { run_id } = await call('update-all', {});
    for (const undo of [{ run_id }, { since }]) {
      expect(await rest('POST /actions/undo', { ...undo, confirm: true })).toBe(ASKED);
      expect(await mcp('undo-change', { ...undo, confirm: true })).toBe(NEVER);
    }
    // Of one of the sites, it is not.
    expect(await rest('POST /actions/undo', { since, site: 1, confirm: true })).toBe('done');
    expect(await mcp('undo-change', { since, site_id_or_domain: 2, confirm: true })).toBe('done');
  });

  it('by a retry of what failed on each of them', async () => {
    await offerOn(OFFERING, '4.0');
    const fails = (ids: readonly number[]) => {
      for (const [at, { faults }] of app.fleet.sites.entries()) faults.failUpdates = ids.includes(at + 1);
    };
    fails(OFFERING);
    const { run_id } = await call('update-all', {});
    fails([]);
    expect(await rest(`POST /runs/${run_id}/retry`)).toBe(ASKED);
    expect(await mcp('retry-run', { run_id })).toBe(NEVER);
    fails([1, 2]);
    const again = await call('update-all', {});
    fails([]);
    expect(await rest(`POST /runs/${again.run_id}/retry`)).toBe('done');
    expect(await mcp('retry-run', { run_id: again.run_id })).toBe('done');
  });
});

describe('every site is meant by a batch that edits each', () => {
  const EDITS: Record<string, object> = {
    'what withholds updates': { ignore_plugin_updates: 0 },
    'the same by its other name': { is_ignorePluginUpdates: 0 },
    'who is told of outages': { monitoring_emails: 'ops@example.com' },
  };
  const everyone = [...OFFERING, BARE];
  const edit = (ids: readonly number[], change: object) =>
    rest('POST /sites/batch', { update: ids.map((id) => ({ id, ...change })) });

  it.each(Object.keys(EDITS))('%s, not by one that leaves a site out', async (what) => {
    await setApprovalRules(app.ctx(SHELL), { preset: 'open', rules: { updates: RULE, settings: RULE } });
    const change = EDITS[what] ?? {};
    expect([await edit(everyone, change), await edit(everyone.slice(1), change)]).toEqual([ASKED, 'done']);
    // What is withheld, and not told to anyone, is no change of these kinds.
    expect(await edit(everyone, { ignore_core_updates: 1 })).toBe('done');
    await setApprovalRules(app.ctx(SHELL), RULES);
  });
});

describe('some sites are meant', () => {
  it('by a plan that names only some, or leaves one out', async () => {
    await offerOn(OFFERING, '5.0');
    const some = await plan({ site_ids_or_domains: [1, 2] });
    expect(await rest('POST /rollouts', { plan_id: some.plan_id, digest: some.digest })).toBe('done');
    const { plan_id, digest } = await plan({ exclude_sites: [4] });
    expect(await mcp('start-rollout', { plan_id, digest, confirm: true })).toBe('done');
  });
});

it('of a single site, a plan of all means all, and one that names it means that site, as with updates', async () => {
  const single = await rolloutApp(1);
  await setApprovalRules(single.ctx(SHELL), RULES);
  const ask = await restOf(single);
  const start = async (input: object) => {
    const { plan_id, digest } = await single.plan({ waves: WAVES, ...input });
    return ask('POST /rollouts', { plan_id, digest });
  };
  expect([await ask('POST /updates/update'), await start({})]).toEqual([ASKED, ASKED]);
  expect(await start({ site_ids_or_domains: [1] })).toBe('done');
});
