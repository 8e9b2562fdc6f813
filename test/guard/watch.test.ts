/** Updates on real WordPress with the real guard that fail only after their last check. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchUpdates } from '../../src/domain/updates/safe/watch.js';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import { createProbe } from '../../src/outbound/probe/create.js';
import { bareSite } from '../support/bare-site.js';
import { type TestApp, testApp } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { THEME_PAGE } from './gallery.js';
import { contents, plugin, visit } from './tools.js';
import { WORDPRESS, type WordPress, WordPressHost } from './wordpress.js';
import { zip } from './zip.js';

/** What each new version does once there is a file of its name. */
const LATE = {
  page: "add_action( 'template_redirect', function () { removed_function(); } );",
  cron: "add_action( 'init', function () { if ( wp_doing_cron() ) removed_function(); } );",
  once: "add_action( 'late_task', function () { removed_function(); } );",
  caller: "add_action( 'template_redirect', function () { late_helper(); } );",
};
/** A plugin that is not updated: the fatal error lies in its file, and passes through the caller. */
const HELPER = 'helper/helper.php';
type Name = keyof typeof LATE;
const NAMES = Object.keys(LATE) as Name[];
const slugOf = (name: Name) => `late-${name}/late-${name}.php`;

describe('updates that fail later', needs(...WORDPRESS), () => {
  const host = new WordPressHost();
  let site: WordPress;
  let app: TestApp;
  let old: Record<string, string>[];

  beforeAll(async () => {
    await host.start();
    const key = await generateKey();
    site = await host.site('watch', { updates: true, workers: 4 });
    site.trust(key.public_key);
    site.write('themes/plain/index.php', THEME_PAGE);
    site.write('plugins/mainwp-child/mainwp-child.php', readFileSync(new URL('./mainwp-child.php', import.meta.url)));
    const offers: Record<string, string[]> = {};
    for (const name of NAMES) {
      const code = `if ( is_file( WP_CONTENT_DIR . '/${name}' ) ) { ${LATE[name]} }`;
      site.write(`plugins/${slugOf(name)}`, plugin('1.0'));
      site.write(`packages/${name}.zip`, zip({ [slugOf(name)]: plugin('2.0', code) }));
      offers[slugOf(name)] = ['2.0', join(site.content, `packages/${name}.zip`)];
    }
    site.write(`plugins/${HELPER}`, plugin('1.0', 'function late_helper() { removed_function(); }'));
    site.write('offers.json', JSON.stringify({ plugin: offers, theme: {} }));
    site.activate('mainwp-child/mainwp-child.php', ...NAMES.map(slugOf), HELPER);
    app = await testApp({
      sites: 1,
      realClock: true,
      probe: createProbe({ allowPrivate: true }),
      config: { site_timeout_ms: 30_000, direct_call_ms: 300_000 },
    });
    const row = bareSite(site.url, { name: 'watch', private_key: key.private_key });
    const id = Number(await app.service.store.sites.add(row, Date.now(), () => []));
    expect((await app.call('sync-sites', { site_ids_or_domains: [id] })).synced).toHaveLength(1);
    await app.call('install-site-guard', { site_id_or_domain: id });
    old = NAMES.map(filesOf);
    const { updated } = await app.call('update-site-plugins', { site_id_or_domain: id });
    expect(updated).toHaveLength(NAMES.length);
  });

  afterAll(async () => {
    await app?.close();
    await host.close();
  });

  const filesOf = (name: Name) => contents(join(site.content, `plugins/late-${name}`));
  const outcomes = async () => {
    const rows = await app.db.all<{ slug: string; outcome: string }>('SELECT slug, outcome FROM safe_change');
    return Object.fromEntries(NAMES.map((name) => [name, rows.find(({ slug }) => slug === slugOf(name))?.outcome]));
  };
  /** The schedule when a look is due. */
  const look = async () => {
    await app.db.run('UPDATE safe_change SET watch_at = 0 WHERE watch_at IS NOT NULL');
    await watchUpdates(app.ctx());
  };

  it('are rolled back byte for byte: on a page, after a minute', async () => {
    await look();
    expect(Object.values(await outcomes())).toEqual(NAMES.map(() => 'kept'));
    site.write('page', '');
    expect((await visit(site.url)).status).toBe(500);
    await look();
    expect(await outcomes()).toMatchObject({ page: 'rolled_back', cron: 'kept', once: 'kept' });
    expect(filesOf('page')).toEqual(old[0]);
    expect((await visit(site.url)).status).toBe(200);
    const { versions } = await app.call('list-quarantined-versions');
    expect(versions).toMatchObject([{ slug: slugOf('page'), version: '2.0', scope: 'fleet' }]);
  });

  it('are rolled back byte for byte: at the next cron', async () => {
    site.write('cron', '');
    await visit(`${site.url}wp-cron.php`);
    expect((await visit(site.url)).status).toBe(200);
    await look();
    expect(await outcomes()).toMatchObject({ page: 'rolled_back', cron: 'rolled_back', once: 'kept' });
    expect(filesOf('cron')).toEqual(old[1]);
    const { versions } = await app.call('list-quarantined-versions');
    expect(versions).toContainEqual(expect.objectContaining({ slug: slugOf('cron'), scope: 'site' }));
  });

  it('are rolled back byte for byte: in the file of another plugin, through a frame of the stack', async () => {
    site.write('caller', '');
    expect((await visit(site.url)).status).toBe(500);
    await look();
    expect(await outcomes()).toMatchObject({ caller: 'rolled_back', once: 'kept' });
    expect(filesOf('caller')).toEqual(old[NAMES.indexOf('caller')]);
    expect((await visit(site.url)).status).toBe(200);
  });

  it('are told where our own look cannot repeat them: a task that has run', async () => {
    site.write('once', '');
    site.wp("delete_transient( 'doing_cron' ); wp_schedule_single_event( time() - 1, 'late_task' );");
    await visit(`${site.url}wp-cron.php`);
    await look();
    expect(await outcomes()).toMatchObject({ once: 'kept' });
    const evidence = await app.db.one('SELECT evidence FROM safe_change WHERE slug = ?', [slugOf('once')]);
    expect(JSON.parse(String(evidence?.evidence)).suspect).toEqual([expect.stringContaining('late-once.php')]);
  });
});
