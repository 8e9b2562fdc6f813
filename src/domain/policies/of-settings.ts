/**
 * The policy that the general settings make while one of their switches is on. It is stored in the transaction that changes
 * them, and nothing else changes it.
 */

import { isDeepStrictEqual } from 'node:util';
import { fold } from '../../../schemas/fold.js';
import { policyDefinition } from '../../../schemas/policy.js';
import { WEEKDAYS } from '../../../schemas/rollout.js';
import type { PolicyRow, PolicyWrite } from '../../store/policies/policies.js';
import type { SettingWrite } from '../../store/settings/settings.js';
import { isApprover } from '../approvals/approvers.js';
import type { Ctx } from '../context.js';
import { type Group, type GroupValues, groupValues } from '../settings/effects.js';
import {
  changeGroup,
  editSettings,
  type GroupView,
  type SettingsChange,
  type StoreChange,
} from '../settings/settings.js';
import { chosenSites } from './agreed.js';
import { askerOf, type Definition, definitionOf } from './definition.js';

export const SETTINGS_POLICY = 'Automatic updates of the settings';

const SWITCHES = {
  plugin_automatic_daily_update: 'plugins',
  theme_automatic_daily_update: 'themes',
  trans_automatic_daily_update: 'translations',
  automatic_daily_update: 'core',
} as const;

const FIELDS = [
  ...(Object.keys(SWITCHES) as (keyof typeof SWITCHES)[]),
  'trusted_plugins',
  'trusted_themes',
  'frequency_auto_update',
  'time_auto_update',
  'dayinweek_auto_update',
  'dayinmonth_auto_update',
  'delay_autoupdate',
] as const satisfies (keyof GroupValues<'general'>)[];

type Values = Pick<GroupValues<'general'>, (typeof FIELDS)[number]>;
type Approval = Definition['approval'];

/** Null: all switches are off. */
function definitionFrom(values: Values, approval: Approval): Definition | null {
  const switches = Object.entries(SWITCHES) as [keyof typeof SWITCHES, (typeof SWITCHES)[keyof typeof SWITCHES]][];
  const types = switches.filter(([name]) => values[name] === 1).map(([, type]) => type);
  if (types.length === 0) return null;
  const { frequency_auto_update: often, time_auto_update, dayinweek_auto_update, dayinmonth_auto_update } = values;
  return policyDefinition().parse({
    ...{ types, approval, minimum_age_days: values.delay_autoupdate },
    trusted: { plugins: values.trusted_plugins, themes: values.trusted_themes },
    schedule: {
      at: time_auto_update.padStart(5, '0'),
      ...(often === 'weekly' ? { days: [WEEKDAYS[dayinweek_auto_update]] } : {}),
      ...(often === 'monthly' ? { day_of_month: dayinmonth_auto_update } : {}),
    },
  });
}

async function writeOf(ctx: Ctx, definition: Definition | null): Promise<PolicyWrite | null> {
  if (definition === null) return null;
  const agreed_sites = JSON.stringify(definition.approval === 'auto' ? await chosenSites(ctx, definition) : []);
  const by = { changed_by: ctx.actor.name, changed_at: ctx.clock.now() };
  const name = { name: SETTINGS_POLICY, name_key: fold(SETTINGS_POLICY) };
  return { ...name, ...by, enabled: 1, definition: JSON.stringify(definition), agreed_sites };
}

/** Changes settings of any group: the general ones with the policy that they make. Throws as `changeGroup`. */
export function changeSettings<G extends Group>(ctx: Ctx, group: G, change: SettingsChange<G>): Promise<GroupView> {
  if (group !== 'general') return editSettings(ctx, group, change as SettingsChange<Exclude<Group, 'general'>>);
  const store: StoreChange<'general'> = (writes, values) => storeGeneral(ctx, writes, values);
  return changeGroup(ctx, 'general', change as SettingsChange<'general'>, store);
}

/**
 * The policy starts its plans automatically if a person who may approve sets it, as other policies do; set by others, each
 * plan waits for such a person.
 */
async function storeGeneral(
  ctx: Ctx,
  writes: readonly SettingWrite[],
  { names, before, after }: { names: readonly string[]; before: Values; after: Values },
): Promise<void> {
  const { settings, policies } = ctx.store;
  const statement = async (definition: Definition | null) => policies.settingsStatement(await writeOf(ctx, definition));
  if (!FIELDS.some((name) => names.includes(name))) return settings.write(writes, ctx.clock.now());
  const held = await policies.ofSettings();
  const approval: Approval = (await isApprover(ctx)) ? 'auto' : 'ask';
  const same = isDeepStrictEqual(definitionFrom(before, 'ask'), definitionFrom(after, 'ask'));
  // What changes nothing takes no approval away.
  const change = same && approval === 'ask' ? [] : [await statement(definitionFrom(after, approval))];
  await settings.write(writes, ctx.clock.now(), change);
  const stored = await agreed(ctx);
  if (held !== undefined && held.definition !== stored?.definition)
    await ctx.store.approvals.withdraw(askerOf(held.id));
}

/** Far more than changes overlap. */
const MOST_TURNS = 20;

/**
 * The policy as it is stored, once it is what the settings say. Of changes that overlap, the one that stores last looks once more
 * after that, and sees all. No single caller chose the result, so its plans need approval.
 */
async function agreed(ctx: Ctx): Promise<PolicyRow | undefined> {
  const { settings, policies } = ctx.store;
  let stored = await policies.ofSettings();
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    const wanted = definitionFrom(await groupValues(ctx, 'general'), 'ask');
    const made = stored === undefined ? null : { ...definitionOf(stored), approval: 'ask' };
    if (isDeepStrictEqual(made, wanted)) break;
    await settings.write([], ctx.clock.now(), [policies.settingsStatement(await writeOf(ctx, wanted))]);
    stored = await policies.ofSettings();
  }
  return stored;
}
