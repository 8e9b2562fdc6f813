<?php
/**
 * Plugin Name: Sitefleet Backup
 * Description: Lets Sitefleet read the files and tables of this site for a backup, and swap a restored copy in. Does nothing on its own: the Sitefleet Guard checks every request.
 * Version: 1.0.7
 * Requires at least: 5.9
 * Requires PHP: 7.4
 * License: MIT
 *
 * A must-use plugin in one file, beside the guard, which verifies the signatures, holds the lock and calls it. Every request does a bounded
 * amount of work and may be repeated. Protocol, threat model and limits: docs/backups.md of Sitefleet.
 */

defined( 'ABSPATH' ) || exit;

if ( ! class_exists( 'Sitefleet_Backup', false ) ) :

/** One object serves one request. */
class Sitefleet_Backup {
	const VERSION     = '1.0.7';
	const MAX_BODY    = 1048576;
	const SECONDS     = 8.0; // Work of one request; no host ends it sooner.
	const MAX_ENTRIES = 4000; // Files in one page of the manifest.
	const MAX_READ    = 2097152; // Bytes of files, or of rows, in one answer.
	const SLICE       = 524288; // Bytes of rows in one slice.
	const MAX_ROW     = 8388608; // Bytes of one row, as JSON. A larger one is left out.
	const MAX_LEFT    = 20; // Rows that one slice leaves out: each is named.
	const MAX_TABLES  = 2000;
	const PIECE       = 131072; // Bytes that are compressed between two rests.
	const INSERT      = 262144; // Bytes of one INSERT statement, well below any max_allowed_packet.
	const PATIENCE    = 20.0; // Seconds that a request waits for a swap that is under way.
	const MAX_STRAYS  = 200; // Of the files in folders that no backup has, so many are named.

	/** What each action needs of the guard: a stored nonce, the lock, the owner's permission to change files. */
	const ACTIONS = array(
		'manifest' => '', 'read' => '', 'digest' => '', 'tables' => '', 'rows' => '', 'restoring' => '', 'strays' => '',
		'stage' => 'nonce lock files', 'plan' => 'nonce lock files', 'write' => 'nonce files', 'load' => 'nonce files',
		'swap' => 'nonce lock files', 'back' => 'nonce lock files', 'finish' => 'nonce lock files',
	);

	/** Folders directly in wp-content that hold nothing of the site's own: made again at need, or copies of it. */
	const LEFT_OUT = array( 'cache', 'upgrade', 'upgrade-temp-backup', 'updraft', 'ai1wm-backups' );
	/** Files of wp-content that load before this plugin: what they break, it could not take back. */
	const DROP_INS = array( 'advanced-cache.php', 'db.php', 'db-error.php', 'fatal-error-handler.php', 'install.php', 'maintenance.php', 'object-cache.php', 'php-error.php', 'sunrise.php' );

	private string $content;
	private string $root;
	/** Where wp-content really is: in a root where it has another name, too. */
	private string $real;
	/** The guard's own folder. */
	private string $store;
	/** Of the guard: reads and replaces a sealed file of its folder; runs something under its lock. */
	private $get;
	private $put;
	private $locked;
	private bool $gentle = false;
	/** When the last rest ended. */
	private float $rested = 0.0;
	/** Whether the database takes names of tables for the same that differ in case; null = not asked yet. */
	private ?bool $folds = null;

	public function __construct( string $content, string $store, callable $get, callable $put, callable $locked ) {
		$this->content = rtrim( strtr( $content, '\\', '/' ), '/' );
		$this->root    = rtrim( strtr( ABSPATH, '\\', '/' ), '/' );
		$this->real    = (string) realpath( $this->content );
		$this->store   = $store;
		list( $this->get, $this->put, $this->locked ) = array( $get, $put, $locked );
	}

	/** Executes a request that the guard has admitted. */
	public function handle( string $action, array $request ): array {
		Sitefleet_Refusal::when( is_multisite(), 'multisite', 'The sites of a network share files and tables: they cannot be backed up one by one.' );
		$method       = "do_$action";
		$this->gentle = true === ( $request['rest'] ?? null );
		// WordPress has worked since the request began.
		$this->rested = (float) ( $_SERVER['REQUEST_TIME_FLOAT'] ?? microtime( true ) );
		return $this->$method( $request );
	}

	/**
	 * Rests three times as long as it has worked since the last rest, if that was asked for: visitors get most of the processor on hosts that
	 * give the site only one. Where they slow this request down, it rests longer.
	 */
	private function rest(): void {
		$worked = microtime( true ) - $this->rested;
		if ( ! $this->gentle || $worked < 0.005 ) return;
		self::php( 'usleep', (int) ( min( 1.0, 3 * $worked ) * 1000000 ) );
		$this->rested = microtime( true );
	}

	// ---------------------------------------------------------------------------------------------------------- files

	/**
	 * The files of the site in a fixed order, page by page: path, size, time, inode, time of change, mode. No contents are read. Where a page
	 * ends is sent as a URL has it: the name may be no UTF-8, of which an answer would make another one, and what is between would be skipped.
	 */
	private function do_manifest( array $request ): array {
		$after = $request['after'] ?? '';
		Sitefleet_Refusal::when( ! is_string( $after ), 'bad_request', 'after must be a path, or empty.' );
		$after = rawurldecode( $after );
		$page = array( 'entries' => array(), 'left_out' => array(), 'until' => microtime( true ) + self::SECONDS, 'full' => false );
		$this->walk( '', '' === $after ? array() : explode( '/', $after ), $page );
		return array( 'entries' => $page['entries'], 'left_out' => $page['left_out'], 'next' => $page['full'] ? rawurlencode( $page['last'] ?? $after ) : null );
	}

	/** Adds what is below a folder, after the path whose parts are given. */
	private function walk( string $folder, array $after, array &$page ): void {
		$names = @scandir( '' === $folder ? $this->root : $this->path( $folder ) );
		if ( false === $names ) {
			$page['left_out'][] = array( $folder, 'unreadable' );
			return;
		}
		if ( '' === $folder ) $names = array_merge( array_diff( $names, array( 'wp-content' ) ), array( 'wp-content' ) );
		$names = array_diff( array_map( 'strval', $names ), array( '.', '..' ) );
		sort( $names, SORT_STRING );
		foreach ( $names as $name ) {
			$order = $after ? strcmp( $name, $after[0] ) : 1;
			if ( $order < 0 ) continue;
			$rest = 0 === $order ? array_slice( $after, 1 ) : array();
			$rel  = '' === $folder ? $name : "$folder/$name";
			$path = $this->path( $rel );
			$why  = $this->why_left_out( $rel, $path );
			// What a page has named as its last is not named again.
			if ( 0 === $order && ! $rest && ( null !== $why || ! is_dir( $path ) ) ) continue;
			if ( count( $page['entries'] ) + count( $page['left_out'] ) >= self::MAX_ENTRIES || microtime( true ) > $page['until'] ) {
				$page['full'] = true;
				return;
			}
			if ( 'own' === $why ) continue;
			if ( null !== $why ) {
				$page['left_out'][] = array( preg_match( '//u', $rel ) ? $rel : rawurlencode( $rel ), $why );
			} elseif ( is_dir( $path ) ) {
				$this->walk( $rel, $rest, $page );
				if ( $page['full'] ) return;
				continue;
			} elseif ( ! is_readable( $path ) ) {
				// In the list, a restore would take it for one that is newer than the backup, and remove it.
				$page['left_out'][] = array( $rel, 'unreadable' );
			} else {
				$stat = @stat( $path );
				if ( $stat ) $page['entries'][] = array( $rel, $stat['size'], $stat['mtime'], $stat['ino'], $stat['ctime'], $stat['mode'] & 0777 );
			}
			$page['last'] = $rel;
		}
	}

	/** Why a file or folder is not part of the backup; null if it is. `own`: Sitefleet's, or none of anyone's business. */
	private function why_left_out( string $rel, string $path ): ?string {
		if ( $this->is_own( $rel, $path ) ) return 'own';
		if ( ! preg_match( '//u', $rel ) || ! self::is_path( $rel ) ) return 'name';
		if ( preg_match( '#^wp-content/([^/]+)\z#', $rel, $found ) && ( in_array( $found[1], self::LEFT_OUT, true ) || preg_match( '/^sitefleet-guard-[0-9a-f]{32}\z/', $found[1] ) ) ) return 'cache';
		// Hosts link the folders of wp-content to larger disks. Other links may lead anywhere, or around in a circle.
		if ( is_link( $path ) && ! ( is_dir( $path ) && preg_match( '#^wp-content(/[^/]+)?\z#', $rel ) ) ) return 'link';
		return is_dir( $path ) || is_file( $path ) ? null : 'special';
	}

	/**
	 * By its whole name and its place: what only looks like Sitefleet's may be a hacker's. A folder in which the guard works on an item is
	 * named in its journal as long as it is there. Folders of guards with other secrets are left out, but not own.
	 */
	private function is_own( string $rel, string $path ): bool {
		if ( '' !== $this->store && 0 === strpos( "$rel/", 'wp-content' . substr( $this->store, strlen( $this->content ) ) . '/' ) ) return true;
		if ( preg_match( '#^wp-content/mu-plugins/sitefleet-(guard|backup)\.php\z#', $rel ) ) return true;
		if ( preg_match( '#^wp-content/.*/\.sitefleet-guard-([0-9a-f]{32})(/|\z)#s', $rel, $found ) ) return ( ( $this->get )( 'journal' )['id'] ?? '' ) === $found[1];
		// It is listed as wp-content.
		return 'wp-content' !== $rel && 0 !== strpos( $rel, 'wp-content/' ) && is_dir( $path ) && realpath( $path ) === $this->real;
	}

	/** Of the folders that no backup has: files that run, or steer PHP or the web server. What a hacker left there would survive a restore. */
	private function do_strays(): array {
		$until   = microtime( true ) + self::SECONDS / 2;
		$folders = array();
		foreach ( (array) @scandir( $this->content ) as $name ) {
			if ( is_dir( "$this->content/$name" ) && 'cache' === $this->why_left_out( "wp-content/$name", "$this->content/$name" ) ) $folders[] = "wp-content/$name";
		}
		list( $todo, $paths, $count, $whole ) = array( array_reverse( $folders ), array(), 0, true );
		while ( $todo ) {
			$folder = array_pop( $todo );
			$names  = @opendir( $this->path( $folder ) );
			if ( ! $names ) $whole = false;
			// Caches may have more names in a folder than fit into memory.
			while ( $names && false !== ( $name = readdir( $names ) ) ) {
				if ( '.' === $name || '..' === $name ) continue;
				if ( microtime( true ) > $until ) {
					list( $todo, $whole ) = array( array(), false );
					break;
				}
				$path = $this->path( "$folder/$name" );
				if ( is_dir( $path ) && ! is_link( $path ) ) $todo[] = "$folder/$name";
				elseif ( preg_match( Sitefleet_Guard::STEERS, $name ) && ++$count <= self::MAX_STRAYS ) $paths[] = preg_match( '//u', "$folder/$name" ) ? "$folder/$name" : rawurlencode( "$folder/$name" );
			}
			if ( $names ) closedir( $names );
		}
		return array( 'folders' => $folders, 'paths' => $paths, 'count' => $count, 'whole' => $whole );
	}

	/** The place of a path of the backup. wp-content may be anywhere. */
	private function path( string $rel ): string {
		return 'wp-content' === $rel || 0 === strpos( $rel, 'wp-content/' ) ? $this->content . substr( $rel, 10 ) : "$this->root/$rel";
	}

	/** A path as it was sent, checked. */
	private function named( $rel ): string {
		Sitefleet_Refusal::when( ! is_string( $rel ) || ! self::is_path( $rel ), 'bad_request', 'A path is not one below the site.' );
		return $rel;
	}

	/** Whether it leads to a place below the site. A backslash is part of a name, except on Windows. */
	private static function is_path( string $rel ): bool {
		$backslash = '\\' === DIRECTORY_SEPARATOR && false !== strpos( $rel, '\\' );
		return '' !== $rel && strlen( $rel ) <= 4000 && ! $backslash && ! preg_match( '#(^|/)\.{0,2}(/|\z)|\x00#', $rel );
	}

	/** Parts of files, as many as fit into one answer: of each what the file was before and after it was read. */
	private function do_read( array $request ): array {
		$until = microtime( true ) + self::SECONDS;
		list( $parts, $data ) = array( array(), '' );
		foreach ( self::listed( $request, 'parts', 4000 ) as $part ) {
			$this->rest();
			if ( microtime( true ) > $until || strlen( $data ) >= self::MAX_READ ) break;
			list( $rel, $offset, $length ) = array( $this->named( $part[0] ?? null ), (int) ( $part[1] ?? 0 ), (int) ( $part[2] ?? 0 ) );
			$path = $this->path( $rel );
			if ( null !== $this->why_left_out( $rel, $path ) || ! is_file( $path ) ) {
				$parts[] = array( 'error' => 'gone' );
				continue;
			}
			$file = @fopen( $path, 'rb' );
			if ( ! $file ) {
				$parts[] = array( 'error' => 'unreadable' );
				continue;
			}
			$before = fstat( $file );
			fseek( $file, max( 0, $offset ) );
			$length = min( max( 0, $length ), self::MAX_READ - strlen( $data ) );
			$text   = $length > 0 ? (string) stream_get_contents( $file, $length ) : '';
			clearstatcache();
			$after = @stat( $path );
			fclose( $file );
			$data   .= $text;
			$stable  = $after && array( $before['size'], $before['mtime'], $before['ino'] ) === array( $after['size'], $after['mtime'], $after['ino'] );
			$parts[] = array( 'length' => strlen( $text ), 'size' => $before['size'], 'time' => $before['mtime'], 'inode' => $before['ino'], 'changed' => ! $stable );
		}
		return array( 'parts' => $parts ) + $this->packed( $data );
	}

	/** SHA-256 of files, as many as the time allows; null = there is no such file. */
	private function do_digest( array $request ): array {
		$until = microtime( true ) + self::SECONDS;
		$found = array();
		foreach ( self::listed( $request, 'paths', 4000 ) as $rel ) {
			if ( microtime( true ) > $until ) break;
			$path    = $this->path( $this->named( $rel ) );
			$found[] = is_file( $path ) ? ( @hash_file( 'sha256', $path ) ?: null ) : null;
		}
		return array( 'digests' => $found );
	}

	// --------------------------------------------------------------------------------------------------------- tables

	/** The database connection, for bytes as they are stored: nothing is converted from one character set to another. */
	private function database(): mysqli {
		global $wpdb;
		$db = $wpdb->dbh ?? null;
		Sitefleet_Refusal::when( ! $db instanceof mysqli, 'no_database', 'The connection to the database is not one of mysqli.' );
		mysqli_report( MYSQLI_REPORT_OFF );
		$this->run( $db, 'SET NAMES binary' );
		// Otherwise a stored date such as February 30 becomes 0000-00-00: in a key all of them are the same, which the COMMIT refuses.
		$this->run( $db, "SET SESSION time_zone = '+00:00', sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES', foreign_key_checks = 0, unique_checks = 0, lock_wait_timeout = 10" );
		return $db;
	}

	private function run( mysqli $db, string $query, string $what = 'The database refused' ) {
		$result = $db->query( $query );
		Sitefleet_Refusal::when( false === $result, 'database', "$what: " . substr( $db->error, 0, 300 ) );
		return $result;
	}

	/** Runs something with definitions. They are text, in which names, defaults and the values of ENUM are converted to what their table has. */
	private function as_text( mysqli $db, callable $do ) {
		$this->run( $db, 'SET NAMES utf8mb4' );
		$result = $do();
		$this->run( $db, 'SET NAMES binary' );
		return $result;
	}

	private function all( mysqli $db, string $query ): array {
		$result = $this->run( $db, $query );
		$rows   = $result->fetch_all( MYSQLI_ASSOC );
		$result->free();
		return $rows;
	}

	private static function name( string $table ): string { return '`' . str_replace( '`', '``', $table ) . '`'; }

	private static function like( string $prefix ): string { return addcslashes( $prefix, '%_\\' ) . '%'; }

	/** A name of a table as the database compares it: some servers keep the names in small letters, whatever WordPress calls them. */
	private function folded( string $name ): string {
		global $wpdb;
		if ( null === $this->folds ) $this->folds = (bool) (int) $wpdb->get_var( 'SELECT @@lower_case_table_names' );
		return $this->folds ? strtolower( $name ) : $name;
	}

	/** Whether a table has the prefix of the site. */
	private function has_prefix( string $name ): bool {
		global $wpdb;
		return 0 === strpos( $this->folded( $name ), $this->folded( $wpdb->base_prefix ) );
	}

	/** Prefixes of other WordPress sites in the same database that begin with this one's: their tables are not of this site. */
	private static function prefixes_of_others( array $names, string $own ): array {
		$there = array_fill_keys( $names, true );
		$found = array();
		foreach ( $names as $name ) {
			if ( 'options' !== substr( $name, -7 ) || $own . 'options' === $name ) continue;
			$prefix = substr( $name, 0, -7 );
			$has    = fn( $one, $two ) => isset( $there[ $prefix . $one ], $there[ $prefix . $two ] );
			// Another site may share the users of this one. So does one of a former network, whose tables are of this site.
			$shares = $has( 'posts', 'postmeta' ) && ! preg_match( '/^\d+_\z/', substr( $prefix, strlen( $own ) ) );
			if ( $shares || ( $has( 'posts', 'users' ) && $has( 'posts', 'usermeta' ) ) ) $found[] = $prefix;
		}
		return $found;
	}

	/** The tables with the site's prefix, and how each is made. */
	private function do_tables(): array {
		global $wpdb;
		$db     = $this->database();
		$like   = "'" . $db->real_escape_string( self::like( $wpdb->base_prefix ) ) . "'";
		$tables = array();
		$others = array();
		$rows   = $this->all( $db, "SELECT TABLE_NAME AS name, TABLE_TYPE AS type, ENGINE AS engine, TABLE_ROWS AS many, DATA_LENGTH AS bytes FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE $like ORDER BY TABLE_NAME" );
		// LIKE ignores case.
		$rows = array_values( array_filter( $rows, fn( $row ) => $this->has_prefix( $row['name'] ) ) );
		Sitefleet_Refusal::when( count( $rows ) > self::MAX_TABLES, 'too_large', 'The site has more than ' . self::MAX_TABLES . ' tables.' );
		$names  = array_column( $rows, 'name' );
		$prefix = $wpdb->base_prefix;
		// As the database has it.
		foreach ( $names as $name ) if ( $this->folded( $name ) === $this->folded( $prefix . 'options' ) ) $prefix = substr( $name, 0, -7 );
		$prefixes = self::prefixes_of_others( $names, $prefix );
		foreach ( $rows as $row ) {
			foreach ( $prefixes as $other ) {
				if ( 0 !== strpos( $row['name'], $other ) ) continue;
				$others[] = array( 'kind' => 'other_wordpress', 'name' => $row['name'] );
				continue 2;
			}
			if ( 'SYSTEM VERSIONED' === $row['type'] ) {
				// The rows of now are read.
				$others[] = array( 'kind' => 'history', 'name' => $row['name'] );
			} elseif ( 'BASE TABLE' !== $row['type'] ) {
				$others[] = array( 'kind' => 'SEQUENCE' === $row['type'] ? 'sequence' : 'view', 'name' => $row['name'] );
				continue;
			}
			$tables[] = array(
				'name' => $row['name'], 'engine' => (string) $row['engine'], 'rows' => (int) $row['many'], 'bytes' => (int) $row['bytes'],
				'create' => $this->definition( $db, $row['name'] ), 'ordered' => null !== $this->shape( $db, $row['name'] )['key'],
			);
		}
		foreach ( $this->all( $db, 'SELECT TRIGGER_NAME AS name, EVENT_OBJECT_TABLE AS place FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()' ) as $row ) {
			if ( $this->has_prefix( $row['place'] ) ) $others[] = array( 'kind' => 'trigger', 'name' => $row['name'] );
		}
		return array( 'prefix' => $prefix, 'tables' => $tables, 'others' => $others, 'server' => $db->server_info );
	}

	/** The statement that makes a table. Defaults of binary columns that are no text, which an answer could not hold, are in hex. */
	private function definition( mysqli $db, string $table ): string {
		$create = $this->as_text( $db, fn() => (string) ( $this->all( $db, 'SHOW CREATE TABLE ' . self::name( $table ) )[0]['Create Table'] ?? '' ) );
		if ( preg_match( '//u', $create ) ) return $create;
		$escapes = array( '\\0' => "\0", '\\n' => "\n", '\\r' => "\r", '\\\\' => '\\', "''" => "'" );
		$in_hex  = fn( $found ) => preg_match( '//u', $found[1] ) ? $found[0] : "DEFAULT x'" . bin2hex( strtr( $found[1], $escapes ) ) . "'";
		return preg_replace_callback( "/\\bDEFAULT '((?:[^'\\\\]|\\\\.|'')*)'/s", $in_hex, $create );
	}

	/**
	 * How the rows of a table are read: an expression for each stored column, and the unique key by which they are in order. Null: it has
	 * none that can be compared, so the rows are sorted by all columns.
	 */
	private function shape( mysqli $db, string $table ): array {
		$columns = array();
		foreach ( $this->all( $db, 'SHOW FULL COLUMNS FROM ' . self::name( $table ) ) as $one ) {
			// Computed from other columns; DEFAULT_GENERATED is not.
			if ( preg_match( '/\b(VIRTUAL|STORED|PERSISTENT)\b/', (string) $one['Extra'] ) ) continue;
			$columns[ $one['Field'] ] = array( 'type' => strtolower( $one['Type'] ), 'collation' => $one['Collation'], 'null' => 'YES' === $one['Null'] );
		}
		$keys = array();
		foreach ( $this->all( $db, 'SHOW INDEX FROM ' . self::name( $table ) ) as $one ) {
			if ( (int) $one['Non_unique'] || 'BTREE' !== $one['Index_type'] ) continue;
			$column = $columns[ $one['Column_name'] ] ?? null;
			$usable = $column && ! $column['null'] && null === $one['Sub_part'] && 'D' !== $one['Collation']
				&& preg_match( '/^(tinyint|smallint|mediumint|int|bigint|decimal|char|varchar|binary|varbinary|date|datetime|timestamp)\b/', $column['type'] );
			$keys[ $one['Key_name'] ][ (int) $one['Seq_in_index'] ] = $usable ? $one['Column_name'] : null;
		}
		$keys = array_filter( $keys, fn( $key ) => ! in_array( null, $key, true ) );
		ksort( $keys );
		$key = $keys['PRIMARY'] ?? ( $keys ? reset( $keys ) : null );
		if ( $key ) ksort( $key );
		return array( 'columns' => $columns, 'key' => $key ? array_values( $key ) : null );
	}

	/** How a column is read: its bytes; of bits their number. */
	private static function read_as( string $name, array $column ): string {
		return 0 === strpos( $column['type'], 'bit' ) ? self::name( $name ) . ' + 0' : self::name( $name );
	}

	/** A value of a key, given in hex, as the server compares it in its index. */
	private static function key_value( mysqli $db, string $hex, array $column ): string {
		$value = (string) hex2bin( $hex );
		if ( preg_match( '/^(tinyint|smallint|mediumint|int|bigint|decimal)/', $column['type'] ) ) {
			Sitefleet_Refusal::when( ! preg_match( '/^-?\d+(\.\d+)?\z/', $value ), 'bad_request', 'A value of a key is no number.' );
			return $value;
		}
		if ( null !== $column['collation'] ) {
			$charset = strtok( $column['collation'], '_' );
			return "_$charset " . ( '' === $hex ? "''" : "0x$hex" ) . " COLLATE {$column['collation']}";
		}
		return preg_match( '/^(date|datetime|timestamp)/', $column['type'] ) ? "'" . $db->real_escape_string( $value ) . "'" : ( '' === $hex ? "''" : "0x$hex" );
	}

	/** The condition that rows are after a key, or not after it. */
	private function beyond( mysqli $db, array $shape, array $values, bool $after ): string {
		$any = array();
		foreach ( $shape['key'] as $index => $name ) {
			$same = array();
			for ( $at = 0; $at < $index; $at++ ) {
				$same[] = self::name( $shape['key'][ $at ] ) . ' = ' . self::key_value( $db, $values[ $at ], $shape['columns'][ $shape['key'][ $at ] ] );
			}
			$last   = count( $shape['key'] ) - 1 === $index;
			$sign   = $after ? '>' : ( $last ? '<=' : '<' );
			$same[] = self::name( $name ) . " $sign " . self::key_value( $db, $values[ $index ], $shape['columns'][ $name ] );
			$any[]  = '( ' . implode( ' AND ', $same ) . ' )';
		}
		$first = self::name( $shape['key'][0] ) . ( $after ? ' >= ' : ' <= ' ) . self::key_value( $db, $values[0], $shape['columns'][ $shape['key'][0] ] );
		return "$first AND ( " . implode( ' OR ', $any ) . ' )';
	}

	/**
	 * Rows of ranges, from one snapshot of the database, as many as fit into one answer. A range is a table, the key after which it begins and
	 * the one with which it ends (null: the first, the last row), and the digest that is known of it: where it is the same, no rows are sent.
	 */
	private function do_rows( array $request ): array {
		$until  = microtime( true ) + self::SECONDS;
		$db     = $this->database();
		$ranges = self::listed( $request, 'ranges', 2000 );
		$this->run( $db, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ' );
		$this->run( $db, 'START TRANSACTION WITH CONSISTENT SNAPSHOT' );
		list( $slices, $data, $shapes ) = array( array(), '', array() );
		foreach ( $ranges as $index => $range ) {
			$table = $this->table( $range['table'] ?? null );
			$shape = $shapes[ $table ] = $shapes[ $table ] ?? $this->shape( $db, $table );
			$from  = self::key_of( $range['after'] ?? null, $shape );
			$to    = self::key_of( $range['to'] ?? null, $shape );
			do {
				// The first slice of a request is always read, so that every request gets further.
				if ( $slices && ( microtime( true ) > $until || strlen( $data ) + self::SLICE > self::MAX_READ ) ) break 2;
				$this->rest();
				$slice    = $this->slice( $db, $table, $shape, $from, $to );
				$text     = $slice['text'];
				$whole    = $from === self::key_of( $range['after'] ?? null, $shape ) && $slice['end'];
				$same     = $whole && hash( 'sha256', $text ) === ( $range['sha256'] ?? '' );
				$slices[] = array(
					'range' => $index, 'after' => $from, 'to' => $slice['end'] ? $to : $slice['last'], 'end' => $slice['end'],
					'rows' => $slice['rows'], 'bytes' => strlen( $text ), 'sha256' => hash( 'sha256', $text ), 'same' => $same,
					'left_out' => $slice['left_out'],
				);
				if ( ! $same ) $data .= $text;
				$from = $slice['last'];
			} while ( ! $slice['end'] );
		}
		$db->query( 'COMMIT' );
		return array( 'slices' => $slices ) + $this->packed( $data );
	}

	/**
	 * The rows after one key up to another, up to the size of a slice: one line of JSON each. A row that is too large is named instead, as
	 * anyone who may fill in a form can make one.
	 */
	private function slice( mysqli $db, string $table, array $shape, ?array $from, ?array $to ): array {
		$most  = self::max_row();
		$query = 'SELECT ' . self::columns_up_to( $most, $shape['columns'] ) . ' FROM ' . self::name( $table );
		$limit = 2000;
		$start = 0;
		if ( $shape['key'] ) {
			$where = array();
			if ( $from ) $where[] = $this->beyond( $db, $shape, $from, true );
			if ( $to ) $where[] = $this->beyond( $db, $shape, $to, false );
			if ( $where ) $query .= ' WHERE ' . implode( ' AND ', $where );
			$query .= ' ORDER BY ' . implode( ', ', array_map( array( self::class, 'name' ), $shape['key'] ) ) . " LIMIT $limit";
		} else {
			$start  = $from ? (int) hex2bin( $from[0] ) : 0;
			$stop   = $to ? (int) hex2bin( $to[0] ) : null;
			if ( null !== $stop ) $limit = max( 0, min( $limit, $stop - $start ) );
			// In the order that the table has, which an index could change: new rows come last, and nothing is sorted for each slice.
			$query .= " USE INDEX () LIMIT $start, $limit";
		}
		$names  = array_keys( $shape['columns'] );
		$result = $db->query( $query, MYSQLI_USE_RESULT );
		Sitefleet_Refusal::when( ! $result instanceof mysqli_result, 'database', 'The database refused: ' . substr( $db->error, 0, 300 ) );
		list( $text, $rows, $last, $end, $left ) = array( '', 0, $from, true, array() );
		while ( $row = $result->fetch_row() ) {
			$large = '1' === (string) array_shift( $row );
			$bytes = array_sum( array_map( 'strlen', array_map( 'strval', $row ) ) );
			if ( ( '' !== $text && strlen( $text ) + $bytes > self::SLICE ) || count( $left ) >= self::MAX_LEFT ) {
				$end = false;
				break;
			}
			if ( $shape['key'] ) $last = array_map( fn( $name ) => bin2hex( (string) $row[ array_search( $name, $names, true ) ] ), $shape['key'] );
			if ( $large || ( 6 * $bytes > $most && self::json_bytes( $row ) > $most ) ) {
				$left[] = self::row_name( $shape, $last, $start + $rows + count( $left ) + 1 );
				continue;
			}
			$cells = array_map( fn( $cell ) => null === $cell || preg_match( '//u', $cell ) ? $cell : array( base64_encode( $cell ) ), $row );
			$line  = json_encode( $cells, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES );
			Sitefleet_Refusal::when( false === $line, 'failed', "A row of $table cannot be encoded." );
			// Not held twice: a line may have 8 MB.
			unset( $row, $cells );
			$line .= "\n";
			$text .= $line;
			++$rows;
		}
		$failed = $db->error;
		$result->free();
		Sitefleet_Refusal::when( '' !== $failed, 'database', 'The database refused: ' . substr( $failed, 0, 300 ) );
		$read = $rows + count( $left );
		if ( ! $shape['key'] ) $last = array( bin2hex( (string) ( $start + $read ) ) );
		if ( $end && $read >= $limit && $read > 0 ) $end = $to && $last === $to;
		return array( 'text' => $text, 'rows' => $rows, 'last' => $last, 'end' => $end, 'left_out' => $left );
	}

	/** Bytes of the largest row that is read: each is held several times until it is sent, and PHP may have little memory. */
	private static function max_row(): int {
		$limit = (string) ( self::php( 'ini_get', 'memory_limit' ) ?: '128M' );
		$bytes = wp_convert_hr_to_bytes( $limit );
		return $bytes <= 0 ? self::MAX_ROW : (int) min( self::MAX_ROW, max( 65536, ( $bytes - (int) self::php( 'memory_get_usage' ) ) / 6 ) );
	}

	/** What is selected: whether a row is larger than that, and its columns; of a larger one without the long ones, which might not fit into memory. */
	private static function columns_up_to( int $most, array $columns ): string {
		$long  = array_filter( $columns, fn( $column ) => preg_match( '/^(mediumtext|longtext|mediumblob|longblob|json)/', $column['type'] ) );
		$sizes = array_map( fn( $name ) => 'IFNULL(OCTET_LENGTH(' . self::name( $name ) . '), 0)', array_map( 'strval', array_keys( $long ) ) );
		$large = $sizes ? implode( ' + ', $sizes ) . " > $most" : '0';
		$read  = array( $large );
		foreach ( $columns as $name => $column ) {
			$one    = self::read_as( (string) $name, $column );
			$read[] = isset( $long[ $name ] ) ? "IF($large, NULL, $one)" : $one;
		}
		return implode( ', ', $read );
	}

	/** Bytes of a row as JSON, counted before they are made: a control character takes six. */
	private static function json_bytes( array $row ): int {
		$bytes = 1;
		foreach ( $row as $cell ) {
			if ( null === $cell ) {
				$bytes += 5;
			} elseif ( ! preg_match( '//u', $cell ) ) {
				$bytes += 5 + 4 * (int) ceil( strlen( $cell ) / 3 );
			} else {
				$bytes += 3 + strlen( $cell ) + 3 * ( substr_count( $cell, "\u{2028}" ) + substr_count( $cell, "\u{2029}" ) );
				foreach ( count_chars( $cell, 1 ) as $byte => $many ) {
					if ( in_array( $byte, array( 8, 9, 10, 12, 13, 34, 92 ), true ) ) $bytes += $many;
					elseif ( $byte < 32 ) $bytes += 5 * $many;
				}
			}
		}
		return $bytes;
	}

	/** A row for people: its key, or its place. */
	private static function row_name( array $shape, ?array $key, int $place ): string {
		if ( ! $shape['key'] ) return "row $place";
		$names = array();
		foreach ( $shape['key'] as $index => $column ) {
			$value   = (string) hex2bin( $key[ $index ] );
			$value   = strlen( $value ) <= 60 && preg_match( '/^[^\x00-\x1f]*\z/u', $value ) ? $value : '0x' . substr( $key[ $index ], 0, 60 );
			$names[] = "$column $value";
		}
		return implode( ', ', $names );
	}

	private static function key_of( $values, array $shape ): ?array {
		if ( null === $values ) return null;
		$good = is_array( $values ) && count( $values ) === count( $shape['key'] ?? array( '' ) );
		foreach ( $good ? $values : array() as $value ) $good = $good && is_string( $value ) && strlen( $value ) <= 6144 && preg_match( '/^(?:[0-9a-f]{2})*\z/', $value );
		Sitefleet_Refusal::when( ! $good, 'bad_request', 'The ends of a range do not fit the key of its table.' );
		return array_values( $values );
	}

	/** A table of the site, or one that is being restored. */
	private function table( $name ): string {
		$good = is_string( $name ) && strlen( $name ) <= 64 && ( $this->has_prefix( $name ) || preg_match( '/^sfr_[0-9a-f]{8}_[no]\d{1,4}\z/', $name ) );
		Sitefleet_Refusal::when( ! $good, 'bad_request', 'A table is not one of the site.' );
		return $name;
	}

	// -------------------------------------------------------------------------------------------------------- restore

	/** What is being restored, and how far it is; null if nothing is. */
	private function do_restoring(): array {
		$job = ( $this->get )( 'backup' );
		if ( ! $job ) return array( 'job' => null );
		$others = array_values( array_unique( array_column( $job['keys'] ?? array(), 'name' ) ) );
		return array( 'job' => array( 'id' => $job['id'], 'phase' => $job['phase'], 'tables' => count( $job['tables'] ), 'others' => $others ) );
	}

	private function job( $id ): array {
		$job = ( $this->get )( 'backup' );
		Sitefleet_Refusal::when( ! $job || $job['id'] !== $id, 'not_found', 'This restore is not under way here.' );
		return $job;
	}

	private function folder( array $job ): string { return "$this->store/restore-{$job['id']}"; }

	/** Begins a restore, or finds it begun: a folder and names of tables beside the live ones. */
	private function do_stage( array $request ): array {
		$id = $request['job'] ?? null;
		Sitefleet_Refusal::when( ! is_string( $id ) || ! preg_match( '/^[0-9a-f]{32}\z/', $id ), 'bad_request', 'job must have 32 hex digits.' );
		$job = ( $this->get )( 'backup' );
		if ( $job && $job['id'] === $id ) return $this->do_restoring();
		Sitefleet_Refusal::when( (bool) $job, 'restoring', 'Another restore is under way on this site: ' . ( $job['id'] ?? '' ) . '.' );
		$tables = array();
		foreach ( self::listed( $request, 'tables', self::MAX_TABLES ) as $index => $name ) {
			$tables[] = array( $this->table( $name ), 'sfr_' . substr( $id, 0, 8 ) . "_n$index", 'sfr_' . substr( $id, 0, 8 ) . "_o$index" );
		}
		$job = array( 'id' => $id, 'phase' => 'staging', 'tables' => $tables );
		foreach ( array( '', '/n', '/o' ) as $part ) {
			$made = is_dir( $this->folder( $job ) . $part ) || @mkdir( $this->folder( $job ) . $part, 0700 );
			Sitefleet_Refusal::when( ! $made, 'not_writable', 'A folder for the restored files cannot be made.' );
		}
		( $this->put )( 'backup-files', array( 'entries' => array() ) );
		( $this->put )( 'backup', $job );
		return $this->do_restoring();
	}

	/** Names files that will be put in place of the live ones, or removed. Repeated, a part replaces what follows its place. */
	private function do_plan( array $request ): array {
		$job = $this->job( $request['job'] ?? null );
		Sitefleet_Refusal::when( 'staging' !== $job['phase'], 'bad_request', 'The restore has been swapped in.' );
		$known = ( $this->get )( 'backup-files' )['entries'] ?? array();
		$from  = (int) ( $request['from'] ?? 0 );
		Sitefleet_Refusal::when( $from < 0 || $from > count( $known ), 'bad_request', 'A part of the plan is missing before this one.' );
		$known = array_slice( $known, 0, $from );
		foreach ( self::listed( $request, 'entries', 4000 ) as $one ) {
			$rel = $this->named( $one[0] ?? null );
			Sitefleet_Refusal::when( ! self::may_swap( $rel ), 'bad_request', 'A file that loads before this plugin is not swapped.' );
			$known[] = array( $rel, 'put' === ( $one[1] ?? '' ) ? 'put' : 'remove' );
		}
		( $this->put )( 'backup-files', array( 'entries' => $known ) );
		return array( 'planned' => count( $known ) );
	}

	/** Whether a file may be swapped: one of wp-content that loads after this plugin, which can then take it back. */
	public static function may_swap( string $rel ): bool {
		return preg_match( '#^wp-content/(?!mu-plugins(?:/|\z)|\.?sitefleet-)(.+)\z#s', $rel, $found ) && ! in_array( $found[1], self::DROP_INS, true )
			&& ! preg_match( '#(^|/)(\.htaccess|\.user\.ini|php\.ini)\z#', $rel );
	}

	/** Writes parts of files beside the live ones. Of a file that is complete the digest is answered. */
	private function do_write( array $request ): array {
		$job  = $this->job( $request['job'] ?? null );
		$data = self::unpacked( $request );
		$at   = 0;
		$done = array();
		foreach ( self::listed( $request, 'files', 4000 ) as $one ) {
			list( $index, $offset, $length, $size ) = array_map( 'intval', array_slice( array_pad( (array) $one, 6, 0 ), 0, 4 ) );
			Sitefleet_Refusal::when( $index < 0 || $offset < 0 || $length < 0 || $at + $length > strlen( $data ), 'bad_request', 'The lengths do not fit the data.' );
			$path = $this->folder( $job ) . "/n/$index";
			$file = @fopen( $path, 'cb' );
			Sitefleet_Refusal::when( ! $file, 'not_writable', 'A file cannot be written: no permission, or no space.' );
			// Repeated, a part ends where it ended before.
			ftruncate( $file, $offset );
			fseek( $file, $offset );
			$written = 0 === $length ? 0 : @fwrite( $file, substr( $data, $at, $length ) );
			$full    = fclose( $file ) && $written === $length;
			Sitefleet_Refusal::when( ! $full, 'no_space', 'There is no space left on the disk.' );
			$at += $length;
			$end = $offset + $length >= $size;
			if ( $end ) {
				self::php( 'chmod', $path, ( (int) ( $one[5] ?? 0644 ) & 0777 ) ?: 0644 );
				self::php( 'touch', $path, (int) ( $one[4] ?? time() ) );
			}
			$done[] = $end ? hash_file( 'sha256', $path ) : null;
		}
		return array( 'digests' => $done );
	}

	/** Makes a table beside the live one, or adds rows to it; of a row that is larger than a request a part. */
	private function do_load( array $request ): array {
		$job   = $this->job( $request['job'] ?? null );
		$names = array_column( $job['tables'], 1, 0 );
		$table = $names[ $request['table'] ?? '' ] ?? null;
		Sitefleet_Refusal::when( null === $table, 'bad_request', 'This table is not part of the restore.' );
		$db   = $this->database();
		$what = "The database refused table {$request['table']}";
		if ( isset( $request['create'] ) ) {
			$this->run( $db, 'DROP TABLE IF EXISTS ' . self::name( $table ) );
			$this->as_text( $db, fn() => $this->run( $db, self::create_as( (string) $request['create'], $table, $names ), $what ) );
		}
		$shape  = $this->shape( $db, $table );
		$data   = self::unpacked( $request );
		$types  = array_values( $shape['columns'] );
		$insert = 'INSERT INTO ' . self::name( $table ) . ' (' . implode( ', ', array_map( array( self::class, 'name' ), array_keys( $shape['columns'] ) ) ) . ') VALUES ';
		if ( isset( $request['part'] ) ) {
			$whole = $this->keep_part( $job, (array) $request['part'], $data );
			unset( $data );
			if ( $whole ) $this->insert_large( $db, $insert, $types, self::cells( (string) file_get_contents( $whole ), $types ), $what );
			return array( 'table' => $table, 'rows' => $whole ? 1 : 0 );
		}
		list( $values, $bytes, $rows ) = array( array(), 0, 0 );
		$this->run( $db, 'START TRANSACTION' );
		foreach ( '' === $data ? array() : explode( "\n", rtrim( $data, "\n" ) ) as $line ) {
			$cells    = self::cells( $line, $types );
			$row      = '(' . implode( ',', array_map( array( $this, 'literal' ), $cells, $types, array_fill( 0, count( $cells ), $db ) ) ) . ')';
			$values[] = $row;
			$bytes   += strlen( $row );
			++$rows;
			if ( $bytes > self::INSERT ) {
				$this->run( $db, $insert . implode( ',', $values ), $what );
				list( $values, $bytes ) = array( array(), 0 );
			}
		}
		if ( $values ) $this->run( $db, $insert . implode( ',', $values ), $what );
		$this->run( $db, 'COMMIT', $what );
		return array( 'table' => $table, 'rows' => $rows );
	}

	private static function cells( string $line, array $types ): array {
		$cells = json_decode( $line, true );
		Sitefleet_Refusal::when( ! is_array( $cells ) || count( $cells ) !== count( $types ), 'bad_request', 'A row does not fit its table.' );
		return $cells;
	}

	/** Keeps a part of a row. Returns the file with the row when that is whole, else null. */
	private function keep_part( array $job, array $part, string $data ): ?string {
		list( $offset, $size ) = array_map( 'intval', array_pad( array_values( $part ), 2, -1 ) );
		$path = $this->folder( $job ) . '/row';
		clearstatcache( true, $path );
		$has   = is_file( $path ) ? (int) filesize( $path ) : 0;
		$until = $offset + strlen( $data );
		Sitefleet_Refusal::when( $offset < 0 || $offset > $has || $until > $size || $size > self::MAX_ROW + 1, 'bad_request', 'A part does not fit its row.' );
		$file = @fopen( $path, 'cb' );
		Sitefleet_Refusal::when( ! $file, 'not_writable', 'A file cannot be written: no permission, or no space.' );
		// Repeated, a part ends where it ended before; the first one replaces the row before.
		ftruncate( $file, $offset );
		fseek( $file, $offset );
		$written = @fwrite( $file, $data );
		Sitefleet_Refusal::when( ! fclose( $file ) || strlen( $data ) !== $written, 'no_space', 'There is no space left on the disk.' );
		return $until === $size ? $path : null;
	}

	/** Adds one row whose long values are sent to the database in pieces: as text of a statement they would be held several times. */
	private function insert_large( mysqli $db, string $insert, array $types, array $cells, string $what ): void {
		list( $values, $long ) = array( array(), array() );
		foreach ( $cells as $index => $cell ) {
			if ( null === $cell || strlen( is_array( $cell ) ? (string) ( $cell[0] ?? '' ) : (string) $cell ) <= self::PIECE ) {
				$values[] = $this->literal( $cell, $types[ $index ], $db );
				continue;
			}
			$values[] = self::as_type( '?', $types[ $index ] );
			$long[]   = self::value( $cell );
		}
		$statement = $db->prepare( "$insert(" . implode( ',', $values ) . ')' );
		Sitefleet_Refusal::when( ! $statement, 'database', "$what: " . substr( $db->error, 0, 300 ) );
		$bound = array_fill( 0, count( $long ), null );
		if ( $long ) $statement->bind_param( str_repeat( 'b', count( $long ) ), ...$bound );
		foreach ( $long as $index => $value ) {
			for ( $at = 0; $at < strlen( $value ); $at += self::PIECE ) $statement->send_long_data( $index, substr( $value, $at, self::PIECE ) );
		}
		Sitefleet_Refusal::when( ! $statement->execute(), 'database', "$what: " . substr( $statement->error, 0, 300 ) );
		$statement->close();
	}

	/** The statement that makes a table under another name. Constraints get names of their own: these are unique in a database. */
	private static function create_as( string $create, string $table, array $names ): string {
		$changed = preg_replace( '/^CREATE TABLE `(?:[^`]|``)+`/', 'CREATE TABLE ' . self::name( $table ), $create, 1, $count );
		Sitefleet_Refusal::when( 1 !== $count, 'bad_request', 'create is not a statement that makes a table.' );
		$changed = preg_replace( '/^(\s+)CONSTRAINT `(?:[^`]|``)+` (FOREIGN KEY|CHECK)/m', '$1$2', $changed );
		return preg_replace_callback( '/(FOREIGN KEY \([^)]*\) REFERENCES )`((?:[^`]|``)+)`/', fn( $found ) => $found[1] . self::name( $names[ $found[2] ] ?? $found[2] ), $changed );
	}

	/** A stored value as SQL. */
	private function literal( $cell, array $column, mysqli $db ): string {
		if ( null === $cell ) return 'NULL';
		$value = self::value( $cell );
		if ( 0 === strpos( $column['type'], 'bit' ) ) return (string) ( preg_match( '/^\d+\z/', $value ) ? $value : 0 );
		return self::as_type( "'" . $db->real_escape_string( $value ) . "'", $column );
	}

	/** The bytes of a cell that is not NULL. */
	private static function value( $cell ): string {
		return is_array( $cell ) ? (string) base64_decode( (string) ( $cell[0] ?? '' ) ) : (string) $cell;
	}

	/** Of bytes some types would read their own, binary form, and store NULL where they are not of its length. */
	private static function as_type( string $text, array $column ): string {
		return preg_match( '/^(json|uuid|inet[46])\z/', $column['type'] ) ? "CONVERT($text USING utf8mb4)" : $text;
	}

	// ----------------------------------------------------------------------------------------------------------- swap

	/** Exchanges the restored files and tables with the live ones. Repeated, it finds them exchanged. */
	private function do_swap( array $request ): array {
		$job = $this->job( $request['job'] ?? null );
		if ( 'swapped' !== $job['phase'] ) {
			Sitefleet_Refusal::when( 'staging' !== $job['phase'], 'bad_request', 'The restore is at another step.' );
			$this->check_staged( $job );
			$job['keys']     = $this->keys_of_others( $job );
			$job['triggers'] = $this->triggers( $job );
			$this->check_keys( $job );
			$this->keep_connection( $job );
			$this->enter( $job, 'swapping' );
			$this->forth( $job );
			$this->point_keys( $job );
			$this->enter( $job, 'swapped' );
			self::forget();
		}
		return $this->do_restoring();
	}

	/** Puts the replaced files and tables back. */
	private function do_back( array $request ): array {
		$job = $this->job( $request['job'] ?? null );
		if ( 'staging' !== $job['phase'] ) {
			$this->enter( $job, 'backing' );
			$this->undo( $job );
			$this->enter( $job, 'staging' );
			self::forget();
		}
		return $this->do_restoring();
	}

	/** Ends a restore: what is not live any more is removed. */
	private function do_finish( array $request ): array {
		$job = ( $this->get )( 'backup' );
		if ( ! $job || $job['id'] !== ( $request['job'] ?? null ) ) return array( 'finished' => true );
		Sitefleet_Refusal::when( in_array( $job['phase'], array( 'swapping', 'backing' ), true ), 'bad_request', 'The restore is in the middle of a step.' );
		// Nothing is removed that a foreign key refers to.
		$this->point_keys( $job );
		$lost = 'swapped' === $job['phase'] ? $this->keep_triggers( $job ) : array();
		$kept = 'swapped' === $job['phase'] ? array_values( array_diff( array_column( $job['triggers'] ?? array(), 'name' ), $lost ) ) : array();
		$db   = $this->database();
		foreach ( $job['tables'] as $one ) $this->run( $db, 'DROP TABLE IF EXISTS ' . self::name( $one[1] ) . ', ' . self::name( $one[2] ) );
		$said  = array( 'triggers' => $kept, 'triggers_lost' => $lost );
		$until = microtime( true ) + self::SECONDS;
		foreach ( array( '/n', '/o', '' ) as $part ) {
			foreach ( array_diff( (array) @scandir( $this->folder( $job ) . $part ), array( '.', '..', 'n', 'o' ) ) as $name ) {
				if ( ! self::remove( $this->folder( $job ) . "$part/$name", $until ) ) return array( 'finished' => false ) + $said;
			}
			@rmdir( $this->folder( $job ) . $part );
		}
		( $this->put )( 'backup-files', array() );
		( $this->put )( 'backup', array() );
		return array( 'finished' => true ) + $said;
	}

	private function enter( array &$job, string $phase ): void {
		$job['phase'] = $phase;
		( $this->put )( 'backup', $job );
	}

	private function entries(): array { return ( $this->get )( 'backup-files' )['entries'] ?? array(); }

	/** Everything that is to be swapped in is there, and the places can be written, are of the site itself, and have the space. */
	private function check_staged( array $job ): void {
		list( $here, $away, $known, $room ) = array( self::device( $this->folder( $job ) ), array(), array(), array() );
		foreach ( $this->entries() as $index => list( $rel, $what ) ) {
			list( $live, $new ) = array( $this->path( $rel ), $this->folder( $job ) . "/n/$index" );
			Sitefleet_Refusal::when( 'put' === $what && ! is_file( $new ), 'not_found', 'A file was not written before the swap.' );
			$above = dirname( $rel );
			if ( ! array_key_exists( $above, $known ) ) $known[ $above ] = $this->in_the_way( $rel );
			$block = $known[ $above ];
			Sitefleet_Refusal::when( null !== $block && ! isset( $away[ $block ] ), 'not_writable', "$block is a link or a file on the site, and a folder in the backup." );
			for ( $folder = dirname( null === $block ? $live : $this->path( $block ) ); ! is_dir( $folder ) && strlen( $folder ) > strlen( $this->content ); ) $folder = dirname( $folder );
			Sitefleet_Refusal::when( ! is_writable( $folder ), 'not_writable', "The folder of $rel cannot be written by PHP." );
			if ( 'remove' === $what ) $away[ $rel ] = true;
			$there  = self::device( $folder );
			$is_dir = null === $block && is_dir( $live ) && ! is_link( $live );
			Sitefleet_Refusal::when( $is_dir && array( $here, $here ) !== array( $there, self::device( $live ) ), 'not_writable', "$rel is a folder on the site, on another disk than wp-content, and a file in the backup." );
			if ( $here === $there ) continue;
			// From one file system to another files are copied, each before the other one is removed.
			$room += array( $here => self::room( $this->folder( $job ) ), $there => self::room( $folder ) );
			$size  = null === $block && is_file( $live ) && ! is_link( $live ) ? (int) @filesize( $live ) : 0;
			$short = $room[ $here ] < $size;
			$room[ $here ]  -= $size;
			$room[ $there ] += $size;
			$size            = 'put' === $what ? (int) @filesize( $new ) : 0;
			$short           = $short || $room[ $there ] < $size;
			$room[ $there ] -= $size;
			$room[ $here ]  += $size;
			Sitefleet_Refusal::when( $short, 'no_space', "The folder of $rel is on another disk than wp-content: the files cannot be moved between them, as there is too little space." );
		}
		$db = $this->database();
		foreach ( $job['tables'] as $one ) Sitefleet_Refusal::when( ! $this->has_table( $db, $one[1] ), 'not_found', "Table {$one[0]} was not loaded before the swap." );
	}

	/** The first place above a path that is no folder of the site itself. Directly in wp-content, hosts link folders to larger disks. */
	private function in_the_way( string $rel ): ?string {
		$parts = explode( '/', $rel );
		for ( $depth = 2; $depth < count( $parts ); ++$depth ) {
			$place = implode( '/', array_slice( $parts, 0, $depth ) );
			$path  = $this->path( $place );
			if ( is_link( $path ) ? 2 < $depth || ! is_dir( $path ) : file_exists( $path ) && ! is_dir( $path ) ) return $place;
		}
		return null;
	}

	/** The file system of a folder. */
	private static function device( string $folder ): int { return (int) ( @stat( $folder )['dev'] ?? -1 ); }

	private static function room( string $folder ): float {
		$free = self::php( 'disk_free_space', $folder );
		return false === $free ? INF : $free;
	}

	private function has_table( mysqli $db, string $name ): bool {
		return (bool) $this->all( $db, "SELECT 1 AS there FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '" . $db->real_escape_string( $name ) . "'" );
	}

	/** A site that was connected again since the backup stays connected: it would refuse the request that takes the restore back. */
	private function keep_connection( array $job ): void {
		global $wpdb;
		foreach ( $job['tables'] as list( $live, $new ) ) {
			if ( $this->folded( $live ) !== $this->folded( $wpdb->options ) ) continue;
			$db   = $this->database();
			$key  = fn( $table ) => $this->all( $db, 'SELECT option_value AS value FROM ' . self::name( $table ) . " WHERE option_name = 'mainwp_child_pubkey'" )[0]['value'] ?? null;
			if ( ! $this->has_table( $db, $live ) || $key( $live ) === $key( $new ) ) continue;
			$this->run( $db, 'DELETE FROM ' . self::name( $new ) . " WHERE option_name LIKE 'mainwp\\_child\\_%'" );
			$this->run( $db, 'INSERT INTO ' . self::name( $new ) . ' (option_name, option_value, autoload) SELECT option_name, option_value, autoload FROM ' . self::name( $live ) . " WHERE option_name LIKE 'mainwp\\_child\\_%'" );
		}
	}

	/**
	 * Foreign keys of tables that are not restored, to tables that are. Where tables are renamed the database lets them follow, so that they
	 * would refer to the replaced ones, which are removed. What is not visible to the account of the site is not found.
	 */
	private function keys_of_others( array $job ): array {
		if ( ! $job['tables'] ) return array();
		$db    = $this->database();
		$home  = (string) $this->all( $db, 'SELECT DATABASE() AS name' )[0]['name'];
		$lives = array();
		foreach ( $job['tables'] as $one ) $lives[ $this->folded( $one[0] ) ] = $one[0];
		$keys = array();
		foreach ( $this->databases( $db, $home ) as $place ) {
			$named = "'" . $db->real_escape_string( $place ) . "'";
			foreach ( $this->all( $db, "SELECT TABLE_NAME AS name, CONSTRAINT_NAME AS id, COLUMN_NAME AS own, REFERENCED_TABLE_SCHEMA AS place, REFERENCED_TABLE_NAME AS parent, REFERENCED_COLUMN_NAME AS other FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = $named AND REFERENCED_TABLE_NAME IS NOT NULL ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION" ) as $row ) {
				$parent = $lives[ $this->folded( $row['parent'] ) ] ?? null;
				if ( null === $parent || $this->folded( $row['place'] ) !== $this->folded( $home ) ) continue;
				if ( $place === $home && ( isset( $lives[ $this->folded( $row['name'] ) ] ) || preg_match( '/^sfr_[0-9a-f]{8}_[nok]\d*\z/', $row['name'] ) ) ) continue;
				$index = "$place\0{$row['name']}\0{$row['id']}";
				$keys[ $index ] = $keys[ $index ] ?? array( 'place' => $place, 'name' => $row['name'], 'id' => $row['id'], 'home' => $home, 'parent' => $parent, 'own' => array(), 'other' => array() );
				$keys[ $index ]['own'][]   = $row['own'];
				$keys[ $index ]['other'][] = $row['other'];
			}
		}
		foreach ( $keys as &$key ) $key['rules'] = $this->rules( $db, $key );
		return array_values( $keys );
	}

	/** Databases whose tables may refer to those of the site: all that the account sees, unless these are so many that it takes long to look. */
	private function databases( mysqli $db, string $home ): array {
		$rows = $this->all( $db, "SELECT TABLE_SCHEMA AS name, COUNT(*) AS many FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN (DATABASE(), 'information_schema', 'mysql', 'performance_schema', 'sys') GROUP BY TABLE_SCHEMA" );
		return array_sum( array_column( $rows, 'many' ) ) > self::MAX_TABLES ? array( $home ) : array_merge( array( $home ), array_column( $rows, 'name' ) );
	}

	/** What happens to its rows, as the server prints it: what it does by default has another word in each. */
	private function rules( mysqli $db, array $key ): string {
		$create = $this->all( $db, 'SHOW CREATE TABLE ' . self::placed( $key ) )[0]['Create Table'] ?? '';
		$rule   = ' ON (?:DELETE|UPDATE) (?:RESTRICT|CASCADE|SET NULL|SET DEFAULT|NO ACTION)';
		return preg_match( '/^\s+CONSTRAINT ' . preg_quote( self::name( $key['id'] ), '/' ) . " FOREIGN KEY .*\)((?:$rule)*),?\r?$/m", $create, $found ) ? $found[1] : '';
	}

	/** The part of a statement that makes a foreign key. */
	private static function key_to( array $key, string $parent ): string {
		$columns = fn( $names ) => implode( ', ', array_map( fn( $name ) => self::name( $name ), $names ) );
		return "FOREIGN KEY ({$columns( $key['own'] )}) REFERENCES " . self::name( $key['home'] ) . '.' . self::name( $parent ) . " ({$columns( $key['other'] )}){$key['rules']}";
	}

	private static function placed( array $key ): string { return self::name( $key['place'] ) . '.' . self::name( $key['name'] ); }

	/** Tries on an empty table whether each of these keys can refer to the restored table, and whether its own table may be altered. */
	private function check_keys( array $job ): void {
		if ( ! $job['keys'] ) return;
		$db    = $this->database();
		$trial = self::name( 'sfr_' . substr( $job['id'], 0, 8 ) . '_k' );
		$new   = array_column( $job['tables'], 1, 0 );
		foreach ( $job['keys'] as $key ) {
			$what = "Table {$key['name']}, which is not restored, has a foreign key to {$key['parent']} that cannot refer to the restored table. Nothing was changed. The database refused";
			$this->run( $db, "DROP TABLE IF EXISTS $trial" );
			try {
				$this->run( $db, 'ALTER TABLE ' . self::placed( $key ), $what );
				$this->run( $db, "CREATE TABLE $trial LIKE " . self::placed( $key ), $what );
				// Otherwise the columns that it refers to are not looked at.
				$this->run( $db, 'SET SESSION foreign_key_checks = 1' );
				$this->run( $db, "ALTER TABLE $trial ADD " . self::key_to( $key, $new[ $key['parent'] ] ), $what );
			} finally {
				$db->query( 'SET SESSION foreign_key_checks = 0' );
				$db->query( "DROP TABLE IF EXISTS $trial" );
			}
		}
	}

	/**
	 * Lets these keys refer to the live tables again, under their own names. Rows that have lost theirs do not stop it. Repeated, it finds
	 * them so: a process may have died between the two statements, which no server takes as one.
	 */
	private function point_keys( array $job ): void {
		if ( empty( $job['keys'] ) ) return;
		$db = $this->database();
		foreach ( $job['keys'] as $key ) {
			$quoted = fn( $name ) => "'" . $db->real_escape_string( $name ) . "'";
			$where  = "CONSTRAINT_SCHEMA = {$quoted( $key['place'] )} AND TABLE_NAME = {$quoted( $key['name'] )}";
			$now    = $this->all( $db, "SELECT REFERENCED_TABLE_NAME AS parent FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE $where AND CONSTRAINT_NAME = {$quoted( $key['id'] )}" )[0]['parent'] ?? null;
			if ( null !== $now && $this->folded( $now ) === $this->folded( $key['parent'] ) ) continue;
			$there = $this->all( $db, "SELECT 1 AS there FROM information_schema.TABLES WHERE TABLE_SCHEMA = {$quoted( $key['place'] )} AND TABLE_NAME = {$quoted( $key['name'] )}" );
			if ( ! $there ) continue;
			$what = "The foreign key of table {$key['name']} cannot refer to {$key['parent']}. The database refused";
			if ( null !== $now ) $this->run( $db, 'ALTER TABLE ' . self::placed( $key ) . ' DROP FOREIGN KEY ' . self::name( $key['id'] ), $what );
			$this->run( $db, 'ALTER TABLE ' . self::placed( $key ) . ' ADD CONSTRAINT ' . self::name( $key['id'] ) . ' ' . self::key_to( $key, $key['parent'] ), $what );
		}
	}

	private function keys_point( array $job ): bool {
		try {
			$this->point_keys( $job );
			return true;
		} catch ( Sitefleet_Refusal $refusal ) {
			return false;
		}
	}

	/** The triggers of the tables that are replaced, which are not part of a backup, and how each is made. */
	private function triggers( array $job ): array {
		if ( ! $job['tables'] ) return array();
		$db    = $this->database();
		$lives = array();
		foreach ( $job['tables'] as $one ) $lives[ $this->folded( $one[0] ) ] = $one;
		$found = array();
		foreach ( $this->all( $db, 'SELECT TRIGGER_NAME AS name, EVENT_OBJECT_TABLE AS place FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() ORDER BY ACTION_ORDER' ) as $row ) {
			$one = $lives[ $this->folded( $row['place'] ) ] ?? null;
			if ( null === $one ) continue;
			$made    = $this->as_text( $db, fn() => $this->all( $db, 'SHOW CREATE TRIGGER ' . self::name( $row['name'] ) )[0] );
			$found[] = array( 'name' => $row['name'], 'live' => $one[0], 'old' => $one[2], 'create' => (string) ( $made['SQL Original Statement'] ?? '' ), 'mode' => (string) ( $made['sql_mode'] ?? '' ) );
		}
		return $found;
	}

	/** Makes them again on the restored tables; the names of those that the database refuses are returned. */
	private function keep_triggers( array $job ): array {
		$lost = array();
		if ( empty( $job['triggers'] ) ) return $lost;
		$db = $this->database();
		foreach ( $job['triggers'] as $one ) {
			$named = "'" . $db->real_escape_string( $one['name'] ) . "'";
			$place = $this->all( $db, "SELECT EVENT_OBJECT_TABLE AS place FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() AND TRIGGER_NAME = $named" )[0]['place'] ?? null;
			if ( null !== $place && $this->folded( $place ) === $this->folded( $one['live'] ) ) continue;
			// Names of triggers are unique in a database.
			if ( $place === $one['old'] ) $this->run( $db, 'DROP TRIGGER ' . self::name( $one['name'] ) );
			$db->query( "SET SESSION sql_mode = '" . $db->real_escape_string( $one['mode'] ) . "'" );
			if ( ! $this->as_text( $db, fn() => $db->query( $one['create'] ) ) ) $lost[] = $one['name'];
			$this->database();
		}
		return $lost;
	}

	/** Files one by one, then all tables in one statement: once that has happened, everything has. */
	private function forth( array $job ): void {
		foreach ( $this->entries() as $index => list( $rel, $what ) ) {
			list( $live, $new, $old ) = array( $this->path( $rel ), $this->folder( $job ) . "/n/$index", $this->folder( $job ) . "/o/$index" );
			if ( self::there( $live ) && ! self::there( $old ) ) $this->move( $live, $old );
			if ( 'put' !== $what || ! self::there( $new ) ) continue;
			if ( ! is_dir( dirname( $live ) ) ) @mkdir( dirname( $live ), 0755, true );
			$this->move( $new, $live );
		}
		if ( ! $job['tables'] ) return;
		$db    = $this->database();
		$moves = array();
		foreach ( $job['tables'] as list( $live, $new, $old ) ) {
			if ( $this->has_table( $db, $live ) ) $moves[] = self::name( $live ) . ' TO ' . self::name( $old );
			$moves[] = self::name( $new ) . ' TO ' . self::name( $live );
		}
		$this->run( $db, 'RENAME TABLE ' . implode( ', ', $moves ) );
	}

	/** The same backwards, from wherever it stopped. */
	private function undo( array $job ): void {
		if ( $job['tables'] && $this->tables_swapped( $job ) ) {
			$db    = $this->database();
			$moves = array();
			foreach ( $job['tables'] as list( $live, $new, $old ) ) {
				$moves[] = self::name( $live ) . ' TO ' . self::name( $new );
				if ( $this->has_table( $db, $old ) ) $moves[] = self::name( $old ) . ' TO ' . self::name( $live );
			}
			$this->run( $db, 'RENAME TABLE ' . implode( ', ', $moves ) );
		}
		// Here a site that is whole otherwise does not wait for it: nothing is removed before it is done.
		$this->keys_point( $job );
		foreach ( array_reverse( $this->entries(), true ) as $index => list( $rel, $what ) ) {
			list( $live, $new, $old ) = array( $this->path( $rel ), $this->folder( $job ) . "/n/$index", $this->folder( $job ) . "/o/$index" );
			foreach ( array( array( $live, $old ), array( $new, $live ), array( $live, $new ), array( $old, $live ) ) as $pair ) self::end_move( ...$pair );
			if ( 'put' === $what && ! self::there( $new ) && self::there( $live ) ) $this->move( $live, $new );
			if ( ! self::there( $old ) ) continue;
			// A folder that was made for what the backup has there.
			if ( is_dir( $live ) && ! is_link( $live ) && ! self::remove_empty( $live ) ) $this->move( $live, "$old." . bin2hex( random_bytes( 8 ) ) );
			$this->move( $old, $live );
		}
	}

	/**
	 * All tables are renamed by one statement, so one of them tells of all. The statement of a process that has died may still wait in the
	 * database for a lock: it is ended first, and whether that came too late is seen by the next request.
	 */
	private function tables_swapped( array $job ): bool {
		$db    = $this->database();
		$names = $db->real_escape_string( self::like( 'sfr_' . substr( $job['id'], 0, 8 ) ) );
		$left  = $this->all( $db, "SELECT ID AS id FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND INFO LIKE 'RENAME TABLE%$names'" );
		foreach ( $left as $one ) $db->query( 'KILL ' . (int) $one['id'] );
		Sitefleet_Refusal::when( (bool) $left, 'busy', 'The tables are being renamed. Try again in a moment.' );
		return ! $this->has_table( $db, $job['tables'][0][1] );
	}

	/**
	 * Runs in every request, before any plugin loads: waits while a swap is under way, and where its process has died undoes it, so that what
	 * loads next is the old site or the new one, whole.
	 */
	public function settle(): void {
		if ( '' === $this->store || ! is_file( "$this->store/backup.json" ) ) return;
		$job = ( $this->get )( 'backup' );
		if ( ! in_array( $job['phase'] ?? '', array( 'swapping', 'backing' ), true ) ) return;
		try {
			// On the command line often as another user: what that one writes, PHP could not read later.
			Sitefleet_Refusal::when( 'cli' === PHP_SAPI && ! $this->is_owner(), 'busy', 'Another user has to end the restore.' );
			( $this->locked )( fn() => $this->heal(), self::PATIENCE );
		} catch ( Throwable $error ) {
			if ( 'cli' === PHP_SAPI ) {
				file_put_contents( 'php://stderr', "This site is being restored from a backup. Try again in a moment; if this stays so, open the site in a browser.\n" );
				exit( 1 );
			}
			http_response_code( 503 );
			header( 'Retry-After: 5' );
			header( 'Cache-Control: no-store' );
			exit( 'This site is being restored. Please try again in a moment.' );
		}
	}

	/** Whether this process is of the user to whom the guard's folder belongs. */
	private function is_owner(): bool {
		$path  = "$this->store/" . bin2hex( random_bytes( 16 ) ) . '.tmp';
		$probe = @fopen( $path, 'x' );
		if ( ! $probe ) return false;
		$uid = fstat( $probe )['uid'];
		fclose( $probe );
		@unlink( $path );
		return @fileowner( $this->store ) === $uid;
	}

	private function heal(): void {
		$job = ( $this->get )( 'backup' );
		if ( 'swapping' === $job['phase'] && $job['tables'] && $this->tables_swapped( $job ) && $this->keys_point( $job ) ) {
			$this->enter( $job, 'swapped' );
		} elseif ( in_array( $job['phase'], array( 'swapping', 'backing' ), true ) ) {
			$this->undo( $job );
			$this->enter( $job, 'staging' );
		}
		self::forget();
	}

	/** Options, objects and compiled code of before are not used again, not in this request either. */
	private static function forget(): void {
		global $wpdb;
		// What follows in this request expects the connection as WordPress had made it.
		if ( $wpdb->dbh instanceof mysqli ) {
			$wpdb->set_charset( $wpdb->dbh );
			$wpdb->set_sql_mode();
			$wpdb->dbh->query( "SET SESSION time_zone = DEFAULT, foreign_key_checks = 1, unique_checks = 1" );
		}
		if ( function_exists( 'wp_cache_flush' ) ) wp_cache_flush();
		self::php( 'opcache_reset' );
		clearstatcache( true );
	}

	/** Calls a function that hosts tend to disable: PHP 8 does not know it then. False = it is not there, or has failed. */
	private static function php( string $name, ...$with ) { return function_exists( $name ) ? @$name( ...$with ) : false; }

	private static function there( string $path ): bool {
		clearstatcache( true, $path );
		return file_exists( $path ) || is_link( $path );
	}

	/**
	 * Moves a file, under a name that counts for nothing until it is whole: to another file system it is copied, by PHP unasked, and that may
	 * end half-way. As long as it has not, the file is in its old place.
	 */
	private function move( string $from, string $to ): void {
		$draft = self::draft( $from, $to );
		$near  = ( @lstat( $from )['dev'] ?? -1 ) === self::device( dirname( $to ) );
		$moved = $near ? @rename( $from, $draft ) : self::carry( $from, $draft );
		if ( $moved && @rename( $draft, $to ) ) return;
		$moved ? @rename( $draft, $from ) : @unlink( $draft );
		throw new Sitefleet_Refusal( 'not_writable', 'A file cannot be moved: ' . basename( $to ) . '.' );
	}

	/** Ends a move whose process has died. */
	private static function end_move( string $from, string $to ): void {
		$draft = self::draft( $from, $to );
		if ( ! self::there( $draft ) ) return;
		$done = self::there( $from ) ? @unlink( $draft ) : @rename( $draft, $to );
		Sitefleet_Refusal::when( ! $done, 'not_writable', 'A file cannot be moved: ' . basename( $to ) . '.' );
	}

	/** Beside the place. Nobody can guess the name, as one of the paths has the number of the restore; and web servers tend to refuse it. */
	private static function draft( string $from, string $to ): string { return dirname( $to ) . '/.ht-sitefleet-' . substr( hash( 'sha256', "$from\n$to" ), 0, 32 ) . '.tmp'; }

	private static function carry( string $from, string $to ): bool {
		clearstatcache();
		if ( is_link( $from ) ) return self::php( 'symlink', (string) self::php( 'readlink', $from ), $to ) && @unlink( $from );
		$was = @stat( $from );
		if ( ! $was || ! is_file( $from ) || ! @copy( $from, $to ) ) return false;
		clearstatcache();
		if ( @filesize( $to ) !== $was['size'] ) return false;
		self::php( 'chmod', $to, $was['mode'] & 0777 );
		self::php( 'touch', $to, $was['mtime'] );
		return @unlink( $from );
	}

	/** Removes a file, or a folder with all that is in it; of a link, the link. False: there was no time for all of it. */
	private static function remove( string $path, float $until ): bool {
		if ( microtime( true ) > $until ) return false;
		if ( is_link( $path ) || ! is_dir( $path ) ) {
			@unlink( $path );
			return true;
		}
		self::php( 'chmod', $path, 0700 );
		foreach ( array_diff( @scandir( $path ) ?: array(), array( '.', '..' ) ) as $name ) {
			if ( ! self::remove( "$path/$name", $until ) ) return false;
		}
		@rmdir( $path );
		return true;
	}

	/** Removes a folder if there are only folders in it. */
	private static function remove_empty( string $folder ): bool {
		foreach ( array_diff( @scandir( $folder ) ?: array(), array( '.', '..' ) ) as $name ) {
			if ( is_link( "$folder/$name" ) || ! is_dir( "$folder/$name" ) || ! self::remove_empty( "$folder/$name" ) ) return false;
		}
		return @rmdir( $folder );
	}

	// --------------------------------------------------------------------------------------------------- small things

	private static function listed( array $request, string $name, int $most ): array {
		$value = $request[ $name ] ?? array();
		Sitefleet_Refusal::when( ! is_array( $value ) || count( $value ) > $most, 'bad_request', "$name must be a list of at most $most." );
		return array_values( $value );
	}

	private function packed( string $data ): array {
		if ( ! function_exists( 'deflate_init' ) || strlen( $data ) <= 200 ) return array( 'data' => base64_encode( $data ), 'deflated' => false );
		$stream = deflate_init( ZLIB_ENCODING_RAW, array( 'level' => 1 ) );
		$text   = '';
		for ( $at = 0; $at < strlen( $data ); $at += self::PIECE ) {
			$this->rest();
			$text .= deflate_add( $stream, substr( $data, $at, self::PIECE ), ZLIB_NO_FLUSH );
		}
		return array( 'data' => base64_encode( $text . deflate_add( $stream, '', ZLIB_FINISH ) ), 'deflated' => true );
	}

	private static function unpacked( array $request ): string {
		$data = base64_decode( is_string( $request['data'] ?? '' ) ? $request['data'] ?? '' : '!', true );
		if ( false !== $data && true === ( $request['deflated'] ?? null ) ) $data = @gzinflate( $data, 16 * 1024 * 1024 );
		Sitefleet_Refusal::when( false === $data, 'bad_request', 'The data cannot be read.' );
		return $data;
	}
}

endif;
