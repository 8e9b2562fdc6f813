/**
 * Walks through a shop of WooCommerce as a visitor in a session of its own: a product goes into an empty cart, the cart
 * says how it can be paid, the checkout page is looked at, and the cart is emptied. Nothing is ordered: the address of
 * the Store API that returns the checkout is never requested, and no checkout page of blocks either, since WooCommerce
 * makes a draft of an order for each.
 */

import { siteWord } from '../../../../schemas/site-text.js';
import { ChildFailure, type Page } from '../../../outbound/child/port.js';
import type { SiteGuard } from '../../../outbound/guard/guards.js';
import { isObject, parsedOrNull } from '../../../runtime/plain-json.js';
import type { Ctx } from '../../context.js';
import { type LoadedSite, requireConnection } from '../../sites/load.js';
import type { Finding } from './compare-health.js';
import {
  CHECKOUT,
  type CheckoutFacts,
  compareShops,
  IN_CART,
  isUsable,
  type ShopBefore,
  type ShopFacts,
  type ShopFinding,
  type ShopPlace,
} from './compare-shops.js';
import { pathOf } from './find-pages.js';
import type { LookedPage } from './looked-pages.js';
import { isTurnedAway } from './page-facts.js';
import { formsOf } from './page-forms.js';
import { shownMarkup } from './page-markup.js';
import { fresh, UNCACHED } from './probe.js';
import type { SafeRun } from './run-state.js';
import { attribute } from './tag-attributes.js';

export const SHOP_PLUGIN = 'woocommerce/woocommerce.php';
const STORE = '?rest_route=/wc/store/v1';
/** Simple ones on stock, oldest first: those are the ones that stay. */
const PRODUCTS = `${STORE}/products&type=simple&stock_status=instock&orderby=date&order=asc&per_page=20&_fields=id,type,permalink,is_purchasable,is_in_stock,has_options,low_stock_remaining,sold_individually,prices,add_to_cart`;
/** The search of WordPress looks into contents, too: this is the checkout of templates; that of blocks has another mark. */
const CHECKOUTS = '?rest_route=/wp/v2/pages&search=%5Bwoocommerce_checkout%5D&per_page=3&_fields=link';
const TIMEOUT_MS = 20_000;
/** Between a look that finds something and the next. */
const AGAIN_MS = 1_500;
/** What the limit of requests of WooCommerce itself answers, with HTTP 400 or 429. All who share a proxy may share it. */
const LIMITED = 'rate_limit_exceeded';
const LONGEST_WAIT_MS = 15_000;
/** Payment methods that are kept of a cart or a checkout. */
const MOST_METHODS = 50;

/** What is said where nothing can be looked at, or not all. */
export const PAYING = 'orders and payments in the shop';
const BLOCKS =
  'the checkout page of the shop: none made of templates was found, and one made of blocks creates a draft order';

/** Finds something that can be bought. Null if the site has no shop; a reason if nothing was found. */
export async function findShop(
  ctx: Ctx,
  target: LoadedSite,
  active: readonly string[],
): Promise<ShopPlace | { unseen: string } | null> {
  if (!active.includes(SHOP_PLUGIN)) return null;
  const [products, checkouts] = await Promise.all([
    request(ctx, target, PRODUCTS, {}),
    request(ctx, target, CHECKOUTS, {}),
  ]);
  const list = parsed(products);
  if (products.status !== 200 || !Array.isArray(list)) return { unseen: 'its products cannot be listed by visitors' };
  const product = list.map(buyable).find((one) => one !== null);
  if (product === undefined || product === null) return { unseen: 'it has no simple product in stock' };
  const links = parsed(checkouts);
  const link = Array.isArray(links) ? links.map((one) => text(one, 'link')).find((one) => one !== '') : undefined;
  return {
    ...product,
    page: pathOf(product.page, target, true) ?? '',
    checkout: link === undefined ? '' : (pathOf(link, target, true) ?? ''),
  };
}

/** Its pages among those that every check compares. */
export function pagesOfShop(shop: ShopPlace | { unseen: string } | null): LookedPage[] {
  if (shop === null || 'unseen' in shop) return [];
  const product: LookedPage[] = shop.page === '' ? [] : [{ kind: 'product', path: shop.page }];
  return [...product, { kind: 'sitemap', path: '?sitemap=index' }];
}

/** Looks at the shop before the updates. One that does not work is no reason not to update. */
export async function shopBefore(
  ctx: Ctx,
  target: LoadedSite,
  shop: ShopPlace | { unseen: string } | null,
): Promise<{ shop: ShopBefore | null; unseen: string[] }> {
  if (shop === null) return { shop: null, unseen: [] };
  if ('unseen' in shop) return { shop: null, unseen: [`the shop: ${shop.unseen}`] };
  const facts = await walk(ctx, target, shop, null);
  if (!facts.added) return { shop: null, unseen: [`the shop: no product could be put into the cart (${facts.why})`] };
  const checkout = isUsable(facts.checkout)
    ? []
    : [shop.checkout === '' ? BLOCKS : 'the checkout page of the shop: it did not work before either'];
  return { shop: { place: shop, facts }, unseen: [...checkout, PAYING] };
}

/** The shop after the updates. */
interface ShopAfter {
  /** What both looks have shown. */
  findings: Finding[];
  /** What the first has shown: the request that met it may have made the guard act, so that the second does not. */
  first: Finding[];
}

/** Looks at it again after the updates; what is worse counts when a second look shows it, too. */
export async function shopAfter(run: SafeRun): Promise<ShopAfter> {
  const { ctx, target, guard, facts, looked } = run;
  const { shop = null } = facts;
  if (shop === null) return { findings: [], first: [] };
  const first = compareShops(shop.facts, await walk(ctx, target, shop.place, guard));
  looked.add(IN_CART);
  if (isUsable(shop.facts.checkout)) looked.add(CHECKOUT);
  if (first.length === 0) return { findings: [], first };
  await ctx.clock.sleep(AGAIN_MS, ctx.signal);
  const again = compareShops(shop.facts, await walk(ctx, target, shop.place, guard));
  return { findings: both(first, again), first };
}

/**
 * Whether what was found in the shop is no longer there; true where nothing was.
 * @param suspect what is doubtful counts, too
 */
export async function shopWell(run: SafeRun, suspect: boolean): Promise<boolean> {
  if (run.shopDoubtful !== true) return true;
  const { findings } = await shopAfter(run);
  return findings.every(({ severity }) => severity !== 'broken' && !suspect);
}

function both(first: readonly ShopFinding[], again: readonly ShopFinding[]): ShopFinding[] {
  return again.filter(({ kind }) => first.some((one) => one.kind === kind));
}

/** One walk. Whatever happens on the way, the cart is emptied. */
async function walk(ctx: Ctx, target: LoadedSite, place: ShopPlace, guard: SiteGuard | null): Promise<ShopFacts> {
  const marks = guard?.look() ?? {};
  const session: Session = { nonce: '', cookies: new Map(), headers: marks };
  const empty = await request(ctx, target, fresh(`${STORE}/cart`), session);
  if (empty.status !== 200) return notAdded(empty);
  const item = { id: place.product, quantity: place.quantity };
  const answer = await request(ctx, target, fresh(`${STORE}/cart/add-item`), session, item);
  try {
    const cart = parsed(answer);
    if (answer.status < 200 || answer.status > 299 || countOf(cart) === 0) return notAdded(answer);
    return { ...cartFacts(cart), checkout: await checkoutOf(ctx, target, place, session) };
  } finally {
    await emptyCart(ctx, target, session);
  }
}

interface Session {
  nonce: string;
  cookies: Map<string, string>;
  /** A limit of requests was waited for: once in a walk. */
  waited?: boolean;
  headers: Readonly<Record<string, string>>;
}

/** The checkout page of templates, which WooCommerce shows only with something in the cart of its cookies. */
async function checkoutOf(
  ctx: Ctx,
  target: LoadedSite,
  { checkout }: ShopPlace,
  session: Session,
): Promise<CheckoutFacts | null> {
  if (checkout === '' || session.cookies.size === 0) return null;
  const { status, body } = await request(ctx, target, fresh(checkout), session);
  const shown = shownMarkup(body);
  const forms = formsOf(shown);
  const form = forms.find(({ fields }) => fields.some((name) => name.startsWith('billing_'))) ?? null;
  const radios = [...shown.matchAll(/<input\b([^<>]{0,1000})>/gi)].map(([, attributes = '']) => attributes);
  const methods = radios.flatMap((one) =>
    attribute(one, 'name') === 'payment_method' ? [attribute(one, 'value').slice(0, 100)] : [],
  );
  return { status, form, methods: methods.slice(0, MOST_METHODS) };
}

/** Tried twice: a cart that stays is forgotten by WooCommerce after two days. */
async function emptyCart(ctx: Ctx, target: LoadedSite, session: Session): Promise<void> {
  if (session.cookies.size === 0) return;
  for (let attempt = 0; attempt < 2; attempt++) {
    // Some hosts refuse the method DELETE.
    const { status } = await request(ctx, target, fresh(`${STORE}/cart/items&_method=DELETE`), session, {});
    if (status >= 200 && status < 300) return;
  }
  ctx.log.warn({ site_id: target.site.id }, 'the cart of a check of a shop could not be emptied');
}

/** Sends what a visitor's browser would, and keeps what it would keep. Waits as long as a limit of requests tells it to. */
async function request(
  ctx: Ctx,
  target: LoadedSite,
  path: string,
  session: Partial<Session>,
  json?: object,
): Promise<Page> {
  const answer = await send(ctx, target, path, session, json);
  const wait = isLimited(answer) ? secondsOf(answer) * 1_000 : 0;
  if (wait === 0 || wait > LONGEST_WAIT_MS || session.waited === true) return answer;
  session.waited = true;
  await ctx.clock.sleep(wait, ctx.signal);
  return send(ctx, target, path, session, json);
}

async function send(
  ctx: Ctx,
  target: LoadedSite,
  path: string,
  session: Partial<Session>,
  json?: object,
): Promise<Page> {
  const connection = requireConnection(target);
  const { nonce = '', cookies = new Map<string, string>() } = session;
  const cookie = [UNCACHED, ...[...cookies].map(([name, value]) => `${name}=${value}`)].join('; ');
  const headers = { ...session.headers, cookie, ...(nonce !== '' && { nonce }) };
  const options = { signal: ctx.signal, timeoutMs: TIMEOUT_MS, headers };
  const address = new URL(path, target.site.url).href;
  const answer = await (json === undefined
    ? ctx.child.page(connection, address, options)
    : ctx.child.post(connection, address, json, options)
  ).catch((error: unknown): Page => {
    if (ctx.signal.aborted || !(error instanceof ChildFailure)) throw error;
    return { ...NO_ANSWER, failure: error };
  });
  if (/^[\w-]{1,100}$/.test(answer.nonce ?? '')) session.nonce = answer.nonce ?? '';
  for (const line of answer.set_cookies ?? []) keepCookie(cookies, line);
  return answer;
}

function isLimited(answer: Page): boolean {
  if (isTurnedAway(answer)) return true;
  return answer.status === 400 && text(parsed(answer), 'code') === LIMITED;
}

/** How long it is to be waited; 0 = it does not say, or gives a date. */
function secondsOf({ retry_after = '' }: Page): number {
  return /^\d{1,5}$/.test(retry_after) ? Number(retry_after) : 0;
}

const NO_ANSWER = { status: 0, location: '', content_type: '', sets_cookies: false, body: '', cut: false, ms: 0 };
const COOKIE = /^([\w.|%-]{1,200})=([\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{1,4000})(?:;|$)/;
const MOST_COOKIES = 20;

function keepCookie(cookies: Map<string, string>, line: string): void {
  const [, name = '', value = ''] = COOKIE.exec(line) ?? [];
  if (name !== '' && (cookies.has(name) || cookies.size < MOST_COOKIES)) cookies.set(name, value);
}

function notAdded(answer: Page): ShopFacts {
  const json = parsed(answer);
  const code = text(json, 'code').slice(0, 100);
  const status = answer.status === 0 ? 'no answer' : `HTTP ${answer.status}`;
  const data = json !== null;
  return {
    added: false,
    why: `${status}${code === '' ? '' : ` (${siteWord(code)})`}`,
    code,
    refused: isLimited(answer) || (!data && [401, 403].includes(answer.status)),
    ...{ price: '', needs_payment: false, methods: [], checkout: null },
  };
}

function cartFacts(cart: unknown): ShopFacts {
  const { totals, payment_methods: methods, needs_payment: needed } = (cart ?? {}) as Record<string, unknown>;
  const price = `${text(totals, 'total_items')} ${text(totals, 'currency_code')}`.trim().slice(0, 50);
  return {
    ...{ added: true, why: '', code: '', refused: false, price, checkout: null },
    needs_payment: needed === true,
    methods: (Array.isArray(methods) ? methods : [])
      .filter((one): one is string => typeof one === 'string')
      .slice(0, MOST_METHODS)
      .map((one) => one.slice(0, 100)),
  };
}

function countOf(cart: unknown): number {
  const { items } = (cart ?? {}) as { items?: unknown };
  return Array.isArray(items) ? items.length : 0;
}

/** A product that anyone can put into the cart, many times. */
function buyable(product: unknown): Omit<ShopPlace, 'checkout'> | null {
  const one = (product ?? {}) as Record<string, unknown>;
  const { minimum } = (one.add_to_cart ?? {}) as { minimum?: unknown };
  const sound = one.type === 'simple' && one.is_purchasable === true && one.is_in_stock === true;
  // The last ones may be sold while updates run, and what is free needs no payment.
  const plain = one.has_options === false && (one.low_stock_remaining ?? null) === null;
  if (!sound || !plain || typeof one.id !== 'number' || !(Number(text(one.prices, 'price')) > 0)) return null;
  return { product: one.id, quantity: typeof minimum === 'number' ? minimum : 1, page: text(one, 'permalink') };
}

function text(of: unknown, name: string): string {
  const value = isObject(of) ? of[name] : undefined;
  return typeof value === 'string' ? value : '';
}

/** Null if it is no JSON, or only its beginning. */
function parsed({ body, cut }: Page): unknown {
  return cut ? null : parsedOrNull(body);
}
