/**
 * The backup that a site must have before its plugins, themes or WordPress itself are updated, by `backup_before_upgrade` of
 * the site or of the general settings: one that is recent enough, or else one that is made first.
 */

import { type ErrorCode, ServiceError } from '../../runtime/errors.js';
import { groupBy } from '../../runtime/group-by.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { BackupDemand } from '../../store/backups/site-backups.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import type { Begin } from '../actions/handler.js';
import { counted } from '../common/question.js';
import type { Ctx } from '../context.js';
import { groupValues } from '../settings/effects.js';
import { type LoadedSite, loadSite, requireWritable } from '../sites/load.js';
import type { BegunUpdates } from './params.js';
import { type Plan, refusal } from './plan.js';
import { isBeyond } from './requirements.js';
import { type ApplyError, failed, UPDATE_TYPES } from './results.js';
import { GUARD_FILE } from './safe/find-guard.js';
import { splitQuarantined } from './safe/quarantine.js';

const DAY_MS = 86_400_000;

export const REQUIRED = 'svc_backup_required' satisfies ErrorCode;

/** Translations are updated without. */
export function needsBackup({ type }: Pick<FleetOffer, 'type'>): boolean {
  return UPDATE_TYPES[type] !== 'translation';
}

/** What a site that must have a backup comes to. */
type Standing =
  /** It has one. */
  | { backup_id: string }
  /** One must be made that begins at or after this time (ms). */
  | { since: number; lacks: string }
  /** None can be made: its updates are refused, with this sentence. */
  | { refused: string };

/** How those of the sites, null = of all, stand that must have a backup; the others are absent. No site is contacted. */
async function standingsOf(ctx: Ctx, siteIds: readonly number[] | null): Promise<Map<number, Standing>> {
  if (siteIds?.length === 0) return new Map();
  const { backup_before_upgrade: on, backup_before_upgrade_days: days } = await groupValues(ctx, 'general');
  const demands = await ctx.store.siteBackups.demands(siteIds, on === 1, GUARD_FILE);
  const now = ctx.clock.now();
  return new Map(demands.map((demand) => [demand.site_id, standingOf(demand, days, now)]));
}

function standingOf(demand: BackupDemand, days: number, now: number): Standing {
  const { site_id, backup_id, started_at, guarded } = demand;
  const since = now - days * DAY_MS;
  if (backup_id !== null && started_at !== null && started_at >= since) return { backup_id };
  const newest =
    started_at === null
      ? 'it has none'
      : `its newest is from ${isoTime(started_at)?.slice(0, 16)}Z, ${counted(Math.floor((now - started_at) / DAY_MS), 'day')} ago`;
  const lacks = `Site ${site_id} must have a backup from the last ${days === 1 ? 'day' : `${days} days`} before it is updated, and ${newest}.`;
  if (guarded === 1) return { since, lacks };
  const why = 'It has no guard, through which backups are read: install-site-guard-v1 installs it.';
  return { refused: refusedWords(lacks, why) };
}

function refusedWords(lacks: string, why: string): string {
  return `${lacks} None could be made. ${why} ${WAY_OUT}`;
}

const WAY_OUT = 'To update it without one, set its backup_before_upgrade to 0.';

/** Sites on which only translations are updated, as they have no recent backup and cannot be backed up. */
export async function sitesWithoutBackup(ctx: Ctx): Promise<number[]> {
  return [...(await standingsOf(ctx, null))].flatMap(([id, standing]) => ('refused' in standing ? [id] : []));
}

/** What `backUpFirst` would come to, as far as is known without contacting the site. */
export async function backupAhead(ctx: Ctx, { site }: LoadedSite, { steps }: Plan): Promise<BackupFirst> {
  const offers = steps.map(({ offer }) => offer);
  const standing = offers.some(needsBackup) ? (await standingsOf(ctx, [site.id])).get(site.id) : undefined;
  if (standing === undefined) return NOT_ASKED;
  return 'since' in standing ? { ...NOT_ASKED, ahead: true } : { ...NOT_ASKED, ...standing };
}

/** A sentence on the backup, in a list. */
export function backupNotice({ backup_id, ahead = false }: BackupFirst, { steps }: Plan): string[] {
  if (!steps.some(({ offer }) => needsBackup(offer))) return [];
  if (ahead) return ['A backup of the site is made first.'];
  return backup_id === null ? [] : [`The site can be restored as it was before, from ${backup_id}: restore-backup-v1.`];
}

/** What becomes of updates of these sites. */
export interface BackupsAhead {
  /** Of which a backup is made first. */
  made: ReadonlySet<number>;
  /** Whose updates are refused, except translations, by site, and why. */
  refused: ReadonlyMap<number, string>;
}

/** What a run of these updates would do first, as far as is known without contacting a site. */
export async function backupsAhead(ctx: Ctx, offers: readonly FleetOffer[]): Promise<BackupsAhead> {
  const ids = [...new Set(offers.filter(needsBackup).map(({ site_id }) => site_id))];
  const standings = [...(await standingsOf(ctx, ids))];
  return {
    made: new Set(standings.flatMap(([id, standing]) => ('since' in standing ? [id] : []))),
    refused: new Map(standings.flatMap(([id, standing]) => ('refused' in standing ? [[id, standing.refused]] : []))),
  };
}

/**
 * What a run answers for updates that are refused for the lack of a backup: one entry for a site of which nothing is left,
 * otherwise one for each.
 * @param offers of sites that may be changed; @param isRefused which of them are refused
 */
export function backupErrors(
  { refused }: BackupsAhead,
  offers: readonly FleetOffer[],
  isRefused: (offer: FleetOffer) => boolean,
): ApplyError[] {
  return [...groupBy(offers, ({ site_id }) => site_id)].flatMap(([id, own]) => {
    const site = { id, url: own[0]?.site_url ?? '', name: own[0]?.site_name ?? '' };
    const message = refused.get(id) ?? '';
    const held = own.filter(isRefused);
    return held.length === own.length
      ? [failed({ site }, 'site', '', REQUIRED, message)]
      : held.map(({ type, slug }) => failed({ site }, UPDATE_TYPES[type] ?? 'plugin', slug, REQUIRED, message));
  });
}

/** The backup before the updates of a site. */
export interface BackupFirst {
  /** The backup to which the site can be restored; null = none is asked for. */
  backup_id: string | null;
  /** Why no more than translations are updated; null = everything is. */
  refused: string | null;
  /** Of a preview: one is made first. */
  ahead?: boolean;
}

const NOT_ASKED: BackupFirst = { backup_id: null, refused: null };

/**
 * Sees to it that a site has the backup that it must have. The caller does not hold the lock of the site: a backup may take
 * long, and only reads.
 * @param offers what is about to be updated
 * @throws ServiceError `svc_backup_required` if nothing of it may be updated
 */
export async function backUpFirst(
  ctx: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  begin?: Begin,
): Promise<BackupFirst> {
  const { id } = target.site;
  const standing = (await standingsOf(ctx, [id])).get(id);
  if (standing === undefined) return NOT_ASKED;
  if ('backup_id' in standing) return { backup_id: standing.backup_id, refused: null };
  // For what is left as it is anyway none is made.
  const { passed } = await splitQuarantined(ctx, id, offers);
  const meant = passed.filter((offer) => needsBackup(offer) && !isBeyond(offer));
  if (meant.length === 0) return { backup_id: null, refused: SINCE };
  const refused = 'refused' in standing ? standing.refused : await made(ctx, id, standing, begin);
  if (typeof refused !== 'string') return refused;
  if (meant.length === offers.length) throw new ServiceError(REQUIRED, refused, { data: { site_id: id } });
  return { backup_id: null, refused };
}

/** Of what another sync or a lifted quarantine has added by the time that the site is updated. */
const SINCE = 'It became possible only after the run began, so no backup was made for it: run it again.';

/** Makes one; a sentence = it could not be made. */
async function made(
  ctx: Ctx,
  siteId: number,
  { since, lacks }: Extract<Standing, { since: number }>,
  begin: Begin | undefined,
): Promise<BackupFirst | string> {
  // A job that continues the call need not look for effects of what was not sent.
  begin?.({ offers: [] } satisfies BegunUpdates);
  const outcome = await ctx.backUp(ctx, siteId, since).catch((error: unknown) => {
    if (ctx.signal.aborted || !(error instanceof ServiceError) || OURS.includes(error.code)) throw error;
    return error;
  });
  if (outcome instanceof ServiceError) return refusedWords(lacks, `${outcome.message} ${outcome.advice ?? ''}`.trim());
  // It may have taken an hour, in which the site was suspended.
  requireWritable(await loadSite(ctx, siteId));
  return { backup_id: outcome, refused: null };
}

/** Errors that say nothing of the backup. */
const OURS: readonly string[] = [
  'svc_cancelled',
  'svc_internal_error',
  'svc_storage_unavailable',
] satisfies ErrorCode[];

/** A plan without what the lack of a backup forbids. */
export function allowedBy({ refused: why }: BackupFirst, target: LoadedSite, plan: Plan): Plan {
  if (why === null) return plan;
  const held = plan.steps.filter(({ offer }) => needsBackup(offer));
  return {
    ...plan,
    steps: plan.steps.filter(({ offer }) => !needsBackup(offer)),
    refused: [...held.map(({ offer }) => refusal(target, offer, REQUIRED, why)), ...plan.refused],
  };
}
