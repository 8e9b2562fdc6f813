/** Routes of policies of updates (REST §7): anyone may read them; changing them needs the right to approve, and to write as they do. */

import { draftPreview, policyEntry, policyFields, policyPreview, policyRecord } from '../../../../schemas/policy.js';
import { z } from '../../../../schemas/zod.js';
import { addPolicy, changePolicy, deletePolicy, getPolicy, listPolicies } from '../../../domain/policies/policies.js';
import { previewDefinition, previewPolicy } from '../../../domain/policies/preview.js';
import { once } from '../../../runtime/once.js';
import { int, paging } from '../params.js';
import { listRoute, type Route, route } from '../route.js';
import { listOf, recordOf, writtenOf } from '../schemas/records.js';

const where = { policy_id: /^[1-9]\d{0,14}$/ };
const path = once(() => ({ policy_id: int(1) }));

/** Not in the routes document. */
export const policies: readonly Route[] = [
  listRoute({
    on: 'GET /policies',
    summary: 'List update policies',
    description:
      'The one that the general settings make comes first, if their automatic updates are on; it is read-only.',
    params: () => z.object({ ...paging(50, 200) }),
    returns: () => listOf(policyEntry()),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    async list({ page, per_page }, ctx) {
      const { policies: items, total } = await listPolicies(ctx, page, per_page);
      return { items, total };
    },
  }),
  route({
    on: 'POST /policies',
    change: 'approvals',
    needs: 'write',
    body: 'required',
    fails: [404, 409],
    summary: 'Create a policy',
    description:
      'On its schedule it plans updates, and starts the rollout (auto) or requests approval (ask). Needs the right to write, too.',
    params: () => z.object(policyFields()),
    returns: () => writtenOf(policyRecord()),
    answer: async (input, ctx) => ({ message: 'The policy was created.', data: await addPolicy(ctx, input) }),
  }),
  route({
    on: 'POST /policies/preview',
    change: 'approvals',
    body: 'required',
    fails: [404],
    summary: 'Preview a policy before it is created or changed',
    description: 'Takes all fields of the policy. Stores nothing and contacts no site.',
    params: () => z.object(policyFields()),
    returns: () => recordOf(draftPreview()),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    answer: async ({ name: _name, enabled: _enabled, ...definition }, ctx) => ({
      data: await previewDefinition(ctx, definition),
    }),
  }),
  route({
    on: 'GET /policies/{policy_id}',
    where,
    summary: 'Read a policy',
    params: () => z.object(path()),
    returns: () => recordOf(policyRecord()),
    headers: () => ({ 'Cache-Control': 'no-store' }),
    answer: async ({ policy_id }, ctx) => ({ data: await getPolicy(ctx, policy_id) }),
  }),
  route({
    on: 'PUT|PATCH /policies/{policy_id}',
    change: 'approvals',
    needs: 'write',
    body: 'required',
    where,
    fails: [409],
    summary: 'Change a policy',
    description:
      'Only the fields sent change; waves, window and schedule as a whole. A new name alone leaves its waiting request. Needs the right to write, too.',
    params: () => z.object({ ...z.object(policyFields()).partial().shape, ...path() }),
    returns: () => writtenOf(policyRecord()),
    answer: async ({ policy_id, ...change }, ctx) => ({
      message: 'The policy was changed.',
      data: await changePolicy(ctx, policy_id, change),
    }),
  }),
  route({
    on: 'DELETE /policies/{policy_id}',
    change: 'approvals',
    needs: 'write',
    where,
    fails: [409],
    summary: 'Delete a policy',
    description: 'Rollouts that it started continue; its waiting request is withdrawn.',
    params: () => z.object(path()),
    returns: () => writtenOf(z.object({ policy_id: z.number().int(), name: z.string() })),
    answer: async ({ policy_id }, ctx) => ({
      message: 'The policy was deleted.',
      data: await deletePolicy(ctx, policy_id),
    }),
  }),
  route({
    on: 'GET /policies/{policy_id}/preview',
    live: true,
    where,
    summary: 'Preview a policy',
    description:
      'What it would do now, as a plan, and what it would have started in the last 30 days. Contacts no site.',
    params: () => z.object(path()),
    returns: () => recordOf(policyPreview()),
    answer: async ({ policy_id }, ctx) => ({ data: await previewPolicy(ctx, policy_id) }),
  }),
];
