/**
 * Known vulnerabilities: the feed is joined to the installed items, results appear in every interface, and nothing is
 * claimed without a feed.
 */

import { randomUUID } from 'node:crypto';
import { utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { sampleAlert } from '../../src/domain/alerts/samples.js';
import { wordsOf } from '../../src/domain/alerts/words.js';
import { refreshVulnerabilities } from '../../src/domain/vulnerabilities/refresh.js';
import { createVulnerabilityFeed } from '../../src/outbound/feed/create.js';
import { type CheckedApp, checkedApp, ordinary } from '../operations/checked-app.js';
import { type RestApp, restApp } from '../rest/client.js';
import { tempFolder } from '../support/cleanup.js';
import { ADMIN, type TestApp } from '../support/harness.js';
import { listenLocally } from '../support/local-server.js';
import { type Affected, DEFIANT, entry, type FeedServer, feedServer, feedText, MITRE } from './feed.js';

/** Broken in the version's own file: held back on all sites. */
const FLEET = { seen: true, fleet_until: 32_503_680_000_000 };

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MAYBE = { requiresPhp: '', requiresWp: '' };

const refresh = (app: TestApp, options = {}) =>
  refreshVulnerabilities(
    app.service.ctx({ actor: ADMIN, request_id: randomUUID(), signal: new AbortController().signal }),
    options,
  );

/** Replaces the plugins of a simulated site with these, in these versions. */
function install(app: TestApp, at: number, versions: Record<string, string>): void {
  const site = app.fleet.site(at);
  const [pattern] = ordinary(site);
  if (pattern === undefined) throw new Error('the site has no plugin');
  const child = site.state.plugins.filter(({ slug }) => slug.startsWith('mainwp-child/'));
  site.state.plugins = [
    ...child,
    ...Object.entries(versions).map(([slug, version]) => ({
      ...pattern,
      slug,
      name: slug.replace(/[/.].*/, ''),
      version,
      active: true,
      update: null as typeof pattern.update,
    })),
  ];
}

const BOX = 'box/box.php';
const cves = (answer: { vulnerabilities: { cve: string | null }[] }) => answer.vulnerabilities.map(({ cve }) => cve);

let server: FeedServer;
beforeAll(async () => {
  server = await feedServer();
});

let app: CheckedApp;
async function started(versions: Record<string, string>[], config = {}): Promise<CheckedApp> {
  app = await checkedApp({ sites: versions.length, config: { vulnerability_feed: server.url, ...config } });
  for (const [at, plugins] of versions.entries()) install(app, at, plugins);
  await app.connectAll(versions.length);
  return app;
}

describe('without a feed', () => {
  it('nothing is known, and every answer says how to switch it on, never "none"', async () => {
    app = await checkedApp({ sites: 1 });
    await app.connectAll(1);
    const how = /No vulnerability feed is configured, so nothing is known\. Set SITEFLEET_VULNERABILITY_FEED/;
    expect(await refresh(app)).toEqual({
      outcome: 'off',
      message: 'no feed is configured: SITEFLEET_VULNERABILITY_FEED',
    });
    expect(await app.call('list-vulnerabilities')).toMatchObject({
      checked_at: null,
      note: expect.stringMatching(how),
      vulnerable_sites: null,
      unknown_sites: 1,
      vulnerabilities: [],
    });
    for (const vulnerable of [true, false])
      expect(await app.call('search-fleet', { vulnerable })).toMatchObject({
        rows: [],
        unknown: 1,
        note: expect.stringMatching(how),
      });
    const shown = await app.call('search-fleet', { fields: ['id', 'vulnerabilities'] });
    expect(shown).toMatchObject({ rows: [[1, null]], note: expect.stringMatching(how) });
    const brief = await app.call('get-fleet-brief');
    expect(brief.needs_attention).toEqual([]);
    expect(brief.not_known).toContainEqual(expect.stringMatching(how));
  });

  it('distinguishes one that is set and was not read yet from none', async () => {
    await started([{ [BOX]: '1.0' }]);
    expect(await app.call('list-vulnerabilities')).toMatchObject({
      checked_at: null,
      vulnerable_sites: null,
      note: 'The vulnerability feed has not been read yet, so nothing is known.',
    });
  });
});

describe('versions', () => {
  // Written manually, after PHP's rules: 1.0 < 1.0.0, beta < release < pl.
  const CASES: [affected: Affected[], hit: string[], missed: string[]][] = [
    [[['*', true, '1.2.3', true]], ['0.1', '1.2', '1.2.3', '1.2.3-beta1'], ['1.2.3.1', '1.2.3pl1', '1.3']],
    [[['*', true, '1.2.3', false]], ['1.2.3-beta1', '1.2.2.9'], ['1.2.3', '1.10']],
    [[['1.5', true, '2.0', false]], ['1.5', '1.5.0', '1.10', '2.0-rc1'], ['1.4.9', '1.5-beta', '2.0', '2.0.0']],
    [[['1.5', false, '*', true]], ['1.5.0', '1.6', '99'], ['1.5', '1.4']],
    [[['*', true, '*', true]], ['0', '3.1-dev', '2026.11.22', ''], []],
    [
      [
        ['1.0', true, '1.2', true],
        ['2.0', true, '2.1', true],
      ],
      ['1.1', '2.0.5'],
      ['1.3', '2.2'],
    ],
    [[], [], ['1.0', '2.0']],
  ];
  const versions = [...new Set(CASES.flatMap(([, hit, missed]) => [...hit, ...missed]))];

  it('are within their ranges by the order of PHP, bounds counting or not', async () => {
    await started([{}]);
    // One package with one version each: the rows that a sync stores.
    for (const [at] of CASES.entries())
      for (const version of versions) {
        const { lastId } = await app.db.run('INSERT INTO package (kind, slug, name) VALUES (0, ?, ?)', [
          `case-${at}/${versions.indexOf(version)}.php`,
          `case-${at} ${version}`,
        ]);
        await app.db.run(
          'INSERT INTO site_extension (site_id, kind, package_id, position, version, active) VALUES (1, 0, ?, 1, ?, 1)',
          [lastId, version],
        );
      }
    server.serve(feedText(CASES.map(([affected], at) => entry(at, { slug: `case-${at}`, affected }))));
    expect(await refresh(app)).toMatchObject({ outcome: 'read' });
    const rows = await app.db.all(
      'SELECT p.feed_slug, v.version FROM vulnerable_version v JOIN package p ON p.id = v.package_id',
    );
    for (const [at, [affected, hit, missed]] of CASES.entries()) {
      const found = rows.filter(({ feed_slug }) => feed_slug === `case-${at}`).map(({ version }) => version);
      for (const version of hit)
        expect([affected, version, found.includes(version)]).toEqual([affected, version, true]);
      for (const version of missed)
        expect([affected, version, found.includes(version)]).toEqual([affected, version, false]);
    }
  });
});

describe('a feed that was read', () => {
  const FEED = [
    entry(1, {
      slug: 'box',
      affected: [['*', true, '1.4', true]],
      fixed: ['2.0', '1.5'],
      rating: 'Critical',
      score: 9.8,
    }),
    entry(2, { slug: 'Box', affected: [['1.3', true, '1.9', false]], rating: 'High', score: 7.2, cve: null }),
    entry(3, { slug: 'hello-dolly', affected: [['*', true, '*', true]], rating: null }),
    entry(4, { slug: 'lone', affected: [['*', true, '3', true]], fixed: ['3.1'], rating: 'Low', score: 2 }),
    entry(5, { slug: 'box', affected: [['*', true, '*', true]], informational: true, rating: 'Critical' }),
    entry(6, { type: 'theme', slug: 'box', affected: [['*', true, '*', true]], rating: 'Critical' }),
    entry(7, { type: 'core', slug: 'wordpress', affected: [['6.0', true, '6.4.2', true]], fixed: ['6.4.3'] }),
    entry(8, { slug: 'elsewhere', affected: [['*', true, '*', true]] }),
  ];

  const fleet = async () => {
    await started([
      { [BOX]: '1.4', 'hello.php': '1.7', 'lone.php': '2.9' },
      { [BOX]: '1.2' },
      { [BOX]: '2.0', 'lone.php': '3.1' },
    ]);
    app.fleet.site(1).state.wpVersion = '6.4.2';
    await app.call('sync-sites', { site_ids_or_domains: [2] });
    server.serve(feedText(FEED));
    expect(await refresh(app)).toEqual({ outcome: 'read', message: '8 entries, 8 new or changed, 0 gone' });
  };

  it('is listed: the worst first, each once, with versions, first fix, sites and the texts it must carry', async () => {
    await fleet();
    const answer = await app.call('list-vulnerabilities');
    const [critical, ...others] = answer.vulnerabilities;
    const [first, second] = (await app.db.all('SELECT url FROM site WHERE id IN (1, 2) ORDER BY url_key')).map(
      ({ url }) => url,
    );
    expect(critical).toEqual({
      severity: 'critical',
      score: 9.8,
      type: 'plugin',
      slug: BOX,
      name: 'box',
      title: 'Made-up box - Weakness 1',
      cve: 'CVE-2026-1001',
      reference: 'https://guardians.example/record/00000001-aaaa-4bbb-8ccc-000000000001',
      published: '2026-11-01T08:30:00Z',
      versions: ['1.2', '1.4'],
      fixed_in: '1.5',
      sites: 2,
      first_sites: [first, second],
    });
    expect(
      others.map((one: Record<string, unknown>) => [
        one.severity,
        one.type,
        one.slug,
        one.versions,
        one.fixed_in,
        one.sites,
      ]),
    ).toEqual([
      ['high', 'plugin', BOX, ['1.4'], null, 1],
      ['medium', 'core', 'wordpress', ['6.4.2'], '6.4.3', 1],
      ['low', 'plugin', 'lone.php', ['2.9'], '3.1', 1],
      [null, 'plugin', 'hello.php', ['1.7'], null, 1],
    ]);
    expect(answer).toMatchObject({
      total: 5,
      vulnerable_sites: 2,
      unknown_sites: 0,
      note: null,
      checked_at: new Date(app.clock.now()).toISOString().replace('.000', ''),
      by_severity: { critical: 1, high: 1, medium: 1, low: 1, none: 0, not_rated: 1 },
      notices: [DEFIANT, MITRE],
    });
  });

  it('is filtered by severity, slug, site, tag, client and known fix, and paged', async () => {
    await fleet();
    await app.call('add-tag', { name: 'Shop' });
    await app.db.run('INSERT INTO site_tag VALUES (2, 1)');
    const { id: client } = await app.call('add-client', { name: 'Acme' });
    await app.db.run('UPDATE site SET client_id = ? WHERE id = 1', [client]);
    const of = async (input: object) => cves(await app.call('list-vulnerabilities', input));
    expect(await of({ severity: ['critical', 'low'] })).toEqual(['CVE-2026-1001', 'CVE-2026-1004']);
    expect(await of({ severity: 'high' })).toEqual([null]);
    expect(await of({ slug: 'box' })).toEqual(['CVE-2026-1001', null]);
    expect(await of({ slug: 'WordPress' })).toEqual(['CVE-2026-1007']);
    expect(await of({ site_id_or_domain: 2 })).toEqual(['CVE-2026-1001', 'CVE-2026-1007']);
    expect(await of({ site_id_or_domain: 3 })).toEqual([]);
    expect(await of({ tag_ids: [1] })).toEqual(['CVE-2026-1001', 'CVE-2026-1007']);
    expect(await of({ client_ids: [client], fixed: false })).toEqual([null, 'CVE-2026-1003']);
    expect(await of({ fixed: true })).toEqual(['CVE-2026-1001', 'CVE-2026-1007', 'CVE-2026-1004']);
    expect(await of({ page: 3, per_page: 2 })).toEqual(['CVE-2026-1003']);
    expect(await app.call('list-vulnerabilities', { page: 3, per_page: 2 })).toMatchObject({ total: 5 });
    expect(await app.fail('list-vulnerabilities', { slug: 'nothing-like-it' })).toMatchObject({
      code: 'svc_invalid_input',
      field: 'slug',
    });
    expect(await app.fail('list-vulnerabilities', { tag_ids: [77] })).toMatchObject({ code: 'svc_tag_not_found' });
  });

  it('is found by the search: sites, installs of an item, counts, and both answers of the question', async () => {
    await fleet();
    const search = async (input: object) => app.call('search-fleet', input);
    const ids = async (input: object) => (await search(input)).rows.map(([id]: [number]) => id).sort();
    expect(await ids({ vulnerable: true })).toEqual([1, 2]);
    expect(await ids({ vulnerable: false })).toEqual([3]);
    expect(await search({ vulnerable: true, fields: ['id', 'vulnerabilities'] })).toMatchObject({ total: 2 });
    const counts = await search({ fields: ['id', 'vulnerabilities'] });
    expect(new Map(counts.rows)).toEqual(
      new Map([
        [1, 4],
        [2, 2],
        [3, 0],
      ]),
    );
    const installs = await search({ plugin: 'box', vulnerable: true });
    expect(installs.columns).toEqual(['id', 'url', 'slug', 'version', 'vulnerabilities', 'update']);
    expect(installs.rows.map((row: unknown[]) => [row[0], row[3], row[4]]).sort()).toEqual([
      [1, '1.4', 2],
      [2, '1.2', 1],
    ]);
    expect(await ids({ plugin: 'box', vulnerable: false })).toEqual([3]);
    expect(await search({ plugin: 'box', vulnerable: true, group_by: 'slug' })).toMatchObject({
      groups: [{ value: BOX, count: 2 }],
    });
    expect(await search({ vulnerable: true, search: 'no such site' })).toMatchObject({ total: 0 });
    expect((await search({ vulnerable: true })).note).toBeUndefined();
  });

  it('is searched beside versions that are held back', async () => {
    await started([{ [BOX]: '1.0', 'lone.php': '1.0' }, { [BOX]: '1.0' }]);
    for (const [at, version] of ['1.1', '1.2'].entries()) {
      const plugin = app.fleet.site(at).state.plugins.find(({ slug }) => slug === BOX);
      if (plugin !== undefined) plugin.update = { version, ...MAYBE };
    }
    await app.call('sync-sites', {});
    await app.service.store.quarantine.add(
      {
        ...{ type: 1, slug: BOX, version: '1.1', name: 'box', site_id: 9, site_url: 'https://broken.example/' },
        ...{ change_id: 'c', evidence: '["It broke."]', created_at: 1 },
      },
      FLEET,
    );
    const ids = async (input: object) => (await app.call('search-fleet', input)).rows.map(([id]: [number]) => id);
    expect(await ids({ quarantined: true })).toEqual([1]);
    expect(await ids({ quarantined: false })).toEqual([2]);
    expect(await ids({ plugin: 'box', quarantined: true })).toEqual([1]);
    expect(await ids({ plugin: 'lone', quarantined: true })).toEqual([]);
    expect(await ids({ plugin: 'lone', quarantined: false })).toEqual([1]);
  });

  it('stands in the brief by plugin, and names a call that shows as much', async () => {
    await fleet();
    await app.call('suspend-site', { site_id_or_domain: 2 });
    const brief = await app.call('get-fleet-brief');
    const line = brief.needs_attention.find(({ matter }: { matter: string }) => matter.startsWith('known'));
    expect(line).toEqual({
      matter: 'known vulnerabilities (sites)',
      count: 1,
      first: [
        'box on 1 site: critical, not all fixed',
        'lone on 1 site: low, fixed by updates',
        'hello-dolly on 1 site: not rated, not all fixed',
      ],
      next: 'svc-list-vulnerabilities-v1 {}',
    });
    expect(brief.not_known.join()).not.toContain('vulnerab');
  });

  it('is sent for updates that fix something, and for no other', async () => {
    await fleet();
    const { plugins } = app.fleet.site(0).state;
    const offer = (slug: string, version: string) => {
      const plugin = plugins.find((one) => one.slug === slug);
      if (plugin !== undefined) plugin.update = { version, ...MAYBE };
    };
    offer(BOX, '1.5');
    offer('lone.php', '3.0');
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    const fixes = (answer: { updates: { slug: string; fixes?: string[] }[] }) =>
      new Map(
        answer.updates.filter(({ slug }) => [BOX, 'lone.php'].includes(slug)).map((one) => [one.slug, one.fixes]),
      );
    // 1.5 fixes the first, but is still within the range of the second. 3.0 is beyond "up to 3": 3 < 3.0.
    const expected = new Map([
      [BOX, ['CVE-2026-1001 (critical)']],
      ['lone.php', ['CVE-2026-1004 (low)']],
    ]);
    expect(fixes(await app.call('list-updates'))).toEqual(expected);
    expect(fixes(await app.call('get-site-updates', { site_id_or_domain: 1 }))).toEqual(expected);
    offer(BOX, '1.4.0');
    offer('lone.php', '2.9.1');
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    expect(fixes(await app.call('list-updates'))).toEqual(
      new Map([
        [BOX, ['CVE-2026-1001 (critical)']],
        ['lone.php', undefined],
      ]),
    );
  });

  it('follows what is installed at once: an update, a sync, a new site, a removal', async () => {
    await fleet();
    const box = async () => {
      const { vulnerabilities, vulnerable_sites } = await app.call('list-vulnerabilities', { slug: 'box' });
      return [vulnerable_sites, vulnerabilities.map((one: { versions: string[] }) => one.versions)];
    };
    expect(await box()).toEqual([2, [['1.2', '1.4'], ['1.4']]]);
    const plugin = app.fleet.site(0).state.plugins.find(({ slug }) => slug === BOX);
    if (plugin === undefined) throw new Error('not there');
    plugin.update = { version: '1.6', ...MAYBE };
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    await app.call('update-site-plugins', { site_id_or_domain: 1, slugs: [BOX] });
    expect(await box()).toEqual([2, [['1.2'], ['1.6']]]);
    install(app, 0, { [BOX]: '1.3.5-beta' });
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    expect(await box()).toEqual([2, [['1.2', '1.3.5-beta'], ['1.3.5-beta']]]);
    install(app, 0, {});
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    expect(await box()).toEqual([1, [['1.2']]]);
    expect(await app.cell('SELECT count(*) FROM unclassified_version')).toBe(0);
  });

  it('follows the feed: what is new, changed and gone', async () => {
    await fleet();
    const [one, , ...rest] = FEED;
    const changed = { ...one, title: 'Renamed', software: FEED[1]?.software ?? [] };
    server.serve(
      feedText([changed, ...rest, entry(9, { slug: 'lone', affected: [['2.9', true, '2.9', true]], rating: 'High' })]),
    );
    expect(await refresh(app)).toMatchObject({ outcome: 'not_due' });
    app.clock.move(DAY);
    expect(await refresh(app)).toEqual({ outcome: 'read', message: '8 entries, 2 new or changed, 1 gone' });
    const { vulnerabilities } = await app.call('list-vulnerabilities');
    expect(vulnerabilities.map((v: Record<string, unknown>) => [v.title, v.slug, v.versions])).toEqual([
      ['Renamed', BOX, ['1.4']],
      ['Made-up lone - Weakness 9', 'lone.php', ['2.9']],
      ['Made-up wordpress - Weakness 7', 'wordpress', ['6.4.2']],
      ['Made-up lone - Weakness 4', 'lone.php', ['2.9']],
      ['Made-up hello-dolly - Weakness 3', 'hello.php', ['1.7']],
    ]);
  });

  it('that is old says so everywhere, and keeps what it has', async () => {
    await fleet();
    app.clock.move(4 * DAY);
    server.next({ status: 500 });
    expect(await refresh(app)).toEqual({ outcome: 'failed', message: 'The feed answered with HTTP 500.' });
    const note =
      /^The vulnerability feed was last read on \d{4}-\d\d-\d\d, 4 days ago: newer vulnerabilities are missing\. The last read failed: The feed answered with HTTP 500\.$/;
    expect(await app.call('list-vulnerabilities')).toMatchObject({ total: 5, note: expect.stringMatching(note) });
    expect(await app.call('search-fleet', { vulnerable: true })).toMatchObject({
      total: 2,
      note: expect.stringMatching(note),
    });
    expect((await app.call('get-fleet-brief')).not_known.join()).toContain('4 days ago');
  });

  it('leaves sites unknown that were never synced, and versions that wait', async () => {
    await fleet();
    await app.row('https://never.example/');
    expect(await app.call('list-vulnerabilities')).toMatchObject({ vulnerable_sites: 2, unknown_sites: 1 });
    expect(await app.call('search-fleet', { vulnerable: false })).toMatchObject({ total: 1, unknown: 1 });
    await app.db.run("INSERT INTO unclassified_version SELECT id, '2.0', 0 FROM package WHERE slug = ?", [BOX]);
    // Directly from the store, because each call classifies waiting items.
    const { store } = app.service;
    const filter = { severities: [], tags: [], clients: [] };
    expect((await store.vulnerabilities.page(filter, 1, 1, 1)).unknown).toEqual({ unclassified: 2, all: 4 });
    await app.call('list-sites');
    expect((await store.vulnerabilities.page(filter, 1, 1, 1)).unknown).toEqual({ unclassified: 1, all: 4 });
  });

  it('has figures for Prometheus', async () => {
    const http = await started([{ [BOX]: '3.0' }], { metrics_token: 'metrics-token-of-this-test' }).then(
      ({ service }) => service.http(),
    );
    const lines = async () => {
      const headers = { Authorization: 'Bearer metrics-token-of-this-test' };
      const text = await (await http.request('http://127.0.0.1:8787/metrics', { headers })).text();
      return text
        .split('\n')
        .filter((line) => line.startsWith('sitefleet_vulnerab') || line.startsWith('sitefleet_vulnerable'));
    };
    expect(await lines()).toEqual([]);
    install(app, 0, { [BOX]: '1.4' });
    await app.call('sync-sites', {});
    server.serve(feedText(FEED));
    await refresh(app);
    expect((await lines()).sort()).toEqual([
      `sitefleet_vulnerability_feed_checked_timestamp_seconds ${app.clock.now() / 1000}`,
      'sitefleet_vulnerable_sites{severity="critical"} 1',
      ...['high', 'low', 'medium', 'none', 'not_rated'].map(
        (word) => `sitefleet_vulnerable_sites{severity="${word}"} 0`,
      ),
    ]);
  });
});

describe('alerts of what became known', () => {
  const below = (fix: string): Affected[] => [['*', true, fix, false]];
  const box = (n: number, more: object = {}) =>
    entry(n, { slug: 'box', affected: below('3.0'), fixed: ['3.0'], ...more });
  /** Alerts stored since the last call. */
  let seen = 0;
  const told = async () => {
    const rows = await app.db.all(
      "SELECT id, kind, site_id, facts FROM alert WHERE kind LIKE 'vulnerability.%' AND id > ?",
      [seen],
    );
    seen = Math.max(seen, ...rows.map(({ id }) => Number(id)));
    return rows.map(({ kind, site_id, facts }) => ({ kind, site_id, ...JSON.parse(String(facts)) }));
  };
  const read = async (...entries: unknown[]) => {
    server.serve(feedText(entries));
    expect((await refresh(app, { force: true, accept_shorter: true })).outcome).toBe('read');
    return told();
  };

  it('sum up the first copy, then tell of each plugin of a connected site once', async () => {
    seen = 0;
    await started([{ [BOX]: '1.0', 'other/other.php': '1.0' }, { [BOX]: '1.5' }, { [BOX]: '1.0' }, { [BOX]: '3.0' }]);
    await app.call('disconnect-site', { site_id_or_domain: 3 });
    const other = entry(2, { slug: 'other', affected: below('2.0'), rating: 'Critical', score: 9.8 });
    expect(await read(box(1), other)).toEqual([
      {
        kind: 'vulnerability.summary',
        site_id: null,
        vulnerabilities: 2,
        critical: 1,
        items: 3,
        sites: 2,
        worst: [
          { site: app.fleet.site(0).url, item: 'other 1.0', severity: 'critical' },
          { site: app.fleet.site(0).url, item: 'box 1.0', severity: 'medium' },
          { site: app.fleet.site(1).url, item: 'box 1.5', severity: 'medium' },
        ],
      },
    ]);
    const worst = box(4, {
      affected: below('2.0'),
      fixed: ['2.0'],
      rating: 'High',
      score: 8.1,
    });
    const fresh = await read(box(1), other, box(3), worst);
    const facts = { kind: 'vulnerability.found', type: 'plugin', slug: BOX, item: 'box', count: 2, fixed_in: '2.0' };
    const more = { severity: 'high', cve: 'CVE-2026-1004', reference: expect.any(String) };
    expect(fresh).toEqual([
      { ...facts, ...more, site_id: 1, version: '1.0', url: expect.any(String), name: expect.any(String) },
      { ...facts, ...more, site_id: 2, version: '1.5', url: expect.any(String), name: expect.any(String) },
    ]);
    // Each is reported once: also when an entry changes, and on refreshes that find nothing new.
    expect(await read(box(1, { title: 'Another title' }), other, box(3), worst)).toEqual([]);
    expect(await refresh(app, { force: true })).toMatchObject({ outcome: 'unchanged' });
    expect(await told()).toEqual([]);
    // Items installed since are reported with the next refresh; those only on a disconnected site are not.
    install(app, 3, { 'new/new.php': '1.0' });
    await app.call('sync-sites', { site_ids_or_domains: [4] });
    const fourth = entry(5, { slug: 'new', affected: below('2.0'), rating: null });
    expect(await read(box(1), other, box(3), worst, fourth)).toMatchObject([
      { site_id: 4, slug: 'new/new.php', count: 1, severity: null, fixed_in: null },
    ]);
  });

  it('say in one sentence what is vulnerable, and what fixes it', () => {
    const words = (kind: 'vulnerability.found' | 'vulnerability.summary', facts: object = {}) => {
      const alert = sampleAlert(kind, 0);
      return wordsOf({ ...alert, facts: JSON.stringify({ ...JSON.parse(alert.facts), ...facts }) }, 'UTC+0').text;
    };
    expect(words('vulnerability.found')).toBe(
      'Example 1.0.0 on Example (example.com) has a known vulnerability (high). Version 1.0.1 fixes it.',
    );
    expect(words('vulnerability.found', { severity: null, cve: 'CVE-2026-1', count: 3, fixed_in: null })).toBe(
      'Example 1.0.0 on Example (example.com) has a known vulnerability (CVE-2026-1). No fixed version is known. 2 more are known.',
    );
    // A site may give its plugins any name: in the subject of a mail it must not pass for a sentence of ours.
    expect(words('vulnerability.found', { item: 'Log in "again" at https://evil.example', version: '1 <b>' })).toBe(
      `"Log in 'again' at https://evil.example" "1" on Example (example.com) has a known vulnerability (high). Version 1.0.1 fixes it.`,
    );
    expect(words('vulnerability.summary')).toBe('40 vulnerabilities became known on 60 sites. Rated critical: 2.');
    expect(words('vulnerability.summary', { vulnerabilities: 1, critical: 0, sites: 1 })).toBe(
      '1 vulnerability became known on 1 site. Rated critical: none.',
    );
  });

  it('sum up what concerns more than twenty', async () => {
    seen = 0;
    const plugins = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`p${n}/p${n}.php`, '1.0']));
    await started([plugins, plugins, {}]);
    expect(await read(box(1))).toEqual([]);
    const many = Array.from({ length: 11 }, (_, n) => entry(n + 2, { slug: `p${n}`, affected: below('2.0') }));
    expect(await read(box(1), ...many.slice(0, 10))).toMatchObject(
      Array.from({ length: 20 }, () => ({ kind: 'vulnerability.found', count: 1 })),
    );
    server.serve(feedText([box(1)]));
    await refresh(app, { force: true, accept_shorter: true });
    expect(await read(box(1), ...many)).toEqual([
      {
        kind: 'vulnerability.summary',
        site_id: null,
        vulnerabilities: 11,
        critical: 0,
        items: 22,
        sites: 2,
        worst: expect.toSatisfy((worst: unknown[]) => worst.length === 20),
      },
    ]);
  });
});

describe('what goes wrong with a feed', () => {
  const GOOD = Array.from({ length: 60 }, (_, n) =>
    entry(n, { slug: n === 0 ? 'box' : `other-${n}`, affected: [['*', true, '2', true]], cve: `CVE-2026-${2000 + n}` }),
  );
  const good = async (config = {}) => {
    await started([{ [BOX]: '1.0' }], config);
    server.serve(feedText(GOOD));
    await refresh(app);
  };
  const kept = async () => expect(cves(await app.call('list-vulnerabilities'))).toEqual(['CVE-2026-2000']);

  it('asks with the stamp it has, and takes "not modified" for a look', async () => {
    await good();
    const { checked_at } = await app.call('list-vulnerabilities');
    app.clock.move(DAY);
    expect(await refresh(app)).toEqual({ outcome: 'unchanged', message: 'nothing new' });
    expect(server.asked.at(-1)?.['if-none-match']).toMatch(/^"r\d+"$/);
    const later = await app.call('list-vulnerabilities');
    expect(Date.parse(later.checked_at) - Date.parse(checked_at)).toBe(DAY);
    await kept();
  });

  it.each<[string, () => void, RegExp]>([
    ['cut', () => server.next('cut'), /could not be read completely|is incomplete/],
    ['broken off', () => server.serve(feedText(GOOD).slice(0, -2000)), /is incomplete/],
    ['not JSON', () => server.serve('<html>We are busy</html>'), /is not JSON/],
    ['an error in JSON', () => server.serve('{"error": "quota"}'), /no entry in the format/],
    ['empty', () => server.serve('{}'), /no entry in the format/],
    ['nothing at all', () => server.serve(''), /is incomplete/],
    ['shorter', () => server.serve(feedText(GOOD.slice(0, 50))), /has 50 entries, and had 60\. .*--accept-shorter/],
    [
      'of another format',
      () => server.serve(feedText([...GOOD.slice(0, 58), { id: 'x' }, { id: 'y', title: 3 }])),
      /2 of the 60 entries/,
    ],
    ['followed by something', () => server.serve(`${feedText(GOOD)}{"more": 1}`), /is not JSON/],
    [
      'badly packed',
      () => server.serve(Buffer.concat([gzipSync(feedText(GOOD)).subarray(0, 60), Buffer.alloc(50, 7)])),
      /cannot be decompressed|read completely/,
    ],
    [
      'moved',
      () => server.next({ status: 302, headers: { location: '/other' } }),
      /HTTP 302\. Redirects are not followed/,
    ],
    ['refused', () => server.next({ status: 403 }), /requires a key: SITEFLEET_VULNERABILITY_KEY/],
  ])('keeps the last good copy when the new one is %s', async (_what, breaks, message) => {
    await good();
    const before = await app.db.all('SELECT * FROM vulnerability ORDER BY id');
    breaks();
    app.clock.move(DAY);
    expect(await refresh(app)).toEqual({ outcome: 'failed', message: expect.stringMatching(message) });
    await kept();
    expect(await app.db.all('SELECT * FROM vulnerability ORDER BY id')).toEqual(before);
    expect(await app.cell('SELECT count(*) FROM vulnerability_staged')).toBe(0);
    // Not before an hour has passed.
    app.clock.move(59 * 60_000);
    expect(await refresh(app)).toMatchObject({ outcome: 'not_due' });
    server.serve(feedText(GOOD));
    app.clock.move(60_000);
    expect(await refresh(app)).toMatchObject({ outcome: 'read' });
  });

  it('takes a shorter one when a person says so, and all of another feed', async () => {
    await good();
    server.serve(feedText(GOOD.slice(0, 3)));
    expect(await refresh(app, { force: true })).toMatchObject({ outcome: 'failed' });
    expect(await refresh(app, { force: true, accept_shorter: true })).toEqual({
      outcome: 'read',
      message: '3 entries, 0 new or changed, 57 gone',
    });
    await kept();
  });

  it('waits as long as the server asks', async () => {
    await good();
    app.clock.move(DAY);
    server.next({ status: 429, headers: { 'retry-after': '7200' } });
    expect(await refresh(app)).toEqual({
      outcome: 'failed',
      message: 'The feed answered with HTTP 429. It received too many requests.',
    });
    app.clock.move(2 * HOUR - 1000);
    expect(await refresh(app)).toMatchObject({ outcome: 'not_due' });
    app.clock.move(1000);
    expect(await refresh(app)).toMatchObject({ outcome: 'unchanged' });
  });

  it('sends the key, which stands nowhere else', async () => {
    server.key = 'key-of-the-user-0123456789';
    await good({ vulnerability_key: server.key });
    server.key = 'another-key-0123456789';
    app.clock.move(DAY);
    const failed = await refresh(app);
    server.key = null;
    expect(failed).toEqual({
      outcome: 'failed',
      message: 'The feed answered with HTTP 401. It does not accept the key.',
    });
    await kept();
    const tables = ['vulnerability_feed', 'setting', 'instance', 'action_log'];
    const rows = await Promise.all(tables.map((table) => app.db.all(`SELECT * FROM ${table}`)));
    expect(JSON.stringify(rows)).not.toContain('key-of-the-user');
  });

  it('unpacks, whatever the server says of it', async () => {
    await started([{ [BOX]: '1.0' }]);
    server.serve(feedText(GOOD), { gzip: true });
    expect(await refresh(app)).toMatchObject({ outcome: 'read' });
    await kept();
    server.serve(gzipSync(feedText(GOOD.slice(0, 58))));
    expect(await refresh(app, { force: true })).toMatchObject({
      outcome: 'read',
      message: '58 entries, 0 new or changed, 2 gone',
    });
  });

  it('calls no private address', async () => {
    await started([{ [BOX]: '1.0' }]);
    const asked = server.asked.length;
    const feed = createVulnerabilityFeed({
      location: server.url,
      key: null,
      allowPrivate: false,
      userAgent: 'test',
    });
    await expect(feed.open(null, new AbortController().signal)).rejects.toThrow(/private or local address/);
    const named = createVulnerabilityFeed({
      location: server.url.replace('127.0.0.1', 'feed.example'),
      key: null,
      allowPrivate: false,
      lookup: async () => [{ address: '127.0.0.1', family: 4 }],
      userAgent: 'test',
    });
    await expect(named.open(null, new AbortController().signal)).rejects.toThrow(/private or local address/);
    expect(server.asked.length).toBe(asked);
    await Promise.all([feed.close(), named.close()]);
  });

  it.each([100, 150, 160, 200])(
    'reads all of a feed whose server hangs up while entries are stored: %s',
    async (entries) => {
      const all = Array.from({ length: entries }, (_, at) => [`id${at}`, { text: 'x'.repeat(920) }]);
      const text = JSON.stringify(Object.fromEntries(all));
      const head = `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${text.length}\r\n\r\n`;
      const { url, close } = await listenLocally(
        createServer((socket) => socket.once('data', () => socket.end(Buffer.from(head + text)))),
      );
      const feed = createVulnerabilityFeed({ location: url, key: null, allowPrivate: true, userAgent: 'test' });
      const uncaught: unknown[] = [];
      const note = (error: unknown) => uncaught.push(error);
      process.on('uncaughtException', note);
      const copy = await feed.open(null, AbortSignal.timeout(20_000));
      let read = 0;
      if (copy.changed)
        for await (const batch of copy.batches) {
          read += batch.length;
          // Turns of the loop in which the end of the connection arrives.
          for (let turn = 0; turn < 50; turn++) await nextTurn();
        }
      process.off('uncaughtException', note);
      expect({ read, uncaught }).toEqual({ read: entries, uncaught: [] });
      await Promise.all([feed.close(), close()]);
    },
  );

  it('reads no more than it may, and no entry beyond measure', async () => {
    await started([{ [BOX]: '1.0' }]);
    const folder = tempFolder('feed');
    const read = async (text: string, maxBytes?: number) => {
      const path = join(folder, 'feed.json');
      writeFileSync(path, text);
      const feed = createVulnerabilityFeed({
        location: path,
        key: null,
        allowPrivate: false,
        userAgent: '',
        maxBytes,
      });
      const copy = await feed.open(null, new AbortController().signal);
      let entries = 0;
      if (copy.changed) for await (const batch of copy.batches) entries += batch.length;
      return entries;
    };
    const text = feedText(GOOD);
    expect(await read(text)).toBe(60);
    await expect(read(text, text.length - 1)).rejects.toThrow(/larger than/);
    await expect(read(`{"a": "${'x'.repeat(6 * 1024 * 1024)}"}`)).rejects.toThrow(/too large/);
  });

  it('reads a file, and again when it is another', async () => {
    const path = join(tempFolder('feed'), 'feed.json');
    writeFileSync(path, feedText(GOOD));
    await started([{ [BOX]: '1.0' }], { vulnerability_feed: path });
    expect(await refresh(app)).toMatchObject({ outcome: 'read' });
    await kept();
    expect(await refresh(app, { force: true })).toMatchObject({ outcome: 'unchanged' });
    utimesSync(path, 1, 1);
    expect(await refresh(app, { force: true })).toMatchObject({
      outcome: 'read',
      message: '60 entries, 0 new or changed, 0 gone',
    });
    await app.close();
    await started([{ [BOX]: '1.0' }], { vulnerability_feed: join(path, 'missing') });
    expect(await refresh(app)).toEqual({
      outcome: 'failed',
      message: 'The feed file cannot be read (ENOTDIR).',
    });
    expect(await app.call('list-vulnerabilities')).toMatchObject({
      checked_at: null,
      note: 'The vulnerability feed has not been read yet, so nothing is known. The last read failed: The feed file cannot be read (ENOTDIR).',
    });
  });

  it('is read by one process at a time', async () => {
    await started([{ [BOX]: '1.0' }]);
    server.serve(feedText(GOOD));
    const outcomes = (await Promise.all([refresh(app), refresh(app), refresh(app)])).map(({ outcome }) => outcome);
    expect(outcomes.sort()).toEqual(['busy', 'busy', 'read']);
    await kept();
  });
});

describe('over REST', () => {
  let rest: RestApp;
  beforeAll(async () => {
    rest = await restApp({ sites: 2, config: { vulnerability_feed: server.url } });
    for (const [at, version] of ['1.0', '3.0'].entries()) {
      install(rest, at, { [BOX]: version });
      await rest.connect(at);
    }
    server.serve(
      feedText([
        entry(1, { slug: 'box', affected: [['*', true, '2', true]], fixed: ['2.1'], rating: 'High' }),
        entry(2, { slug: 'box', affected: [['*', true, '4', true]] }),
      ]),
    );
    await refresh(rest);
  });

  it('lists those of the fleet and of a site, with the same facts as the operation', async () => {
    const fleet = (await rest.rest('GET /vulnerabilities')).body;
    const answer = await rest.call('list-vulnerabilities');
    expect(fleet).toMatchObject({
      success: 1,
      total: 2,
      pages: 1,
      data: answer.vulnerabilities,
      checked_at: answer.checked_at,
      vulnerable_sites: 2,
      notices: answer.notices,
      by_severity: { high: 1, medium: 1 },
    });
    const site = (await rest.rest('GET /sites/2/vulnerabilities')).body;
    expect(site).toMatchObject({
      total: 1,
      vulnerable_sites: 1,
      data: [{ severity: 'medium', fixed_in: null }],
      site: { id: 2 },
    });
    expect((await rest.rest('GET /vulnerabilities?severity=high&fixed=1&slug=box')).body.total).toBe(1);
    expect((await rest.rest('GET /vulnerabilities?severity=grave')).status).toBe(400);
    expect((await rest.rest('GET /sites/9/vulnerabilities')).status).toBe(404);
  });

  it('tells of an update what it fixes', async () => {
    const plugin = rest.fleet.site(0).state.plugins.find(({ slug }) => slug === BOX);
    if (plugin === undefined) throw new Error('not there');
    plugin.update = { version: '2.5', ...MAYBE };
    await rest.call('sync-sites', { site_ids_or_domains: [1] });
    const { body } = await rest.rest('GET /updates/1');
    expect(body.data[1].plugins[BOX].fixes).toEqual(['CVE-2026-1001 (high)']);
  });
});
