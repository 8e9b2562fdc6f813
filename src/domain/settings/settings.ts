/** Reads and changes the settings (REST §6.10). Their effects on the service are in effects.ts. */

import { intervalLabel, timeoutLabel } from '../../../schemas/monitoring.js';
import { BACKUP_TITLES, type Fields } from '../../../schemas/settings.js';
import { ServiceError } from '../../runtime/errors.js';
import { isObject } from '../../runtime/plain-json.js';
import { isZone } from '../../runtime/time-zones.js';
import type { SettingWrite } from '../../store/settings/settings.js';
import { userOfCaller } from '../access/user-of-caller.js';
import type { Ctx } from '../context.js';
import { applyConnectionSettings, GROUPS, type Group, type GroupValues, groupValues } from './effects.js';
import { requireModule } from './modules.js';

/** Values of a group as returned, with the reasons why some have no effect here. */
export interface GroupView {
  values: Record<string, unknown>;
  /** By field: why its value has no effect in this service. */
  notes: Record<string, string>;
}

export async function readSettings(ctx: Ctx, group: Group): Promise<GroupView> {
  if (group === 'cost-tracker') requireModule(ctx, 'cost-tracker');
  const values = await groupValues(ctx, group, await ownerOf(ctx));
  const notes = Object.entries(GROUPS[group] as Fields).flatMap(([name, { idle }]) =>
    idle === undefined ? [] : [[name, idle]],
  );
  return { values: shown(group, values), notes: Object.fromEntries(notes) };
}

/** Adds derived values to the stored ones. */
function shown(group: Group, values: Record<string, unknown>): Record<string, unknown> {
  if (group === 'general') {
    const value = values.svc_primary_backup;
    return { ...values, svc_primary_backup: { value, title: BACKUP_TITLES[value as keyof typeof BACKUP_TITLES] } };
  }
  if (group !== 'monitoring') return values;
  const { svc_uptime_monitoring_interval: minutes, svc_uptime_monitoring_timeout: seconds } =
    values as GroupValues<'monitoring'>;
  return {
    ...values,
    svc_uptime_monitoring_interval_label: intervalLabel(minutes),
    svc_uptime_monitoring_timeout_label: timeoutLabel(seconds),
  };
}

/** Fields of a group to change, as the group's schema has parsed them. */
export type SettingsChange<G extends Group> = {
  readonly [K in keyof GroupValues<G>]?: GroupValues<G>[K] | null | undefined;
};

/** Changes the given fields as `changeGroup` does. The general ones make a policy: policies/of-settings.ts changes them. */
export function editSettings<G extends Exclude<Group, 'general'>>(ctx: Ctx, group: G, change: SettingsChange<G>) {
  return changeGroup(ctx, group, change, (writes) => ctx.store.settings.write(writes, ctx.clock.now()));
}

/** What a change has stored, and the values of the group before and after it. */
export type StoreChange<G extends Group> = (
  writes: readonly SettingWrite[],
  change: { names: readonly string[]; before: GroupValues<G>; after: GroupValues<G> },
) => Promise<void>;

/**
 * Changes the given fields, which the group's schema has parsed: an absent field stays unchanged, null restores the
 * default. Nothing is stored if one of them conflicts with the others. Returns the group afterwards.
 */
export async function changeGroup<G extends Group>(
  ctx: Ctx,
  group: G,
  change: SettingsChange<G>,
  store: StoreChange<G>,
): Promise<GroupView> {
  if (group === 'cost-tracker') requireModule(ctx, 'cost-tracker');
  const owner = await ownerOf(ctx);
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const before = await groupValues(ctx, group, owner);
  const fields = GROUPS[group] as Fields;
  const after = { ...before } as Record<string, unknown>;
  const writes: SettingWrite[] = given.map(([name, value]) => {
    const { personal, standard } = fields[name] as Fields[string];
    const key = `${group}.${name}${personal === true ? `@${owner}` : ''}`;
    after[name] = value === null ? standard(ctx.config) : merged(before[name as keyof typeof before], value);
    return { key, value: value === null ? undefined : after[name] };
  });
  CHECKS[group]?.(after, new Set(given.map(([name]) => name)), before);
  const names = given.map(([name]) => name);
  await store(writes, { names, before, after: after as GroupValues<G> });
  if (group === 'advanced') await applyConnectionSettings(ctx);
  const changed = names.map((name) => {
    const values = [before[name as keyof typeof before], after[name]] as const;
    return [fields[name]?.personal === true ? `${name}@${owner}` : name, values] as const;
  });
  ctx.events.emit({
    name: 'settings.changed',
    facts: { group, fields: names },
    changed: Object.fromEntries(changed),
  });
  return readSettings(ctx, group);
}

/** Maps of switches change member by member. */
function merged(before: unknown, value: unknown): unknown {
  return isObject(before) && isObject(value) ? { ...before, ...value } : value;
}

/** Whose personal settings a caller sees: those of the user, including through a key of the user. */
export async function ownerOf(ctx: Ctx): Promise<string> {
  const user = await userOfCaller(ctx);
  if (user !== null) return `user:${user}`;
  const { type, id } = ctx.actor;
  return type === 'key' && id !== null ? `key:${id}` : 'local';
}

/** An invalid field with its own inner code (REST §6.10). `reason` follows the name: "must …". */
export function wrongField(name: string, code: string, reason: string, advice: string): ServiceError {
  return new ServiceError('rest_invalid_param', `Invalid parameter(s): ${name}`, {
    field: name,
    advice,
    data: { params: { [name]: reason }, details: { [name]: { code, message: reason } } },
  });
}

const BACKUP_FIELDS = ['svc_primary_backup', 'svc_enable_legacy_backup_feature'] as const;

type Check = (after: Record<string, unknown>, given: ReadonlySet<string>, before: Record<string, unknown>) => void;

const CHECKS: Partial<Record<Group, Check>> = {
  general(after, given, before) {
    if (given.has('timezone_string') && !isZone(String(after.timezone_string))) {
      throw wrongField(
        'timezone_string',
        'invalid_timezone',
        'must be the name of a time zone, or UTC+H with optional :15, :30 or :45',
        'Send a name of the IANA database such as Europe/Berlin, or an offset such as UTC+5:30.',
      );
    }
    // The standards contradict each other, and what a fresh server shows can be sent back as it is.
    if (BACKUP_FIELDS.every((name) => after[name] === before[name])) return;
    const native = after.svc_primary_backup === '';
    if ((after.svc_enable_legacy_backup_feature === 1) !== native) {
      throw new ServiceError(
        'invalid_backup_config',
        'svc_enable_legacy_backup_feature must be 1 with native backups and 0 with module-api-backups.',
        { field: 'svc_enable_legacy_backup_feature', advice: 'Send both fields together.' },
      );
    }
  },
  monitoring(after) {
    if (after.svc_uptime_monitoring_type === 'keyword' && after.svc_uptime_monitoring_keyword === '') {
      throw wrongField(
        'svc_uptime_monitoring_keyword',
        'missing_keyword',
        'must be set for the type keyword',
        'Send svc_uptime_monitoring_keyword as well, or another type.',
      );
    }
  },
  'cost-tracker'(after, given) {
    if (given.has('currency') && !CURRENCIES.has(String(after.currency))) {
      throw wrongField(
        'currency',
        'invalid_currency',
        'must be an ISO 4217 code',
        'Send a code of three capital letters such as USD.',
      );
    }
    if (after.thousand_separator === after.decimal_separator) {
      const name = given.has('decimal_separator') ? 'decimal_separator' : 'thousand_separator';
      throw wrongField(
        name,
        'invalid_separator',
        'must differ from the other separator',
        'Send both separators together to swap them.',
      );
    }
  },
};

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
