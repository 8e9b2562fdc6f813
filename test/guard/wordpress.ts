/**
 * Real WordPress for tests: Debian's, over PHP's built-in server, on a private MariaDB without system service or
 * network. Everything is in one temporary folder; several sites share the database server and WordPress' own code.
 */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printedWord } from '../../src/domain/updates/safe/guard-code.js';
import { endProcess, freePort } from '../support/cleanup.js';
import { PHP } from '../support/php.js';
import { FPM, socketOf, startFpm } from './fpm.js';

const CORE = '/usr/share/wordpress';
/** Loaded on demand, and never needed by tests that ask for code alone: readers of feeds, media and XML-RPC, and screens of networks. */
const UNUSED = ['wp-includes/ID3', 'wp-includes/SimplePie', 'wp-includes/IXR', 'wp-admin/network', 'wp-admin/user'];
/** Far beyond any start, on a machine however busy: what does not start by then never will. */
const LONGEST_START_MS = 300_000;
export const GUARD_FILE = fileURLToPath(new URL('../../php/sitefleet-guard.php', import.meta.url));
/** What the tests with a real WordPress need. */
export const WORDPRESS = ['php', 'mariadb', 'wordpress'] as const;

/** PHP runs as an ordinary user, as on a real host: root could write to read-only folders. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export interface WordPressOptions {
  multisite?: boolean;
  /** Folder for wp-content; default: a folder of the site. */
  content?: string;
  /** Number of concurrent requests. */
  workers?: number;
  /**
   * WordPress' upgrader runs here: the site gets its own copy of WordPress' files, so that its maintenance mode does
   * not affect others.
   */
  updates?: boolean;
  /** PHP has a folder for temporary files, without which it reads no request of more than 16 KB. */
  temporary?: boolean;
  /** All PHP messages, including deprecations, go to a file: see `complaints`. */
  log?: boolean;
  /**
   * PHP reads what an earlier PHP of the host has compiled, with OPcache's usual look at the times of files. Not for a site on which a
   * file is replaced by another of the same time.
   */
  compiled?: boolean;
  /** Of the names of tables; default: `wp_`. */
  prefix?: string;
  /** A single site of the same host whose database is copied: cheaper than WordPress' installer. */
  like?: WordPress;
}

export class WordPressHost {
  readonly folder = mkdtempSync(join(tmpdir(), 'sitefleet-wordpress-'));
  readonly #core = join(this.folder, 'core');
  readonly #socket = join(this.folder, 'db.sock');
  #database: ReturnType<typeof spawn> | undefined;
  readonly #sites: WordPress[] = [];

  /**
   * @param files `code` = WordPress without its scripts, styles, pictures and unused parts: 950 files in place of 2,500, where
   * each is read again and again and no browser asks for them
   * @param options of the database server
   */
  async start({
    files = 'all',
    options: more = [],
  }: {
    files?: 'all' | 'code';
    options?: string[];
  } = {}): Promise<void> {
    chmodSync(this.folder, 0o755);
    mkdirSync(join(this.folder, 'compiled'));
    if (USER.uid !== undefined) chownSync(join(this.folder, 'compiled'), USER.uid, USER.gid);
    // Debian's scripts are links into other packages; its wp-content contains nothing we need.
    execFileSync('cp', ['-rL', CORE, this.#core]);
    execFileSync('rm', ['-rf', join(this.#core, 'wp-content'), join(this.#core, '.htaccess')]);
    if (files === 'code') {
      const names = ['js', 'css', 'scss', 'png', 'gif', 'svg'].flatMap((kind) => ['-o', '-name', `*.${kind}`]);
      execFileSync('find', [this.#core, '-type', 'f', '(', ...names.slice(1), ')', '-delete']);
      execFileSync('rm', ['-rf', ...UNUSED.map((folder) => join(this.#core, folder))]);
    }
    writeFileSync(join(this.#core, 'wp-config.php'), "<?php require getenv('TEST_SITE') . '/config.php';\n");
    // Without grant tables no rights are checked, and an empty folder is a database.
    mkdirSync(join(this.folder, 'db', 'mysql'), { recursive: true });
    const options = ['--skip-networking', '--skip-grant-tables', '--skip-log-bin', '--performance-schema=off'];
    const small = ['--innodb-buffer-pool-size=32M', '--innodb-flush-log-at-trx-commit=0'];
    const user = process.getuid?.() === 0 ? ['--user=root'] : [];
    const places = [`--datadir=${join(this.folder, 'db')}`, `--socket=${this.#socket}`];
    this.#database = spawn('mariadbd', ['--no-defaults', ...user, ...places, ...options, ...small, ...more], {
      stdio: 'ignore',
    });
    await until(() => this.sql('SELECT 1') === 0, 'MariaDB');
  }

  query(statements: string): string {
    return execFileSync(
      'mariadb',
      ['--no-defaults', '--default-character-set=utf8mb4', '-S', this.#socket, '-N', '-e', statements],
      {
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
      },
    );
  }

  sql(statement: string): number | null {
    return spawnSync('mariadb', ['--no-defaults', '-S', this.#socket, '-e', statement], { stdio: 'ignore' }).status;
  }

  /** Loads a file of statements, as a person does: `mariadb DATABASE < FILE`. */
  load(database: string, file: string): void {
    execFileSync('mariadb', ['--no-defaults', '-S', this.#socket, database], {
      stdio: [openSync(file, 'r'), 'pipe', 'pipe'],
    });
  }

  /** Runs statements on a connection that stays open; returns what ends it. */
  hold(statements: string): () => void {
    const client = spawn('mariadb', ['--no-defaults', '-S', this.#socket], { stdio: ['pipe', 'ignore', 'ignore'] });
    client.stdin.write(`${statements}\n`);
    return () => void client.kill('SIGKILL');
  }

  async site(name: string, options: WordPressOptions = {}): Promise<WordPress> {
    const port = await freePort();
    this.sql(`CREATE DATABASE ${name}`);
    const folder = join(this.folder, name);
    const core =
      options.updates === true ? this.#ownCore(name, options.content ?? join(folder, 'wp-content')) : this.#core;
    const site = new WordPress(core, folder, port, name, options);
    this.#sites.push(site);
    if (options.like !== undefined) this.#copyDatabase(options.like, site);
    site.install(`localhost:${this.#socket}`);
    await site.serve();
    return site;
  }

  /** The same files, hard-linked; only the folder itself is writable, and plugins' scripts and styles are served. */
  #ownCore(name: string, content: string): string {
    const core = join(this.folder, `${name}-core`);
    execFileSync('cp', ['-al', this.#core, core]);
    symlinkSync(content, join(core, 'wp-content'));
    if (USER.uid !== undefined) chownSync(core, USER.uid, USER.gid);
    return core;
  }

  #copyDatabase(from: WordPress, to: WordPress): void {
    const tables = this.query(`SHOW TABLES FROM ${from.database}`)
      .split('\n')
      .filter((table) => table !== '');
    const copies = tables.map(
      (table) =>
        `CREATE TABLE ${to.database}.${table} LIKE ${from.database}.${table}; INSERT INTO ${to.database}.${table} SELECT * FROM ${from.database}.${table};`,
    );
    const address = `UPDATE ${to.database}.wp_options SET option_value = '${to.url.replace(/\/$/, '')}' WHERE option_name IN ('siteurl', 'home')`;
    this.query([...copies, address].join('\n'));
  }

  async close(): Promise<void> {
    for (const site of this.#sites) site.stop();
    const database = this.#database;
    const died = database?.exitCode ?? database?.signalCode ?? null;
    if (database !== undefined) await endProcess(database, 'SIGKILL');
    execFileSync('rm', ['-rf', this.folder]);
    if (died !== null) throw new Error(`MariaDB ended before its sites did (${died}): what failed may be due to that.`);
  }
}

/** One site. The tests write its plugins themselves. */
export class WordPress {
  readonly url: string;
  readonly content: string;
  readonly core: string;
  readonly #folder: string;
  readonly #port: number;
  readonly #multisite: boolean;
  readonly #copied: boolean;
  readonly #workers: number;
  readonly #temporary: boolean;
  readonly #prefix: string;
  readonly #log: string;
  readonly #compiled: string;
  readonly #keepsCompiled: boolean;
  #servers: ChildProcess[] = [];
  #disabled = '';

  constructor(
    core: string,
    folder: string,
    port: number,
    readonly database: string,
    options: WordPressOptions,
  ) {
    this.core = core;
    this.#copied = options.like !== undefined;
    this.#workers = options.workers ?? 4;
    this.#temporary = options.temporary === true;
    this.#prefix = options.prefix ?? 'wp_';
    this.#keepsCompiled = options.compiled === true;
    this.#folder = folder;
    this.#port = port;
    this.#multisite = options.multisite === true;
    this.#log = options.log === true ? join(folder, 'php.log') : '';
    this.#compiled = join(dirname(folder), 'compiled');
    this.content = options.content ?? join(folder, 'wp-content');
    this.url = `http://127.0.0.1:${port}/`;
  }

  install(socket: string): void {
    for (const name of ['plugins', 'mu-plugins', 'themes/plain'])
      mkdirSync(join(this.content, name), { recursive: true });
    mkdirSync(this.#folder, { recursive: true });
    const page = (text: string) =>
      `<!doctype html><html><title>${text}</title><body>${text}<?php wp_footer(); ?></body></html>\n`;
    this.write('themes/plain/style.css', '/*\nTheme Name: Plain\nVersion: 1.0\n*/\n');
    this.write('themes/plain/index.php', page('Welcome'));
    this.write('themes/plain/404.php', page('Not here'));
    const log =
      this.#log &&
      `defined('WP_DEBUG') || define('WP_DEBUG', true); define('WP_DEBUG_DISPLAY', false); define('WP_DEBUG_LOG', '${this.#log}');`;
    writeFileSync(join(this.#folder, 'config.php'), config(this.content, socket, this.database, log, this.#prefix));
    if (!this.#copied) this.#runInstaller();
    if (this.#multisite) {
      this.php(
        `define('WP_INSTALLING', true); define('WP_ALLOW_MULTISITE', true);
        require '${this.core}/wp-load.php'; require ABSPATH . 'wp-admin/includes/upgrade.php';
        foreach ($wpdb->tables('ms_global') as $table => $name) $wpdb->$table = $name;
        install_network(); populate_network(1, '127.0.0.1:${this.#port}', 'admin@example.com', 'Network', '/', false);`,
      );
      const network = `define('WP_ALLOW_MULTISITE', true); define('MULTISITE', true); define('SUBDOMAIN_INSTALL', false);
        define('DOMAIN_CURRENT_SITE', '127.0.0.1:${this.#port}'); define('PATH_CURRENT_SITE', '/');
        define('SITE_ID_CURRENT_SITE', 1); define('BLOG_ID_CURRENT_SITE', 1);`;
      writeFileSync(
        join(this.#folder, 'config.php'),
        config(this.content, socket, this.database, log + network, this.#prefix),
      );
      // WordPress has made every administrator a network administrator.
      this.wp("update_site_option('site_admins', array('admin'));");
    }
    if (USER.uid !== undefined)
      execFileSync('chown', ['-R', `${USER.uid}:${USER.gid}`, this.#folder, realpathSync(this.content)]);
  }

  #runInstaller(): void {
    this.php(
      `define('WP_INSTALLING', true); require '${this.core}/wp-load.php'; require ABSPATH . 'wp-admin/includes/upgrade.php';
      add_filter('pre_wp_mail', '__return_true');
      wp_install('Test', 'admin', 'admin@example.com', true, '', 'secret');
      update_option('siteurl', rtrim('${this.url}', '/')); update_option('home', rtrim('${this.url}', '/'));
      update_option('template', 'plain'); update_option('stylesheet', 'plain'); update_option('permalink_structure', '/%postname%/');
      wp_insert_user(array('user_login' => 'second', 'user_pass' => 'x', 'role' => 'administrator'));
      wp_insert_user(array('user_login' => 'edith', 'user_pass' => 'x', 'role' => 'editor'));`,
    );
  }

  /** Runs code on the command line: plain PHP; use `wp` to run inside WordPress. */
  php(code: string): string {
    const host = `$_SERVER['HTTP_HOST'] = '127.0.0.1:${this.#port}'; $_SERVER['REQUEST_URI'] = '/'; $_SERVER['REQUEST_METHOD'] = 'GET';`;
    // A process has nothing compiled yet, and WordPress is the same in each: reading it compiled takes a third of the time.
    // What was compiled for one set of functions crashes with another.
    const compiled =
      this.#disabled === ''
        ? ['opcache.enable_cli=1', 'opcache.file_cache_only=1', `opcache.file_cache=${this.#compiled}`]
        : [];
    const settings = ['display_errors=stderr', `disable_functions=${this.#disabled}`, ...compiled].flatMap((one) => [
      '-d',
      one,
    ]);
    return execFileSync(PHP, ['-n', ...extensions(), ...settings, '-r', `${host} ${code}`], {
      env: { ...process.env, TEST_SITE: this.#folder },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      ...USER,
    });
  }

  /** Runs code inside WordPress without its plugins, so that it works while one is fatal. */
  wp(code: string): string {
    return this.php(`define('WP_INSTALLING', true); require '${this.core}/wp-load.php'; ${code}`);
  }

  /**
   * `confined` = PHP may open nothing outside the site (`open_basedir`). `timestamps: false` = PHP never checks whether
   * a compiled file has changed, as on busy hosts. `breaks`: at the first MB of a file that it writes PHP is killed, or told that the disk
   * is full. `disabled`: functions that PHP does not have here from now on, names with commas between.
   */
  async serve({
    timestamps = true,
    confined = false,
    temporary = this.#temporary,
    breaks = '',
    disabled = '',
  }: {
    timestamps?: boolean;
    confined?: boolean;
    temporary?: boolean;
    breaks?: '' | 'killed' | 'full';
    disabled?: string;
  } = {}): Promise<void> {
    this.#disabled = disabled;
    // Killed workers may still hold the port.
    await until(async () => !(await listens(this.#port)), 'the end of PHP');
    const limits = ['display_errors=0', 'memory_limit=96M', 'max_execution_time=20'];
    const cache = [
      'opcache.enable=1',
      'opcache.revalidate_freq=0',
      `opcache.validate_timestamps=${timestamps ? 1 : 0}`,
      ...(this.#keepsCompiled && timestamps ? [`opcache.file_cache=${this.#compiled}`] : []),
    ];
    const folders = [this.core, realpathSync(this.content), this.#folder].join(':');
    const temp = temporary ? [`sys_temp_dir=${this.#compiled}`] : [];
    const settings = [
      ...limits,
      ...cache,
      ...temp,
      ...(confined ? [`open_basedir=${folders}`] : []),
      `disable_functions=${disabled}`,
    ];
    const args = ['-n', ...extensions(), ...settings.flatMap((one) => ['-d', one])];
    const env = { ...process.env, TEST_SITE: this.#folder, PHP_CLI_SERVER_WORKERS: String(this.#workers) };
    const place = { folder: this.#folder, root: this.core, port: this.#port, workers: this.#workers };
    const limit = `ulimit -c 0; ulimit -f 2000; ${breaks === 'full' ? "trap '' XFSZ; " : ''}exec "$0" "$@"`;
    const [program, ...before] = breaks === '' ? [PHP] : ['sh', '-c', limit, PHP];
    this.#servers =
      FPM === ''
        ? [
            spawn(program as string, [...before, ...args, '-S', `127.0.0.1:${this.#port}`, '-t', this.core], {
              env,
              stdio: 'ignore',
              detached: true,
              ...USER,
            }),
          ]
        : startFpm({ ...place, args, env, user: USER });
    const places = FPM === '' ? [this.#port] : [this.#port, socketOf(this.#folder)];
    await until(async () => (await Promise.all(places.map(listens))).every(Boolean), 'PHP');
  }

  /** Kills PHP and all its workers at once, even if busy. */
  stop(): void {
    for (const { pid } of this.#servers) {
      try {
        if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      } catch {
        // It has already exited.
      }
    }
    this.#servers = [];
  }

  /** Writes a file below wp-content, as the user that PHP runs as. */
  write(name: string, text: string | Buffer): void {
    this.writeAll({ [name]: text });
  }

  writeAll(files: Readonly<Record<string, string | Buffer>>): void {
    for (const [name, text] of Object.entries(files)) {
      const path = join(this.content, name);
      for (
        let made = mkdirSync(dirname(path), { recursive: true }), at = dirname(path);
        made !== undefined;
        at = dirname(at)
      ) {
        this.#own(at);
        if (at === made) break;
      }
      writeFileSync(path, text);
      this.#own(path);
    }
  }

  #own(path: string): void {
    if (USER.uid !== undefined) chownSync(path, USER.uid, USER.gid);
  }

  activate(...plugins: string[]): void {
    const names = plugins.map((name) => `'${name}'`).join(',');
    this.wp(
      this.#multisite
        ? `update_site_option('active_sitewide_plugins', array_fill_keys(array(${names}), 1));`
        : `update_option('active_plugins', array(${names}));`,
    );
  }

  /** Installs the guard; `login` = as an owner who allows logins by token. */
  installGuard(login = false): void {
    const text = readFileSync(GUARD_FILE, 'utf8');
    const allowed = text.replace("'SITEFLEET_GUARD_LOGIN', false", "'SITEFLEET_GUARD_LOGIN', true");
    if (allowed === text) throw new Error('the guard has lost its setting for logins');
    this.write('mu-plugins/sitefleet-guard.php', login ? allowed : text);
  }

  /** PHP's messages about a file: warnings, notices, deprecations. */
  complaints(file: string): string[] {
    if (this.#log === '') throw new Error('this site keeps no log');
    const lines = existsSync(this.#log) ? readFileSync(this.#log, 'utf8').split('\n') : [];
    return lines.filter((line) => line.includes(`${file} on line`));
  }

  /** As the child plugin stores its connection. */
  trust(publicKey: string, admin = 'admin'): void {
    const stored = Buffer.from(publicKey).toString('base64');
    this.wp(
      `update_option('mainwp_child_pubkey', '${stored}'); update_option('mainwp_child_connected_admin', '${admin}');`,
    );
  }

  /** Has the site run the programs that install the guard, as this user; returns the word of the last one. */
  runInstaller(programs: readonly string[], user: string): string {
    let word = '';
    for (const program of programs) {
      word = printedWord(this.wp(`wp_set_current_user(get_user_by('login', '${user}')->ID); ${program}`));
      if (word !== 'next') break;
    }
    this.#own(join(this.content, 'mu-plugins/sitefleet-guard.php'));
    return word;
  }
}

function config(content: string, socket: string, database: string, more: string, prefix: string): string {
  return `<?php
if (is_file('${content}/flags.php')) require '${content}/flags.php';
define('DB_NAME', '${database}'); define('DB_USER', 'root'); define('DB_PASSWORD', ''); define('DB_HOST', '${socket}');
define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', ''); define('FS_METHOD', 'direct'); define('DISABLE_WP_CRON', true);
define('WP_CONTENT_DIR', '${content}'); define('AUTOMATIC_UPDATER_DISABLED', true); define('WP_HTTP_BLOCK_EXTERNAL', true);
foreach (array('AUTH_KEY','SECURE_AUTH_KEY','LOGGED_IN_KEY','NONCE_KEY','AUTH_SALT','SECURE_AUTH_SALT','LOGGED_IN_SALT','NONCE_SALT') as $name)
  define($name, hash('sha256', "$name of the tests"));
${more}
$table_prefix = '${prefix}';
defined('ABSPATH') || define('ABSPATH', dirname($_SERVER['SCRIPT_FILENAME'] ?? '') . '/');
require_once ABSPATH . 'wp-settings.php';
`;
}

let loaded: string[] | undefined;

/** Determined once. */
function extensions(): string[] {
  loaded ??= findExtensions();
  return loaded;
}

/**
 * Only the extensions WordPress and the guard need, so that no setting of this machine matters, and half of the time of a
 * start is saved. In PHP 7 JSON is an extension.
 */
function findExtensions(): string[] {
  const folder = execFileSync(PHP, ['-r', 'echo ini_get("extension_dir");'], { encoding: 'utf8' });
  const names = ['mysqlnd', 'mysqli', 'tokenizer', 'ctype', 'mbstring', 'json'].filter((name) =>
    existsSync(join(folder, `${name}.so`)),
  );
  const opcache = existsSync(join(folder, 'opcache.so')) ? ['-d', 'zend_extension=opcache'] : [];
  return ['-d', `extension_dir=${folder}`, ...opcache, ...names.flatMap((name) => ['-d', `extension=${name}`])];
}

/** Whether a port on loopback, or a socket given by its path, accepts connections. */
function listens(place: number | string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = typeof place === 'string' ? connect(place) : connect(place, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function until(ready: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + LONGEST_START_MS;
  while (!(await ready())) {
    if (Date.now() > deadline) throw new Error(`${what} did not start within ${LONGEST_START_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
