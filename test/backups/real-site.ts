/** Real WordPress whose backups are made and restored: the service beside it, and the site in it, with a guard. */

import { join } from 'node:path';
import type { WordPress } from '../guard/wordpress.js';
import { bareSite } from '../support/bare-site.js';
import { tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp } from '../support/harness.js';

/** @param name of the folder that has the repository */
export function backupsApp(name: string): Promise<TestApp> {
  return testApp({
    sites: 1,
    realClock: true,
    config: {
      site_timeout_ms: 60_000,
      direct_call_ms: 300_000,
      site_backup_dir: join(tempFolder(name), 'repository'),
    },
  });
}

/** Adds a site that trusts this key, and installs its guard. @returns what operations call it by */
export async function addRealSite(app: TestApp, site: WordPress, private_key: string) {
  const row = bareSite(site.url, { name: site.database, private_key });
  const one = { site_id_or_domain: Number(await app.service.store.sites.add(row, Date.now(), () => [])) };
  await app.call('sync-sites', { site_ids_or_domains: [one.site_id_or_domain] });
  await app.call('install-site-guard', one);
  return one;
}
