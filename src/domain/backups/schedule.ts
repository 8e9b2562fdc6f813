/** The schedule of backups: rules for the fleet, tags and sites, as callers read and set them. */

import type { BackupEvery, backupSchedule } from '../../../schemas/backup.js';
import type { z } from '../../../schemas/zod.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { BackupRule, RulePlace } from '../../store/backups/schedule.js';
import type { Ctx } from '../context.js';
import { isScheduleOn } from '../settings/effects.js';
import { getSite, type SiteRef } from '../sites/resolve.js';
import { requireLinks } from '../sites/sites.js';
import { turnOf } from './turns.js';

type View = z.input<ReturnType<typeof backupSchedule>>;

/** Rules of an answer. */
const MOST_RULES = 50;

/** All rules, as many as an answer has. */
export async function readSchedule(ctx: Ctx): Promise<View> {
  const { rows, total } = await ctx.store.backupSchedule.rules(MOST_RULES);
  return { rules: rows.map(({ place: _, ...rule }) => rule), total_rules: total };
}

/** The rule that holds for a site, and its next turn. */
export async function scheduleOf(ctx: Ctx, siteId: number): Promise<View> {
  const { total } = await ctx.store.backupSchedule.rules(1);
  const found = await ctx.store.backupSchedule.of(siteId);
  const rule = found?.every == null ? null : { every: found.every, hour: found.hour ?? 0 };
  const why_not = await whyNot(ctx, rule?.every ?? null, found?.ready === 1);
  const next = found === undefined || found.planned > 0 ? found?.next_at : turnOf(found, ctx.clock.now());
  return {
    rules:
      rule === null
        ? []
        : [
            {
              tag_id: found?.rule_tag ?? null,
              site_id: found?.rule_site ?? null,
              name: found?.rule_name ?? null,
              ...rule,
            },
          ],
    total_rules: total,
    next_at: why_not === null ? isoTime(next ?? null) : null,
    ...(why_not === null ? {} : { why_not }),
  };
}

async function whyNot(ctx: Ctx, every: BackupEvery | null, ready: boolean): Promise<string | null> {
  if (every === null) return 'No rule applies to it: schedule-backups-v1 sets one.';
  if (every === 'off') return 'Its rule is off.';
  if (ctx.config.read_only) return 'The service is read-only.';
  if (!(await isScheduleOn(ctx))) return 'The built-in schedule is off (svc_wp_cron).';
  return ready ? null : 'Backups need a connected site with the guard: install-site-guard-v1 installs it.';
}

export interface ScheduleInput {
  site_id_or_domain?: SiteRef | undefined;
  tag_id?: number | undefined;
  every: BackupEvery | 'inherit';
  hour: number;
}

/** Sets or removes the rule of a site, a tag, or the fleet. @throws ServiceError if it names both, or none that exists */
export async function setSchedule(ctx: Ctx, input: ScheduleInput): Promise<View> {
  const { site_id_or_domain: ref, tag_id, every, hour } = input;
  if (ref !== undefined && tag_id !== undefined)
    throw new ServiceError('svc_invalid_input', 'A rule is for a site or for a tag.', {
      field: 'tag_id',
      advice: 'Send one of site_id_or_domain and tag_id, or neither for the whole fleet.',
    });
  if (tag_id !== undefined) await requireLinks(ctx, undefined, { tag_id: [tag_id] });
  const site = ref === undefined ? undefined : await getSite(ctx, ref);
  const place = site !== undefined ? `site:${site.id}` : tag_id !== undefined ? `tag:${tag_id}` : 'fleet';
  await changeRule(ctx, place, every === 'inherit' ? null : { every, hour });
  return site === undefined ? readSchedule(ctx) : scheduleOf(ctx, site.id);
}

/** The group of settings that rules are in the action log: fields are `fleet`, `tag:5`, `site:7`. */
export const SCHEDULE = 'backup-schedule';

async function changeRule(ctx: Ctx, place: string, rule: BackupRule | null): Promise<void> {
  const before = await ruleAt(ctx, place);
  await ctx.store.backupSchedule.setRule(placed(place), rule);
  ctx.events.emit({
    name: 'settings.changed',
    facts: { group: SCHEDULE, fields: [place] },
    changed: { [place]: [before, rule] },
  });
}

/** The rule at a place of the log; null = none. */
export function ruleAt(ctx: Ctx, place: string): Promise<BackupRule | null> {
  return ctx.store.backupSchedule.rule(place);
}

/** Restores the rule at a place of the log. @throws ServiceError if its tag or site is gone */
export async function restoreRule(ctx: Ctx, place: string, rule: BackupRule | null): Promise<void> {
  const { tag_id, site_id } = placed(place);
  if (tag_id !== null) await requireLinks(ctx, undefined, { tag_id: [tag_id] });
  if (site_id !== null) await getSite(ctx, site_id);
  await changeRule(ctx, place, rule);
}

function placed(place: string): RulePlace {
  const [kind, id] = place.split(':');
  return { place, tag_id: kind === 'tag' ? Number(id) : null, site_id: kind === 'site' ? Number(id) : null };
}
