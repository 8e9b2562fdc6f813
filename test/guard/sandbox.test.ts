/**
 * Looks at real WordPress as a user who exists in one request only: what they show, that they leave nothing, and who
 * gets none.
 */

import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import type { GuardClient } from '../../src/outbound/guard/client.js';
import { sessionHeaders } from '../../src/outbound/guard/protocol.js';
import { needs } from '../support/needs.js';
import { FPM } from './fpm.js';
import { on } from './gallery.js';
import { clientOf, closeTransport, codeOf, contents, plugin, sealed, visit } from './tools.js';
import { WORDPRESS, type WordPress, WordPressHost } from './wordpress.js';

const LOOKS = {
  front: '?',
  passwords: 'wp-login.php?',
  dashboard: 'wp-admin/?',
  editor: 'wp-admin/post.php?action=edit&',
  ajax: 'wp-admin/admin-ajax.php?action=logged-in&',
  rest: '?rest_route=/wp/v2/users/me&context=edit&',
} as const;
type Look = keyof typeof LOOKS;
const ALL = Object.keys(LOOKS) as Look[];
const TAKEN = ['install_plugins', 'activate_plugins', 'edit_users', 'create_users', 'export', 'unfiltered_html'];

/** An object cache that other requests find again: in a file. */
const PERSISTENT = `class WP_Object_Cache {
  public array $all = array();
  private string $file = WP_CONTENT_DIR . '/object-cache.data';
  public function __construct() { if ( is_file( $this->file ) ) $this->all = unserialize( file_get_contents( $this->file ) ); }
  public function get( $key, $group = '', $force = false, &$found = null ) { $found = isset( $this->all[ $group ][ $key ] ); return $found ? $this->all[ $group ][ $key ] : false; }
  public function set( $key, $value, $group = '' ) { $this->all[ $group ][ $key ] = $value; file_put_contents( $this->file, serialize( $this->all ), LOCK_EX ); return true; }
  public function add( $key, $value, $group = '' ) { return isset( $this->all[ $group ][ $key ] ) ? false : $this->set( $key, $value, $group ); }
  public function delete( $key, $group = '' ) { unset( $this->all[ $group ][ $key ] ); return true; }
  public function flush() { $this->all = array(); return true; }
}`;
const FUNCTIONS = (object: string) => `
function wp_cache_init() { ${object} = new WP_Object_Cache(); }
function wp_cache_get( $key, $group = '', $force = false, &$found = null ) { return ${object}->get( $key, $group, $force, $found ); }
function wp_cache_set( $key, $value, $group = '', $expire = 0 ) { return ${object}->set( $key, $value, $group ); }
function wp_cache_add( $key, $value, $group = '', $expire = 0 ) { return ${object}->add( $key, $value, $group ); }
function wp_cache_replace( $key, $value, $group = '', $expire = 0 ) { return ${object}->set( $key, $value, $group ); }
function wp_cache_delete( $key, $group = '' ) { return ${object}->delete( $key, $group ); }
function wp_cache_incr( $key, $by = 1, $group = '' ) { return ${object}->set( $key, $by, $group ); }
function wp_cache_decr( $key, $by = 1, $group = '' ) { return ${object}->set( $key, $by, $group ); }
function wp_cache_flush() { return ${object}->flush(); }
function wp_cache_close() { return true; }
function wp_cache_add_global_groups( $groups ) {}
function wp_cache_add_non_persistent_groups( $groups ) {}
`;

describe('the sandbox of the guard', needs(...WORDPRESS), () => {
  const host = new WordPressHost();
  const asked: string[] = [];
  const server = createServer((incoming, response) => {
    asked.push(incoming.url ?? '');
    response.end('here');
  });
  let site: WordPress;
  let guard: GuardClient;
  let key: { private_key: string; public_key: string };
  let other: { private_key: string; public_key: string };

  beforeAll(async () => {
    await host.start();
    [key, other] = await Promise.all([generateKey(), generateKey()]);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    site = await host.site('sandbox', { log: true });
    site.trust(key.public_key);
    site.installGuard();
    guard = clientOf(site, key.private_key);
    // What WordPress itself does once, at the first visit and at that of an administrator.
    for (const path of ['', 'wp-login.php', 'wp-admin/admin-ajax.php']) await visit(site.url + path);
  });

  afterAll(async () => {
    server.close();
    await closeTransport();
    await host.close();
  });

  const addressOf = (look: Look) => new URL(`${LOOKS[look]}sitefleet=${randomBytes(6).toString('hex')}`, site.url);
  /** What the guard has to say of an answer; null = nothing, so it is that of an ordinary visitor. */
  const madeBy = ({ headers }: { headers: Headers }) => headers.get('x-sitefleet-session');

  async function see(look: Look, more: Record<string, string> = {}) {
    const address = addressOf(look);
    const { headers, nonce } = guard.session(address);
    const answer = await visit(address.href, { ...headers, ...more });
    const [made, refused] = (madeBy(answer) ?? '').split(' ');
    return {
      ...answer,
      inside: made === nonce,
      refused: refused === undefined || refused === '' ? [] : refused.split(','),
    };
  }

  /** With these plugins, by what they do when they load. */
  async function withPlugins<T>(plugins: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> {
    for (const [name, code] of Object.entries(plugins)) site.write(`plugins/${name}/${name}.php`, plugin('1.0', code));
    site.activate(...Object.keys(plugins).map((name) => `${name}/${name}.php`));
    try {
      return await work();
    } finally {
      site.activate();
    }
  }

  /** Every table of the site, byte for byte. */
  const tables = () =>
    host.query(
      `CHECKSUM TABLE ${host
        .query(`SHOW TABLES FROM ${site.database}`)
        .trim()
        .split('\n')
        .map((table) => `${site.database}.${table}`)
        .join(', ')}`,
    );
  /** Without the nonces, which prove that a look was one. */
  const files = () =>
    Object.fromEntries(Object.entries(contents(site.content)).filter(([name]) => !name.includes('/nonce-')));

  describe('shows', () => {
    beforeAll(async () => {
      expect((await guard.sandbox(600)).sort()).toEqual([...ALL].sort());
    });

    it('what logged-in users see, without a cookie, and to nobody else', async () => {
      const shown: [Look, RegExp][] = [
        ['front', /Welcome[\s\S]*id="wpadminbar"[\s\S]*Howdy/],
        ['passwords', /^<sitefleet-passwords>accepted<\/sitefleet-passwords>$/],
        ['dashboard', /id="adminmenu"[\s\S]*id="wpbody-content"[\s\S]*At a Glance[\s\S]*<\/html>/],
        ['editor', /^(?=[\s\S]*id='wp-edit-post-js')(?=[\s\S]*initializeEditor\()[\s\S]*id="editor"[\s\S]*<\/html>/],
        ['ajax', /^1$/],
        ['rest', /^\{"id":2147483647,/],
      ];
      for (const [look, text] of shown) {
        const answer = await see(look);
        expect({ look, ...answer }).toMatchObject({ look, status: 200, inside: true, cookies: [] });
        expect(answer.text).toMatch(text);
        for (const [name, value] of [
          ['cache-control', 'no-store'],
          // nginx keeps it to itself.
          ...(FPM === '' ? [['x-accel-expires', '0'] as const] : []),
          ['cdn-cache-control', 'no-store'],
        ] as const)
          expect(answer.headers.get(name)).toBe(value);
      }
      expect(site.complaints('sitefleet-guard.php')).toEqual([]);
    });

    it('wp-admin with the rights of an administrator, but for those over code, files and users', async () => {
      const { capabilities, roles } = JSON.parse((await see('rest')).text) as {
        capabilities: Record<string, boolean>;
        roles: string[];
      };
      expect(roles).toEqual(['administrator']);
      expect(capabilities).toMatchObject({ manage_options: true, edit_others_posts: true });
      expect(TAKEN.filter((right) => capabilities[right] === true)).toEqual([]);
      const code = on('wp_footer', 'echo "may:", json_encode( wp_get_current_user()->allcaps );');
      await withPlugins({ rights: code }, async () => {
        const may = /may:(\{.*?\})/.exec((await see('front')).text)?.[1] ?? '';
        expect(JSON.parse(may)).toEqual({ read: true, level_0: true, subscriber: true });
      });
    });

    it('wp-admin, where plugins would lead administrators to a welcome page of theirs', async () => {
      const welcome = on(
        'admin_init',
        "if ( get_option( 'k2_welcome', 1 ) && ! wp_doing_ajax() && ! isset( $_GET['activate-multi'] ) ) { update_option( 'k2_welcome', 0 ); wp_safe_redirect( admin_url( 'admin.php?page=k2' ) ); exit; }",
      );
      await withPlugins({ welcome }, async () => {
        for (const look of ['dashboard', 'editor'] as const)
          expect(await see(look)).toMatchObject({ status: 200, inside: true });
      });
    });

    it('whether a right password is accepted', async () => {
      const refusing = "add_filter( 'authenticate', fn() => new WP_Error( 'no', 'No' ), 99 );";
      await withPlugins({ refusing }, async () =>
        expect(await see('passwords')).toMatchObject({
          status: 200,
          text: '<sitefleet-passwords>refused</sitefleet-passwords>',
        }),
      );
      const another = "add_filter( 'authenticate', fn() => get_user_by( 'login', 'admin' ), 99 );";
      await withPlugins({ another }, async () => expect((await see('passwords')).text).toContain('refused'));
      // Nobody is told of a wrong password.
      const counts = `add_action( 'wp_login_failed', fn() => file_put_contents( WP_CONTENT_DIR . '/failed', 'x' ) ); ${refusing}`;
      await withPlugins({ counts }, async () => expect((await see('passwords')).text).toContain('refused'));
      expect(existsSync(join(site.content, 'failed'))).toBe(false);
    });

    it('a user whose name nobody could know before, and lock by wrong passwords', async () => {
      const shows = on('wp_footer', "echo 'name:', wp_get_current_user()->user_login, '.';");
      await withPlugins({ shows }, async () => {
        const names = [await see('front'), await see('front')].map(({ text }) => /name:(\S+)\./.exec(text)?.[1]);
        expect(new Set(names).size).toBe(2);
        for (const name of names) expect(name).toMatch(/^sitefleet-/);
      });
    });

    it('pages that no cache of a host keeps, though a plugin decides on the headers last', async () => {
      const last = on('init', "header_register_callback( fn() => header( 'Cache-Control: public, max-age=600' ) );");
      await withPlugins({ last }, async () => {
        const { headers, inside } = await see('front');
        expect(inside).toBe(true);
        expect(headers.get('x-accel-expires')).toBe('0');
        expect(headers.get('cdn-cache-control')).toBe('no-store');
      });
    });

    it('a site whose plugins have logins of their own', async () => {
      const own = `if ( ! function_exists( 'wp_validate_auth_cookie' ) ) { function wp_validate_auth_cookie( $cookie = '', $scheme = '' ) {
          $parts = wp_parse_auth_cookie( $cookie, $scheme );
          $user  = $parts ? get_user_by( 'login', $parts['username'] ) : false;
          return $user && WP_Session_Tokens::get_instance( $user->ID )->verify( $parts['token'] ) ? $user->ID : false;
        } }
        if ( ! function_exists( 'auth_redirect' ) ) { function auth_redirect() { if ( ! wp_validate_auth_cookie() ) { wp_redirect( wp_login_url() ); exit; } } }`;
      await withPlugins({ own }, async () => {
        expect(await see('dashboard')).toMatchObject({ status: 200, inside: true });
        expect((await see('ajax')).text).toBe('1');
      });
      // One that WordPress' own cookies mean nothing to: the look says that it got nowhere.
      const strange = "function wp_validate_auth_cookie( $cookie = '', $scheme = '' ) { return false; }";
      await withPlugins({ strange }, async () =>
        expect(await see('dashboard')).toMatchObject({ status: 302, inside: true }),
      );
    });
  });

  it('says what a page is refused at its very end, and nothing is sent before', async () => {
    await guard.sandbox(600);
    const late = on('in_admin_footer', "wp_remote_get( 'https://late.example/' );");
    const digest = createHash('md5').update('ask late.example').digest('hex').slice(0, 8);
    await withPlugins({ late }, async () => {
      for (const look of ['dashboard', 'editor'] as const) {
        const answer = await see(look);
        expect(answer.refused).toContain(digest);
        expect(madeBy(answer)?.split(' ')[2]).toBe('all');
      }
    });
    expect(madeBy(await see('front'))?.split(' ')).toEqual([expect.any(String), '', 'all']);
  });

  describe('leaves nothing', () => {
    const writes = () => `add_action( 'wp_loaded', function () {
      global $wpdb;
      update_option( 'k2_option', time() );
      add_option( 'k2_new', 1 );
      set_transient( 'k2_transient', 1 );
      update_user_meta( get_current_user_id(), 'k2_meta', 1 );
      update_user_meta( 1, 'k2_meta', 1 );
      wp_insert_user( array( 'user_login' => 'k2', 'user_pass' => 'x', 'role' => 'administrator' ) );
      wp_insert_post( array( 'post_title' => 'k2', 'post_status' => 'publish' ) );
      wp_schedule_single_event( time(), 'k2_event' );
      $wpdb->query( 'CREATE TABLE k2_table ( id int )' );
      $wpdb->query( 'COMMIT' );
      $wpdb->query( 'SET autocommit = 1' );
      $wpdb->query( "/* SELECT */ DELETE FROM $wpdb->users" );
      $wpdb->query( "( SELECT 1 INTO OUTFILE '/tmp/k2' )" );
      // Past WordPress.
      mysqli_report( MYSQLI_REPORT_OFF );
      mysqli_query( $wpdb->dbh, "UPDATE $wpdb->options SET option_value = 'k2' WHERE option_name = 'blogname'" );
      wp_cache_set( 'k2', 1, 'k2' );
      wp_cache_flush();
      wp_mail( 'someone@example.com', 'k2', 'k2' );
      wp_remote_get( 'http://127.0.0.1:${(server.address() as AddressInfo).port}/k2' );
      setcookie( 'k2', '1' );
    }, 1 );
    add_action( 'k2_event', fn() => file_put_contents( WP_CONTENT_DIR . '/ran', 'x' ) );
    add_action( 'phpmailer_init', fn() => file_put_contents( WP_CONTENT_DIR . '/mailed', 'x' ) );
    add_filter( 'block_local_requests', '__return_false' );`;

    beforeAll(async () => {
      await guard.sandbox(600);
    });

    it('of a user, in any table or file', async () => {
      const before = { tables: tables(), files: files() };
      for (const look of ALL) expect(await see(look)).toMatchObject({ status: 200, inside: true });
      expect({ tables: tables(), files: files() }).toEqual(before);
      expect(before.tables).toContain('.wp_usermeta\t');
      expect(site.wp("echo count( get_users( array( 'search' => 'sitefleet-*' ) ) );")).toBe('0');
    });

    it('of what a plugin writes, and sends nothing', async () => {
      await withPlugins({ writes: writes() }, async () => {
        const before = { tables: tables(), files: files() };
        for (const look of ALL.filter((one) => one !== 'passwords')) {
          const { status, inside, refused, cookies } = await see(look);
          expect({ look, status, inside, cookies }).toEqual({ look, status: 200, inside: true, cookies: [] });
          expect(refused.length).toBeGreaterThan(5);
        }
        expect({ tables: tables(), files: files() }).toEqual(before);
        expect(asked).toEqual([]);
        // It does all of this for anybody else.
        await visit(site.url);
        expect(tables()).not.toEqual(before.tables);
        expect(Object.keys(files())).toEqual(expect.arrayContaining(['/mailed']));
      });
      host.query(`USE ${site.database}; DROP TABLE k2_table`);
    });

    it('in an object cache that other requests read', async () => {
      const data = join(site.content, 'object-cache.data');
      site.write('object-cache.php', `<?php ${PERSISTENT} ${FUNCTIONS("$GLOBALS['wp_object_cache']")}`);
      await withPlugins({ reads: on('init', "wp_cache_set( 'k2', 1, 'k2' );") }, async () => {
        await visit(site.url);
        expect(readFileSync(data, 'utf8')).toContain('k2');
        await guard.sandbox(600);
        const before = readFileSync(data, 'utf8').replaceAll('k2', '');
        for (const look of ALL) expect(await see(look)).toMatchObject({ status: 200, inside: true });
        expect(readFileSync(data, 'utf8').replaceAll('k2', '')).toBe(before);
      });
      // One that cannot be taken aside: then there is no sandbox.
      site.write('object-cache.php', `<?php ${PERSISTENT} ${FUNCTIONS("$GLOBALS['own_cache']")}`);
      expect(await codeOf(guard.sandbox(600))).toBe('no_sandbox');
      expect(await see('dashboard')).toMatchObject({ status: 302, inside: false });
      expect(readFileSync(data, 'utf8')).not.toContain('@sitefleet.invalid');
      rmSync(join(site.content, 'object-cache.php'));
    });

    it('because there is none where the database does not refuse to write', async () => {
      const lets = "return parent::query( 0 === strpos( $query, 'START TRANSACTION' ) ? 'DO 0' : $query );";
      const db = `class K2_Database extends wpdb { public function query( $query ) { ${lets} } }`;
      site.write('db.php', `<?php ${db} $wpdb = new K2_Database( DB_USER, DB_PASSWORD, DB_NAME, DB_HOST );`);
      expect(await codeOf(guard.sandbox(600))).toBe('no_sandbox');
      expect(await see('dashboard')).toMatchObject({ status: 302, inside: false });
      rmSync(join(site.content, 'db.php'));
      expect(await see('dashboard')).toMatchObject({ status: 200, inside: true });
    });

    it('that could be used elsewhere: the cookies and nonces of a look open nothing', async () => {
      const shows = on(
        'wp_footer',
        "echo 'seen:', base64_encode( json_encode( array( $_COOKIE, wp_create_nonce( 'wp_rest' ) ) ) ), '.';",
      );
      await withPlugins({ shows }, async () => {
        const seen = /seen:([\w+/=]+)\./.exec((await see('front')).text)?.[1] ?? '';
        const [jar, nonce] = JSON.parse(Buffer.from(seen, 'base64').toString()) as [Record<string, string>, string];
        expect(Object.keys(jar)).toHaveLength(3);
        const cookie = Object.entries(jar)
          .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
          .join('; ');
        expect((await visit(`${site.url}wp-admin/`, { cookie })).status).toBe(302);
        const me = `${site.url}?rest_route=/wp/v2/users/me`;
        expect((await visit(me, { cookie, 'x-wp-nonce': nonce })).status).toBeGreaterThanOrEqual(401);
      });
    });
  });

  describe('is closed', () => {
    const dashboard = { status: 302 };
    /** An ordinary visitor is sent to the login. */
    async function expectOrdinary(address: URL, headers: Record<string, string>): Promise<void> {
      const answer = await visit(address.href, headers);
      expect(madeBy(answer)).toBeNull();
      expect(answer).toMatchObject(dashboard);
      expect(answer.headers.get('location')).toContain('wp-login.php');
    }

    beforeAll(async () => {
      await guard.sandbox(600);
    });

    it('to a second use of a header, also at the same moment', async () => {
      const address = addressOf('dashboard');
      const { headers } = guard.session(address);
      const answers = await Promise.all([1, 2, 3, 4].map(() => visit(address.href, headers)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 302, 302, 302]);
      await expectOrdinary(address, headers);
    });

    it('to other keys, times, sites and signatures', async () => {
      const address = addressOf('dashboard');
      const at = (url: string, privateKey: string, now = Date.now()) =>
        sessionHeaders({ url, private_key: privateKey }, address, now).headers;
      await expectOrdinary(address, at(site.url, other.private_key));
      await expectOrdinary(address, at('https://example.com/', key.private_key));
      await expectOrdinary(address, at(site.url, key.private_key, Date.now() - 310_000));
      await expectOrdinary(address, at(site.url, key.private_key, Date.now() + 310_000));
      const [time = '', nonce = '', signature = ''] = at(site.url, key.private_key)['x-sitefleet-session'].split(' ');
      for (const bent of [
        '',
        `${time} ${nonce}`,
        `${Number(time) + 1} ${nonce} ${signature}`,
        `${time} ${'f'.repeat(32)} ${signature}`,
        `${time} ../../../../x ${signature}`,
        `${time} ${nonce} ${signature.replace(/^./, (sign) => (sign === 'A' ? 'B' : 'A'))}`,
      ])
        await expectOrdinary(address, { 'x-sitefleet-session': bent });
      // The signature of an ordinary look is none for this.
      await expectOrdinary(address, { 'x-sitefleet-session': guard.look()['x-sitefleet-look'] ?? '' });
    });

    it('to other addresses than the one that was signed, and to all but the few that there are', async () => {
      const front = addressOf('front');
      const token = () => guard.session(front).headers;
      await expectOrdinary(addressOf('dashboard'), token());
      await expectOrdinary(new URL(`wp-admin/${front.search}`, site.url), token());
      for (const path of [
        'wp-admin/?sitefleet=abcdefabcdef&x=1',
        'wp-admin/?x=1&sitefleet=abcdefabcdef',
        'wp-admin/users.php?sitefleet=abcdefabcdef',
        'wp-admin/admin.php?page=x&sitefleet=abcdefabcdef',
        'wp-admin/post.php?action=trash&sitefleet=abcdefabcdef',
        'wp-admin/post.php?action=edit&post=1&sitefleet=abcdefabcdef',
        'wp-admin/../wp-admin/?sitefleet=abcdefabcdefa',
      ]) {
        const address = new URL(path, site.url);
        await expectOrdinary(address, guard.session(address).headers);
      }
    });

    it('to all methods but GET, whatever a header says', async () => {
      const sent = async (look: Look, method: string, body: string) => {
        const address = addressOf(look);
        const asking = request(address, {
          method,
          headers: { ...guard.session(address).headers, 'content-length': body.length },
        });
        asking.end(body);
        const [answer] = (await once(asking, 'response')) as [import('node:http').IncomingMessage];
        answer.resume();
        await once(answer, 'end');
        return answer.headers['x-sitefleet-session'];
      };
      for (const method of ['POST', 'PUT', 'DELETE', 'HEAD'])
        expect({ method, made: await sent('rest', method, method === 'HEAD' ? '' : '{}') }).toEqual({ method });
      expect(await sent('dashboard', 'GET', 'x=1')).toBeUndefined();
      const before = tables();
      const overridden = await see('rest', { 'x-http-method-override': 'DELETE' });
      expect(overridden).toMatchObject({ status: 200, inside: true });
      expect(overridden.text).toContain('"id":2147483647');
      expect(tables()).toBe(before);
    });

    it('but for the minutes that it was asked for, and again with the last item that is disarmed', async () => {
      const early = guard.session(addressOf('dashboard'));
      expect(early.headers).toHaveProperty('x-sitefleet-session');
      for (const seconds of [0, 601, 1.5]) expect(await codeOf(guard.sandbox(seconds))).toBe('bad_request');
      expect(await see('dashboard')).toMatchObject({ status: 200 });
      await guard.disarm(null);
      const address = addressOf('dashboard');
      const { headers } = guard.session(address);
      await expectOrdinary(address, headers);
      // What was signed before it was opened stays of no use.
      const later = clientOf(site, key.private_key, () => Date.now() + 2_000);
      await later.sandbox(60);
      await expectOrdinary(address, headers);
      const place = readdirSync(site.content).find((name) => name.startsWith('sitefleet-guard-'));
      const door = { asked: Math.floor(Date.now() / 1000) - 100, until: Math.floor(Date.now() / 1000) - 1 };
      const now = JSON.stringify({ ...door, until: door.asked + 200 });
      const written = readFileSync(join(site.content, `${place}/door.json`));
      // Its time is over; and one that another program has written.
      for (const text of [sealed('door.json', JSON.stringify(door)), now, `${'0'.repeat(64)}\n${now}`]) {
        site.write(`${place}/door.json`, text);
        const fresh = addressOf('dashboard');
        await expectOrdinary(fresh, guard.session(fresh).headers);
      }
      site.write(`${place}/door.json`, written);
      const { headers: good } = later.session(address);
      expect((await visit(address.href, good)).status).toBe(200);
    });
  });

  it('lets the watchdog act on what fails in a look, unless it was refused something before', async () => {
    site.write('plugins/armed/armed.php', plugin('1.0'));
    site.activate('armed/armed.php');
    const kept = await guard.snapshot('plugin', 'armed/armed.php');
    const versions: [code: string, restored: boolean][] = [
      [on('wp_loaded', "update_option( 'k2_failing', 1 ); removed_function();"), false],
      [on('wp_loaded', 'removed_function();'), true],
    ];
    for (const [code, restored] of versions) {
      await guard.arm(kept.id, 60, 3);
      const later = clientOf(site, key.private_key, () => Date.now() + 4_000);
      await later.sandbox(60);
      site.write('plugins/armed/armed.php', plugin('2.0', code));
      await new Promise((resolve) => setTimeout(resolve, 3_100));
      const address = addressOf('ajax');
      const { headers } = later.session(address);
      expect((await visit(address.href, { ...headers, ...guard.look() })).status).toBe(500);
      const faults = await later.faults(0);
      if (!restored)
        expect(faults).toMatchObject([
          {
            ...{ waited: 'refused', blames: kept.id, ours: null, restored: null, line: 6 },
            ...{ file: 'wp-content/plugins/armed/armed.php', message: expect.stringContaining('removed_function()') },
          },
        ]);
      const isOld = () => readFileSync(join(site.content, 'plugins/armed/armed.php'), 'utf8').includes('1.0');
      expect({ code, restored: isOld() }).toEqual({ code, restored });
      // A look that failed is no sign of life: the front page, which fails for everybody, is not left so.
      await visit(site.url);
      expect(isOld()).toBe(true);
    }
  });
});
