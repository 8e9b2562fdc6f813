/** Product types and payment methods of costs: the built-in ones and added ones (REST §6.10.5). */

import { ServiceError } from '../../runtime/errors.js';
import { ownMember } from '../../runtime/own-member.js';
import { slugOf } from '../../runtime/slugs.js';
import type { Ctx } from '../context.js';
import { requireModule } from '../settings/modules.js';
import { wrongField } from '../settings/settings.js';

export interface ProductType {
  title: string;
  color: string;
  icon: string;
}

const COLOR = '#34424D';
const ICON = 'deficon:folder open';

const BUILT_IN_TYPES: Readonly<Record<string, ProductType>> = {
  plugin: { title: 'Plugin', color: '#5ec130', icon: 'deficon:plug' },
  theme: { title: 'Theme', color: '#34afd8', icon: 'deficon:tint' },
  hosting: { title: 'Hosting', color: '#f2e93a', icon: 'deficon:server' },
  service: { title: 'Service', color: '#ed1730', icon: 'deficon:wrench' },
  other: { title: 'Other', color: '#14f4fc', icon: 'deficon:folder' },
};

const BUILT_IN_METHODS: Readonly<Record<string, string>> = {
  paypal: 'PayPal',
  stripe: 'Stripe',
  apple: 'Apple Pay',
  amazon: 'Amazon Pay',
  google: 'Google Pay',
  credit_debit: 'Credit card',
  debit_card: 'Debit card',
  cash: 'Cash',
};

const TYPES = 'cost-lists.product_types';
const METHODS = 'cost-lists.payment_methods';
const MAX_OWN = 500;

/** All product types, the built-in ones first. */
export async function productTypes(ctx: Pick<Ctx, 'store'>) {
  const stored = await read<ProductType>(ctx, TYPES);
  const types = { ...BUILT_IN_TYPES, ...stored };
  return Object.entries(types).map(([slug, type]) => ({ slug, ...type, custom: !Object.hasOwn(BUILT_IN_TYPES, slug) }));
}

export async function paymentMethods(ctx: Pick<Ctx, 'store'>) {
  const methods = { ...BUILT_IN_METHODS, ...(await read<string>(ctx, METHODS)) };
  return Object.entries(methods).map(([slug, title]) => ({
    slug,
    title,
    custom: !Object.hasOwn(BUILT_IN_METHODS, slug),
  }));
}

async function read<T>(ctx: Pick<Ctx, 'store'>, key: string): Promise<Record<string, T>> {
  return ((await ctx.store.settings.one(key)) ?? {}) as Record<string, T>;
}

async function save(ctx: Ctx, key: string, value: Record<string, unknown>, slug: string): Promise<void> {
  await ctx.store.settings.write(
    [{ key, value: Object.keys(value).length === 0 ? undefined : value }],
    ctx.clock.now(),
  );
  ctx.events.emit({ name: 'settings.changed', facts: { group: 'cost-tracker', fields: [slug] } });
}

export type TypeChange = { [K in keyof ProductType]?: ProductType[K] | null | undefined };

/** Throws `duplicate_title` 409, `rest_invalid_param` with `invalid_color`, `invalid_icon` or `invalid_title`. */
export async function addProductType(ctx: Ctx, input: TypeChange & { title: string }) {
  requireModule(ctx, 'cost-tracker');
  const all = await productTypes(ctx);
  const slug = newSlug(input.title, all);
  const type = checked({ title: input.title, color: input.color ?? COLOR, icon: input.icon ?? ICON });
  await save(ctx, TYPES, { ...(await read(ctx, TYPES)), [slug]: type }, slug);
  return { [slug]: type };
}

/** The slug stays. A built-in type can change its color and icon but not its title; null restores the default. */
export async function editProductType(ctx: Ctx, slug: string, change: TypeChange) {
  requireModule(ctx, 'cost-tracker');
  const all = await productTypes(ctx);
  const present = all.find((type) => type.slug === slug);
  if (present === undefined) throw noSlug('product type', slug);
  const builtIn = ownMember(BUILT_IN_TYPES, slug);
  const { title } = change;
  if (typeof title === 'string' && title !== present.title) {
    if (builtIn !== undefined)
      throw wrongField('title', 'invalid_title', 'cannot change for a built-in product type', 'Leave title out.');
    requireUnused(title, all, slug);
  }
  const standard = builtIn ?? { title: present.title, color: COLOR, icon: ICON };
  const pick = (name: keyof ProductType) =>
    change[name] === undefined ? present[name] : (change[name] ?? standard[name]);
  const type = checked({ title: pick('title'), color: pick('color'), icon: pick('icon') });
  await save(ctx, TYPES, { ...(await read(ctx, TYPES)), [slug]: type }, slug);
  return { [slug]: type };
}

/** Throws `invalid_slug` 404, or `svc_rest_conflict` 409 for a built-in type and for one in use by a cost. */
export function deleteProductType(ctx: Ctx, slug: string): Promise<void> {
  return remove(ctx, TYPES, 'product type', 'product_type', Object.hasOwn(BUILT_IN_TYPES, slug), slug);
}

export async function addPaymentMethod(ctx: Ctx, title: string) {
  requireModule(ctx, 'cost-tracker');
  const slug = newSlug(title, await paymentMethods(ctx));
  await save(ctx, METHODS, { ...(await read(ctx, METHODS)), [slug]: title }, slug);
  return { [slug]: title };
}

export async function editPaymentMethod(ctx: Ctx, slug: string, title: string) {
  requireModule(ctx, 'cost-tracker');
  const all = await paymentMethods(ctx);
  const present = all.find((method) => method.slug === slug);
  if (present === undefined) throw noSlug('payment method', slug);
  if (!present.custom) throw builtIn('payment method', slug, 'changed');
  requireUnused(title, all, slug);
  await save(ctx, METHODS, { ...(await read(ctx, METHODS)), [slug]: title }, slug);
  return { [slug]: title };
}

export function deletePaymentMethod(ctx: Ctx, slug: string): Promise<void> {
  return remove(ctx, METHODS, 'payment method', 'payment_method', Object.hasOwn(BUILT_IN_METHODS, slug), slug);
}

async function remove(
  ctx: Ctx,
  key: string,
  what: string,
  column: 'product_type' | 'payment_method',
  isBuiltIn: boolean,
  slug: string,
): Promise<void> {
  requireModule(ctx, 'cost-tracker');
  if (isBuiltIn) throw builtIn(what, slug, 'deleted');
  const { [slug]: present, ...others } = await read<unknown>(ctx, key);
  if (present === undefined) throw noSlug(what, slug);
  if (await ctx.store.settings.isUsedByCost(column, slug)) {
    throw new ServiceError('svc_rest_conflict', `At least one cost uses the ${what} ${slug}. Nothing changed.`, {
      field: 'slug',
      advice: `Give those costs another ${what} first.`,
    });
  }
  await save(ctx, key, others, slug);
}

function noSlug(what: string, slug: string): ServiceError {
  return new ServiceError('invalid_slug', `There is no ${what} ${JSON.stringify(slug.slice(0, 60))}.`, {
    field: 'slug',
    advice: 'The settings of the cost tracker list them.',
  });
}

function builtIn(what: string, slug: string, verb: string): ServiceError {
  return new ServiceError('svc_rest_conflict', `The ${what} ${slug} is built in and cannot be ${verb}.`, {
    field: 'slug',
    advice: `Only a ${what} that was added can be ${verb}.`,
  });
}

type Listed = readonly { slug: string; title: string }[];

function requireUnused(title: string, all: Listed, except: string): void {
  const same = (other: string) => other.toLowerCase() === title.toLowerCase();
  if (!all.some((entry) => entry.slug !== except && same(entry.title))) return;
  throw new ServiceError('duplicate_title', `The title ${JSON.stringify(title.slice(0, 100))} is taken.`, {
    field: 'title',
    advice: 'Send another title.',
  });
}

/** The slug for a title; an unused one if titles differ only in what a slug drops. */
function newSlug(title: string, all: Listed): string {
  requireUnused(title, all, '');
  if (all.filter((entry) => entry.slug !== '').length >= MAX_OWN)
    throw new ServiceError('svc_rest_conflict', `There are ${MAX_OWN} already.`, { advice: 'Delete one first.' });
  const base = slugOf(title).slice(0, 60) || 'item';
  const taken = new Set(all.map((entry) => entry.slug));
  for (let number = 1; ; number++) {
    const slug = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(slug)) return slug;
  }
}

function checked(type: ProductType): ProductType {
  if (!/^#[0-9a-f]{6}$/i.test(type.color))
    throw wrongField('color', 'invalid_color', 'must be a colour as #RRGGBB', 'Send for example #34424D.');
  if (!/^[a-z]+:[a-z0-9 _-]{1,60}$/i.test(type.icon))
    throw wrongField('icon', 'invalid_icon', 'must be an icon as type:name', `Send for example ${ICON}.`);
  return type;
}
