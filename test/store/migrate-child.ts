/** One of several processes that migrate one database concurrently. Arguments: URL, time to start at (ms). */
import { migrate } from '../../src/store/driver/migrate.js';
import { openDb } from '../../src/store/driver/open.js';
import { manyMigrations } from './migrate-list.js';

const [url = '', start = '0'] = process.argv.slice(2);
await new Promise((done) => setTimeout(done, Math.max(0, Number(start) - Date.now())));
const db = await openDb(url);
const result = await migrate(db, manyMigrations);
await db.close();
process.stdout.write(JSON.stringify(result));
