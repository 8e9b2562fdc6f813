/** Fills a database with made-up sites within seconds, by set-based inserts into the store's tables. */

import { storedUrl } from '../../src/domain/sites/urls.js';
import { type Db, sql } from '../../src/store/driver/db.js';
import { searchText } from '../../src/store/sites/filter.js';
import { keepRecordTexts } from '../../src/store/sites/inventory-lists.js';
import type { Vault } from '../../src/store/vault/vault.js';
import { SeededRandom } from './random.js';

interface SeedOptions {
  sites: number;
  seed?: number;
  /** Plugins per site, in addition to three themes. */
  plugins?: number;
  /** URL of a site. Default: a made-up address that does not exist. */
  url?: ((id: number) => string) | undefined;
  /** Called after each batch. */
  onProgress?: (done: number, total: number) => void;
}

/** Everything stored ends before this moment; the clock of a benchmark starts after it. */
export const SEED_TIME = Date.UTC(2026, 0, 1);

const PLUGINS = 2_000;
const THEMES = 150;
const CLIENT_EVERY = 8;
const TAGS = 20;
const BATCH = 1_000;

const FIRST = [
  'Amber',
  'Birch',
  'Cedar',
  'Dawn',
  'Elm',
  'Fern',
  'Grove',
  'Harbour',
  'Iris',
  'Juniper',
  'Kestrel',
  'Linden',
];
const SECOND = [
  'Bakery',
  'Clinic',
  'Design',
  'Fitness',
  'Garage',
  'Hotel',
  'Law',
  'Market',
  'Press',
  'School',
  'Studio',
];
const TOWNS = townNames(100);

function townNames(count: number): string[] {
  const random = new SeededRandom(77);
  const names = new Set<string>();
  while (names.size < count) {
    const syllable = () =>
      `${random.pick([...'bcdfghklmnprstvw'])}${random.pick([...'aeiou'])}${random.pick([...'lmnrst'])}`;
    names.add(syllable() + syllable() + random.pick(['ton', 'feld', 'ville', 'burg', 'mouth', 'ham']));
  }
  return [...names];
}

/** Fills an empty, migrated database. The same options give the same rows. */
export async function seedFleet(db: Db, options: SeedOptions): Promise<void> {
  const { sites, seed = 1, plugins = 30, url, onProgress } = options;
  const random = new SeededRandom(seed);
  await seedCatalogue(db, sites);
  for (let first = 1; first <= sites; first += BATCH) {
    const last = Math.min(first + BATCH - 1, sites);
    await seedBatch(db, random, { first, last, plugins, url });
    onProgress?.(last, sites);
  }
}

async function seedCatalogue(db: Db, sites: number): Promise<void> {
  const list = (count: number) => JSON.stringify(Array.from({ length: count }, (_, i) => i));
  await db.batch([
    sql(
      `INSERT INTO package (id, kind, slug, name, description) SELECT value + 1, 0, printf('plugin-%d/plugin-%d.php', value, value),
       printf('Plugin number %d', value), 'A plugin that does what its name says, and a little more.' FROM json_each(?)`,
      list(PLUGINS),
    ),
    sql(
      `INSERT INTO package (id, kind, slug, name) SELECT value + ${PLUGINS + 1}, 1, printf('theme-%d', value), printf('Theme %d', value) FROM json_each(?)`,
      list(THEMES),
    ),
    sql(
      `INSERT INTO client (id, name, name_key, created_at, updated_at) SELECT value + 1, printf('Client %d', value), printf('client %d', value), ?, ? FROM json_each(?)`,
      SEED_TIME,
      SEED_TIME,
      list(Math.ceil(sites / CLIENT_EVERY)),
    ),
    sql(
      `INSERT INTO tag (id, name, name_key, created_at, updated_at) SELECT value + 1, printf('Tag %d', value), printf('tag %d', value), ?, ? FROM json_each(?)`,
      SEED_TIME,
      SEED_TIME,
      list(TAGS),
    ),
  ]);
}

async function seedBatch(
  db: Db,
  random: SeededRandom,
  { first, last, plugins, url }: { first: number; last: number; plugins: number; url: SeedOptions['url'] },
): Promise<void> {
  const sites: unknown[][] = [];
  const extensions: unknown[][] = [];
  const offers: unknown[][] = [];
  for (let id = first; id <= last; id++) {
    const site = siteRow(random, id, url);
    sites.push(site);
    const urlKey = site[2];
    random.popular(plugins, PLUGINS).forEach((plugin, position) => {
      const version = `${random.int(1, 9)}.${random.int(0, 20)}.${random.int(0, 9)}`;
      const offered = random.chance(0.06) ? `${version}.1` : null;
      extensions.push([id, 0, plugin + 1, position, version, random.chance(0.9) ? 1 : 0, offered]);
      if (offered !== null)
        offers.push([
          id,
          1,
          `plugin-${plugin}/plugin-${plugin}.php`,
          position,
          `Plugin number ${plugin}`,
          version,
          offered,
          random.chance(0.05) ? 1 : 0,
          urlKey,
        ]);
    });
    random.popular(3, THEMES).forEach((theme, position) => {
      extensions.push([id, 1, theme + PLUGINS + 1, position, '1.0', position === 0 ? 1 : 0, null]);
    });
    if (random.chance(0.2)) offers.push([id, 0, 'platform', 0, 'WordPress', '6.8.1', '6.8.2', 0, urlKey]);
  }
  await db.batch([
    sql(
      `INSERT INTO site (id, url, url_key, name, search, client_id, suspended, sync_error, created_at)
       SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, ${SEED_TIME} FROM json_each(?)`,
      JSON.stringify(sites),
    ),
    sql(
      `INSERT INTO site_detail (site_id, admin_username, child_version, wp_version, php_version, last_sync)
       SELECT value ->> 0, 'admin', '6.1.2', '6.8.1', '8.3.29', ${SEED_TIME} FROM json_each(?)`,
      JSON.stringify(sites.map(([id]) => [id])),
    ),
    sql(
      'INSERT INTO site_tag (site_id, tag_id) SELECT value ->> 0, value ->> 1 FROM json_each(?)',
      JSON.stringify(sites.map(([id]) => [id, random.int(1, TAGS)])),
    ),
    sql(
      `INSERT INTO site_extension (site_id, kind, package_id, position, version, active, update_version)
       SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6 FROM json_each(?)`,
      JSON.stringify(extensions),
    ),
    sql(
      `INSERT INTO site_update (site_id, type, slug, position, name, current_version, new_version, ignored, url_key)
       SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8 FROM json_each(?)`,
      JSON.stringify(offers),
    ),
    ...sites.map(([id]) => keepRecordTexts(Number(id))),
  ]);
}

/** id, url, url_key, name, search, client_id, suspended, sync_error */
function siteRow(random: SeededRandom, id: number, urlOf: SeedOptions['url']): unknown[] {
  const [first, second, town] = [random.pick(FIRST), random.pick(SECOND), random.pick(TOWNS)];
  const name = `${first} ${second} ${town}`;
  const madeUp = `https://${first}-${second}-${town}-${id}.example/`.toLowerCase();
  const { url, url_key } = storedUrl(urlOf?.(id) ?? madeUp);
  const progress = random.next();
  const error = progress > 0.96 ? 'The site did not answer.' : '';
  const client = random.int(1, Math.max(1, Math.floor(id / CLIENT_EVERY)));
  return [id, url, url_key, name, searchText(name, url), client, progress < 0.02 ? 1 : 0, error];
}

/** A site of a simulated fleet, which really responds. */
interface LiveSite {
  url: string;
  admin: string;
  private_key: string;
  ssl_verify: boolean;
}

/** Stores sites that are already registered with their children; ids start at 1 in the order given. */
export async function storeLiveSites(db: Db, vault: Vault, sites: readonly LiveSite[]): Promise<number[]> {
  const rows = sites.map((site, index) => {
    const id = index + 1;
    const { url, url_key } = storedUrl(site.url);
    const name = `Live site ${id}`;
    const seal = (column: string, plain: string) => vault.seal(plain, `site_secret:${id}:${column}`);
    return [
      id,
      url,
      url_key,
      name,
      searchText(name, url),
      site.admin,
      site.ssl_verify ? 1 : 0,
      seal('private_key', site.private_key),
      seal('regverify', 'known already'),
    ];
  });
  const data = JSON.stringify(rows);
  await db.batch([
    sql(
      `INSERT INTO site (id, url, url_key, name, search, created_at)
       SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, ${SEED_TIME} FROM json_each(?)`,
      data,
    ),
    sql(
      'INSERT INTO site_detail (site_id, admin_username, ssl_verify) SELECT value ->> 0, value ->> 5, value ->> 6 FROM json_each(?)',
      data,
    ),
    sql(
      'INSERT INTO site_secret (site_id, private_key, regverify) SELECT value ->> 0, value ->> 7, value ->> 8 FROM json_each(?)',
      data,
    ),
  ]);
  return rows.map((_, index) => index + 1);
}
