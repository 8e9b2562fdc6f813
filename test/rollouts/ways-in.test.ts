/** Rollouts over REST: their routes, who may call them, and the windows of their sites. */

import { beforeAll, describe, expect, it } from 'vitest';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { type RestApp, restApp } from '../rest/client.js';
import { ordinary, running } from '../safety/safety-app.js';
import { SYSTEM } from '../support/harness.js';

const SITES = 3;
/** Two in Berlin, one in New York, by what their WordPress says. */
const ZONES = ['Europe/Berlin', 'Europe/Berlin', 'America/New_York'];

let app: RestApp;

beforeAll(async () => {
  app = await restApp({
    sites: SITES,
    fleet: { plugins: 3 },
    config: { job_delay_ms: 0, direct_call_ms: 86_400_000 },
    jobs: false,
  });
  for (const [index, site] of app.fleet.sites.entries()) {
    for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
    site.state.translations = [];
    site.state.wpUpdate = null;
    const [plugin] = ordinary(site);
    if (plugin === undefined) throw new Error('a site without a plugin');
    const update = { version: '1.1', requiresPhp: '', requiresWp: '' };
    Object.assign(plugin, {
      slug: 'shop/shop.php',
      name: 'Shop',
      version: '1.0',
      active: true,
      premium: false,
      update,
    });
    await app.connect(index);
  }
  for (const [index, zone] of ZONES.entries())
    await app.db.run('UPDATE site_detail SET timezone = ? WHERE site_id = ?', [zone, index + 1]);
});

async function turn() {
  for (let jobs = 0; jobs < 2; jobs++) {
    await advanceRollouts(app.ctx({ actor: SYSTEM }));
    await running(app, app.drain());
  }
  await advanceRollouts(app.ctx({ actor: SYSTEM }));
}

/** Moves the clock to a time of the day, UTC. */
function until(hour: number) {
  const now = app.clock.now();
  const today = now - (now % 86_400_000) + hour * 3_600_000;
  app.clock.move(today > now ? today - now : today + 86_400_000 - now);
}

describe('over REST', () => {
  it('a rollout is planned, started, read, controlled and listed; with a key that may not write, only read', async () => {
    const planned = await app.rest('POST /updates/plans', { body: { waves: { canaries: 2 }, per_page: 2 } });
    expect(planned).toMatchObject({
      status: 200,
      body: { total: SITES, pages: 2, plan: { sites: SITES, updates: SITES } },
    });
    expect(planned.body.data).toHaveLength(2);
    const { plan_id, digest } = planned.body.plan;
    const read = { token: app.tokens.read };
    expect((await app.rest('POST /rollouts', { ...read, body: { plan_id, digest } })).status).toBe(403);
    expect((await app.rest('POST /rollouts', { body: { plan_id, digest, dry_run: true } })).body).toMatchObject({
      dry_run: true,
    });
    const started = await app.rest('POST /rollouts', { body: { plan_id, digest } });
    expect(started.body).toMatchObject({ success: 1, already_started: false, state: 'running' });
    const path = `/rollouts/${started.body.rollout_id}` as const;
    expect((await app.rest(`POST ${path}/pause`, read)).status).toBe(403);
    expect((await app.rest(`POST ${path}/pause`)).body).toMatchObject({
      message: 'The rollout was paused.',
      rollout: { state: 'paused' },
    });
    expect((await app.rest(`POST ${path}/resume`)).body.rollout.state).toBe('running');
    expect((await app.rest(`POST ${path}/approve`)).status).toBe(409);
    expect((await app.rest(`POST ${path}/abort`)).body.rollout.state).toBe('aborted');
    expect((await app.rest(`GET ${path}?per_page=1`, read)).body).toMatchObject({
      total: SITES,
      rollout: { state: 'aborted' },
    });
    expect((await app.rest('GET /rollouts', read)).body).toMatchObject({ total: 1, data: [{ plan_id, digest }] });
    await turn();
    expect((await app.rest(`GET ${path}`)).body.rollout.counts).toEqual({ untouched: SITES });
  });
});

describe('plans that wait', () => {
  it('are listed with their maker and what they come to, until they are started or discarded', async () => {
    const read = { token: app.tokens.read };
    const make = async (body: object) => (await app.rest('POST /updates/plans', { body })).body.plan;
    const waiting = async () => (await app.rest('GET /updates/plans', read)).body;
    const one = await make({ waves: { canaries: 1, soak_minutes: 7 } });
    app.clock.move(1000);
    const other = await make({ waves: { canaries: 2, soak_minutes: 7 } });
    // A plan of nothing cannot be started.
    await make({ slugs: ['shop'], minimum_age_days: 365 });
    const { data, total } = await waiting();
    expect(total).toBe(2);
    expect(data).toEqual([
      expect.objectContaining({ plan_id: other.plan_id, waves: [1, 2].map((wave) => other.waves[wave - 1]) }),
      {
        ...{ plan_id: one.plan_id, digest: one.digest, expires_at: one.expires_at },
        made_by: 'read_write',
        made_at: expect.stringMatching(/Z$/),
        summary: expect.stringMatching(/^3 updates on 3 sites, first on 1 site, then on 2, 7 minutes apart\. /),
        ...{ sites: SITES, updates: SITES, more_items: 0 },
        waves: [
          { wave: 1, sites: 1, updates: 1 },
          { wave: 2, sites: 2, updates: 2 },
        ],
        by_item: [{ type: 'plugin', slug: 'shop/shop.php', new_version: '1.1', sites: SITES }],
      },
    ]);
    const discard = (id: string, as = {}) => app.rest(`DELETE /updates/plans/${id}`, as);
    expect((await discard(one.plan_id, read)).status).toBe(403);
    expect((await discard(one.plan_id)).body.message).toBe('The plan was discarded.');
    expect((await discard(one.plan_id)).body.code).toBe('svc_plan_not_found');
    const operation = encodeURIComponent('DELETE /updates/plans/{plan_id}');
    expect((await app.rest(`GET /actions?operation=${operation}`, read)).body.data).toEqual([
      expect.objectContaining({ action: 'called', input: JSON.stringify({ plan_id: one.plan_id }) }),
    ]);
    const start = (plan: { plan_id: string; digest: string }) =>
      app.rest('POST /rollouts', { body: { plan_id: plan.plan_id, digest: plan.digest } });
    expect((await start(one)).body.code).toBe('svc_plan_not_found');
    const { rollout_id } = (await start(other)).body;
    expect((await waiting()).total).toBe(0);
    expect((await discard(other.plan_id)).body.code).toBe('svc_plan_not_found');
    const items = (await app.rest(`GET /rollouts/${rollout_id}`, read)).body.data;
    const names = (await app.rest('GET /sites/basic', read)).body.data;
    expect(items.map((item: { site_name: string }) => item.site_name)).toEqual(
      items.map(({ site_id }: { site_id: number }) => names.find((site: { id: number }) => site.id === site_id).name),
    );
    await app.rest(`POST /rollouts/${rollout_id}/abort`);
    await make({ waves: { soak_minutes: 9 } });
    expect((await waiting()).total).toBe(1);
    app.clock.move(25 * 3_600_000);
    expect((await waiting()).total).toBe(0);
    await turn();
  });
});

describe('a window', () => {
  it('is that of each site: a wave waits for the last of its sites', async () => {
    const window = { from: '02:00', to: '04:00' };
    const { body } = await app.rest('POST /updates/plans', { body: { window, waves: { canaries: SITES } } });
    until(0);
    const { plan_id, digest } = body.plan;
    const { rollout_id } = (await app.rest('POST /rollouts', { body: { plan_id, digest } })).body;
    const read = async () => {
      const { data, rollout } = (await app.rest(`GET /rollouts/${rollout_id}`)).body;
      return [rollout.state, ...data.map(({ state }: { state: string }) => state)];
    };
    await turn();
    expect(await read()).toEqual(['running', 'untouched', 'untouched', 'untouched']);
    // 02:00 in Berlin, in winter; 20:00 in New York.
    until(1);
    await turn();
    expect(await read()).toEqual(['running', 'kept', 'kept', 'untouched']);
    until(6);
    await turn();
    expect(await read()).toEqual(['running', 'kept', 'kept', 'untouched']);
    until(8);
    await turn();
    expect(await read()).toEqual(['completed', 'kept', 'kept', 'kept']);
  });
});
