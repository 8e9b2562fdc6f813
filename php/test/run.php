<?php
/**
 * Tests of the guard without WordPress: `php php/test/run.php`. Real files, real locks, real processes; only the few functions
 * of WordPress that the guard calls are replaced. Prints one line for each test, ends with 1 if one failed.
 */

error_reporting( E_ALL );
set_error_handler(
	function ( $type, $message, $file, $line ) {
		if ( error_reporting() & $type ) throw new ErrorException( $message, 0, $type, $file, $line );
		return true;
	}
);

define( 'BASE', $argv[2] ?? sys_get_temp_dir() . '/sitefleet-guard-test-' . bin2hex( random_bytes( 6 ) ) );
define( 'ABSPATH', BASE . '/' );
define( 'WP_CONTENT_DIR', BASE . '/wp-content' );
define( 'WP_PLUGIN_DIR', WP_CONTENT_DIR . '/plugins' );
define( 'WPMU_PLUGIN_DIR', WP_CONTENT_DIR . '/mu-plugins' );
define( 'WPINC', 'wp-includes' );
define( 'AUTH_KEY', 'A secret of the tests' );
define( 'DAY_IN_SECONDS', 86400 );
function wp_is_file_mod_allowed( $context ) { return true; }
function wp_json_encode( $data, $flags = 0 ) { return json_encode( $data, $flags ); }
function wp_cache_delete( $key, $group ) { return true; }
function get_option( $name ) { return 'active_plugins' === $name ? array( 'alpha/alpha.php' ) : ''; }
function is_multisite() { return false; }
function get_current_blog_id() { return 1; }
/** A database without a row. */
$wpdb = new class() {
	public string $options = 'wp_options';

	public function prepare( string $text, ...$values ): string { return $text; }

	public function get_results( string $query, $form ): array { return array(); }
};
define( 'ARRAY_N', 'ARRAY_N' );
function get_file_data( $file, $headers ) {
	preg_match( '/Version: (\S+)/', file_get_contents( $file ), $found );
	return array( 'version' => $found[1] ?? '' );
}

require __DIR__ . '/disturbed.php';
require dirname( __DIR__ ) . '/sitefleet-guard.php';

/** The guard, with renames that can fail and a process that can die before the nth one. */
class Guard extends Sitefleet_Guard {
	public int $die_at  = 0;
	public int $fail_at = 0;
	public int $moves   = 0;
	/** Runs before each rename, with where from and where to. */
	public $before      = null;

	public function __construct() { parent::__construct( WP_CONTENT_DIR, WP_PLUGIN_DIR, WP_CONTENT_DIR . '/themes' ); }

	protected function move( string $from, string $to ): bool {
		++$this->moves;
		if ( $this->before ) ( $this->before )( $from, $to );
		if ( $this->moves === $this->die_at ) posix_kill( getmypid(), SIGKILL );
		return $this->moves !== $this->fail_at && parent::move( $from, $to );
	}

	public function call( string $action, array $fields = array() ): array {
		return $this->handle( 'ok', json_encode( array( 'action' => $action ) + $fields ), bin2hex( random_bytes( 16 ) ) );
	}

	public function folder(): string { return $this->store; }

	/** Writes a file of the guard's folder with its seal. */
	public function put( string $name, array $data ): void { $this->put_json( $name, $data ); }

	public function get( string $name ): array { return json_decode( substr( (string) file_get_contents( "$this->store/$name.json" ), 65 ), true ) ?? array(); }

	/** Makes a changed container one that the guard has written: it is sealed. */
	public function reseal( array $snapshot ): void {
		$this->put( $snapshot['id'], array( 'container' => hash_file( 'sha256', "$this->store/{$snapshot['id']}.bin" ) ) + $snapshot );
	}
}

/** For benchmarks: seconds that a snapshot and a restore of a plugin take: `run.php time <base> <slug>`. */
if ( 'time' === ( $argv[1] ?? '' ) ) {
	$guard    = new Guard();
	$began    = microtime( true );
	$snapshot = $guard->call( 'snapshot', array( 'kind' => 'plugin', 'slug' => $argv[3] ) );
	$kept     = microtime( true );
	file_put_contents( WP_PLUGIN_DIR . '/' . $argv[3], "<?php // Another version.\n" );
	$changed  = microtime( true );
	$restored = $guard->call( 'restore', array( 'snapshot' => $snapshot['snapshot']['id'] ?? '' ) );
	if ( ! $snapshot['ok'] || ! $restored['ok'] ) exit( json_encode( array( $snapshot, $restored ) ) );
	echo json_encode( array( 'snapshot' => $kept - $began, 'restore' => microtime( true ) - $changed ) );
	exit;
}

/** The other half of the tests that kill a process: `run.php die <base> <n> <snapshot>`. */
if ( 'die' === ( $argv[1] ?? '' ) ) {
	$guard         = new Guard();
	$guard->die_at = (int) $argv[3];
	echo json_encode( $guard->call( 'restore', array( 'snapshot' => $argv[4] ) ) );
	exit;
}
/** Holds the lock until its input ends. */
if ( 'hold' === ( $argv[1] ?? '' ) ) {
	$lock = fopen( $argv[3], 'c' );
	flock( $lock, LOCK_EX );
	echo "held\n";
	fgets( STDIN );
	exit;
}

function same( $wanted, $got, string $what = '' ): void {
	if ( $wanted !== $got ) throw new Exception( "$what: wanted " . json_encode( $wanted ) . ', got ' . json_encode( $got ) );
}

function write( string $name, string $text ): void {
	$path = BASE . "/$name";
	is_dir( dirname( $path ) ) || mkdir( dirname( $path ), 0755, true );
	file_put_contents( $path, $text );
}

function plugin( string $version ): string { return "<?php\n/*\nPlugin Name: Alpha\nVersion: $version\n*/\n"; }

/** Everything below a path: name => contents. */
function tree( string $path ): array {
	$all = array();
	foreach ( is_dir( $path ) && ! is_link( $path ) ? array_diff( scandir( $path ), array( '.', '..' ) ) : array() as $name ) {
		$below         = "$path/$name";
		$all[ $name ]  = is_link( $below ) ? 'link' : ( is_dir( $below ) ? tree( $below ) : file_get_contents( $below ) );
	}
	return $all;
}

function plugins(): array { return tree( WP_PLUGIN_DIR ); }

function wipe( string $path ): void {
	if ( is_dir( $path ) && ! is_link( $path ) ) {
		foreach ( array_diff( scandir( $path ), array( '.', '..' ) ) as $name ) wipe( "$path/$name" );
		rmdir( $path );
	} elseif ( is_link( $path ) || file_exists( $path ) ) {
		unlink( $path );
	}
}

/** A site with one plugin at 1.0, its snapshot, and 2.0 in its place. */
function updated(): array {
	$guard    = new Guard();
	$before   = plugins();
	$snapshot = $guard->call( 'snapshot', array( 'kind' => 'plugin', 'slug' => 'alpha/alpha.php' ) )['snapshot'];
	wipe( WP_PLUGIN_DIR . '/alpha' );
	write( 'wp-content/plugins/alpha/alpha.php', plugin( '2.0' ) );
	write( 'wp-content/plugins/alpha/new/code.php', '<?php' );
	return array( $guard, $snapshot, $before, plugins() );
}

/** A container as the guard writes it, from entries that it would never write. */
function container( Guard $guard, array $snapshot, string $text ): void {
	file_put_contents( "{$guard->folder()}/{$snapshot['id']}.bin", $text ^ str_repeat( "\xA5", strlen( $text ) ) );
	$guard->reseal( $snapshot );
}

$vectors = json_decode( file_get_contents( dirname( __DIR__ ) . '/vectors.json' ), true );
$headers = fn( array $one ) => array(
	'HTTP_X_SITEFLEET_GUARD' => $vectors['key_id'], 'HTTP_X_SITEFLEET_SITE' => $one['site'],
	'HTTP_X_SITEFLEET_TIME' => (string) $one['time'], 'HTTP_X_SITEFLEET_NONCE' => $one['nonce'],
	'HTTP_X_SITEFLEET_SIGNATURE' => $one['signature'],
);
$judge   = fn( array $one, array $more = array(), ?string $body = null, int $skew = 0, ?string $pem = null ) =>
	( new Guard() )->verify( $more + $headers( $one ), $body ?? $one['body'], $pem ?? $vectors['public_key'], array( $one['site'] ), $one['time'] + $skew );
$first   = $vectors['requests'][0];
$tests   = array();

foreach ( $vectors['requests'] as $one ) {
	$tests[ "signature of {$one['url']}" ] = function () use ( $one, $judge ) {
		same( $one['site'], Guard::site_name( $one['url'] ), 'site' );
		same( $one['canonical'], Guard::canonical( $one['site'], (string) $one['time'], $one['nonce'], $one['body'] ), 'text' );
		same( 'ok', $judge( $one ) );
	};
}
$tests['key id, also of other forms of the key'] = function () use ( $vectors, $judge, $first ) {
	same( $vectors['key_id'], Guard::key_id( $vectors['public_key'] ) );
	same( 'ok', $judge( $first, array(), null, 0, str_replace( "\n", "\r\n", trim( $vectors['public_key'] ) ) ) );
	same( 'ok', $judge( $first, array(), null, 0, $vectors['public_key_pkcs1'] ) );
};
$tests['each bent part makes a request unsigned'] = function () use ( $judge, $first ) {
	foreach ( array( 'GUARD' => str_repeat( '0', 32 ), 'SITE' => 'example.org/', 'TIME' => '1790000001', 'NONCE' => str_repeat( 'a', 32 ) ) as $name => $value ) {
		same( 'unsigned', $judge( $first, array( "HTTP_X_SITEFLEET_$name" => $value ) ), $name );
		same( 'unsigned', $judge( $first, array( "HTTP_X_SITEFLEET_$name" => '' ) ), $name );
		same( 'unsigned', $judge( $first, array( "HTTP_X_SITEFLEET_$name" => array( $value ) ) ), $name );
	}
	foreach ( array( '', 'AAAA', strrev( $first['signature'] ), str_repeat( 'A', 344 ), "{$first['signature']}\n" ) as $signature ) {
		same( 'unsigned', $judge( $first, array( 'HTTP_X_SITEFLEET_SIGNATURE' => $signature ) ), $signature );
	}
	same( 'unsigned', $judge( $first, array( 'HTTP_X_SITEFLEET_NONCE' => "{$first['nonce']}\n" ) ) );
	same( 'unsigned', $judge( $first, array(), "{$first['body']} " ) );
	same( 'unsigned', $judge( $first, array(), str_repeat( ' ', 65537 ) ) );
	foreach ( array( '', 'no key', "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----" ) as $pem ) {
		same( 'unsigned', $judge( $first, array(), null, 0, $pem ), $pem );
	}
};
$tests['weak and other keys are not accepted'] = function () use ( $judge, $first ) {
	foreach ( array( array( 'private_key_bits' => 1024 ), array( 'private_key_type' => OPENSSL_KEYTYPE_EC, 'curve_name' => 'prime256v1' ) ) as $kind ) {
		$key = openssl_pkey_new( $kind );
		openssl_sign( $first['canonical'], $signature, $key, OPENSSL_ALGO_SHA256 );
		$pem  = openssl_pkey_get_details( $key )['key'];
		$bent = array( 'HTTP_X_SITEFLEET_GUARD' => Guard::key_id( $pem ), 'HTTP_X_SITEFLEET_SIGNATURE' => base64_encode( $signature ) );
		same( 'unsigned', $judge( $first, $bent, null, 0, $pem ) );
	}
};
$tests['300 seconds of skew, not one more'] = function () use ( $judge, $first ) {
	foreach ( array( -301 => 'clock', -300 => 'ok', 0 => 'ok', 300 => 'ok', 301 => 'clock' ) as $skew => $wanted ) {
		same( $wanted, $judge( $first, array(), null, $skew ), "$skew s" );
	}
};
$tests['what was signed for another address'] = function () use ( $first, $headers, $vectors ) {
	same( 'other_site', ( new Guard() )->verify( $headers( $first ), $first['body'], $vectors['public_key'], array( 'copy.example.com/' ), $first['time'] ) );
};
$tests['a nonce is good once'] = function () {
	$guard = new Guard();
	$nonce = str_repeat( 'b', 32 );
	same( true, $guard->handle( 'ok', '{"action":"disarm"}', $nonce )['ok'] );
	foreach ( array( 'disarm', 'hello', 'list', 'drop' ) as $action ) {
		same( 'replayed', $guard->handle( 'ok', "{\"action\":\"$action\"}", $nonce )['error']['code'], $action );
	}
	touch( "{$guard->folder()}/nonce-$nonce", time() - 901 );
	$guard->call( 'list' );
	same( false, file_exists( "{$guard->folder()}/nonce-$nonce" ) );
};
$tests['bad bodies'] = function () {
	foreach ( array( '', 'x', '[]', '1', '{}', '{"action":1}', '{"action":["hello"]}', '{"action":"__construct"}', '{"action":"HELLO"}' ) as $i => $body ) {
		same( 'bad_request', ( new Guard() )->handle( 'ok', $body, sprintf( '%032x', $i ) )['error']['code'] ?? null, $body );
	}
};
$tests['digest of a tree'] = function () use ( $vectors ) {
	wipe( WP_PLUGIN_DIR . '/alpha' );
	foreach ( $vectors['tree']['files'] as $name => $text ) write( "wp-content/plugins/alpha/$name", $text );
	mkdir( WP_PLUGIN_DIR . '/alpha/empty' );
	same( $vectors['tree']['digest'], ( new Guard() )->digest( WP_PLUGIN_DIR . '/alpha', false ) );
};
$tests['snapshot and restore, byte for byte'] = function () {
	list( $guard, $snapshot, $before ) = updated();
	$answer = $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) );
	same( array( true, false, '2.0', true ), array( $answer['ok'], $answer['already'], $answer['replaced']['version'], $answer['active'] ) );
	same( $before, plugins() );
	same( false, is_file( "{$guard->folder()}/journal.json" ) );
	// What was replaced is itself a snapshot.
	$guard->call( 'restore', array( 'snapshot' => $answer['replaced']['id'] ) );
	same( plugin( '2.0' ), file_get_contents( WP_PLUGIN_DIR . '/alpha/alpha.php' ) );
};
$tests['the process dies before each rename'] = function () {
	for ( $n = 1; $n <= 20; ++$n ) {
		wipe( WP_PLUGIN_DIR . '/alpha' );
		write( 'wp-content/plugins/alpha/alpha.php', plugin( '1.0' ) );
		write( 'wp-content/plugins/alpha/data/x.txt', 'old' );
		list( , $snapshot, $old, $new ) = updated();
		$output = shell_exec( escapeshellarg( PHP_BINARY ) . ' ' . implode( ' ', array_map( 'escapeshellarg', array( __FILE__, 'die', BASE, (string) $n, $snapshot['id'] ) ) ) . ' 2>/dev/null' );
		$guard  = new Guard();
		$packed = glob( "{$guard->folder()}/*.bin.*.tmp" );
		$guard->settle();
		// Visitors make that request: it does not pack again what was just being packed.
		if ( $packed ) same( 0, $guard->moves, "renames of the next request after $n" );
		same( true, in_array( plugins(), array( $old, $new ), true ), "killed before rename $n" );
		same( false, is_file( "{$guard->folder()}/journal.json" ), "journal after $n" );
		same( true, $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) )['ok'], "restore after $n" );
		same( $old, plugins(), "restored after $n" );
		$guard->call( 'list' );
		same( array(), glob( "{$guard->folder()}/*.tmp" ), "litter after $n" );
		if ( $output ) {
			same( true, $n > 4, 'number of renames' );
			return;
		}
	}
	throw new Exception( 'the restore never came to its end' );
};
$tests['each rename fails'] = function () {
	for ( $n = 1; $n <= 20; ++$n ) {
		wipe( WP_PLUGIN_DIR . '/alpha' );
		write( 'wp-content/plugins/alpha/alpha.php', plugin( '1.0' ) );
		list( , $snapshot, $old, $new ) = updated();
		$guard          = new Guard();
		$guard->fail_at = $n;
		$answer         = $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) );
		same( $answer['ok'] ? $old : $new, plugins(), "rename $n failed" );
		if ( $guard->moves < $n ) return;
	}
};
/** What a visitor's request does that began before the folder was moved aside: it makes the folder again, for its cache. */
$visit = function () {
	clearstatcache();
	$there = is_dir( WP_PLUGIN_DIR . '/alpha' );
	if ( ! $there ) write( 'wp-content/plugins/alpha/cache/a.html', 'page' );
	return ! $there;
};
/** A rename to the place of the plugin, of the version in the folder of this name. */
$arrives = fn( string $from, string $to, string $which ) => WP_PLUGIN_DIR . '/alpha' === $to && false !== strpos( $from, "/$which/" );
$tests['a folder that visitors make again between the renames does not stop a restore'] = function () use ( $visit ) {
	foreach ( array( 1, 5 ) as $times ) {
		wipe( WP_PLUGIN_DIR . '/alpha' );
		write( 'wp-content/plugins/alpha/alpha.php', plugin( '1.0' ) );
		list( $guard, $snapshot, $old ) = updated();
		$guard->before = function ( string $from, string $to ) use ( $visit, &$times ) {
			if ( WP_PLUGIN_DIR . '/alpha' === $to && $times && $visit() ) --$times;
		};
		$answer = $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) );
		same( array( true, '2.0', 0 ), array( $answer['ok'], $answer['replaced']['version'] ?? null, $times ) );
		same( $old, plugins() );
		same( false, is_file( "{$guard->folder()}/journal.json" ) );
	}
};
$tests['where the copy does not come into its place, the version that was there comes back'] = function () use ( $visit, $arrives ) {
	list( $guard, $snapshot, , $new ) = updated();
	$guard->before = fn( $from, $to ) => $arrives( $from, $to, 'new' ) && $visit();
	same( 'not_writable', $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) )['error']['code'] ?? null );
	same( $new, plugins() );
	same( false, is_file( "{$guard->folder()}/journal.json" ) );
};
$tests['a version that comes back to its place neither way is not removed, and a later request finishes'] = function () use ( $visit, $arrives ) {
	foreach ( array( 'settle', 'restore', 'uninstall' ) as $next ) {
		wipe( WP_PLUGIN_DIR );
		write( 'wp-content/plugins/alpha/alpha.php', plugin( '1.0' ) );
		list( $guard, $snapshot, $old, $new ) = updated();
		$hinder        = fn( $from, $to ) => ( $arrives( $from, $to, 'new' ) || $arrives( $from, $to, 'old' ) ) && $visit();
		$guard->before = $hinder;
		same( 'not_writable', $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) )['error']['code'] ?? null );
		$work = glob( WP_PLUGIN_DIR . '/.sitefleet-guard-*' );
		same( 1, count( $work ), 'working folders' );
		same( $new['alpha'], tree( "$work[0]/old/alpha" ), 'the version before' );
		same( true, is_file( "{$guard->folder()}/journal.json" ), 'the journal' );
		// No other request writes over it, or removes the guard, as long as it is like that.
		foreach ( array( 'settle' => null, 'restore' => 'not_writable', 'uninstall' => 'not_writable' ) as $action => $wanted ) {
			$again         = new Guard();
			$again->before = $hinder;
			if ( null === $wanted ) $again->settle();
			else same( $wanted, $again->call( $action, array( 'snapshot' => $snapshot['id'] ) )['error']['code'] ?? null, $action );
			same( array( $new['alpha'], true ), array( tree( "$work[0]/old/alpha" ), is_file( "{$guard->folder()}/journal.json" ) ), $action );
		}
		if ( 'settle' === $next ) ( new Guard() )->settle();
		if ( 'restore' === $next ) same( true, ( new Guard() )->call( 'restore', array( 'snapshot' => $snapshot['id'] ) )['already'] );
		if ( 'uninstall' === $next ) break;
		same( $old, plugins(), "after $next" );
		same( false, is_file( "{$guard->folder()}/journal.json" ), "journal after $next" );
	}
};
$tests['the process dies between the renames, and a visitor makes the folder again before the next request'] = function () use ( $visit ) {
	for ( $n = 1, $met = 0; $n <= 20; ++$n ) {
		wipe( WP_PLUGIN_DIR . '/alpha' );
		write( 'wp-content/plugins/alpha/alpha.php', plugin( '1.0' ) );
		list( , $snapshot, $old ) = updated();
		write( 'wp-content/plugins/alpha/sent.pdf', 'only here' );
		$output = shell_exec( escapeshellarg( PHP_BINARY ) . ' ' . implode( ' ', array_map( 'escapeshellarg', array( __FILE__, 'die', BASE, (string) $n, $snapshot['id'] ) ) ) . ' 2>/dev/null' );
		if ( $output ) break;
		$made  = $visit();
		$guard = new Guard();
		$guard->settle();
		if ( ! $made ) continue;
		++$met;
		same( $old, plugins(), "killed before rename $n" );
		same( false, is_file( "{$guard->folder()}/journal.json" ) );
		same( 'replaced', $guard->call( 'list' )['snapshots'][0]['role'] ?? null );
	}
	same( 1, $met );
};
$tests['a file alone that is made again between the renames does not stop its restore'] = function () {
	foreach ( array( 'hello.php', 'hello.php/x' ) as $made ) {
		wipe( WP_PLUGIN_DIR . '/hello.php' );
		write( 'wp-content/plugins/hello.php', plugin( '1.0' ) );
		$guard    = new Guard();
		$snapshot = $guard->call( 'snapshot', array( 'kind' => 'plugin', 'slug' => 'hello.php' ) )['snapshot'];
		write( 'wp-content/plugins/hello.php', plugin( '2.0' ) );
		$before        = 1;
		$guard->before = function ( string $from, string $to ) use ( $made, &$before ) {
			if ( WP_PLUGIN_DIR . '/hello.php' === $to && $before-- > 0 ) write( "wp-content/plugins/$made", 'other' );
		};
		same( true, $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) )['ok'], $made );
		same( plugin( '1.0' ), @file_get_contents( WP_PLUGIN_DIR . '/hello.php' ), $made );
	}
};
$tests['a damaged or wicked container changes nothing'] = function () {
	list( $guard, $snapshot, , $new ) = updated();
	$sum = hash( 'sha256', 'x' );
	$bad = array( '', "e\n", "f 644 1 5\nalpha", "f 644 1 9\nalpha.phpx{$sum}", "f 644 2 9\nalpha.phpx{$sum}e\n", "f 644 1 9\nalpha.phpy{$sum}e\n", "l 777 1 1\naxe\n", "f 644 9999999999 1\nax", str_repeat( 'f', 1000 ), "f 644 1 1\nax{$sum}f 644 1 1\nax{$sum}e\n" );
	foreach ( array( '../evil.php', '/tmp/evil.php', 'a/../../evil.php', '..', "a\0b", './a', 'a//b', 'a/', '.' ) as $name ) {
		$bad[] = sprintf( "f 644 1 %d\n%sx%se\n", strlen( $name ), $name, $sum );
	}
	foreach ( $bad as $text ) {
		container( $guard, $snapshot, $text );
		$answer = $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) );
		same( false, $answer['ok'], json_encode( $text ) );
		same( $new, plugins(), json_encode( $text ) );
		same( false, file_exists( BASE . '/evil.php' ) || file_exists( WP_CONTENT_DIR . '/evil.php' ) || file_exists( '/tmp/evil.php' ) );
	}
};
$tests['what another program has written into the folder does not count'] = function () {
	list( $guard, $snapshot, , $new ) = updated();
	$forged  = array( 'id' => str_repeat( 'f', 32 ), 'role' => 'snapshot' ) + $snapshot;
	$good    = file_get_contents( "{$guard->folder()}/{$snapshot['id']}.json" );
	$restore = fn( $id ) => $guard->call( 'restore', array( 'snapshot' => $id ) )['error']['code'] ?? null;
	// A container whose contents are those of the snapshot, but whose bytes are not.
	$bin = file_get_contents( "{$guard->folder()}/{$snapshot['id']}.bin" );
	file_put_contents( "{$guard->folder()}/{$snapshot['id']}.bin", "$bin\0" );
	same( 'damaged', $restore( $snapshot['id'] ) );
	file_put_contents( "{$guard->folder()}/{$forged['id']}.bin", $bin );
	foreach ( array( json_encode( $forged ), substr( $good, 0, 65 ) . json_encode( $forged ), $good, str_repeat( '0', 64 ) . "\n" . json_encode( $forged ) ) as $text ) {
		file_put_contents( "{$guard->folder()}/{$forged['id']}.json", $text );
		same( array( $snapshot['id'] ), array_column( ( new Guard() )->call( 'list' )['snapshots'], 'id' ), $text );
		same( 'not_found', $restore( $forged['id'] ), $text );
		file_put_contents( "{$guard->folder()}/{$forged['id']}.bin", $bin );
	}
	same( $new, plugins() );
	// Neither does a folder that looks like the guard's own.
	wipe( $guard->folder() );
	mkdir( WP_CONTENT_DIR . '/sitefleet-guard-' . str_repeat( '0', 32 ) );
	same( '', ( new Guard() )->folder() );
	( new Guard() )->call( 'disarm' );
	same( $guard->folder(), ( new Guard() )->folder() );
};
$tests['a link that is planted in the working folder is not written through'] = function () {
	list( $guard, $snapshot, , $new ) = updated();
	write( 'target.txt', 'mine' );
	$sum  = hash( 'sha256', 'x' );
	$name = 'a';
	container( $guard, $snapshot, "d 755 0 1\n{$name}f 644 1 3\na/bx{$sum}f 644 1 3\na/bx{$sum}e\n" );
	same( false, $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) )['ok'] );
	same( $new, plugins() );
	same( 'mine', file_get_contents( BASE . '/target.txt' ) );
};
$tests['links are refused wherever they are, and never followed'] = function () {
	write( 'outside/secret.txt', 'secret' );
	symlink( BASE . '/outside', WP_PLUGIN_DIR . '/alpha/link' );
	same( 'symlink', ( new Guard() )->call( 'snapshot', array( 'kind' => 'plugin', 'slug' => 'alpha/alpha.php' ) )['error']['code'] );
	unlink( WP_PLUGIN_DIR . '/alpha/link' );
	list( $guard, $snapshot, $before ) = updated();
	symlink( BASE . '/outside', WP_PLUGIN_DIR . '/alpha/link' );
	same( true, $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) )['ok'] );
	same( $before, plugins() );
	same( 'secret', file_get_contents( BASE . '/outside/secret.txt' ) );
	rename( WP_PLUGIN_DIR . '/alpha', BASE . '/moved' );
	symlink( BASE . '/moved', WP_PLUGIN_DIR . '/alpha' );
	same( 'symlink', $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) )['error']['code'] );
};
$tests['names of items'] = function () {
	foreach ( array( 'a/b.php', 'hello.php', 'my plugin/main file.php', 'ünï/ç.php' ) as $slug ) same( $slug, ( new Guard() )->item( 'plugin', $slug )['slug'] );
	foreach ( array( 'twenty', 'sub/theme' ) as $slug ) same( $slug, ( new Guard() )->item( 'theme', $slug )['slug'] );
	foreach ( array( '', '.', '..', '../x.php', 'a/../b.php', '/a/b.php', 'a/b/c.php', 'a\\b.php', 'C:\\x.php', 'c:x.php', '.a/b.php', "a\n/b.php\n", "a.php\n", 'a', 'a/b.txt', 'php://filter/x.php', str_repeat( 'a', 300 ) . '.php', null, 1, array( 'a/b.php' ) ) as $slug ) {
		try {
			( new Guard() )->item( 'plugin', $slug );
		} catch ( Sitefleet_Refusal $error ) {
			continue;
		}
		throw new Exception( 'taken: ' . json_encode( $slug ) );
	}
};
$tests['two at once'] = function () {
	list( $guard, $snapshot, , $new ) = updated();
	$pipes   = array();
	$process = proc_open( array( PHP_BINARY, __FILE__, 'hold', BASE, "{$guard->folder()}/lock" ), array( array( 'pipe', 'r' ), array( 'pipe', 'w' ) ), $pipes );
	same( "held\n", fgets( $pipes[1] ) );
	same( 'busy', $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) )['error']['code'] );
	same( $new, plugins() );
	same( true, $guard->call( 'list' )['ok'] );
	proc_terminate( $process, SIGKILL );
	proc_close( $process );
	same( true, $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) )['ok'] );
};
$tests['a snapshot that cannot be finished leaves nothing behind'] = function () {
	$guard = new class() extends Guard {
		protected function move( string $from, string $to ): bool {
			return '.bin' !== substr( $to, -4 ) && parent::move( $from, $to );
		}
	};
	same( 'not_writable', $guard->call( 'snapshot', array( 'kind' => 'plugin', 'slug' => 'alpha/alpha.php' ) )['error']['code'] );
	same( array(), $guard->call( 'list' )['snapshots'] );
	same( array(), glob( "{$guard->folder()}/*.{bin,tmp,json}", GLOB_BRACE ) );
};
$tests['50,000 files of code are the limit'] = function () {
	same( 50000, Sitefleet_Guard::MAX_FILES );
	// alpha.php, lib, lib/übung.txt, and so many more.
	$guard = new class() extends Guard { const MAX_FILES = 8; };
	foreach ( array( 5 => null, 6 => null, 8 => 'too_large' ) as $more => $wanted ) {
		for ( $i = 0; $i < $more; ++$i ) write( "wp-content/plugins/alpha/more-$i.php", '' );
		same( $wanted, $guard->call( 'snapshot', array( 'kind' => 'plugin', 'slug' => 'alpha/alpha.php' ) )['error']['code'] ?? null, "$more more" );
	}
};
$tests['500 MB of code are the limit'] = function () {
	ftruncate( fopen( WP_PLUGIN_DIR . '/alpha/huge.php', 'w' ), 500 * 1024 * 1024 );
	same( 'too_large', ( new Guard() )->call( 'snapshot', array( 'kind' => 'plugin', 'slug' => 'alpha/alpha.php' ) )['error']['code'] );
};
$tests['of what is too large the largest files that are not code are left out, and stay when the copy is restored'] = function () {
	foreach ( array( 'page.css', 'deep/in/code.php', 'picture.png', 'empty/.htaccess' ) as $name ) write( "wp-content/plugins/alpha/$name", "$name 1.0" );
	$before = plugins();
	ftruncate( fopen( WP_PLUGIN_DIR . '/alpha/deep/requests.log', 'w' ), 500 * 1024 * 1024 );
	$guard    = new Guard();
	$snapshot = $guard->call( 'snapshot', array( 'kind' => 'plugin', 'slug' => 'alpha/alpha.php' ) )['snapshot'];
	same( array( 'over' => 10485760, 'files' => 1, 'bytes' => 500 * 1024 * 1024, 'largest' => array( 'deep/requests.log' ) ), $snapshot['left_out'] );
	// What a visitor adds to it is no other version.
	same( true, $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) )['already'] );
	write( 'wp-content/plugins/alpha/alpha.php', plugin( '2.0' ) );
	write( 'wp-content/plugins/alpha/new.php', '<?php' );
	$restored = $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) );
	same( 500 * 1024 * 1024, filesize( WP_PLUGIN_DIR . '/alpha/deep/requests.log' ) );
	rename( WP_PLUGIN_DIR . '/alpha/deep/requests.log', BASE . '/aside' );
	same( $before, plugins() );
	rename( BASE . '/aside', WP_PLUGIN_DIR . '/alpha/deep/requests.log' );
	// Also when the version that was replaced is restored.
	same( false, $guard->call( 'restore', array( 'snapshot' => $restored['replaced']['id'] ) )['already'] );
	same( array( 500 * 1024 * 1024, true ), array( filesize( WP_PLUGIN_DIR . '/alpha/deep/requests.log' ), is_file( WP_PLUGIN_DIR . '/alpha/new.php' ) ) );
};
$tests['of too many files those that are not code are left out, and folders of nothing else'] = function () {
	for ( $i = 0; $i < 20; ++$i ) write( "wp-content/plugins/alpha/cache/$i/visit.txt", 'x' );
	write( 'wp-content/plugins/alpha/cache/7/index.php', '<?php' );
	$guard    = new class() extends Guard { const MAX_FILES = 8; };
	$snapshot = $guard->call( 'snapshot', array( 'kind' => 'plugin', 'slug' => 'alpha/alpha.php' ) )['snapshot'];
	same( array( -1, 21, 2 ), array( $snapshot['left_out']['over'], $snapshot['left_out']['files'], $snapshot['files'] ) );
	$all = plugins();
	write( 'wp-content/plugins/alpha/alpha.php', plugin( '2.0' ) );
	same( false, $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) )['already'] );
	same( $all, plugins() );
};
/** Keeps a copy of a plugin while a hook changes files, each just before it is read. */
$kept_while = fn( callable $change ) => Disturbed_Files::during(
	fn( string $path, string $mode ) => 'rb' === $mode && $change( $path ),
	fn() => ( new Guard() )->call( 'snapshot', array( 'kind' => 'plugin', 'slug' => 'alpha/alpha.php' ) )
);
$tests['a file of data that shrinks, grows or goes while it is copied is kept as it was read'] = function () use ( $kept_while ) {
	$data = array( 'stats.json' => 2000000, 'emptied.json' => 300000, 'gone.txt' => 10, 'grows.log' => 1500000, 'last.txt' => 5 );
	foreach ( $data as $name => $size ) write( "wp-content/plugins/alpha/data/$name", str_repeat( 'x', $size ) );
	$answer = $kept_while(
		function ( string $path ) {
			if ( 'stats.json' === basename( $path ) ) file_put_contents( $path, str_repeat( 'y', 700001 ) );
			if ( 'emptied.json' === basename( $path ) ) file_put_contents( $path, '' );
			if ( 'gone.txt' === basename( $path ) ) unlink( $path );
			if ( 'grows.log' === basename( $path ) ) file_put_contents( $path, 'more', FILE_APPEND );
		}
	);
	same( array( true, null ), array( $answer['ok'], $answer['error'] ?? null ) );
	same( array( 6, 2200006 + strlen( plugin( '1.0' ) ) + 4000 ), array( $answer['snapshot']['files'], $answer['snapshot']['bytes'] ) );
	wipe( WP_PLUGIN_DIR . '/alpha' );
	write( 'wp-content/plugins/alpha/alpha.php', plugin( '2.0' ) );
	same( false, ( new Guard() )->call( 'restore', array( 'snapshot' => $answer['snapshot']['id'] ) )['already'] ?? null );
	$wanted = array( 'emptied.json' => '', 'grows.log' => str_repeat( 'x', 1500000 ), 'last.txt' => 'xxxxx', 'stats.json' => str_repeat( 'y', 700001 ) );
	same( $wanted, tree( WP_PLUGIN_DIR . '/alpha/data' ) );
	same( plugin( '1.0' ), file_get_contents( WP_PLUGIN_DIR . '/alpha/alpha.php' ) );
};
$tests['what runs and changes while it is copied is not kept, and the answer says so'] = function () use ( $kept_while ) {
	foreach ( array( 'part.php', 'part.inc', '.htaccess' ) as $name ) {
		foreach ( array( 'shrinks' => '<', 'grows' => '<?php // A longer one than before.', 'goes' => null ) as $how => $text ) {
			// A file that is no code may go: what names it, WordPress' own, does without.
			if ( null === $text && 'part.php' !== $name ) continue;
			write( "wp-content/plugins/alpha/$name", '<?php // Part.' );
			$change = fn( string $path ) => basename( $path ) === $name && ( null === $text ? unlink( $path ) : file_put_contents( $path, $text ) );
			same( 'changed', $kept_while( $change )['error']['code'] ?? null, "$name $how" );
		}
	}
	// Gone with its folder, which had been listed.
	write( 'wp-content/plugins/alpha/zeta/made.php', '<?php' );
	$gone = fn( string $path ) => 'alpha.php' === basename( $path ) && wipe( WP_PLUGIN_DIR . '/alpha/zeta' );
	same( 'changed', $kept_while( $gone )['error']['code'] ?? null, 'a folder' );
	write( 'wp-content/plugins/alpha/zeta.php', '<?php' );
	$gone = fn( string $path ) => 'alpha.php' === basename( $path ) && unlink( WP_PLUGIN_DIR . '/alpha/zeta.php' );
	same( 'changed', $kept_while( $gone )['error']['code'] ?? null, 'a file' );
	same( true, $kept_while( fn() => null )['ok'] );
};
/** A file below a folder of alpha, at a path of this length; returns its name in alpha. */
$long_file = function ( int $length, string $end ) {
	$path = WP_PLUGIN_DIR . '/alpha/pages';
	while ( strlen( $path ) < $length - 300 ) $path .= '/' . str_repeat( 'a', 199 );
	is_dir( $path ) || mkdir( $path, 0755, true );
	$path .= '/' . str_pad( '', $length - strlen( "$path/$end" ), 'b' ) . $end;
	file_put_contents( $path, 'page' );
	return substr( $path, strlen( WP_PLUGIN_DIR . '/alpha/' ) );
};
$tests['data whose path is too long in the working folder is left out, named, and stops no restore'] = function () use ( $long_file ) {
	// 54 bytes: /.sitefleet-guard-<32 hex digits>/new
	$fits  = $long_file( 4094 - 54, '.html' );
	$names = array( $long_file( 4094 - 53, '.html' ), $long_file( 4094, '.json' ) );
	list( $guard, $snapshot ) = updated();
	same( array( 2, 8, 2 ), array( $snapshot['left_out']['files'] ?? null, $snapshot['left_out']['bytes'] ?? null, $snapshot['left_out']['long'] ?? null ) );
	same( array( array(), true ), array( array_diff( $snapshot['left_out']['largest'], $names ), in_array( $names[0], $snapshot['left_out']['largest'], true ) ) );
	// The version that is replaced may have such, too.
	$long_file( 4094, '.html' );
	$answer = $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) );
	same( array( true, null, '2.0' ), array( $answer['ok'], $answer['error'] ?? null, $answer['replaced']['version'] ?? null ) );
	same( plugin( '1.0' ), file_get_contents( WP_PLUGIN_DIR . '/alpha/alpha.php' ) );
	same( 'page', file_get_contents( WP_PLUGIN_DIR . "/alpha/$fits" ) );
	same( array( 'alpha' ), array_keys( plugins() ) );
	// What was left out is no other version.
	$long_file( 4094, '.html' );
	same( true, $guard->call( 'restore', array( 'snapshot' => $snapshot['id'] ) )['already'] );
};
$tests['code whose path is too long in the working folder is refused, with the reason'] = function () use ( $long_file ) {
	foreach ( array( '.php', '.inc' ) as $end ) {
		wipe( WP_PLUGIN_DIR . '/alpha/pages' );
		$ask = fn() => ( new Guard() )->call( 'snapshot', array( 'kind' => 'plugin', 'slug' => 'alpha/alpha.php' ) );
		$long_file( 4094 - 54, $end );
		same( true, $ask()['ok'], $end );
		$long_file( 4094 - 53, $end );
		$error = $ask()['error'] ?? array();
		same( array( 'too_large', true ), array( $error['code'] ?? null, false !== strpos( $error['message'] ?? '', 'too long to be restored' ) ), $end );
	}
};
$tests['snapshots lapse after 14 days, armed ones do not'] = function () {
	list( $guard, $snapshot ) = updated();
	$age = function ( int $days ) use ( $guard, $snapshot ) {
		$guard->put( $snapshot['id'], array( 'created' => time() - $days * 86400 ) + $snapshot );
		return count( $guard->call( 'list' )['snapshots'] );
	};
	$guard->call( 'arm', array( 'snapshot' => $snapshot['id'], 'seconds' => 60 ) );
	same( 1, $age( 15 ) );
	$guard->call( 'disarm' );
	same( 1, $age( 13 ) );
	same( 0, $age( 15 ) );
	same( array(), glob( "{$guard->folder()}/*.{bin,json}", GLOB_BRACE ) );
};
$tests['a mended file is moved into its place from its own folder: from another file system PHP would copy it'] = function () {
	list( $guard, $snapshot ) = updated();
	$hide = new ReflectionMethod( Sitefleet_Guard::class, 'hide' );
	$hide->setAccessible( true );
	$kept = array( 'wp-config.php' => array( 'text' => base64_encode( '<?php // good' ), 'mode' => 0640 ) );
	$guard->put( 'before', array( $snapshot['id'] => array( 'until' => time() + 60, 'sites' => array() ) ) );
	$guard->put( "before-{$snapshot['id']}", array( 'hidden' => $hide->invoke( null, json_encode( array( 'files' => $kept, 'options' => array(), 'held' => array(), 'cron' => '' ) ) ) ) );
	write( 'wp-config.php', '<?php // bad' );
	list( $others, $fails ) = array( array(), false );
	$guard->before = function ( string $from, string $to ) use ( $guard, &$others, &$fails ) {
		if ( BASE . '/wp-config.php' !== $to ) return;
		$others[] = dirname( $from );
		if ( $fails ) $guard->fail_at = $guard->moves;
	};
	$asked = array( 'snapshot' => $snapshot['id'], 'files' => array( 'wp-config.php' ) );
	same( array( 'wp-config.php' ), $guard->call( 'mend', $asked )['mended']['files'] ?? null );
	same( array( BASE ), $others, 'moved from' );
	same( array( '<?php // good', 0640 ), array( file_get_contents( BASE . '/wp-config.php' ), fileperms( BASE . '/wp-config.php' ) & 0777 ) );
	write( 'wp-config.php', '<?php // bad' );
	$fails = true;
	same( array(), $guard->call( 'mend', $asked )['mended']['files'] ?? null );
	same( array( '<?php // bad', array() ), array( file_get_contents( BASE . '/wp-config.php' ), glob( BASE . '/.ht*' ) ) );
};
$tests['visits: of whole days since it counts, at most 7, estimated'] = function () {
	$guard = new Guard();
	$guard->call( 'hello' );
	$today = time() - time() % DAY_IN_SECONDS;
	same( null, $guard->visits( $today + 30 * DAY_IN_SECONDS ), 'of a folder without a birth' );
	$guard->put( 'born', array( 'time' => $today + 3600 ) );
	$on = fn( int $day ) => $guard->folder() . '/visits-1-' . gmdate( 'Y-m-d', $today + $day * DAY_IN_SECONDS );
	foreach ( array( 0 => 9, 1 => 2, 3 => 1, 4 => 5, 9 => 4 ) as $day => $bytes ) file_put_contents( $on( $day ), str_repeat( '.', $bytes ) );
	$at = fn( int $day ) => $guard->visits( $today + $day * DAY_IN_SECONDS + 60 );
	same( array( null, null ), array( $at( 0 ), $at( 1 ) ), 'the first day was no whole one' );
	same( array( 'days' => 1, 'count' => 40 ), $at( 2 ) );
	same( array( 'days' => 2, 'count' => 40 ), $at( 3 ), 'a day without visits is one' );
	same( array( 'days' => 4, 'count' => 160 ), $at( 5 ) );
	same( array( 'days' => 7, 'count' => 200 ), $at( 10 ), 'days 3 to 9' );
	unlink( $on( 4 ) );
	symlink( __FILE__, $on( 4 ) );
	same( array( 'days' => 4, 'count' => 60 ), $at( 5 ), 'a link is no count' );
};
$tests['at most 50 faults, the newest'] = function () {
	( new Guard() )->call( 'hello' );
	for ( $i = 0; $i < 60; ++$i ) {
		( new Guard() )->watch( array( 'type' => E_ERROR, 'message' => 'Boom ' . str_repeat( 'x', $i ) . "\nStack", 'file' => WP_PLUGIN_DIR . '/alpha/alpha.php', 'line' => $i ) );
	}
	$faults = ( new Guard() )->call( 'faults' )['faults'];
	same( array( 50, 'Boom ' . str_repeat( 'x', 59 ), 'wp-content/plugins/alpha/alpha.php', 'alpha' ), array( count( $faults ), $faults[49]['message'], $faults[49]['file'], $faults[49]['item'] ) );
	same( array(), ( new Guard() )->call( 'faults', array( 'since' => time() + 10 ) )['faults'] );
};
$tests['what visitors provoke does not push out what looks of Sitefleet, restores and tasks have met'] = function () {
	( new Guard() )->call( 'hello' );
	$provoke = function ( int $line ) {
		( new Guard() )->watch( array( 'type' => E_ERROR, 'message' => 'Boom', 'file' => WP_PLUGIN_DIR . '/alpha/alpha.php', 'line' => $line ) );
	};
	$lines = fn() => array_column( ( new Guard() )->call( 'faults' )['faults'], 'line' );
	foreach ( array( 1, 2, 3, 4 ) as $line ) $provoke( $line );
	$faults = ( new Guard() )->get( 'faults' );
	$met    = array( array( 'ours' => time() ), array( 'cron' => true ), array( 'restored' => str_repeat( 'a', 32 ) ), array() );
	( new Guard() )->put( 'faults', array_combine( array_keys( $faults ), array_map( 'array_replace', array_values( $faults ), $met ) ) );
	for ( $line = 100; $line < 170; ++$line ) $provoke( $line );
	same( array_merge( array( 1, 2, 3 ), range( 123, 169 ) ), $lines() );
	// Of one kind alone all are kept, and the oldest goes.
	( new Guard() )->put( 'faults', array_map( fn( $one ) => array( 'ours' => time() ) + $one, ( new Guard() )->get( 'faults' ) ) );
	$provoke( 200 );
	same( array_merge( array( 2, 3 ), range( 123, 169 ), array( 200 ) ), $lines() );
};
$tests['the cache of a look: as WordPress knows it, and the made-up user cannot be taken out'] = function () {
	$cache = new Sitefleet_Memory();
	$cache->pin( 'users', 5, (object) array( 'name' => 'look' ) );
	same( array( true, false, true ), array( $cache->add( 'a', 1 ), $cache->add( 'a', 2 ), $cache->set( 'none', false, '' ) ) );
	same( array( 1, false ), array( $cache->get( 'a', '' ), $cache->get( 'a', 'other' ) ) );
	$cache->get( 'none', 'default', false, $found );
	same( true, $found );
	$cache->get( 'gone', 'default', false, $found );
	same( false, $found );
	same( array( 4, 3, 0, false ), array( $cache->incr( 'a', 3 ), $cache->decr( 'a' ), $cache->decr( 'a', 9 ), $cache->incr( 'gone' ) ) );
	same( array( true, false, false ), array( $cache->replace( 'a', 7 ), $cache->replace( 'gone', 7 ), $cache->delete( 'gone' ) ) );
	same( array( 'b' => true, 'c' => true ), $cache->set_multiple( array( 'b' => 1, 'c' => 2 ), 'many' ) );
	same( array( 'b' => true ), $cache->delete_multiple( array( 'b' ), 'many' ) );
	same( array( 'b' => false, 'c' => 2 ), $cache->get_multiple( array( 'b', 'c' ), 'many' ) );
	$object = (object) array( 'n' => 1 );
	$cache->set( 'object', $object );
	$object->n = 2;
	same( 1, $cache->get( 'object' )->n );
	foreach ( array( fn() => $cache->delete( 5, 'users' ), fn() => $cache->set( 5, 'x', 'users' ), fn() => $cache->flush() ) as $try ) {
		$try();
		same( 'look', $cache->get( '5', 'users' )->name );
	}
	same( array( false, false, null ), array( $cache->get( 'object' ), $cache->of_a_drop_in( 1 ), $cache->global_groups ) );
};
$tests['what only reads, and what a query would write'] = function () {
	$call = function ( string $name, string $query ) {
		$method = new ReflectionMethod( 'Sitefleet_Guard', $name );
		if ( PHP_VERSION_ID < 80100 ) $method->setAccessible( true );
		return $method->invoke( null, $query );
	};
	foreach ( array( 'SELECT 1', ' ( select 1 ) UNION ( SELECT 2 )', '/* x */ SELECT 1', 'WITH a AS ( SELECT 1 ) SELECT * FROM a', 'SHOW TABLES', 'DESC a' ) as $query ) same( true, $call( 'only_reads', $query ), $query );
	$writes = array( '', 'UPDATE a SET b = 1', '/* SELECT */ DELETE FROM a', 'SELECT 1 INTO OUTFILE "x"', 'SET autocommit = 1', 'COMMIT', 'SELECTED', 'INSERT INTO a SELECT 1', '-- SELECT\nDROP TABLE a' );
	foreach ( $writes as $query ) same( false, $call( 'only_reads', $query ), $query );
	$same = fn( string $a, string $b ) => $call( 'kind_of', $a ) === $call( 'kind_of', $b );
	same( true, $same( "UPDATE `wp_options` SET `option_value` = '17' WHERE `option_name` = 'cron'", "UPDATE `wp_options` SET `option_value` = '18' WHERE `option_name` = 'cron'" ) );
	same( false, $same( "UPDATE `wp_options` SET `option_value` = '17' WHERE `option_name` = 'cron'", "UPDATE `wp_options` SET `option_value` = '17' WHERE `option_name` = 'shop'" ) );
	same( false, $same( 'INSERT INTO a VALUES ( 1 )', 'INSERT INTO b VALUES ( 1 )' ) );
	same( '', $call( 'kind_of', "DELETE FROM wp_options WHERE option_name = '_transient_x'" ) );
};

$failed = 0;
foreach ( $tests as $name => $test ) {
	wipe( BASE );
	mkdir( WP_CONTENT_DIR . '/themes', 0755, true );
	write( 'wp-content/plugins/alpha/alpha.php', plugin( '1.0' ) );
	write( 'wp-content/plugins/alpha/lib/übung.txt', str_repeat( "old\0", 1000 ) );
	try {
		$test();
		echo "ok    $name\n";
	} catch ( Throwable $error ) {
		++$failed;
		echo "FAIL  $name\n      ", get_class( $error ), ': ', $error->getMessage(), ' (line ', $error->getLine(), ")\n";
	}
}
wipe( BASE );
echo count( $tests ) - $failed, ' of ', count( $tests ), " tests passed\n";
exit( $failed ? 1 : 0 );
