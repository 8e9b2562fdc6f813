/** Daily backups of Sitefleet's own database: those of the last 7 days and 4 weeks are kept. A failure raises an alert. */

import { type Alert, emitAlerts } from '../../runtime/events.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { BackupFile } from '../../store/backups/folder.js';
import type { Ctx } from '../context.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/**
 * Checked once an hour, so that a machine that was off catches up; half an hour less than a day keeps the time of day.
 */
const DUE_MS = DAY_MS - HOUR_MS / 2;
const KEPT = { days: 7, weeks: 4 } as const;

/** Makes the day's backup if it is due, and removes expired ones. Returns a short summary. */
export async function backUpByClock(ctx: Ctx): Promise<string> {
  const { backups, clock } = ctx;
  if (backups === null) return 'no backup folder is set';
  const now = clock.now();
  let made: BackupFile;
  let known: BackupFile[] = [];
  try {
    // A file from the future was made with a wrong clock; it must not prevent today's backup.
    known = backups.list().filter(({ at }) => at <= now);
    const last = known.at(-1);
    if (last !== undefined && now - last.at < DUE_MS) return `the last one is from ${isoTime(last.at)}`;
    made = await backups.make(now);
  } catch (error) {
    await raiseAlert(ctx, error, known.at(-1)?.at ?? null);
    throw error;
  }
  const all = [...known, made];
  const kept = keptOf(all);
  for (const file of all) if (!kept.has(file)) backups.remove(file);
  return `${made.path}, ${made.bytes} bytes; ${kept.size} are kept`;
}

/**
 * The latest backup of each of the last days and weeks that have one. Weeks begin on Monday; days and weeks are in UTC.
 */
export function keptOf(files: readonly BackupFile[]): Set<BackupFile> {
  const newestFirst = [...files].sort((a, b) => b.at - a.at);
  const newestOfEach = (period: (at: number) => number, count: number) => {
    const found = new Map<number, BackupFile>();
    for (const file of newestFirst) if (!found.has(period(file.at))) found.set(period(file.at), file);
    return [...found.values()].slice(0, count);
  };
  const day = (at: number) => Math.floor(at / DAY_MS);
  // 1970-01-01 was a Thursday.
  const week = (at: number) => Math.floor((day(at) + 3) / 7);
  return new Set([...newestOfEach(day, KEPT.days), ...newestOfEach(week, KEPT.weeks)]);
}

/** One alert a day while backups keep failing. */
async function raiseAlert(ctx: Ctx, error: unknown, last: number | null): Promise<void> {
  const at = ctx.clock.now();
  const alert: Alert<'backup.failed'> = {
    key: `backup.failed:${new Date(at).toISOString().slice(0, 10)}`,
    kind: 'backup.failed',
    site_id: null,
    at,
    facts: { reason: reasonOf(error), last_backup: isoTime(last) },
  };
  emitAlerts(ctx.events, await ctx.store.alerts.add([alert]));
}

/** The reason for recipients: without paths of this machine, which are in the log. */
function reasonOf(error: unknown): string {
  const { code, kind } = (error ?? {}) as { code?: unknown; kind?: unknown };
  if (code === 'ENOSPC' || kind === 'full') return 'The disk is full.';
  if (kind === 'corrupt') return 'The copy, or the database itself, is damaged: "sitefleet check" says where.';
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return 'The backup folder is not writable.';
  return 'See the log for the reason.';
}
