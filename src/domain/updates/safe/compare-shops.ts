/** A shop as a visitor meets it on the way to a payment, and what is worse there after an update. Pure. */

import { siteWord } from '../../../../schemas/site-text.js';
import type { Finding } from './compare-health.js';
import { isTurnedAway } from './page-facts.js';
import type { FormFacts } from './page-forms.js';

/** What one walk through a shop has shown: a product put into an empty cart, and the checkout. */
export interface ShopFacts {
  /** The product is in the cart. */
  added: boolean;
  /** Why it is not; '' = it is. */
  why: string;
  /** The name that WooCommerce gives the reason, '' if it gave none. */
  code: string;
  /** Not the shop may have refused it, but something before it. */
  refused: boolean;
  /** What the cart costs, and in which currency; '' = it does not say. */
  price: string;
  needs_payment: boolean;
  /** Payment methods that the cart offers, by their ids. */
  methods: readonly string[];
  /** The checkout page; null = it was not looked at. */
  checkout: CheckoutFacts | null;
}

export interface CheckoutFacts {
  status: number;
  /** Its form, with fields and button; null = it has none. */
  form: FormFacts | null;
  /** Payment methods that can be chosen there. */
  methods: readonly string[];
}

/** What can be bought, and where the way leads. */
export interface ShopPlace {
  product: number;
  quantity: number;
  /** The page of the product, and the checkout page of templates, below the site's address; '' = none is known. */
  page: string;
  checkout: string;
}

/** The shop of a site before the updates of a run. */
export interface ShopBefore {
  place: ShopPlace;
  facts: ShopFacts;
}

export const SHOP_KEY = '#shop';
/** As lists of what was looked at name it. */
export const IN_CART = 'the cart of the shop with its payment methods';
export const CHECKOUT = 'the checkout page';

/** Kinds of findings: what one look alone shows does not count. */
export type ShopKind = 'cart' | 'payment' | 'checkout' | 'methods' | 'price' | 'fields';
export type ShopFinding = Finding & { kind: ShopKind };

/** Whether the checkout page could be used. */
export function isUsable(checkout: CheckoutFacts | null): boolean {
  return checkout?.status === 200 && checkout.form?.submit === true && checkout.methods.length > 0;
}

/** What is worse than before. Nothing is compared with a shop in which nothing could be bought before. */
export function compareShops(before: ShopFacts, now: ShopFacts): ShopFinding[] {
  if (!before.added) return [];
  if (!now.added) {
    // The last one may have been sold meanwhile, and something before the shop may have had enough of requests.
    const excused = now.refused || now.code.includes('out_of_stock');
    const why = `No product can be put into the cart any more: ${now.why}.`;
    if (!excused) return [finding('cart', 'broken', why)];
    return [{ ...finding('cart', 'suspect', why), hearsay: true }];
  }
  const found: ShopFinding[] = [];
  const lost = before.methods.filter((method) => !now.methods.includes(method));
  if (lost.length > 0 && now.methods.length === 0 && now.needs_payment)
    found.push(finding('payment', 'broken', 'The cart offers no payment method any more.'));
  else if (lost.length > 0 && now.needs_payment)
    found.push(finding('methods', 'suspect', `The cart no longer offers the payment methods ${named(lost)}.`));
  if (before.price !== '' && now.price !== before.price) {
    const what = `A product in the cart costs ${siteWord(now.price)}; before, it was ${siteWord(before.price)}.`;
    found.push(finding('price', 'suspect', what));
  }
  return [...found, ...compareCheckouts(before.checkout, now.checkout, lost)];
}

/** @param lost methods that the cart has lost, too */
function compareCheckouts(
  before: CheckoutFacts | null,
  now: CheckoutFacts | null,
  lost: readonly string[],
): ShopFinding[] {
  if (before === null || now === null || !isUsable(before)) return [];
  const bad = (what: string) => [finding('checkout', 'broken', what)];
  const answers = `The checkout page answers HTTP ${now.status}; before, it was 200.`;
  if (isTurnedAway(now)) return [{ ...finding('checkout', 'suspect', answers), hearsay: true }];
  if (now.status !== 200) return bad(answers);
  if (now.form === null) return bad('The checkout page has lost its form.');
  if (!now.form.submit) return bad('The form of the checkout page can no longer be sent: it has no button.');
  if (now.methods.length === 0) return bad('The checkout page offers no payment method any more.');
  const gone = before.methods.filter((method) => !now.methods.includes(method) && !lost.includes(method));
  const fields = (before.form?.fields ?? []).filter((field) => !now.form?.fields.includes(field));
  return [
    ...(gone.length > 0
      ? [finding('methods', 'suspect', `The checkout page no longer offers the payment methods ${named(gone)}.`)]
      : []),
    ...(fields.length > 0
      ? [finding('fields', 'suspect', `The form of the checkout page has lost the fields ${named(fields)}.`)]
      : []),
  ];
}

function named(names: readonly string[]): string {
  return names.slice(0, 5).map(siteWord).join(', ');
}

function finding(kind: ShopKind, severity: Finding['severity'], what: string): ShopFinding {
  return { kind, severity, path: SHOP_KEY, what };
}
