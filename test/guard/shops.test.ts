/**
 * Updates on real WordPress with a shop: those after which nothing can be bought are undone, what is doubtful is told,
 * and Sitefleet leaves neither an order nor a cart.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import { bareSite } from '../support/bare-site.js';
import { type Answer, type TestApp, testApp } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { folderOf, type Kind, NEW_VERSION, on, packageOf, slugOf, writeOld } from './gallery.js';
import { contents } from './tools.js';
import { WORDPRESS, type WordPress, WordPressHost } from './wordpress.js';
import { zip } from './zip.js';

const THEME = `<!doctype html>
<html><head><title>Shop of the tests</title><?php wp_head(); ?></head>
<body><h1>Welcome</h1><p>Here stand some words about apples, pears, cherries, plums and quinces, about baskets and ladders.</p>
<?php if ( is_singular() ) while ( have_posts() ) { the_post(); the_content(); } ?>
<?php wp_footer(); ?></body></html>
`;

interface Sold extends Kind {
  /** Words of the finding. */
  says: string;
}

const FATAL = 'removed_function();';

/** The shop's pages that anyone sees are as before in all of them. */
const BAD: readonly Sold[] = [
  {
    name: 'fatal when something goes into the cart',
    code: on('woocommerce_add_to_cart', FATAL),
    says: 'No product can be put into the cart any more: HTTP 500',
  },
  {
    name: 'lets nobody buy anything',
    code: "add_filter( 'woocommerce_is_purchasable', '__return_false' );",
    says: 'No product can be put into the cart any more: HTTP 400 (woocommerce_rest_product_not_purchasable)',
  },
  {
    name: 'takes the Store API away from visitors',
    code: "add_filter( 'rest_endpoints', function ( $all ) { return array_filter( $all, fn( $path ) => ! str_starts_with( $path, '/wc/store/v1/cart' ), ARRAY_FILTER_USE_KEY ); } );",
    says: 'No product can be put into the cart any more: HTTP 404',
  },
  {
    name: 'takes all payment methods away',
    code: "add_filter( 'woocommerce_available_payment_gateways', '__return_empty_array', 99 );",
    says: 'The cart offers no payment method any more.',
  },
  {
    name: 'fatal on the checkout page',
    code: on('woocommerce_before_checkout_form', FATAL),
    says: 'The checkout page has lost its form.',
  },
  {
    name: 'checkout without its button',
    code: "add_filter( 'woocommerce_order_button_html', '__return_empty_string' );",
    says: 'The form of the checkout page can no longer be sent: it has no button.',
  },
  {
    name: 'leads away from the checkout',
    code: on('template_redirect', "if ( is_page( 'checkout' ) ) { wp_redirect( home_url( '/' ) ); exit; }"),
    says: 'The checkout page answers HTTP 302; before, it was 200.',
  },
];

const DOUBTFUL: readonly Sold[] = [
  {
    name: 'takes one payment method away',
    code: "add_filter( 'woocommerce_available_payment_gateways', function ( $all ) { unset( $all['stripe'] ); return $all; } );",
    says: 'The cart no longer offers the payment methods stripe.',
  },
  {
    name: 'changes prices',
    code: "add_filter( 'woocommerce_product_get_price', fn() => '125' );",
    says: 'A product in the cart costs "125 EUR"; before, it was "1250 EUR".',
  },
  {
    name: 'takes a field of the checkout away',
    code: "add_filter( 'woocommerce_billing_fields', fn( $all ) => array_diff( $all, array( 'billing_email' ) ) );",
    says: 'The form of the checkout page has lost the fields billing_email.',
  },
];

const GOOD: readonly Kind[] = [
  { name: 'plain beside a shop' },
  {
    name: 'brings another payment method',
    code: "add_filter( 'woocommerce_available_payment_gateways', fn( $all ) => array( 'paypal' => 'PayPal' ) + $all );",
  },
  {
    name: 'greets at the checkout, and calls its button otherwise',
    code: `${on('woocommerce_before_checkout_form', "echo '<p>Good morning</p>';")} add_filter( 'woocommerce_order_button_html', fn( $html ) => str_replace( 'Place order', 'Buy now', $html ) );`,
  },
  {
    name: 'asks for more at the checkout',
    code: "add_filter( 'woocommerce_billing_fields', fn( $all ) => array_merge( $all, array( 'billing_vat' ) ) );",
  },
];
/** As if a visitor had bought the last one meanwhile. */
const SOLD_OUT: Sold = {
  name: 'beside a product that is sold out now',
  code: "add_filter( 'test_sold_out', '__return_true' );",
  says: 'No product can be put into the cart any more: HTTP 400 ("woocommerce_rest_product_out_of_stock")',
};
/** As if visitors had used up what all may ask for. */
const LIMITED: Sold = {
  name: 'beside a limit of requests that visitors used up',
  code: "add_filter( 'test_limited', '__return_true' );",
  says: 'No product can be put into the cart any more: HTTP 400 (rate_limit_exceeded)',
};
const ALL: readonly Kind[] = [...BAD, ...DOUBTFUL, ...GOOD, SOLD_OUT, LIMITED];

describe('updates of a shop', needs(...WORDPRESS), () => {
  const host = new WordPressHost();
  let app: TestApp;
  let site: WordPress;
  const one = { site_id_or_domain: 0 };

  beforeAll(async () => {
    await host.start();
    const key = await generateKey();
    site = await host.site('shops', { updates: true, workers: 6 });
    site.trust(key.public_key);
    furnish();
    app = await testApp({ sites: 1, realClock: true, config: { site_timeout_ms: 30_000, direct_call_ms: 300_000 } });
    const row = bareSite(site.url, { name: site.database, private_key: key.private_key });
    const id = Number(await app.service.store.sites.add(row, Date.now(), () => []));
    Object.assign(one, { site_id_or_domain: id });
    expect((await app.call('sync-sites', { site_ids_or_domains: [id] })).synced).toHaveLength(1);
    expect(await app.call('install-site-guard', one)).toMatchObject({ installed: true });
  });

  afterAll(async () => {
    await app?.close();
    await host.close();
  });

  function furnish(): void {
    site.write('plugins/mainwp-child/mainwp-child.php', readFileSync(new URL('./mainwp-child.php', import.meta.url)));
    site.write('plugins/woocommerce/woocommerce.php', readFileSync(new URL('./woocommerce.php', import.meta.url)));
    site.write('themes/plain/index.php', THEME);
    const offers: Record<string, string[]> = {};
    for (const kind of ALL) {
      writeOld(site, kind);
      site.write(`packages/${folderOf(kind)}.zip`, zip(packageOf(kind)));
      offers[slugOf(kind)] = [NEW_VERSION, join(site.content, `packages/${folderOf(kind)}.zip`)];
    }
    site.write('offers.json', JSON.stringify({ plugin: offers, theme: {} }));
    site.activate('mainwp-child/mainwp-child.php', 'woocommerce/woocommerce.php', ...ALL.map(slugOf));
    host.query(
      `CREATE TABLE ${site.database}.wp_woocommerce_sessions (session_key char(32) PRIMARY KEY, session_value longtext, session_expiry bigint)`,
    );
    site.wp(
      "wp_insert_post( array( 'post_type' => 'page', 'post_name' => 'checkout', 'post_title' => 'Checkout', 'post_content' => '[woocommerce_checkout]', 'post_status' => 'publish' ) );" +
        "register_post_type( 'product', array( 'public' => true ) ); wp_insert_post( array( 'post_type' => 'product', 'post_name' => 'cider', 'post_title' => 'Cider', 'post_content' => 'Apples.', 'post_status' => 'publish' ) ); update_option( 'rewrite_rules', '' );",
    );
  }

  const update = (kinds: readonly Kind[], more: object = {}): Promise<Answer> =>
    app.call('safe-update-site', { ...one, types: ['plugins'], specific_items: kinds.map(slugOf), ...more });

  /** Carts that hold something, and orders. */
  const left = () =>
    host
      .query(
        `SELECT COUNT(*) FROM ${site.database}.wp_woocommerce_sessions WHERE session_value <> '[]';
        SELECT COALESCE(SUM(option_value), 0) FROM ${site.database}.wp_options WHERE option_name = 'test_orders'`,
      )
      .trim()
      .split('\n');
  const visits = () => Number(host.query(`SELECT COUNT(*) FROM ${site.database}.wp_woocommerce_sessions`).trim());

  it('healthy ones are kept without a word, and the answer says how far the look went', async () => {
    const answer = await update(GOOD);
    expect(answer).toMatchObject({ errors: [], suspects: [] });
    expect(answer.updated).toHaveLength(GOOD.length);
    expect(answer.checked).toEqual([
      expect.stringMatching(/a product, .*the cart of the shop with its payment methods, the checkout page/),
    ]);
    expect(answer.not_checked).toContain('orders and payments in the shop');
    // One look before, one after.
    expect(visits()).toBe(2);
    expect(left()).toEqual(['0', '0']);
  });

  it.each(BAD)('undone: $name', async (kind) => {
    const before = contents(join(site.content, 'plugins', folderOf(kind)));
    const answer = await update([kind]);
    expect(answer).toMatchObject({ updated: [], errors: [{ slug: slugOf(kind), code: 'svc_update_rolled_back' }] });
    expect((answer.errors as { message: string }[])[0]?.message).toContain(kind.says);
    expect(contents(join(site.content, 'plugins', folderOf(kind)))).toEqual(before);
    expect(left()).toEqual(['0', '0']);
  });

  it('what is doubtful is kept, and told', async () => {
    const answer = await update(DOUBTFUL);
    expect(answer).toMatchObject({ errors: [] });
    expect(answer.updated).toHaveLength(DOUBTFUL.length);
    const findings = (answer.suspects as { findings: string[] }[])[0]?.findings ?? [];
    for (const { says } of DOUBTFUL) expect(findings).toContain(says);
    expect(left()).toEqual(['0', '0']);
  });

  it.each([SOLD_OUT, LIMITED])('told, and undoes nothing: $name', async (kind) => {
    const answer = await update([kind], { on_suspect: 'roll_back' });
    expect(answer).toMatchObject({ errors: [], updated: [{ slug: slugOf(kind) }] });
    const findings = (answer.suspects as { findings: string[] }[])[0]?.findings ?? [];
    expect(findings).toContainEqual(expect.stringContaining(kind.says));
    // Nobody can buy anything while it is active.
    site.wp(
      `update_option( 'active_plugins', array_values( array_diff( get_option( 'active_plugins' ), array( '${slugOf(kind)}' ) ) ) );`,
    );
  });
});
