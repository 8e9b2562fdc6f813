/** Storing a snapshot with no change, or with one new version, against deleting and reinserting everything. */

import type { Snapshot } from '../../schemas/snapshot.js';
import { openDb } from '../../src/store/driver/open.js';
import { createInventory } from '../../src/store/sites/inventory.js';
import { compare, repeated } from '../lib/ab.js';
import { seededCopy } from '../lib/database.js';
import { type BareDatabase, openBare } from '../lib/native.js';
import { measureOf, type Scenario } from '../lib/scenario.js';
import { SEED_TIME } from '../lib/seed.js';
import { snapshotOf } from '../lib/snapshots.js';

interface Look {
  site_id: number;
  url_key: string;
  content_hash: string;
  snapshot: Snapshot;
}

const LOOKS = 400;

export const scenario: Scenario = {
  number: 4,
  name: 'store-site',
  title: 'Storing a site that did not change, and one with one changed plugin, against delete and insert',
  async run({ quick, dir }) {
    const url = await seededCopy(dir, quick ? 1_000 : 10_000, 'store-site');
    const db = await openDb(url, { mode: 'writer' });
    const inventory = createInventory(db);
    let now = SEED_TIME;
    const looks: Look[] = [];
    for (let id = 1; id <= LOOKS; id++) looks.push(await lookAt(id));

    async function lookAt(id: number): Promise<Look> {
      const { extensions, offers } = await inventory.read(id);
      const row = await db.one('SELECT url_key FROM site WHERE id = ?', [id]);
      const snapshot = snapshotOf(extensions, offers);
      const look = { site_id: id, url_key: String(row?.url_key), content_hash: '', snapshot };
      await inventory.save(look, snapshot, now, true);
      return { ...look, content_hash: await hashOf(id) };
    }

    async function hashOf(id: number): Promise<string> {
      const row = await db.one('SELECT content_hash FROM site_detail WHERE site_id = ?', [id]);
      return String(row?.content_hash);
    }

    const pick = (i: number): Look => looks[(i * 7) % LOOKS] as Look;
    const unchanged = async (i: number) => {
      const look = pick(i);
      await inventory.save(look, look.snapshot, now++, true);
    };
    const changed = async (i: number) => {
      const look = pick(i);
      const plugin = look.snapshot.plugins?.[i % 30];
      if (plugin !== undefined) plugin.version = `9.9.${i}`;
      await inventory.save(look, look.snapshot, now++, true);
    };
    const bare = openBare(url, true);
    const replace = replacer(bare);
    const everything = (i: number) => replace(pick(i), now++);

    const rounds = quick ? 5 : 11;
    const same = await compare(repeated(unchanged, 40), repeated(everything, 40), { rounds });
    const one = await compare(repeated(changed, 40), repeated(everything, 40), { rounds });
    bare.close();
    await db.close();
    return [
      measureOf('unchanged site against delete and insert', { atMost: 0.3 }, same, 'ms'),
      measureOf('one plugin changed against delete and insert', { atMost: 0.6 }, one, 'ms'),
    ];
  },
};

/** The simple approach at its fastest: prepared statements, one transaction per site, package ids known. */
function replacer(bare: BareDatabase): (look: Look, now: number) => void {
  const dropExtensions = bare.prepare('DELETE FROM site_extension WHERE site_id = ?');
  const dropOffers = bare.prepare('DELETE FROM site_update WHERE site_id = ?');
  const packages = new Map(
    bare
      .prepare('SELECT kind, slug, name, id FROM package')
      .all()
      .map(([kind, slug, name, id]) => [`${kind} ${slug} ${name}`, id]),
  );
  const addExtension = bare.prepare(
    `INSERT INTO site_extension (site_id, kind, package_id, position, version, active, update_version)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const addOffer = bare.prepare(
    'INSERT INTO site_update (site_id, type, slug, position, name, current_version, new_version, url_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const stamp = bare.prepare('UPDATE site_detail SET last_sync = ?, last_attempt = ? WHERE site_id = ?');
  return ({ site_id, url_key, snapshot }, now) => {
    const offers = snapshot.plugin_updates ?? [];
    const offered = new Map(offers.map((offer) => [offer.slug, offer.new_version]));
    bare.exec('BEGIN IMMEDIATE');
    dropExtensions.run(site_id);
    dropOffers.run(site_id);
    for (const [kind, list] of [snapshot.plugins ?? [], snapshot.themes ?? []].entries()) {
      list.forEach(({ slug, name, version, active }, position) => {
        const id = packages.get(`${kind} ${slug} ${name}`);
        addExtension.run(site_id, kind, id, position, version, active ? 1 : 0, offered.get(slug) ?? null);
      });
    }
    offers.forEach(({ slug, name, current_version, new_version }, position) => {
      addOffer.run(site_id, 1, slug, position, name, current_version, new_version, url_key);
    });
    stamp.run(now, now, site_id);
    bare.exec('COMMIT');
  };
}
