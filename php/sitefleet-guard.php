<?php
/**
 * Plugin Name: Sitefleet Guard
 * Description: Keeps copies of plugins and themes while Sitefleet updates them, and rolls back to a copy when the new version breaks the site. Answers signed requests of the connected dashboard only.
 * Version: 1.9.0
 * Requires at least: 5.9
 * Requires PHP: 7.4
 * License: MIT
 *
 * A must-use plugin in one file: it loads before all other plugins, so it still works when one of them is fatal on load.
 * Protocol, threat model and limits: docs/guard.md of Sitefleet.
 */

defined( 'ABSPATH' ) || exit;

// A second copy under another name does nothing. PHP declares classes at the top of a file before it runs, those in a block as it comes there.
if ( ! class_exists( 'Sitefleet_Guard', false ) ) :

// The installer writes true here if the owner of the site allows logins by token; a value in wp-config.php takes precedence.
defined( 'SITEFLEET_GUARD_LOGIN' ) || define( 'SITEFLEET_GUARD_LOGIN', false );
// The installer writes its own time here, in unix seconds: what was signed before is not accepted again.
defined( 'SITEFLEET_GUARD_SINCE' ) || define( 'SITEFLEET_GUARD_SINCE', 0 );
// The installer writes a digest of the addresses here that the database had: a copy of the site, which has others, does not pass for it.
defined( 'SITEFLEET_GUARD_ADDRESS' ) || define( 'SITEFLEET_GUARD_ADDRESS', '' );

/** A refused request: a code for programs, a message for people. */
class Sitefleet_Refusal extends Exception {
	public string $reason;

	public function __construct( string $reason, string $message ) {
		parent::__construct( $message );
		$this->reason = $reason;
	}

	public static function when( bool $so, string $reason, string $message ): void { if ( $so ) throw new self( $reason, $message ); }
}

/** An object cache of one request. What is pinned can be neither changed nor removed. */
class Sitefleet_Memory {
	public int $cache_hits   = 0;
	public int $cache_misses = 0;
	private array $pinned    = array();
	private array $values    = array();

	private static function place( $group, $key ): string { return ( '' === (string) $group ? 'default' : $group ) . "\0$key"; }

	private static function copied( $value ) { return is_object( $value ) ? clone $value : $value; }

	public function pin( string $group, $key, $value ): void { $this->pinned[ self::place( $group, $key ) ] = $value; }

	public function get( $key, $group = 'default', $force = false, &$found = null ) {
		$place = self::place( $group, $key );
		$found = isset( $this->pinned[ $place ] ) || array_key_exists( $place, $this->values );
		return $found ? self::copied( $this->pinned[ $place ] ?? $this->values[ $place ] ) : false;
	}

	public function set( $key, $value, $group = 'default', $expire = 0 ): bool {
		$this->values[ self::place( $group, $key ) ] = self::copied( $value );
		return true;
	}

	private function has( $key, $group ): bool {
		$this->get( $key, $group, false, $found );
		return $found;
	}

	public function add( $key, $value, $group = 'default', $expire = 0 ): bool { return ! $this->has( $key, $group ) && $this->set( $key, $value, $group ); }

	public function replace( $key, $value, $group = 'default', $expire = 0 ): bool { return $this->has( $key, $group ) && $this->set( $key, $value, $group ); }

	public function delete( $key, $group = 'default' ): bool {
		$had = $this->has( $key, $group );
		unset( $this->values[ self::place( $group, $key ) ] );
		return $had;
	}

	public function incr( $key, $by = 1, $group = 'default' ) {
		$now = max( 0, (int) $this->get( $key, $group ) + (int) $by );
		return $this->replace( $key, $now, $group ) ? $now : false;
	}

	public function decr( $key, $by = 1, $group = 'default' ) { return $this->incr( $key, -(int) $by, $group ); }

	public function flush(): bool {
		$this->values = array();
		return true;
	}

	/** `get_multiple` and its like. What a drop-in has of its own does nothing. */
	public function __call( $name, $with ) {
		$many = array( 'get_multiple', 'add_multiple', 'set_multiple', 'delete_multiple' );
		if ( ! in_array( $name, $many, true ) ) return false;
		list( $do, $group, $done ) = array( strtok( $name, '_' ), $with[1] ?? '', array() );
		foreach ( $with[0] as $key => $value ) {
			if ( 'get' === $do || 'delete' === $do ) $done[ $value ] = $this->$do( $value, $group );
			else $done[ $key ] = $this->$do( $key, $value, $group );
		}
		return $done;
	}

	public function __get( $name ) { return null; }
}

/** The complete guard. One object serves one request. */
class Sitefleet_Guard {
	const VERSION       = '1.9.0';
	const PROTOCOL      = 'sitefleet-guard-v2';
	const MARK          = 'sitefleet-guard';
	const LOOK          = 'sitefleet-look-v2';
	const SESSION       = 'sitefleet-session-v2';
	const KEYS          = 'sitefleet_guard_keys'; // Of a network: site => base64 of its public key.
	const SKEW          = 300; // Seconds that a signature's time may differ from ours.
	const MAX_BODY      = 65536;
	const MAX_FILES     = 50000;
	const MAX_BYTES     = 500 * 1024 * 1024;
	const ROOMS         = array( PHP_INT_MAX, 10485760, 1048576, 65536, -1 ); // Sizes up to which files that are not code are kept: the first with which an item is within the limits.
	const LONGEST       = PHP_MAXPATHLEN - 2; // Bytes of the longest path at which PHP opens a file.
	const MAX_ARMED     = 3600; // Seconds.
	const MAX_FAULTS    = 50;
	const KEEP_DAYS     = 14;
	const KEEP_PER_ITEM = 2;
	const RECENT        = 90000; // Seconds that Sitefleet watches an updated item.
	const LOGIN_SECONDS = 60;
	const MAX_OPEN      = 600; // Seconds that the sandbox is open after it was asked for.
	const NOBODY        = 2147483647; // The id of its user, who is in no database.
	const QUIET         = 2; // Seconds without a change in an item before the watchdog acts on it.
	const MASK          = "\xA5"; // Snapshots are stored XORed with it, so that they contain no PHP tag.
	const CHUNK         = 262144;
	const MOVES         = 20; // Tries to move a version into a place where visitors' requests make files again.
	const SAMPLED       = 20; // Of so many visits, one is counted.
	const COUNTED_DAYS  = 7;
	const MAX_ROWS      = 1000; // Rows of a table are counted so far: enough to tell an empty table from a full one.
	const MAX_LISTED    = 2000; // Entries of one list of a ledger.
	const COUNT_SECONDS = 2.0; // Tables that are not counted by then are listed without a count.
	const MAX_KEPT      = 4 * 1024 * 1024; // Bytes of the files that are kept beside an item.
	const STEERS        = '/\.(php\d?|phtml|phar|inc)\z|^\.htaccess\z|^\.user\.ini\z|^php\.ini\z/i'; // Files that run, or steer PHP or the web server.
	const VITAL         = array( 'siteurl', 'home', 'template', 'stylesheet', 'users_can_register', 'default_role', 'blog_public', 'permalink_structure' );
	// A text that is not UTF-8, or is cut within a letter, stays a text.
	const JSON          = JSON_INVALID_UTF8_SUBSTITUTE | JSON_PARTIAL_OUTPUT_ON_ERROR;
	const RESOURCES     = '/^(Allowed memory size|Out of memory|Maximum execution time)/';
	const FATAL         = E_ERROR | E_PARSE | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR;

	/**
	 * What each action needs: a stored nonce, the lock, the owner's permission to change files. Actions that are harmless when
	 * repeated work without a nonce where none can be stored: on read-only file systems and full disks.
	 */
	const ACTIONS = array(
		'hello' => '', 'list' => '', 'faults' => '', 'drop' => 'lock', 'disarm' => 'nonce lock', 'login' => 'nonce lock',
		'uninstall' => 'nonce lock', 'snapshot' => 'nonce lock files', 'arm' => 'nonce lock files', 'restore' => 'nonce lock files',
		'ledger' => '', 'mend' => 'nonce lock files', 'sandbox' => 'nonce lock',
	);

	/**
	 * What is looked at in the sandbox: address below the site's, role of the user. In wp-admin an administrator: what plugins add
	 * there, most show to no one else.
	 */
	const SANDBOX = array(
		'front' => array( '', 'subscriber' ), 'passwords' => array( 'wp-login.php', 'subscriber' ),
		'dashboard' => array( 'wp-admin/', 'administrator' ), 'editor' => array( 'wp-admin/post.php?action=edit', 'administrator' ),
		'ajax' => array( 'wp-admin/admin-ajax.php?action=logged-in', 'administrator' ),
		'rest' => array( '?rest_route=/wp/v2/users/me&context=edit', 'administrator' ),
	);
	/** Of an administrator's rights, those over code, files and users are taken from that user. */
	const TAKEN = array(
		'activate_plugins', 'delete_plugins', 'edit_plugins', 'install_plugins', 'update_plugins', 'delete_themes', 'edit_themes',
		'install_themes', 'switch_themes', 'update_themes', 'update_core', 'install_languages', 'update_languages', 'edit_files',
		'add_users', 'create_users', 'delete_users', 'edit_users', 'list_users', 'promote_users', 'remove_users', 'export', 'import',
		'unfiltered_html', 'unfiltered_upload',
	);

	protected string $content;
	/** Folder of each kind of item. */
	protected array $roots;
	/** The guard's own folder; '' if there is none. */
	protected string $store = '';
	private bool $watched   = false;
	/** When the request was signed. */
	private int $asked = 0;
	/** Reserved for the shutdown handler, which frees it to have memory to work with. */
	private string $reserve = '';
	/** Mails that armed items have sent in this request. */
	private int $mails = 0;
	/** The nonce of a look in the sandbox, '' in all other requests; and digests of what it was refused to write and to ask. */
	private string $sandbox = '';
	private array $refused  = array();
	/** Items that this request updates: key => locked file. PHP frees the lock when the request ends, however it ends. */
	private array $updates = array();

	public function __construct( string $content, string $plugins, string $themes ) {
		$this->content = rtrim( strtr( $content, '\\', '/' ), '/' );
		$this->roots   = array( 'plugin' => rtrim( strtr( $plugins, '\\', '/' ), '/' ), 'theme' => rtrim( strtr( $themes, '\\', '/' ), '/' ) );
		$this->store   = $this->find_store();
	}

	/**
	 * The key that seals the guard's files: from the secrets of wp-config.php (an attacker who knows those can already log in as anyone);
	 * where they are missing, placeholders or all the same, from those that WordPress keeps in the database instead. '' = none.
	 */
	private static function secret(): string {
		static $secret = '';
		if ( '' !== $secret ) return $secret;
		$kinds  = array( 'AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE' );
		$names  = array_merge( array_map( fn( $kind ) => "{$kind}_KEY", $kinds ), array_map( fn( $kind ) => "{$kind}_SALT", $kinds ) );
		$values = array_map( fn( $name ) => defined( $name ) ? (string) constant( $name ) : '', $names );
		$counts = array_count_values( $values );
		$salts  = array_filter( $values, fn( $value ) => ! in_array( $value, array( '', 'put your unique phrase here' ), true ) && 1 === $counts[ $value ] );
		if ( ! $salts ) $salts = array_filter( array( (string) get_site_option( 'auth_key' ), (string) get_site_option( 'auth_salt' ) ) );
		return $secret = $salts ? hash_hmac( 'sha256', 'sitefleet-guard', implode( "\n", $salts ) ) : '';
	}

	/** A seal is good for one file: what another program has written, or moved, does not have it. */
	private static function seal( string $name, string $text ): string { return hash_hmac( 'sha256', "$name\n$text", self::secret() ) . "\n$text"; }

	/** The text of a sealed file of the guard's folder; '' if it is missing or not sealed. */
	private function sealed( string $name ): string {
		$text = '' === $this->store ? '' : (string) @file_get_contents( "$this->store/$name" );
		return strlen( $text ) > 65 && hash_equals( self::seal( $name, substr( $text, 65 ) ), $text ) ? substr( $text, 65 ) : '';
	}

	/** Entry point: runs when WordPress loads this file. */
	public static function boot(): void {
		// WP-CLI and command-line cron often run as another user: PHP could not access files created by them later.
		$cli = 'cli' === PHP_SAPI;
		if ( ! function_exists( 'openssl_public_decrypt' ) || ! function_exists( 'flock' ) || ( $cli && ! ( class_exists( 'Sitefleet_Backup', false ) && version_compare( Sitefleet_Backup::VERSION, '1.0.5', '>=' ) ) ) ) return;
		$guard = new self( WP_CONTENT_DIR, WP_PLUGIN_DIR, WP_CONTENT_DIR . '/themes' );
		if ( $cli ) {
			// Not on a site of which half is restored. Older plugins for backups take no care of whose process this is.
			$guard->backup()->settle();
			return;
		}
		$guard->settle();
		if ( null !== $guard->backup() ) $guard->backup()->settle();
		if ( isset( $_SERVER['HTTP_X_SITEFLEET_ALIVE'] ) && is_string( $_SERVER['HTTP_X_SITEFLEET_ALIVE'] ) ) self::tell_alive( $_SERVER['HTTP_X_SITEFLEET_ALIVE'] );
		if ( isset( $_SERVER['HTTP_X_SITEFLEET_GUARD'] ) && 'POST' === ( $_SERVER['REQUEST_METHOD'] ?? '' ) ) $guard->serve();
		if ( isset( $_GET['sitefleet-login'] ) && 'GET' === ( $_SERVER['REQUEST_METHOD'] ?? '' ) ) $guard->enter( $_GET['sitefleet-login'] );
		// Before the sandbox takes the header away that marks what is not a visit.
		$guard->count_visits();
		if ( isset( $_SERVER['HTTP_X_SITEFLEET_SESSION'] ) ) $guard->quietly( fn() => $guard->enter_sandbox() );
		$guard->stand_watch();
		$guard->attend_updates();
	}

	// ---------------------------------------------------------------------------------------------- signed requests

	/** Answers a signed request and exits; returns only if the request is not one. */
	private function serve(): void {
		$body    = (string) file_get_contents( 'php://input', false, null, 0, self::max_body() + 1 );
		$verdict = $this->verify( $_SERVER, $body, self::key(), $this->sites(), time() );
		if ( 'unsigned' === $verdict ) return;
		self::php( 'ignore_user_abort', true );
		self::php( 'set_time_limit', 0 );
		$answer = $this->handle( $verdict, $body, $_SERVER['HTTP_X_SITEFLEET_NONCE'] );
		while ( ob_get_level() > 0 && ob_end_clean() ) {
			continue;
		}
		if ( ! headers_sent() ) {
			status_header( 200 );
			header( 'Content-Type: text/plain; charset=utf-8' );
			header( 'Cache-Control: no-store' );
			self::stay_uncached();
			header( 'X-Robots-Tag: noindex' );
		}
		// Framed, because output may have been sent before. Without "<" and ">" in the JSON the frame is unambiguous.
		echo '<sitefleet-guard>', wp_json_encode( $answer, JSON_HEX_TAG | JSON_UNESCAPED_UNICODE | self::JSON ), '</sitefleet-guard>';
		exit;
	}

	/** Restored files need longer requests than the guard itself. */
	private static function max_body(): int { return class_exists( 'Sitefleet_Backup', false ) ? Sitefleet_Backup::MAX_BODY : self::MAX_BODY; }

	/** The plugin that reads and restores the site for backups, which WordPress loads before this one; null if it is not there. */
	private function backup(): ?Sitefleet_Backup {
		if ( ! class_exists( 'Sitefleet_Backup', false ) ) return null;
		return new Sitefleet_Backup( $this->content, $this->store, fn( $name ) => $this->get_json( $name ), fn( $name, $data ) => $this->put_json( $name, $data ), fn( $do, $patience ) => $this->locked( $do, $patience ) );
	}

	/** Page caches of hosts are often told to ignore Cache-Control and Set-Cookie: these headers of nginx, LiteSpeed and networks come first. */
	private static function stay_uncached(): void {
		header( 'X-Accel-Expires: 0' );
		header( 'X-LiteSpeed-Cache-Control: no-cache' );
		header( 'CDN-Cache-Control: no-store' );
		header( 'Surrogate-Control: no-store' );
	}

	/** The bytes that are signed. */
	public static function canonical( string $site, string $time, string $nonce, string $body ): string {
		return implode( "\n", array( self::PROTOCOL, 'POST', $site, $time, $nonce, hash( 'sha256', $body ) ) ) . "\n";
	}

	/**
	 * Judges a request: `unsigned` (treated as if there were no guard), `clock`, `replayed`, `other_site`, or `ok`. The reasons are only shown
	 * to the holder of the key, who can act on them.
	 */
	public function verify( array $server, string $body, string $pem, array $sites, int $now ): string {
		$field = static function ( string $name, string $pattern ) use ( $server ) {
			$value = $server[ 'HTTP_X_SITEFLEET_' . $name ] ?? '';
			return is_string( $value ) && preg_match( $pattern, $value ) ? $value : null;
		};
		$id        = $field( 'GUARD', '/^[0-9a-f]{32}\z/' );
		$site      = $field( 'SITE', '/^[\x21-\x7e]{1,500}\z/' );
		$time      = $field( 'TIME', '/^[1-9][0-9]{8,10}\z/' );
		$nonce     = $field( 'NONCE', '/^[0-9a-f]{32}\z/' );
		$signature = base64_decode( (string) $field( 'SIGNATURE', '#^[A-Za-z0-9+/]{256,2048}={0,2}\z#' ), true );
		if ( ! isset( $id, $site, $time, $nonce ) || ! $signature || strlen( $body ) > self::max_body() ) return 'unsigned';
		$key     = self::public_key( $pem );
		$details = $key ? openssl_pkey_get_details( $key ) : false;
		if ( ! $details || OPENSSL_KEYTYPE_RSA !== $details['type'] || $details['bits'] < 2048 ) return 'unsigned';
		$valid = self::is_signed( self::canonical( $site, $time, $nonce, $body ), $signature, $key );
		if ( ! hash_equals( self::key_id( $details['key'] ), $id ) || ! $valid ) return 'unsigned';
		if ( abs( $now - (int) $time ) > self::SKEW ) return 'clock';
		// The nonces of what was signed before went with an older folder.
		if ( (int) $time < max( (int) SITEFLEET_GUARD_SINCE, $this->get_json( 'born' )['time'] ?? 0 ) ) return 'replayed';
		$this->asked = (int) $time;
		// A staging copy has the same key: requests signed for the original must not work there.
		return in_array( $site, $sites, true ) ? 'ok' : 'other_site';
	}

	/**
	 * Whether the holder of the site's key signed this text for the guard. Not with openssl_verify: what that accepts, the child accepts
	 * as a login.
	 */
	private static function is_signed( string $text, string $signature, $key ): bool {
		return openssl_public_decrypt( $signature, $signed, $key ) && hash_equals( self::MARK . hash( 'sha256', $text, true ), (string) $signed );
	}

	private static function public_key( string $pem ) { return '' === $pem ? false : openssl_pkey_get_public( self::as_spki( $pem ) ); }

	/** The bytes that Sitefleet signs when it looks at the site as a visitor does. */
	public static function look_text( string $site, string $time ): string { return self::LOOK . "\n$site\n$time\n"; }

	/** Whether Sitefleet itself makes this request, to check the site. Asked only when a request fails. */
	public function is_look( array $server, string $pem, array $sites, int $now ): bool {
		$header = $server['HTTP_X_SITEFLEET_LOOK'] ?? '';
		if ( ! is_string( $header ) || ! preg_match( '#^([1-9][0-9]{8,10}) ([A-Za-z0-9+/]{342,2048}={0,2})\z#', $header, $found ) ) return false;
		$key = abs( $now - (int) $found[1] ) > self::SKEW ? false : self::public_key( $pem );
		foreach ( $key ? $sites : array() as $site ) {
			if ( self::is_signed( self::look_text( $site, $found[1] ), base64_decode( $found[2] ), $key ) ) return true;
		}
		return false;
	}

	/** First 32 hex digits of SHA-256 over the DER form of a public key. */
	public static function key_id( string $spki_pem ): string {
		$der = base64_decode( preg_replace( '/-----[^-]+-----|\s/', '', $spki_pem ) );
		return substr( hash( 'sha256', $der ), 0, 32 );
	}

	/** PHP before 8.0 cannot read the older form of a public key (PKCS#1): it is wrapped into the form that all versions read. */
	private static function as_spki( string $pem ): string {
		if ( ! preg_match( '/-----BEGIN RSA PUBLIC KEY-----([^-]+)-----END/', $pem, $found ) ) return $pem;
		$part = static function ( string $tag, string $value ): string {
			$length = ltrim( pack( 'N', strlen( $value ) ), "\0" );
			return $tag . ( strlen( $value ) < 128 ? $length : chr( 128 + strlen( $length ) ) . $length ) . $value;
		};
		$bits = $part( "\x03", "\0" . base64_decode( preg_replace( '/\s/', '', $found[1] ) ) );
		$rsa  = hex2bin( '300d06092a864886f70d0101010500' );
		return "-----BEGIN PUBLIC KEY-----\n" . chunk_split( base64_encode( $part( "\x30", $rsa . $bits ) ), 64, "\n" ) . "-----END PUBLIC KEY-----\n";
	}

	/** A site's address as it is signed: host without www., port unless it is the default, path with slashes around it. */
	public static function site_name( string $url ): string {
		$parts = parse_url( trim( $url ) );
		$host  = strtolower( $parts['host'] ?? '' );
		if ( preg_match( '/[^\x21-\x7e]/', $host ) && function_exists( 'idn_to_ascii' ) ) $host = (string) idn_to_ascii( $host );
		$host = preg_replace( '/^www\./', '', $host );
		$port = $parts['port'] ?? null;
		$path = trim( $parts['path'] ?? '', '/' );
		return $host . ( null === $port || 80 === $port || 443 === $port ? '' : ":$port" ) . ( '' === $path ? '/' : "/$path/" );
	}

	/**
	 * The public key that is trusted here, as PEM; '' if there is none. In a network all sites share their plugins: there the options
	 * of a site, the child plugin's key among them, open nothing. The network's own option does, which the installer sets for a
	 * network administrator; but only while the site is connected by the same key: who was disconnected has lost it.
	 */
	private static function key(): string {
		$stored = get_option( 'mainwp_child_pubkey' );
		if ( is_multisite() ) {
			$keys = get_site_option( self::KEYS );
			if ( ! is_array( $keys ) || ( $keys[ get_current_blog_id() ] ?? '' ) !== $stored ) return '';
		}
		return is_string( $stored ) ? (string) base64_decode( $stored, true ) : '';
	}

	/** The addresses of the site, and those that it had when what is watched was armed: an update may have changed them. */
	private function sites(): array {
		$now = array( self::site_name( (string) get_option( 'home' ) ), self::site_name( (string) get_option( 'siteurl' ) ) );
		if ( ! is_multisite() && '' !== SITEFLEET_GUARD_ADDRESS ) {
			$stored = self::stored( array( 'home', 'siteurl' ) );
			// Some wp-config.php take the address from the request: it proves nothing where the database has another than when the guard came.
			if ( SITEFLEET_GUARD_ADDRESS !== self::address_digest( $stored ) ) $now = array_intersect( $now, array_map( array( self::class, 'site_name' ), $stored ) );
		}
		return array_values( array_unique( array_merge( $now, ...array_values( array_column( $this->remembered(), 'sites' ) ) ) ) );
	}

	/** Of the addresses as the database has them; the installer makes it, too. */
	private static function address_digest( array $stored ): string { return hash( 'sha256', ( $stored['home'] ?? '' ) . "\n" . ( $stored['siteurl'] ?? '' ) ); }

	/** Executes a request with a valid signature and returns the response. */
	public function handle( string $verdict, string $body, string $nonce ): array {
		$answer = array( 'protocol' => self::PROTOCOL, 'nonce' => $nonce, 'time' => time() );
		try {
			Sitefleet_Refusal::when( 'clock' === $verdict, 'clock', 'The clocks of dashboard and site differ by more than 300 seconds.' );
			Sitefleet_Refusal::when( 'replayed' === $verdict, 'replayed', 'This request was signed before the guard was there.' );
			Sitefleet_Refusal::when( 'ok' !== $verdict, 'other_site', 'The request was signed for another address than this site has.' );
			$request = json_decode( $body, true );
			$action  = is_array( $request ) ? ( $request['action'] ?? '' ) : '';
			$ours    = is_string( $action ) && isset( self::ACTIONS[ $action ] );
			$others  = class_exists( 'Sitefleet_Backup', false ) ? Sitefleet_Backup::ACTIONS : array();
			$needs   = is_string( $action ) ? ( self::ACTIONS[ $action ] ?? $others[ $action ] ?? null ) : null;
			Sitefleet_Refusal::when( null === $needs, 'bad_request', 'The action is not known.' );
			$this->use_nonce( $nonce, false === strpos( $needs, 'nonce' ) );
			$bad = false !== strpos( $needs, 'files' ) && ! self::file_mods();
			Sitefleet_Refusal::when( $bad, 'file_mods', 'This site does not allow changes of its files (DISALLOW_FILE_MODS).' );
			$method = "do_$action";
			$do     = fn() => $ours ? $this->$method( $request ) : $this->backup()->handle( $action, $request );
			return $answer + array( 'ok' => true ) + ( false === strpos( $needs, 'lock' ) ? $do() : $this->locked( $do ) );
		} catch ( Sitefleet_Refusal $error ) {
			$reason  = $error->reason;
			$message = $error->getMessage();
		} catch ( Throwable $error ) {
			$reason  = 'failed';
			$message = $this->relative( get_class( $error ) . ': ' . $error->getMessage() );
		}
		return $answer + array( 'ok' => false, 'error' => array( 'code' => $reason, 'message' => $message ) );
	}

	/** Stores a nonce as an empty file, which only one of two processes can create. */
	private function use_nonce( string $nonce, bool $harmless ): void {
		$harmless ? $this->quietly( fn() => $this->need_store() ) : $this->need_store();
		if ( '' === $this->store ) return;
		$file = "$this->store/nonce-$nonce";
		$made = @fopen( $file, 'x' );
		if ( $made ) {
			fclose( $made );
		} elseif ( file_exists( $file ) ) {
			throw new Sitefleet_Refusal( 'replayed', 'This request was received before.' );
		} elseif ( ! $harmless ) {
			throw new Sitefleet_Refusal( 'not_writable', 'The guard cannot write into its folder: no space, or no permission.' );
		}
	}

	// -------------------------------------------------------------------------------------------------------- actions

	private function do_hello(): array {
		$this->tidy();
		$free = self::php( 'disk_free_space', $this->content );
		return array(
			'guard'       => self::VERSION,
			'wordpress'   => $GLOBALS['wp_version'] ?? '',
			'php'         => PHP_VERSION,
			'multisite'   => is_multisite(),
			'free_bytes'  => false === $free ? null : (int) $free,
			'writable'    => array(
				'store' => '' !== $this->store && is_writable( $this->store ), 'plugins' => is_writable( $this->roots['plugin'] ),
				'themes' => is_writable( $this->roots['theme'] ), 'mu_plugins' => is_writable( __DIR__ ) && is_writable( __FILE__ ),
			),
			'file_mods'   => self::file_mods(),
			'zip'         => class_exists( 'ZipArchive', false ),
			'opcache'     => function_exists( 'opcache_invalidate' ) && (bool) self::php( 'ini_get', 'opcache.enable' ),
			'maintenance' => self::in_maintenance(),
			'updating'    => $this->running_updates(),
			// A drop-in of the site may end a request before the watchdog sees its error.
			'drop_ins'    => array_values( array_filter( array( 'php-error.php', 'fatal-error-handler.php' ), fn( $name ) => is_file( "$this->content/$name" ) ) ),
			'visits'      => $this->visits( time() ),
			'login'       => (bool) SITEFLEET_GUARD_LOGIN,
			'backup'      => class_exists( 'Sitefleet_Backup', false ) ? Sitefleet_Backup::VERSION : null,
			'armed'       => $this->armed(),
			'limits'      => array( 'files' => self::MAX_FILES, 'bytes' => self::MAX_BYTES, 'seconds' => self::MAX_ARMED ),
		);
	}

	private function do_snapshot( array $request ): array {
		$item = $this->item( $request['kind'] ?? null, $request['slug'] ?? null );
		Sitefleet_Refusal::when( ! is_file( $item['main'] ), 'not_found', "There is no {$item['kind']} {$item['slug']}." );
		$this->need_writable( $item );
		$this->prune();
		$snapshot = $this->pack( $item, $item['path'], 'snapshot' );
		$this->keep_newest( $snapshot );
		return array( 'snapshot' => $snapshot );
	}

	private function do_arm( array $request ): array {
		$seconds = $request['seconds'] ?? null;
		$bad = ! is_int( $seconds ) || $seconds < 1 || $seconds > self::MAX_ARMED;
		Sitefleet_Refusal::when( $bad, 'bad_request', 'seconds must be a whole number from 1 to ' . self::MAX_ARMED . '.' );
		$patience = $request['patience'] ?? 0;
		$bad = ! is_int( $patience ) || $patience < 0 || $patience > self::MAX_ARMED;
		Sitefleet_Refusal::when( $bad, 'bad_request', 'patience must be a whole number from 0 to ' . self::MAX_ARMED . '.' );
		$snapshot = $this->snapshot( $request['snapshot'] ?? null );
		$armed    = $this->armed( $snapshot['kind'], $snapshot['slug'] );
		$armed[]  = array(
			'snapshot' => $snapshot['id'], 'kind' => $snapshot['kind'], 'slug' => $snapshot['slug'], 'at' => time(),
			'until' => time() + $seconds, 'patience' => $patience, 'site' => get_current_blog_id(),
		);
		$this->put_json( 'armed', $armed );
		$this->remember( $snapshot['id'], time() + $seconds );
		$this->refuse_updates( $snapshot, 0 );
		return array( 'armed' => $armed );
	}

	/** Without a snapshot, everything is disarmed; in a network, what was armed through this site. */
	private function do_disarm( array $request ): array {
		$id    = $request['snapshot'] ?? null;
		$site  = get_current_blog_id();
		$armed = array_values( array_filter( $this->armed(), fn( $one ) => null === $id ? ( $one['site'] ?? $site ) !== $site : $one['snapshot'] !== $id ) );
		$this->put_json( 'armed', $armed );
		$this->forget( $id, array_column( $armed, 'snapshot' ) );
		if ( ! $armed ) $this->put_json( 'door', array() );
		return array( 'armed' => $armed );
	}

	private function do_restore( array $request ): array {
		$began    = microtime( true );
		$refuse   = $request['refuse_updates'] ?? 0;
		$bad      = ! is_int( $refuse ) || $refuse < 0 || $refuse > self::MAX_ARMED;
		Sitefleet_Refusal::when( $bad, 'bad_request', 'refuse_updates must be a whole number from 0 to ' . self::MAX_ARMED . '.' );
		$snapshot = $this->snapshot( $request['snapshot'] ?? null );
		// First, so that an update that has not begun to change files does not begin.
		if ( $refuse ) $this->refuse_updates( $snapshot, $refuse );
		if ( true !== ( $request['while_updating'] ?? null ) ) $this->await_update( $snapshot );
		$result = $this->restore( $snapshot );
		// A killed update leaves the whole site in maintenance mode for ten minutes.
		if ( true === ( $request['end_maintenance'] ?? null ) ) @unlink( ABSPATH . '.maintenance' );
		$this->quietly( fn() => $this->put_json( 'armed', $this->armed( $snapshot['kind'], $snapshot['slug'] ) ) );
		return $result + array(
			'ms' => (int) round( ( microtime( true ) - $began ) * 1000 ), 'snapshot' => $snapshot,
			'active' => self::active( $snapshot['kind'], $snapshot['slug'] ), 'maintenance' => self::in_maintenance(),
			'database' => 'untouched',
		);
	}

	private function do_list(): array {
		$this->tidy();
		return array( 'snapshots' => $this->snapshots() );
	}

	private function do_drop( array $request ): array {
		$id    = $request['snapshot'] ?? null;
		$known = in_array( $id, array_column( $this->snapshots(), 'id' ), true );
		Sitefleet_Refusal::when( in_array( $id, array_column( $this->armed(), 'snapshot' ), true ), 'armed', 'This snapshot is armed: disarm it first.' );
		if ( $known ) $this->drop( $id );
		return array( 'dropped' => $known );
	}

	private function do_faults( array $request ): array {
		$since  = (int) ( $request['since'] ?? 0 );
		$faults = array_filter( $this->get_json( 'faults' ), fn( $fault ) => $fault['time'] >= $since );
		return array( 'faults' => array_values( array_map( fn( $fault ) => array_diff_key( $fault, array( 'mark' => 0 ) ), $faults ) ) );
	}

	private function do_login( array $request ): array {
		Sitefleet_Refusal::when( ! SITEFLEET_GUARD_LOGIN, 'login_not_allowed', 'The owner of this site has not allowed logins by token.' );
		require_once ABSPATH . WPINC . '/pluggable.php';
		$name = $request['user'] ?? null;
		$user = is_string( $name ) ? get_user_by( 'login', $name ) : false;
		Sitefleet_Refusal::when( ! $user || ! self::may_enter( $user ), 'not_found', 'There is no administrator with this name.' );
		$token  = bin2hex( random_bytes( 32 ) );
		$until  = time() + self::LOGIN_SECONDS;
		$tokens = array_filter( $this->get_json( 'logins' ), fn( $one ) => $one['until'] >= time() );
		$tokens = array_slice( $tokens, -9, null, true );
		// Only its hash is stored, so that reading the guard's folder does not allow a login.
		$tokens[ hash( 'sha256', $token ) ] = array( 'user' => $user->ID, 'site' => get_current_blog_id(), 'until' => $until );
		$this->put_json( 'logins', $tokens );
		return array( 'token' => $token, 'until' => $until );
	}

	private function do_uninstall(): array {
		$this->finish_job();
		Sitefleet_Refusal::when( ! is_writable( __DIR__ ), 'not_writable', 'The folder of must-use plugins cannot be written: remove sitefleet-guard.php by hand.' );
		Sitefleet_Refusal::when( ! @unlink( __FILE__ ), 'not_writable', 'sitefleet-guard.php cannot be removed.' );
		self::forget_code( __FILE__ );
		// Without the guard it does nothing.
		@unlink( __DIR__ . '/sitefleet-backup.php' );
		self::forget_code( __DIR__ . '/sitefleet-backup.php' );
		$this->remove( $this->store );
		if ( is_multisite() ) delete_site_option( self::KEYS );
		return array( 'removed' => ! file_exists( __FILE__ ) && ! file_exists( $this->store ) );
	}

	/** Logs in the holder of a login token and exits; returns, leaving no trace, if the token is invalid. */
	private function enter( $token ): void {
		if ( ! SITEFLEET_GUARD_LOGIN || '' === $this->store || ! is_string( $token ) || ! preg_match( '/^[0-9a-f]{64}\z/', $token ) ) return;
		$hash = hash( 'sha256', $token );
		try {
			$login = isset( $this->get_json( 'logins' )[ $hash ] ) ? $this->locked( fn() => $this->use_up( $hash ) ) : null;
		} catch ( Sitefleet_Refusal $error ) {
			return;
		}
		if ( null === $login || $login['until'] < time() || get_current_blog_id() !== $login['site'] ) return;
		// No plugin loads in this request, so these are WordPress' own functions and no broken plugin can interfere.
		require_once ABSPATH . WPINC . '/pluggable.php';
		if ( is_multisite() ) ms_cookie_constants();
		wp_cookie_constants();
		wp_ssl_constants();
		$user = get_user_by( 'id', $login['user'] );
		if ( ! $user || ! self::may_enter( $user ) ) return;
		nocache_headers();
		self::stay_uncached();
		header( 'Referrer-Policy: no-referrer' );
		wp_set_auth_cookie( $user->ID );
		header( 'Location: ' . admin_url(), true, 302 );
		exit;
	}

	/** Whom a token may log in: administrators of the site; those of a network through its main site only. */
	private static function may_enter( WP_User $user ): bool {
		return $user->has_cap( 'manage_options' ) && ( ! is_multisite() || is_main_site() || ! is_super_admin( $user->ID ) );
	}

	/** A login token is used up before it takes effect; if that cannot be stored, it cannot be used. */
	private function use_up( string $hash ): ?array {
		$tokens = $this->get_json( 'logins' );
		$login  = $tokens[ $hash ] ?? null;
		unset( $tokens[ $hash ] );
		$this->put_json( 'logins', $tokens );
		return $login;
	}

	// ----------------------------------------------------- looks as a user who exists in one request only: the sandbox

	/** Opens the sandbox for some seconds, and says what can be looked at in it. */
	private function do_sandbox( array $request ): array {
		$seconds = $request['seconds'] ?? null;
		$bad     = ! is_int( $seconds ) || $seconds < 1 || $seconds > self::MAX_OPEN;
		Sitefleet_Refusal::when( $bad, 'bad_request', 'seconds must be a whole number from 1 to ' . self::MAX_OPEN . '.' );
		Sitefleet_Refusal::when( is_multisite(), 'multisite', 'The sites of a network share their users: none is made up here.' );
		$post = self::newest_post();
		Sitefleet_Refusal::when( null === self::seal_off(), 'no_sandbox', 'The database, or the object cache, cannot be kept from storing what is done in a look.' );
		$this->put_json( 'door', array( 'asked' => $this->asked, 'until' => time() + $seconds ) );
		$looks = array_keys( self::SANDBOX );
		return array( 'until' => time() + $seconds, 'looks' => null === $post ? array_values( array_diff( $looks, array( 'editor' ) ) ) : $looks );
	}

	/** What everyone may read: the editor shows it. */
	private static function newest_post(): ?string {
		global $wpdb;
		return $wpdb->get_var( "SELECT ID FROM $wpdb->posts WHERE post_status = 'publish' AND post_type IN ( 'post', 'page' ) AND post_password = '' ORDER BY post_type DESC, ID DESC LIMIT 1" );
	}

	/** The bytes that are signed for one look in the sandbox. */
	private static function session_text( string $site, string $time, string $nonce, string $address ): string {
		return implode( "\n", array( self::SESSION, $site, $time, $nonce, $address ) ) . "\n";
	}

	/** The look that a request was signed for; null = none. Its address is compared as a whole: nobody can add anything to it. */
	private function look_of( string $header, array $server, array $door, string $pem, array $sites, int $now ): ?string {
		$open = $now <= ( $door['until'] ?? 0 ) && 'GET' === ( $server['REQUEST_METHOD'] ?? '' ) && ! (int) ( $server['CONTENT_LENGTH'] ?? 0 ) && ! isset( $server['HTTP_TRANSFER_ENCODING'] );
		if ( ! $open || ! preg_match( '#^([1-9][0-9]{8,10}) ([0-9a-f]{32}) ([A-Za-z0-9+/]{342,2048}={0,2})\z#', $header, $found ) ) return null;
		list( , $time, $nonce, $signature ) = $found;
		// What was signed for an earlier run is of no use in this one.
		if ( abs( $now - (int) $time ) > self::SKEW || (int) $time < $door['asked'] ) return null;
		$uri = (string) ( $server['REQUEST_URI'] ?? '' );
		$key = self::public_key( $pem );
		foreach ( $key ? $sites : array() as $site ) {
			foreach ( self::SANDBOX as $name => list( $path ) ) {
				$address = strstr( $site, '/' ) . $path . ( false === strpos( $path, '?' ) ? '?' : '&' ) . 'sitefleet=';
				if ( ! preg_match( '#^' . preg_quote( $address, '#' ) . '[0-9a-f]{12}\z#', $uri ) ) continue;
				if ( self::is_signed( self::session_text( $site, $time, $nonce, $uri ), base64_decode( $signature ), $key ) ) return $name;
			}
		}
		return null;
	}

	/** Makes this request the look that it was signed for. Where anything is in doubt it stays the request of a visitor. */
	private function enter_sandbox(): void {
		$header = $_SERVER['HTTP_X_SITEFLEET_SESSION'];
		unset( $_SERVER['HTTP_X_SITEFLEET_SESSION'] );
		$door = $this->get_json( 'door' );
		$name = $door && is_string( $header ) && ! is_multisite() ? $this->look_of( $header, $_SERVER, $door, self::key(), $this->sites(), time() ) : null;
		if ( null === $name ) return;
		$nonce = explode( ' ', $header )[1];
		$this->use_nonce( $nonce, false );
		$post  = self::newest_post();
		$cache = self::seal_off();
		if ( null === $cache ) return;
		$this->sandbox = $nonce;
		wp_using_ext_object_cache( false );
		foreach ( array( 'DONOTCACHEPAGE', 'DONOTCACHEOBJECT', 'DONOTCACHEDB' ) as $word ) defined( $word ) || define( $word, true );
		// Nothing is sent before the end: the header also says what a page was refused after its beginning.
		ob_start();
		header( "X-Sitefleet-Session: $nonce  all" );
		// A plugin may put a callback of its own in place of this one.
		self::stay_uncached();
		header_register_callback(
			function () {
				header_remove( 'Set-Cookie' );
				header( 'Cache-Control: no-store' );
				self::stay_uncached();
			}
		);
		$_POST = $_FILES = $_COOKIE = array();
		unset( $_SERVER['HTTP_X_HTTP_METHOD_OVERRIDE'] );
		if ( 'editor' === $name ) $_GET['post'] = $_REQUEST['post'] = (string) $post;
		// Plugins lead the next administrator to a page of theirs, which would hide the one that is looked at: not after several were activated.
		$_GET['activate-multi'] = 'true';
		// The transaction refuses what goes past this filter; the filter, what a plugin does after it has ended the transaction.
		add_filter( 'query', fn( $query ) => self::only_reads( (string) $query ) ? $query : $this->refuse( self::kind_of( (string) $query ), '' ), PHP_INT_MAX );
		$error = fn( $reply, $with = null, $url = '' ) => $this->refuse( 'ask ' . parse_url( (string) $url, PHP_URL_HOST ), new WP_Error( 'sitefleet', 'A look of Sitefleet makes no requests.' ) );
		add_filter( 'pre_http_request', $error, PHP_INT_MAX, 3 );
		add_filter( 'pre_wp_mail', '__return_true', PHP_INT_MAX );
		add_filter( 'pre_get_ready_cron_jobs', '__return_empty_array', PHP_INT_MAX );
		// The guard itself may still roll back.
		add_filter( 'file_mod_allowed', fn( $may, $what = '' ) => 'sitefleet_guard' === $what && $may, PHP_INT_MAX, 2 );
		// They ask wordpress.org whenever something was updated.
		add_action( 'admin_init', fn() => array_map( fn( $what ) => remove_action( 'admin_init', "_maybe_update_$what" ), array( 'core', 'plugins', 'themes' ) ), PHP_INT_MIN );
		// It stores a draft to show its form.
		add_action( 'wp_dashboard_setup', fn() => remove_meta_box( 'dashboard_quick_press', 'dashboard', 'side' ), PHP_INT_MAX );
		add_action( 'plugins_loaded', fn() => $this->become_nobody( $cache, $name, self::SANDBOX[ $name ][1] ), PHP_INT_MIN );
	}

	/**
	 * From here on this request can store nothing: neither in the database, which itself refuses it, nor in an object cache, in whose place
	 * is one of this request. Null if that cannot be had.
	 */
	private static function seal_off(): ?Sitefleet_Memory {
		global $wpdb, $wp_object_cache;
		// A persistent connection would take the transaction on to other requests.
		if ( 0 === strpos( (string) DB_HOST, 'p:' ) ) return null;
		$noisy  = $wpdb->suppress_errors( true );
		$sealed = false !== $wpdb->query( 'START TRANSACTION READ ONLY' ) && false === $wpdb->query( "UPDATE $wpdb->options SET option_name = option_name WHERE 1 = 0" );
		$cache  = new Sitefleet_Memory();
		$before = $wp_object_cache;
		if ( $sealed ) {
			$wp_object_cache = $cache;
			wp_cache_set( 'probe', 1, 'sitefleet' );
			$sealed = 1 === $cache->get( 'probe', 'sitefleet' );
			wp_cache_delete( 'probe', 'sitefleet' );
		}
		if ( ! $sealed ) {
			$wp_object_cache = $before;
			$wpdb->query( 'ROLLBACK' );
		}
		$wpdb->suppress_errors( $noisy );
		return $sealed ? $cache : null;
	}

	private static function only_reads( string $query ): bool {
		return preg_match( '#^(?:[\s(]|/\*.*?\*/)*(?:SELECT|SHOW|DESC|DESCRIBE|EXPLAIN|WITH)\b#is', $query ) && ! preg_match( '/\bINTO\s+(?:OUTFILE|DUMPFILE)\b/i', $query );
	}

	/** What a query would write, without the values: the verb, the table, and words like the names of options. */
	private static function kind_of( string $query ): string {
		preg_match( '/\w+\s+(?:(?:INTO|FROM|TABLE|IGNORE)\s+)*[\w`.]+/i', $query, $start );
		preg_match_all( "/'([a-z_-]{3,60})'/i", $query, $words );
		return false === strpos( $query, '_transient_' ) ? implode( ' ', array_merge( $start, array_unique( $words[1] ) ) ) : '';
	}

	/** A page that was refused what it was not before may fail for that reason: the answer says it, in digests. */
	private function refuse( string $what, $instead ) {
		// WordPress notes and mails a fatal error once it is there.
		$counts = '' !== $what && count( $this->refused ) < 40 && ! ( ( error_get_last()['type'] ?? 0 ) & self::FATAL );
		if ( $counts ) $this->refused[ substr( md5( $what ), 0, 8 ) ] = true;
		if ( ! headers_sent() ) header( "X-Sitefleet-Session: $this->sandbox " . implode( ',', array_keys( $this->refused ) ) . ' all' );
		return $instead;
	}

	/** A user with a session, and the cookies of it, in the memory of this request: WordPress and plugins check them as those of any user. */
	private function become_nobody( Sitefleet_Memory $cache, string $name, string $role ): void {
		global $wpdb;
		list( $password, $token ) = array( bin2hex( random_bytes( 16 ) ), bin2hex( random_bytes( 32 ) ) );
		$until = time() + self::SKEW;
		// A name that was known before could be registered, or locked by wrong passwords.
		$login = 'sitefleet-' . bin2hex( random_bytes( 8 ) );
		$mail  = "$login@sitefleet.invalid";
		$hash  = 'passwords' === $name ? wp_hash_password( $password ) : $password;
		$user  = array(
			'ID' => (string) self::NOBODY, 'user_login' => $login, 'user_pass' => $hash, 'user_nicename' => $login, 'user_email' => $mail,
			'user_url' => '', 'user_registered' => '2020-01-01 00:00:00', 'user_activation_key' => '', 'user_status' => '0', 'display_name' => 'Sitefleet',
		);
		$rights = array( $role => true, 'read' => true ) + array_fill_keys( 'administrator' === $role ? self::TAKEN : array(), false );
		$meta   = array(
			"{$wpdb->prefix}capabilities" => $rights, "{$wpdb->prefix}user_level" => 'administrator' === $role ? '10' : '0', 'rich_editing' => 'true',
			'show_admin_bar_front' => 'true', 'session_tokens' => array( hash( 'sha256', $token ) => array( 'expiration' => $until, 'login' => time() ) ),
		);
		$cache->pin( 'users', self::NOBODY, (object) $user );
		foreach ( array( 'userlogins' => $login, 'userslugs' => $login, 'useremail' => $mail ) as $group => $key ) $cache->pin( $group, $key, self::NOBODY );
		$cache->pin( 'user_meta', self::NOBODY, array_map( fn( $value ) => array( maybe_serialize( $value ) ), $meta ) );
		if ( 'passwords' === $name ) {
			add_action( 'wp_loaded', fn() => self::try_password( $login, $password ), PHP_INT_MIN );
			return;
		}
		$cookies = array( 'auth' => AUTH_COOKIE, 'secure_auth' => SECURE_AUTH_COOKIE, 'logged_in' => LOGGED_IN_COOKIE );
		foreach ( $cookies as $scheme => $cookie ) $_COOKIE[ $cookie ] = wp_generate_auth_cookie( self::NOBODY, $until, $scheme, $token );
		if ( 'rest' === $name ) add_action( 'init', function () { $_SERVER['HTTP_X_WP_NONCE'] = wp_create_nonce( 'wp_rest' ); }, PHP_INT_MAX );
	}

	/** Whether a right password is accepted, with all that plugins have to say to it. Nobody is logged in. */
	private static function try_password( string $login, string $password ): void {
		// It would be counted against Sitefleet's address.
		remove_all_actions( 'wp_login_failed' );
		$user = wp_authenticate( $login, $password );
		$said = $user instanceof WP_User && self::NOBODY === $user->ID ? 'accepted' : 'refused';
		while ( ob_get_level() > 0 && ob_end_clean() ) {
			continue;
		}
		echo "<sitefleet-passwords>$said</sitefleet-passwords>";
		exit;
	}

	// ------------------------------------------------------------------- what an update changes besides its own files

	/** The state that updates of other files have no business with. Digests, names and counts; no contents. */
	private function do_ledger(): array {
		Sitefleet_Refusal::when( is_multisite(), 'multisite', 'The sites of a network share users and files: no ledger is made.' );
		global $wpdb;
		$files = array();
		foreach ( $this->outer_files() as $name => $path ) $files[] = array( 'name' => $name, 'size' => (int) @filesize( $path ), 'sha256' => (string) @hash_file( 'sha256', $path ) );
		$vital  = self::stored( array_merge( self::VITAL, array( 'active_plugins' ) ) );
		$active = self::plain( $vital['active_plugins'] ?? '' );
		$held   = array_filter( self::stored( self::held( $vital['stylesheet'] ?? '' ) ), fn( $value ) => ! in_array( $value, array( '', 'a:0:{}' ), true ) );
		$mine   = array_fill_keys( self::VITAL, null );
		$like   = array( $wpdb->esc_like( '_transient_' ) . '%', $wpdb->esc_like( '_site_transient_' ) . '%' );
		$ledger = array(
			'wordpress' => $GLOBALS['wp_version'] ?? '',
			'prefix'    => $wpdb->prefix,
			'tables'    => self::tables(),
			'options'   => (int) $wpdb->get_var( $wpdb->prepare( "SELECT COUNT(*) FROM $wpdb->options WHERE option_name NOT LIKE %s AND option_name NOT LIKE %s", $like ) ),
			'vital'     => array_merge( $mine, array_intersect_key( $vital, $mine ) ),
			'held'      => array_map( 'strval', array_keys( $held ) ),
			'active'    => array_values( array_filter( $active, 'is_string' ) ),
			'files'     => $files,
			'events'    => self::events(),
			'mails'     => $this->get_json( 'mails' )['sent'] ?? 0,
		) + self::people();
		// Of a list that is cut, what is added would look as if something else were gone.
		foreach ( array_filter( $ledger, 'is_array' ) as $name => $list ) Sitefleet_Refusal::when( count( $list ) > self::MAX_LISTED, 'too_large', "There are more than 2,000 $name." );
		return array( 'ledger' => $ledger );
	}

	/** Tables with their rows: exact up to a limit, and one more means more; null = not counted. */
	private static function tables(): array {
		global $wpdb;
		$until = microtime( true ) + self::COUNT_SECONDS;
		$noisy = $wpdb->suppress_errors( true );
		$rows  = array();
		foreach ( (array) $wpdb->get_results( $wpdb->prepare( 'SHOW FULL TABLES LIKE %s', $wpdb->esc_like( $wpdb->base_prefix ) . '%' ), ARRAY_N ) as $found ) {
			if ( 'VIEW' !== ( $found[1] ?? '' ) ) $rows[ $found[0] ] = null;
		}
		Sitefleet_Refusal::when( ! $rows, 'failed', 'The tables of this site cannot be listed.' );
		// A table that cannot be read must not hide the others.
		$count = function ( array $names ) use ( $wpdb, &$rows ): bool {
			$part  = fn( $name ) => '( SELECT 1 FROM `' . str_replace( '`', '``', $name ) . '` LIMIT ' . ( self::MAX_ROWS + 1 ) . ' ) AS part';
			$each  = fn( $name ) => $wpdb->prepare( 'SELECT %s, COUNT(*) FROM ', $name ) . $part( $name );
			$found = $wpdb->get_results( implode( ' UNION ALL ', array_map( $each, $names ) ), ARRAY_N );
			foreach ( (array) $found as list( $name, $number ) ) $rows[ $name ] = (int) $number;
			return (bool) $found;
		};
		foreach ( array_chunk( array_map( 'strval', array_keys( $rows ) ), 50 ) as $names ) {
			if ( microtime( true ) > $until ) break;
			if ( $count( $names ) ) continue;
			foreach ( $names as $name ) $count( array( $name ) );
		}
		$wpdb->suppress_errors( $noisy );
		return array_map( fn( $name, $number ) => array( 'name' => (string) $name, 'rows' => $number ), array_keys( $rows ), array_values( $rows ) );
	}

	/** Options as the database has them: a cache may have others. */
	private static function stored( array $names ): array {
		global $wpdb;
		$marks = implode( ', ', array_fill( 0, count( $names ), '%s' ) );
		$rows  = (array) $wpdb->get_results( $wpdb->prepare( "SELECT option_name, option_value FROM $wpdb->options WHERE option_name IN ( $marks )", $names ), ARRAY_N );
		return array_column( $rows, 1, 0 );
	}

	/** Options that only matter by being there: what users may do, which widgets are where, what was set in the theme. */
	private static function held( string $theme ): array { return array( $GLOBALS['wpdb']->prefix . 'user_roles', 'sidebars_widgets', "theme_mods_$theme" ); }

	/** A stored list; objects in it are not made. */
	private static function plain( string $text ): array {
		$value = '' === $text ? null : @unserialize( $text, array( 'allowed_classes' => false ) );
		return is_array( $value ) ? $value : array();
	}

	/** Scheduled events, each hook with its schedules; '' = once. */
	private static function events(): array {
		$found = array();
		foreach ( self::plain( self::stored( array( 'cron' ) )['cron'] ?? '' ) as $hooks ) {
			foreach ( is_array( $hooks ) ? $hooks : array() as $hook => $all ) {
				foreach ( (array) $all as $one ) $found[ "$hook\0" . ( $one['schedule'] ?? '' ) ] = array( 'hook' => (string) $hook, 'schedule' => (string) ( $one['schedule'] ?? '' ) );
			}
		}
		return array_values( $found );
	}

	/** Who may administer the site, and how many users each role has. Of an e-mail only a keyed hash leaves the site. */
	private static function people(): array {
		global $wpdb;
		$key    = $wpdb->prefix . 'capabilities';
		$powers = array_filter( self::plain( self::stored( array( $wpdb->prefix . 'user_roles' ) )[ $wpdb->prefix . 'user_roles' ] ?? '' ), fn( $about ) => ! empty( $about['capabilities']['manage_options'] ) );
		// However the right is stored: WordPress takes a role by its name alone, and a right of the user's own before those of roles.
		$rules  = array_slice( array_merge( array( '"manage_options";' ), array_map( fn( $role ) => is_int( $role ) ? "i:$role;" : "\"$role\";", array_keys( $powers ) ) ), 0, 100 );
		$may    = fn( array $has ) => array_key_exists( 'manage_options', $has ) ? (bool) $has['manage_options'] : (bool) array_intersect_key( $has, $powers );
		$any    = implode( ' OR ', array_fill( 0, count( $rules ), 'm.meta_value LIKE %s' ) );
		$values = array_map( fn( $rule ) => '%' . $wpdb->esc_like( $rule ) . '%', $rules );
		$asked  = $wpdb->prepare( "SELECT u.ID, u.user_login, u.user_email, m.meta_value FROM $wpdb->users u JOIN $wpdb->usermeta m ON m.user_id = u.ID WHERE m.meta_key = %s AND ( $any ) ORDER BY u.ID LIMIT %d", array_merge( array( $key ), $values, array( self::MAX_LISTED + 1 ) ) );
		$admins = array();
		$asked  = (array) $wpdb->get_results( $asked, ARRAY_N );
		Sitefleet_Refusal::when( count( $asked ) > self::MAX_LISTED, 'too_large', 'There are more than 2,000 administrators.' );
		foreach ( $asked as list( $id, $login, $mail, $stored ) ) {
			if ( $may( self::plain( $stored ) ) ) $admins[] = array( 'id' => (int) $id, 'login' => $login, 'mail' => hash_hmac( 'sha256', strtolower( $mail ), self::secret() ) );
		}
		$roles  = array();
		$groups = $wpdb->prepare( "SELECT part.role, COUNT(*) FROM ( SELECT LEFT( meta_value, 500 ) AS role FROM $wpdb->usermeta WHERE meta_key = %s LIMIT 50000 ) AS part GROUP BY part.role LIMIT %d", $key, self::MAX_LISTED + 1 );
		foreach ( (array) $wpdb->get_results( $groups, ARRAY_N ) as list( $stored, $number ) ) {
			foreach ( array_keys( self::plain( $stored ) ) as $role ) $roles[ $role ] = ( $roles[ $role ] ?? 0 ) + (int) $number;
		}
		return array( 'administrators' => $admins, 'powers' => array_map( 'strval', array_keys( $powers ) ), 'roles' => array_map( fn( $role, $number ) => array( 'role' => (string) $role, 'users' => $number ), array_keys( $roles ), array_values( $roles ) ) );
	}

	/** Where such files are: what their names begin with => folder. Of the one above only wp-config.php counts. */
	private function outer_folders(): array {
		$root = rtrim( strtr( ABSPATH, '\\', '/' ), '/' );
		return array( '' => $root, '../' => dirname( $root ), 'wp-content/' => $this->content, 'wp-content/mu-plugins/' => strtr( WPMU_PLUGIN_DIR, '\\', '/' ) );
	}

	/** Files that run or steer, directly in the folders of WordPress, of its contents and of its must-use plugins: name => path. */
	private function outer_files(): array {
		$folders = $this->outer_folders();
		$above   = $folders['../'];
		unset( $folders['../'] );
		// WordPress reads its configuration from the folder above if there is none in its own.
		$found = ! is_file( "{$folders['']}/wp-config.php" ) && @is_file( "$above/wp-config.php" ) && ! @is_file( "$above/wp-settings.php" ) ? array( '../wp-config.php' => "$above/wp-config.php" ) : array();
		foreach ( $folders as $prefix => $folder ) {
			foreach ( (array) @scandir( $folder ) as $name ) {
				if ( preg_match( self::STEERS, (string) $name ) && is_file( "$folder/$name" ) ) $found[ $prefix . $name ] = "$folder/$name";
			}
		}
		return $found;
	}

	/**
	 * What was remembered for items that are, or were, armed, and has not expired: snapshot => until, sites; where the site asks whether it is
	 * alive, and the path of its front page, as the signed request had them: some wp-config.php take the address from the request, and a visitor's may name any.
	 */
	private function remembered(): array { return array_filter( $this->get_json( 'before' ), fn( $one ) => $one['until'] >= time() ); }

	/** Keeps what an update of an item may change and `mend` restores; without it the item itself can still be restored. */
	private function remember( string $id, int $until ): void {
		$this->quietly( fn() => is_multisite() || $this->put_json( "before-$id", array( 'hidden' => self::hide( (string) wp_json_encode( $this->keepsake() ) ) ) ) );
		$this->put_json( 'before', array( $id => array( 'until' => $until, 'sites' => $this->sites(), 'ask' => site_url( 'wp-admin/admin-ajax.php' ), 'front' => self::front_path() ) ) + $this->remembered() );
		$this->quietly( fn() => is_multisite() || $this->put_json( 'outer', array( 'files' => $this->outer_stats() ) ) );
	}

	/** All files are named, to know which ones are new; null = one that is not kept. */
	private function keepsake(): array {
		$files = array();
		$left  = self::MAX_KEPT;
		foreach ( $this->outer_files() as $name => $path ) {
			$text           = (int) @filesize( $path ) > $left || is_link( $path ) ? false : @file_get_contents( $path );
			$left          -= strlen( (string) $text );
			$files[ $name ] = false === $text ? null : array( 'text' => base64_encode( $text ), 'mode' => fileperms( $path ) & 0777 );
		}
		$options = self::stored( self::VITAL );
		$held    = array_map( 'base64_encode', self::stored( self::held( $options['stylesheet'] ?? '' ) ) );
		return array( 'files' => $files, 'options' => $options, 'held' => $held, 'cron' => self::stored( array( 'cron' ) )['cron'] ?? '' );
	}

	/** Without a snapshot, everything is forgotten that is not still armed. */
	private function forget( ?string $id, array $armed ): void {
		$known = $this->remembered();
		foreach ( array_keys( $known ) as $one ) {
			if ( null === $id ? in_array( (string) $one, $armed, true ) : $id !== (string) $one ) continue;
			@unlink( "$this->store/before-$one.json" );
			unset( $known[ $one ] );
		}
		$this->put_json( 'before', $known );
		if ( ! $known ) @unlink( "$this->store/outer.json" );
	}

	/** Encrypted, because wp-config.php has secrets; the file is sealed as all others are. */
	private static function hide( string $text ): string {
		$iv = random_bytes( 16 );
		return base64_encode( $iv . openssl_encrypt( $text, 'aes-256-ctr', hash_hmac( 'sha256', 'before', self::secret(), true ), OPENSSL_RAW_DATA, $iv ) );
	}

	private static function show( string $hidden ): string {
		$data = (string) base64_decode( $hidden );
		return (string) openssl_decrypt( substr( $data, 16 ), 'aes-256-ctr', hash_hmac( 'sha256', 'before', self::secret(), true ), OPENSSL_RAW_DATA, substr( $data, 0, 16 ) );
	}

	/** Restores what was named as it was when the item was armed: files, vital options, recurring events that are gone. */
	private function do_mend( array $request ): array {
		$id   = $request['snapshot'] ?? null;
		$kept = is_string( $id ) && isset( $this->remembered()[ $id ] ) ? json_decode( self::show( $this->get_json( "before-$id" )['hidden'] ?? '' ), true ) : null;
		Sitefleet_Refusal::when( ! is_array( $kept ), 'not_found', 'What was kept when this snapshot was armed is gone.' );
		$named  = fn( string $what ) => array_values( array_filter( (array) ( $request[ $what ] ?? array() ), 'is_string' ) );
		$mended = array(
			'files'   => array_values( array_filter( $named( 'files' ), fn( $name ) => $this->mend_file( $name, $kept['files'] ) ) ),
			'options' => array_values( array_filter( $named( 'options' ), fn( $name ) => isset( $kept['held'][ $name ] ) ? self::mend_held( $name, base64_decode( $kept['held'][ $name ] ) ) : self::mend_option( $name, $kept['options'] ) ) ),
			'events'  => self::mend_events( $named( 'events' ), self::plain( $kept['cron'] ) ),
		);
		return array( 'mended' => $mended );
	}

	/** A file that was not there is removed; one that was too large to keep, or is a link, is left. */
	private function mend_file( string $name, array $kept ): bool {
		$path = $this->outer_files()[ $name ] ?? null;
		if ( null === $path && isset( $kept[ $name ] ) ) $path = $this->outer_folders()[ preg_replace( '#[^/]+\z#', '', $name ) ] . '/' . basename( $name );
		if ( null === $path || is_link( $path ) || realpath( $path ) === __FILE__ ) return false;
		if ( ! array_key_exists( $name, $kept ) ) {
			$done = @unlink( $path );
		} elseif ( null === $kept[ $name ] ) {
			$done = false;
		} else {
			// Prepared in the guard's folder: a draft beside the file could be read, or run. It is there for a moment only, as PHP copies what is
			// moved to another file system, and a copy that ends half-way must not be in the place of the file.
			$draft = "$this->store/" . bin2hex( random_bytes( 16 ) ) . '.tmp';
			$near  = dirname( $path ) . '/.ht-sitefleet-' . bin2hex( random_bytes( 16 ) ) . '.tmp';
			$text  = base64_decode( $kept[ $name ]['text'] );
			$done  = strlen( $text ) === @file_put_contents( $draft, $text ) && ( self::php( 'chmod', $draft, $kept[ $name ]['mode'] ) || $kept[ $name ]['mode'] === ( fileperms( $draft ) & 0777 ) ) && $this->move( $draft, $near ) && $this->move( $near, $path );
			@unlink( $draft );
			@unlink( $near );
		}
		self::forget_code( $path );
		return $done;
	}

	private static function mend_option( string $name, array $kept ): bool {
		if ( ! in_array( $name, self::VITAL, true ) || ! isset( $kept[ $name ] ) ) return false;
		self::forget_options( $name );
		update_option( $name, $kept[ $name ] );
		// WordPress makes them again from the structure.
		if ( 'permalink_structure' === $name ) delete_option( 'rewrite_rules' );
		return ( self::stored( array( $name ) )[ $name ] ?? null ) === $kept[ $name ];
	}

	/** As it was stored: what it holds is not made into objects. Only one that is gone; a changed one may be meant. */
	private static function mend_held( string $name, string $value ): bool {
		global $wpdb;
		$now = self::stored( array( $name ) )[ $name ] ?? '';
		if ( ! in_array( $now, array( '', 'a:0:{}' ), true ) ) return false;
		$wpdb->replace( $wpdb->options, array( 'option_name' => $name, 'option_value' => $value, 'autoload' => 'yes' ) );
		self::forget_options( $name );
		return ( self::stored( array( $name ) )[ $name ] ?? null ) === $value;
	}

	/** Not with WordPress' own functions: no plugin has told it of its schedules yet. */
	private static function mend_events( array $hooks, array $kept ): array {
		self::forget_options( 'cron' );
		$now  = (array) get_option( 'cron', array() );
		$gone = array();
		foreach ( $kept as $time => $all ) {
			foreach ( is_array( $all ) ? $all : array() as $hook => $events ) {
				if ( ! in_array( (string) $hook, $hooks, true ) || in_array( (string) $hook, array_column( self::events(), 'hook' ), true ) ) continue;
				$now[ $time ][ $hook ] = $events;
				$gone[ $hook ]         = true;
			}
		}
		uksort( $now, 'strnatcasecmp' );
		if ( $gone ) update_option( 'cron', $now );
		return array_values( array_intersect( array_map( 'strval', array_keys( $gone ) ), array_column( self::events(), 'hook' ) ) );
	}

	/** An update may have written to the database past WordPress' cache. */
	private static function forget_options( string $name ): void {
		foreach ( array( 'alloptions', 'notoptions', $name ) as $key ) wp_cache_delete( $key, 'options' );
	}

	/**
	 * Drop-ins, wp-config.php, must-use plugins and .htaccess are read before this file: what is fatal there ends every request before it can be
	 * undone. So a request in which one of them changed asks, at its end, whether the next request still gets here.
	 */
	private function outlive(): void {
		$known = $this->get_json( 'outer' )['files'] ?? null;
		if ( ! is_array( $known ) || self::in_maintenance() || ! self::file_mods() ) return;
		$now  = $this->outer_stats();
		$news = array_keys( array_diff_assoc( $now, $known ) + array_diff_key( $known, $now ) );
		$all  = array_reverse( $this->armed() );
		$ask  = $this->remembered()[ $all[0]['snapshot'] ?? '' ]['ask'] ?? null;
		if ( ! $news || null === $ask ) return;
		self::php( 'ignore_user_abort', true );
		self::php( 'set_time_limit', 0 );
		// Once for each change. Busy: the next request asks.
		$this->locked( fn() => $this->put_json( 'outer', array( 'files' => $now ) ), 0.0 );
		if ( ! self::next_dies( $ask ) ) return;
		self::php( 'sleep', 1 );
		if ( self::next_dies( $ask ) ) $this->locked( fn() => $this->revive( array_map( 'strval', $news ), $all[0], $ask ), 5.0 );
	}

	/** Puts files back that end every request, and the item that was updated last; changes nothing if that does not help. */
	private function revive( array $names, array $armed, string $ask ): void {
		$kept   = json_decode( self::show( $this->get_json( "before-{$armed['snapshot']}" )['hidden'] ?? '' ), true )['files'] ?? null;
		$paths  = $this->outer_files();
		$broken = array();
		foreach ( is_array( $kept ) ? $names : array() as $name ) {
			$text = isset( $paths[ $name ] ) ? @file_get_contents( $paths[ $name ] ) : null;
			$mode = isset( $paths[ $name ] ) ? fileperms( $paths[ $name ] ) & 0777 : 0;
			// What could not be restored if it does not help is left as it is.
			if ( false !== $text && $this->mend_file( $name, $kept ) ) $broken[ $name ] = null === $text ? null : array( 'text' => base64_encode( $text ), 'mode' => $mode );
		}
		if ( ! $broken ) return;
		$alive = self::lives( self::ask_alive( $ask ) );
		if ( ! $alive ) foreach ( array_keys( $broken ) as $name ) $this->mend_file( $name, array_filter( $broken ) );
		$this->put_json( 'outer', array( 'files' => $this->outer_stats() ) );
		if ( ! $alive ) return;
		$file  = $paths[ array_key_first( $broken ) ] ?? $this->content;
		$error = array( 'type' => E_ERROR, 'class' => 'before', 'message' => 'As it was changed, it ended every request before WordPress had started', 'file' => $file, 'line' => 0 );
		$fault = array( 'restored' => null, 'waited' => null, 'armed' => true, 'blames' => $armed['snapshot'], 'before' => 0, 'count' => 1, 'first' => time() ) + $this->describe( $error );
		try {
			if ( ! $this->restore( $this->snapshot( $armed['snapshot'] ) )['already'] ) $fault['restored'] = $armed['snapshot'];
		} catch ( Throwable $failure ) {
			$fault['waited'] = $failure instanceof Sitefleet_Refusal ? $failure->reason : 'failed';
		}
		$this->quietly( fn() => $this->put_json( 'armed', $this->armed( $armed['kind'], $armed['slug'] ) ) );
		$fault['ours'] = $this->is_look( $_SERVER, self::key(), $this->sites(), time() ) ? time() : null;
		$this->put_json( 'faults', self::newest( array( $fault['mark'] => $fault ) + $this->get_json( 'faults' ) ) );
	}

	/** When such files were written last, and their sizes. */
	private function outer_stats(): array {
		clearstatcache();
		return array_map( fn( $path ) => @filemtime( $path ) . ' ' . @filesize( $path ), $this->outer_files() );
	}

	/** admin-ajax.php is in no cache, and the guard answers before it does anything. Not wp-cron.php: PHP-FPM answers 200 there, whatever follows. */
	private static function ask_alive( string $ask ) {
		$headers = array( 'X-Sitefleet-Alive' => self::word( 'ask' ), 'Cache-Control' => 'no-cache' );
		if ( isset( $_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'] ) ) $headers['Authorization'] = 'Basic ' . base64_encode( wp_unslash( "{$_SERVER['PHP_AUTH_USER']}:{$_SERVER['PHP_AUTH_PW']}" ) );
		$verify = apply_filters( 'https_local_ssl_verify', false );
		// WordPress may be told to ask no one but itself, and a visitor may have named another address as its own.
		$here = fn() => $ask;
		add_filter( 'pre_option_siteurl', $here );
		$answer = wp_remote_post( $ask, array( 'timeout' => 10, 'redirection' => 0, 'sslverify' => $verify, 'headers' => $headers ) );
		remove_filter( 'pre_option_siteurl', $here );
		return $answer;
	}

	/** Only what PHP itself says when it dies: a server that cannot reach itself knows nothing. */
	private static function next_dies( string $ask ): bool {
		$answer = self::ask_alive( $ask );
		if ( is_wp_error( $answer ) || self::lives( $answer ) ) return false;
		return 500 === wp_remote_retrieve_response_code( $answer ) || preg_match( '/(Fatal|Parse) error(<\/b>)?:/', wp_remote_retrieve_body( $answer ) );
	}

	private static function lives( $answer ): bool { return ! is_wp_error( $answer ) && hash_equals( self::word( 'tell' ), (string) wp_remote_retrieve_header( $answer, 'x-sitefleet-alive' ) ); }

	private static function word( string $what ): string { return hash_hmac( 'sha256', "alive $what", self::secret() ); }

	/** Returns only if the site has not asked itself. */
	private static function tell_alive( string $asked ): void {
		if ( '' === self::secret() || ! hash_equals( self::word( 'ask' ), $asked ) ) return;
		status_header( 204 );
		header( 'X-Sitefleet-Alive: ' . self::word( 'tell' ) );
		header( 'Cache-Control: no-store' );
		exit;
	}

	/** Counts mails that an armed item sends. A site that sends many of its own has a right to. */
	private function count_mails(): void {
		$armed = $this->armed();
		add_filter(
			'wp_mail',
			function ( $mail ) use ( $armed ) {
				$files = array_column( self::php( 'debug_backtrace', DEBUG_BACKTRACE_IGNORE_ARGS, 100 ) ?: array(), 'file' );
				$this->quietly( fn() => $this->mails += (int) ( null !== $this->culprit( array( 'file' => '', 'frames' => $files ), $armed ) ) );
				return $mail;
			},
			PHP_INT_MIN
		);
		// At the end of the request: a storm must not become one of writes.
		$add = fn() => $this->put_json( 'mails', array( 'sent' => $this->mails + ( $this->get_json( 'mails' )['sent'] ?? 0 ) ) );
		register_shutdown_function( fn() => $this->mails && $this->quietly( fn() => $this->locked( $add ) ) );
	}

	// --------------------------------------------------------------------------------------------- items and snapshots

	/** The path of an item. A slug is WordPress' own: `folder/file.php` or `file.php` for a plugin, the folder for a theme. */
	public function item( $kind, $slug ): array {
		$part  = '[^./\\\\:*?"<>|\x00-\x1f][^/\\\\:*?"<>|\x00-\x1f]{0,190}';
		$forms = array(
			'plugin' => "#^(?<name>$part)/(?<file>$part\.php)\z|^(?<single>$part\.php)\z#",
			'theme' => "#^(?:(?<above>$part)/)?(?<name>$part)\z#",
		);
		$bad = ! is_string( $kind ) || ! isset( $forms[ $kind ] ) || ! is_string( $slug ) || ! preg_match( $forms[ $kind ], $slug, $found );
		Sitefleet_Refusal::when( $bad, 'bad_request', 'kind must be plugin or theme, and slug the name that WordPress has for it.' );
		$single = ! empty( $found['single'] );
		$parent = $this->roots[ $kind ] . ( empty( $found['above'] ) ? '' : "/{$found['above']}" );
		$path   = "$parent/" . ( $single ? $found['single'] : $found['name'] );
		$bad = is_link( $parent ) && ! empty( $found['above'] ) || is_link( $path );
		Sitefleet_Refusal::when( $bad, 'symlink', "$slug is a symbolic link: what it points to is not the guard's to change." );
		$main = $single ? $path : $path . '/' . ( 'plugin' === $kind ? $found['file'] : 'style.css' );
		return compact( 'kind', 'slug', 'parent', 'path', 'single', 'main' );
	}

	/** Files and folders below a path in a fixed order, the path itself first for a single file: name => [ size, null for a folder; mode ]. */
	private function walk( string $path, bool $single ): Generator {
		$todo = array( $single ? basename( $path ) : '' );
		$base = $single ? dirname( $path ) : $path;
		while ( $todo ) {
			$name = array_pop( $todo );
			$full = '' === $name ? $base : "$base/$name";
			// Nothing can be asked of it. It is too long to be kept, too.
			if ( strlen( $full ) > self::LONGEST ) {
				yield $name => array( 0, 0 );
				continue;
			}
			$stat = @lstat( $full );
			$type = $stat ? $stat['mode'] & 0170000 : 0;
			// Gone since its folder was read, as files are that a plugin writes on visits. Code comes back in a moment if it was only replaced.
			if ( ! $stat && '' !== $name && ! self::there( $full ) ) {
				Sitefleet_Refusal::when( self::is_code( $name ), 'changed', 'Went while it was copied: ' . $this->relative( $full ) . '.' );
				continue;
			}
			if ( 0040000 !== $type && 0100000 !== $type ) {
				$what = 0120000 === $type ? 'symlink' : 'unreadable';
				throw new Sitefleet_Refusal( $what, 'Only plain files and folders can be kept: ' . $this->relative( $full ) . '.' );
			}
			if ( '' !== $name ) yield $name => array( 0100000 === $type ? $stat['size'] : null, $stat['mode'] & 0777 );
			if ( 0040000 === $type ) {
				$below = @scandir( $full );
				if ( false === $below && '' !== $name && ! self::there( $full ) ) continue;
				Sitefleet_Refusal::when( false === $below, 'unreadable', 'Cannot be read: ' . $this->relative( $full ) . '.' );
				// The last one is taken first.
				rsort( $below, SORT_STRING );
				foreach ( array_diff( $below, array( '.', '..' ) ) as $entry ) $todo[] = '' === $name ? $entry : "$name/$entry";
			}
		}
	}

	/**
	 * Bytes of the longest name below an item that can be restored. Visitors may make paths of any length, by the address they ask for; a copy is
	 * unpacked in the working folder, where they are longer. The same for an item that is in that folder, so that its digest is the same.
	 */
	private static function longest_name( string $path, bool $single ): int {
		$working = preg_match( '#/\.sitefleet-guard-[0-9a-f]{32}/(new|old)/[^/]+\z#', $path ) ? 0 : strlen( '/.sitefleet-guard-/new' ) + 32;
		return self::LONGEST - strlen( $single ? dirname( $path ) : $path ) - 1 - $working;
	}

	/**
	 * As `walk`, without what is left out: data whose path is too long to be restored; where an item is too large, files that are not code and
	 * larger than this, and folders of nothing else.
	 */
	private function kept( string $path, bool $single, int $room ): Generator {
		$above   = array();
		$longest = self::longest_name( $path, $single );
		foreach ( $this->walk( $path, $single ) as $name => $about ) {
			if ( strlen( (string) $name ) > $longest ) {
				$bad = null !== $about[0] && self::runs( (string) $name );
				Sitefleet_Refusal::when( $bad, 'too_large', 'The path of a file of code is too long to be restored: ' . substr( (string) $name, 0, 100 ) . '...' );
				continue;
			}
			if ( PHP_INT_MAX === $room ) {
				yield $name => $about;
				continue;
			}
			$above = array_filter( $above, fn( $folder ) => 0 === strpos( (string) $name, "$folder/" ), ARRAY_FILTER_USE_KEY );
			if ( null === $about[0] ) {
				$above[ $name ] = $about;
			} elseif ( self::is_kept( (string) $name, $about[0], $room ) ) {
				yield from $above;
				$above = array();
				yield $name => $about;
			}
		}
	}

	/** What runs is always kept, and what pages are made of unless it is as large as only a log is. */
	private static function is_kept( string $name, int $size, int $room ): bool {
		if ( $size <= $room || self::runs( $name ) ) return true;
		return $size <= self::ROOMS[1] && preg_match( '#\.([cm]?js|css|json|html?|tpl|twig|mo|po|svg)\z#i', $name );
	}

	/** SHA-256 over names, sizes and contents of an item, file by file; '' if it cannot be read. */
	public function digest( string $path, bool $single, int $room = PHP_INT_MAX ): string {
		$tree = hash_init( 'sha256' );
		try {
			foreach ( $this->kept( $path, $single, $room ) as $name => list( $size ) ) {
				$sum = null === $size ? '' : (string) @hash_file( 'sha256', $single ? $path : "$path/$name" );
				hash_update( $tree, self::digest_line( (string) $name, $size, $sum ) );
			}
		} catch ( Sitefleet_Refusal $error ) {
			return '';
		}
		return hash_final( $tree );
	}

	/** Only updates change it. All else a plugin may write on visits. */
	private static function is_code( string $name ): bool { return (bool) preg_match( '#\.ph[^./]*\z#i', $name ); }

	private static function runs( string $name ): bool { return self::is_code( $name ) || preg_match( self::STEERS, basename( $name ) ); }

	private static function digest_line( string $name, ?int $size, string $sum ): string {
		return null === $size ? "d\0$name\n" : "f\0$name\0$size\0$sum\n";
	}

	/** How much of an item is kept, and how many files of code that is. A visitor who makes an item large, as by what it logs, must not keep it from being updated. */
	private function room( array $item, string $path, int $most ): array {
		$free = self::php( 'disk_free_space', $this->store );
		$full = false;
		foreach ( self::ROOMS as $room ) {
			list( $files, $bytes, $code ) = array( 0, 0, 0 );
			// A full disk is no reason to leave out what is not large.
			if ( $room > $most || ( $full && $room < self::ROOMS[1] ) ) continue;
			foreach ( $this->kept( $path, $item['single'], $room ) as $name => list( $size ) ) {
				$code  += (int) self::is_code( (string) $name );
				$bytes += (int) $size;
				if ( ++$files > static::MAX_FILES || $bytes > static::MAX_BYTES ) continue 2;
			}
			$full = $full || ( false !== $free && $free - $bytes < 2 * $bytes );
			if ( false === $free || $free - $bytes >= 2 * $bytes ) return array( $room, $code );
			$needed = $bytes;
		}
		Sitefleet_Refusal::when( $full, 'no_space', "Too little space: {$item['slug']} has " . ( $needed ?? 0 ) . ' bytes, and three times that must be free.' );
		throw new Sitefleet_Refusal( 'too_large', "{$item['slug']} has more than 50,000 files or 500 MB, without those that are not code." );
	}

	/** What is not kept of an item: how much, how many files for their long paths, and the largest. */
	private function left_out( array $item, string $path, int $room ): array {
		$left    = PHP_INT_MAX === $room ? array() : array( 'over' => $room );
		$left   += array( 'files' => 0, 'bytes' => 0, 'largest' => array() );
		$longest = self::longest_name( $path, $item['single'] );
		foreach ( $this->walk( $path, $item['single'] ) as $name => list( $size ) ) {
			$long = strlen( (string) $name ) > $longest;
			if ( null === $size || ( ! $long && self::is_kept( (string) $name, $size, $room ) ) ) continue;
			if ( $long ) $left['long'] = 1 + ( $left['long'] ?? 0 );
			++$left['files'];
			$left['bytes']            += $size;
			$left['largest'][ $name ] = $size;
			arsort( $left['largest'] );
			$left['largest'] = array_slice( $left['largest'], 0, 3, true );
		}
		$left['largest'] = array_map( 'strval', array_keys( $left['largest'] ) );
		return $left;
	}

	/** Packs an item into a container. It counts as existing once its description (.json) exists. At most files of this size that are not code. */
	private function pack( array $item, string $path, string $role, int $most = PHP_INT_MAX ): array {
		list( $room, $code ) = $this->room( $item, $path, $most );
		$main     = $path . substr( $item['main'], strlen( $item['path'] ) );
		$header   = is_file( $main ) ? get_file_data( $main, array( 'version' => 'Version' ) ) : array( 'version' => '' );
		$snapshot = array(
			'id' => bin2hex( random_bytes( 16 ) ), 'role' => $role, 'kind' => $item['kind'], 'slug' => $item['slug'],
			'version' => $header['version'], 'created' => time(), 'order' => (int) ( microtime( true ) * 1000000 ),
			'mode' => fileperms( $path ) & 0777,
		);
		$left     = $this->left_out( $item, $path, $room );
		if ( PHP_INT_MAX !== $room || $left['files'] ) $snapshot['left_out'] = $left;
		$copy     = "$this->store/{$snapshot['id']}";
		try {
			$snapshot             += $this->replace( "$copy.bin", fn( $out ) => $this->pack_into( $out, $path, $item['single'], $code, $room ) );
			$snapshot['container'] = (string) hash_file( 'sha256', "$copy.bin" );
			$this->put_json( $snapshot['id'], $snapshot );
		} catch ( Throwable $error ) {
			@unlink( "$copy.bin" );
			throw $error;
		}
		return $snapshot;
	}

	/**
	 * Container: for each entry a line `f|d mode size length-of-name`, name, contents, SHA-256 in hex; at the end `e`. All masked.
	 * At least so many files of code: what is gone without a trace may have been a folder of them.
	 */
	private function pack_into( $out, string $path, bool $single, int $code, int $room ): array {
		$put   = fn( string $piece ) => self::write( $out, self::mask( $piece ) );
		$tree  = hash_init( 'sha256' );
		$files = 0;
		$bytes = 0;
		foreach ( $this->kept( $path, $single, $room ) as $name => list( $size, $mode ) ) {
			$name = (string) $name;
			$full = $single ? $path : "$path/$name";
			$in   = null === $size ? null : @fopen( $full, 'rb' );
			if ( false === $in && ! self::there( $full ) ) {
				Sitefleet_Refusal::when( self::is_code( $name ), 'changed', 'Went while it was copied: ' . $this->relative( $name ) . '.' );
				continue;
			}
			$sum   = '';
			$code -= (int) self::is_code( $name );
			$place = ftell( $out );
			// All sizes are as long, so that one can be written over another.
			$head  = fn( $size ) => sprintf( null === $size ? "d %o %d %d\n%s" : "f %o %010d %d\n%s", $mode, $size, strlen( $name ), $name );
			$put( $head( $size ) );
			if ( null !== $size ) {
				$in                 = $in ? $in : self::open( $full, 'r' );
				list( $sum, $read ) = $this->copy( fn( $length ) => @fread( $in, $length ), $size, $put );
				$torn               = $read < $size || '' !== (string) @fread( $in, 1 );
				fclose( $in );
				Sitefleet_Refusal::when( $torn && self::runs( $name ), 'changed', 'Changed while it was copied: ' . $this->relative( $name ) . '.' );
				// What a plugin writes on visits grows and shrinks with them: so much was there.
				if ( $read < $size ) {
					$size = $read;
					fseek( $out, $place );
					$put( $head( $size ) );
					fseek( $out, 0, SEEK_END );
				}
				$put( $sum );
				++$files;
				$bytes += $size;
			}
			hash_update( $tree, self::digest_line( $name, $size, $sum ) );
		}
		Sitefleet_Refusal::when( $code > 0, 'changed', 'Files of code went while it was copied.' );
		$put( "e\n" );
		return array( 'files' => $files, 'bytes' => $bytes, 'digest' => hash_final( $tree ) );
	}

	/** Unpacks a container to a path that does not exist yet. Its names are not trusted. */
	private function unpack( array $snapshot, string $path, bool $single ): void {
		$in  = self::open( "$this->store/{$snapshot['id']}.bin", 'r' );
		$get = fn( int $length ) => self::mask( (string) fread( $in, $length ) );
		if ( ! $single ) self::make_folder( $path );
		$modes = array();
		for ( ;; ) {
			for ( $line = '', $byte = null; "\n" !== $byte && '' !== $byte && strlen( $line ) < 64; $line .= $byte ) {
				$byte = $get( 1 );
			}
			if ( "e\n" === $line ) break;
			if ( ! preg_match( '/^([fd]) ([0-7]{1,3}) (\d{1,10}) ([1-9]\d{0,3})\n\z/', $line, $found ) ) throw self::damaged();
			$name = $get( (int) $found[4] );
			if ( strlen( $name ) !== (int) $found[4] || ! self::safe_name( $name ) || ( $single && basename( $path ) !== $name ) ) {
				throw self::damaged();
			}
			$to = $single ? $path : "$path/$name";
			if ( 'd' === $found[1] ) {
				self::make_folder( $to );
				$modes[ $to ] = octdec( $found[2] );
				continue;
			}
			// "x" creates a file and never opens an existing one, not even a link.
			$out = self::open( $to, 'x' );
			list( $sum, $read ) = $this->copy( $get, (int) $found[3], fn( $piece ) => self::write( $out, $piece ) );
			fclose( $out );
			self::php( 'chmod', $to, octdec( $found[2] ) );
			if ( $read !== (int) $found[3] || ! hash_equals( $sum, $get( 64 ) ) ) throw self::damaged();
		}
		fclose( $in );
		$modes[ $path ] = $snapshot['mode'];
		// Last, and from the bottom up, because a folder may be read-only.
		foreach ( array_reverse( $modes ) as $folder => $mode ) self::php( 'chmod', $folder, $mode );
	}

	/** Elsewhere than on Windows a backslash is a letter like others, and archives from there leave names with it. */
	private static function safe_name( string $name ): bool {
		return ! preg_match( '#^/|//|/\z|(^|/)\.\.?(/|\z)|\x00#', $name ) && ( '/' === DIRECTORY_SEPARATOR || ! preg_match( '#[:\\\\]#', $name ) );
	}

	private static function damaged(): Sitefleet_Refusal {
		return new Sitefleet_Refusal( 'damaged', 'The snapshot is damaged; nothing was changed.' );
	}

	/** Reads this many bytes, or as many as there are, and passes them on in chunks. Returns their SHA-256 and number. */
	private function copy( callable $get, int $size, callable $put ): array {
		$hash = hash_init( 'sha256' );
		for ( $read = 0; $read < $size; $read += strlen( $piece ) ) {
			$piece = $get( min( self::CHUNK, $size - $read ) );
			Sitefleet_Refusal::when( false === $piece, 'damaged', 'A file could not be read to its end, while it was copied.' );
			if ( '' === $piece ) break;
			hash_update( $hash, $piece );
			$put( $piece );
		}
		return array( hash_final( $hash ), $read );
	}

	private static function mask( string $data ): string { return $data ^ str_repeat( self::MASK, strlen( $data ) ); }

	/** Descriptions of all snapshots, newest first. */
	private function snapshots(): array {
		$all = array();
		foreach ( '' === $this->store ? array() : (array) @scandir( $this->store ) as $file ) {
			if ( preg_match( '/^([0-9a-f]{32})\.json\z/', (string) $file, $found ) ) {
				$one = $this->get_json( $found[1] );
				if ( ( $one['id'] ?? '' ) === $found[1] && is_file( "$this->store/{$found[1]}.bin" ) ) $all[] = $one;
			}
		}
		usort( $all, fn( $a, $b ) => array( $b['order'], $b['id'] ) <=> array( $a['order'], $a['id'] ) );
		return $all;
	}

	private function snapshot( $id ): array {
		foreach ( $this->snapshots() as $one ) if ( $one['id'] === $id ) return $one;
		throw new Sitefleet_Refusal( 'not_found', 'There is no such snapshot.' );
	}

	/** Drops older snapshots of the same item and role beyond the number that is kept, except armed ones. */
	private function keep_newest( array $newest ): void {
		$armed = array_column( $this->armed(), 'snapshot' );
		$left  = 'snapshot' === $newest['role'] ? self::KEEP_PER_ITEM : 1;
		foreach ( $this->snapshots() as $one ) {
			$same = $one['kind'] === $newest['kind'] && $one['slug'] === $newest['slug'] && $one['role'] === $newest['role'];
			if ( $same && --$left < 0 && ! in_array( $one['id'], $armed, true ) ) $this->drop( $one['id'] );
		}
	}

	private function drop( string $id ): void {
		@unlink( "$this->store/$id.json" );
		@unlink( "$this->store/$id.bin" );
	}

	/** Removes expired files, and leftovers of killed processes. Only under the lock. */
	private function prune(): void {
		// It gets the time of now, on hosts without touch(), too.
		@file_put_contents( "$this->store/lock", '' );
		$armed = array_column( $this->armed(), 'snapshot' );
		$known = $this->remembered();
		$keep  = array();
		foreach ( $this->snapshots() as $one ) {
			if ( $one['created'] < time() - self::KEEP_DAYS * DAY_IN_SECONDS && ! in_array( $one['id'], $armed, true ) ) {
				$this->drop( $one['id'] );
			} else {
				$keep[ "{$one['id']}.bin" ] = $keep[ "{$one['id']}.json" ] = true;
			}
		}
		foreach ( (array) @scandir( $this->store ) as $file ) {
			$lapsed = 0 === strpos( $file, 'nonce-' ) && @filemtime( "$this->store/$file" ) < time() - 3 * self::SKEW;
			$lapsed = $lapsed || ( preg_match( '/^visits-\d+-(\d{4}-\d\d-\d\d)\z/', $file, $of ) && $of[1] < gmdate( 'Y-m-d', time() - self::COUNTED_DAYS * DAY_IN_SECONDS ) );
			$orphan = preg_match( '/^[0-9a-f]{32}\.(bin|json)\z|\.tmp\z/', $file ) && ! isset( $keep[ $file ] );
			$past   = preg_match( '/^before-([0-9a-f]{32})\.json\z/', $file, $found ) && ! isset( $known[ $found[1] ] );
			$ended  = 0 === strpos( $file, 'update-' ) && @filemtime( "$this->store/$file" ) < time() - DAY_IN_SECONDS && ! $this->is_locked( $file );
			$past   = $past || ( 'outer.json' === $file && ! $known );
			if ( $lapsed || $orphan || $past || $ended ) @unlink( "$this->store/$file" );
		}
		// Folders made with other secrets or by an older guard: their files are no longer used.
		foreach ( (array) @scandir( $this->content ) as $name ) {
			$path = "$this->content/$name";
			if ( preg_match( '/^sitefleet-guard-[0-9a-f]{32}\z/', (string) $name ) && $path !== $this->store && @filemtime( $path ) < time() - self::KEEP_DAYS * DAY_IN_SECONDS ) $this->remove( $path );
		}
	}

	private function tidy(): void { $this->quietly( fn() => '' === $this->store || $this->locked( fn() => $this->prune(), 0.0 ) ); }

	/** For steps that may fail harmlessly: they are repeated another time. */
	private function quietly( callable $do ): void {
		try {
			$do();
		} catch ( Throwable $error ) {
			return;
		}
	}

	// --------------------------------------------------------------------------------------------------------- restore

	/**
	 * Restores a snapshot. Everything is prepared and checked next to the live item; then two renames swap it. The journal records
	 * the progress, so that the next request can finish or undo it before any plugin loads.
	 */
	private function restore( array $snapshot ): array {
		$this->finish_job();
		$item = $this->item( $snapshot['kind'], $snapshot['slug'] );
		if ( file_exists( $item['path'] ) && $this->digest( $item['path'], $item['single'], self::room_of( $snapshot ) ) === $snapshot['digest'] ) {
			self::forget_code( $item['path'] );
			return array( 'already' => true, 'replaced' => null );
		}
		$this->need_writable( $item );
		$job  = array(
			'id' => bin2hex( random_bytes( 16 ) ), 'snapshot' => $snapshot['id'], 'kind' => $item['kind'], 'slug' => $item['slug'],
			'phase' => 'unpack', 'over' => self::room_of( $snapshot ),
		);
		$work = self::work( $item, $job );
		$this->put_json( 'journal', $job );
		try {
			// Before any of its files are among the plugins.
			$copy = (string) @hash_file( 'sha256', "$this->store/{$snapshot['id']}.bin" );
			if ( ! hash_equals( (string) ( $snapshot['container'] ?? '' ), $copy ) ) throw self::damaged();
			array_map( array( self::class, 'make_folder' ), array( $work, "$work/new", "$work/old" ) );
			$new = "$work/new/" . basename( $item['path'] );
			$this->unpack( $snapshot, $new, $item['single'] );
			if ( $this->digest( $new, $item['single'] ) !== $snapshot['digest'] ) throw self::damaged();
			$this->put_json( 'journal', array( 'phase' => 'swap' ) + $job );
		} catch ( Throwable $error ) {
			$this->end_job( $work );
			throw $error;
		}
		$result = $this->swap( $item, $job );
		$this->acquit( $item, $snapshot['created'] );
		return $result;
	}

	private static function room_of( array $snapshot ): int { return $snapshot['left_out']['over'] ?? PHP_INT_MAX; }

	/** Files that the copy does not have are taken over as they are from the version that it replaces. */
	private function carry_over( string $old, string $live, int $room ): void {
		$folders = array( '' );
		while ( $folders ) {
			$folder = array_pop( $folders );
			// What cannot be read, and links, keep nothing else from being taken over.
			foreach ( array_diff( (array) @scandir( "$old/$folder" ), array( '.', '..', '', false ) ) as $entry ) {
				$name = ltrim( "$folder/$entry", '/' );
				if ( is_link( "$old/$name" ) ) continue;
				if ( is_dir( "$old/$name" ) ) {
					$folders[] = $name;
					continue;
				}
				$size = @filesize( "$old/$name" );
				if ( false === $size || self::is_kept( $name, $size, $room ) || self::there( "$live/$name" ) ) continue;
				@mkdir( dirname( "$live/$name" ), 0755, true );
				$this->move( "$old/$name", "$live/$name" );
			}
		}
	}

	/** Errors of an item since its snapshot was taken belong to the replaced version, not to the old one. */
	private function acquit( array $item, int $since ): void {
		$faults = $this->get_json( 'faults' );
		foreach ( $faults as $mark => $fault ) {
			if ( $fault['before'] >= $since && $fault['kind'] === $item['kind'] && basename( $item['path'] ) === $fault['item'] ) {
				$faults[ $mark ]['before'] = 0;
			}
		}
		$this->quietly( fn() => $this->put_json( 'faults', $faults ) );
	}

	/** Next to the live item, so that a rename suffices; WordPress ignores names that begin with a dot. */
	private static function work( array $item, array $job ): string {
		return "{$item['parent']}/.sitefleet-guard-{$job['id']}";
	}

	/** Swaps a prepared restore, continuing from where it stopped. */
	private function swap( array $item, array $job ): array {
		$work = self::work( $item, $job );
		$live = $item['path'];
		$new  = "$work/new/" . basename( $live );
		$old  = "$work/old/" . basename( $live );
		if ( self::there( $new ) ) {
			// What is in the place although its version was moved aside is no version: a visitor's request has made it since.
			$aside = self::there( $old ) || ! self::there( $live ) || $this->move( $live, $old );
			if ( ! $aside || ! $this->put_in_place( $new, $live, $work ) ) {
				$why = "{$item['slug']} cannot be replaced: the file system refused to rename it.";
				// Until it is in its place again it is the only whole version: the journal stays, and the next request tries again.
				$bad = self::there( $old ) && ! $this->put_in_place( $old, $live, $work );
				Sitefleet_Refusal::when( $bad, 'not_writable', "$why Until it can, its files are in " . $this->relative( $old ) . '.' );
				$this->give_up( $job, $work );
				throw new Sitefleet_Refusal( 'not_writable', $why );
			}
		}
		$over = $job['over'] ?? PHP_INT_MAX;
		if ( PHP_INT_MAX !== $over && ! $item['single'] && self::there( $old ) ) $this->quietly( fn() => $this->carry_over( $old, $live, $over ) );
		self::forget_code( $live );
		$replaced = null;
		try {
			// Before it is packed: a process that dies meanwhile leaves no evidence, and no visitor's request has to pack it again.
			$this->put_json( 'journal', array( 'phase' => 'clean' ) + $job );
			if ( self::there( $old ) ) {
				$replaced = $this->pack( $item, $old, 'replaced', $over );
				$this->keep_newest( $replaced );
			}
		} catch ( Throwable $error ) {
			$replaced = null; // What was broken is kept as evidence only: no space for it is no failure.
		}
		$this->end_job( $work );
		wp_cache_delete( 'plugins', 'plugins' );
		foreach ( array( 'theme', 'screenshot', 'headers', 'post_templates' ) as $part ) {
			wp_cache_delete( $part . '-' . md5( "{$this->roots['theme']}/{$item['slug']}" ), 'themes' );
		}
		return array( 'already' => false, 'replaced' => $replaced );
	}

	/**
	 * Moves a whole version into its place. Requests that began before may make the folder again, as plugins do with folders for what they
	 * cache, and a folder with something in it is not replaced: it goes to what is removed in the end.
	 */
	private function put_in_place( string $whole, string $live, string $work ): bool {
		for ( $try = 1; $try <= self::MOVES; ++$try ) {
			if ( self::there( $live ) ) $this->move( $live, "$work/made-" . bin2hex( random_bytes( 8 ) ) );
			if ( $this->move( $whole, $live ) ) return true;
			self::php( 'usleep', 10000 );
		}
		return false;
	}

	/** Ends a restore that has changed nothing. If this process dies meanwhile, the rest of the copy must not be taken for a whole one. */
	private function give_up( array $job, string $work ): void {
		try {
			$this->put_json( 'journal', array( 'phase' => 'clean' ) + $job );
		} catch ( Sitefleet_Refusal $error ) {
			@unlink( "$this->store/journal.json" );
		}
		$this->end_job( $work );
	}

	private function end_job( string $work ): void {
		$this->remove( $work );
		@unlink( "$this->store/journal.json" );
	}

	/** Finishes or undoes a restore whose process died. Runs on every request, before any plugin loads. */
	public function settle(): void {
		if ( '' === $this->store || ! is_file( "$this->store/journal.json" ) ) return;
		// Busy: the restore is still running. Any other failure changed nothing, and the next request tries again.
		$this->quietly( fn() => $this->locked( fn() => $this->finish_job(), 0.0 ) );
	}

	/** Before another journal is written, or this one removed: what it tells of may be the only whole version of an item. Under the lock. */
	private function finish_job(): void {
		if ( is_file( "$this->store/journal.json" ) ) $this->resume( $this->get_json( 'journal' ) );
	}

	private function resume( array $job ): void {
		if ( ! preg_match( '/^[0-9a-f]{32}\z/', $job['id'] ?? '' ) ) {
			@unlink( "$this->store/journal.json" );
			return;
		}
		$item = $this->item( $job['kind'], $job['slug'] );
		'swap' === $job['phase'] ? $this->swap( $item, $job ) : $this->end_job( self::work( $item, $job ) );
	}

	// ----------------------------------------------------------------------------------- updates that WordPress makes

	/** Keeps a file locked while WordPress' upgrader works on an item: a restore in the middle would mix two versions. */
	private function attend_updates(): void {
		if ( '' === $this->store ) return;
		$begins = fn( $reply, array $about ) => $this->update_begins( $about ) ? $reply : new WP_Error( 'sitefleet_refused', 'Sitefleet has restored the old version and no longer waits for this update.' );
		add_filter( 'upgrader_pre_download', fn( $reply, $package = '', $upgrader = null, $about = array() ) => $begins( $reply, (array) $about ), PHP_INT_MAX, 4 );
		// Again when the download has finished, and before WordPress deactivates the plugin.
		add_filter( 'upgrader_pre_install', fn( $reply, $about = array() ) => $begins( $reply, (array) $about ), PHP_INT_MIN, 2 );
		// The last moment before the old version is removed.
		add_filter( 'upgrader_source_selection', fn( $source, $from = '', $upgrader = null, $about = array() ) => is_wp_error( $source ) ? $source : $begins( $source, (array) $about ), PHP_INT_MAX, 4 );
		$failed = array();
		add_filter(
			'upgrader_install_package_result',
			function ( $result, $about = array() ) use ( &$failed ) {
				$item = self::updated_item( (array) $about );
				// After a failure WordPress may restore files at the very end of the request.
				if ( null !== $item && is_wp_error( $result ) ) $failed[ self::update_file( $item ) ] = true;
				return $result;
			},
			PHP_INT_MAX,
			2
		);
		add_action( 'upgrader_process_complete', function () use ( &$failed ) { $this->updates = array_intersect_key( $this->updates, $failed ); }, PHP_INT_MIN );
	}

	/** The plugin or theme that the upgrader is working on; null for anything else. */
	private static function updated_item( array $about ): ?array {
		foreach ( array( 'plugin', 'theme' ) as $kind ) {
			if ( isset( $about[ $kind ] ) && is_string( $about[ $kind ] ) ) return array( 'kind' => $kind, 'slug' => $about[ $kind ] );
		}
		return null;
	}

	private static function update_file( array $item ): string { return 'update-' . md5( "{$item['kind']} {$item['slug']}" ); }

	/** False if the dashboard has given this update up. An item that cannot be locked is updated anyway. */
	private function update_begins( array $about ): bool {
		$item = self::updated_item( $about );
		if ( null === $item ) return true;
		$name = self::update_file( $item );
		// Only updates requested by the dashboard: the owner may update at any time.
		if ( isset( $_POST['mainwpsignature'] ) && ( $this->get_json( 'refused' )[ $name ] ?? 0 ) >= time() ) return false;
		$file = isset( $this->updates[ $name ] ) ? false : @fopen( "$this->store/$name", 'c' );
		// Another process may be checking the lock for a moment.
		for ( $i = 0; $file && ! isset( $this->updates[ $name ] ) && $i < 20; ++$i ) {
			if ( flock( $file, LOCK_EX | LOCK_NB ) ) {
				$this->updates[ $name ] = $file;
				ftruncate( $file, 0 );
				@fwrite( $file, self::seal( $name, (string) wp_json_encode( $item + array( 'since' => time() ) ) ) );
			} else {
				self::php( 'usleep', 50000 );
			}
		}
		return true;
	}

	/** Whether a living process holds one of the guard's files: the lock of a dead process is released at once. */
	private function is_locked( string $name ): bool {
		$file = @fopen( "$this->store/$name", 'r' );
		$busy = 0;
		if ( ! $file ) return false;
		$free = flock( $file, LOCK_SH | LOCK_NB, $busy );
		fclose( $file );
		return ! $free && 1 === $busy;
	}

	private function running_updates(): array {
		$all = array();
		foreach ( '' === $this->store ? array() : (array) @scandir( $this->store ) as $name ) {
			if ( ! preg_match( '/^update-[0-9a-f]{32}\z/', (string) $name ) || ! $this->is_locked( $name ) ) continue;
			$one = json_decode( $this->sealed( $name ), true );
			if ( is_array( $one ) ) $all[] = $one;
		}
		return $all;
	}

	private function await_update( array $item, float $patience = 3.0 ): void {
		for ( $until = microtime( true ) + $patience; $this->is_locked( self::update_file( $item ) ); self::php( 'usleep', 50000 ) ) {
			Sitefleet_Refusal::when( microtime( true ) >= $until, 'updating', "An update of {$item['slug']} is still running on this site; nothing was changed. Ask again in a moment." );
		}
	}

	/** For this many seconds updates of an item requested by the dashboard do not begin; 0 = they may. */
	private function refuse_updates( array $item, int $seconds ): void {
		$refused = array_filter( $this->get_json( 'refused' ), fn( $until ) => $until >= time() );
		$name    = self::update_file( $item );
		if ( ! $seconds && ! isset( $refused[ $name ] ) ) return;
		unset( $refused[ $name ] );
		$this->put_json( 'refused', $refused + ( $seconds ? array( $name => time() + $seconds ) : array() ) );
	}

	// -------------------------------------------------------------------------------------------------------- watchdog

	private function stand_watch(): void {
		if ( '' === $this->store ) return;
		$this->reserve = str_repeat( "\0", 131072 );
		$look          = function () {
			$this->reserve = '';
			$error         = error_get_last();
			if ( null !== $error && $error['type'] & self::FATAL ) $this->watch( $error );
		};
		// WordPress' own handler, which notifies the administrator by mail, runs before. The hook is for plugins that end the request
		// in it; the plain function is for requests that do not reach it.
		add_action( 'shutdown', $look, PHP_INT_MIN );
		register_shutdown_function( $look );
		// Copies expire even where no dashboard calls any more.
		if ( (int) @filemtime( "$this->store/lock" ) < time() - DAY_IN_SECONDS ) register_shutdown_function( fn() => $this->tidy() );
		// The error page may raise notices and deprecations, which become PHP's last error: here it still is the fatal one.
		$told = function ( $args, $error = null ) {
			if ( is_array( $error ) && isset( $error['type'], $error['message'], $error['file'], $error['line'] ) && $error['type'] & self::FATAL ) $this->watch( $error );
			return $args;
		};
		add_filter( 'wp_php_error_args', $told, PHP_INT_MIN, 2 );
		// Sitefleet also looks for what updates of the last day have done, when nothing is armed any more.
		if ( ! $this->armed() && ! isset( $_SERVER['HTTP_X_SITEFLEET_LOOK'] ) ) return;
		register_shutdown_function( fn() => $this->note_life( (float) ( $_SERVER['REQUEST_TIME_FLOAT'] ?? 0 ) ) );
		if ( '' === $this->sandbox ) $this->count_mails();
		// After the shutdown functions of plugins, which may write, too.
		if ( '' === $this->sandbox ) register_shutdown_function( fn() => register_shutdown_function( fn() => $this->quietly( fn() => $this->outlive() ) ) );
		// Most fatal errors are exceptions: caught here first, before anything can hide them or end the request.
		$before = set_exception_handler(
			function ( Throwable $thrown ) use ( &$before ) {
				$this->watch( self::error_of( $thrown ) );
				if ( null === $before ) throw $thrown; // Becomes the fatal error that it would have been.
				$before( $thrown );
			}
		);
	}

	/** An exception in the form of PHP's last error, with the files it passed through. Its text may be a visitor's: it proves nothing. */
	public static function error_of( Throwable $thrown ): array {
		$error = array(
			'type' => E_ERROR, 'message' => 'Uncaught ' . get_class( $thrown ) . ': ' . $thrown->getMessage(), 'file' => $thrown->getFile(),
			'line' => $thrown->getLine(), 'class' => get_class( $thrown ), 'frames' => array(),
		);
		for ( ; null !== $thrown; $thrown = $thrown->getPrevious() ) {
			$error['frames'] = array_merge( $error['frames'], array( $thrown->getFile() ), array_column( $thrown->getTrace(), 'file' ) );
		}
		return $error;
	}

	/** Records a fatal error; restores the armed item that caused it. Never throws. */
	public function watch( array $error ): void {
		if ( $this->watched ) return;
		$this->watched = true;
		self::php( 'ini_set', 'memory_limit', '-1' );
		self::php( 'set_time_limit', 0 );
		$this->quietly(
			function () use ( $error ) {
				// What a scheduled task works on, a visitor may have left.
				$task = defined( 'DOING_CRON' ) && DOING_CRON && did_action( 'wp_loaded' );
				$ours = ! $task && $this->is_look( $_SERVER, self::key(), $this->sites(), time() );
				// Busy: another process handles one. Visitors who keep it busy must not hide what a request of Sitefleet has met.
				$this->locked( fn() => $this->judge( $error, $ours && ! $this->refused ), $ours ? 5.0 : 0.0 );
			}
		);
	}

	private function judge( array $error, bool $ours ): void {
		$fault  = $this->describe( $error );
		$faults = $this->get_json( 'faults' );
		$past   = $faults[ $fault['mark'] ] ?? null;
		$armed  = $this->culprit( $error, array_reverse( $this->armed() ) );
		$reason = null;
		// What it may have failed for tells nothing of what is known already.
		if ( $this->refused && ( null === $armed || ( null !== $past && 'refused' !== $past['waited'] ) ) ) return;
		if ( null !== $armed ) {
			$reason = $this->reason_to_wait( $error, $armed, $past, $ours );
			if ( null === $reason ) {
				try {
					// Where the old version still is, the error is the old version's.
					if ( $this->restore( $this->snapshot( $armed['snapshot'] ) )['already'] ) $reason = 'known';
					else $fault['restored'] = $armed['snapshot'];
				} catch ( Throwable $failure ) {
					$reason = $failure instanceof Sitefleet_Refusal ? $failure->reason : 'failed';
				}
				// Even after a failure: a restore that did not help is not repeated.
				if ( 'known' !== $reason ) $this->quietly( fn() => $this->put_json( 'armed', $this->armed( $armed['kind'], $armed['slug'] ) ) );
				$faults = $this->get_json( 'faults' );
			}
		}
		$recent = null === $armed && $ours ? $this->culprit( $error, $this->recent() ) : null;
		$blames = $armed['snapshot'] ?? $recent['snapshot'] ?? $past['blames'] ?? null;
		// It belongs to another update, or to none.
		$kept = null !== $past && $past['blames'] === $blames ? $past : array( 'ours' => null, 'restored' => null );
		$news = null === $past || isset( $fault['restored'] ) || $reason !== $past['waited'] || $blames !== $past['blames'] || ( $ours && null === $past['ours'] );
		if ( ! $news && $past['time'] > time() - 10 ) {
			return; // A site that fails on every request need not write on each.
		}
		$fault['waited'] = $reason;
		$fault['armed']  = null !== $armed;
		$fault['blames'] = $blames;
		$fault['ours']   = $ours ? time() : $kept['ours'];
		$fault['first']  = $past['first'] ?? $fault['time'];
		$fault['before'] = null === $armed ? time() : ( $past['before'] ?? 0 );
		$fault['count']  = ( $past['count'] ?? 0 ) + 1;
		unset( $faults[ $fault['mark'] ] );
		$faults[ $fault['mark'] ] = $fault + array( 'restored' => $kept['restored'] );
		$this->put_json( 'faults', self::newest( $faults ) );
	}

	/** As many faults as are kept. What visitors provoke pushes out neither what looks of Sitefleet nor what tasks have met: the kind that has most gives way. */
	private static function newest( array $faults ): array {
		while ( count( $faults ) > self::MAX_FAULTS ) {
			$kinds  = array_map( fn( $one ) => isset( $one['ours'] ) || isset( $one['restored'] ) ? 'look' : ( empty( $one['cron'] ) ? 'visit' : 'task' ), $faults );
			$counts = array_count_values( $kinds );
			unset( $faults[ array_search( array_search( max( $counts ), $counts, true ), $kinds, true ) ] );
		}
		return $faults;
	}

	/** Items that were updated within the last day or so, newest first. */
	private function recent(): array {
		$items = array_filter( $this->snapshots(), fn( $one ) => 'snapshot' === $one['role'] && $one['created'] >= time() - self::RECENT );
		return array_values( array_map( fn( $one ) => array( 'snapshot' => $one['id'], 'kind' => $one['kind'], 'slug' => $one['slug'] ), $items ) );
	}

	/** Which of the items caused a fatal error: the first that contains its file, otherwise one that a frame of its stack lies in. */
	private function culprit( array $error, array $items ): ?array {
		foreach ( array( array( $error['file'] ), $error['frames'] ?? array() ) as $files ) {
			foreach ( $items as $one ) {
				$item = $this->item( $one['kind'], $one['slug'] );
				$tail = '/' . basename( $item['path'] ) . ( $item['single'] ? '' : '/' );
				foreach ( array( $item['parent'], strtr( (string) realpath( $item['parent'] ), '\\', '/' ) ) as $parent ) {
					foreach ( $files as $file ) if ( 0 === strpos( strtr( $file, '\\', '/' ), $parent . $tail ) ) return $one;
				}
			}
		}
		return null;
	}

	/** Why the watchdog leaves a fatal error of an armed item to Sitefleet; null if it acts. */
	private function reason_to_wait( array $error, array $armed, ?array $past, bool $ours ): ?string {
		if ( preg_match( self::RESOURCES, $error['message'] ) ) {
			return 'resources'; // A slow import is not a broken plugin.
		}
		if ( $this->refused ) return 'refused'; // It may have failed for that: Sitefleet sees the page, and compares.
		// What Sitefleet checks had worked before the update; only scheduled tasks were not tried.
		if ( ( $past['before'] ?? 0 ) && ( ! $ours || ( defined( 'DOING_CRON' ) && DOING_CRON ) ) ) {
			return 'known'; // The version before had the same.
		}
		if ( ! self::file_mods() ) return 'file_mods';
		$changed = $this->changed( $armed );
		if ( self::in_maintenance() || max( $changed, (int) @filectime( $error['file'] ) ) > time() - self::QUIET || $this->is_locked( self::update_file( $armed ) ) ) {
			return 'updating'; // Half a plugin is fatal too, and the other half may be on its way.
		}
		// A visitor may have provoked it, in any version. Sitefleet repeats it by a request of its own, unless it has not come in time and the whole site is down.
		$alone = ( $armed['alive'] ?? 0 ) <= $changed && $changed + ( $armed['patience'] ?? 0 ) <= time();
		return $ours || ( $alone && self::is_plain( $_SERVER, $this->remembered()[ $armed['snapshot'] ]['front'] ?? self::front_path() ) ) ? null : 'visitor';
	}

	/** When an item last changed, in unix seconds. */
	private function changed( array $one ): int {
		clearstatcache();
		$item = $this->item( $one['kind'], $one['slug'] );
		return max( (int) @filectime( $item['path'] ), (int) @filectime( $item['main'] ) );
	}

	/** A request for the front page with nothing in it that a visitor could choose but headers. */
	private static function is_plain( array $server, string $front ): bool {
		return 'GET' === ( $server['REQUEST_METHOD'] ?? '' ) && ! $_COOKIE && rtrim( (string) ( $server['REQUEST_URI'] ?? '' ), '/' ) === $front;
	}

	/** Of the front page, without a slash at its end. */
	private static function front_path(): string { return rtrim( '/' . trim( (string) parse_url( (string) get_option( 'home' ), PHP_URL_PATH ), '/' ), '/' ); }

	/** Records for armed items that a complete request has passed since they last changed, so the site is not down. */
	private function note_life( float $began ): void {
		// Times of files are whole seconds; a look of Sitefleet comes after the change.
		$after = 0;
		$lives = function ( array $one ) use ( $began, &$after ) {
			return ( $one['alive'] ?? 0 ) <= $this->changed( $one ) && $began >= $this->changed( $one ) + $after && ! $this->is_locked( self::update_file( $one ) );
		};
		if ( $this->watched || ! did_action( 'wp_loaded' ) || self::in_maintenance() || ! array_filter( $this->armed(), $lives ) ) return;
		$after = $this->is_look( $_SERVER, self::key(), $this->sites(), time() ) ? 0 : 1;
		if ( ! array_filter( $this->armed(), $lives ) ) return;
		$noted = fn() => array_map( fn( $one ) => $lives( $one ) ? array( 'alive' => $began ) + $one : $one, $this->armed() );
		$this->quietly( fn() => $this->locked( fn() => $this->put_json( 'armed', $noted() ), 0.0 ) );
	}

	/** The recorded facts of a fatal error: no request data, no stack, no absolute path. */
	private function describe( array $error ): array {
		$file    = $this->relative( $error['file'] );
		$message = $this->relative( strtok( $error['message'], "\n" ) );
		// In errors that PHP reports itself, and that no code can raise: it writes the class of an exception first.
		$named   = E_ERROR === $error['type'] && ( preg_match( '/^Uncaught ([\w\\\\]+)/', $error['message'], $parts ) || preg_match( self::RESOURCES, $error['message'], $parts ) );
		$class   = $error['class'] ?? ( $named ? $parts[1] : (string) $error['type'] );
		$found   = preg_match( '#^wp-content/(plugins|themes|mu-plugins)/([^/]+)#', $file, $parts );
		return array(
			'time' => time(), 'message' => substr( $message, 0, 300 ), 'file' => $file, 'line' => (int) $error['line'],
			'kind' => $found ? array( 'plugins' => 'plugin', 'themes' => 'theme', 'mu-plugins' => 'mu-plugin' )[ $parts[1] ] : null,
			'item' => $found ? $parts[2] : null, 'class' => $class, 'cron' => defined( 'DOING_CRON' ) && DOING_CRON,
			// Nothing of the text: a visitor may have chosen it.
			'mark' => md5( "$class\n$file\n{$error['line']}" ),
		);
	}

	// --------------------------------------------------------------------------------------------------------- visits

	/**
	 * Counts some of the pages that visitors are shown, so that it can be told which site has few. Of a visitor nothing is kept. Without a
	 * lock or a seal, as it must cost nothing: the count decides nothing but the order in which sites are updated.
	 */
	private function count_visits(): void {
		$ours = isset( $_SERVER['HTTP_X_SITEFLEET_LOOK'] ) || isset( $_SERVER['HTTP_X_SITEFLEET_SESSION'] );
		if ( '' === $this->store || $ours || 'GET' !== ( $_SERVER['REQUEST_METHOD'] ?? '' ) || 1 !== mt_rand( 1, self::SAMPLED ) ) return;
		// Only pages come here: no wp-admin, login, ajax, REST or scheduled task.
		add_action(
			'template_redirect',
			function () {
				$file = $this->visits_file( gmdate( 'Y-m-d' ) );
				// One byte, whatever else is written at the same time. Nothing is followed elsewhere.
				if ( is_writable( $this->store ) && ! is_link( $file ) ) @file_put_contents( $file, '.', FILE_APPEND );
			},
			PHP_INT_MIN
		);
	}

	private function visits_file( string $day ): string { return "$this->store/visits-" . get_current_blog_id() . "-$day"; }

	/** The visits of the last whole days (UTC), estimated; null until one was counted as a whole. */
	public function visits( int $now ): ?array {
		$born = $this->get_json( 'born' )['time'] ?? 0;
		if ( ! $born || ! is_writable( $this->store ) ) return null;
		// An earlier version did not count: what a file was before it was written last is not known.
		$since = max( $born, (int) @filectime( __FILE__ ) );
		$days  = 0;
		$bytes = 0;
		$today = $now - $now % DAY_IN_SECONDS;
		for ( $day = $today - DAY_IN_SECONDS; $day >= $since && $days < self::COUNTED_DAYS; $day -= DAY_IN_SECONDS ) {
			$file = $this->visits_file( gmdate( 'Y-m-d', $day ) );
			++$days;
			if ( is_file( $file ) && ! is_link( $file ) ) $bytes += (int) @filesize( $file );
		}
		return $days ? array( 'days' => $days, 'count' => $bytes * self::SAMPLED ) : null;
	}

	// ------------------------------------------------------------------------------------------------ the guard's folder

	/** Its name follows from the secret, so it cannot be guessed, and no other folder is ever taken for it. */
	private function place(): string { return "$this->content/sitefleet-guard-" . substr( hash_hmac( 'sha256', 'folder', self::secret() ), 0, 32 ); }

	private function find_store(): string {
		$mine = '' === self::secret() ? '' : $this->place();
		return '' !== $mine && is_dir( $mine ) && ! is_link( $mine ) ? $mine : '';
	}

	private function need_store(): void {
		if ( '' !== $this->store ) return;
		if ( '' === self::secret() ) {
			// WordPress makes its secrets when they are first needed. No plugin loads in this request.
			require_once ABSPATH . WPINC . '/pluggable.php';
			wp_salt( 'auth' );
		}
		Sitefleet_Refusal::when( '' === self::secret(), 'not_writable', 'WordPress has no secret keys: set them in wp-config.php.' );
		$mine = $this->place();
		// Another process may be making it.
		if ( ! @mkdir( $mine, 0700 ) && '' === $this->find_store() ) self::make_folder( $mine );
		$this->store = $this->find_store();
		Sitefleet_Refusal::when( '' === $this->store, 'not_writable', 'The guard cannot make its folder.' );
		@file_put_contents( "$mine/index.php", "<?php // Silence.\n" );
		@file_put_contents( "$mine/.htaccess", "<IfModule mod_authz_core.c>\nRequire all denied\n</IfModule>\n<IfModule !mod_authz_core.c>\nDeny from all\n</IfModule>\n" );
		@file_put_contents( "$mine/lock", '' );
		if ( $this->asked && ! $this->get_json( 'born' ) ) $this->put_json( 'born', array( 'time' => $this->asked ) );
	}

	/** Runs something that only one process may do at a time. The lock of a dead process is released at once. */
	private function locked( callable $do, float $patience = 5.0 ) {
		$this->need_store();
		$lock  = self::open( "$this->store/lock", 'c' );
		$until = microtime( true ) + $patience;
		while ( ! flock( $lock, LOCK_EX | LOCK_NB ) ) {
			Sitefleet_Refusal::when( microtime( true ) >= $until, 'busy', 'Another request is running on this site. Try again in a moment.' );
			self::php( 'usleep', 50000 );
		}
		try {
			return $do();
		} finally {
			flock( $lock, LOCK_UN );
			fclose( $lock );
		}
	}

	/** Armed, unexpired items, except one. */
	private function armed( string $kind = '', string $slug = '' ): array {
		$now = time();
		return array_values( array_filter( $this->get_json( 'armed' ), fn( $one ) => $one['until'] >= $now && array( $kind, $slug ) !== array( $one['kind'], $one['slug'] ) ) );
	}

	private function get_json( string $name ): array {
		$data = json_decode( $this->sealed( "$name.json" ), true );
		return is_array( $data ) ? $data : array();
	}

	/** Replaces a small file completely. An empty list means no file, which also works on a full disk. */
	protected function put_json( string $name, array $data ): void {
		$path = "$this->store/$name.json";
		if ( ! $data ) {
			Sitefleet_Refusal::when( ! @unlink( $path ) && self::there( $path ), 'not_writable', 'The guard cannot write into its folder.' );
			return;
		}
		$text = self::seal( "$name.json", (string) wp_json_encode( $data, self::JSON ) );
		$this->replace( $path, fn( $out ) => self::write( $out, $text ) );
	}

	/** Writes a file under another name and renames it, so that there is always a complete one, old or new. */
	private function replace( string $path, callable $fill ) {
		$draft = "$path." . bin2hex( random_bytes( 8 ) ) . '.tmp';
		$out   = self::open( $draft, 'x' );
		try {
			$result = $fill( $out );
			self::php( 'fsync', $out );
			Sitefleet_Refusal::when( ! fclose( $out ) || ! $this->move( $draft, $path ), 'not_writable', 'The guard cannot write into its folder.' );
			return $result;
		} finally {
			@unlink( $draft );
		}
	}

	// ------------------------------------------------------------------------------------------------------ small things

	/** Calls a function that hosts tend to disable: PHP 8 does not know it then. False = it is not there, or has failed. */
	private static function php( string $name, ...$with ) { return function_exists( $name ) ? @$name( ...$with ) : false; }

	/** All renames go through here. */
	protected function move( string $from, string $to ): bool { return @rename( $from, $to ); }

	private static function there( string $path ): bool {
		clearstatcache( true, $path );
		return file_exists( $path ) || is_link( $path );
	}

	/** Removes a file or folder; for a link the link itself, never its target. What is deep below the first folder is moved up to it: its path may be too long. */
	private function remove( string $path, string $first = '' ): void {
		if ( is_link( $path ) || ! is_dir( $path ) ) {
			@unlink( $path );
			return;
		}
		$up = "$first/" . bin2hex( random_bytes( 16 ) );
		if ( '' !== $first && strlen( $path ) > self::LONGEST / 2 && $this->move( $path, $up ) ) $path = $up;
		self::php( 'chmod', $path, 0700 );
		$names = array_diff( @scandir( $path ) ?: array(), array( '.', '..' ) );
		foreach ( $names as $name ) $this->remove( "$path/$name", '' === $first ? $path : $first );
		@rmdir( $path );
	}

	private static function make_folder( string $path ): void {
		Sitefleet_Refusal::when( ! @mkdir( $path, 0700 ), 'not_writable', 'A folder cannot be made: no permission, or no space.' );
	}

	private static function open( string $path, string $mode ) {
		$file = @fopen( $path, $mode . 'b' );
		Sitefleet_Refusal::when( ! $file, 'r' === $mode ? 'unreadable' : 'not_writable', basename( $path ) . ' cannot be opened: no permission, or no space.' );
		return $file;
	}

	private static function write( $file, string $data ): void {
		Sitefleet_Refusal::when( '' !== $data && @fwrite( $file, $data ) !== strlen( $data ), 'no_space', 'There is no space left on the disk.' );
	}

	private function need_writable( array $item ): void {
		$bad = ! is_writable( $item['parent'] ) || ( self::there( $item['path'] ) && ! is_writable( $item['path'] ) );
		Sitefleet_Refusal::when( $bad, 'not_writable', "The folder of {$item['slug']} cannot be written by PHP." );
	}

	private static function file_mods(): bool { return (bool) wp_is_file_mod_allowed( 'sitefleet_guard' ); }

	private static function in_maintenance(): bool {
		clearstatcache( true, ABSPATH . '.maintenance' );
		return is_file( ABSPATH . '.maintenance' ) && filemtime( ABSPATH . '.maintenance' ) > time() - 600;
	}

	/** Whether an item is active by WordPress' settings; restoring files does not change them. */
	private static function active( string $kind, string $slug ): bool {
		if ( 'theme' === $kind ) return in_array( $slug, array( get_option( 'stylesheet' ), get_option( 'template' ) ), true );
		$network = is_multisite() ? (array) get_site_option( 'active_sitewide_plugins' ) : array();
		return isset( $network[ $slug ] ) || in_array( $slug, (array) get_option( 'active_plugins' ), true );
	}

	/**
	 * Makes PHP read changed files again. It runs a file of any name if it is included: what has such a name is forgotten unasked, as OPcache
	 * may keep it in a file, where it cannot be asked about; of others, what it has, if there are not too many to ask about.
	 */
	private static function forget_code( string $path ): void {
		clearstatcache( true );
		if ( ! function_exists( 'opcache_invalidate' ) ) return;
		$asks = function_exists( 'opcache_is_script_cached' ) ? self::MAX_FILES : 0;
		// Files include others by the path that is the real one, and OPcache knows those by it.
		$real = (string) realpath( $path );
		$todo = array( '' );
		while ( $todo ) {
			$name = array_pop( $todo );
			if ( is_dir( $path . $name ) && ! is_link( $path . $name ) ) {
				foreach ( array_diff( @scandir( $path . $name ) ?: array(), array( '.', '..' ) ) as $below ) $todo[] = "$name/$below";
				continue;
			}
			$runs = self::runs( basename( $path . $name ) );
			if ( ! $runs && --$asks < 0 ) continue;
			foreach ( array_unique( array_filter( array( $path, $real ) ) ) as $root ) {
				if ( $runs || @opcache_is_script_cached( $root . $name ) ) @opcache_invalidate( $root . $name, true );
			}
		}
	}

	/** Text without absolute paths of this machine. */
	private function relative( string $text ): string {
		$text = strtr( $text, '\\', '/' );
		$roots = array( $this->roots['plugin'] => 'wp-content/plugins', $this->roots['theme'] => 'wp-content/themes' );
		foreach ( $roots + array( $this->content => 'wp-content', rtrim( strtr( ABSPATH, '\\', '/' ), '/' ) => '' ) as $path => $name ) {
			foreach ( array_filter( array( $path, strtr( (string) realpath( $path ), '\\', '/' ) ) ) as $form ) {
				$text = str_replace( "$form/", '' === $name ? '' : "$name/", $text );
			}
		}
		return $text;
	}
}

Sitefleet_Guard::boot();

endif;
