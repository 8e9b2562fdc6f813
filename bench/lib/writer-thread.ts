/** Stores site snapshots at a steady rate, each one different, as the engine thread does during a sync. */

import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../../src/engine/thread-priority.js';
import { openDb } from '../../src/store/driver/open.js';
import { createInventory } from '../../src/store/sites/inventory.js';
import { snapshotOf } from './snapshots.js';

const CHUNK = 20;

const { db: url, perSecond } = workerData as { db: string; perSecond: number };
const port = parentPort;
lowerPriority();
const db = await openDb(url, { mode: 'writer' });
const inventory = createInventory(db);
const rows = await db.all('SELECT id, url_key FROM site ORDER BY id LIMIT 1000');
let busy = false;
let next = 0;
let version = 0;

async function storeChunk(): Promise<void> {
  for (let i = 0; i < CHUNK; i++) {
    const row = rows[next++ % rows.length];
    if (row === undefined) return;
    const site_id = Number(row.id);
    const { extensions, offers } = await inventory.read(site_id);
    const snapshot = snapshotOf(extensions, offers);
    const plugin = snapshot.plugins?.[0];
    if (plugin !== undefined) plugin.version = `7.${++version}`;
    await inventory.save({ site_id, url_key: String(row.url_key), content_hash: '' }, snapshot, Date.now(), true);
  }
  port?.postMessage(CHUNK);
}

setInterval(
  () => {
    if (busy) void storeChunk();
  },
  (1_000 * CHUNK) / perSecond,
);
port?.on('message', (wanted: boolean) => {
  busy = wanted;
});
