/** The fleet search: every filter against a plain computation over a random fleet. */

import { beforeAll, describe, expect, it } from 'vitest';
import { type CheckedApp, checkedApp } from './checked-app.js';

const SITES = 160;
const DAY = 86_400_000;
const SEED = 20_261_122;

type Offer = { kind: string; slug: string; from: string; to: string; ignored: boolean };
type Item = { kind: 'plugin' | 'theme'; slug: string; name: string; version: string; active: boolean };
interface Made {
  id: number;
  url: string;
  name: string;
  status: 'connected' | 'disconnected' | 'suspended';
  client: number | null;
  tags: number[];
  wp: string;
  php: string;
  child: string;
  last_sync: number | null;
  certificate: number | null;
  domain: number | null;
  monitor: 'up' | 'down' | 'pending' | 'paused' | 'unknown';
  items: Item[];
  offers: Offer[];
}

const PLUGINS = [
  ['woocommerce/woocommerce.php', 'WooCommerce'],
  ['elementor/elementor.php', 'Elementor'],
  ['elementor-pro/elementor-pro.php', 'Elementor Pro'],
  ['hello.php', 'Hello Dolly'],
  ['größe/größe.php', 'GRÖSSE der Ölmühle'],
] as const;
const THEMES = [
  ['astra', 'Astra'],
  ['elementor-base', 'Elementor Base'],
] as const;
const VERSIONS = ['1.2', '1.2.0', '1.2-beta1', '1.10', '2.0', '2.0-rc1', '3.1.4', '3.1.4pl1', 'v3', '0.9a'];
const KINDS = ['core', 'plugins', 'themes', 'translations'];
const MONITOR = { up: 1, down: 0, pending: 2, unknown: 99 };

function random(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return {
    chance: (share: number) => next() < share,
    int: (n: number) => Math.floor(next() * n),
    pick: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T,
  };
}

/** version_compare as in PHP's source, by replacing as its `php_canonicalize_version` does. */
function older(a: string, b: string): boolean {
  const parts = (text: string) =>
    text
      .replace(/[-_+]/g, '.')
      .replace(/(\d)([^\d.])/g, '$1.$2')
      .replace(/([^\d.])(\d)/g, '$1.$2')
      .split('.');
  const rank = (part: string | undefined) => {
    if (part === undefined || /^\d/.test(part)) return 5;
    const at = ['dev', 'a', 'b', 'rc', '#', 'p'].findIndex((word) => part.toLowerCase().startsWith(word));
    return at < 0 ? 0 : at + 1;
  };
  const [left, right] = [parts(a), parts(b)];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const [ours, theirs] = [left[at], right[at]];
    const numbers = [ours, theirs].filter((part) => part !== undefined && /^\d/.test(part)).length;
    if (ours === undefined) return numbers === 1 || rank(theirs) > 5;
    if (theirs === undefined) return !(numbers === 1) && rank(ours) < 5;
    if (numbers === 2) {
      if (Number(ours) !== Number(theirs)) return Number(ours) < Number(theirs);
    } else if (rank(ours) !== rank(theirs)) return rank(ours) < rank(theirs);
  }
  return false;
}

function levelOf(from: string, to: string): 'patch' | 'minor' | 'major' | null {
  if (from === '' || to === '') return null;
  const numbers = (text: string) =>
    text
      .replace(/^v+/i, '')
      .split('.')
      .map((part) => Number.parseInt(part, 10) || 0);
  const [left, right] = [numbers(from), numbers(to)];
  if ((left[0] ?? 0) !== (right[0] ?? 0)) return 'major';
  return (left[1] ?? 0) !== (right[1] ?? 0) ? 'minor' : 'patch';
}

function makeSite(id: number, now: number, { chance, int, pick }: ReturnType<typeof random>): Made {
  const items: Item[] = [];
  const offers: Offer[] = [];
  const offer = (kind: string, slug: string, from: string) =>
    offers.push({ kind, slug, from, to: pick(['', '1.2.1', '2.1', '3.1.5', '4.0']), ignored: chance(0.2) });
  for (const [slug, name] of PLUGINS.filter(() => chance(0.5))) {
    const version = chance(0.05) ? '' : pick(VERSIONS);
    items.push({ kind: 'plugin', slug, name, version, active: chance(0.7) });
    if (chance(0.5)) offer('plugins', slug, version);
  }
  for (const [slug, name] of THEMES.filter(() => chance(0.5))) {
    items.push({ kind: 'theme', slug, name, version: pick(VERSIONS), active: chance(0.5) });
    if (chance(0.3)) offer('themes', slug, items.at(-1)?.version ?? '');
  }
  if (chance(0.3)) offer('core', 'platform', '6.4');
  if (chance(0.2)) offer('translations', 'de_DE', '');
  const instant = (share: number) => (chance(share) ? now + (int(80) - 20) * DAY + 1000 : null);
  return {
    id,
    url: `https://${pick(['shop', 'blog', 'staging'])}-${id}.example/`,
    name: `${pick(['Alpha', 'Beta', 'Gamma'])} ${id}`,
    status: pick(['connected', 'connected', 'connected', 'disconnected', 'suspended'] as const),
    client: chance(0.7) ? 1 + int(3) : null,
    tags: [1, 2, 3].filter(() => chance(0.3)),
    wp: pick(['', '6.4', '6.4.1', '6.5-beta2', '6.10']),
    php: pick(['', '7.4.33', '8.0.30', '8.1.0', '8.1', '8.2.12']),
    child: pick(['', '4.0', '5.4.0.1', '6.1.2']),
    last_sync: chance(0.1) ? null : now - int(20) * DAY - 1000,
    certificate: instant(0.7),
    domain: instant(0.5),
    monitor: pick(['up', 'down', 'pending', 'paused', 'unknown'] as const),
    items,
    offers,
  };
}

async function store(app: CheckedApp, site: Made): Promise<void> {
  const id = await app.row(site.url, { name: site.name });
  expect(id).toBe(site.id);
  const run = (sql: string, ...args: (string | number | null)[]) => app.db.run(sql, args);
  const { status } = site;
  await run(
    'UPDATE site SET suspended = ?, disconnected = ?, client_id = ? WHERE id = ?',
    ...[status === 'suspended' ? 1 : 0, status === 'disconnected' ? 1 : 0, site.client, id],
  );
  await run(
    'UPDATE site_detail SET wp_version = ?, php_version = ?, child_version = ?, last_sync = ? WHERE site_id = ?',
    ...[site.wp, site.php, site.child, site.last_sync, id],
  );
  for (const tag of site.tags) await run('INSERT INTO site_tag VALUES (?, ?)', id, tag);
  if (site.certificate !== null)
    await run(
      "INSERT INTO site_certificate (site_id, status, valid_to, last_check) VALUES (?, 'valid', ?, 1)",
      ...[id, site.certificate],
    );
  if (site.domain !== null) {
    await run('INSERT INTO domain (name, expiry_date) VALUES (?, ?)', `d${id}.example`, site.domain);
    await run('INSERT INTO site_domain VALUES (?, ?)', id, `d${id}.example`);
  }
  const paused = site.monitor === 'paused' ? 0 : 1;
  const beat = site.monitor === 'paused' ? 1 : MONITOR[site.monitor];
  await run('UPDATE monitor SET active = ?, status = ? WHERE site_id = ?', paused, beat, id);
  for (const [position, item] of site.items.entries()) {
    const kind = item.kind === 'plugin' ? 0 : 1;
    await run('INSERT OR IGNORE INTO package (kind, slug, name) VALUES (?, ?, ?)', kind, item.slug, item.name);
    await run(
      `INSERT INTO site_extension (site_id, kind, package_id, position, version, active)
       SELECT ?, kind, id, ?, ?, ? FROM package WHERE kind = ? AND slug = ?`,
      ...[id, position, item.version, item.active ? 1 : 0, kind, item.slug],
    );
  }
  for (const { kind, slug, from, to, ignored } of site.offers)
    await run(
      `INSERT INTO site_update (site_id, type, slug, position, name, current_version, new_version, ignored, url_key)
       VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?)`,
      ...[id, KINDS.indexOf(kind), slug, slug, from, to, ignored ? 1 : 0, site.url.slice(8)],
    );
}

// biome-ignore lint/suspicious/noExplicitAny: inputs are made at random
type Input = Record<string, any>;

const below = (version: string, limit: string | undefined) =>
  limit === undefined || (version !== '' && older(version, limit));
/** Whether one of these offers matches the filter. */
const offered = (offers: Offer[], kinds: string[], levels: string[]) =>
  offers.some(
    ({ kind, from, to, ignored }) =>
      !ignored &&
      (kinds.length === 0 || kinds.includes(kind)) &&
      (levels.length === 0 || levels.includes(levelOf(from, to) ?? '')),
  );

function itemsCalled(site: Made, kind: 'plugin' | 'theme', term: string): Item[] {
  const wanted = term.trim().toLowerCase();
  const known = kind === 'plugin' ? PLUGINS : THEMES;
  const exact = known.filter(([slug, name]) =>
    [slug, name, slug.split('/')[0], slug.replace('.php', '')].some((text) => text?.toLowerCase() === wanted),
  );
  const part = known.filter(([slug, name]) => `${slug}\n${name}`.toLowerCase().includes(wanted));
  const slugs = (exact.length > 0 ? exact : part).map(([slug]) => slug as string);
  return site.items.filter((item) => item.kind === kind && slugs.includes(item.slug));
}

/** Rows by site id and slug that a search should find; slug null for a search of sites. */
function expected(fleet: Made[], input: Input, now: number): [number, string | null][] {
  const kinds: string[] = input.has_update ?? [];
  const levels: string[] = input.level === undefined ? [] : [input.level].flat();
  const about = input.plugin !== undefined ? 'plugin' : input.theme !== undefined ? 'theme' : null;
  const asksUpdate = kinds.length + levels.length > 0;
  const ofItem = asksUpdate && about !== null && (kinds.length === 0 || kinds.join() === `${about}s`);
  return fleet
    .filter(
      (site) =>
        (input.search === undefined ||
          `${site.name}\n${site.url}`.toLowerCase().includes(input.search.toLowerCase())) &&
        (input.status === undefined || site.status === input.status) &&
        (input.tag_ids === undefined || site.tags.some((tag) => input.tag_ids.includes(tag))) &&
        (input.client_ids === undefined || input.client_ids.includes(site.client)) &&
        below(site.wp, input.wp_below) &&
        below(site.php, input.php_below) &&
        below(site.child, input.child_below) &&
        (input.not_synced_days === undefined ||
          site.last_sync === null ||
          site.last_sync < now - input.not_synced_days * DAY) &&
        (input.certificate_days === undefined ||
          (site.certificate !== null && site.certificate < now + (input.certificate_days + 1) * DAY)) &&
        (input.domain_days === undefined ||
          (site.domain !== null && site.domain < now + (input.domain_days + 1) * DAY)) &&
        (input.ends_within_days === undefined ||
          [site.certificate, site.domain].some(
            (end) => end !== null && end < now + (input.ends_within_days + 1) * DAY,
          )) &&
        (input.monitor === undefined || input.monitor === (site.status === 'suspended' ? 'paused' : site.monitor)) &&
        (!asksUpdate || ofItem || offered(site.offers, kinds, levels)) &&
        (about !== 'plugin' || input.theme === undefined || itemsCalled(site, 'theme', input.theme).length > 0),
    )
    .flatMap((site): [number, string | null][] => {
      if (about === null) return [[site.id, null]];
      return itemsCalled(site, about, input[about])
        .filter(
          (item) =>
            (input.item_state === undefined || item.active === (input.item_state === 'active')) &&
            below(item.version, input.version_below) &&
            (input.version_from === undefined || (item.version !== '' && !older(item.version, input.version_from))) &&
            (!ofItem ||
              offered(
                site.offers.filter(({ slug, kind }) => slug === item.slug && kind === `${about}s`),
                [],
                levels,
              )),
        )
        .map((item) => [site.id, item.slug]);
    });
}

function randomInput({ chance, pick }: ReturnType<typeof random>): Input {
  const input: Input = {};
  const maybe = (name: string, values: readonly unknown[], share = 0.15) => {
    if (chance(share)) input[name] = pick(values);
  };
  maybe('search', ['shop', 'al', 'BETA', '1', 'none of that']);
  maybe('status', ['connected', 'disconnected', 'suspended']);
  maybe('tag_ids', [[1], [2, 3], [99]]);
  maybe('client_ids', [[1], [1, 3], [77]]);
  maybe('plugin', ['elementor', 'Elementor Pro', 'elem', 'hello', 'woocommerce/woocommerce.php', 'GRÖSSE', 'öl'], 0.5);
  maybe('theme', ['astra', 'elementor', 'Elementor Base'], 0.3);
  if (input.plugin !== undefined || input.theme !== undefined) {
    maybe('item_state', ['active', 'inactive'], 0.3);
    maybe('version_below', VERSIONS, 0.4);
    maybe('version_from', VERSIONS, 0.3);
  }
  maybe('wp_below', ['6.4.1', '6.5', '6.10']);
  maybe('php_below', ['8.1', '8', '8.1.0']);
  maybe('child_below', ['5', '6.1.2']);
  maybe('not_synced_days', [0, 3, 7]);
  maybe('has_update', [['core'], ['plugins'], ['themes'], ['plugins', 'translations'], KINDS], 0.3);
  maybe('level', [['patch'], 'major', ['patch', 'minor']], 0.3);
  maybe('certificate_days', [0, 14, 30]);
  maybe('domain_days', [0, 14, 60]);
  maybe('ends_within_days', [0, 14, 60]);
  maybe('monitor', ['up', 'down', 'pending', 'paused', 'unknown']);
  return input;
}

describe('search-fleet', () => {
  let app: CheckedApp;
  let fleet: Made[];
  beforeAll(async () => {
    app = await checkedApp({ sites: 1 });
    const source = random(SEED);
    fleet = Array.from({ length: SITES }, (_, index) => makeSite(index + 1, app.clock.now(), source));
    for (const name of ['Ada', 'Bob', 'Cleo']) await app.call('add-client', { name });
    for (const name of ['blue', 'green', 'staging']) await app.call('add-tag', { name });
    for (const site of fleet) await store(app, site);
  });

  it('finds what a plain look at every site finds, for any mix of filters', async () => {
    const source = random(SEED + 1);
    let found = 0;
    for (let round = 0; round < 400; round++) {
      const input = randomInput(source);
      const about = input.plugin !== undefined || input.theme !== undefined;
      const wanted = expected(fleet, input, app.clock.now());
      const answer = await app.call('search-fleet', {
        ...input,
        fields: about ? ['id', 'slug'] : ['id'],
        per_page: 500,
      });
      const rows = answer.rows.map(([id, slug]: [number, string?]) => `${id} ${slug ?? ''}`);
      const note = `seed ${SEED}, round ${round}: ${JSON.stringify(input)}`;
      expect(rows.sort(), note).toEqual(wanted.map(([id, slug]) => `${id} ${slug ?? ''}`).sort());
      expect([answer.total, answer.sites], note).toEqual([wanted.length, new Set(wanted.map(([id]) => id)).size]);
      found += wanted.length > 0 ? 1 : 0;
    }
    // Guards against testing only empty answers.
    expect(found).toBeGreaterThan(120);
  });

  it.each(['php', 'wp', 'client', 'tag', 'status', 'slug', 'level'])('counts sites by %s', async (by) => {
    const clients = [null, 'Ada', 'Bob', 'Cleo'];
    const tags = [null, 'blue', 'green', 'staging'];
    const source = random(SEED + 2);
    for (let round = 0; round < 40; round++) {
      const input = randomInput(source);
      const pairs = expected(fleet, input, app.clock.now());
      const about = input.plugin !== undefined ? 'plugins' : input.theme !== undefined ? 'themes' : null;
      const asked = input.has_update !== undefined || input.level !== undefined;
      const ofItem = about !== null && asked && (input.has_update === undefined || input.has_update.join() === about);
      const counts = new Map<string | null, Set<number>>();
      for (const [id, found] of pairs) {
        const site = fleet[id - 1] as Made;
        const levels = input.level === undefined ? [] : [input.level].flat();
        const offers = site.offers.filter(
          (one) =>
            offered([one], ofItem ? [about] : (input.has_update ?? []), levels) &&
            (about === null || (one.kind === about && pairs.some(([at, slug]) => at === id && slug === one.slug))),
        );
        const values = {
          php: [site.php || null],
          wp: [site.wp || null],
          status: [site.status],
          client: [clients[site.client ?? 0] ?? null],
          tag: site.tags.length === 0 ? [null] : site.tags.map((tag) => tags[tag] ?? null),
          slug: asked
            ? offers.map(({ slug }) => slug)
            : found === null
              ? site.items.filter(({ kind }) => kind === 'plugin').map(({ slug }) => slug)
              : [found],
          level: offers.map(({ from, to }) => levelOf(from, to)),
        }[by];
        for (const value of values ?? []) counts.set(value, (counts.get(value) ?? new Set()).add(id));
      }
      const answer = await app.call('search-fleet', { ...input, group_by: by, per_page: 500 });
      const note = `seed ${SEED}, round ${round}: ${JSON.stringify(input)}`;
      const got = new Map(answer.groups.map(({ value, count }: { value: string; count: number }) => [value, count]));
      expect(got, note).toEqual(new Map([...counts].map(([value, ids]) => [value, ids.size])));
      expect([answer.total, answer.total_groups], note).toEqual([new Set(pairs.map(([id]) => id)).size, counts.size]);
      const sizes = answer.groups.map(({ count }: { count: number }) => count);
      expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    }
  });

  it('answers pages in URL order, with the total and where it stands', async () => {
    const urls = fleet.map(({ url }) => url).sort();
    const pages = [];
    for (const page of [1, 2, 3, 4])
      pages.push(await app.call('search-fleet', { fields: ['url'], page, per_page: 60 }));
    expect(pages.flatMap(({ rows }) => rows.flat())).toEqual(urls);
    expect(pages.map(({ rows }) => rows.length)).toEqual([60, 60, 40, 0]);
    expect(pages[1]).toMatchObject({ columns: ['url'], total: SITES, sites: SITES, page: 2, per_page: 60 });
  });

  it.each(KINDS.map((kind) => [kind]).concat([['plugins', 'themes']]))(
    'answers pages of the sites that have updates alone: %s %s',
    async (...kinds) => {
      const wanted = fleet.filter(({ offers }) => offered(offers, kinds, []));
      const urls = wanted.map(({ url }) => url).sort();
      const pages = [];
      for (const [page, per_page] of [
        [1, 5],
        [2, 5],
        [2, 500],
      ] as const)
        pages.push(await app.call('search-fleet', { has_update: kinds, fields: ['url'], page, per_page }));
      expect(pages.slice(0, 2).flatMap(({ rows }) => rows.flat())).toEqual(urls.slice(0, 10));
      expect(pages[2].rows).toEqual([]);
      for (const { total, sites } of pages) expect([total, sites]).toEqual([urls.length, urls.length]);
    },
  );

  it('shows six columns that fit the question, or those that are asked for', async () => {
    const columns = async (input: object) => (await app.call('search-fleet', { ...input, per_page: 1 })).columns;
    expect(await columns({})).toEqual(['id', 'url', 'status', 'wp', 'php', 'updates']);
    expect(await columns({ certificate_days: 14 })).toEqual(['id', 'url', 'status', 'certificate', 'wp', 'php']);
    expect(await columns({ plugin: 'hello' })).toEqual(['id', 'url', 'slug', 'version', 'active', 'update']);
    expect(await columns({ fields: ['name', 'tags', 'name'] })).toEqual(['name', 'tags']);
    const site = fleet.find(({ tags, client, last_sync }) => tags.length > 1 && client !== null && last_sync !== null);
    const { rows } = await app.call('search-fleet', {
      search: site?.url,
      fields: ['id', 'name', 'wp', 'php', 'child', 'client', 'tags', 'last_sync', 'updates', 'health'],
    });
    expect(rows).toEqual([
      [
        site?.id,
        site?.name,
        site?.wp || null,
        site?.php || null,
        site?.child || null,
        [null, 'Ada', 'Bob', 'Cleo'][site?.client ?? 0],
        site?.tags.map((tag) => ['', 'blue', 'green', 'staging'][tag]).join(', '),
        new Date(site?.last_sync ?? 0).toISOString().replace(/\.\d{3}Z$/, 'Z'),
        site?.offers.filter(({ ignored }) => !ignored).length,
        null,
      ],
    ]);
  });

  it.each([
    ['certificate', { certificate_days: 60 }],
    ['domain', { domain_days: 60 }],
  ])('shows what ends first on the first page: %s', async (column, asked) => {
    const ends: string[] = [];
    for (let page = 1, more = true; more; page++) {
      const { rows, total } = await app.call('search-fleet', { ...asked, fields: [column], page, per_page: 7 });
      ends.push(...rows.map(([end]: [string]) => end));
      more = ends.length < total;
    }
    expect(ends.length).toBeGreaterThan(7);
    expect(ends).toEqual([...ends].sort());
  });

  it('finds certificates or domains that end, what ends first first, and says of how many neither tells', async () => {
    const days = 60;
    const soonest = ({ certificate, domain }: Made) => Math.min(certificate ?? Infinity, domain ?? Infinity);
    const { columns, rows, total, unknown } = await app.call('search-fleet', { ends_within_days: days, per_page: 500 });
    expect(columns.slice(3, 5)).toEqual(['certificate', 'domain']);
    const due = fleet.filter((site) => soonest(site) < app.clock.now() + (days + 1) * DAY);
    expect(due.some(({ certificate }) => certificate === null)).toBe(true);
    expect(due.some(({ domain }) => domain === null)).toBe(true);
    expect([total, rows.length]).toEqual([due.length, due.length]);
    const ends = rows.map(([id]: [number]) => soonest(fleet.find((site) => site.id === id) as Made));
    expect(ends).toEqual(due.map(soonest).sort((a, b) => a - b));
    const blind = fleet.filter(({ certificate, domain }) => certificate === null || domain === null);
    expect(unknown ?? 0).toBe(blind.filter((site) => !due.includes(site)).length);
  });

  it.each([
    ['list-certificates', 'certificates', 'certificate_days'],
    ['list-domains', 'domains', 'domain_days'],
  ])('reckons days as %s does, on the last of them too', async (operation, list, filter) => {
    const all: { site_id: number; days_left: number | null }[] = [];
    for (let page = 1, more = true; more; page++) {
      const answer = await app.call(operation, { page, per_page: 200 });
      all.push(...answer[list]);
      more = all.length < answer.total;
    }
    const [some = 0] = all.flatMap(({ days_left }) => (days_left !== null && days_left > 0 ? [days_left] : []));
    for (const days of [0, some, 60]) {
      const due = all.filter(({ days_left }) => days_left !== null && days_left <= days).map(({ site_id }) => site_id);
      for (const asked of [{ [filter]: days }, { ends_within_days: days }]) {
        const { rows } = await app.call('search-fleet', { ...asked, fields: ['id'], per_page: 500 });
        const found = rows.flat() as number[];
        expect(due.filter((id) => !found.includes(id))).toEqual([]);
        if (filter in asked) expect(found.sort((a, b) => a - b)).toEqual(due.sort((a, b) => a - b));
      }
      expect(due.length).toBeGreaterThan(0);
    }
  });

  it('says of how many sites the end of certificate or domain is unknown, and why, found or not', async () => {
    const none = (of: 'certificate' | 'domain', tag?: number) =>
      fleet.filter((site) => site[of] === null && (tag === undefined || site.tags.includes(tag))).length;
    const certificates = (sites: number) =>
      `when the certificate ends: unknown of ${sites} sites (${sites} not looked at yet)`;
    const domains = (sites: number, why: string) => `when the domain ends: unknown of ${sites} sites (${why})`;
    const asked = async (input: object) => (await app.call('search-fleet', input)).not_known;
    expect(await asked({ certificate_days: 5 })).toEqual([certificates(none('certificate'))]);
    expect(await asked({ ends_within_days: 5, tag_ids: [2] })).toEqual([
      certificates(none('certificate', 2)),
      domains(none('domain', 2), `${none('domain', 2)} not looked up yet`),
    ]);
    expect(await asked({ domain_days: 5, group_by: 'client' })).toHaveLength(1);
    expect(await asked({ php_below: '8.0' })).toBeUndefined();
    // Four domains that were asked about, and one site that has none.
    const ids = fleet.filter(({ domain }) => domain === null).map(({ id }) => id);
    const stored: [string | null, number | null, string][] = [
      ['a.example', 1, 'The registry did not answer.'],
      ['b.example', 1, 'No registry can be asked.'],
      ['c.example', 1, ''],
      ['d.example', null, ''],
      [null, null, ''],
    ];
    for (const [nth, [name, last_check, error]] of stored.entries()) {
      if (name !== null)
        await app.db.run('INSERT INTO domain (name, last_check, error) VALUES (?, ?, ?)', [name, last_check, error]);
      await app.db.run('INSERT INTO site_domain VALUES (?, ?)', [ids[nth] ?? 0, name]);
    }
    const left = ids.length - 4;
    const why = `${left} not looked up yet, 2 the look-up failed, 1 the registry does not tell it, 1 no registered domain`;
    try {
      expect(await asked({ domain_days: 5 })).toEqual([domains(ids.length, why)]);
      const { not_known } = await app.call('build-report', { site_id_or_domain: ids[0], segments: ['domainmonitor'] });
      expect(not_known).toEqual([
        'the period, or a part of it',
        'when the domain ends: unknown of 1 site (1 the look-up failed)',
      ]);
      const [seen = 0] = fleet
        .filter(({ domain, status }) => domain !== null && status === 'connected')
        .map(({ id }) => id);
      const known = await app.call('build-report', { site_id_or_domain: seen, segments: ['domainmonitor'] });
      expect(known.not_known).toEqual(['the period, or a part of it']);
    } finally {
      await app.db.run(
        'DELETE FROM site_domain WHERE domain IS NULL OR domain IN (SELECT name FROM domain WHERE expiry_date IS NULL)',
      );
      await app.db.run('DELETE FROM domain WHERE expiry_date IS NULL');
    }
  });

  it('says of how many sites it cannot tell, and never takes unknown for no', async () => {
    const unknown = fleet.filter(({ php }) => php === '').length;
    expect(await app.call('search-fleet', { php_below: '7' })).toMatchObject({ total: 0, rows: [], unknown });
    const answer = await app.call('search-fleet', { certificate_days: 14, status: 'connected' });
    const blind = fleet.filter(({ certificate, status }) => certificate === null && status === 'connected').length;
    expect(answer.unknown).toBe(blind);
    expect(await app.call('search-fleet', { status: 'connected' })).not.toHaveProperty('unknown');
  });

  it('says why a site is not connected', async () => {
    const id = fleet.find(({ status }) => status === 'connected')?.id ?? 0;
    await app.db.run("UPDATE site SET sync_error = 'The site did not answer.' WHERE id = ?", [id]);
    const { rows } = await app.call('search-fleet', {
      status: 'disconnected',
      fields: ['id', 'reason'],
      per_page: 500,
    });
    await app.db.run("UPDATE site SET sync_error = '' WHERE id = ?", [id]);
    expect(rows).toContainEqual([id, 'The last sync failed: The site did not answer.']);
    expect(rows.filter(([, reason]: [number, string]) => reason.startsWith('Disconnected manually'))).toHaveLength(
      fleet.filter(({ status }) => status === 'disconnected').length,
    );
  });

  it.each([
    [{ version_below: '2' }, 'version_below'],
    [{ item_state: 'active' }, 'item_state'],
    [{ fields: ['version'] }, 'fields'],
  ])('refuses %j without a plugin or theme: it could only widen', async (input, field) => {
    const error = await app.fail('search-fleet', input);
    expect(error).toMatchObject({ code: 'svc_invalid_input', field });
  });

  it.each([
    [{ plugins: 'elementor' }, 'plugins'],
    [{ level: 'huge' }, 'level'],
    [{ tag_ids: 3 }, 'tag_ids'],
    [{ per_page: 501 }, 'per_page'],
  ])('refuses %j and names the field', async (input, field) => {
    const error = await app.fail('search-fleet', input);
    expect(error.code).toBe('ability_invalid_input');
    expect(error.field).toMatch(new RegExp(`^${field}`));
  });
});
