<?php
/*
Plugin Name: MainWP Child
Version: 6.1
*/

/**
 * Answers as MainWP Child does, without its checks: an ordinary plugin, so fatal errors take it down as well. Updates
 * are made by WordPress' own upgraders, as in the child. Available updates are in wp-content/offers.json: kind => slug
 * => [version, package].
 */

function test_offers( string $kind ): array {
	$all = json_decode( (string) @file_get_contents( WP_CONTENT_DIR . '/offers.json' ), true );
	return $all[ $kind ] ?? array();
}

function test_installed( string $kind ): array {
	$all = array();
	if ( 'plugin' === $kind ) {
		foreach ( get_plugins() as $slug => $one ) $all[ $slug ] = array( $one['Name'], $one['Version'], is_plugin_active( $slug ) );
	} else {
		foreach ( wp_get_themes( array( 'errors' => null ) ) as $slug => $one ) $all[ $slug ] = array( $one->get( 'Name' ), $one->get( 'Version' ), get_stylesheet() === $slug );
	}
	return $all;
}

foreach ( array( 'plugin', 'theme' ) as $test_kind ) {
	add_filter( "site_transient_update_{$test_kind}s", function ( $value ) use ( $test_kind ) {
		$value = is_object( $value ) ? $value : new stdClass();
		foreach ( test_offers( $test_kind ) as $slug => list( $version, $package ) ) {
			$offer = array( $test_kind => $slug, 'slug' => strtok( $slug, '/' ), 'new_version' => $version, 'package' => $package, 'url' => '' );
			$value->response[ $slug ] = 'plugin' === $test_kind ? (object) $offer : $offer;
		}
		return $value;
	} );
}

/**
 * Stops where the test wants to kill PHP or fill the disk: signals it by a file, and continues when the file is gone.
 */
function test_step( string $step ): void {
	$file = WP_CONTENT_DIR . "/stop-at-$step";
	if ( ! file_exists( $file ) ) return;
	rename( $file, WP_CONTENT_DIR . '/stopped' );
	for ( $i = 0; $i < 600 && file_exists( WP_CONTENT_DIR . '/stopped' ); $i++ ) {
		usleep( 50000 );
		clearstatcache();
	}
}
foreach ( array( 'upgrader_pre_download', 'upgrader_source_selection', 'upgrader_clear_destination', 'upgrader_post_install' ) as $test_hook ) {
	add_filter( $test_hook, function ( $value ) use ( $test_hook ) {
		test_step( $test_hook );
		return $value;
	} );
}

function test_upgrade( string $kind, array $slugs ): array {
	foreach ( array( 'file', 'misc', 'plugin', 'theme', 'template', 'class-wp-upgrader' ) as $name ) require_once ABSPATH . "wp-admin/includes/$name.php";
	$before   = test_installed( $kind );
	$skin     = 'plugin' === $kind ? new Bulk_Plugin_Upgrader_Skin( array( 'nonce' => '', 'url' => '' ) ) : new Bulk_Theme_Upgrader_Skin( array( 'nonce' => '', 'url' => '' ) );
	$upgrader = 'plugin' === $kind ? new Plugin_Upgrader( $skin ) : new Theme_Upgrader( $skin );
	$results  = $upgrader->bulk_upgrade( $slugs );
	'plugin' === $kind ? wp_clean_plugins_cache() : wp_clean_themes_cache();
	$after  = test_installed( $kind );
	$answer = array( 'upgrades' => array(), 'other_data' => array( 'updated_data' => array() ) );
	foreach ( $slugs as $slug ) {
		$result = $results[ $slug ] ?? false;
		$data   = array( 'slug' => $slug, 'old_version' => $before[ $slug ][1] ?? '', 'version' => $after[ $slug ][1] ?? '', 'success' => $result && ! is_wp_error( $result ) ? 1 : 0 );
		if ( $data['success'] ) {
			$answer['upgrades'][ $slug ] = true;
		} else {
			$answer['upgrades_error'][ $slug ] = is_wp_error( $result ) ? $result->get_error_message() : 'update failed';
		}
		$answer['other_data']['updated_data'][ $slug ] = $data;
	}
	test_step( 'answer' );
	return $answer;
}

function test_stats(): array {
	$answer = array( 'version' => '6.1', 'wpversion' => $GLOBALS['wp_version'], 'siteurl' => get_option( 'siteurl' ) );
	foreach ( array( 'plugin', 'theme' ) as $kind ) {
		$installed = test_installed( $kind );
		foreach ( $installed as $slug => list( $name, $version, $active ) ) {
			$answer[ "{$kind}s" ][] = compact( 'slug', 'name', 'version' ) + array( 'active' => (int) $active );
		}
		$answer[ "{$kind}_updates" ] = new stdClass();
		foreach ( test_offers( $kind ) as $slug => list( $version ) ) {
			if ( ! isset( $installed[ $slug ] ) || $installed[ $slug ][1] === $version ) continue;
			$answer[ "{$kind}_updates" ]->$slug = array( 'Name' => $installed[ $slug ][0], 'Version' => $installed[ $slug ][1], 'update' => array( 'new_version' => $version ) );
		}
	}
	return $answer;
}

add_action(
	'init',
	function () {
		if ( ! isset( $_POST['function'] ) ) return;
		require_once ABSPATH . 'wp-admin/includes/plugin.php';
		$function = $_POST['function'];
		if ( ! isset( $_POST['mainwpsignature'] ) ) {
			$answer = array( 'error' => 'connected' );
		} elseif ( 'code_snippet' === $function ) {
			ob_start();
			eval( wp_unslash( $_POST['code'] ) );
			$answer = array( 'status' => 'SUCCESS', 'result' => ob_get_clean() );
		} elseif ( 'upgradeplugintheme' === $function ) {
			$answer = test_upgrade( $_POST['type'], explode( ',', urldecode( wp_unslash( $_POST['list'] ) ) ) );
		} elseif ( 'plugin_action' === $function ) {
			$slug = wp_unslash( $_POST['plugin'] );
			'activate' === $_POST['action'] ? activate_plugin( $slug ) : deactivate_plugins( $slug );
			$answer = array( 'status' => 'SUCCESS', 'other_data' => array( 'plugin_action_data' => array( $slug => array( 'version' => test_installed( 'plugin' )[ $slug ][1] ?? '' ) ) ) );
		} else {
			$answer = test_stats();
		}
		die( '<mainwp>' . base64_encode( wp_json_encode( $answer ) ) . '</mainwp>' );
	},
	9999
);
