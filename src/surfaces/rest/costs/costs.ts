/** Routes of the costs. The routes document only reads them per site, so these are additional (REST §7). */

import { costChange, costRecord, newCost } from '../../../../schemas/cost.js';
import { z } from '../../../../schemas/zod.js';
import {
  addCost,
  type CostChange,
  deleteCost,
  getCost,
  listCosts,
  requireCost,
  updateCost,
} from '../../../domain/costs/records.js';
import { once } from '../../../runtime/once.js';
import { cleared, csv, int, paging } from '../params.js';
import { listRoute, ofModule, route } from '../route.js';
import { exampleCost } from '../schemas/examples.js';
import { listOf, recordOf, writtenOf } from '../schemas/records.js';

const path = once(() => ({ cost_id: int(1).describe('Id of the cost.') }));
const where = { cost_id: /^[1-9]\d{0,14}$/ };

/** Targets may be comma-separated lists, as everywhere in this interface. */
const covered = (what: string) =>
  cleared.list(csv(int(1)).optional()).describe(`Ids of covered ${what}; replaces the current ones.`);
const targets = once(() => ({ sites: covered('sites'), groups: covered('tags'), clients: covered('clients') }));

/** Fields of a cost that may be cleared. */
const emptiable = once(() => {
  const { url, product_type, payment_method, renewal_type, last_renewal, note } = costChange().shape;
  return {
    url: cleared.text(url),
    product_type: cleared.text(product_type),
    payment_method: cleared.text(payment_method),
    renewal_type: cleared.value(renewal_type),
    last_renewal: cleared.value(last_renewal),
    note: cleared.text(note),
  };
});

export const costs = ofModule('cost-tracker', [
  listRoute({
    on: 'GET /costs',
    summary: 'List costs',
    params: () => z.object(paging(20, 100)),
    example: { total: 1, page: 1, per_page: 20, pages: 1, data: [exampleCost] },
    returns: () => listOf(costRecord()),
    list: ({ page, per_page }, ctx) => listCosts(ctx, page, per_page),
  }),
  route({
    on: 'POST /costs/add',
    change: 'other',
    body: 'required',
    summary: 'Create a cost',
    params: () => z.object({ ...newCost().shape, ...targets() }),
    example: { message: 'The cost was added.', data: exampleCost },
    returns: () => writtenOf(costRecord()),
    answer: async (input, ctx) => ({ message: 'The cost was added.', data: await addCost(ctx, input) }),
  }),
  route({
    on: 'GET /costs/{cost_id}',
    where,
    summary: 'Read a cost',
    params: () => z.object(path()),
    returns: () => recordOf(costRecord()),
    answer: async ({ cost_id }, ctx) => ({ data: requireCost(await getCost(ctx, cost_id), cost_id) }),
  }),
  route({
    on: 'POST|PUT|PATCH /costs/{cost_id}/edit',
    change: 'other',
    body: 'required',
    where,
    summary: 'Change a cost',
    description: 'Omitted fields keep their value; null or "" clears what may be empty.',
    params: () => z.object({ ...costChange().shape, ...emptiable(), ...targets(), ...path() }),
    returns: () => writtenOf(costRecord()),
    answer: async ({ cost_id, ...change }, ctx) => ({
      message: 'The cost was changed.',
      data: requireCost(await updateCost(ctx, cost_id, change as CostChange), cost_id),
    }),
  }),
  route({
    on: 'DELETE /costs/{cost_id}/remove',
    change: 'deletions',
    plan: async ({ cost_id }, ctx) => requireCost(await getCost(ctx, cost_id), cost_id),
    where,
    summary: 'Delete a cost',
    params: () => z.object(path()),
    returns: () => writtenOf(costRecord()),
    answer: async ({ cost_id }, ctx) => ({
      message: 'The cost was deleted.',
      data: requireCost(await deleteCost(ctx, cost_id), cost_id),
    }),
  }),
]);
