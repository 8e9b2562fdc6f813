/** A shop that lies to the looks of safe updates: what it sends is bounded, and it leads them nowhere else. */

import { createServer, type ServerResponse } from 'node:http';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findShop, SHOP_PLUGIN, shopAfter, shopBefore } from '../../src/domain/updates/safe/shop.js';
import { createChildSites } from '../../src/outbound/child/create.js';
import { type RestApp, restApp } from '../rest/client.js';
import { listenLocally } from '../support/local-server.js';
import { running } from './safety-app.js';

let app: RestApp;
let inside = '';
const asked: string[] = [];

/** What the shop answers to a path, instead of what an honest one does. */
type Lie = (path: string, response: ServerResponse) => boolean;
let lie: Lie = () => false;
let base = '';
const seen: string[] = [];

function honest(path: string): unknown {
  const product = { id: 7, type: 'simple', permalink: `${base}product/cup/`, is_purchasable: true, is_in_stock: true };
  const sold = { has_options: false, low_stock_remaining: null, prices: { price: '900' }, add_to_cart: { minimum: 1 } };
  if (path.includes('/products')) return [{ ...product, ...sold }];
  if (path.includes('/wp/v2/pages')) return [{ link: `${base}checkout/` }];
  const totals = { total_items: '900', currency_code: 'EUR' };
  return { items: [{}], totals, needs_payment: true, payment_methods: ['bacs'] };
}

beforeAll(async () => {
  app = await restApp({ sites: 1 });
  const secret = createServer((request, response) => {
    asked.push(String(request.url));
    response.end('secret');
  });
  inside = (await listenLocally(secret)).url;
  const shop = createServer((request, response) => {
    request.resume();
    const path = decodeURIComponent(String(request.url));
    seen.push(path);
    if (lie(path, response)) return;
    response.setHeader('set-cookie', 'cart=1').setHeader('nonce', 'abc');
    response.end(JSON.stringify(honest(path)));
  });
  base = `${(await listenLocally(shop, '127.0.0.2')).url}/`;
});
beforeEach(() => void seen.splice(0));

/** What a walk needs. */
function walker() {
  const limits = { concurrency: 5, perHost: 5, perHostDelayMs: 0, minDelayMs: 0 };
  const child = createChildSites({ ...limits, dashboardUrl: 'http://localhost/', allowPrivate: ['127.0.0.2'] });
  const ctx = { ...app.ctx(), child };
  const at = { url: base, http_user: null, http_pass: null, ssl_verify: true };
  const target = { site: { id: 1, url: base }, connection: { ...at, site_id: 1, user: 'admin', private_key: null } };
  return { ctx, target: target as never };
}

/** A walk through the shop before an update. */
async function walked() {
  const { ctx, target } = walker();
  const place = await findShop(ctx, target, [SHOP_PLUGIN]);
  return { place, ...(await shopBefore(ctx, target, place)) };
}

it('an honest one is walked through', async () => {
  const { place, shop } = await walked();
  expect(place).toEqual({ product: 7, quantity: 1, page: 'product/cup/', checkout: 'checkout/' });
  expect(shop?.facts).toMatchObject({ added: true, methods: ['bacs'] });
});

it.each<[string, Lie]>([
  ['redirects inside', (_path, response) => Boolean(response.writeHead(307, { location: `${inside}/secret` }).end())],
  ['redirects to itself for ever', (path, response) => Boolean(response.writeHead(302, { location: path }).end())],
  [
    'never ends',
    (_path, response) => {
      const more = () => response.write(' '.repeat(65_536), () => response.destroyed || setImmediate(more));
      more();
      return true;
    },
  ],
  ['is nested a hundred thousand times', (_path, response) => Boolean(response.end('['.repeat(100_000)))],
])('one whose Store API %s is not looked at', async (_what, answer) => {
  lie = answer;
  expect(await walked()).toMatchObject({ place: { unseen: 'its products cannot be listed by visitors' }, shop: null });
  expect(seen).toHaveLength(2);
  expect(asked).toEqual([]);
});

it('links of its products and of its checkout lead to no other host', async () => {
  const links = () => [
    `${inside}/secret`,
    `${base}/${inside.slice('http:'.length)}/secret`,
    `${base}${inside}/secret`,
    inside.slice('http:'.length),
    `${base}..//..${inside.slice('http:'.length)}/secret`,
  ];
  for (const link of links()) {
    lie = (path, response) => {
      const [product = {}] = honest('/products') as object[];
      const answer = path.includes('/products') ? [{ ...product, permalink: link }] : [{ link }];
      return /products|pages/.test(path) && Boolean(response.end(JSON.stringify(answer)));
    };
    expect([link, (await walked()).place]).toEqual([link, { product: 7, quantity: 1, page: '', checkout: '' }]);
  }
  expect(asked).toEqual([]);
});

it('what it says of its cart is kept in bounds', async () => {
  const long = 'm'.repeat(2_000);
  const payment_methods = Array.from({ length: 400 }, (_, i) => `${i}${long}`);
  const totals = { total_items: long, currency_code: long };
  lie = (path, response) =>
    path.includes('store/v1/cart') &&
    Boolean(response.end(JSON.stringify({ ...(honest('cart') as object), payment_methods, totals })));
  const { shop } = await walked();
  expect(shop?.facts.added).toBe(true);
  expect(JSON.stringify(shop).length).toBeLessThan(10_000);
});

describe('a limit of requests', () => {
  const FORM = `<form><input name="billing_email"><input type="radio" name="payment_method" value="bacs"><button>Buy</button></form>`;
  const checkout = (path: string) => path.startsWith('/checkout/');
  const cart = (path: string) => path.includes('store/v1/cart');
  const open: Lie = (path, response) =>
    checkout(path) && Boolean(response.setHeader('content-type', 'text/html').end(FORM));
  const json = JSON.stringify({ code: 'rate_limit_exceeded', message: 'Too many requests.', data: { status: 400 } });
  const limited =
    (
      where: (path: string) => boolean,
      status: number,
      headers: Record<string, string>,
      times: number,
      body = json,
    ): Lie =>
    (path, response) => {
      if (!where(path) || times-- <= 0) return open(path, response);
      return Boolean(response.writeHead(status, headers).end(body));
    };

  /** What is found after an update, and how long that took. */
  async function found(after: Lie) {
    lie = open;
    const { shop } = await walked();
    expect(shop?.facts.checkout).toMatchObject({ status: 200, methods: ['bacs'] });
    seen.splice(0);
    lie = after;
    const began = app.clock.now();
    const run = { ...walker(), guard: null, facts: { shop }, looked: new Set() };
    const { findings } = await running(app, shopAfter(run as never));
    return { findings, ms: app.clock.now() - began };
  }

  it.each([
    ['its own names', 400, { 'ratelimit-retry-after': '10' }, 10_000],
    ['the usual header names', 429, { 'retry-after': '7' }, 7_000],
    ['the one of a server in front names', 503, { 'retry-after': '15' }, 15_000],
  ])('is waited for as long as %s', async (_what, status, headers, ms) => {
    expect(await found(limited(cart, status, headers, 1))).toEqual({ findings: [], ms });
    expect(await found(limited(checkout, status, headers, 1, 'Later'))).toMatchObject({ findings: [] });
  });

  it.each([
    ['names no time', 400, {}, 0],
    ['names a long one', 429, { 'retry-after': '16' }, 0],
    ['names a date', 503, { 'retry-after': 'Fri, 31 Dec 2049 23:59:59 GMT' }, 0],
    ['comes again after it', 400, { 'ratelimit-retry-after': '3' }, 3_000],
  ])('that %s is told, and no reason to undo anything', async (_what, status, headers, wait) => {
    const { findings, ms } = await found(limited(cart, status, headers, 99));
    const what = `No product can be put into the cart any more: HTTP ${status} (rate_limit_exceeded).`;
    expect(findings).toMatchObject([{ severity: 'suspect', hearsay: true, what }]);
    // Two looks, and what is between them.
    expect(ms).toBe(2 * wait + 1_500);
    expect(seen).toHaveLength(wait === 0 ? 2 : 4);
  });

  it.each([429, 503])('of the checkout page that answers %i is told', async (status) => {
    const { findings } = await found(limited(checkout, status, {}, 99, 'Later'));
    const what = `The checkout page answers HTTP ${status}; before, it was 200.`;
    expect(findings).toMatchObject([{ severity: 'suspect', hearsay: true, what }]);
  });

  it('is none where the shop refuses for another reason', async () => {
    const { findings, ms } = await found(
      limited(cart, 400, { 'retry-after': '9' }, 99, '{"code":"woocommerce_broken"}'),
    );
    expect([findings, ms]).toMatchObject([[{ severity: 'broken' }], 1_500]);
  });
});
