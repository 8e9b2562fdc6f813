/** The approval rules: which changes happen at once, which a person has to approve, and which never happen. */

import {
  type Change,
  type ChangeKind,
  FEW_SITES,
  GRAVEST_FIRST,
  MODES,
  type Mode,
  PRESET_RULES,
  PRESETS,
  type Preset,
  type Rule,
  type Rules,
  rulesShape,
} from '../../../schemas/approval.js';
import { z } from '../../../schemas/zod.js';
import { isPerson } from '../../runtime/actor.js';
import { ServiceError } from '../../runtime/errors.js';
import { once } from '../../runtime/once.js';
import type { Ctx } from '../context.js';
import { requireApprover } from './approvers.js';

export interface RuleSet {
  /** Null: own rules. */
  preset: Preset | null;
  few_sites: number;
  rules: Rules;
  /** A request may also be answered in the assistant that asked, through its program. */
  in_assistants: boolean;
}

const KEY = 'approvals';
const common = () => ({ few_sites: z.number().int().positive(), in_assistants: z.boolean().default(false) });
const stored = once(() =>
  z.union([
    z.object({ preset: z.enum(PRESETS), ...common() }).strict(),
    z.object({ rules: rulesShape(), ...common() }).strict(),
  ]),
);

/** The rules in force. Without any, everything happens at once; those that cannot be read are the strictest. */
export async function approvalRules({ store }: Pick<Ctx, 'store'>): Promise<RuleSet> {
  const value = await store.settings.one(KEY);
  const unset = { few_sites: FEW_SITES, in_assistants: false };
  if (value === undefined) return ruleSet({ preset: 'open', ...unset });
  const parsed = stored().safeParse(value);
  return ruleSet(parsed.success ? parsed.data : { preset: 'strict', ...unset });
}

function ruleSet(value: z.output<ReturnType<typeof stored>>): RuleSet {
  return 'rules' in value ? { preset: null, ...value } : { ...value, rules: PRESET_RULES[value.preset] };
}

export interface RulesChange {
  preset?: Preset | undefined;
  /** Replaces the rules of these kinds. */
  rules?: { [K in ChangeKind]?: Rule | undefined } | undefined;
  few_sites?: number | undefined;
  /** Switched on by a person only: a key must not open this way for itself. */
  in_assistants?: boolean | undefined;
}

/** Throws `svc_rest_insufficient_permission`. */
export async function setApprovalRules(ctx: Ctx, change: RulesChange): Promise<RuleSet> {
  const { preset, rules, few_sites, in_assistants } = change;
  await requireApprover(ctx);
  if (in_assistants === true && !isPerson(ctx.actor)) throw onlyPeople();
  const before = await approvalRules(ctx);
  const few = few_sites ?? before.few_sites;
  const base = preset ?? before.preset;
  const own = { ...(base === null ? before.rules : PRESET_RULES[base]), ...rules } as Rules;
  const keeps = base !== null && Object.keys(rules ?? {}).length === 0;
  const common = { few_sites: few, in_assistants: in_assistants ?? before.in_assistants };
  const value = keeps ? { preset: base, ...common } : { rules: own, ...common };
  await ctx.store.settings.write([{ key: KEY, value }], ctx.clock.now());
  const fields = [
    ...(preset === undefined ? [] : [`preset ${preset}`]),
    ...Object.keys(rules ?? {}),
    ...(few_sites === undefined ? [] : ['few_sites']),
    ...(in_assistants === undefined ? [] : [`in_assistants ${in_assistants}`]),
  ];
  ctx.events.emit({ name: 'settings.changed', facts: { group: 'approvals', fields } });
  return approvalRules(ctx);
}

function onlyPeople(): ServiceError {
  return new ServiceError(
    'svc_rest_insufficient_permission',
    'Only a person can allow answers to requests in assistants.',
    {
      field: 'in_assistants',
      advice: 'A person with the right to approve can do this on the page, or in the shell with "sitefleet approvals".',
    },
  );
}

/** What a change covers, as far as the rules depend on it. */
export interface Extent {
  /** Null: unknown. */
  sites: number | null;
  all(): boolean | Promise<boolean>;
  unguarded(): boolean | Promise<boolean>;
}

const stricter = (a: Mode, b: Mode): Mode => (MODES.indexOf(a) >= MODES.indexOf(b) ? a : b);

/** What a rule says, and why it applies, in words; '' = it applies to every change of the kind. */
export interface Judgement {
  mode: Mode;
  because: string;
}

/** The strictest mode that applies. What has to be looked up is, only where it could make a difference. */
export async function judgementOf(
  { rules, few_sites }: RuleSet,
  kind: ChangeKind,
  extent: Extent,
  via: string,
): Promise<Judgement> {
  const { few, many, all, all_by_assistant, unguarded } = rules[kind];
  const count = extent.sites;
  const isMany = count === null || count > few_sites;
  const size = count === null ? 'the number of sites is unknown' : `more than ${few_sites} sites`;
  let found: Judgement = isMany ? { mode: many, because: many === few ? '' : size } : { mode: few, because: '' };
  const whole = via === 'mcp' ? stricter(all, all_by_assistant) : all;
  if (stricter(found.mode, whole) !== found.mode && (await extent.all()))
    found = { mode: whole, because: 'every site' };
  if (stricter(found.mode, unguarded) !== found.mode && (await extent.unguarded()))
    found = { mode: unguarded, because: 'not every site has a guard' };
  return found;
}

/** The changes that a call makes. */
export function changesOf(change: ChangeKind | Change | ((input: never) => Change[]), input: unknown): Change[] {
  if (typeof change === 'function') return change(input as never);
  return [typeof change === 'string' ? { kind: change } : change];
}

/** Asked as a whole, a call is as strict as the strictest of its changes; of equally strict ones, the gravest comes first. */
export function strictestFirst<T extends { kind: ChangeKind; mode: Mode }>(changes: readonly T[]): T[] {
  return [...changes].sort(
    (a, b) =>
      MODES.indexOf(b.mode) - MODES.indexOf(a.mode) || GRAVEST_FIRST.indexOf(a.kind) - GRAVEST_FIRST.indexOf(b.kind),
  );
}
