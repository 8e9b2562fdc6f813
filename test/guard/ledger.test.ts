/** The guard's ledger and what it restores, in real WordPress. */

import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import type { GuardClient } from '../../src/outbound/guard/client.js';
import type { GuardSnapshot, Mendable } from '../../src/outbound/guard/guards.js';
import { needs } from '../support/needs.js';
import { clientOf, closeTransport, codeOf, contents, post, signed, writePlugin } from './tools.js';
import { WORDPRESS, type WordPress, WordPressHost } from './wordpress.js';

const NOTHING: Mendable = { files: [], options: [], events: [] };
/** Bytes that no text has. */
const BYTES = Buffer.from(Array.from({ length: 600 }, (_, i) => i % 256));

describe("the guard's ledger", needs(...WORDPRESS), () => {
  const host = new WordPressHost();
  let site: WordPress;
  let guard: GuardClient;
  let key: { private_key: string; public_key: string };

  beforeAll(async () => {
    await host.start();
    key = await generateKey();
    site = await host.site('ledger', { updates: true, log: true });
    site.trust(key.public_key);
    writePlugin(site, 'alpha', '1.0');
    site.activate('alpha/alpha.php');
    site.installGuard();
    guard = clientOf(site, key.private_key);
    const rows = (name: string, count: number) =>
      `CREATE TABLE ledger.${name} (id int); INSERT INTO ledger.${name} SELECT seq FROM ledger.seq_1_to_${count};`;
    host.query(`${rows('wp_small', 7)}${rows('wp_large', 5_000)}CREATE TABLE ledger.wp_empty (id int);`);
  });

  afterAll(async () => {
    await closeTransport();
    await host.close();
  });

  const rowsOf = async (name: string) => (await guard.ledger()).tables.find((one) => one.name === name)?.rows;
  const kept = () => {
    const folder = readdirSync(site.content).find((name) => name.startsWith('sitefleet-guard-')) ?? '';
    return readdirSync(join(site.content, folder))
      .filter((name) => name.startsWith('before-'))
      .map((name) => join(site.content, folder, name));
  };
  async function arm(): Promise<GuardSnapshot> {
    const snapshot = await guard.snapshot('plugin', 'alpha/alpha.php');
    await guard.arm(snapshot.id, 600);
    return snapshot;
  }

  it('tells a full table from an empty one, whatever their number, and none hides the others', async () => {
    const many = Array.from({ length: 200 }, (_, i) => `CREATE TABLE ledger.wp_many_${i} (id int);`).join('');
    // One that cannot be read.
    host.query(`${many}CREATE TABLE ledger.wp_many_lost (id int) ENGINE=MRG_MyISAM UNION=(ledger.nowhere);`);
    host.query('CREATE TABLE ledger.another_site (id int);');
    const { tables } = await guard.ledger();
    const rows = new Map(tables.map((one) => [one.name, one.rows]));
    expect([rows.get('wp_small'), rows.get('wp_large'), rows.get('wp_empty')]).toEqual([7, 1_001, 0]);
    expect(tables.filter(({ name }) => /^wp_many_\d/.test(name))).toHaveLength(200);
    expect(tables.filter(({ rows: count }) => count === null)).toEqual([{ name: 'wp_many_lost', rows: null }]);
    expect(rows.has('another_site')).toBe(false);
    const names = tables.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['wp_options', 'wp_posts', 'wp_users']));
    host.query(`${many.replaceAll(/CREATE TABLE (\S+) \(id int\)/g, 'DROP TABLE $1')}DROP TABLE ledger.wp_many_lost;`);
    host.query('TRUNCATE TABLE ledger.wp_small;');
    expect(await rowsOf('wp_small')).toBe(0);
  });

  it('has what the database has, past every cache', async () => {
    site.wp("wp_schedule_event( time() + 900, 'daily', 'nightly' ); wp_schedule_single_event( time() + 900, 'soon' );");
    host.query("UPDATE ledger.wp_options SET option_value = 'editor' WHERE option_name = 'default_role'");
    const ledger = await guard.ledger();
    expect(ledger.wordpress).toBe(site.wp("echo $GLOBALS['wp_version'];"));
    const value = (name: string) => ledger.vital.find((one) => one.name === name)?.value;
    expect([value('default_role'), value('siteurl')]).toEqual(['editor', site.url.replace(/\/$/, '')]);
    expect(ledger.active).toEqual(['alpha/alpha.php']);
    expect(ledger.administrators.map(({ login }) => login)).toEqual(['admin', 'second']);
    expect(ledger.roles).toEqual(
      expect.arrayContaining([
        { role: 'administrator', users: 2 },
        { role: 'editor', users: 1 },
      ]),
    );
    expect(ledger.events).toContainEqual({ hook: 'nightly', schedule: 'daily' });
    expect(ledger.events).toContainEqual({ hook: 'soon', schedule: '' });
    const counted = host.query(
      "SELECT COUNT(*) FROM ledger.wp_options WHERE option_name NOT LIKE '\\\\_transient\\\\_%' AND option_name NOT LIKE '\\\\_site\\\\_transient\\\\_%'",
    );
    expect(ledger.options).toBe(Number(counted));
    host.query("UPDATE ledger.wp_options SET option_value = 'subscriber' WHERE option_name = 'default_role'");
  });

  it('names everyone who may administer, whatever the role is called', async () => {
    site.wp(
      "add_role( 'boss', 'Boss', array( 'manage_options' => true ) ); get_user_by( 'login', 'edith' )->add_role( 'boss' );",
    );
    expect((await guard.ledger()).administrators.map(({ login }) => login)).toEqual(['admin', 'second', 'edith']);
    site.wp("remove_role( 'boss' ); get_user_by( 'login', 'edith' )->remove_role( 'boss' );");
  });

  it.each([
    ['a:1:{s:13:"administrator";s:1:"1";}', true],
    ['a:1:{s:13:"administrator";i:1;}', true],
    // WordPress looks at the name of a role only.
    ['a:1:{s:13:"administrator";b:0;}', true],
    ['a:1:{i:7;b:1;}', true],
    ['a:1:{s:14:"manage_options";i:1;}', true],
    ['a:2:{s:13:"administrator";b:1;s:14:"manage_options";s:1:"0";}', false],
    ['a:1:{s:6:"author";s:15:""administrator";";}', false],
  ])('names who may administer as WordPress does, however it is stored: %s', async (stored, may) => {
    site.wp("add_role( '7', 'Seven', array( 'manage_options' => 1 ) );");
    host.query(
      `UPDATE ledger.wp_usermeta SET meta_value = '${stored}' WHERE meta_key = 'wp_capabilities' AND user_id = ( SELECT ID FROM ledger.wp_users WHERE user_login = 'edith' )`,
    );
    expect(site.wp("echo (int) user_can( get_user_by( 'login', 'edith' ), 'manage_options' );")).toBe(may ? '1' : '0');
    const { administrators } = await guard.ledger();
    site.wp("remove_role( '7' ); get_user_by( 'login', 'edith' )->set_role( 'editor' );");
    expect(administrators.map(({ login }) => login)).toEqual(['admin', 'second', ...(may ? ['edith'] : [])]);
  });

  it('names the roles that may administer, also while nobody has them', async () => {
    expect((await guard.ledger()).powers).toEqual(['administrator']);
    site.wp(
      "get_role( 'subscriber' )->add_cap( 'manage_options' ); add_role( '7', 'Seven', array( 'manage_options' => 1 ) ); add_role( 'none', 'None', array( 'manage_options' => false ) );",
    );
    expect((await guard.ledger()).powers).toEqual(['administrator', 'subscriber', '7']);
    site.wp("get_role( 'subscriber' )->remove_cap( 'manage_options' ); remove_role( '7' ); remove_role( 'none' );");
  });

  it('tells nobody else, and no secrets', async () => {
    for (const headers of [
      {},
      { ...signed(site, key.private_key, 'ledger').headers, 'x-sitefleet-nonce': '0'.repeat(32) },
    ])
      expect((await post(site.url, headers, '{"action":"ledger"}')).text).not.toContain('sitefleet-guard');
    const { headers, body } = signed(site, key.private_key, 'ledger');
    const { text } = await post(site.url, headers, body);
    expect(text).toContain('"administrators"');
    for (const secret of ['admin@example.com', 'user_pass', 'mainwp_child_pubkey', 'TEST_SITE', site.content])
      expect(text).not.toContain(secret);
  });

  it('keeps files while armed, unreadable for others, and restores exactly what was named', async () => {
    const file = (name: string) => join(site.core, name);
    for (const name of ['.htaccess', 'wp-config.php'])
      rewrite(name, name === '.htaccess' ? BYTES : readFileSync(file(name)));
    chmodSync(file('.htaccess'), 0o640);
    site.write('mu-plugins/own.php', '<?php // own');
    const before = contents(site.core);
    const snapshot = await arm();
    expect(kept()).toHaveLength(1);
    for (const path of kept()) {
      const text = readFileSync(path, 'latin1');
      for (const hidden of [
        'TEST_SITE',
        readFileSync(file('wp-config.php')).toString('base64').slice(0, 40),
        '.htaccess',
      ])
        expect(text).not.toContain(hidden);
    }
    rewrite('.htaccess', '# other\n');
    rewrite('new.php', '<?php');
    rewrite('other.php', '<?php');
    rmSync(file('xmlrpc.php'));
    rmSync(join(site.content, 'mu-plugins/own.php'));
    rewrite('wp-config.php', "<?php require getenv('TEST_SITE') . '/config.php'; // more\n");
    const files = ['.htaccess', 'new.php', 'wp-config.php', 'xmlrpc.php', 'wp-content/mu-plugins/own.php'];
    expect(await guard.mend(snapshot.id, { ...NOTHING, files })).toEqual({ ...NOTHING, files });
    expect(existsSync(file('other.php'))).toBe(true);
    rmSync(file('other.php'));
    expect(contents(site.core)).toEqual(before);
    expect(readFileSync(join(site.content, 'mu-plugins/own.php'), 'utf8')).toBe('<?php // own');
    expect(statSync(file('.htaccess')).mode & 0o777).toBe(0o640);
    await guard.disarm(null);
    expect(kept()).toEqual([]);
    expect(await codeOf(guard.mend(snapshot.id, { ...NOTHING, files }))).toBe('not_found');
  });

  it('restores nothing but what it has kept', async () => {
    const snapshot = await arm();
    site.write('plugins/alpha/alpha.php', '<?php // other');
    const names = [
      'wp-content/plugins/alpha/alpha.php',
      '../../../etc/passwd',
      '..',
      '',
      'wp-load.php/',
      'wp-content/mu-plugins/sitefleet-guard.php',
      'wp-content/sitefleet-guard-x',
    ];
    const asked = { files: names, options: ['admin_email', 'active_plugins', 'cron'], events: ['never'] };
    const before = contents(site.content);
    const mended = await guard.mend(snapshot.id, asked);
    // What is unchanged is as it was.
    expect(mended).toEqual(NOTHING);
    expect(changed(before, contents(site.content))).toEqual([]);
    // What another program has written is not what the guard has kept.
    const [path] = kept();
    writeFileSync(
      path ?? '',
      readFileSync(path ?? '', 'utf8').replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
    );
    expect(await codeOf(guard.mend(snapshot.id, { ...NOTHING, files: ['index.php'] }))).toBe('not_found');
    await guard.disarm(null);
    writePlugin(site, 'alpha', '1.0');
  });

  it('leaves a file alone that it could not read', async () => {
    const path = join(site.core, 'private.php');
    writeFileSync(path, '<?php // private');
    chmodSync(path, 0);
    const snapshot = await arm();
    chmodSync(path, 0o644);
    expect(await guard.mend(snapshot.id, { ...NOTHING, files: ['private.php'] })).toEqual(NOTHING);
    expect(readFileSync(path, 'utf8')).toBe('<?php // private');
    rmSync(path);
    await guard.disarm(null);
  });

  it('restores settings and events, of plugins that it has not loaded too', async () => {
    site.wp(
      "add_filter( 'cron_schedules', fn( $all ) => $all + array( 'odd' => array( 'interval' => 777, 'display' => 'odd' ) ) ); wp_schedule_event( time() + 5000, 'odd', 'odd_event', array( 'a', 2 ) );",
    );
    const cron = () => site.wp("echo wp_json_encode( wp_get_scheduled_event( 'odd_event', array( 'a', 2 ) ) );");
    const before = cron();
    const { vital } = await guard.ledger();
    const snapshot = await arm();
    site.wp(
      "wp_unschedule_hook( 'odd_event' ); update_option( 'users_can_register', 1 ); update_option( 'permalink_structure', '/?p=%post_id%' ); wp_schedule_single_event( time() + 5000, 'mine' );",
    );
    const asked = { files: [], options: ['users_can_register', 'permalink_structure'], events: ['odd_event'] };
    expect(await guard.mend(snapshot.id, asked)).toEqual(asked);
    expect(cron()).toBe(before);
    expect(site.wp("echo (int) (bool) wp_next_scheduled( 'mine' );")).toBe('1');
    expect((await guard.ledger()).vital).toEqual(vital);
    await guard.disarm(null);
  });

  it('still knows its dashboard after an armed item has changed the address, and no longer than armed', async () => {
    const move = (to: string) =>
      host.query(`UPDATE ledger.wp_options SET option_value = '${to}' WHERE option_name IN ('siteurl', 'home')`);
    const snapshot = await arm();
    move('https://elsewhere.invalid');
    expect((await guard.hello()).armed).toMatchObject([{ snapshot: snapshot.id }]);
    expect(await guard.restore(snapshot.id)).toMatchObject({ already: true });
    const options = ['siteurl', 'home'];
    expect(await guard.mend(snapshot.id, { ...NOTHING, options })).toEqual({ ...NOTHING, options });
    move('https://elsewhere.invalid');
    expect(await guard.disarm(null)).toEqual([]);
    expect(await codeOf(guard.hello())).toBe('other_site');
    move(site.url.replace(/\/$/, ''));
  });

  it('PHP has nothing to complain about', () => expect(site.complaints('sitefleet-guard.php')).toEqual([]));

  /** As the user that PHP runs as: the files of WordPress are linked to those of other sites. */
  function rewrite(name: string, text: string | Buffer): void {
    rmSync(join(site.core, name), { force: true });
    site.write(relative(site.content, join(site.core, name)), text);
  }
});

/** Files of the guard's own folder, nonces among them, come and go. */
function changed(before: Record<string, string>, after: Record<string, string>): string[] {
  const own = (name: string) => name.includes('/sitefleet-guard-');
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => before[name] !== after[name] && !own(name),
  );
}
