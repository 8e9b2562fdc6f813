/** The automatic updates of the settings, as a policy that anyone can read. They are kept, and nothing acts on them. */

import { GENERAL } from '../../../schemas/settings.js';
import type { Ctx } from '../context.js';
import { WEEKDAYS } from '../monitoring/windows.js';
import { groupValues } from '../settings/effects.js';

const KINDS = {
  automatic_daily_update: 'WordPress',
  plugin_automatic_daily_update: 'trusted plugins',
  theme_automatic_daily_update: 'trusted themes',
  trans_automatic_daily_update: 'translations',
} as const;

export async function ofSettings(ctx: Ctx) {
  const values = await groupValues(ctx, 'general');
  const on = (Object.keys(KINDS) as (keyof typeof KINDS)[]).filter((name) => values[name] === 1);
  const { frequency_auto_update: often, dayinweek_auto_update: weekday, dayinmonth_auto_update: day } = values;
  const days = { daily: '', weekly: ` on ${WEEKDAYS[weekday] ?? ''}`, monthly: ` on day ${day}` }[often];
  const asked =
    on.length === 0
      ? 'Off.'
      : `${on.map((name) => KINDS[name]).join(', ')}: ${often}${days} at ${values.time_auto_update}, ${plural(values.delay_autoupdate)} after they are on offer.`;
  return {
    ...{ policy_id: null, name: 'Automatic updates of the settings', enabled: on.length > 0, acts: false },
    summary: `${asked} ${GENERAL.automatic_daily_update.idle}`,
    next_at: null,
    last: null,
  };
}

const plural = (days: number) => (days === 1 ? '1 day' : `${days} days`);
