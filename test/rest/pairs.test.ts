/**
 * Where a REST row and an operation mean the same, they return the same facts. Reads are compared on one service.
 * Writes are made through REST on one service and through operations on its twin with the same seed; afterwards both
 * must be equal.
 */

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../support/harness.js';
import { type RestApp, restApp } from './client.js';

const INSTALLED = 3;

async function fleetOf(more: Parameters<typeof restApp>[0] = {}): Promise<RestApp> {
  const app = await restApp({ sites: INSTALLED, ...more });
  for (let index = 0; index < INSTALLED; index++) await app.connect(index);
  const client = await app.call('add-client', { name: 'Example Ltd', client_email: 'office@example.com' });
  await app.call('update-client', { client_id_or_email: client.id, selected_sites: [1, 2] });
  const tag = await app.call('add-tag', { name: 'Shops', color: '#5EC130' });
  await rest(app, 'PUT /sites/1/edit', { groupids: [tag.id] });
  for (const cost of [
    { name: 'Hosting', price: '12.50', renewal_type: 'monthly', last_renewal: '2026-11-01', groups: [tag.id] },
    { name: 'Licence', price: '99', type: 'lifetime', clients: [client.id], license_type: 'multi_site' },
  ])
    await rest(app, 'POST /costs/add', cost);
  await app.call('suspend-site', { site_id_or_domain: 3 });
  return app;
}

async function rest(app: RestApp, call: string, body?: unknown): Promise<Answer> {
  const reply = await app.rest(call, body === undefined ? {} : { body });
  expect(reply.status, `${call}: ${JSON.stringify(reply.body).slice(0, 400)}`).toBe(200);
  return reply.body;
}

/** Only these members, in this order. */
function pick(from: Answer, names: readonly string[]): Answer {
  return Object.fromEntries(names.map((name) => [name, from[name]]));
}
const sorted = (list: readonly string[]) => [...list].sort();

/** A site as REST has it: its reason advises a route instead of an operation. */
function inRest<T extends { status_reason?: string | null }>(site: T): T {
  const { status_reason: reason } = site;
  if (typeof reason !== 'string') return site;
  return { ...site, status_reason: reason.replace('unsuspend-site-v1', 'POST /v2/sites/{id_or_domain}/unsuspend') };
}

describe('reads', () => {
  let app: RestApp;
  beforeAll(async () => {
    app = await fleetOf();
  });

  it('lists sites', async () => {
    for (const status of ['any', 'connected', 'disconnected', 'suspended']) {
      const query = `page=1&per_page=2&status=${status}`;
      const listed = await rest(app, `GET /sites?${query}&full_data=false&with_tags=0`);
      const basic = await rest(app, `GET /sites/basic?${query}`);
      const known = await app.call('list-sites', { page: 1, per_page: 2, status });
      const items = known.items.map(inRest);
      expect([listed.data, listed.total]).toEqual([items, known.total]);
      expect([basic.data, basic.total]).toEqual([items, known.total]);
      const { count } = await rest(app, `GET /sites/count?status=${status}`);
      expect(count).toBe((await app.call('count-sites', { status })).total);
    }
    const basic = await app.call('get-sites-basic');
    const { data } = await rest(app, 'GET /sites/basic');
    expect(data.map((site: Answer) => pick(site, ['id', 'url', 'name']))).toEqual(basic.sites);
  });

  it('reads a site', async () => {
    for (const id of [1, 2, 3]) {
      const { tags, ...known } = await app.call('get-site', { site_id_or_domain: id, include_stats: true });
      const { data } = await rest(app, `GET /sites/${id}`);
      expect(pick(data, Object.keys(known))).toEqual(inRest(known));
      // The routes document has them by their id.
      expect(data.tags).toEqual(Object.fromEntries(tags.map((tag: Answer) => [tag.id, tag.name])));
    }
  });

  it('lists plugins and themes', async () => {
    for (const kind of ['plugins', 'themes']) {
      const known = await app.call(`get-site-${kind}`, { site_id_or_domain: 1 });
      const { data, total } = await rest(app, `GET /sites/1/${kind}`);
      expect(total).toBeGreaterThan(0);
      expect(
        data.map((item: Answer) => ({ ...pick(item, Object.keys(known[kind][0])), active: item.active === 1 })),
      ).toEqual(known[kind]);
    }
  });

  it('lists what is abandoned', async () => {
    for (const kind of ['plugins', 'themes']) {
      const known = await app.call(`get-abandoned-${kind}`, { per_page: 200 });
      const facts: string[] = [];
      for (const id of [1, 2, 3]) {
        const { data } = await rest(app, `GET /sites/${id}/${kind}/abandoned`);
        for (const item of Object.values(data as Record<string, Answer>))
          facts.push(`${id} ${item.slug} ${item.Name} ${item.Version} ${item.last_updated_at}`);
      }
      const operation = known.items.map(
        (item: Answer) => `${item.site_id} ${item.slug} ${item.name} ${item.version} ${item.last_updated}`,
      );
      expect(sorted(facts)).toEqual(sorted(operation));
    }
  });

  it('checks the security', async () => {
    const { data } = await rest(app, 'GET /sites/1/security');
    const known = await app.call('get-site-security', { site_id_or_domain: 1 });
    expect(pick(data, ['security_issues', 'ssl_status'])).toEqual(pick(known, ['security_issues', 'ssl_status']));
  });

  it('lists changes', async () => {
    const known = await app.call('get-site-changes', { site_id_or_domain: 1, per_page: 5 });
    const { data, total } = await rest(app, 'GET /sites/1/non-mainwp-changes?per_page=5');
    expect(known.total).toBeGreaterThan(0);
    expect(total).toBe(known.total);
    expect(
      data.map((item: Answer) => pick(item, ['id', 'type', 'description', 'user', 'timestamp', 'source'])),
    ).toEqual(known.changes);
  });

  it('reads the client of a site and its costs', async () => {
    for (const id of [1, 3]) {
      const { data } = await rest(app, `GET /sites/${id}/client`);
      const { client } = await app.call('get-site-client', { site_id_or_domain: id });
      expect(data === null ? null : pick(data, Object.keys(client))).toEqual(client);
    }
    const known = await app.call('get-site-costs', { site_id_or_domain: 1 });
    const { data, total_monthly, total_yearly } = await rest(app, 'GET /sites/1/costs');
    expect(known.costs).toHaveLength(2);
    const facts = known.costs.map((cost: Answer) => pick(data[cost.id], Object.keys(cost)));
    expect({ costs: facts, total_monthly, total_yearly }).toEqual(
      pick(known, ['costs', 'total_monthly', 'total_yearly']),
    );
  });

  it('lists clients, with their sites and costs', async () => {
    const known = await app.call('list-clients');
    const listed = await rest(app, 'GET /clients');
    expect([listed.data, listed.total]).toEqual([known.items, known.total]);
    expect((await rest(app, 'GET /clients/count')).count).toBe((await app.call('count-clients')).total);
    const who = { client_id_or_email: 'office@example.com' };
    const path = '/clients/office%40example.com';
    expect((await rest(app, `GET ${path}`)).data).toEqual(await app.call('get-client', who));
    const sites = await app.call('get-client-sites', who);
    expect(pick(await rest(app, `GET ${path}/sites`), ['data', 'total'])).toEqual({
      data: sites.sites,
      total: sites.total,
    });
    const costs = await app.call('get-client-costs', who);
    const { data, total_monthly, total_yearly } = await rest(app, `GET ${path}/costs`);
    expect({ costs: data, total_monthly, total_yearly }).toEqual(
      pick(costs, ['costs', 'total_monthly', 'total_yearly']),
    );
  });

  it('lists tags, with their sites and clients', async () => {
    const known = await app.call('list-tags');
    const listed = await rest(app, 'GET /tags');
    expect([listed.data, listed.total]).toEqual([known.items, known.total]);
    expect((await rest(app, 'GET /tags/1')).data).toEqual(await app.call('get-tag', { tag_id: 1 }));
    expect((await rest(app, 'GET /tags/1/sites')).data).toEqual((await app.call('get-tag-sites', { tag_id: 1 })).sites);
    expect((await rest(app, 'GET /tags/1/clients')).data).toEqual(
      (await app.call('get-tag-clients', { tag_id: 1 })).clients,
    );
  });

  it('lists updates', async () => {
    const words = { wp: 'core', plugins: 'plugin', themes: 'theme', translations: 'translation' } as const;
    const { updates } = await app.call('list-updates', { per_page: 200 });
    const { data } = await rest(app, 'GET /updates');
    const facts = Object.entries(data as Record<string, Answer>).flatMap(([site, types]) =>
      Object.entries(types as Record<string, Answer>).flatMap(([type, offers]) =>
        Object.entries(offers as Record<string, Answer>).map(
          ([slug, offer]) =>
            `${site} ${words[type as keyof typeof words]} ${slug} ${offer.Name} ${offer.current_version} ${offer.new_version}`,
        ),
      ),
    );
    // Site 3 is suspended: both return its known data, REST with its status.
    const offers = Object.values(data[3] as Record<string, Answer>).flatMap((type) => Object.values(type));
    expect(new Set((offers as Answer[]).map(({ site_status }) => site_status))).toEqual(new Set(['suspended']));
    const operation = updates.map(
      (each: Answer) =>
        `${each.site_id} ${each.type} ${each.slug} ${each.name} ${each.current_version} ${each.new_version}`,
    );
    expect(operation.length).toBeGreaterThan(0);
    expect(sorted(facts)).toEqual(sorted(operation));
    const one = await app.call('get-site-updates', { site_id_or_domain: 1 });
    const ofOne = Object.values((await rest(app, 'GET /updates/1')).data[1] as object).flatMap((type) =>
      Object.keys(type),
    );
    expect(sorted(ofOne)).toEqual(sorted(one.updates.map(({ slug }: Answer) => slug)));
  });

  it('checks one site', async () => {
    const { data } = await rest(app, 'POST /sites/1/check');
    const known = await app.call('check-site', { site_id_or_domain: 1 });
    expect([data.id, data.url, data.reachable, data.http_code]).toEqual([
      known.site_id,
      known.site_url,
      known.reachable,
      known.http_status,
    ]);
  });

  it('fails alike: the same codes for the same reasons, except where a path has its own', async () => {
    const both = async (call: string, body: unknown, name: string, input: object) => {
      const reply = await app.rest(call, { body });
      const error = await app.fail(name, input);
      return [reply.body.code, error.code, reply.status === error.status];
    };
    const three = { site_id_or_domain: 3 };
    expect(await both('POST /updates/3/update/plugins', {}, 'update-site-plugins', three)).toEqual([
      'svc_site_suspended',
      'svc_site_suspended',
      true,
    ]);
    expect(await both('POST /sites/99/sync', undefined, 'check-site', { site_id_or_domain: 99 })).toEqual([
      'svc_rest_invalid_site_id',
      'svc_site_not_found',
      true,
    ]);
    expect(await both('POST /tags/add', { name: 'Shops' }, 'add-tag', { name: 'Shops' })).toEqual([
      expect.any(String),
      expect.any(String),
      true,
    ]);
  });
});

/** All readable data of a service, without the ports, which differ between twins. */
async function wholeState(app: RestApp): Promise<{ whole: unknown; child: unknown; lists: unknown }> {
  const sites = (await app.call('list-sites', { per_page: 100 })).items;
  const whole = [];
  for (const { id } of sites as Answer[]) {
    const site = { site_id_or_domain: id };
    whole.push(
      await app.call('get-site', { ...site, include_stats: true }),
      await app.call('get-site-plugins', site),
      await app.call('get-site-themes', site),
      await app.call('get-site-updates', site),
      (await rest(app, `GET /sites/${id}`)).data,
    );
  }
  const child = app.fleet.sites.map(({ state }) => ({
    connected: state.connection !== null,
    plugins: state.plugins.map(({ slug, active, version }) => `${slug} ${active} ${version}`),
    themes: state.themes.map(({ slug, version }) => `${slug} ${version}`),
  }));
  const lists = {
    clients: await Promise.all(
      ((await app.call('list-clients')).items as Answer[]).map(({ id }) =>
        app.call('get-client', { client_id_or_email: id }),
      ),
    ),
    tags: await app.call('list-tags'),
    ignored: await app.call('list-ignored-updates'),
    updates: await app.call('list-updates', { per_page: 200 }),
  };
  return JSON.parse(JSON.stringify({ whole, child, lists }).replaceAll(/127\.0\.0\.1:\d+/g, 'host'));
}

/**
 * Without the children: REST notifies a child of a disconnection, the operation of the same name only changes the
 * record.
 */
async function ownState(app: RestApp) {
  const { whole, lists } = await wholeState(app);
  return { whole, lists };
}

describe('writes', () => {
  let byRest: RestApp;
  let byOperation: RestApp;
  beforeEach(async () => {
    byRest = await fleetOf();
    byOperation = await fleetOf();
  });

  /** Performs the same change on both twins; they must have changed, and be equal. */
  async function same(
    viaRest: (app: RestApp) => Promise<unknown>,
    viaOperation: (app: RestApp) => Promise<unknown>,
    stateOf: (app: RestApp) => Promise<unknown> = wholeState,
  ): Promise<void> {
    const before = await stateOf(byRest);
    expect(await stateOf(byOperation)).toEqual(before);
    await viaRest(byRest);
    await viaOperation(byOperation);
    const after = await stateOf(byRest);
    expect(after).not.toEqual(before);
    expect(await stateOf(byOperation)).toEqual(after);
  }

  const one = { site_id_or_domain: 1 };
  async function plugin(app: RestApp, offered = false): Promise<string> {
    const list = (await rest(app, 'GET /sites/1/plugins?status=active')).data as Answer[];
    const free = list.find(
      (each) => !each.is_child_agent && each.mu === 0 && (each.update_version !== null) === offered,
    );
    return free?.slug ?? list.find((each) => !each.is_child_agent && each.mu === 0)?.slug;
  }
  async function idleTheme(app: RestApp): Promise<string> {
    const list = (await rest(app, 'GET /sites/1/themes')).data as Answer[];
    return list.find((each) => each.active === 0 && each.parent_active === 0)?.slug;
  }

  it('disconnect, reconnect, suspend and unsuspend', async () => {
    for (const action of ['disconnect', 'reconnect', 'suspend', 'unsuspend']) {
      await same(
        (app) => rest(app, `POST /sites/1/${action}`),
        (app) => app.call(`${action}-site`, one),
        ownState,
      );
    }
  });

  it('disconnect and reconnect of many', async () => {
    for (const action of ['disconnect', 'reconnect']) {
      await same(
        (app) => rest(app, `POST /sites/${action}`, { include: [1, 2] }),
        (app) => app.call(`${action}-sites`, { site_ids_or_domains: [1, 2] }),
        ownState,
      );
    }
  });

  it('sync', async () => {
    for (const app of [byRest, byOperation]) {
      const site = app.fleet.site(0);
      const [first] = site.state.plugins.filter(({ active, mustUse }) => active && !mustUse);
      if (first !== undefined) first.version = '99.1';
      app.fleet.site(1).faults.offline = true;
    }
    await same(
      (app) => rest(app, 'POST /sites/sync'),
      (app) => app.call('sync-sites'),
    );
  });

  it('check', async () => {
    for (const app of [byRest, byOperation]) app.fleet.site(1).faults.http500 = true;
    const counts = (await rest(byRest, 'POST /sites/check')).data as Record<string, Answer>;
    const { results } = await byOperation.call('check-sites');
    const { items } = await byOperation.call('list-sites', { status: 'suspended' });
    const suspended = items.map(({ id }: Answer) => id);
    // The routes document leaves suspended sites out, the operations document does not.
    const others = results.filter(({ site_id }: Answer) => !suspended.includes(site_id));
    expect(others.map((each: Answer) => [each.site_id, each.reachable])).toEqual(
      Object.values(counts)
        .filter(({ result }) => result === 'success')
        .map((each) => [each.id, each.reachable]),
    );
  });

  it('plugins: deactivate, activate, delete', async () => {
    const slug = await plugin(byRest);
    for (const action of ['deactivate', 'activate']) {
      await same(
        (app) => rest(app, `POST /sites/1/plugins/${action}`, { slug }),
        (app) => app.call(`${action}-site-plugins`, { ...one, slugs: [slug] }),
      );
    }
    for (const app of [byRest, byOperation]) await app.call('deactivate-site-plugins', { ...one, slugs: [slug] });
    await same(
      (app) => rest(app, `DELETE /sites/1/plugins/delete?slug=${encodeURIComponent(slug)}`),
      (app) => app.call('delete-site-plugins', { ...one, slugs: [slug], confirm: true }),
    );
  });

  it('themes: activate, delete', async () => {
    const slug = await idleTheme(byRest);
    await same(
      (app) => rest(app, 'POST /sites/1/themes/activate', { slug }),
      (app) => app.call('activate-site-theme', { ...one, slug }),
    );
    const other = await idleTheme(byRest);
    await same(
      (app) => rest(app, `DELETE /sites/1/themes/delete?slug=${other}`),
      (app) => app.call('delete-site-themes', { ...one, slugs: [other], confirm: true }),
    );
  });

  it('updates of named slugs, of a type, of a site, and the core', async () => {
    const slug = await plugin(byRest, true);
    await same(
      (app) => rest(app, 'POST /updates/1/update/plugins', { slug }),
      (app) => app.call('update-site-plugins', { ...one, slugs: [slug] }),
    );
    await byRest.call('sync-sites');
    await byOperation.call('sync-sites');
    await same(
      (app) => rest(app, 'POST /updates/2/update'),
      (app) => app.call('run-updates', { site_ids_or_domains: [2] }),
    );
    await same(
      (app) => rest(app, 'POST /updates/update'),
      (app) => app.call('run-updates'),
    );
  });

  it('ignored updates, there and back', async () => {
    const { updates } = await byRest.call('get-site-updates', one);
    const slug = updates.find(({ type }: Answer) => type === 'plugin')?.slug;
    const ignore = (action: string) => (app: RestApp) =>
      app.call('ignore-site-plugins', { ...one, action, slugs: [slug] });
    await same((app) => rest(app, 'POST /updates/1/ignore/plugins', { slug }), ignore('add'));
    const [entry] = (await byRest.call('list-ignored-updates')).ignored;
    const { plugins } = (await rest(byRest, 'GET /updates/1/ignored')).data;
    expect(plugins[entry.slug]).toEqual({ Name: entry.name, ignored_versions: [entry.ignored_version] });
    await same(
      (app) => rest(app, `DELETE /updates/1/ignore/plugins?slug=${encodeURIComponent(slug)}`),
      ignore('remove'),
    );
  });

  it('clients: add, change, suspend, delete', async () => {
    const input = { name: 'Second <b>Ltd</b>', client_email: 'two@example.com', city: 'Bern', selected_sites: [3] };
    const who = { client_id_or_email: 'two@example.com' };
    const path = '/clients/two%40example.com';
    await same(
      (app) => rest(app, 'POST /clients/add', input),
      (app) => app.call('add-client', input),
    );
    await same(
      (app) => rest(app, `PUT ${path}/edit`, { city: '', note: 'Hello' }),
      (app) => app.call('update-client', { ...who, city: '', note: 'Hello' }),
    );
    for (const mark of ['suspend', 'unsuspend']) {
      await same(
        (app) => rest(app, `POST ${path}/${mark}`),
        (app) => app.call(`${mark}-client`, who),
      );
    }
    await same(
      (app) => rest(app, `DELETE ${path}/remove`),
      (app) => app.call('delete-client', { ...who, confirm: true }),
    );
  });

  it('tags: add, change, delete', async () => {
    await same(
      (app) => rest(app, 'POST /tags/add', { name: ' Care  plan ', color: '#112233' }),
      (app) => app.call('add-tag', { name: ' Care  plan ', color: '#112233' }),
    );
    await same(
      (app) => rest(app, 'PUT /tags/2/edit', { name: 'Plan' }),
      (app) => app.call('update-tag', { tag_id: 2, name: 'Plan' }),
    );
    await same(
      (app) => rest(app, 'DELETE /tags/1/remove'),
      (app) => app.call('delete-tag', { tag_id: 1, confirm: true }),
    );
  });

  it('a site is changed and removed', async () => {
    const change = { name: 'See https://x.example  now', notes: 'A note' };
    await same(
      (app) => rest(app, 'PUT /sites/1/edit', change),
      (app) => app.call('update-site', { ...one, ...change }),
    );
    await same(
      (app) => rest(app, 'DELETE /sites/1/remove'),
      (app) => app.call('delete-site', { ...one, confirm: true }),
      ownState,
    );
  });
});

it('a site that did not change is recognised, although WordPress hides addresses another way each time', async () => {
  const app = await fleetOf();
  const hash = () => app.db.one('SELECT content_hash FROM site_detail WHERE site_id = 1');
  const before = await hash();
  const shown = (await rest(app, 'GET /sites/1')).data.recent_comments as Answer[];
  expect(shown.length).toBeGreaterThan(0);
  for (const { author_email } of shown) expect(author_email).toMatch(/^[^&@]+@[^&@]+$/);
  await rest(app, 'POST /sites/1/sync');
  expect(await hash()).toEqual(before);
});

describe('jobs', () => {
  it('are reported alike', async () => {
    const app = await fleetOf({ jobs: false, config: { batch_threshold: 1 } });
    const { job_id, sites_queued } = await rest(app, 'POST /sites/sync');
    expect(sites_queued).toBe(2);
    const status = await app.rest(`GET /jobs/${job_id}`);
    expect(status.body).toEqual({ success: 1, ...(await app.call('get-batch-job-status', { job_id })) });
    const again = await app.call('sync-sites');
    expect([again.queued, again.sites_queued]).toEqual([true, 2]);
  });
});
