/** Updates that change more than their files, on sites whose pages work: what every way in says. */

import { beforeAll, expect, it } from 'vitest';
import type { Harm } from '../../src/demo/faults.js';
import type { DemoSite } from '../../src/demo/fleet.js';
import { putGuard } from '../../src/demo/guard/state.js';
import { connect, type Driver, type McpApp, mcpApp, WAYS } from '../support/mcp-clients.js';
import { callRest, callTool } from './callers.js';
import { ordinary } from './safety-app.js';

const SLUG = 'shop/shop.php';
const OUTSIDE = expect.stringContaining('changes besides the files of the update');
const DROPPED = 'The table wp_orders has been dropped.';
const CHANGED = 'The file .htaccess has been changed.';

let mcp: McpApp;
let client: Driver;
beforeAll(async () => {
  mcp = await mcpApp({ sites: 2, connected: 2, realClock: false, fleet: { plugins: 3 } });
  for (const site of mcp.app.fleet.sites) {
    for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
    site.state.translations = [];
    site.state.wpUpdate = null;
    putGuard(site);
  }
  client = await connect(WAYS[0] as (typeof WAYS)[number], mcp.target);
  await tool('sync-sites', {});
});

function first(): DemoSite {
  const [site] = mcp.app.fleet.sites;
  if (site === undefined) throw new Error('a fleet without a site');
  return site;
}

/** Offers an update of a plugin of the first site that does this harm, on a site that has none yet. */
async function offer(version: string, harm?: Harm): Promise<void> {
  const site = first();
  const [plugin] = ordinary(site);
  if (plugin === undefined) throw new Error('a site without a plugin');
  Object.assign(plugin, { slug: SLUG, name: 'Shop', active: true, premium: false });
  plugin.update = { version, requiresPhp: '', requiresWp: '' };
  site.faults.breaks = harm === undefined ? {} : { [`${SLUG}@${version}`]: harm };
  site.guard?.harms.clear();
  await tool('sync-sites', {});
}

const tool = (name: string, args: Record<string, unknown>) => callTool(mcp, client, name, args);
const rest = (method: string, path: string, body?: unknown) => callRest(mcp, method, path, body);

const one = { site_id_or_domain: 1 };

it('MCP names a dropped table in the answer, in the brief, and in an alert, and keeps the update', async () => {
  await offer('2.0', 'drops_table');
  const answer = await tool('update-site-plugins', one);
  expect(answer).toMatchObject({
    updated: [{ slug: SLUG, new_version: '2.0' }],
    suspects: [{ slug: SLUG, findings: [DROPPED] }],
    checked: [expect.stringContaining('tables, settings, administrators')],
  });
  expect(answer.not_checked).not.toContainEqual(OUTSIDE);
  expect(await tool('get-fleet-brief', {})).toMatchObject({
    needs_attention: [{ next: expect.stringContaining(answer.suspects[0].change_id) }],
  });
  const alert = () => mcp.app.db.all("SELECT facts FROM alert WHERE kind = 'update.suspect'");
  await expect.poll(async () => JSON.stringify(await alert())).toContain(DROPPED);
});

it('REST names it too', async () => {
  await offer('3.0', 'drops_table');
  expect(await rest('PUT', '/updates/1/update/plugins', { slug: SLUG })).toMatchObject({
    success: 1,
    suspects: [{ slug: SLUG, findings: [DROPPED] }],
  });
});

it('an administrator more: the files are rolled back, the answer says that the administrator is still there', async () => {
  await offer('5.0', 'adds_administrator');
  const answer = await tool('update-site-plugins', one);
  expect(answer).toMatchObject({ updated: [], errors: [{ slug: SLUG, code: 'svc_update_rolled_back' }] });
  expect(answer.errors[0].message).toContain('Administrators have been added: mallory. That was not undone.');
  // The word of the site: the version is held back there, and on no other site.
  const { versions } = await tool('list-quarantined-versions', {});
  expect(versions).toMatchObject([{ slug: SLUG, version: '5.0', scope: 'site' }]);
});

/** Calls `then` as the guard takes its nth ledger from now on. */
function atLedger(nth: number, then: (harms: Set<Harm>) => void): void {
  const { guard } = first();
  if (guard === null) throw new Error('a site without a guard');
  let taken = 0;
  const harms = new (class extends Set<Harm> {
    override has(harm: Harm): boolean {
      if (harm === 'adds_administrator' && ++taken === nth) then(this);
      return super.has(harm);
    }
  })();
  guard.harms = harms;
}

/** Offers updates of two plugins that break nothing by themselves. */
async function offerTwo(version: string): Promise<string[]> {
  await offer(version);
  const [, second] = ordinary(first());
  if (second === undefined) throw new Error('a site with one plugin');
  second.update = { version, requiresPhp: '', requiresWp: '' };
  second.active = true;
  second.premium = false;
  await tool('sync-sites', {});
  return [SLUG, second.slug];
}

// One ledger is taken before the run, one after each item, and one at the end.
it.each([
  ['with the second of two updates', 3, '5.1'],
  ['after the last one was compared', 4, '5.2'],
])(
  'an administrator more who shows %s may be of either: both are rolled back and held back there',
  async (_when, ledger, version) => {
    const slugs = await offerTwo(version);
    atLedger(ledger, (harms) => harms.add('adds_administrator'));
    const answer = await tool('update-site-plugins', one);
    expect(answer.updated).toEqual([]);
    expect(answer.errors.map(({ slug }: { slug: string }) => slug).sort()).toEqual([...slugs].sort());
    for (const { code, message } of answer.errors) {
      expect(code).toBe('svc_update_rolled_back');
      expect(message).toContain(`Version ${version}, or another that came with it, broke the site.`);
      expect(message).toContain('One of 2 updates did this: Administrators have been added: mallory.');
    }
    expect(first().state.plugins.filter((plugin) => plugin.version === version)).toEqual([]);
    const { versions } = await tool('list-quarantined-versions', {});
    const held = versions.filter((one: { version: string }) => one.version === version);
    expect(held.map(({ slug, scope }: Record<string, string>) => [slug, scope]).sort()).toEqual(
      slugs.map((slug) => [slug, 'site']).sort(),
    );
  },
);

it('a plugin that is deactivated some seconds after its update is rolled back, and no other', async () => {
  const [slug, other] = await offerTwo('5.3');
  atLedger(4, () => {
    const [plugin] = ordinary(first());
    if (plugin !== undefined) plugin.active = false;
  });
  const answer = await tool('update-site-plugins', one);
  expect(answer.updated).toMatchObject([{ slug: other, new_version: '5.3' }]);
  expect(answer.errors).toMatchObject([{ slug, code: 'svc_update_rolled_back' }]);
  expect(answer.errors[0].message).toContain('was deactivated some time after its update');
  expect(ordinary(first())[0]).toMatchObject({ slug, active: true });
});

it('a doubtful change is undone with the update where that is asked for', async () => {
  await offer('6.0', 'changes_htaccess');
  const answer = await tool('safe-update-site', { ...one, on_suspect: 'roll_back' });
  expect(answer).toMatchObject({ updated: [], errors: [{ slug: SLUG, code: 'svc_update_rolled_back' }] });
  expect(answer.errors[0].message).toContain(`${CHANGED} That was undone.`);
  expect([...(first().guard?.harms ?? [])]).toEqual([]);
});

it('mails may be what visitors have sent by a form: they are told, and undo nothing', async () => {
  await offer('6.1', 'sends_mails');
  const answer = await tool('safe-update-site', { ...one, on_suspect: 'roll_back' });
  expect(answer).toMatchObject({ updated: [{ slug: SLUG }], errors: [] });
  expect(answer.suspects).toMatchObject([{ slug: SLUG, findings: ['It has sent 21 mails.'] }]);
});

it('an event that looks after a queue may have ended with the work of visitors: it is told, and undoes nothing', async () => {
  await offer('6.15', 'ends_queue');
  const answer = await tool('safe-update-site', { ...one, on_suspect: 'roll_back' });
  expect(answer).toMatchObject({ updated: [{ slug: SLUG }], errors: [] });
  expect(answer.suspects).toMatchObject([{ slug: SLUG, findings: ['Scheduled events are gone: wp_1_export_cron.'] }]);
});

it('more files than one request can name are removed again, and said in a few sentences', async () => {
  await offer('6.2', 'adds_files');
  const answer = await tool('safe-update-site', { ...one, on_suspect: 'roll_back' });
  expect(answer).toMatchObject({ updated: [], errors: [{ slug: SLUG, code: 'svc_update_rolled_back' }] });
  expect([...(first().guard?.harms ?? [])]).toEqual([]);
  expect(answer.errors[0].message.length).toBeLessThan(5_000);
});

it('a plugin that is rolled back after an update of WordPress takes no file of WordPress with it', async () => {
  await offer('6.3');
  const site = first();
  const version = site.inner.wpVersion;
  site.state.wpUpdate = '99.0';
  site.faults.pages = (answer) =>
    site.inner.wpVersion === '99.0'
      ? { ...answer, body: String(answer.body).replace(/<title>[^<]*/, '<title>Other') }
      : answer;
  await tool('sync-sites', {});
  const answer = await tool('safe-update-site', { ...one, on_suspect: 'roll_back', least_protection: 'none' });
  site.faults.pages = undefined;
  site.state.wpVersion = version;
  expect(answer.errors).toContainEqual(expect.objectContaining({ slug: SLUG, code: 'svc_update_rolled_back' }));
  expect(JSON.stringify(answer)).toContain('different title');
  expect(JSON.stringify(answer)).not.toContain('index.php');
});

it('a doubtful change by what cannot be rolled back is told, also with roll_back', async () => {
  const site = first();
  site.guard?.harms.clear();
  site.state.wpUpdate = '99.1';
  await tool('sync-sites', {});
  site.faults.latencyMs = (name) => {
    if (name === 'upgrade') site.guard?.harms.add('changes_htaccess');
    return 0;
  };
  const answer = await tool('safe-update-site', {
    ...one,
    types: ['core'],
    on_suspect: 'roll_back',
    least_protection: 'none',
  });
  site.faults.latencyMs = 0;
  expect(answer).toMatchObject({ updated: [{ type: 'core' }], errors: [], suspects: [{ findings: [CHANGED] }] });
});

it.each(['keep', 'roll_back'])('a healthy update says nothing, with %s', async (on_suspect) => {
  await offer(`7.${on_suspect === 'keep' ? 0 : 1}`);
  const answer = await tool('safe-update-site', { ...one, on_suspect });
  expect(answer).toMatchObject({ updated: [{ slug: SLUG }], suspects: [], errors: [] });
});

it('a guard of a network keeps no ledger: the answer says that nobody looked', async () => {
  putGuard(first());
  first().faults.guardRefuses = { ledger: 'multisite' };
  await offer('8.0', 'drops_table');
  const answer = await tool('update-site-plugins', one);
  expect(answer).toMatchObject({ updated: [{ slug: SLUG }] });
  expect(answer.suspects ?? []).toEqual([]);
  expect(answer.not_checked).toContainEqual(OUTSIDE);
});

// Last: from here on every call for many sites is a job.
it('a job names it too', async () => {
  putGuard(first());
  first().faults.guardRefuses = {};
  await offer('9.0', 'drops_table');
  await rest('PUT', '/settings/advanced/edit', { svc_abilities_batch_threshold: 1 });
  const { job_id } = await tool('run-updates', { site_ids_or_domains: [1, 2] });
  const job = () => tool('get-batch-job-status', { job_id });
  await expect.poll(async () => (await job()).status).toBe('completed');
  expect((await job()).items).toMatchObject([{ site_id: 1, slug: SLUG, findings: [DROPPED] }]);
});
