/** Changes the monitors of named sites: their own settings, and a pause while somebody works on them. */

import { asServiceError, ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { SiteRow } from '../../store/sites/sites.js';
import { isSame } from '../action-log/fields.js';
import { chooseSites } from '../actions/run-on-sites.js';
import type { Ctx } from '../context.js';
import type { SiteRef } from '../sites/resolve.js';
import { changedMonitor, type MonitorChange, maintain, saveMonitor } from './edit.js';
import { SETTING_NAMES } from './settings.js';

interface MonitorsInput extends MonitorChange {
  site_ids_or_domains: readonly SiteRef[];
  /** Settings that follow the global ones from now on. */
  follow: readonly (keyof MonitorChange)[];
  /** From now; 0 ends it. */
  maintenance_minutes?: number | undefined;
  dry_run: boolean;
}

/** Maximum number of sites and errors listed. */
const MOST_SITES = 50;
const MOST_ERRORS = 20;
const MINUTE_MS = 60_000;

/** A site that fails is an error of the answer. Throws `svc_invalid_input`, and if no site is usable `svc_site_not_found`. */
export async function updateMonitors(ctx: Ctx, input: MonitorsInput) {
  const { site_ids_or_domains: refs, follow, maintenance_minutes: minutes, dry_run, ...settings } = input;
  const change: MonitorChange = { ...settings, ...Object.fromEntries(follow.map((name) => [name, null])) };
  const twice = follow.find((name) => settings[name] !== undefined);
  if (twice !== undefined) throw invalid(twice, `${twice} is set and also in follow`, 'Name it once.');
  const names = Object.entries(change).filter(([, value]) => value !== undefined);
  if (names.length === 0 && minutes === undefined)
    throw invalid('interval', 'Nothing is to be changed', 'Send a setting, follow or maintenance_minutes.');
  const selection = await chooseSites(ctx, refs, { failWhenNothingResolves: true });
  const changed: { site_id: number; url: string; changes: string[] }[] = [];
  const errors = [...selection.errors];
  for (const site of selection.sites) {
    try {
      const changes = await changeOne(ctx, site, change, { minutes, dry_run });
      if (changes.length > 0) changed.push({ site_id: site.id, url: site.url, changes });
    } catch (error) {
      const { code, message } = asServiceError(error);
      if (code === 'svc_internal_error') throw error;
      errors.push({ identifier: selection.identifiers.get(site.id) ?? site.id, site_id: site.id, code, message });
    }
  }
  return {
    ...(dry_run ? { dry_run } : {}),
    changed: changed.slice(0, MOST_SITES),
    total_changed: changed.length,
    total_unchanged: selection.sites.length - changed.length - (errors.length - selection.errors.length),
    errors: errors.slice(0, MOST_ERRORS),
    total_errors: errors.length,
  };
}

/** What changes on a site, in words; empty = it is so already. */
async function changeOne(
  ctx: Ctx,
  { id }: SiteRow,
  change: MonitorChange,
  { minutes, dry_run }: { minutes: number | undefined; dry_run: boolean },
): Promise<string[]> {
  const changed = await changedMonitor(ctx, id, change);
  const { before, after, own } = changed;
  // One that is set to what the global settings are holds from now on, whatever becomes of those.
  const changes = SETTING_NAMES.flatMap((name) => {
    const inherits = (value: unknown) => (value === null ? ' (global)' : '');
    if (isSame(own.before[name], own.after[name])) return [];
    const [from, to] = [JSON.stringify(before[name]), JSON.stringify(after[name])];
    return [`${name} ${from}${inherits(own.before[name])} to ${to}${inherits(own.after[name])}`];
  });
  if (changes.length > 0 && !dry_run) await saveMonitor(ctx, id, changed);
  if (minutes === undefined) return changes;
  if (!dry_run) await maintain(ctx, id, minutes);
  const until = isoTime(ctx.clock.now() + minutes * MINUTE_MS);
  return [...changes, minutes === 0 ? 'maintenance ends' : `maintenance until ${until}`];
}

function invalid(field: string, what: string, advice: string): ServiceError {
  return new ServiceError('svc_invalid_input', `${field}: ${what}. Nothing changed.`, { field, advice });
}
