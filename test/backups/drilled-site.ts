/** A real WordPress and a service that makes backups of it and restores them on trial. */

import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import type { Config } from '../../src/runtime/config/types.js';
import { closeTransport } from '../guard/tools.js';
import { type WordPress, WordPressHost } from '../guard/wordpress.js';
import { bareSite } from '../support/bare-site.js';
import { tempFolder } from '../support/cleanup.js';
import { type Answer, type TestApp, testApp } from '../support/harness.js';

const CHILD = 'mainwp-child/mainwp-child.php';

/** @param name of the site and of the folders */
export function drilledSite(name: string) {
  const host = new WordPressHost();
  const folder = tempFolder(`${name}-fleet`);
  const drills = tempFolder(`${name}-copies`);
  const one = { site_id_or_domain: 0 };
  let app: TestApp | undefined;
  let site: WordPress | undefined;
  const served = () => {
    if (app === undefined || site === undefined) throw new Error('It is not started.');
    return { app, site };
  };
  const sql = (statements: string) => host.query(`SET NAMES utf8mb4; USE ${served().site.database}; ${statements}`);
  return {
    folder,
    drills,
    one,
    sql,
    /** Makes the site, connects it and installs the guard. @param furnish writes what the site has besides WordPress and the child */
    async start(
      {
        theme,
        plugins = {},
        tables,
        config = {},
      }: { theme: string; plugins?: Record<string, string>; tables: string; config?: Partial<Config> },
      furnish: (site: WordPress) => void = () => undefined,
    ) {
      // The copies run as another user.
      chmodSync(drills, 0o755);
      await host.start({ files: 'code' });
      const key = await generateKey();
      site = await host.site(name, { workers: 6, log: true, temporary: true, compiled: true });
      site.trust(key.public_key);
      site.write(`plugins/${CHILD}`, readFileSync(new URL('../guard/mainwp-child.php', import.meta.url)));
      for (const [path, text] of Object.entries(plugins)) site.write(`plugins/${path}`, text);
      site.write('themes/plain/index.php', theme);
      site.activate(CHILD, ...Object.keys(plugins));
      host.query(`SET NAMES utf8mb4; USE ${site.database}; ${tables}`);
      furnish(site);
      app = await testApp({
        sites: 1,
        realClock: true,
        config: {
          db: `file:${join(folder, 'fleet.db')}`,
          site_timeout_ms: 60_000,
          direct_call_ms: 300_000,
          site_backup_dir: join(folder, 'repository'),
          drills: true,
          drill_dir: drills,
          ...config,
        },
      });
      const row = bareSite(site.url, { name: site.database, private_key: key.private_key });
      one.site_id_or_domain = Number(await app.service.store.sites.add(row, Date.now(), () => []));
      await app.call('sync-sites', { site_ids_or_domains: [one.site_id_or_domain] });
      await app.call('install-site-guard', one);
      return { app, site };
    },
    backUp: async () => String((await served().app.call('back-up-site', one)).backup_id),
    drill: (backup_id: string): Promise<Answer> => served().app.call('drill-backup', { backup_id }),
    async close() {
      await app?.close();
      await closeTransport();
      await host.close();
    },
  };
}
