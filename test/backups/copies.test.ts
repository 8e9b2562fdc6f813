/** What a page in a copy of a site can reach on this machine: nothing but its own folder and its own database. */

import { chmodSync, existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CopyUnavailable, type SiteCopies, type SiteCopy } from '../../src/outbound/copies/copies.js';
import { createCopies } from '../../src/outbound/copies/create.js';
import { tempFolder } from '../support/cleanup.js';
import { CONTAINER } from '../support/container.js';
import { needs } from '../support/needs.js';
import { mountVolume } from '../support/processes/volume.js';

const REQUEST = { https: true, host: 'example.com', path: '/shop/?a=1', cookie: 'a=b' };

describe('a copy', needs('php-cgi', 'mariadb'), () => confined(null));
describe('a copy in a container', needs('php-cgi', 'mariadb', 'a container'), () => confined(CONTAINER));

function confined(container: string[] | null) {
  const folder = tempFolder('copies');
  const { signal } = new AbortController();
  let copies: SiteCopies;
  let copy: SiteCopy;
  const listener = createServer((socket) => socket.end('reached'));

  beforeAll(async () => {
    // It runs as another user.
    chmodSync(folder, 0o755);
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    process.env.SECRET_OF_THE_SERVICE = 'secret';
    process.env.HTTPS_PROXY = 'http://user:secret@127.0.0.1:9';
    copies = createCopies({ folder, programs: null, playground: null, container });
    copy = await copies.open(1_000, signal);
    await copy.configure({
      prefix: 'wp_',
      constants: { DB_PASSWORD: 'of the site', WP_DEBUG: true, OWN: "it's" },
      php: '',
    });
  });

  afterAll(async () => {
    await copy?.close();
    listener.close();
    delete process.env.SECRET_OF_THE_SERVICE;
    delete process.env.HTTPS_PROXY;
  });

  it('that cannot be set up because of a file of the backup says so', async () => {
    const own = await copies.open(1_000, signal);
    await own.put('wp-config.php/x', text('a folder of this name'));
    await expect(own.configure({ prefix: 'wp_', constants: {}, php: '' })).rejects.toThrow(CopyUnavailable);
    await own.close();
  });

  async function* text(code: string) {
    yield Buffer.from(code);
  }
  let pages = 0;
  /** What a page of this code answers. */
  async function page(code: string) {
    await copy.put(`p${++pages}.php`, text(code));
    await (pages === 1
      ? copy.put(
          'index.php',
          text("<?php include $_SERVER['DOCUMENT_ROOT'] . '/' . basename($_GET['p'] ?? $_COOKIE['p']);"),
        )
      : null);
    return copy.ask({ ...REQUEST, path: `/shop/?p=p${pages}.php` });
  }
  const json = async (code: string) => JSON.parse((await page(`<?php echo json_encode(${code});`)).body);

  it('is asked as a visitor asks the site', async () => {
    const answer = await page(
      "<?php http_response_code(404); header('Content-Type: text/html; charset=UTF-8'); echo $_SERVER['HTTP_HOST'], ' ', $_SERVER['REQUEST_URI'], ' ', $_SERVER['HTTPS'], ' ', $_COOKIE['a'];",
    );
    expect(answer).toEqual({
      status: 404,
      content_type: 'text/html; charset=utf-8',
      body: 'example.com /shop/?p=p1.php on b',
      errors: [],
    });
  });

  it('reaches no server of this machine, neither by port nor by path', async () => {
    const path = join(folder, 'other-server');
    const other = createServer((socket) => socket.end('reached'));
    await new Promise<void>((resolve) => other.listen(path, resolve));
    chmodSync(path, 0o777);
    const { port } = listener.address() as AddressInfo;
    const ways = [`tcp://127.0.0.1:${port}`, `unix://${path}`].map((url) => `@stream_socket_client('${url}')`);
    expect(await json(`array_map( fn( $s ) => $s && stream_get_contents( $s ), array( ${ways.join(', ')} ) )`)).toEqual(
      [false, false],
    );
    other.close();
  });

  it('opens no files outside of its folder, and starts no programs', async () => {
    expect(
      await json(
        "array( @file_get_contents( '/etc/passwd' ), @scandir( '/' ), @file_get_contents( '../run/db.log' ) )",
      ),
    ).toEqual([false, false, false]);
    // Not to be narrowed either: that was a way out, folder by folder.
    expect(await json("array( ini_set( 'open_basedir', __DIR__ ), @file_get_contents( '/etc/passwd' ) )")).toEqual([
      false,
      false,
    ]);
    const functions = ['exec', 'system', 'shell_exec', 'passthru', 'popen', 'proc_open', 'pcntl_fork', 'putenv', 'dl'];
    expect(await json(`array_filter( array( '${functions.join("','")}' ), 'function_exists' )`)).toEqual([]);
    expect(
      await json("array( ini_set( 'open_basedir', '/' ), class_exists( 'FFI' ) && ini_get( 'ffi.enable' ) )"),
    ).toEqual([false, expect.toBeOneOf([false, '', '0', 'false'])]);
  });

  it('knows nothing of this process, and has no rights of root', async () => {
    const all = JSON.stringify(await json('array( getenv(), $_ENV, $_SERVER )'));
    expect(all).not.toMatch(/secret/i);
    expect(await json('function_exists( "posix_getuid" ) ? posix_getuid() : 1')).not.toBe(0);
  });

  it('reaches nobody where the machine confines it', async () => {
    const { port } = listener.address() as { port: number };
    const reached = await json(
      `@stream_get_contents( @stream_socket_client( 'tcp://127.0.0.1:${port}', $n, $t, 2 ) ?: fopen( 'php://memory', 'r' ) )`,
    );
    expect(reached).toBe(copy.network === 'none' ? '' : 'reached');
  });

  it('has the rights of its own database only', async () => {
    await copy.load(text("CREATE TABLE t (a INT, b TEXT); INSERT INTO t VALUES (1, 'ä'), (2, NULL);"));
    expect(await copy.query('SELECT * FROM t')).toEqual([
      ['1', 'ä'],
      ['2', null],
    ]);
    for (const refused of [
      "SELECT 1 INTO OUTFILE '/tmp/out'",
      "SET GLOBAL general_log_file = '/tmp/log.php'",
      'SELECT * FROM mysql.global_priv',
      'CREATE DATABASE other',
    ])
      await expect(copy.query(refused), refused).rejects.toThrow(/denied/);
    expect(await copy.query("SELECT LOAD_FILE('/etc/passwd')")).toEqual([[null]]);
  });

  it('obeys nothing in its tables that the client would do itself', async () => {
    const made = join(folder, 'made');
    await expect(copy.load(text(`\\! touch ${made}\nsystem touch ${made}\n`))).rejects.toThrow();
    await expect(copy.load(text(`\\. ${made}.sql\n`))).rejects.toThrow(/Unknown command|1064/);
    await copy.query(`SELECT 1 AS \`\\! touch ${made}\``);
    expect(existsSync(made)).toBe(false);
  });

  it('keeps its tables in its folder', async () => {
    const outside = join(folder, 'outside');
    mkdirSync(outside);
    chmodSync(outside, 0o777);
    for (const [index, engine] of ['MyISAM', 'InnoDB', 'Aria'].entries())
      await copy.query(`CREATE TABLE kept_${index} (a INT) ENGINE=${engine} DATA DIRECTORY='${outside}'`);
    expect(readdirSync(outside)).toEqual([]);
    rmdirSync(outside);
  });

  it('is confined whatever its address', async () => {
    await copy.put(
      'q.php',
      text("<?php echo json_encode( array( ini_get( 'open_basedir' ) !== '', $_SERVER['REQUEST_URI'] ) );"),
    );
    for (const path of ['/?-x', '/?%2Dx', '/?+-dopen_basedir', '/shop/?-c']) {
      const { body } = await copy.ask({ ...REQUEST, path, cookie: 'p=q.php' });
      expect(JSON.parse(body), path).toEqual([true, path]);
    }
  });

  it('has the configuration of a copy', async () => {
    await copy.put('wp-settings.php', text('<?php '));
    const defined = await json(
      '( function () { include "wp-config.php"; return array( DB_HOST !== "localhost", DB_PASSWORD, OWN, WP_DEBUG, DISABLE_WP_CRON, WP_HTTP_BLOCK_EXTERNAL, $table_prefix, strlen( AUTH_KEY ) ); } )()',
    );
    expect(defined).toEqual([true, expect.not.stringContaining('of the site'), "it's", false, true, true, 'wp_', 64]);
  });

  it('says what ended PHP, without paths of this machine', async () => {
    const { status, errors } = await page('<?php not_there();');
    expect(status).toBe(500);
    expect(errors.at(-1)).toMatch(
      /^PHP Fatal error: {2}Uncaught Error: Call to undefined function not_there\(\) in p\d+\.php:1/,
    );
  });

  it('is ended when it answers without end', async () => {
    const { body } = await page("<?php while ( true ) echo str_repeat( 'x', 100000 );");
    expect(body.length).toBeLessThan(9_000_000);
  });

  it('leaves nothing, and only one is used at a time', async () => {
    const free = await copies.turn(0, signal);
    expect(await copies.turn(0, signal)).toBeNull();
    free?.();
    await copy.close();
    expect(readdirSync(folder)).toEqual([]);
  });
}

describe('a copy on a small disk', needs('php-cgi', 'mariadb', 'a volume'), () => {
  it('is ended before it fills it', async () => {
    const volume = mountVolume('memory', 1_100);
    for (const path of [volume.folder, dirname(volume.folder)]) chmodSync(path, 0o755);
    try {
      const copies = createCopies({ folder: volume.folder, programs: null, playground: null, container: null });
      const copy = await copies.open(1_000, new AbortController().signal);
      const code =
        '<?php for ( $i = 0; $i < 8; $i++ ) file_put_contents( "f$i", str_repeat( \'x\', 80000000 ) ); while ( true ) sleep( 1 );';
      await copy.put(
        'index.php',
        (async function* () {
          yield Buffer.from(code);
        })(),
      );
      await expect(copy.ask(REQUEST)).rejects.toThrow('There is not enough space');
      await copy.close();
      expect(readdirSync(volume.folder)).toEqual([]);
    } finally {
      volume.close();
    }
  });
});
