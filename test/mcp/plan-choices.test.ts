/** What a plan leaves out, what protects its updates, and what people said of them: told alike wherever it is shown. */

import { beforeAll, describe, expect, it } from 'vitest';
import { type Ask, type Ways, ways } from '../approvals/client.js';
import type { Answer } from '../support/harness.js';
import { connect, type Driver, textOf } from '../support/mcp-clients.js';

const PERSON = { type: 'local', id: null, name: 'ada', rights: ['read', 'write'], via: 'cli' } as const;

let app: Ways;
let client: Driver;
let key: Ask;

beforeAll(async () => {
  app = await ways({ sites: 8, connected: 8, fleet: { plugins: 5 } });
  client = await connect(['2025-11-25', 'http'], { ...app.target, url: `${app.url}?toolsets=all` });
  key = await app.key();
  await app.app.call('add-client', { name: 'Foo', selected_sites: [1, 2] });
  await app.app.call('add-client', { name: 'Bar', selected_sites: [3] });
  const { id } = await app.app.call('add-tag', { name: 'Shops' });
  await app.app.call('tag-sites', { site_ids_or_domains: [4], add: [id] });
  const guard = (site: number) => `(${site}, 1, '{}', 1)`;
  await app.app.db.run(
    `INSERT OR REPLACE INTO site_guard (site_id, present, hello, looked_at) VALUES ${[1, 3, 5].map(guard).join()}`,
  );
});

async function tool(name: string, input: object = {}): Promise<Answer> {
  const result = await client.call(`svc-${name}-v1`, input as Record<string, unknown>);
  if (result.isError === true) throw new Error(textOf(result));
  return result.structuredContent as Answer;
}
const failure = async (name: string, input: object) =>
  textOf(await client.call(`svc-${name}-v1`, input as Record<string, unknown>));

/** Updates on offer per site, read apart from the code. */
async function onOffer(): Promise<Map<number, number>> {
  const rows = await app.app.db.all(
    'SELECT site_id, count(*) AS n FROM site_update WHERE ignored = 0 GROUP BY site_id',
  );
  return new Map(rows.map((row) => [Number(row.site_id), Number(row.n)]));
}

describe('sites that are left out', () => {
  it('by client, tag and site are not planned, and counted with the reason', async () => {
    const offers = await onOffer();
    const of = (ids: number[]) => ids.reduce((sum, id) => sum + (offers.get(id) ?? 0), 0);
    const having = (ids: number[]) => ids.filter((id) => offers.has(id));
    const plan = await tool('plan-updates', {
      exclude_client_ids: [1],
      exclude_tag_ids: [1],
      exclude_sites: [5],
      per_page: 50,
    });
    const left = [1, 2, 4, 5];
    expect(plan.updates).toBe(of([...offers.keys()].filter((id) => !left.includes(id))));
    expect(plan.items.filter(({ site_id }: Answer) => left.includes(site_id))).toEqual([]);
    expect(plan.left_out).toEqual(
      expect.arrayContaining([
        { reason: 'excluded_client', updates: of([1, 2]), sites: having([1, 2]).length, site_ids: having([1, 2]) },
        ...having([4]).map((id) => ({ reason: 'excluded_tag', updates: of([id]), sites: 1, site_ids: [id] })),
        ...having([5]).map((id) => ({ reason: 'excluded_site', updates: of([id]), sites: 1, site_ids: [id] })),
      ]),
    );
    expect(plan.summary).toContain(`${of([1, 2])} updates on sites of an excluded client`);
    // Sites without any client stay in: listing all other clients would lose them.
    const without = [6, 7, 8].filter((id) => offers.has(id));
    const planned = new Set(plan.items.map(({ site_id }: Answer) => site_id));
    for (const id of without) expect([id, planned.has(id)]).toEqual([id, true]);
  });

  it('are left out over REST as well, also by tag, of updates at once too', async () => {
    const offers = await onOffer();
    const body = { exclude_client_ids: [1], exclude_tag_ids: [1], exclude_sites: [5], per_page: 500 };
    const { plan, data } = (await key('POST /updates/plans', body)).body;
    expect(new Set(data.map(({ site_id }: Answer) => site_id))).toEqual(
      new Set([...offers.keys()].filter((id) => ![1, 2, 4, 5].includes(id))),
    );
    const reasons = plan.left_out.map(({ reason }: Answer) => reason);
    if (offers.has(4)) expect(reasons).toContain('excluded_tag');
    const update = (await key('POST /updates/update', { exclude_client_ids: '1,2', dry_run: true })).body;
    const updated = JSON.stringify(update.would_update).match(/"site_id":\d+/g) ?? [];
    expect(updated.length).toBeGreaterThan(0);
    expect(updated.filter((one) => ['1', '2', '3'].includes(one.slice(10)))).toEqual([]);
    const matrix = (await key('GET /fleet/updates/plan?exclude_client_ids=1,2')).body;
    expect(matrix.data.map(({ id }: Answer) => id).filter((id: number) => id < 4)).toEqual([]);
  });

  it('must exist', async () => {
    expect(await failure('plan-updates', { exclude_client_ids: [99] })).toMatch(
      /^svc_client_not_found: exclude_client_ids: no client has the id 99/,
    );
    expect(await failure('plan-updates', { exclude_sites: ['no.such.example'] })).toMatch(/Field: exclude_sites/);
    expect((await key('POST /updates/update', { exclude_client_ids: '99', dry_run: true })).body).toMatchObject({
      code: 'svc_client_not_found',
      data: { field: 'exclude_client_ids' },
    });
  });
});

describe('what cannot be rolled back', () => {
  /** Every choice of sites and types there is of these, so that no chance decides what is looked at. */
  const CHOICES = [
    [],
    [1],
    [2],
    [1, 2],
    [3, 4, 5],
    [6, 7, 8],
    [1, 3, 5],
    [2, 4, 6, 8],
    [1, 2, 3, 4, 5, 6, 7, 8],
  ].flatMap((sites) =>
    [[], ['plugins'], ['core'], ['themes', 'translations'], ['core', 'plugins', 'themes']].map((types) => ({
      site_ids_or_domains: sites,
      types,
    })),
  );

  it('is the same in a plan, the preview of its start, and the dry run of run-updates: counted by update', async () => {
    for (const choice of CHOICES) {
      const plan = await tool('plan-updates', { ...choice, per_page: 50 });
      const { would_affect } = await tool('run-updates', { ...choice, dry_run: true });
      const { guard, reinstall, none } = plan.protection;
      expect([choice, guard + reinstall + none]).toEqual([choice, plan.updates]);
      // A rollout reinstalls what it can; what a direct run without a guard installs stays.
      expect([choice, plan.cannot_be_rolled_back, plan.only_reinstallable]).toEqual([choice, none, reinstall]);
      expect([choice, plan.updates, none + reinstall]).toEqual([
        choice,
        would_affect.total,
        would_affect.cannot_be_rolled_back,
      ]);
      const items = plan.items as Answer[];
      if (items.length === plan.total)
        expect([choice, plan.protection]).toEqual([
          choice,
          {
            guard: items.filter(({ protection }) => protection === 'guard').length,
            reinstall: items.filter(({ protection }) => protection === 'reinstall').length,
            none: items.filter(({ protection }) => protection === 'none').length,
          },
        ]);
      const words = none === 1 ? 'The update cannot' : `None of ${none} updates can`;
      if (none > 0)
        expect(plan.summary).toContain(`${none === plan.updates ? words : `${none} cannot`} be rolled back`);
      if (plan.updates === 0) continue;
      const { plan_id, digest } = plan;
      const preview = await tool('start-rollout', { plan_id, digest, dry_run: true });
      expect([choice, preview.protection, preview.risks]).toEqual([choice, plan.protection, plan.risks]);
      const rest = (await key('POST /updates/plans', choice)).body.plan;
      expect(rest.protection).toEqual(plan.protection);
    }
  });
});

describe('guidance', () => {
  it('is a risk of the updates that it names, or of its sites, and is in the summary', async () => {
    const [first] = (await tool('plan-updates', { types: ['plugins'], per_page: 1 })).items as Answer[];
    const folder =
      String(first?.slug)
        .split('/')[0]
        ?.replace(/\.php$/, '') ?? '';
    const offering = await app.app.db.one('SELECT count(*) AS n FROM site_update WHERE ignored = 0 AND slug = ?', [
      String(first?.slug),
    ]);
    const text = `Never update ${folder} before Monday.`;
    const added = await app.app.call('add-guidance', { text }, { actor: PERSON });
    const plan = await tool('plan-updates');
    const risk = (of: Answer) => of.risks.find(({ risk }: Answer) => risk === 'guidance');
    expect(risk(plan)).toEqual({ risk: 'guidance', updates: Number(offering?.n), sites: Number(offering?.n) });
    expect(plan.summary).toContain(`guidance (${offering?.n} update`);
    expect(plan.summary).toContain(text);
    expect(risk(await tool('plan-updates', { exclude_slugs: [folder] }))).toBeUndefined();
    await app.app.call('decide-guidance', { guidance_id: added.id, decision: 'remove' }, { actor: PERSON });

    const offers = await onOffer();
    const site = [...offers.keys()].sort((a, b) => a - b).at(-1) ?? 8;
    const own = await app.app.call(
      'add-guidance',
      { text: 'Ask the owner first.', site_id_or_domain: site },
      { actor: PERSON },
    );
    expect(risk(await tool('plan-updates'))).toEqual({ risk: 'guidance', updates: offers.get(site), sites: 1 });
    const line = `Site ${site}: "Ask the owner first." (by ada)`;
    expect((await tool('run-updates', { site_ids_or_domains: [site], dry_run: true })).guidance).toEqual([line]);
    const [preview] = (await app.app
      .call('safe-update-site', {
        ...{ site_id_or_domain: site, least_protection: 'none', dry_run: true },
      })
      .then((answer: Answer) => [answer])) as Answer[];
    expect(preview?.guidance).toEqual([line]);
    await app.app.call('decide-guidance', { guidance_id: own.id, decision: 'remove' }, { actor: PERSON });
  });

  it('that no person confirmed is said to be so, and is no risk', async () => {
    await tool('add-guidance', { text: 'Update nothing.', site_id_or_domain: 1 });
    const plan = await tool('plan-updates');
    expect(plan.risks.map(({ risk }: Answer) => risk)).not.toContain('guidance');
    expect(plan.summary).toContain('One piece of guidance was proposed by a program, and no person has confirmed it.');
  });
});
