/**
 * Fills a database with made-up sites: `node dist/modules/bench/load.js --sites 10000 --db file:fleet.db`. For trying the
 * service at scale; the sites do not exist and cannot be synced.
 */

import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { databaseFile } from '../src/runtime/config/config.js';
import { openWriter } from './lib/database.js';
import { seedFleet } from './lib/seed.js';

function wholeNumber(name: string, text: string, min: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min) return value;
  throw new TypeError(`--${name}: expected a whole number from ${min}, got ${JSON.stringify(text)}`);
}

async function load(): Promise<void> {
  const { values } = parseArgs({
    options: {
      sites: { type: 'string', default: '1000' },
      plugins: { type: 'string', default: '30' },
      seed: { type: 'string', default: '1' },
      db: { type: 'string' },
    },
  });
  if (values.db === undefined) throw new TypeError('--db: name the database, such as file:fleet.db');
  const file = databaseFile(values.db);
  if (file !== null && existsSync(file)) throw new TypeError(`--db: ${file} exists already; name a new file`);
  const sites = wholeNumber('sites', values.sites, 1);
  const began = performance.now();
  const db = await openWriter(values.db);
  const found = await db.one('SELECT count(*) AS n FROM site');
  if (found?.n !== 0) throw new TypeError('--db: the database has sites already; name an empty one');
  await seedFleet(db, {
    sites,
    plugins: wholeNumber('plugins', values.plugins, 0),
    seed: wholeNumber('seed', values.seed, 0),
    onProgress: (done, total) => {
      if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${total} sites`);
    },
  });
  await db.close();
  process.stderr.write(`\r${sites} sites stored in ${((performance.now() - began) / 1000).toFixed(1)} s.\n`);
}

try {
  await load();
} catch (error) {
  process.stderr.write(`load: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
