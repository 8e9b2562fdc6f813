/** Many sites with the same 30 plugins: what they have in common is stored once. The long form has 1,000 of them. */

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { putFile } from '../../src/demo/guard/backup.js';
import { backUpSite } from '../../src/domain/backups/back-up-site.js';
import { checkBackups } from '../../src/domain/backups/check.js';
import { loadNamed } from '../../src/domain/sites/load.js';
import { shortOrLong } from '../robustness/soak.js';
import { tempFolder } from '../support/cleanup.js';
import { testApp } from '../support/harness.js';

const SITES = shortOrLong(8, 1_000);
const PLUGINS = 30;
/** Of each plugin; they do not compress. */
const FILES = 4;
const FILE_BYTES = 20_000;
/** Of each site alone. */
const OWN_BYTES = 3_000;

it(`stores the ${PLUGINS} plugins of ${SITES} sites once`, async () => {
  const app = await testApp({
    sites: SITES,
    jobs: false,
    config: { site_backup_dir: join(tempFolder('thousand'), 'repository') },
  });
  const common = Array.from({ length: PLUGINS * FILES }, () => randomBytes(FILE_BYTES));
  const began = performance.now();
  let [read, added, first] = [0, 0, 0];
  for (let index = 0; index < SITES; index++) {
    const id = await app.connect(index);
    const site = { site_id_or_domain: id };
    await app.call('install-site-guard', site);
    await backUpSite(app.ctx(), await loadNamed(app.ctx(), id));
    const state = app.fleet.site(index).guard?.backup;
    if (state == null) throw new Error('the site has no plugin for backups');
    for (const [at, bytes] of common.entries())
      putFile(state, `wp-content/plugins/common-${at % PLUGINS}/${at}.bin`, bytes, 1_700_000_000);
    putFile(state, 'wp-content/uploads/own.bin', randomBytes(OWN_BYTES), 1_700_000_000);
    app.clock.move(60_000);
    const { facts } = await backUpSite(app.ctx(), await loadNamed(app.ctx(), id));
    read += facts.sent_bytes;
    added += facts.added_bytes;
    if (index === 0) first = facts.added_bytes;
    // Its memory is needed for the next ones.
    state.files.clear();
  }
  const shared = PLUGINS * FILES * FILE_BYTES;
  const seconds = (performance.now() - began) / 1000;
  process.stdout.write(
    `${SITES} sites: ${(read / 1e6).toFixed(1)} MB read, ${(added / 1e6).toFixed(1)} MB stored, of which ${(first / 1e6).toFixed(1)} MB by the first, in ${seconds.toFixed(0)} s\n`,
  );
  expect(read).toBeGreaterThan(SITES * shared);
  // Once what all have; of each site its own file, and the list of its files.
  expect(added).toBeLessThan(shared * 1.02 + SITES * (OWN_BYTES + 60 * PLUGINS * FILES + 10_000));
  expect(await checkBackups(app.ctx(), 100, false)).toMatchObject({ sound: true, backups: 2 * SITES });
});
