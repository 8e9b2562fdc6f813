/** `sitefleet policies`: what is updated at set times, read and set in the shell of the machine. */

import { policyFields } from '../../schemas/policy.js';
import { z } from '../../schemas/zod.js';
import { addPolicy, changePolicy, deletePolicy, getPolicy, listPolicies } from '../domain/policies/policies.js';
import { previewDefinition, previewPolicy } from '../domain/policies/preview.js';
import { parseInput } from '../operation/operation.js';
import type { Config } from '../runtime/config/types.js';
import { readInput } from './call.js';
import { withLocalService } from './local-service.js';
import { type JsonFlag, print, printJson, printTable, say } from './output.js';

const LISTED = 200;
const EXAMPLE = `sitefleet policies set '{"name": "Nightly", "schedule": {"at": "03:00"}}'`;

export async function list(config: Config, { json }: JsonFlag): Promise<void> {
  const { policies, total } = await withLocalService(config, (ctx) => listPolicies(ctx, 1, LISTED));
  if (json === true) return printJson(policies);
  printTable(
    ['Id', 'Name', 'State', 'Next', 'Last', 'What'],
    policies.map(({ policy_id, name, enabled, acts, next_at, last, summary }) => [
      policy_id,
      name,
      acts ? 'on' : enabled ? 'on, but the schedule is not running' : 'off',
      next_at ?? '',
      last === null ? '' : `${last.at} ${last.state}`,
      summary,
    ]),
  );
  if (total > policies.length) say(`${total - policies.length} more.`);
}

export async function show(config: Config, id: number): Promise<void> {
  printJson(await withLocalService(config, (ctx) => getPolicy(ctx, id)));
}

/** @param which the id of a policy, or as JSON what one would be set to */
export async function preview(config: Config, which: string, { json }: JsonFlag): Promise<void> {
  const of = /^\d+$/.test(which) ? Number(which) : await readInput(which, EXAMPLE);
  const told = await withLocalService(config, (ctx) => {
    if (typeof of === 'number') return previewPolicy(ctx, of);
    const { name: _name, enabled: _enabled, ...definition } = parseInput(z.object(policyFields()).strict(), of);
    return previewDefinition(ctx, definition);
  });
  if (json === true) return printJson(told);
  const { summary, now, past } = told;
  print(`${summary}\n\nNow: ${now.summary}\n\n${past.summary}`);
  if (past.versions.length > 0)
    printTable(
      ['Version', 'First on offer', 'Would have started', 'Had it before', 'Got it later', 'Still offered'],
      past.versions.map((one) => [
        `${one.type} ${one.slug} ${one.version}`,
        one.first_offered_at,
        one.would_have_begun_at,
        one.updated_before,
        one.updated_after,
        one.still_offered,
      ]),
    );
  for (const line of past.not_known) say(`Not known: ${line}`);
}

/** Creates a policy, or changes the given members of one. */
export async function set(config: Config, input: string, { id, json }: JsonFlag & { id?: number }): Promise<void> {
  const given = await readInput(input, EXAMPLE);
  const fields = z.object(policyFields());
  const policy = await withLocalService(config, (ctx) =>
    id === undefined
      ? addPolicy(ctx, parseInput(fields.strict(), given))
      : changePolicy(ctx, id, parseInput(fields.partial().strict(), given)),
  );
  if (json === true) printJson(policy);
  else say(`Policy ${policy.policy_id}, ${policy.enabled ? 'on' : 'off'}: ${policy.summary}`);
}

export async function turn(config: Config, id: number, enabled: boolean, { json }: JsonFlag): Promise<void> {
  const policy = await withLocalService(config, (ctx) => changePolicy(ctx, id, { enabled }));
  if (json === true) printJson(policy);
  else say(`${policy.name} is ${policy.enabled ? 'on' : 'off'}.`);
}

export async function remove(config: Config, id: number, { json }: JsonFlag): Promise<void> {
  const policy = await withLocalService(config, (ctx) => deletePolicy(ctx, id));
  if (json === true) printJson(policy);
  else say(`The policy ${policy.name} was deleted.`);
}
