<?php
/*
 * A WordPress with a MainWP Dashboard, as far as the exporter sees it: `$wpdb` over the rows of rows.json, and the
 * dashboard's classes that decrypt. Keys and logins are encrypted in the dashboard's layout. Every statement must be a SELECT
 * or SHOW, so that a test fails when the exporter writes.
 */

namespace {
	define( 'ABSPATH', __DIR__ . '/' );
	define( 'ARRAY_A', 'ARRAY_A' );
	// Some plugins print such notices; they must not corrupt the file.
	echo "\nNotice: Undefined variable in some plugin\n";

	class Fixture {
		public static $data;
		public static $log = array();
	}
	Fixture::$data = json_decode( file_get_contents( __DIR__ . '/rows.json' ), true );

	class Fixture_Wpdb {
		public $prefix     = 'wp_7_';
		public $last_error = '';

		public function suppress_errors( $on = true ) {
			return false;
		}

		public function get_col( $sql, $column = 0 ) {
			if ( ! preg_match( '/^SHOW COLUMNS FROM `(\w+)`$/', $sql, $found ) ) {
				throw new Exception( "Not expected: $sql" );
			}
			$columns = Fixture::$data['columns'];
			return isset( $columns[ $found[1] ] ) ? $columns[ $found[1] ] : array();
		}

		public function get_results( $sql, $how ) {
			$shape = '/^SELECT (.+) FROM `(\w+)` WHERE `(\w+)` (> (-?\d+)|IN \(([\d,]+)\)) ORDER BY `(\w+)`(?: LIMIT (\d+))?$/';
			if ( ! preg_match( $shape, $sql, $found ) ) {
				throw new Exception( "Not expected: $sql" );
			}
			$fields = array_flip( explode( '`, `', trim( $found[1], '`' ) ) );
			$ids    = isset( $found[6] ) && '' !== $found[6] ? explode( ',', $found[6] ) : null;
			$rows   = array();
			foreach ( Fixture::$data['rows'][ $found[2] ] as $row ) {
				$value = $row[ $found[3] ];
				if ( null === $ids ? $value > (int) $found[5] : in_array( (string) $value, $ids, true ) ) {
					$rows[] = $row;
				}
			}
			usort(
				$rows,
				function ( $a, $b ) use ( $found ) {
					return $a[ $found[7] ] <=> $b[ $found[7] ];
				}
			);
			if ( isset( $found[8] ) ) {
				$rows = array_slice( $rows, 0, (int) $found[8] );
			}
			return array_map(
				function ( $row ) use ( $fields ) {
					// Like MySQL's driver: everything is text.
					return array_map( 'strval', array_intersect_key( $row, $fields ) );
				},
				$rows
			);
		}
	}
	$GLOBALS['wpdb'] = new Fixture_Wpdb();

	function get_option( $name, $otherwise = false ) {
		$options = Fixture::$data['options'];
		return array_key_exists( $name, $options ) ? $options[ $name ] : $otherwise;
	}
	function home_url( $path = '' ) {
		return 'https://old.example' . $path;
	}

	// Functions used by the page in a browser.
	function nocache_headers() {
		header( 'Cache-Control: no-store' );
	}
	function is_user_logged_in() {
		return isset( $_COOKIE['user'] );
	}
	function current_user_can( $right ) {
		return 'manage_options' === $right && 'admin' === $_COOKIE['user'];
	}
	function is_multisite() {
		return false;
	}
	function wp_login_url( $to ) {
		return 'https://old.example/wp-login.php?redirect_to=' . rawurlencode( $to );
	}
	function esc_url( $url ) {
		return htmlspecialchars( $url );
	}
	function esc_url_raw( $url ) {
		return $url;
	}
	function esc_html( $text ) {
		return htmlspecialchars( $text );
	}
	function wp_unslash( $value ) {
		return stripslashes( $value );
	}
	function sanitize_text_field( $text ) {
		return trim( $text );
	}
	function wp_nonce_field( $action, $name, $referer, $show ) {
		return '<input type="hidden" name="' . $name . '" value="nonce-' . $action . '">';
	}
	function wp_verify_nonce( $nonce, $action ) {
		return "nonce-$action" === $nonce;
	}
	function wp_die( $text, $title, $how ) {
		http_response_code( $how['response'] );
		echo $text;
		exit;
	}
}

namespace MainWP\Dashboard {
	class MainWP_System {
		public static $version = '6.1.2';
	}

	/**
	 * AES-256-CBC under an RSA-wrapped key; the RSA key, the wrapped key and the wrapped vector are in a file of the site.
	 */
	class MainWP_Encrypt_Data_Lib {
		public static function instance() {
			return new self();
		}

		public function decrypt_privkey( $encrypted, $site_id ) {
			$file = ABSPATH . "pk/$site_id";
			if ( ! file_exists( $file ) ) {
				return '';
			}
			list( $private, $key, $iv ) = array_map( 'base64_decode', explode( '-', file_get_contents( $file ) ) );
			openssl_private_decrypt( $key, $plain_key, $private, OPENSSL_PKCS1_OAEP_PADDING );
			openssl_private_decrypt( $iv, $plain_iv, $private, OPENSSL_PKCS1_OAEP_PADDING );
			return openssl_decrypt( $encrypted, 'aes-256-cbc', $plain_key, OPENSSL_RAW_DATA, $plain_iv );
		}
	}

	/** AES-256-GCM with a 16 byte vector, in an envelope that names the file of its key. */
	class MainWP_Credential_Storage {
		public static function decrypt_credential( $stored ) {
			if ( 0 !== strpos( (string) $stored, '__mwpenc__:' ) ) {
				return $stored;
			}
			$envelope = json_decode( substr( $stored, 11 ), true );
			$key      = file_get_contents( ABSPATH . 'pk/' . $envelope['file_key'] );
			$bytes    = base64_decode( $envelope['encrypted_val'] );
			return openssl_decrypt( substr( $bytes, 16, -16 ), 'aes-256-gcm', $key, OPENSSL_RAW_DATA, substr( $bytes, 0, 16 ), substr( $bytes, -16 ), 'authentication_data' );
		}
	}
}
