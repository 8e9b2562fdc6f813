/** Routes of the cost tracker's settings, with its product types and payment methods (REST §6.10.5). */

import { COST_TRACKER, editShape, valuesShape } from '../../../../schemas/settings.js';
import { z } from '../../../../schemas/zod.js';
import { bounded } from '../../../../schemas/zod-internals.js';
import type { Ctx } from '../../../domain/context.js';
import {
  addPaymentMethod,
  addProductType,
  deletePaymentMethod,
  deleteProductType,
  editPaymentMethod,
  editProductType,
  paymentMethods,
  productTypes,
} from '../../../domain/costs/lists.js';
import { editSettings, type GroupView, readSettings } from '../../../domain/settings/settings.js';
import { once } from '../../../runtime/once.js';
import { onlyShown, withoutShown } from '../only-shown.js';
import { cleared } from '../params.js';
import { ofModule, type Route, route } from '../route.js';
import { writtenOf } from '../schemas/records.js';
import { changedMessage } from '../settings/stored-only.js';

async function answerOf(ctx: Ctx, { values, notes }: GroupView) {
  const [types, methods] = await Promise.all([productTypes(ctx), paymentMethods(ctx)]);
  return {
    data: {
      ...values,
      product_categories: types,
      payment_methods: Object.fromEntries(methods.map(({ slug, title }) => [slug, title])),
      payment_method_list: methods,
    },
    meta: { notes },
  };
}

/** Changed by routes of their own. */
const LISTS = ['product_categories', 'payment_methods', 'payment_method_list'] as const;

const productType = once(() =>
  z.record(z.object({ title: z.string(), color: z.string(), icon: z.string() })).describe('By slug.'),
);
const paymentMethod = once(() => z.record(z.string()).describe('Title by slug.'));
const listed = once(() => ({ slug: z.string(), title: z.string(), custom: z.boolean() }));
const listsShape = once(() => ({
  product_categories: z.array(z.object({ ...listed(), color: z.string(), icon: z.string() })),
  payment_methods: z.record(z.string()),
  payment_method_list: z.array(z.object(listed())),
}));
/** The same, sent back: longer lists are not read. */
const sentLists = once(() => {
  const { product_categories, payment_method_list, ...others } = listsShape();
  const most = 1_000;
  return {
    ...others,
    product_categories: bounded(product_categories.max(most)),
    payment_method_list: bounded(payment_method_list.max(most)),
  };
});
const costSettingsShape = once(() => ({
  data: z
    .object({
      ...valuesShape(COST_TRACKER).shape,
      ...listsShape(),
    })
    .describe('The settings outside both lists.'),
  meta: z.object({ notes: z.record(z.string()) }),
}));

const title = once(() =>
  z
    .string()
    .trim()
    .min(1)
    .max(100)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters'),
);
const look = (about: string) => cleared.value(z.string().trim().max(80).nullable()).optional().describe(about);
const typeFields = once(() => ({
  color: look('#RRGGBB; default #34424D.'),
  icon: look('type:name; default "deficon:folder open".'),
}));
const TYPE_CODES = { color: 'invalid_color', icon: 'invalid_icon' };
const slugPath = once(() => ({ slug: z.string().min(1).max(100).describe('Slug; unchanged when the title changes.') }));

function deletion(what: string, list: string, remove: (ctx: Ctx, slug: string) => Promise<void>): Route {
  return route({
    on: `DELETE /settings/cost-tracker/${list}/{slug}/delete`,
    change: 'deletions',
    summary: `Delete a ${what}`,
    description: 'Refused with 409 for a built-in one, and for one that a cost uses.',
    params: () => z.object(slugPath()),
    returns: () => z.object({ message: z.string() }),
    async answer({ slug }, ctx) {
      await remove(ctx, slug);
      return { message: `The ${what} was deleted.` };
    },
  });
}

export const costSettings = ofModule('cost-tracker', [
  route({
    on: 'GET /settings/cost-tracker',
    summary: 'Read cost tracker settings, product types and payment methods',
    params: () => z.object({}),
    returns: () => z.object(costSettingsShape()),
    answer: async (_params, ctx) => answerOf(ctx, await readSettings(ctx, 'cost-tracker')),
  }),
  route({
    on: 'PUT|PATCH /settings/cost-tracker/edit',
    change: 'settings',
    body: 'required',
    summary: 'Change cost tracker settings',
    description: 'Only the fields sent change; null restores the default. Unknown fields are refused.',
    params: () => editShape(COST_TRACKER).extend(onlyShown(sentLists())),
    inner: { currency: 'invalid_currency' },
    returns: () => z.object({ message: z.string(), ...costSettingsShape() }),
    async answer(sent, ctx) {
      const shown = async () => (await answerOf(ctx, await readSettings(ctx, 'cost-tracker'))).data;
      const change = await withoutShown(sent, LISTS, shown);
      const view = await editSettings(ctx, 'cost-tracker', change);
      const message = changedMessage('The cost tracker settings were changed.', change, view.notes);
      return { message, ...(await answerOf(ctx, view)) };
    },
  }),
  route({
    on: 'POST /settings/cost-tracker/product-types/add',
    change: 'settings',
    body: 'required',
    summary: 'Add a product type',
    params: () => z.object({ title: title(), ...typeFields() }),
    inner: TYPE_CODES,
    returns: () => writtenOf(productType()),
    async answer(input, ctx) {
      return { message: 'The product type was added.', data: await addProductType(ctx, input) };
    },
  }),
  route({
    on: 'PUT|PATCH /settings/cost-tracker/product-types/{slug}/edit',
    change: 'settings',
    body: 'required',
    summary: 'Change a product type',
    description: 'For a built-in one, colour and icon may change, but not the title.',
    params: () => z.object({ ...slugPath(), title: title().optional(), ...typeFields() }),
    inner: TYPE_CODES,
    returns: () => writtenOf(productType()),
    async answer({ slug, ...change }, ctx) {
      return { message: 'The product type was changed.', data: await editProductType(ctx, slug, change) };
    },
  }),
  deletion('product type', 'product-types', deleteProductType),
  route({
    on: 'POST /settings/cost-tracker/payment-methods/add',
    change: 'settings',
    body: 'required',
    summary: 'Add a payment method',
    params: () => z.object({ title: title() }),
    returns: () => writtenOf(paymentMethod()),
    async answer(input, ctx) {
      return { message: 'The payment method was added.', data: await addPaymentMethod(ctx, input.title) };
    },
  }),
  route({
    on: 'PUT|PATCH /settings/cost-tracker/payment-methods/{slug}/edit',
    change: 'settings',
    body: 'required',
    summary: 'Rename a payment method',
    description: 'Built-in ones keep their names.',
    params: () => z.object({ ...slugPath(), title: title() }),
    returns: () => writtenOf(paymentMethod()),
    async answer({ slug, title: name }, ctx) {
      return { message: 'The payment method was changed.', data: await editPaymentMethod(ctx, slug, name) };
    },
  }),
  deletion('payment method', 'payment-methods', deletePaymentMethod),
]);
