/** The definition of a policy (its filters, waves, window and schedule): how it is stored, and a sentence that describes it. */

import { policyDefinition, type policyFields } from '../../../schemas/policy.js';
import type { z } from '../../../schemas/zod.js';
import type { PolicyRow } from '../../store/policies/policies.js';
import { counted, listed } from '../common/question.js';
import type { Ctx } from '../context.js';
import type { PlanInput } from '../updates/rollouts/plan.js';

export type PolicyInput = z.output<z.ZodObject<ReturnType<typeof policyFields>>>;
export type Definition = z.output<ReturnType<typeof policyDefinition>>;

/** By whom a policy asks for approval. */
export const askerOf = (id: number) => `policy:${id}`;

/** Throws for one that cannot be read: it must not become a wider one. */
export function definitionOf({ definition }: Pick<PolicyRow, 'definition'>): Definition {
  return policyDefinition().parse(JSON.parse(definition));
}

/** The plan that it makes. */
export function planOf({ approval: _approval, schedule: _schedule, window, ...filters }: Definition): PlanInput {
  return { ...filters, window: window ?? undefined };
}

/** Names by id; what is missing was deleted. */
type OwnerNames = Record<'tags' | 'clients', ReadonlyMap<number, string>>;

/** Of the tags and clients of policies. */
export function ownerNames({ store }: Pick<Ctx, 'store'>, definitions: readonly Definition[]): Promise<OwnerNames> {
  const ids = (of: (one: Definition) => readonly number[]) => [...new Set(definitions.flatMap(of))];
  return store.policies.owners(
    ids((one) => [...one.tag_ids, ...one.exclude_tag_ids]),
    ids((one) => [...one.client_ids, ...one.exclude_client_ids]),
  );
}

/** Owners that are named; the others are counted. */
const NAMED = 3;

/** `the tag "Shops" or the tag "Blogs"`. */
function ownersWords(ids: readonly number[], noun: 'tag' | 'client', names: ReadonlyMap<number, string>): string {
  const named = ids.slice(0, NAMED).map((id) => JSON.stringify(names.get(id) ?? `${noun} ${id}, which was deleted`));
  const more = ids.length > NAMED ? [`${ids.length - NAMED} more`] : [];
  return `the ${noun} ${[...named, ...more].join(' or ')}`;
}

function sitesWords(definition: Definition, names: OwnerNames): string {
  const { site_ids_or_domains: sites, tag_ids, client_ids, trusted } = definition;
  if (trusted !== undefined) return 'sites whose automatic_update is on';
  if (sites.length + tag_ids.length + client_ids.length === 0) return 'all sites';
  return [
    sites.length === 0 ? 'sites' : sites.length === 1 ? '1 site' : `${sites.length} sites`,
    ...(tag_ids.length === 0 ? [] : [`with ${ownersWords(tag_ids, 'tag', names.tags)}`]),
    ...(client_ids.length === 0 ? [] : [`of ${ownersWords(client_ids, 'client', names.clients)}`]),
  ].join(' ');
}

/** ` except 2 sites, sites with the tag "Shops" and sites of the client "A"`. */
function exceptWords({ exclude_sites, exclude_tag_ids, exclude_client_ids }: Definition, names: OwnerNames): string {
  const parts = [
    ...(exclude_sites.length === 0 ? [] : [counted(exclude_sites.length, 'site')]),
    ...(exclude_tag_ids.length === 0 ? [] : [`sites with ${ownersWords(exclude_tag_ids, 'tag', names.tags)}`]),
    ...(exclude_client_ids.length === 0
      ? []
      : [`sites of ${ownersWords(exclude_client_ids, 'client', names.clients)}`]),
  ];
  return parts.length === 0 ? '' : ` except ${listed(parts)}`;
}

function typesWords({ types, trusted }: Definition): string {
  if (types.length === 0) return 'All updates';
  const words = types.map((type) => {
    if (type === 'core') return 'WordPress';
    if (trusted === undefined || type === 'translations') return type;
    const slugs = trusted[type];
    const more = slugs.length > NAMED ? [`${slugs.length - NAMED} more`] : [];
    return `trusted ${type} (${[...slugs.slice(0, NAMED), ...more].join(', ') || 'none are'})`;
  });
  return `Updates of ${words.join(', ')}`;
}

function daysWords({ days, day_of_month }: Definition['schedule']): string {
  if (day_of_month !== undefined) return `monthly on day ${day_of_month}`;
  return days.length === 0 ? 'daily' : days.map(capitalized).join(', ');
}

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

const CANARIES = {
  newest_backup: 'the sites with the newest backups',
  least_traffic: 'the sites with the fewest visits',
} as const;

/** What it does when, for a person. */
export function definitionWords(definition: Definition, names: OwnerNames): string {
  const { level, slugs, exclude_slugs, minimum_age_days: age, only_vulnerable, vulnerable_at_once } = definition;
  const { approval, schedule, window, waves } = definition;
  const what = [
    typesWords(definition),
    level.length === 0 ? '' : ` (${level.join(', ')})`,
    only_vulnerable ? ' that fix known vulnerabilities' : '',
    slugs.length === 0 ? '' : `, only ${slugs.join(', ')}`,
    exclude_slugs.length === 0 ? '' : `, except ${exclude_slugs.join(', ')}`,
    age === 0 ? '' : `, ${age} ${age === 1 ? 'day' : 'days'} after they were first offered`,
    age > 0 && vulnerable_at_once ? ' or at once if they fix a known vulnerability' : '',
  ].join('');
  const first = waves.canary_choice === undefined ? '' : ` First on ${CANARIES[waves.canary_choice]}.`;
  const when = window === null ? '' : ` Sites are changed from ${window.from} to ${window.to} in their own time only.`;
  const who = approval === 'auto' ? 'started at once' : 'started once a person has approved it';
  const where = `${sitesWords(definition, names)}${exceptWords(definition, names)}`;
  return `${what}, on ${where}. Planned ${daysWords(schedule)} at ${schedule.at}, and ${who}.${first}${when}`;
}
