/** Settings of the performance audits, and the engine they select (REST §6.7). */

import type { auditSettings as settingFields } from '../../../schemas/audit.js';
import type { z } from '../../../schemas/zod.js';
import type { AuditEngine } from '../../outbound/audit/audit.js';
import { ServiceError } from '../../runtime/errors.js';
import type { Ctx } from '../context.js';
import { masked } from '../settings/backups.js';

const KEY = 'perf-audit';
const SECRET = 'perf-audit-secret';

type Fields = z.output<z.ZodObject<ReturnType<typeof settingFields>>>;
export type AuditSettingsChange = { [K in keyof Fields]?: Fields[K] | undefined };
export type AuditSettings = { [K in Exclude<keyof Fields, 'api_key'>]: NonNullable<Fields[K]> };

const STANDARD: AuditSettings = { engine: 'auto', language: 'en', strategy: 'both', schedule: 'none', threshold: 0 };

export async function auditSettings(ctx: Pick<Ctx, 'store'>): Promise<AuditSettings> {
  const stored = (await ctx.store.settings.one(KEY)) as Partial<AuditSettings> | undefined;
  return { ...STANDARD, ...stored };
}

/** As shown to callers: the key masked, and whether an audit could run now. */
export async function auditSettingsView(ctx: Ctx) {
  const [settings, key, missing] = await Promise.all([auditSettings(ctx), pagespeedKey(ctx), ctx.auditor.missing()]);
  return {
    ...settings,
    api_key: key === null ? '' : masked(key),
    engine_in_use: engineOf(settings, key, missing),
    lighthouse: missing === null ? 'available' : missing,
  };
}

/** Only the given settings change, null restores the default; a masked key that is sent back is ignored. */
export async function changeAuditSettings(ctx: Ctx, change: AuditSettingsChange): Promise<void> {
  const { api_key, ...rest } = change;
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  const before = ((await ctx.store.settings.one(KEY)) ?? {}) as Record<string, unknown>;
  const next = Object.fromEntries(
    Object.entries({ ...before, ...Object.fromEntries(given) }).filter(([, value]) => value !== null),
  );
  const keyed = api_key !== undefined && api_key?.startsWith('****') !== true;
  const cleared = api_key === null || api_key === '';
  await ctx.store.settings.write(
    [
      { key: KEY, value: next },
      ...(keyed ? [{ key: SECRET, value: cleared ? undefined : api_key, secret: true }] : []),
    ],
    ctx.clock.now(),
  );
  ctx.events.emit({
    name: 'settings.changed',
    facts: { group: KEY, fields: [...given.map(([name]) => name), ...(keyed ? ['api_key'] : [])] },
  });
}

async function pagespeedKey(ctx: Pick<Ctx, 'store'>): Promise<string | null> {
  const key = await ctx.store.settings.secret(SECRET);
  return typeof key === 'string' && key !== '' ? key : null;
}

/** The engine that audits would use; null if none can run. */
function engineOf(settings: AuditSettings, key: string | null, missing: string | null): AuditEngine | null {
  if (settings.engine !== 'lighthouse' && key !== null) return 'pagespeed';
  if (settings.engine !== 'pagespeed' && missing === null) return 'lighthouse';
  return null;
}

/** The engine to audit with. Throws `svc_perf_audit_not_configured` 409, which says what to install or set. */
export async function requireEngine(
  ctx: Ctx,
): Promise<{ engine: AuditEngine; key: string | null; settings: AuditSettings }> {
  const [settings, key, missing] = await Promise.all([auditSettings(ctx), pagespeedKey(ctx), ctx.auditor.missing()]);
  const engine = engineOf(settings, key, missing);
  if (engine !== null) return { engine, key: engine === 'pagespeed' ? key : null, settings };
  const setKey = 'set the key of PageSpeed Insights with PUT /v2/perf-audit/settings/edit';
  const ways = [
    ...(settings.engine === 'lighthouse' ? [] : [setKey]),
    ...(settings.engine === 'pagespeed' || missing === null ? [] : [missing]),
  ];
  throw new ServiceError('svc_perf_audit_not_configured', 'No audit tool is set up on this server yet.', {
    advice: `Ask the operator to ${ways.join(', or to ')}.`,
    data: {
      engine: settings.engine,
      lighthouse: missing ?? 'available',
      pagespeed: key === null ? 'no key' : 'key set',
    },
  });
}
