/** Safe updates against real WordPress and the real guard. The child plugin is a small one of the test's own. */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '../../src/child/sign.js';
import { bareSite } from '../support/bare-site.js';
import { type TestApp, testApp } from '../support/harness.js';
import { contents, plugin, status, writePlugin } from './tools.js';
import { type WordPress, WordPressHost, wordpressMissing } from './wordpress.js';

const missing = wordpressMissing();
const skipped = missing !== '' && process.env.CI !== 'true';

/**
 * Answers as MainWP Child does, without its checks: an ordinary plugin, so what is fatal takes it down as well. An update
 * copies what lies in `wp-content/next` over the plugin.
 */
const CHILD = `<?php
/*
Plugin Name: MainWP Child
Version: 6.1
*/
add_action( 'init', function () {
  if ( ! isset( $_POST['function'] ) ) return;
  require_once ABSPATH . 'wp-admin/includes/plugin.php';
  $next = WP_CONTENT_DIR . '/next/alpha.php';
  $answer = array();
  if ( 'code_snippet' === $_POST['function'] ) {
    ob_start();
    eval( wp_unslash( $_POST['code'] ) );
    $answer = array( 'status' => 'SUCCESS', 'result' => ob_get_clean() );
  } elseif ( 'upgradeplugintheme' === $_POST['function'] ) {
    file_put_contents( WP_PLUGIN_DIR . '/alpha/alpha.php', file_get_contents( $next ) );
    if ( function_exists( 'opcache_invalidate' ) ) opcache_invalidate( WP_PLUGIN_DIR . '/alpha/alpha.php', true );
    $answer = array( 'upgrades' => array( 'alpha/alpha.php' => true ), 'other_data' => array( 'updated_data' => array(
      'alpha/alpha.php' => array( 'slug' => 'alpha/alpha.php', 'old_version' => '1.0', 'version' => '2.0', 'success' => 1 ) ) ) );
  } elseif ( ! isset( $_POST['mainwpsignature'] ) ) {
    $answer = array( 'error' => 'connected' );
  } else {
    $plugins = array();
    foreach ( get_plugins() as $slug => $one )
      $plugins[] = array( 'slug' => $slug, 'name' => $one['Name'], 'version' => $one['Version'], 'active' => (int) is_plugin_active( $slug ) );
    $version = get_plugins()['alpha/alpha.php']['Version'];
    $offers = array();
    if ( '1.0' === $version ) $offers['alpha/alpha.php'] = array( 'Name' => 'Test', 'Version' => $version, 'update' => array( 'new_version' => '2.0' ) );
    $answer = array( 'version' => '6.1', 'wpversion' => $GLOBALS['wp_version'], 'siteurl' => get_option( 'siteurl' ),
      'plugins' => $plugins, 'plugin_updates' => (object) $offers );
  }
  die( '<mainwp>' . base64_encode( json_encode( $answer ) ) . '</mainwp>' );
} );
`;

describe.skipIf(skipped)(`safe updates of real WordPress${skipped ? ` (skipped, missing: ${missing})` : ''}`, () => {
  const host = new WordPressHost();
  let site: WordPress;
  let app: TestApp;
  let id: number;

  beforeAll(async () => {
    if (missing !== '') throw new Error(`these tests need ${missing}`);
    await host.start();
    const key = await generateKey();
    site = await host.site('engine');
    site.trust(key.public_key);
    writePlugin(site, 'alpha', '1.0');
    site.write('plugins/mainwp-child/mainwp-child.php', CHILD);
    site.activate('alpha/alpha.php', 'mainwp-child/mainwp-child.php');
    app = await testApp({ sites: 1, realClock: true, config: { site_timeout_ms: 20_000 } });
    const row = bareSite(site.url, { name: 'Real', private_key: key.private_key });
    id = Number(await app.service.store.sites.add(row, Date.now(), () => []));
    await app.call('sync-sites', { site_ids_or_domains: [id] });
  }, 120_000);

  afterAll(async () => {
    await app?.close();
    await host.close();
  });

  it('installs the guard through the child plugin', async () => {
    expect(await app.call('install-site-guard', { site_id_or_domain: id })).toMatchObject({ installed: true });
    expect(await app.call('get-site-guard', { site_id_or_domain: id })).toMatchObject({
      can_protect: true,
      problems: [],
    });
    expect(await status(site.url)).toBe(200);
  }, 60_000);

  it.each([
    ['is fatal on load', 'nix();'],
    ['ends every page', 'if ( ! defined( "WP_CLI" ) ) exit;'],
  ])(
    'undoes a version that %s, byte for byte',
    async (_name, code) => {
      const folder = join(site.content, 'plugins/alpha');
      const before = contents(folder);
      site.write('next/alpha.php', plugin('2.0', code));
      await app.call('sync-sites', { site_ids_or_domains: [id] });
      const answer = await app.call('update-site-plugins', { site_id_or_domain: id });
      expect(answer).toMatchObject({
        updated: [],
        errors: [{ slug: 'alpha/alpha.php', code: 'svc_update_rolled_back' }],
      });
      expect(contents(folder)).toEqual(before);
      expect(await status(site.url)).toBe(200);
      expect(await app.call('get-site-guard', { site_id_or_domain: id })).toMatchObject({ armed: [] });
      await app.call('lift-quarantine', { type: 'plugin', slug: 'alpha/alpha.php', version: '2.0' });
    },
    120_000,
  );

  it('keeps a version that works, and undoes it on request', async () => {
    const folder = join(site.content, 'plugins/alpha');
    const before = contents(folder);
    site.write('next/alpha.php', plugin('2.0', "add_action( 'wp_footer', function () { echo 'Two'; } );"));
    await app.call('sync-sites', { site_ids_or_domains: [id] });
    const answer = await app.call('update-site-plugins', { site_id_or_domain: id });
    expect(answer).toMatchObject({ updated: [{ slug: 'alpha/alpha.php', new_version: '2.0' }], errors: [] });
    const { snapshots } = await app.call('list-site-snapshots', { site_id_or_domain: id });
    const { change_id } = snapshots.find((one: { role: string }) => one.role === 'snapshot');
    expect(await app.call('roll-back', { change_id })).toMatchObject({ version: '1.0', well: true });
    expect(contents(folder)).toEqual(before);
    expect(await app.call('remove-site-guard', { site_id_or_domain: id, confirm: true })).toMatchObject({
      removed: true,
    });
  }, 120_000);
});
