/**
 * Fleets for the assistant tasks: sites that answer, with problems injected by seed; the large fleet adds thousands of
 * stored rows.
 */

import { seedFleet } from '../../bench/lib/seed.js';
import { type LoggedChange, logEntry } from '../../src/demo/change-log.js';
import type { DemoSite } from '../../src/demo/fleet.js';
import type { PluginState } from '../../src/demo/state.js';
import { refreshVulnerabilities } from '../../src/domain/vulnerabilities/refresh.js';
import { type McpApp, mcpApp } from '../support/mcp-clients.js';
import { entry, feedServer, feedText } from '../vulnerabilities/feed.js';

const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** Sites that answer; the last one is not connected. */
const LIVE = 61;

/** A site that answers, with the problems injected into it; results are checked against these. */
export interface LiveSite {
  id: number;
  place: number;
  site: DemoSite;
  staging: boolean;
  client: 'Foo' | 'Bar' | null;
  php: string;
  /** Days since its last sync; null = an hour. */
  unsynced: number | null;
  /** Days until its certificate and domain expire. */
  certificate: number;
  domain: number;
  down: 'after an update' | 'by itself' | null;
  disconnected: boolean;
  /** What people did on the site itself, as its log has it. */
  logged: LoggedChange[];
}

/** Who became an administrator. */
export const PROMOTED = 'newcomer';

export interface AssistantFleet {
  name: string;
  mcp: McpApp;
  live: LiveSite[];
  /** For MCP clients to connect with `add-site`: not connected yet. */
  spare: DemoSite;
  ids: { staging: number; foo: number; bar: number };
  /** Number of sites that exist only in the database. */
  stored: number;
  cell(sql: string, ...args: (string | number)[]): Promise<number>;
}

/** A number from 0 to n − 1, deterministic for each seed, place and `what`. */
function draw(seed: number, place: number, what: string, n: number): number {
  let state = seed * 7919 + place * 104_729;
  for (const char of what) state = Math.imul(state ^ char.charCodeAt(0), 0x9e37_79b1) >>> 0;
  state = Math.imul(state ^ (state >>> 15), 0x85eb_ca6b) >>> 0;
  return ((state ^ (state >>> 13)) >>> 0) % n;
}

const PHP = ['7.4.33', '8.0.30', '8.1.27', '8.2.20', '8.3.9'] as const;

function plugin(slug: string, name: string, change: Partial<PluginState>): PluginState {
  return {
    slug,
    name,
    version: '1.0.0',
    active: true,
    description: `What ${name} does, in a sentence of the usual length of such descriptions.`,
    author: 'Somebody',
    mustUse: false,
    premium: false,
    update: null,
    lastUpdated: 0,
    breaksOnActivation: false,
    ...change,
  };
}

const offer = (version: string) => ({ version, requiresPhp: '', requiresWp: '' });

export const WOO = 'woocommerce/woocommerce.php';
export const ELEMENTOR = 'elementor/elementor.php';
export const CAROUSEL = 'old-carousel/old-carousel.php';

/** Leaves a site with a known choice of plugins, so that the tests know its inventory. */
function furnish(site: DemoSite, seed: number, place: number): void {
  const { state } = site;
  const known = [WOO, ELEMENTOR, CAROUSEL, 'seo-tools/seo-tools.php', 'spam-guard/spam-guard.php'];
  state.plugins = state.plugins.filter(({ slug, mustUse }) => !known.includes(slug) && !mustUse).slice(0, 4);
  for (const item of [...state.plugins, ...state.themes]) item.update = null;
  state.translations = [];
  state.phpVersion = PHP[draw(seed, place, 'php', PHP.length)] ?? '8.3.9';
  const has = (what: string, share: number) => draw(seed, place, what, 100) < share;
  if (has('elementor', 50))
    state.plugins.push(
      has('old elementor', 60)
        ? plugin(ELEMENTOR, 'Elementor', { version: '3.20.1', update: offer('3.35.2') })
        : plugin(ELEMENTOR, 'Elementor', { version: '3.35.2' }),
    );
  if (has('woo', 50)) state.plugins.push(plugin(WOO, 'WooCommerce', { version: '10.7.0', update: offer('10.8.1') }));
  if (has('carousel', 30)) state.plugins.push(plugin(CAROUSEL, 'Old Carousel', { active: has('carousel on', 70) }));
  state.plugins.push(plugin('seo-tools/seo-tools.php', 'SEO Tools', { update: offer('1.0.1') }));
  if (place % 3 === 0) state.plugins.push(plugin('spam-guard/spam-guard.php', 'Spam Guard', { active: false }));
}

/** What the log of a site has: this week and before, by several people; on some sites somebody became an administrator. */
function logOf(seed: number, place: number, now: number): LoggedChange[] {
  const by = (what: string) => ['tom', 'jane', 'ada'][draw(seed, place, what, 3)] ?? 'tom';
  const at = (days: number, what: string) => (now - days * DAY - draw(seed, place, what, 20) * HOUR) / 1000;
  const forms = (version: string, oldversion: string) => ({
    plugindata: { name: 'Forms', version, slug: 'forms/forms.php' },
    oldversion,
  });
  const updated = { type: 1970, context: 'plugin', action: 'updated' };
  const promoted = { changeusername: PROMOTED, oldrole: 'Editor', newrole: 'Administrator' };
  return [
    { ...updated, user: by('old'), created: at(20, 'old'), meta: forms('1.9', '1.8') },
    ...(draw(seed, place, 'logs', 100) < 25
      ? [{ ...updated, user: by('new'), created: at(2, 'new'), meta: forms('2.0', '1.9') }]
      : []),
    ...(draw(seed, place, 'promotes', 100) < 10
      ? [{ type: 1615, context: 'user', action: 'modified', user: by('who'), created: at(3, 'who'), meta: promoted }]
      : []),
  ];
}

/** @param stored number of sites in the database without a server behind them */
export async function assistantFleet(name: string, seed: number, stored: number): Promise<AssistantFleet> {
  const feed = await feedServer();
  const affected = [['*', true, '3.21.0', false]] satisfies [string, boolean, string, boolean][];
  feed.serve(feedText([entry(1, { slug: 'elementor', affected, fixed: ['3.21.0'], rating: 'High', score: 8.1 })]));
  const mcp = await mcpApp({
    sites: LIVE,
    realClock: false,
    fleet: { seed, plugins: 6 },
    // Jobs wait until a task runs them; a sync of all sites that answer is one.
    jobs: false,
    config: {
      batch_threshold: 50,
      direct_call_ms: 600_000,
      toolsets: null,
      vulnerability_feed: feed.url,
    },
  });
  const { app } = mcp;
  const now = app.clock.now();
  if (stored > 0) {
    await seedFleet(app.db, { sites: stored, seed, plugins: 30 });
    await troubleStored(mcp, now);
  }
  const add = async (tool: string, input: object) => Number((await app.call(tool, input)).id);
  const ids = {
    staging: await add('add-tag', { name: 'staging' }),
    foo: await add('add-client', { name: 'Foo', client_email: 'office@foo.example' }),
    bar: await add('add-client', { name: 'Bar & Sons', client_email: 'office@bar.example' }),
  };
  const live: LiveSite[] = [];
  for (let place = 0; place < LIVE - 1; place += 1) live.push(await connectLive(mcp, seed, place, ids));
  // Reports are on the month before.
  await app.db.run('UPDATE site SET created_at = ?', [Date.UTC(2026, 8, 1)]);
  await app.db.run('UPDATE monitor SET status = 1, active = 1');
  for (const one of live) await trouble(mcp, one, now);
  await refreshVulnerabilities(app.ctx());
  await feed.close();
  await app.db.run('ANALYZE');
  const spare = app.fleet.site(LIVE - 1);
  spare.state.actions.clear();
  spare.state.changeLog = [];
  return {
    name,
    mcp,
    live,
    spare,
    ids,
    stored,
    cell: async (sql, ...args) => Number(Object.values((await app.db.one(sql, args)) ?? {})[0]),
  };
}

async function connectLive(mcp: McpApp, seed: number, place: number, ids: AssistantFleet['ids']): Promise<LiveSite> {
  const { app } = mcp;
  const site = app.fleet.site(place);
  furnish(site, seed, place);
  const logged = logOf(seed, place, app.clock.now());
  site.state.actions.clear();
  site.state.changeLog = logged.map((entry, index) => logEntry(100 + index, entry));
  const id = await app.connect(place);
  const staging = place % 10 === 1;
  // Places are fixed where a task needs a particular kind of site; other problems depend on the seed.
  const client = place >= 20 && place < 23 ? 'Foo' : place >= 24 && place < 27 ? 'Bar' : null;
  await app.call('update-site', {
    site_id_or_domain: id,
    name: `Site ${place}`,
    ...(staging ? { add_tags: [ids.staging] } : {}),
    ...(client === null ? {} : { client_id: client === 'Foo' ? ids.foo : ids.bar }),
  });
  const few = (what: string) => draw(seed, place, what, 100) < 12;
  return {
    id,
    place,
    site,
    staging,
    client,
    php: site.state.phpVersion,
    unsynced: few('unsynced') ? 8 + draw(seed, place, 'days', 30) : null,
    certificate: few('certificate') ? 1 + draw(seed, place, 'ends', 12) : 90,
    domain: few('domain') ? 3 + draw(seed, place, 'lapses', 25) : 300,
    down: place === 40 ? 'after an update' : place === 41 || (place > 41 && few('down')) ? 'by itself' : null,
    disconnected: place === 31 || place === 51,
    logged,
  };
}

/** Injects the problems of a site into the database. */
async function trouble(mcp: McpApp, one: LiveSite, now: number): Promise<void> {
  const run = (text: string, ...args: (string | number | null)[]) => mcp.app.db.run(text, args);
  const { id } = one;
  await run(
    'UPDATE site_detail SET last_sync = ? WHERE site_id = ?',
    now - (one.unsynced === null ? HOUR : one.unsynced * DAY),
    id,
  );
  await run(
    `INSERT INTO site_certificate (site_id, status, valid_to, last_check) VALUES (?, 'valid', ?, 1)
     ON CONFLICT (site_id) DO UPDATE SET valid_to = excluded.valid_to`,
    id,
    now + one.certificate * DAY,
  );
  await run('INSERT INTO domain (name, expiry_date) VALUES (?, ?)', `site-${id}.example`, now + one.domain * DAY);
  await run(
    'INSERT INTO site_domain (site_id, domain) VALUES (?, ?) ON CONFLICT (site_id) DO UPDATE SET domain = excluded.domain',
    id,
    `site-${id}.example`,
  );
  if (one.disconnected) {
    await run("UPDATE site SET sync_error = 'The site did not answer.' WHERE id = ?", id);
    await run('UPDATE site_detail SET status_since = ? WHERE site_id = ?', now - 5 * HOUR, id);
  }
  if (one.down === null) return;
  await run('UPDATE monitor SET status = 0, last_http_code = 503 WHERE site_id = ?', id);
  await run(
    "INSERT INTO incident (site_id, started_at, http_code, msg, down_count) VALUES (?, ?, 503, 'HTTP 503', 3)",
    id,
    now - 6 * HOUR,
  );
  if (one.down === 'after an update')
    await mcp.app.service.store.actionLog.add([
      {
        ...{ site_id: id, context: 'plugin', action: 'updated', slug: 'seo-tools/seo-tools.php', name: 'SEO Tools' },
        ...{ new_version: '1.0.0', at: now - 6 * HOUR - 600_000 },
      },
    ]);
}

/** Problems of the stored-only sites: a few of each kind, as in a fleet of that size. */
async function troubleStored({ app }: McpApp, now: number): Promise<void> {
  const run = (text: string, ...args: (string | number)[]) => app.db.run(text, args);
  await run('UPDATE site_detail SET last_sync = ? - iif(site_id % 40 = 3, 9, 0) * 86400000 - 3600000', now);
  await run("UPDATE site_detail SET php_version = '7.4.33' WHERE site_id % 50 = 7");
  await run("UPDATE site SET sync_error = '' WHERE id % 3 <> 0");
  await run(
    `INSERT INTO site_certificate (site_id, status, valid_to, last_check)
     SELECT id, 'valid', ? + iif(id % 60 = 11, 9, 80) * 86400000, 1 FROM site WHERE true
     ON CONFLICT (site_id) DO UPDATE SET valid_to = excluded.valid_to`,
    now,
  );
  await run(
    "INSERT INTO domain (name, expiry_date) SELECT 'stored-' || id || '.example', ? + iif(id % 70 = 13, 20, 200) * 86400000 FROM site",
    now,
  );
  await run(
    `INSERT INTO site_domain (site_id, domain) SELECT id, 'stored-' || id || '.example' FROM site WHERE true
     ON CONFLICT (site_id) DO UPDATE SET domain = excluded.domain`,
  );
  await run("INSERT INTO package (kind, slug, name) VALUES (0, ?, 'Elementor')", ELEMENTOR);
  // Every eighth site has Elementor, half of them an old version.
  await run(
    `INSERT INTO site_extension (site_id, kind, package_id, position, version, active, update_version)
     SELECT s.id, 0, p.id, 900, iif(s.id % 16 = 0, '3.20.1', '3.35.2'), 1, iif(s.id % 16 = 0, '3.35.2', NULL)
     FROM site s, package p WHERE s.id % 8 = 0 AND p.slug = ?`,
    ELEMENTOR,
  );
  await run(
    `INSERT INTO site_update (site_id, type, slug, position, name, current_version, new_version, ignored, url_key)
     SELECT id, 1, ?, 900, 'Elementor', '3.20.1', '3.35.2', 0, url_key FROM site WHERE id % 16 = 0`,
    ELEMENTOR,
  );
}
