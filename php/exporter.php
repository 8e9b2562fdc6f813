<?php
/*
 * Sitefleet: export of a MainWP Dashboard. It reads and changes nothing.
 *
 *   with WP-CLI:    wp eval-file export.php > fleet.json
 *   with PHP only:  php export.php /path/to/wordpress > fleet.json
 *   in a browser:   copy this file beside wp-load.php, log in as an administrator, open https://<dashboard>/export.php;
 *                   it deletes itself after the download
 *
 * What it writes can be opened only by the Sitefleet that printed this file, until @EXPIRES@.
 */

class Sitefleet_Exporter {
	const KEY_ID     = '@KEY_ID@';
	const PUBLIC_KEY = '@PUBLIC_KEY@';
	const PAGE       = 100;

	private $write;
	private $run;
	private $parts   = 0;
	private $records = array();
	private $columns = array();

	public function __construct( $write ) {
		$this->write = $write;
		$this->run   = bin2hex( random_bytes( 8 ) );
	}

	/** Why this dashboard cannot be exported here; an empty text when it can. */
	public static function obstacle() {
		global $wpdb;
		if ( ! extension_loaded( 'openssl' ) ) {
			return 'PHP has no OpenSSL here.';
		}
		if ( ! class_exists( '\MainWP\Dashboard\MainWP_Encrypt_Data_Lib' ) ) {
			return 'MainWP Dashboard is not active in this WordPress, or older than version 4.5.';
		}
		if ( ! in_array( 'privkey', self::columns_of( $wpdb->prefix . 'mainwp_wp' ), true ) ) {
			return 'The tables of MainWP Dashboard were not found.';
		}
		return '';
	}

	public function run() {
		$this->put( '{"sitefleet_fleet":1,"from":"mainwp","key":' . json_encode( self::KEY_ID ) . ',"sealed":[' );
		$this->source();
		$this->tags();
		$this->clients();
		$count = $this->sites();
		$this->costs();
		$this->add( array( 'type' => 'end', 'sites' => $count ) );
		$this->seal( true );
		$this->put( "\n]}\n" );
		return $count;
	}

	private function source() {
		$version = class_exists( '\MainWP\Dashboard\MainWP_System' ) && property_exists( '\MainWP\Dashboard\MainWP_System', 'version' ) ? \MainWP\Dashboard\MainWP_System::$version : '';
		if ( '' === (string) $version && defined( 'MAINWP_PLUGIN_FILE' ) && function_exists( 'get_file_data' ) ) {
			$data    = get_file_data( MAINWP_PLUGIN_FILE, array( 'Version' => 'Version' ) );
			$version = $data['Version'];
		}
		$this->add(
			array(
				'type'    => 'source',
				'product' => 'mainwp',
				'version' => (string) $version,
				'url'     => home_url( '/' ),
			)
		);
		$ignored = $this->rows( 'users', array( 'userid', 'ignored_plugins', 'ignored_themes', 'ignored_wp_upgrades' ), 'userid' );
		foreach ( $ignored as $row ) {
			$this->add( array( 'type' => 'ignored', 'row' => $row ) );
		}
		$this->add(
			array(
				'type'           => 'global',
				'signature_algo' => get_option( 'mainwp_connect_signature_algo', null ),
				'verify'         => get_option( 'mainwp_sslVerifyCertificate', null ),
				'ipv4'           => get_option( 'mainwp_forceUseIPv4', null ),
				'monitoring'     => get_option( 'mainwp_global_uptime_monitoring_settings', null ),
			)
		);
	}

	private function tags() {
		foreach ( $this->rows( 'group', array( 'id', 'name', 'color' ), 'id' ) as $row ) {
			$this->add( array( 'type' => 'tag', 'row' => $row ) );
		}
	}

	private function clients() {
		$fields   = array( 'client_id', 'name', 'address_1', 'address_2', 'city', 'zip', 'state', 'country', 'note', 'client_email', 'client_phone', 'client_facebook', 'client_twitter', 'client_instagram', 'client_linkedin', 'suspended', 'primary_contact_id' );
		$contact  = array( 'contact_id', 'contact_client_id', 'contact_name', 'contact_email', 'contact_phone', 'contact_role', 'facebook', 'twitter', 'instagram', 'linkedin' );
		$contacts = array();
		foreach ( $this->rows( 'wp_clients_contacts', $contact, 'contact_id' ) as $row ) {
			$contacts[ $row['contact_client_id'] ][] = $row;
		}
		$labels = array();
		foreach ( $this->rows( 'wp_clients_fields', array( 'field_id', 'field_name', 'field_desc' ), 'field_id' ) as $row ) {
			$labels[ $row['field_id'] ] = '' === $row['field_desc'] ? $row['field_name'] : $row['field_desc'];
		}
		$values = array();
		foreach ( $this->rows( 'wp_clients_field_values', array( 'value_id', 'field_id', 'field_value', 'value_client_id' ), 'value_id' ) as $row ) {
			if ( '' !== $row['field_value'] && isset( $labels[ $row['field_id'] ] ) ) {
				$values[ $row['value_client_id'] ][] = array( 'label' => $labels[ $row['field_id'] ], 'value' => $row['field_value'] );
			}
		}
		foreach ( $this->rows( 'wp_clients', $fields, 'client_id' ) as $row ) {
			$id = $row['client_id'];
			$this->add(
				array(
					'type'     => 'client',
					'row'      => $row,
					'contacts' => isset( $contacts[ $id ] ) ? $contacts[ $id ] : array(),
					'fields'   => isset( $values[ $id ] ) ? $values[ $id ] : array(),
				)
			);
		}
	}

	private function sites() {
		$fields = array( 'id', 'url', 'name', 'adminname', 'privkey', 'uniqueId', 'note', 'http_user', 'http_pass', 'verify_certificate', 'force_use_ipv4', 'ssl_version', 'client_id', 'suspended', 'automatic_update', 'backup_before_upgrade', 'disable_health_check', 'health_threshold', 'is_ignoreCoreUpdates', 'is_ignorePluginUpdates', 'is_ignoreThemeUpdates', 'ignored_plugins', 'ignored_themes', 'is_staging' );
		$names  = array( 'signature_algo', 'verify_method', 'register_verify_key', 'ignored_wp_upgrades', 'ignored_trans_updates', 'monitoring_notification_emails' );
		$count  = 0;
		$after  = 0;
		do {
			$page = $this->page( 'wp', $fields, 'id', $after );
			if ( ! $page ) {
				break;
			}
			$ids      = array_map( 'intval', array_column( $page, 'id' ) );
			$options  = array();
			$tags     = array();
			$monitors = array();
			foreach ( $this->of_sites( 'wp_options', array( 'wpid', 'name', 'value' ), 'opt_id', $ids ) as $row ) {
				if ( in_array( $row['name'], $names, true ) ) {
					$options[ $row['wpid'] ][ $row['name'] ] = $row['value'];
				}
			}
			foreach ( $this->of_sites( 'wp_group', array( 'wpid', 'groupid' ), 'groupid', $ids ) as $row ) {
				$tags[ $row['wpid'] ][] = $row['groupid'];
			}
			$watched = array( 'monitor_id', 'wpid', 'active', 'type', 'keyword', 'suburl', 'issub', 'timeout', 'interval', 'up_status_codes', 'maxretries', 'method' );
			foreach ( $this->of_sites( 'monitors', $watched, 'monitor_id', $ids ) as $row ) {
				$monitors[ $row['wpid'] ][] = $row;
			}
			foreach ( $page as $row ) {
				$id               = $row['id'];
				$after            = (int) $id;
				$key              = $this->private_key( $row['privkey'], $id );
				$row['http_user'] = $this->credential( isset( $row['http_user'] ) ? $row['http_user'] : '' );
				$row['http_pass'] = $this->credential( isset( $row['http_pass'] ) ? $row['http_pass'] : '' );
				unset( $row['privkey'] );
				$this->add(
					array(
						'type'     => 'site',
						'row'      => $row,
						'key'      => $key,
						'options'  => isset( $options[ $id ] ) ? $options[ $id ] : new stdClass(),
						'tags'     => isset( $tags[ $id ] ) ? $tags[ $id ] : array(),
						'monitors' => isset( $monitors[ $id ] ) ? $monitors[ $id ] : array(),
					)
				);
				++$count;
			}
		} while ( count( $page ) === self::PAGE );
		return $count;
	}

	private function costs() {
		$fields  = array( 'id', 'name', 'url', 'type', 'product_type', 'license_type', 'cost_status', 'payment_method', 'price', 'renewal_type', 'last_renewal', 'sites', 'groups', 'clients', 'note' );
		$targets = array();
		foreach ( $this->rows( 'lookup_item_objects', array( 'lookup_id', 'item_id', 'item_name', 'object_id', 'object_name' ), 'lookup_id' ) as $row ) {
			if ( 'cost' === $row['item_name'] ) {
				$targets[ $row['item_id'] ][ $row['object_name'] ][] = $row['object_id'];
			}
		}
		foreach ( $this->rows( 'cost_tracker', $fields, 'id' ) as $row ) {
			$own = isset( $targets[ $row['id'] ] ) ? $targets[ $row['id'] ] : new stdClass();
			$this->add( array( 'type' => 'cost', 'row' => $row, 'targets' => $own ) );
		}
	}

	/** The key the dashboard signs with: decrypted by its own code, or as stored by versions that did not encrypt keys. */
	private function private_key( $stored, $id ) {
		$stored = base64_decode( $stored, true );
		if ( ! $stored ) {
			return '';
		}
		$key = \MainWP\Dashboard\MainWP_Encrypt_Data_Lib::instance()->decrypt_privkey( $stored, $id );
		if ( ! $key ) {
			$key = $stored;
		}
		return false === strpos( $key, 'PRIVATE KEY' ) ? '' : $key;
	}

	private function credential( $stored ) {
		if ( class_exists( '\MainWP\Dashboard\MainWP_Credential_Storage' ) ) {
			return (string) \MainWP\Dashboard\MainWP_Credential_Storage::decrypt_credential( $stored );
		}
		return (string) $stored;
	}

	private static function columns_of( $table ) {
		global $wpdb;
		$before = $wpdb->suppress_errors( true );
		$rows   = $wpdb->get_col( 'SHOW COLUMNS FROM ' . self::quoted( $table ), 0 );
		$wpdb->suppress_errors( $before );
		return is_array( $rows ) ? $rows : array();
	}

	/** A name for MySQL: some columns are reserved words. */
	private static function quoted( $name ) {
		return "\x60$name\x60";
	}

	/** All rows of a table, with the fields that this version of the dashboard has; none if there is no such table. */
	private function rows( $name, $fields, $id ) {
		$after = -1;
		do {
			$page = $this->page( $name, $fields, $id, $after );
			foreach ( $page as $row ) {
				$after = (int) $row[ $id ];
				yield $row;
			}
		} while ( count( $page ) === self::PAGE );
	}

	private function page( $name, $fields, $id, $after ) {
		return $this->select( $name, $fields, $id, self::quoted( $id ) . ' > ' . (int) $after, ' LIMIT ' . self::PAGE );
	}

	private function of_sites( $name, $fields, $order, $ids ) {
		return $this->select( $name, $fields, $order, self::quoted( 'wpid' ) . ' IN (' . implode( ',', $ids ) . ')', '' );
	}

	private function select( $name, $fields, $order, $where, $limit ) {
		global $wpdb;
		$table = $wpdb->prefix . 'mainwp_' . $name;
		if ( ! isset( $this->columns[ $table ] ) ) {
			$this->columns[ $table ] = self::columns_of( $table );
		}
		$known = array_intersect( $fields, $this->columns[ $table ] );
		if ( ! $known ) {
			return array();
		}
		$list = implode( ', ', array_map( array( __CLASS__, 'quoted' ), $known ) );
		$rows = $wpdb->get_results( 'SELECT ' . $list . ' FROM ' . self::quoted( $table ) . ' WHERE ' . $where . ' ORDER BY ' . self::quoted( $order ) . $limit, ARRAY_A );
		if ( ! is_array( $rows ) || $wpdb->last_error ) {
			throw new RuntimeException( 'The database did not answer: ' . $wpdb->last_error );
		}
		return $rows;
	}

	private function add( $record ) {
		$this->records[] = $record;
		if ( count( $this->records ) >= self::PAGE ) {
			$this->seal( false );
		}
	}

	/** A compact JWE of the collected records: RSA-OAEP for its key, AES-256-GCM for the text. */
	private function seal( $last ) {
		$text = json_encode( $this->records, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE );
		if ( false === $text ) {
			throw new RuntimeException( 'A record cannot be written as JSON: ' . json_last_error_msg() );
		}
		$header = self::b64(
			json_encode(
				array(
					'alg'  => 'RSA-OAEP',
					'enc'  => 'A256GCM',
					'kid'  => self::KEY_ID,
					'run'  => $this->run,
					'part' => $this->parts,
					'last' => $last,
				)
			)
		);
		$key    = random_bytes( 32 );
		$iv     = random_bytes( 12 );
		$tag    = '';
		$sealed = openssl_encrypt( $text, 'aes-256-gcm', $key, OPENSSL_RAW_DATA, $iv, $tag, $header, 16 );
		if ( false === $sealed || ! openssl_public_encrypt( $key, $wrapped, self::PUBLIC_KEY, OPENSSL_PKCS1_OAEP_PADDING ) ) {
			throw new RuntimeException( 'OpenSSL could not encrypt: ' . openssl_error_string() );
		}
		$jwe = $header . '.' . self::b64( $wrapped ) . '.' . self::b64( $iv ) . '.' . self::b64( $sealed ) . '.' . self::b64( $tag );
		$this->put( ( 0 === $this->parts ? "\n" : ",\n" ) . '"' . $jwe . '"' );
		++$this->parts;
		$this->records = array();
	}

	private static function b64( $bytes ) {
		return rtrim( strtr( base64_encode( $bytes ), '+/', '-_' ), '=' );
	}

	private function put( $text ) {
		call_user_func( $this->write, $text );
	}

	/** On a terminal: the file on the standard output, everything else on the error output. */
	public static function on_terminal() {
		$obstacle = self::obstacle();
		if ( '' !== $obstacle ) {
			fwrite( STDERR, "$obstacle\n" );
			exit( 1 );
		}
		while ( ob_get_level() > 0 ) {
			ob_end_clean();
		}
		try {
			$exporter = new self(
				function ( $text ) {
					while ( '' !== $text ) {
						$written = fwrite( STDOUT, $text );
						if ( ! $written ) {
							throw new RuntimeException( 'The file could not be written: is the disk full?' );
						}
						$text = (string) substr( $text, $written );
					}
				}
			);
			$count    = $exporter->run();
		} catch ( Throwable $problem ) {
			fwrite( STDERR, 'Not exported: ' . $problem->getMessage() . "\nThe file is incomplete and will be refused.\n" );
			exit( 1 );
		}
		fwrite( STDERR, "$count sites. Take the file to Sitefleet: sitefleet import fleet.json --dry-run\n" );
	}

	/** In a browser: for administrators only, by a button with a nonce; the program deletes itself after the download. */
	public static function in_browser( $file ) {
		nocache_headers();
		header( 'X-Robots-Tag: noindex' );
		if ( ! is_user_logged_in() || ! current_user_can( 'manage_options' ) || ( is_multisite() && ! is_super_admin() ) ) {
			$login = esc_url( wp_login_url( esc_url_raw( wp_unslash( $_SERVER['REQUEST_URI'] ) ) ) );
			wp_die( 'This page is for administrators. <a href="' . $login . '">Log in</a> first.', 'Sitefleet export', array( 'response' => 403 ) );
		}
		$obstacle = self::obstacle();
		if ( '' !== $obstacle ) {
			wp_die( esc_html( $obstacle ), 'Sitefleet export', array( 'response' => 500 ) );
		}
		if ( 'POST' !== $_SERVER['REQUEST_METHOD'] ) {
			$field = wp_nonce_field( 'sitefleet-export', '_wpnonce', false, false );
			wp_die( '<p>Exports the connections of all sites, encrypted for the Sitefleet that created this page. Nothing is changed here. This page deletes itself afterwards.</p><form method="post">' . $field . '<button class="button">Download fleet.json</button></form>', 'Sitefleet export', array( 'response' => 200 ) );
		}
		if ( ! isset( $_POST['_wpnonce'] ) || ! wp_verify_nonce( sanitize_text_field( wp_unslash( $_POST['_wpnonce'] ) ), 'sitefleet-export' ) ) {
			wp_die( 'This page has expired. Open it again.', 'Sitefleet export', array( 'response' => 403 ) );
		}
		while ( ob_get_level() > 0 ) {
			ob_end_clean();
		}
		if ( function_exists( 'set_time_limit' ) ) {
			@set_time_limit( 0 );
		}
		ignore_user_abort( true );
		ini_set( 'display_errors', '0' );
		header( 'Content-Type: application/json' );
		header( 'Content-Disposition: attachment; filename="fleet.json"' );
		$exporter = new self(
			function ( $text ) {
				echo $text;
				flush();
			}
		);
		$exporter->run();
		@unlink( $file );
	}
}

if ( ! defined( 'ABSPATH' ) ) {
	$sitefleet_from = 'cli' === PHP_SAPI ? ( isset( $argv[1] ) ? $argv[1] : getcwd() ) : __DIR__;
	if ( 'cli' === PHP_SAPI ) {
		// What plugins print while WordPress starts must not end up in the file.
		ini_set( 'display_errors', 'stderr' );
		ob_start();
	}
	for ( $sitefleet_up = 0; $sitefleet_up < 4 && ! is_file( $sitefleet_from . '/wp-load.php' ); $sitefleet_up++ ) {
		$sitefleet_from = dirname( $sitefleet_from );
	}
	if ( ! is_file( $sitefleet_from . '/wp-load.php' ) ) {
		if ( 'cli' === PHP_SAPI ) {
			fwrite( STDERR, "There is no WordPress here. Give its path: php export.php /path/to/wordpress > fleet.json\n" );
		}
		exit( 1 );
	}
	require_once $sitefleet_from . '/wp-load.php';
}
if ( 'cli' === PHP_SAPI ) {
	Sitefleet_Exporter::on_terminal();
} else {
	Sitefleet_Exporter::in_browser( __FILE__ );
}
