/** Updates of plugins and themes that break a site, each in another way, and harmless ones, some with large changes. */

import { plugin } from './tools.js';
import type { WordPress } from './wordpress.js';

export const NEW_VERSION = '2.0';

export type Files = Record<string, string | Buffer>;

/** One kind of update. Omitted members are as in an ordinary plugin. */
export interface Kind {
  name: string;
  /** Default: plugin; `single` = a plugin of one file. */
  what?: 'plugin' | 'theme' | 'single';
  /** Default 2.0. All themes share one slug, so each has its own version. */
  version?: string;
  /** PHP in the main file of the old version, 1.0, and of the new one. */
  old?: string;
  code?: string;
  /** Files beside the main file of 2.0, relative to its folder. For a theme: all but style.css. */
  files?: Files;
  /** The package of 2.0 where it is not simply these files, by path in the archive. */
  pack?: (files: Files, folder: string) => Files;
  cut?: boolean;
  /** Other plugins of the site: slug → PHP. */
  others?: Record<string, string>;
  inactive?: boolean;
  paths?: string[];
  on_suspect?: 'roll_back';
  /** Address that another visitor requests repeatedly meanwhile. */
  visited?: string;
  /** PHP is killed at this step of WordPress' upgrader. */
  killed?: string;
  killedRestoring?: boolean;
  /** PHP is killed this many milliseconds after the call began. */
  killedAfter?: number;
  /** The disk becomes full at this step. The site is on a small disk. */
  full?: string;
  /**
   * Default: reported as a version that broke the site. `failed` = as an update that was not installed, so nothing is
   * held back.
   */
  ends?: 'failed' | 'either';
  /** Its slug afterwards, under which it is inactive: that is reported, and nothing is undone. */
  renamed?: (slug: string) => string;
  /**
   * `hidden` = its plugin removes the end tags from all pages that Sitefleet gets of the site. `missing` = its update loses the
   * end of the page, which cannot be noticed where it is hidden: never both on one site.
   */
  end?: 'hidden' | 'missing';
  /** Seconds that the site hangs: slow kinds are started first. */
  slow?: number;
}

export const on = (hook: string, code: string) => `add_action( '${hook}', function () { ${code} } );`;
/** Changes the page that visitors get. */
const page = (code: string) => on('template_redirect', `ob_start( function ( $page ) { ${code} } );`);
const many = (count: number, bytes: number): Files =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`data/${i}.txt`, Buffer.alloc(bytes, `${i} `)]));

export const THEME_PAGE = `<!doctype html>
<html><head><title>Shop of the tests</title><?php wp_head(); ?></head>
<body><h1>Welcome</h1><p>Here stand some words about apples, pears, cherries, plums and quinces, about baskets, ladders and
orchards, and about autumn mornings when the fruit is picked, sorted, washed, pressed and bottled by people in wellingtons.</p>
<?php wp_footer(); ?></body></html>
`;

const FATAL = 'removed_function();';
/** Pages of wp-admin that logged-in users see. */
const IN_ADMIN = 'if ( ! wp_doing_ajax() && is_user_logged_in() ) {';

/** HTML needs no end tags of the page itself. Only for Sitefleet: whether a site is well is told by its end tag. */
const OPEN_ENDED =
  "if ( isset( $_GET['sitefleet'] ) ) $page = str_replace( array( '<body>', '</body>', '</html>', '</p>' ), array( '<body><div><main>', '', '', '</p></main></div>' ), $page );";

/** A form in which visitors write, on every page. */
const form = (
  id: string,
  { fields = '<input name="your-name"><textarea name="text"></textarea>', button = '<button>Send</button>' } = {},
) => on('wp_footer', `?><form id="${id}" method="post">${fields}${button}</form><?php`);
const MENU = on('wp_footer', '?><nav><a href="/?p=1">One</a> <a href="/?page_id=2">Two</a></nav><?php');
const route = (space: string) =>
  on(
    'rest_api_init',
    `register_rest_route( '${space}', '/x', array( 'methods' => 'GET', 'callback' => '__return_true', 'permission_callback' => '__return_true' ) );`,
  );

/** The sandbox refuses it, in every version. */
const STORES = `add_option( 'k2_seen', 1 ); ${on('admin_init', "update_option( 'k2_seen', microtime() );")}`;
const widget = (code: string) =>
  on('wp_dashboard_setup', `wp_add_dashboard_widget( 'k2', 'Sales', function () { ${code} } );`);

export const BAD: readonly Kind[] = [
  { name: 'hangs for half a minute', code: on('init', 'sleep( 30 );'), slow: 30 },
  { name: 'is slow by 10 s', code: on('template_redirect', 'sleep( 10 );'), slow: 25 },
  { name: 'PHP killed while it unpacks', ends: 'failed', killed: 'upgrader_source_selection', slow: 25 },
  { name: 'PHP killed when the old version is gone', ends: 'failed', killed: 'upgrader_clear_destination', slow: 25 },
  {
    name: 'PHP killed during the rollback',
    code: FATAL,
    files: many(1_500, 400),
    killedRestoring: true,
    // A guard that is killed while acting on its own has not recorded the reason.
    ends: 'either',
    slow: 15,
  },
  { name: 'endless loop', code: on('init', 'set_time_limit( 1 ); while ( true ) { $x = 1; }'), slow: 12 },
  { name: 'disk full while it unpacks', full: 'upgrader_pre_download', ends: 'failed', slow: 10 },
  {
    name: 'disk full when the old version is gone',
    code: FATAL,
    files: many(30, 20_000),
    full: 'upgrader_clear_destination',
    ends: 'failed',
    slow: 10,
  },
  {
    name: 'missing stylesheet',
    code: on('wp_enqueue_scripts', "wp_enqueue_style( 'new', plugins_url( 'gone.css', __FILE__ ) );"),
    on_suspect: 'roll_back',
  },
  {
    name: 'fatal only on one page',
    code: on('template_redirect', `if ( is_single() ) { ${FATAL} }`),
    paths: ['hello-world/'],
  },
  {
    name: 'fatal only in a widget of the dashboard, in which all versions are refused something',
    old: STORES,
    code: STORES + widget(FATAL),
  },
  { name: 'fatal only on the login page', code: on('login_init', FATAL) },
  { name: 'output before the headers', code: 'echo "debug\\n"; flush();' },
  {
    name: 'half of the text is gone',
    code: page("return preg_replace( '#<p>.*</p>#s', '', $page );"),
    on_suspect: 'roll_back',
  },
  { name: 'fatal on load', code: FATAL },
  { name: 'parse error', code: '$x = ;' },
  { name: 'error of the compiler', code: 'class K2_A {} class K2_A {}' },
  { name: 'fatal only on the front page', code: on('template_redirect', `if ( is_home() ) { ${FATAL} }`) },
  { name: 'fatal only in admin', code: `if ( is_admin() ) { ${FATAL} }` },
  { name: 'exception after output began', code: on('wp_footer', "flush(); throw new RuntimeException( 'late' );") },
  { name: 'exit on load', code: 'exit;' },
  {
    name: 'endless redirect',
    code: on('template_redirect', "wp_redirect( add_query_arg( 'again', uniqid() ) ); exit;"),
  },
  {
    name: 'redirects to another site',
    code: on('template_redirect', "wp_redirect( 'https://elsewhere.invalid/' ); exit;"),
  },
  { name: 'memory hog', code: on('init', "str_repeat( 'x', 500000000 );") },
  { name: 'empty page with 200', code: page("return '';") },
  { name: 'page without its end', end: 'missing', code: on('wp_footer', 'exit;') },
  {
    name: 'front page is not found',
    code: on('template_redirect', 'global $wp_query; $wp_query->set_404(); status_header( 404 );'),
  },
  { name: 'locks visitors out', code: on('template_redirect', "if ( ! is_user_logged_in() ) wp_die( 'No', 403 );") },
  { name: 'for ever in maintenance', code: on('template_redirect', "wp_die( 'Soon', 503 );") },
  {
    name: 'database error with 200',
    code: page("return '<!doctype html><html><body><h1>Error establishing a database connection</h1></body></html>';"),
  },
  { name: 'keeps the child plugin from answering', code: on('init', "remove_all_actions( 'init' );") },
  {
    name: 'without a main file',
    pack: (files, folder) =>
      Object.fromEntries(Object.entries(files).filter(([path]) => path !== `${folder}/${folder}.php`)),
    ends: 'failed',
  },
  {
    name: 'its folder has another name',
    pack: (files, folder) =>
      Object.fromEntries(
        Object.entries(files).map(([path, text]) => [path.replace(`${folder}/`, `${folder}-main/`), text]),
      ),
  },
  {
    name: 'switches itself off',
    code: on(
      'init',
      "require_once ABSPATH . 'wp-admin/includes/plugin.php'; deactivate_plugins( plugin_basename( __FILE__ ) );",
    ),
  },
  {
    name: 'a function that another plugin calls is gone',
    old: 'function k2_helper() {}',
    others: { caller: on('init', 'k2_helper();') },
  },
  {
    name: 'fatal in another plugin that it calls',
    code: on('init', "array_map( 'k2_typed', array( 'x' ) );"),
    others: { called: 'function k2_typed( int $n ) { return $n; }' },
  },
  // Seen only by the text and the structure, or on other pages than the front page.
  {
    name: 'blank page of a theme without end tags',
    end: 'hidden',
    old: page(`${OPEN_ENDED} return $page;`),
    code: page(`${OPEN_ENDED} return is_home() ? '<!doctype html><title>Shop of the tests</title>' : $page;`),
  },
  {
    name: 'page cut off, of a theme without end tags',
    end: 'hidden',
    old: page(`${OPEN_ENDED} return $page;`),
    code: page(`${OPEN_ENDED} return is_home() ? strstr( $page, 'cherries', true ) : $page;`),
  },
  {
    name: 'deprecations before every page',
    code: "ini_set( 'display_errors', '1' ); error_reporting( E_ALL ); trigger_error( 'old', E_USER_DEPRECATED );",
  },
  {
    name: 'warnings in the head',
    code: on('wp_head', "ini_set( 'display_errors', '1' ); trigger_error( 'beware', E_USER_WARNING );"),
  },
  { name: 'fatal on every post, which nobody named', code: on('template_redirect', `if ( is_single() ) { ${FATAL} }`) },
  { name: 'fatal on every page, which nobody named', code: on('template_redirect', `if ( is_page() ) { ${FATAL} }`) },
  { name: 'fatal in archives', code: on('template_redirect', `if ( is_category() ) { ${FATAL} }`) },
  { name: 'fatal in the search', code: on('template_redirect', `if ( is_search() ) { ${FATAL} }`) },
  { name: 'fatal where nothing is found', code: on('template_redirect', `if ( is_404() ) { ${FATAL} }`) },
  { name: 'fatal in the feed', code: on('rss2_head', FATAL) },
  { name: 'feed that ends in the middle', code: on('rss2_head', 'exit;') },
  { name: 'fatal in the REST interface', code: on('rest_api_init', FATAL) },
  { name: 'words before all data of REST', code: on('rest_api_init', "echo 'debug';") },
  { name: 'fatal on phones', code: on('template_redirect', `if ( wp_is_mobile() ) { ${FATAL} }`) },
  { name: 'keeps search engines away', code: "add_filter( 'wp_robots', 'wp_robots_no_robots' );" },
  {
    name: 'one request in three fails',
    code: on(
      'template_redirect',
      "$n = (int) get_option( 'nth' ) + 1; update_option( 'nth', $n ); if ( $n % 3 === 0 ) wp_die( 'No', 500 );",
    ),
  },
  // Seen only by logged-in users.
  { name: 'fatal on the dashboard', code: on('wp_dashboard_setup', FATAL) },
  { name: 'blank dashboard', code: on('load-index.php', 'exit;') },
  { name: 'wp-admin ends in the middle', code: on('in_admin_header', 'exit;') },
  {
    name: 'wp-admin asks for a login for ever',
    code: on('admin_init', `${IN_ADMIN} wp_redirect( wp_login_url() ); exit; }`),
  },
  { name: 'fatal in the editor', code: on('enqueue_block_editor_assets', FATAL) },
  {
    name: 'editor without its script',
    // Other scripts need what it needs.
    code: on('admin_footer', "wp_deregister_script( 'wp-edit-post' ); wp_enqueue_script( 'wp-core-data' );"),
  },
  {
    name: 'fatal for logged-in visitors',
    code: on('template_redirect', `if ( is_user_logged_in() ) { ${FATAL} }`),
  },
  {
    name: 'admin-ajax.php is dead for logged-in users',
    code: on('admin_init', 'if ( wp_doing_ajax() && is_user_logged_in() ) exit;'),
  },
  {
    name: 'admin-ajax.php is dead for visitors',
    code: on('init', `if ( wp_doing_ajax() && ! is_user_logged_in() ) { ${FATAL} }`),
  },
  {
    name: 'REST interface fails for logged-in users',
    code: `add_filter( 'rest_prepare_user', function () { ${FATAL} } );`,
  },
  {
    name: 'refuses right passwords',
    code: "add_filter( 'authenticate', fn() => new WP_Error( 'no', 'No' ), 99 );",
  },
  // Parts of a page that works otherwise.
  { name: 'takes the button from a form', old: form('form-a'), code: form('form-a', { button: '' }) },
  {
    name: 'takes the button from the login',
    code: on('login_init', "ob_start( fn( $page ) => preg_replace( '#<input type=\"submit\"[^>]*>#', '', $page ) );"),
  },
  { name: 'removes a form', old: form('form-b'), on_suspect: 'roll_back' },
  {
    name: 'removes a field of a form',
    old: form('form-c'),
    code: form('form-c', { fields: '<input name="your-name"><input name="phone">' }),
    on_suspect: 'roll_back',
  },
  { name: 'removes the menu', old: MENU, on_suspect: 'roll_back' },
  { name: 'removes a part of the REST interface', old: route('k2-part/v1'), on_suspect: 'roll_back' },
  {
    name: 'names another site as the canonical one',
    code: "add_filter( 'get_canonical_url', fn() => 'https://elsewhere.example/' );",
    on_suspect: 'roll_back',
  },
  {
    name: 'loads a script of a stranger',
    code: on('wp_head', 'echo \'<script src="https://stranger.example/x.js"></script>\';'),
    on_suspect: 'roll_back',
  },
  {
    name: 'keeps search engines away by a header',
    code: "add_filter( 'wp_headers', fn( $all ) => array( 'X-Robots-Tag' => 'noindex' ) + $all );",
  },
  {
    name: 'no post is found any more',
    code: on(
      'template_redirect',
      'if ( is_single() ) { global $wp_query; $wp_query->set_404(); status_header( 404 ); }',
    ),
  },
  { name: 'needs a newer PHP', code: '$size = "abc" |>| strlen( ... );' },
  {
    name: 'fatal in a task that runs meanwhile',
    code: on('init', `if ( wp_doing_cron() ) { ${FATAL} }`),
    visited: 'wp-cron.php',
  },
  { name: 'half a package', cut: true, ends: 'failed' },
  {
    name: 'theme with a fatal error',
    what: 'theme',
    files: { 'index.php': THEME_PAGE, 'functions.php': `<?php ${FATAL}` },
  },
  { name: 'theme with an empty page', what: 'theme', version: '2.1', files: { 'index.php': '<?php\n' } },
];

/** Updates during which PHP is killed at a random moment; every other version is a bad one. */
export function killedAnywhere(count: number, next: () => number): Kind[] {
  return Array.from({ length: count }, (_, i) => ({
    name: `PHP killed at any moment, ${i + 1}`,
    ...(i % 2 === 0 ? { code: FATAL } : {}),
    files: many(800, 400),
    // Two checks, 3 s apart, come first; then snapshot, update, checks, restore.
    killedAfter: 3_000 + next() * 6_000,
    slow: 25,
  }));
}

function moved(files: Files, from: string, to: string): Files {
  const { [from]: text = '', ...others } = files;
  return { ...others, [to]: text };
}

const NOISE =
  "<p>' . implode( ' ', array_map( fn() => chr( mt_rand( 97, 122 ) ) . uniqid(), range( 1, 40 ) ) ) . '</p>";

export const GOOD: readonly Kind[] = [
  { name: 'nothing that shows' },
  { name: 'big', files: many(1_500, 3_000) },
  {
    name: 'changed text',
    code: page(
      "return str_replace( array( 'apples', 'pears', 'cherries' ), array( 'figs', 'dates', 'grapes' ), $page );",
    ),
  },
  { name: 'more text', code: on('wp_footer', "echo '<p>', str_repeat( 'much more to read ', 200 ), '</p>';") },
  { name: 'a quarter less text', code: page("return preg_replace( '# and about autumn.*wellingtons#s', '', $page );") },
  {
    name: 'new script',
    code: on('wp_enqueue_scripts', "wp_enqueue_script( 'good', plugins_url( 'new.js', __FILE__ ) );"),
    files: { 'new.js': 'var good = 1;' },
  },
  {
    name: 'new stylesheet',
    code: on('wp_enqueue_scripts', "wp_enqueue_style( 'good', plugins_url( 'new.css', __FILE__ ), array(), '2.0' );"),
    files: { 'new.css': 'p { color: green }' },
  },
  {
    name: 'another main file beside the old one',
    files: { 'more.php': '<?php\n/*\nPlugin Name: More\nVersion: 1.0\n*/\n' },
  },
  {
    name: 'slow first request',
    code: on('init', "if ( ! get_option( 'warm' ) ) { update_option( 'warm', 1 ); sleep( 4 ); }"),
  },
  {
    name: 'its first request fails',
    code: on('init', "if ( ! get_option( 'once' ) ) { update_option( 'once', 1 ); status_header( 503 ); exit; }"),
  },
  { name: 'title changed on purpose', code: page("return str_replace( 'Shop of the tests', 'Orchard', $page );") },
  {
    name: 'moves its data for 12 s and says so',
    code: on(
      'template_redirect',
      "add_option( 'moving', time() ); if ( time() < get_option( 'moving' ) + 12 ) { header( 'Retry-After: 60' ); wp_die( 'Moving', 503 ); }",
    ),
  },
  {
    name: 'sends visitors to their language',
    code: on(
      'template_redirect',
      "if ( is_home() && isset( $_GET['sitefleet'] ) && ! isset( $_GET['lang'] ) ) { wp_redirect( home_url( '/?lang=en' ) ); exit; }",
    ),
  },
  {
    name: 'moves the login page',
    code: on('login_init', "if ( ! isset( $_GET['door'] ) ) { status_header( 404 ); exit; }"),
  },
  {
    name: 'shows a cookie banner',
    code: on(
      'wp_footer',
      'echo \'<div class="cookies"><p>We use cookies.</p><a href="https://cookies.example/">More</a></div><script src="https://cookies.example/b.js"></script>\';',
    ),
  },
  {
    name: 'shows a welcome page once',
    code: on(
      'init',
      "if ( ! wp_doing_ajax() && add_option( 'welcomed', 1 ) ) { wp_redirect( home_url( '/sample-page/' ) ); exit; }",
    ),
  },
  {
    name: 'switches itself off and on again',
    code: on(
      'init',
      "if ( add_option( 'again', 1 ) ) { require_once ABSPATH . 'wp-admin/includes/plugin.php'; deactivate_plugins( plugin_basename( __FILE__ ) ); activate_plugin( plugin_basename( __FILE__ ) ); }",
    ),
  },
  { name: 'behind a page cache', others: { cache: pageCache() }, code: on('wp_footer', "echo 'two';") },
  {
    name: 'page is never the same',
    old: on('wp_footer', `echo '${NOISE}';`),
    code: on('wp_footer', `echo '${NOISE}';`),
  },
  {
    name: 'warnings and notices',
    code: 'trigger_error( "old", E_USER_DEPRECATED ); trigger_error( "beware", E_USER_WARNING ); $a = $undefined_k2 ?? $GLOBALS["nothing_k2"];',
  },
  {
    name: 'moves its tables',
    code: on(
      'init',
      "global $wpdb; if ( ! get_option( 'moved' ) ) { $wpdb->query( 'CREATE TABLE ' . $wpdb->prefix . 'good ( id int )' ); update_option( 'moved', 1 ); }",
    ),
  },
  {
    name: 'a fatal error that was there before',
    old: `if ( isset( $_GET['rare'] ) ) { ${FATAL} }`,
    code: `if ( isset( $_GET['rare'] ) ) { ${FATAL} }`,
    visited: '?rare=1',
  },
  {
    name: 'an import that runs out of memory',
    code: on('init', "if ( isset( $_GET['import'] ) ) str_repeat( 'x', 500000000 );"),
    visited: '?import=1',
  },
  {
    name: 'fails at what a visitor sends, and at nothing else',
    code: on('init', `if ( isset( $_GET['odd'] ) ) { ${FATAL} }`),
    visited: '?odd=1',
  },
  { name: 'inactive, and it would not even load', inactive: true, code: FATAL },
  { name: 'catches its own exception', code: on('init', 'try { removed_function(); } catch ( Error $e ) { return; }') },
  {
    name: 'redirects its own old address',
    code: on('template_redirect', "if ( isset( $_GET['old'] ) ) { wp_redirect( home_url( '/' ) ); exit; }"),
  },
  { name: 'packs the page', code: page("return preg_replace( '/\\s+/', ' ', $page );") },
  { name: 'talks about errors', code: on('wp_footer', "echo '<p>What a Fatal error or a Parse error is</p>';") },
  { name: 'changes the login page', code: "add_filter( 'login_message', fn() => '<p>Good morning</p>' );" },
  { name: 'more headers and cookies', code: on('send_headers', "header( 'X-Good: 1' ); setcookie( 'good', '1' );") },
  { name: 'names beyond ASCII', files: { 'ä ö/ü – 1.txt': 'x', '日本.txt': 'y' } },
  {
    name: 'shows administrators a welcome page once',
    code: `add_option( 'k2_welcome', 1 ); ${on('admin_init', `${IN_ADMIN} if ( get_option( 'k2_welcome' ) ) { update_option( 'k2_welcome', 0 ); wp_safe_redirect( admin_url( 'admin.php?page=k2' ) ); exit; } }`)}`,
  },
  {
    name: 'shows a notice in wp-admin',
    code: on(
      'admin_notices',
      'echo \'<div class="notice"><p>Now with more: <a href="https://more.example/">read</a></p></div>\';',
    ),
  },
  {
    name: 'adds a dashboard widget',
    code: on(
      'wp_dashboard_setup',
      "wp_add_dashboard_widget( 'k2', 'Sales', function () { echo '<p>None today</p>'; } );",
    ),
  },
  { name: 'renames a menu', code: on('admin_menu', "global $menu; $menu[5][0] = 'News'; unset( $menu[10] );") },
  {
    name: 'asks for a second factor, and hides the login',
    code: `${on('wp_login', "wp_redirect( home_url( '/?code' ) ); exit;")} ${on('init', "if ( false !== strpos( $_SERVER['REQUEST_URI'], 'wp-login.php' ) && ! isset( $_GET['door'] ) ) { status_header( 404 ); exit; }")}`,
  },
  { name: 'turns the heartbeat off', code: on('init', "wp_deregister_script( 'heartbeat' );") },
  { name: 'hides the toolbar', code: "add_filter( 'show_admin_bar', '__return_false' );" },
  {
    name: 'stores something at every visit of wp-admin',
    code: on('admin_init', "update_option( 'k2_seen', microtime() );"),
  },
  {
    name: 'upgrades its data in wp-admin, and needs it there',
    code: on(
      'admin_init',
      `if ( ! get_option( 'k2_data' ) ) update_option( 'k2_data', 2 ); if ( ! get_option( 'k2_data' ) ) { ${FATAL} }`,
    ),
  },
  {
    name: 'stops in wp-admin where it can store nothing',
    code: on(
      'admin_init',
      `${IN_ADMIN} if ( ! get_option( 'k2_made' ) && ! add_option( 'k2_made', 1 ) ) { ${FATAL} } }`,
    ),
  },
  {
    name: 'stops in a widget of the dashboard where it can store nothing',
    code: widget(
      `if ( is_user_logged_in() && ! get_option( 'k2_sales' ) && ! add_option( 'k2_sales', 1 ) ) { ${FATAL} }`,
    ),
  },
  {
    name: 'form with one more field',
    old: form('form-d'),
    code: form('form-d', { fields: '<input name="your-name"><input name="phone"><textarea name="text"></textarea>' }),
  },
  {
    name: 'form with another button',
    old: form('form-e'),
    code: form('form-e', { button: '<input type="submit" value="Off it goes">' }),
  },
  { name: 'form with another id', old: form('form-f'), code: form('form-other') },
  { name: 'second version of its REST interface', old: route('k2-other/v1'), code: route('k2-other/v2') },
  // Like WordPress' own first plugin: its package has a folder, and it is not active afterwards.
  {
    name: 'plugin of one file moves into a folder',
    what: 'single',
    renamed: (slug) => `${slug.replace('.php', '')}/${slug}`,
  },
  {
    name: 'its main file has another name',
    pack: (files, folder) => moved(files, `${folder}/${folder}.php`, `${folder}/main.php`),
    renamed: (slug) => slug.replace(/[^/]+$/, 'main.php'),
  },
  { name: 'PHP killed when all is done', killed: 'answer', slow: 12 },
  {
    name: 'theme in new clothes',
    what: 'theme',
    version: '2.2',
    files: { 'index.php': THEME_PAGE.replace('<h1>', '<header><h1>').replace('</h1>', '</h1></header>'), 'new.js': '' },
  },
];

/** Caches whole pages, as cache plugins do: for addresses without parameters. */
function pageCache(): string {
  return `if ( empty( $_GET ) && empty( $_POST ) && ! is_admin() ) {
    $copy = WP_CONTENT_DIR . '/cache-' . md5( $_SERVER['REQUEST_URI'] ) . '.html';
    if ( is_file( $copy ) ) { readfile( $copy ); exit; }
    ob_start( function ( $page ) use ( $copy ) { file_put_contents( $copy, $page ); return $page; } );
  }`;
}

/** The name as `a-b-c`. */
export function folderOf({ name }: Kind): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

/** The slug WordPress uses for the item. */
export function slugOf(kind: Kind): string {
  if (kind.what === 'theme') return 'plain';
  return kind.what === 'single' ? `${folderOf(kind)}.php` : `${folderOf(kind)}/${folderOf(kind)}.php`;
}

/** Path below wp-content. */
export function placeOf(kind: Kind): string {
  if (kind.what === 'theme') return 'themes/plain';
  return `plugins/${kind.what === 'single' ? `${folderOf(kind)}.php` : folderOf(kind)}`;
}

/** Path after the update. */
export function newPlaceOf(kind: Kind): string {
  return kind.what === 'single' ? `plugins/${folderOf(kind)}` : placeOf(kind);
}

/** Writes the item as it was before its update. The theme is the site's own. */
export function writeOld(site: WordPress, kind: Kind): void {
  const place = placeOf(kind);
  if (kind.what === 'single') site.write(place, plugin('1.0', kind.old));
  else if (kind.what !== 'theme')
    site.writeAll({
      [`${place}/${folderOf(kind)}.php`]: plugin('1.0', kind.old),
      [`${place}/only in 1.0.txt`]: 'old',
      [`${place}/part/ä.txt`]: Buffer.alloc(5_000, 'one '),
    });
  for (const [name, code] of Object.entries(kind.others ?? {}))
    site.write(`plugins/${name}/${name}.php`, plugin('1.0', code));
}

/** Files at the new path once 2.0 is installed, by path relative to it. */
export function newFiles(kind: Kind): Files {
  const folder = newPlaceOf(kind).replace(/^[^/]+\//, '');
  const paths = Object.entries(packageOf(kind)).map(([path, text]) => [path.slice(folder.length + 1), text] as const);
  return Object.fromEntries(paths);
}

/** The files of the package of 2.0. */
export function packageOf(kind: Kind): Files {
  const { version = NEW_VERSION } = kind;
  const folder = kind.what === 'theme' ? 'plain' : folderOf(kind);
  const inside: Files =
    kind.what === 'theme'
      ? { 'style.css': `/*\nTheme Name: Plain\nVersion: ${version}\n*/\n`, ...kind.files }
      : { [`${folder}.php`]: plugin(version, kind.code), 'part/ä.txt': 'two', ...kind.files };
  const files = Object.fromEntries(Object.entries(inside).map(([path, text]) => [`${folder}/${path}`, text]));
  return kind.pack?.(files, folder) ?? files;
}
