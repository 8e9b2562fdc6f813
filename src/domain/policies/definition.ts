/** What policies are set to, as it is stored, and in words. */

import { policyFields } from '../../../schemas/policy.js';
import { z } from '../../../schemas/zod.js';
import { once } from '../../runtime/once.js';
import type { PolicyRow } from '../../store/policies/policies.js';
import type { PlanInput } from '../updates/rollouts/plan.js';

export type PolicyInput = z.output<z.ZodObject<ReturnType<typeof policyFields>>>;
export type Definition = Omit<PolicyInput, 'name' | 'enabled'>;

const stored = once(() => z.object(policyFields()).omit({ name: true, enabled: true }).strict());

/** Throws for one that cannot be read: it must not become a wider one. */
export function definitionOf({ definition }: Pick<PolicyRow, 'definition'>): Definition {
  return stored().parse(JSON.parse(definition));
}

/** The plan that it makes. */
export function planOf({ approval: _approval, schedule: _schedule, window, ...filters }: Definition): PlanInput {
  return { ...filters, window: window ?? undefined };
}

/** What it does when, for a person. */
export function definitionWords(definition: Definition): string {
  const { types, level, slugs, exclude_slugs, minimum_age_days: age, only_vulnerable, vulnerable_at_once } = definition;
  const { site_ids_or_domains: sites, tag_ids, client_ids, approval, schedule, window } = definition;
  const counted = (list: readonly unknown[], one: string) =>
    list.length === 0 ? [] : [`${list.length} ${one}${list.length === 1 ? '' : 's'}`];
  const where = [...counted(sites, 'site'), ...counted(tag_ids, 'tag'), ...counted(client_ids, 'client')];
  const what = [
    types.length === 0 ? 'All updates' : `Updates of ${types.join(', ')}`,
    level.length === 0 ? '' : ` (${level.join(', ')})`,
    only_vulnerable ? ' that fix known vulnerabilities' : '',
    slugs.length === 0 ? '' : `, only ${slugs.join(', ')}`,
    exclude_slugs.length === 0 ? '' : `, except ${exclude_slugs.join(', ')}`,
    age === 0 ? '' : `, ${age} ${age === 1 ? 'day' : 'days'} after they were first on offer`,
    age > 0 && vulnerable_at_once ? ' or at once if they fix a known vulnerability' : '',
  ].join('');
  const days = schedule.days.length === 0 ? 'daily' : schedule.days.join(', ');
  const when = window === null ? '' : ` Sites are changed from ${window.from} to ${window.to} of their own time only.`;
  const who = approval === 'auto' ? 'started at once' : 'started once a person has approved it';
  return `${what}, on ${where.length === 0 ? 'all sites' : `sites within ${where.join(' and ')}`}. Planned ${days} at ${schedule.at}, and ${who}.${when}`;
}
