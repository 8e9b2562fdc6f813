/** Two dashboards on the same sites: on trial, no call here changes a site, through any interface. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testKey } from '../support/harness.js';
import { connect, LOCAL, type McpApp, mcpApp, textOf, WAYS } from '../support/mcp-clients.js';
import { has, needs } from '../support/needs.js';
import { OLD_SERVER, type OldDashboard, oldDashboard } from './dashboard.js';
import { php } from './php.js';
import { type Program, program } from './program.js';

const folder = mkdtempSync(join(tmpdir(), 'sitefleet-trial-'));
const SITES = 3;
const LOGIN = `Basic ${Buffer.from('boss:password-1').toString('base64')}`;
let here: Program;
let mcp: McpApp;
let old: OldDashboard;
let key: { private_key: string; public_key: string };
let ids: number[];

beforeAll(async () => {
  key = await testKey;
  here = program(folder);
  // The program creates the database and the secret key; the service of the test then shares both.
  await here.run(['user', 'add', 'boss', '--password-stdin'], 'password-1');
  const printed = await here.run(['import', 'mainwp']);
  writeFileSync(join(folder, 'export.php'), printed.out);
  mcp = await mcpApp({
    sites: SITES + 1,
    config: {
      db: `file:${join(folder, 'fleet.db')}`,
      secret_key: null,
      secret_key_file: join(folder, 'secret.key'),
      batch_threshold: 1,
      job_delay_ms: 0,
    },
  });
  old = oldDashboard();
  const { fleet } = mcp.app;
  for (const index of [0, 1, 2]) await old.connect(fleet.site(index), key);
  const sha1 = await old.connect(fleet.site(3), key);
  old.rows.wp_options?.push({ opt_id: 900, wpid: Number(sha1.id), name: 'signature_algo', value: 9999 });
  old.options.mainwp_connect_signature_algo = '1';
  old.save();
  for (const index of [0, 1, 2]) await old.sync(fleet.site(index), key);
  if (has('php')) {
    const { out } = await php([join(folder, 'export.php'), old.folder], folder);
    writeFileSync(join(folder, 'fleet.json'), out);
  }
});

afterAll(async () => {
  await old.close();
  rmSync(folder, { recursive: true, force: true });
  rmSync(old.folder, { recursive: true, force: true });
});

/** The state of the sites that depends on their dashboard. */
function remembered() {
  return mcp.app.fleet.sites.slice(0, SITES).map(({ inner }) => ({
    connection: { ...inner.connection },
    siteId: inner.siteId,
    days: inner.abandoned.days,
    syncdata: { ...inner.syncdata },
    secrets: inner.users.map((user) => [...user.regverify]),
  }));
}

function versions() {
  return mcp.app.fleet.sites.map(({ inner }) => ({
    core: inner.wpVersion,
    plugins: inner.plugins.map(({ slug, version, active }) => [slug, version, active]),
    themes: inner.themes.map(({ slug, version }) => [slug, version]),
    posts: inner.posts.map(({ id, status, title }) => [id, status, title]),
  }));
}

async function http(path: string, body: unknown, method = 'POST') {
  const response = await fetch(mcp.url.replace(/\/mcp$/, path), {
    method,
    headers: { authorization: path.startsWith('/v2') ? mcp.all : LOGIN, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, never> };
}

describe('import --parallel', needs('php'), () => {
  it('reads the sites, and leaves no trace of this dashboard on them', async () => {
    // The old dashboard has its own choice of what a sync sends, with parts that this one would switch on.
    for (const { inner } of mcp.app.fleet.sites) inner.syncdata = { recent_posts: 0, users: 1 };
    const before = remembered();
    const report = await here.json(['import', 'fleet.json', '--parallel']);
    expect(report.parallel).toBe(true);
    expect(report.imported).toHaveLength(SITES);
    ids = report.imported.map((site: { site_id: number }) => site.site_id);
    // A stronger hash than the other dashboard's SHA-1 would lock it out, so this site is not contacted and not stored.
    expect(report.unreachable).toEqual([
      expect.objectContaining({ site_id: null, message: expect.stringContaining('SHA-1') }),
    ]);
    expect(mcp.app.fleet.site(3).calls.filter((call) => call.function !== 'register')).toEqual([]);
    await mcp.app.call('sync-sites', { site_ids_or_domains: [ids[0]] });
    expect(remembered()).toEqual(before);
    expect(before.map(({ connection }) => connection.server)).toEqual(Array(SITES).fill(OLD_SERVER));
  });

  it('refuses every change, whichever way it comes', async () => {
    const [first = 0, second = 0, third = 0] = ids;
    const before = [remembered(), versions()];
    const plugin = mcp.app.fleet.site(0).inner.plugins.find(({ active, mustUse }) => active && !mustUse)?.slug ?? '';
    const run = (name: string, input: unknown) => http(`/wp-json/wp-abilities/v1/abilities/svc/${name}/run`, { input });

    // The run endpoint, with each kind of change.
    for (const [name, input] of [
      ['update-site-core-v1', { site_id_or_domain: first }],
      ['deactivate-site-plugins-v1', { site_id_or_domain: first, slugs: [plugin] }],
      ['delete-site-plugins-v1', { site_id_or_domain: first, slugs: [plugin], confirm: true }],
    ] as const) {
      const { status, body } = await run(name, input);
      expect([name, status, body.code]).toEqual([name, 409, 'svc_site_on_trial']);
      expect(JSON.stringify(body)).toContain('import finish');
    }
    // Both eras of MCP.
    for (const way of WAYS.filter(([, transport]) => transport === 'http')) {
      const client = await connect(way, mcp.target);
      const answer = await client.call('svc-update-site-plugins-v1', { site_id_or_domain: first });
      expect(answer.isError).toBe(true);
      expect(textOf(answer)).toContain('svc_site_on_trial');
      await client.close();
    }
    // REST: updates, plugins, posts, and the ways to renew or end a connection.
    for (const [method, path, body, status] of [
      ['PUT', `/v2/updates/${first}/update`, {}, 409],
      ['PUT', `/v2/updates/${first}/update/wp`, {}, 409],
      ['PUT', `/v2/sites/${first}/plugins/deactivate`, { slug: plugin }, 409],
      [
        'POST',
        `/v2/posts/${first}/create`,
        { post_title: 'x', post_content: 'y', post_status: 'draft', post_name: 'x' },
        409,
      ],
    ] as const) {
      const answer = await http(path, body, method);
      expect([path, answer.status], JSON.stringify(answer.body)).toEqual([path, status]);
      expect(JSON.stringify(answer.body)).toContain('on trial beside another dashboard');
    }
    // A job: two sites are more than the threshold of this service.
    const queued = await mcp.app.call('update-all', { site_ids_or_domains: [first, second] });
    const job = await ended(queued.job_id);
    expect(job.errors.map(({ code }: { code: string }) => code)).toEqual(['svc_site_on_trial', 'svc_site_on_trial']);
    // The shell.
    const shell = await here.run(['call', 'update-site-plugins-v1', JSON.stringify({ site_id_or_domain: second })]);
    expect([shell.code, JSON.parse(shell.err).code]).toEqual([1, 'svc_site_on_trial']);
    // A lost connection is not renewed over the other dashboard's.
    mcp.app.fleet.site(2).faults.refused = true;
    expect((await mcp.app.fail('reconnect-site', { site_id_or_domain: third })).code).toBe('svc_site_on_trial');
    mcp.app.fleet.site(2).faults.refused = undefined;
    // Disconnecting here does not affect the other dashboard.
    await http(`/v2/sites/${third}/disconnect`, {});
    await mcp.app.call('reconnect-site', { site_id_or_domain: third });

    expect([remembered(), versions()]).toEqual(before);
  });

  it('has a last guard where calls leave', async () => {
    const { service, fleet } = mcp.app;
    const ctx = service.ctx({ actor: LOCAL, request_id: 'test', signal: new AbortController().signal });
    const connection = (await service.store.sites.connections(ids)).get(ids[0] ?? 0);
    if (connection === undefined) throw new Error('no connection');
    const sent = fleet.site(0).requests;
    const { child } = ctx;
    const registration = { user: 'x', public_key: 'x', unique_id: '' };
    for (const attempt of [
      () => child.pluginAction(connection, 'delete', ['a/a.php']),
      () => child.themeAction(connection, 'activate', ['x']),
      () => child.upgradeExtensions(connection, 'plugin', ['a/a.php']),
      () => child.upgradeTranslations(connection, ['x']),
      () => child.upgradeCore(connection),
      () => child.disconnect(connection),
      () => child.deactivate(connection),
      () => child.register(connection, registration),
      () => child.actOnPost(connection, 1, 'trash'),
      () => child.actOnComments(connection, [1], 'trash'),
      () => child.endSessions(connection, 'x'),
      // It locks the post for other editors.
      () => child.postForEditing(connection, 1),
    ])
      await expect(attempt()).rejects.toMatchObject({ kind: 'reads_only' });
    expect(fleet.site(0).requests).toBe(sent);
  });

  it('lets the other dashboard go on, and after "import finish" changes sites from here', async () => {
    const { fleet } = mcp.app;
    await old.sync(fleet.site(0), key);
    const left = await here.json(['import', 'finish', '--dry-run']);
    expect(left.on_trial.map((site: { site_id: number }) => site.site_id).sort()).toEqual([...ids].sort());
    expect((await here.json(['import', 'finish'])).finished).toHaveLength(SITES);
    expect((await here.json(['import', 'finish'])).finished).toEqual([]);
    const plugin = fleet.site(0).inner.plugins.find(({ active, mustUse }) => active && !mustUse)?.slug ?? '';
    const answer = await mcp.app.call('deactivate-site-plugins', { site_id_or_domain: ids[0], slugs: [plugin] });
    expect(answer.errors ?? []).toEqual([]);
    expect(fleet.site(0).inner.plugins.find(({ slug }) => slug === plugin)?.active).toBe(false);
    // A sync by the other one does no harm, before or after.
    await old.sync(fleet.site(0), key);
    await mcp.app.call('sync-sites', { site_ids_or_domains: [ids[0]] });
    expect((await mcp.app.call('get-site', { site_id_or_domain: ids[0] })).status).toBe('connected');
  });

  it('renews the keys, also when the other dashboard synced last', async () => {
    const { fleet } = mcp.app;
    const before = fleet.site(0).inner.connection?.publicKey;
    for (const index of [0, 1, 2]) await old.sync(fleet.site(index), key);
    expect(fleet.site(0).inner.connection?.server).toBe(OLD_SERVER);
    const job = await http('/v2/settings/tools/renew-connections', {});
    const id = /"(?:job_id|renew_id)":"([^"]+)"/.exec(JSON.stringify(job.body))?.[1];
    const status = async () =>
      (
        await fetch(mcp.url.replace(/\/mcp$/, `/v2/settings/tools/renew-connections-status/${id}`), {
          headers: { authorization: mcp.all },
        })
      ).json() as Promise<{ status: string; failed: number; errors: unknown[] }>;
    let last = await status();
    while (!['completed', 'failed'].includes(last.status)) {
      await new Promise((again) => setTimeout(again, 50));
      last = await status();
    }
    expect(last).toMatchObject({ status: 'completed', failed: 0, errors: [] });
    expect(fleet.site(0).inner.connection?.server).not.toBe(OLD_SERVER);
    // One key pair serves all sites of the tests.
    expect(fleet.site(0).inner.connection?.publicKey).toBe(before);
  });

  it('forgets a site on trial without telling it', async () => {
    const other = mcp.app.fleet.site(3);
    old.options.mainwp_connect_signature_algo = '7';
    old.save();
    const { out } = await php([join(folder, 'export.php'), old.folder], folder);
    writeFileSync(join(folder, 'fleet2.json'), out);
    const report = await here.json(['import', 'fleet2.json', '--parallel']);
    expect(report.imported.map((site: { url: string }) => site.url)).toEqual([other.url]);
    const removed = await http(`/v2/sites/${report.imported[0].site_id}/remove`, {}, 'DELETE');
    expect(removed.status, JSON.stringify(removed.body)).toBe(200);
    expect(other.inner.connection?.server).toBe(OLD_SERVER);
    expect(other.inner.pluginActive).toBe(true);
  });
});

async function ended(id: string) {
  for (;;) {
    const job = await mcp.app.call('get-batch-job-status', { job_id: id });
    if (job.status === 'completed' || job.status === 'failed') return job;
    await new Promise((again) => setTimeout(again, 50));
  }
}
