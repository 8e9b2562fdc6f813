/** Scheduled backups of sites: backs up those that are due, a few at a time. Missed backups are made up for once. */

import { setImmediate } from 'node:timers/promises';
import { ServiceError } from '../../runtime/errors.js';
import { type Alert, emitAlerts } from '../../runtime/events.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { BackupTurn } from '../../store/backups/schedule.js';
import type { Ctx } from '../context.js';
import { isScheduleOn, settingOf } from '../settings/effects.js';
import { loadSites } from '../sites/load.js';
import { backUpSite, leftAt } from './back-up-site.js';
import { backupError } from './plugin.js';
import { turnOf } from './turns.js';

const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS;
/** Sites that are read at the same time. */
const AT_ONCE = 2;
/** While they are read, it is looked so often whether others are due: a backup may take hours. */
const LOOK_MS = MINUTE_MS;
/** Sites whose turns one run plans, and those it plans before others have their turn: time zones take time. */
const PLANNED = 2_000;
const PLANNED_AT_ONCE = 100;
/** One that fails is tried once more after this, and goes on where it ended, if it can. */
const AGAIN_MS = 60 * MINUTE_MS;
const TRIES = 2;
/** A turn that was begun so often, and ended in no way, took its process with it each time. */
const DEATHS = 3;
/** Of one turn. A site that takes longer goes on at its next one: it would keep all others from theirs. */
const LONGEST_MS = 12 * 60 * MINUTE_MS;
/** Another process is at work on the site, or it was and died. */
const LATER_MS = 10 * MINUTE_MS;

/** Ends when nothing is due and nothing at work. Returns a short summary. */
export async function runBackupTurns(ctx: Ctx): Promise<string> {
  if (ctx.config.read_only) return 'read only';
  const { backupSchedule } = ctx.store;
  if (!(await backupSchedule.hasRules())) return 'no schedule';
  const atWork = new Map<number, Promise<void>>();
  let [done, failed] = [0, 0];
  const begin = async (turn: BackupTurn, until: number) => {
    const made = await takeTurn(ctx, turn, until).catch((error: unknown) => {
      // The storage is away: the turn is due again at that time.
      ctx.log.error({ err: error, site_id: turn.site_id }, 'the turn of a backup could not be ended');
      return false;
    });
    if (made) done += 1;
    else failed += 1;
    atWork.delete(turn.site_id);
  };
  try {
    for (;;) {
      await planTurns(ctx);
      await backupSchedule.setAside(ctx.clock.now());
      while (atWork.size < AT_ONCE && !ctx.signal.aborted && (await isScheduleOn(ctx))) {
        const now = ctx.clock.now();
        const turn = await backupSchedule.due(now, [...atWork.keys()]);
        if (turn === undefined) break;
        if (await backupSchedule.claim(turn, now + LATER_MS)) atWork.set(turn.site_id, begin(turn, now + LATER_MS));
      }
      if (atWork.size === 0) break;
      await oneEnds(ctx, [...atWork.values()]);
    }
  } finally {
    await Promise.all(atWork.values());
  }
  return done + failed === 0 ? 'nothing due' : `${done} backed up, ${failed} not`;
}

/** Resolves when one of these has ended, or it is time to look again. */
function oneEnds({ clock }: Ctx, work: readonly Promise<void>[]): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(LOOK_MS, resolve);
    void Promise.race(work).finally(() => {
      cancel();
      resolve();
    });
  });
}

async function planTurns({ store, clock, signal }: Ctx): Promise<void> {
  for (let planned = 0; planned < PLANNED && !signal.aborted; planned += PLANNED_AT_ONCE) {
    const now = clock.now();
    const sites = await store.backupSchedule.unplanned(PLANNED_AT_ONCE);
    const turns = sites.map((site) => ({ ...site, next_at: turnOf(site, now) }));
    await store.backupSchedule.plan(turns, now);
    if (sites.length < PLANNED_AT_ONCE) return;
    await setImmediate();
  }
}

/** False if there is no backup. @param until the turn is ours until then */
async function takeTurn(ctx: Ctx, { site_id, next_at, tries, failing_since }: BackupTurn, until: number) {
  const { backupSchedule } = ctx.store;
  const limit = ctx.clock.deadline(LONGEST_MS);
  try {
    const target = (await loadSites(ctx, [site_id])).get(site_id);
    // It was removed meanwhile, and its turn with it.
    if (target === undefined) return false;
    if (tries >= DEATHS && (await leftAt(ctx, site_id)) <= ctx.clock.now())
      throw new ServiceError(
        'svc_backup_failed',
        `The program ended ${DEATHS} times while it made this backup: its memory may not be enough for the files of the site.`,
      );
    await backUpSite({ ...ctx, signal: AbortSignal.any([ctx.signal, limit.signal]) }, target);
    await backupSchedule.end(site_id, await nextOf(ctx, site_id, null), null);
    return true;
  } catch (error) {
    // The service is stopping: the turn stays due.
    if (ctx.signal.aborted) {
      await backupSchedule.putOff(site_id, until, next_at, tries);
      return false;
    }
    const { code, message } = limit.signal.aborted
      ? {
          code: 'svc_backup_failed',
          message: `It took longer than ${LONGEST_MS / 3_600_000} hours, and goes on next time.`,
        }
      : backupError(error, site_id, 'svc_backup_failed');
    const now = ctx.clock.now();
    const { siteBackups } = ctx.store;
    // A restore that was left would be in the way for ever: that is a failure.
    if (code === 'svc_backup_running' && (await siteBackups.restore(site_id)) === undefined) {
      await backupSchedule.putOff(site_id, until, now + LATER_MS, tries);
      return false;
    }
    if (tries + 1 < TRIES) {
      await backupSchedule.putOff(site_id, until, now + AGAIN_MS, tries + 1);
      return false;
    }
    const since = failing_since ?? now;
    const next = await nextOf(ctx, site_id, since);
    await backupSchedule.end(site_id, next, since);
    await raiseAlert(ctx, site_id, message, since, next);
    return false;
  } finally {
    limit.clear();
  }
}

async function nextOf(ctx: Ctx, siteId: number, failing_since: number | null): Promise<number | null> {
  const found = await ctx.store.backupSchedule.of(siteId);
  return found === undefined ? null : turnOf({ ...found, failing_since }, ctx.clock.now());
}

/** One when backups begin to fail, then one a week until one succeeds. */
async function raiseAlert(ctx: Ctx, siteId: number, reason: string, since: number, next: number | null) {
  if ((await settingOf(ctx, 'general', 'svc_notification_on_backup_fail')) !== 1) return;
  const at = ctx.clock.now();
  const last = await ctx.store.siteBackups.lastDone(siteId);
  const alert: Alert<'site.backup_failed'> = {
    key: `site.backup_failed:${siteId}:${since}:${Math.floor((at - since) / WEEK_MS)}`,
    kind: 'site.backup_failed',
    site_id: siteId,
    at,
    facts: { reason, last_backup: isoTime(last?.started_at ?? null), next_at: isoTime(next) },
  };
  emitAlerts(ctx.events, await ctx.store.alerts.add([alert]));
}
