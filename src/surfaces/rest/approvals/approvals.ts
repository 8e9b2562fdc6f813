/** Routes for changes that wait for a person, and for the rules on which do (REST §7). A GET never approves. */

import { approvalShape, PRESETS, rulesShape, STATES } from '../../../../schemas/approval.js';
import { z } from '../../../../schemas/zod.js';
import {
  decideApproval,
  getApproval,
  listDetailedApprovals,
  withdrawApproval,
} from '../../../domain/approvals/approvals.js';
import { approvalRules, setApprovalRules } from '../../../domain/approvals/rules.js';
import { once } from '../../../runtime/once.js';
import { csv, flag, int, paging, text } from '../params.js';
import { listRoute, type Route, route } from '../route.js';
import { listOf, recordOf, writtenOf } from '../schemas/records.js';

const where = { approval_id: /^apr_[0-9a-f]{24}$/ };
const path = once(() => ({ approval_id: z.string() }));

const requestShape = once(() =>
  approvalShape().extend({
    via: z.string().describe('The way in by which it was asked for.'),
    client: z.string().describe('The program that asked, as it names itself.'),
    own: z.boolean().describe('The caller asked for it and so cannot decide it.'),
    input: z.unknown().describe('What was asked for, without secrets.'),
    plan: z.unknown().describe('What it would do: the preview, or the sites it names.'),
  }),
);

const IN_ASSISTANTS =
  'true: a request may also be answered in the assistant that asked, if its program can put questions to a person.';

const ruleSetShape = once(() =>
  z.object({
    preset: z.enum(PRESETS).nullable().describe('null = own rules.'),
    few_sites: z.number().int().describe('Largest number of sites that counts as few.'),
    in_assistants: z.boolean().describe(IN_ASSISTANTS),
    rules: rulesShape(),
  }),
);

function decision(name: 'approve' | 'refuse', summary: string, description: string): Route {
  const state = name === 'approve' ? 'approved' : 'refused';
  return route({
    on: `POST /approvals/{approval_id}/${name}`,
    change: 'approvals',
    where,
    fails: [404, 409],
    summary,
    description,
    params: () => z.object({ ...path(), note: text(500).default('').describe('Shown to the one who asked.') }),
    returns: () => writtenOf(requestShape()),
    answer: async ({ approval_id, note }, ctx) => ({
      message: `The change was ${state}.`,
      data: await decideApproval(ctx, approval_id, state, note),
    }),
  });
}

/** Not in the routes document. */
export const approvals: readonly Route[] = [
  listRoute({
    on: 'GET /approvals',
    summary: 'List changes that wait for approval, newest first',
    description: 'Those who may approve see all; others see those they asked for.',
    params: () => z.object({ state: csv(z.enum(STATES)).default([]).describe('Default: all.'), ...paging(50, 200) }),
    returns: () => listOf(requestShape()),
    list: ({ state, page, per_page }, ctx) => listDetailedApprovals(ctx, state, page, per_page),
  }),
  route({
    on: 'GET /approvals/{approval_id}',
    where,
    summary: 'Read one request for approval',
    params: () => z.object(path()),
    returns: () => recordOf(requestShape()),
    answer: async ({ approval_id }, ctx) => ({ data: await getApproval(ctx, approval_id) }),
  }),
  decision(
    'approve',
    'Approve a change',
    'The change is made once, when the same caller repeats the call within a day and its plan is still the same; the plan of a policy starts at once. Only a person who is logged in on the page, or a key that no assistant has used, can approve, with the right to do so. Nobody can approve what they asked for.',
  ),
  decision('refuse', 'Refuse a change', 'Its call is refused until the request expires.'),
  route({
    on: 'POST /approvals/{approval_id}/withdraw',
    change: () => [],
    where,
    fails: [404, 409],
    summary: 'Withdraw a request',
    description: 'Only by the caller that made it, while it is waiting.',
    params: () => z.object(path()),
    returns: () => writtenOf(requestShape()),
    answer: async ({ approval_id }, ctx) => ({
      message: 'The request was withdrawn.',
      data: await withdrawApproval(ctx, approval_id),
    }),
  }),
  route({
    on: 'GET /approvals/rules',
    summary: 'Read which changes wait for approval',
    params: () => z.object({}),
    returns: () => recordOf(ruleSetShape()),
    answer: async (_params, ctx) => ({ data: await approvalRules(ctx) }),
  }),
  route({
    on: 'PUT|PATCH /approvals/rules',
    change: 'approvals',
    body: 'required',
    summary: 'Set which changes wait for approval',
    description:
      'preset: open = none, careful = far-reaching ones, strict = all. rules replaces those of the kinds it names. The strictest rule that applies counts.',
    params: () =>
      z.object({
        preset: z.enum(PRESETS).optional(),
        rules: rulesShape().partial().optional().describe('By kind of change.'),
        few_sites: int(1, 10_000).optional().describe('Largest number of sites that counts as few.'),
        in_assistants: flag()
          .optional()
          .describe(`${IN_ASSISTANTS} Only a person can set this; nobody can check who answered.`),
      }),
    returns: () => writtenOf(ruleSetShape()),
    answer: async (change, ctx) => ({ message: 'The rules were changed.', data: await setApprovalRules(ctx, change) }),
  }),
];
