/**
 * Updates on real WordPress that change more than their own files: undone, or named in the answer; and updates that do
 * what healthy ones do all the time. The pages work in every case, unless it is said.
 */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import { bareSite } from '../support/bare-site.js';
import { type Answer, type TestApp, testApp } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { folderOf, type Kind, NEW_VERSION, on, packageOf, slugOf, writeOld } from './gallery.js';
import { clientOf, contents } from './tools.js';
import { WORDPRESS, type WordPress, WordPressHost } from './wordpress.js';
import { zip } from './zip.js';

const HTACCESS = '# BEGIN WordPress\nRewriteEngine On\n# END WordPress\n';
const NIGHTLY = 'shop_nightly';

/** Runs in the first request that loads the new version, and in no other, however many there are at once. */
const once = (name: string, code: string) =>
  on(
    'init',
    `global $wpdb; if ( $wpdb->query( "INSERT IGNORE INTO wp_options ( option_name, option_value ) VALUES ( '${name}', '1' )" ) ) { ${code} }`,
  );
/** Replaces a file: in these sites the files of WordPress belong to another user, their folder does not. */
const rewrite = (file: string) =>
  `$text = file_get_contents( ${file} ); unlink( ${file} ); file_put_contents( ${file}, "$text\\n# more\\n" );`;
const mails = (count: number) =>
  once(
    `mails_${count}`,
    `add_filter( 'pre_wp_mail', '__return_true' ); for ( $i = 0; $i < ${count}; $i++ ) wp_mail( "a$i@example.com", 'News', 'x' );`,
  );

interface Harm extends Kind {
  /** Words of the finding. */
  says: string;
  /** True: it is harm enough to be rolled back by itself. */
  rolledBack?: boolean;
  /** True: nothing of it is left after a roll-back. */
  undone?: boolean;
  /** True if the site has it. */
  present: (site: WordPress) => boolean;
}

const option = (site: WordPress, name: string) => site.wp(`echo maybe_serialize( get_option( '${name}' ) );`);
const table = (site: WordPress, name: string) =>
  site.wp(`global $wpdb; echo count( $wpdb->get_col( "SHOW TABLES LIKE '${name}'" ) );`) === '1';
const root = (site: WordPress, name: string) => {
  const path = join(site.core, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};

/** Of each pair one runs with `on_suspect: roll_back`, the other without. */
const HARMS: readonly Harm[] = [
  {
    name: 'drops a table',
    code: once('h1', "$wpdb->query( 'DROP TABLE wp_shop_orders' );"),
    says: 'The table wp_shop_orders has been dropped.',
    present: (site) => !table(site, 'wp_shop_orders'),
  },
  {
    name: 'empties a table',
    code: once('h2', "$wpdb->query( 'TRUNCATE TABLE wp_shop_items' );"),
    says: 'The table wp_shop_items has been emptied.',
    present: (site) => site.wp("global $wpdb; echo $wpdb->get_var( 'SELECT COUNT(*) FROM wp_shop_items' );") === '0',
  },
  {
    name: 'deletes options',
    code: once('h3', '$wpdb->query( "DELETE FROM wp_options WHERE option_name LIKE \'shop_set_%\'" );'),
    says: 'options have been deleted.',
    present: (site) => option(site, 'shop_set_7') === '',
  },
  {
    name: 'adds an administrator',
    code: once(
      'h4',
      "require_once ABSPATH . WPINC . '/pluggable.php'; wp_insert_user( array( 'user_login' => 'mallory', 'user_pass' => 'x', 'role' => 'administrator' ) );",
    ),
    says: 'Administrators have been added: mallory.',
    rolledBack: true,
    present: (site) => site.wp("echo username_exists( 'mallory' ) ? 1 : 0;") === '1',
  },
  {
    name: 'adds an administrator past WordPress',
    code: once(
      'h4b',
      `$wpdb->insert( $wpdb->users, array( 'user_login' => 'trudy', 'user_pass' => 'x', 'user_email' => 't@t.example' ) ); $wpdb->insert( $wpdb->usermeta, array( 'user_id' => $wpdb->insert_id, 'meta_key' => $wpdb->prefix . 'capabilities', 'meta_value' => 'a:1:{s:13:"administrator";s:1:"1";}' ) );`,
    ),
    says: 'Administrators have been added: trudy.',
    rolledBack: true,
    present: (site) => site.wp("echo username_exists( 'trudy' ) ? 1 : 0;") === '1',
  },
  {
    name: 'lets a role administer that nobody gets by himself',
    code: once('h4c', "get_role( 'subscriber' )->add_cap( 'manage_options' );"),
    says: 'Roles may now administer the site: subscriber.',
    present: (site) => site.wp("echo (int) get_role( 'subscriber' )->has_cap( 'manage_options' );") === '1',
  },
  {
    name: 'opens the registration',
    code: once('h5', "update_option( 'users_can_register', 1 );"),
    says: 'The setting users_can_register was 0 and is 1.',
    on_suspect: 'roll_back',
    undone: true,
    present: (site) => option(site, 'users_can_register') === '1',
  },
  {
    name: 'hides the site from search engines',
    code: once('h6', "update_option( 'blog_public', 0 );"),
    says: 'The setting blog_public was 1 and is 0.',
    present: (site) => option(site, 'blog_public') === '0',
  },
  {
    name: 'removes a scheduled event',
    code: once('h7', `wp_unschedule_hook( '${NIGHTLY}' );`),
    says: `Scheduled events are gone: ${NIGHTLY}.`,
    on_suspect: 'roll_back',
    undone: true,
    present: (site) => site.wp(`echo (int) (bool) wp_next_scheduled( '${NIGHTLY}', array( 7 ) );`) === '0',
  },
  {
    name: 'changes .htaccess',
    code: once('h8', rewrite("ABSPATH . '.htaccess'")),
    says: 'The file .htaccess has been changed.',
    on_suspect: 'roll_back',
    undone: true,
    present: (site) => root(site, '.htaccess') !== HTACCESS,
  },
  {
    name: 'changes wp-config.php',
    code: once('h9', rewrite("ABSPATH . 'wp-config.php'")),
    says: 'The file wp-config.php has been changed.',
    on_suspect: 'roll_back',
    undone: true,
    present: (site) => root(site, 'wp-config.php').includes('more'),
  },
  {
    name: 'writes a file of PHP outside its folder',
    code: once('h10', "file_put_contents( ABSPATH . 'shell.php', '<?php' );"),
    says: 'The file of PHP shell.php has been added.',
    present: (site) => existsSync(join(site.core, 'shell.php')),
  },
  {
    name: 'plants a must-use plugin',
    code: once('h11', "file_put_contents( WPMU_PLUGIN_DIR . '/stay.php', '<?php' );"),
    says: 'The file of PHP wp-content/mu-plugins/stay.php has been added.',
    on_suspect: 'roll_back',
    undone: true,
    present: (site) => existsSync(join(site.content, 'mu-plugins/stay.php')),
  },
  {
    name: 'is fatal, and leaves a drop-in behind',
    code:
      once('h12', "file_put_contents( WP_CONTENT_DIR . '/advanced-cache.php', '<?php' );") +
      on('wp_loaded', 'removed_function();'),
    says: 'The drop-in wp-content/advanced-cache.php has been added.',
    rolledBack: true,
    undone: true,
    present: (site) => existsSync(join(site.content, 'advanced-cache.php')),
  },
  {
    name: 'sends mails in storms',
    code: mails(25),
    says: 'It has sent 25 mails.',
    present: () => true,
  },
  {
    name: 'moves the site to another address',
    code: once(
      'h13',
      "update_option( 'siteurl', 'http://elsewhere.invalid' ); update_option( 'home', 'http://elsewhere.invalid' );",
    ),
    says: 'The setting siteurl was',
    rolledBack: true,
    undone: true,
    present: (site) => option(site, 'siteurl').includes('elsewhere'),
  },
  {
    name: 'drops a table that every site needs',
    code: once('h14', "$wpdb->query( 'DROP TABLE wp_comments' );"),
    says: 'The table wp_comments has been dropped.',
    rolledBack: true,
    present: (site) => !table(site, 'wp_comments'),
  },
  {
    name: 'deletes the roles of all users',
    code: once('h16', "delete_option( $wpdb->prefix . 'user_roles' );"),
    says: 'The option wp_user_roles is gone.',
    rolledBack: true,
    undone: true,
    present: (site) => option(site, 'wp_user_roles') === '',
  },
  {
    name: 'deletes where the widgets are',
    code: once('h17', "delete_option( 'sidebars_widgets' );"),
    says: 'The option sidebars_widgets is gone.',
    present: (site) => option(site, 'sidebars_widgets') === '',
  },
];

/** Files that WordPress reads before the guard: after them no request could undo anything. */
const FIRST: readonly (Kind & { file: string })[] = [
  {
    name: 'leaves a drop-in that ends every request',
    file: 'wp-content/object-cache.php',
    code: once('h18', "file_put_contents( WP_CONTENT_DIR . '/object-cache.php', '<?php removed_function();' );"),
  },
  {
    name: 'breaks wp-config.php',
    file: 'wp-config.php',
    code: once(
      'h19',
      "$text = file_get_contents( ABSPATH . 'wp-config.php' ); unlink( ABSPATH . 'wp-config.php' ); file_put_contents( ABSPATH . 'wp-config.php', str_replace( '<?php', '<?php removed_function();', $text ) );",
    ),
  },
  {
    name: 'plants a must-use plugin that is loaded first',
    file: 'wp-content/mu-plugins/0.php',
    code: once('h20', "file_put_contents( WPMU_PLUGIN_DIR . '/0.php', '<?php removed_function();' );"),
  },
];

const HEALTHY: readonly Kind[] = [
  {
    name: 'adds a table, a column, options and an event',
    code: once(
      'g1',
      "$wpdb->query( 'CREATE TABLE wp_good ( id int )' ); $wpdb->query( 'ALTER TABLE wp_shop_orders ADD more int' ); $wpdb->query( 'INSERT INTO wp_shop_orders ( id ) VALUES ( 99 )' ); update_option( 'good_settings', 'x' ); set_transient( 'good', 'x', 60 ); wp_schedule_event( time() + 9000, 'daily', 'good_daily' );",
    ),
  },
  {
    name: 'writes logs and uploads',
    code: once(
      'g2',
      "$folder = wp_upload_dir()['path']; wp_mkdir_p( $folder ); file_put_contents( \"$folder/a.txt\", 'x' ); wp_mkdir_p( WP_CONTENT_DIR . '/cache/good' ); file_put_contents( WP_CONTENT_DIR . '/cache/good/a.php', '<?php' ); file_put_contents( WP_CONTENT_DIR . '/good.log', 'x' ); file_put_contents( ABSPATH . 'good.txt', 'x' );",
    ),
  },
  {
    name: 'adds a role and a user',
    code: once(
      'g3',
      "add_role( 'clerk', 'Clerk', array( 'read' => true ) ); wp_insert_user( array( 'user_login' => 'ann', 'user_pass' => 'x', 'role' => 'clerk' ) );",
    ),
  },
  { name: 'sends one mail', code: mails(1) },
  {
    name: 'upgrades its data in wp-admin, and needs it there',
    code: on(
      'admin_init',
      "if ( ! get_option( 'g5' ) ) update_option( 'g5', 2 ); if ( ! get_option( 'g5' ) ) removed_function();",
    ),
  },
  {
    name: 'empties its queue and runs its single event',
    code: once(
      'g4',
      "$wpdb->query( 'TRUNCATE TABLE wp_shop_queue' ); wp_clear_scheduled_hook( 'shop_once' ); delete_transient( 'old' );",
    ),
  },
];
/** One of several in a run. */
const AMONG: Harm = {
  name: 'drops a table among others',
  code: once('h15', "$wpdb->query( 'DROP TABLE wp_shop_more' );"),
  says: 'The table wp_shop_more has been dropped.',
  present: (site) => !table(site, 'wp_shop_more'),
};
const ALL: readonly Kind[] = [...HARMS, ...FIRST, ...HEALTHY, AMONG];

describe('updates that change more than their files', needs(...WORDPRESS), () => {
  const host = new WordPressHost();
  let app: TestApp;
  let site: WordPress;
  let privateKey: string;

  beforeAll(async () => {
    await host.start();
    const key = await generateKey();
    privateKey = key.private_key;
    site = await host.site('outside', { updates: true, workers: 6, log: true });
    site.trust(key.public_key);
    furnish();
    app = await testApp({ sites: 1, realClock: true, config: { site_timeout_ms: 30_000, direct_call_ms: 300_000 } });
    const row = bareSite(site.url, { name: site.database, private_key: key.private_key });
    const id = Number(await app.service.store.sites.add(row, Date.now(), () => []));
    Object.assign(one, { site_id_or_domain: id });
    expect((await app.call('sync-sites', { site_ids_or_domains: [id] })).synced).toHaveLength(1);
    expect(await app.call('install-site-guard', one)).toMatchObject({ installed: true });
  });

  afterAll(async () => {
    await app?.close();
    await host.close();
  });

  const one = { site_id_or_domain: 0 };

  function furnish(): void {
    site.write('plugins/mainwp-child/mainwp-child.php', readFileSync(new URL('./mainwp-child.php', import.meta.url)));
    const offers: Record<string, string[]> = {};
    for (const kind of ALL) {
      writeOld(site, kind);
      site.write(`packages/${folderOf(kind)}.zip`, zip(packageOf(kind)));
      offers[slugOf(kind)] = [NEW_VERSION, join(site.content, `packages/${folderOf(kind)}.zip`)];
    }
    site.write('offers.json', JSON.stringify({ plugin: offers, theme: {} }));
    site.activate('mainwp-child/mainwp-child.php', ...ALL.map(slugOf));
    rmSync(join(site.core, '.htaccess'), { force: true });
    writeFileSync(join(site.core, '.htaccess'), HTACCESS);
    const rows = (name: string, count: number) =>
      `CREATE TABLE ${site.database}.${name} (id int); INSERT INTO ${site.database}.${name} SELECT seq FROM ${site.database}.seq_1_to_${count};`;
    host.query(
      ['wp_shop_orders', 'wp_shop_items', 'wp_shop_queue', 'wp_shop_more'].map((name) => rows(name, 30)).join(''),
    );
    host.query(
      `INSERT INTO ${site.database}.wp_options (option_name, option_value, autoload) SELECT CONCAT('shop_set_', seq), 'x', 'no' FROM ${site.database}.seq_1_to_150`,
    );
    site.wp(
      `wp_schedule_event( time() + 9000, 'daily', '${NIGHTLY}', array( 7 ) ); wp_schedule_single_event( time() + 9000, 'shop_once' ); update_option( 'blog_public', 1 ); update_option( 'users_can_register', 0 );`,
    );
  }

  function update(kinds: readonly Kind[], on_suspect: 'keep' | 'roll_back'): Promise<Answer> {
    return app.call('safe-update-site', { ...one, types: ['plugins'], specific_items: kinds.map(slugOf), on_suspect });
  }

  const guard = () => clientOf(site, privateKey);
  const findingsOf = (answer: Answer, kind: Kind): string =>
    (answer.suspects as { slug: string; findings: string[] }[])
      .filter(({ slug }) => slug === slugOf(kind))
      .flatMap(({ findings }) => findings)
      .join(' ');

  it('healthy ones are kept without a word, and among several only the guilty one is named', async () => {
    const answer = await update([...HEALTHY, AMONG], 'keep');
    expect(answer.errors).toEqual([]);
    expect(answer.updated).toHaveLength(HEALTHY.length + 1);
    expect(answer.suspects).toMatchObject([{ slug: slugOf(AMONG), findings: [AMONG.says] }]);
    expect(answer.checked).toEqual([expect.stringContaining('tables, settings, administrators')]);
  });

  it.each(HARMS)('is told or undone: $name', async (kind) => {
    const files = () => ({ ...contents(site.core), ...contents(join(site.content, 'mu-plugins')) });
    const before = files();
    const answer = await update([kind], kind.on_suspect ?? 'keep');
    if (kind.rolledBack || kind.on_suspect === 'roll_back') {
      const [error] = answer.errors as { code: string; slug: string; message: string }[];
      expect(answer.updated).toEqual([]);
      expect(error).toMatchObject({ code: 'svc_update_rolled_back', slug: slugOf(kind) });
      expect(error?.message).toContain(kind.says);
      const [done, other] = ['That was undone.', 'That was not undone.'];
      expect(error?.message).toContain(kind.undone ? done : other);
      expect(error?.message).not.toContain(kind.undone ? other : done);
      expect(kind.present(site)).toBe(kind.undone !== true);
      expect(files()).toEqual(before);
    } else {
      expect(answer.errors).toEqual([]);
      expect(answer.updated).toMatchObject([{ slug: slugOf(kind), new_version: NEW_VERSION }]);
      expect(findingsOf(answer, kind)).toContain(kind.says);
      expect(kind.present(site)).toBe(true);
    }
    expect(await guard().hello()).toMatchObject({ guard: expect.any(String) });
  });

  it.each(FIRST)('is undone by the request that did it: $name', async (kind) => {
    const files = () => ({ ...contents(site.core), ...contents(join(site.content, 'mu-plugins')) });
    const before = files();
    const answer = await update([kind], 'keep');
    expect(answer).toMatchObject({
      updated: [],
      errors: [{ code: 'svc_update_rolled_back', slug: slugOf(kind), message: expect.stringContaining(kind.file) }],
    });
    expect(answer.errors[0].message).toContain('it ended every request before WordPress had started');
    expect(files()).toEqual(before);
    expect(existsSync(join(site.content, 'object-cache.php'))).toBe(false);
    expect(await guard().hello()).toMatchObject({ guard: expect.any(String) });
  });

  it('PHP has nothing to complain about in the guard', () => {
    expect(site.complaints('sitefleet-guard.php')).toEqual([]);
  });
});
