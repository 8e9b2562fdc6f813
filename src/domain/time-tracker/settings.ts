/** Settings of the time tracker; those of a client override the global ones (REST §6.9.1). */

import { ServiceError } from '../../runtime/errors.js';
import { setFields } from '../../runtime/set-fields.js';
import type { TimeSettings, TimeSettingsChange } from '../../store/time-tracker/settings.js';
import type { Ctx } from '../context.js';
import { withStorageError } from '../storage-messages.js';

export interface TimeSettingsView extends Omit<TimeSettings, 'hourly_price'> {
  hourly_price: number;
  source: 'global' | 'client';
}

/** The effective settings, globally (`null`) or for a client. */
export async function timeSettings(ctx: Ctx, clientId: number | null): Promise<TimeSettingsView> {
  const { settings, own } = await ctx.store.timeSettings.effective(clientId);
  return { ...settings, hourly_price: Number(settings.hourly_price), source: own ? 'client' : 'global' };
}

/** Only the given settings change; null clears. Throws `rest_invalid_param` when the two separators would be the same. */
export async function changeTimeSettings(
  ctx: Ctx,
  clientId: number | null,
  change: TimeSettingsChange,
): Promise<TimeSettingsView> {
  const [{ settings }, behind] = await Promise.all([
    ctx.store.timeSettings.effective(clientId),
    ctx.store.timeSettings.behind(clientId),
  ]);
  // A cleared value is checked by the value that takes its place.
  const after = (name: 'thousand_separator' | 'decimal_separator') =>
    change[name] === undefined ? settings[name] : (change[name] ?? behind[name]);
  if (after('thousand_separator') === after('decimal_separator')) {
    const field = change.decimal_separator === undefined ? 'thousand_separator' : 'decimal_separator';
    throw new ServiceError('rest_invalid_param', `${field}: the two separators must differ. Nothing changed.`, {
      field,
      advice: 'Send two different characters.',
      data: { params: { [field]: 'must differ from the other separator' } },
    });
  }
  await withStorageError('svc_operation_failed', 'The settings were not changed.', () =>
    ctx.store.timeSettings.change(clientId, change),
  );
  const fields = setFields(change);
  const group = clientId === null ? 'time-tracker' : `time-tracker of client ${clientId}`;
  ctx.events.emit({ name: 'settings.changed', facts: { group, fields } });
  return timeSettings(ctx, clientId);
}
