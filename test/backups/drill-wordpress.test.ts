/** Trial restores of real WordPress, on a PHP and a MariaDB of their own: proven, failed, and what a killed process leaves. */

import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import { closeTransport } from '../guard/tools.js';
import { WORDPRESS, type WordPress, WordPressHost } from '../guard/wordpress.js';
import { bareSite } from '../support/bare-site.js';
import { tempFolder } from '../support/cleanup.js';
import { type Answer, type TestApp, testApp } from '../support/harness.js';
import { needs } from '../support/needs.js';

const HEAD = (name: string) => `<?php\n/* Plugin Name: ${name}\nVersion: 1.0 */\n`;
/** Its rows are in the title of the front page. */
const SHOP = `${HEAD('Shop')}add_action( 'wp_footer', function () { global $wpdb; echo '<p>' . $wpdb->get_var( "SELECT COUNT(*) FROM {$wpdb->prefix}shop" ) . ' items</p>'; } );\n`;

describe('trial restores of real WordPress', needs(...WORDPRESS, 'php-cgi'), () => {
  const host = new WordPressHost();
  const drills = tempFolder('drills');
  let app: TestApp;
  let site: WordPress;
  const one = { site_id_or_domain: 0 };

  beforeAll(async () => {
    // The copies run as another user.
    chmodSync(drills, 0o755);
    await host.start();
    const key = await generateKey();
    site = await host.site('drills', { workers: 6, log: true, temporary: true });
    site.trust(key.public_key);
    site.write(
      'plugins/mainwp-child/mainwp-child.php',
      readFileSync(new URL('../guard/mainwp-child.php', import.meta.url)),
    );
    site.write('plugins/shop/shop.php', SHOP);
    site.activate('mainwp-child/mainwp-child.php', 'shop/shop.php');
    site.write('uploads/2026/photo of a 🦊.jpg', Buffer.alloc(300_000, 'fox'));
    sql(
      "CREATE TABLE wp_shop (id INT PRIMARY KEY, name VARCHAR(40)) CHARSET utf8mb4; INSERT INTO wp_shop VALUES (1, 'eins'), (2, '🦊'), (3, 'a\\tb');",
    );
    site.wp(
      "for ( $n = 0; $n < 7; $n++ ) wp_insert_post( array( 'post_title' => \"Post $n\", 'post_status' => 'publish' ) );",
    );
    app = await testApp({
      sites: 1,
      realClock: true,
      config: {
        site_timeout_ms: 60_000,
        direct_call_ms: 300_000,
        site_backup_dir: `${tempFolder('drill-backups')}/repository`,
        drills: true,
        drill_dir: drills,
      },
    });
    const row = bareSite(site.url, { name: site.database, private_key: key.private_key });
    one.site_id_or_domain = Number(await app.service.store.sites.add(row, Date.now(), () => []));
    await app.call('sync-sites', { site_ids_or_domains: [one.site_id_or_domain] });
    await app.call('install-site-guard', one);
  });

  afterAll(async () => {
    await app?.close();
    await closeTransport();
    await host.close();
  });

  const sql = (statements: string) => host.query(`SET NAMES utf8mb4; USE ${site.database}; ${statements}`);
  const backUp = async () => String((await app.call('back-up-site', one)).backup_id);
  const drill = (backup_id: string): Promise<Answer> => app.call('drill-backup', { backup_id });

  it('a backup that runs and agrees is proven', async () => {
    const id = await backUp();
    const result = await drill(id);
    expect(result).toMatchObject({ result: 'proven', reason: null, not_compared: [] });
    expect(result.compared).toEqual([
      'files',
      'rows of tables',
      'posts',
      'users',
      'options',
      'tables with rows',
      'active plugins',
      'front page status',
      'front page title',
    ]);
    const { drill: kept } = await app.call('get-backup', { backup_id: id });
    expect(kept).toMatchObject({ result: 'proven', php: result.php, drilled_at: result.drilled_at });
    expect((await app.call('list-backups', { proven: true })).items).toHaveLength(1);
    expect((await app.call('list-backups', { proven: false })).items).toHaveLength(0);
    expect(readdirSync(drills)).toEqual([]);
  });
});
