<?php
/*
Plugin Name: WooCommerce
Version: 9.9
*/

/**
 * A shop that answers visitors as WooCommerce does, as far as Sitefleet looks at it: the Store API with its nonce and its
 * session of cookies, the checkout page of templates, the hooks that extensions use, and an order for each request of the
 * checkout of the Store API, as there.
 */

const TEST_PRODUCT = 4711;

add_action( 'init', function () {
	register_post_type( 'product', array( 'public' => true, 'label' => 'Products', 'has_archive' => false ) );
	add_shortcode( 'woocommerce_checkout', 'test_checkout' );
} );

function test_sessions(): string {
	global $wpdb;
	return $wpdb->prefix . 'woocommerce_sessions';
}

function test_cookie(): string {
	return 'wp_woocommerce_session_' . md5( home_url() );
}

/** The customer of this request; '' = none yet. */
function test_customer( ?string $set = null ): string {
	static $customer = null;
	if ( null !== $set ) $customer = $set;
	if ( null === $customer ) $customer = strtok( (string) ( $_COOKIE[ test_cookie() ] ?? '' ), '|' ) ?: '';
	return $customer;
}

function test_cart(): array {
	global $wpdb;
	$value = $wpdb->get_var( $wpdb->prepare( 'SELECT session_value FROM ' . test_sessions() . ' WHERE session_key = %s', test_customer() ) );
	return is_string( $value ) ? json_decode( $value, true ) : array();
}

function test_keep( array $cart ): void {
	global $wpdb;
	$wpdb->query( $wpdb->prepare( 'REPLACE INTO ' . test_sessions() . ' VALUES ( %s, %s, %d )', test_customer(), wp_json_encode( $cart ), time() + 2 * DAY_IN_SECONDS ) );
}

function test_price(): string {
	return (string) apply_filters( 'woocommerce_product_get_price', '1250' );
}

function test_gateways(): array {
	return apply_filters( 'woocommerce_available_payment_gateways', array( 'bacs' => 'Bank transfer', 'stripe' => 'Card' ) );
}

/** As the Store API returns the cart. */
function test_cart_answer(): WP_REST_Response {
	$items = array();
	foreach ( test_cart() as $id => $quantity ) $items[] = array( 'key' => md5( "$id" ), 'id' => $id, 'quantity' => $quantity );
	$answer = new WP_REST_Response( array(
		'items'           => $items,
		'items_count'     => count( $items ),
		'needs_payment'   => (bool) $items,
		'totals'          => array( 'total_items' => $items ? test_price() : '0', 'currency_code' => 'EUR', 'currency_minor_unit' => 2 ),
		'errors'          => array(),
		'payment_methods' => array_keys( test_gateways() ),
	) );
	$answer->header( 'Nonce', wp_create_nonce( 'wc_store_api' ) );
	return $answer;
}

function test_error( string $code, int $status ): WP_Error {
	return new WP_Error( $code, 'No.', array( 'status' => $status ) );
}

/** What changes the cart needs the nonce of an earlier answer. */
function test_nonce( WP_REST_Request $request ): ?WP_Error {
	$nonce = $request->get_header( 'Nonce' );
	if ( null === $nonce ) return test_error( 'woocommerce_rest_missing_nonce', 401 );
	return wp_verify_nonce( $nonce, 'wc_store_api' ) ? null : test_error( 'woocommerce_rest_invalid_nonce', 403 );
}

/** As its limit of requests answers, which all share whom a proxy hides. */
add_filter( 'rest_pre_dispatch', function ( $answer, $server, WP_REST_Request $request ) {
	if ( ! apply_filters( 'test_limited', false ) || ! str_starts_with( $request->get_route(), '/wc/store/' ) ) return $answer;
	header( 'RateLimit-Retry-After: 1' );
	return test_error( 'rate_limit_exceeded', 400 );
}, 10, 3 );

add_action( 'rest_api_init', function () {
	$route = function ( string $path, string $method, callable $answer ) {
		register_rest_route( 'wc/store/v1', $path, array( 'methods' => $method, 'callback' => $answer, 'permission_callback' => '__return_true' ) );
	};
	$route( '/products', 'GET', function () {
		$one = array(
			'id'                  => TEST_PRODUCT,
			'type'                => 'simple',
			'permalink'           => home_url( '/product/cider/' ),
			'is_purchasable'      => true,
			'is_in_stock'         => true,
			'has_options'         => false,
			'low_stock_remaining' => null,
			'sold_individually'   => false,
			'prices'              => array( 'price' => test_price(), 'currency_code' => 'EUR' ),
			'add_to_cart'         => array( 'minimum' => 1, 'maximum' => 9999 ),
		);
		return array( array( 'id' => 1, 'type' => 'variable', 'has_options' => true ) + $one, array( 'low_stock_remaining' => 1, 'id' => 2 ) + $one, $one );
	} );
	$route( '/cart', 'GET', 'test_cart_answer' );
	$route( '/cart/add-item', 'POST', function ( WP_REST_Request $request ) {
		$refused = test_nonce( $request );
		if ( null !== $refused ) return $refused;
		if ( TEST_PRODUCT !== $request['id'] ) return test_error( 'woocommerce_rest_cart_invalid_product', 400 );
		if ( ! apply_filters( 'woocommerce_is_purchasable', true ) ) return test_error( 'woocommerce_rest_product_not_purchasable', 400 );
		if ( apply_filters( 'test_sold_out', false ) ) return test_error( 'woocommerce_rest_product_out_of_stock', 400 );
		if ( '' === test_customer() ) {
			test_customer( 't_' . wp_generate_password( 30, false ) );
			setcookie( test_cookie(), test_customer() . '||' . time() . '||x', time() + 2 * DAY_IN_SECONDS, '/', '', false, true );
		}
		test_keep( array( TEST_PRODUCT => (int) $request['quantity'] ) );
		setcookie( 'woocommerce_items_in_cart', '1', 0, '/' );
		do_action( 'woocommerce_add_to_cart', md5( (string) TEST_PRODUCT ), TEST_PRODUCT );
		$answer = test_cart_answer();
		$answer->set_status( 201 );
		return $answer;
	} );
	$route( '/cart/items', 'DELETE', function ( WP_REST_Request $request ) {
		$refused = test_nonce( $request );
		if ( null !== $refused ) return $refused;
		test_keep( array() );
		return new WP_REST_Response( array() );
	} );
	$route( '/checkout', 'GET', function () {
		update_option( 'test_orders', (int) get_option( 'test_orders' ) + 1 );
		return array( 'order_id' => 1, 'status' => 'checkout-draft' );
	} );
} );

/** Nobody sees the checkout with an empty cart. */
add_action( 'template_redirect', function () {
	if ( is_page( 'checkout' ) && ! test_cart() ) {
		wp_safe_redirect( home_url( '/sample-page/' ) );
		exit;
	}
} );

function test_checkout(): string {
	ob_start();
	do_action( 'woocommerce_before_checkout_form' );
	echo '<form name="checkout" method="post" class="checkout woocommerce-checkout" action="/checkout/">';
	foreach ( apply_filters( 'woocommerce_billing_fields', array( 'billing_first_name', 'billing_last_name', 'billing_email' ) ) as $name )
		echo '<p><label for="', $name, '">', $name, '</label><input type="text" name="', $name, '" id="', $name, '"></p>';
	echo '<div id="payment"><ul class="wc_payment_methods">';
	foreach ( test_gateways() as $id => $title )
		echo '<li class="wc_payment_method"><input id="payment_method_', $id, '" type="radio" class="input-radio" name="payment_method" value="', $id, '"> ', $title, '</li>';
	echo '</ul>', apply_filters( 'woocommerce_order_button_html', '<button type="submit" class="button alt" name="woocommerce_checkout_place_order" id="place_order" value="Place order">Place order</button>' ), '</div></form>';
	return ob_get_clean();
}
