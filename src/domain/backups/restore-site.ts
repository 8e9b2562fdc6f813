/**
 * Restores a site from a backup: sends what differs beside the live files and tables, swaps it in, checks the site, and
 * rolls the restore back if the site is worse than before. A repeated call, or the job that follows a call that ran out of
 * time, completes an interrupted restore.
 */

import { randomBytes } from 'node:crypto';
import type { RestoreResult } from '../../../schemas/backup.js';
import { siteWord } from '../../../schemas/site-text.js';
import { GuardFailure } from '../../outbound/guard/failure.js';
import type { Finished, Restoring } from '../../outbound/guard/guards.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { Repository } from '../../store/backups/repository/types.js';
import type { BackupRow, RestoreRow } from '../../store/backups/site-backups.js';
import type { Ctx } from '../context.js';
import { type LoadedSite, loadNamed, requireWritable } from '../sites/load.js';
import type { Finding } from '../updates/safe/compare-health.js';
import { ailments } from '../updates/safe/probe.js';
import { syncAfterRollBack } from '../updates/safe/sync-after-roll-back.js';
import { isSilent } from './back-up-site.js';
import { completeBackup, factsOf } from './backups.js';
import { listFiles } from './list-files.js';
import { backupError, findPlugin, type OpenPlugin, openPlugin, pathText, pathWord } from './plugin.js';
import { checkSelection, planRestore, type RestorePlan, type Selection } from './restore-plan.js';
import { type Sent, sendRestore, sentOf } from './send-restore.js';
import { rowsLeftOut, type Snapshot } from './snapshot.js';
import { LITERALS } from './table-definition.js';

/** Names in an answer. */
const NAMED = 30;
/** A restore removes what it replaced in so many requests, and so long, at most: the site stays locked until it is done. */
const MOST_FINISHES = 1_000;
const LONGEST_FINISH_MS = 15 * 60_000;

interface Restore {
  ctx: Ctx;
  target: LoadedSite;
  row: BackupRow;
  snapshot: Snapshot;
  selection: Selection;
  plugin: OpenPlugin;
  repository: Repository;
}

/** The site of a backup, if it may be written to. */
export async function restorableSite(ctx: Ctx, id: string, selection: Selection): Promise<LoadedSite> {
  checkSelection(selection);
  const { row } = await completeBackup(ctx, id);
  // By its address: another installation, whose backup it may be, has other ids.
  const target = await loadNamed(ctx, row.site_url);
  requireWritable(target);
  return target;
}

async function prepare<P extends OpenPlugin>(
  ctx: Ctx,
  id: string,
  selection: Selection,
  find: (ctx: Ctx, target: LoadedSite) => Promise<P>,
): Promise<Restore & { plugin: P }> {
  const target = await restorableSite(ctx, id, selection);
  const { row, snapshot, repository } = await completeBackup(ctx, id);
  const plugin = await find(ctx, target);
  return { ctx, target, row, snapshot, selection, plugin, repository };
}

/** What a restore would do. Nothing is changed on the site: without the plugin for backups, it says what the backup has. */
export async function previewRestore(ctx: Ctx, id: string, selection: Selection): Promise<RestoreResult> {
  const { site } = await restorableSite(ctx, id, selection);
  try {
    const restore = await prepare(ctx, id, selection, findPlugin);
    if (!restore.plugin.ready) return await previewOfBackup(restore);
    const plan = await planOf(restore);
    const result = resultOf(restore, plan, isEmpty(plan) ? 'nothing_to_do' : 'planned', []);
    return { ...(await withStrays(restore, result)), dry_run: true };
  } catch (error) {
    throw backupError(error, site.id, 'svc_restore_failed');
  }
}

/** Of a site that cannot be compared: as if it had none of the files. */
async function previewOfBackup(restore: Restore): Promise<RestoreResult> {
  const { ctx, snapshot, selection, plugin, repository } = restore;
  const listing = async () => ({ files: [], left_out: [] });
  const parts = { repository, snapshot, site: plugin.site, listing, leftOut: [], signal: ctx.signal };
  // What differs is not known, so neither is what of that would be kept.
  const plan = { ...(await planRestore(selection, parts)), kept: [] };
  const result = resultOf(restore, plan, 'planned', []);
  return { ...result, dry_run: true, warnings: [WITHOUT_PLUGIN, ...result.warnings] };
}

const WITHOUT_PLUGIN =
  'The plugin for backups is missing on the site, or too old: the restore would install it first. Without it, nothing can be compared: the numbers are of all that the backup has.';

export async function restoreBackup(ctx: Ctx, id: string, selection: Selection): Promise<RestoreResult> {
  const { site } = await restorableSite(ctx, id, selection);
  try {
    const restore = await prepare(ctx, id, selection, openPlugin);
    return await ctx.locks.exclusive(site.id, ctx.signal, (held) =>
      run({ ...restore, ctx: { ...ctx, signal: AbortSignal.any([ctx.signal, held]) } }),
    );
  } catch (error) {
    throw backupError(error, site.id, 'svc_restore_failed');
  }
}

async function run(restore: Restore): Promise<RestoreResult> {
  const { ctx, target, row, selection, plugin } = restore;
  const { site } = plugin;
  const { siteBackups } = ctx.store;
  const running = await siteBackups.running(target.site.id);
  if (running !== undefined && !isSilent(running, ctx.clock.now()))
    throw new ServiceError('svc_backup_running', `A backup of site ${target.site.id} is under way.`, {
      data: { site_id: target.site.id },
    });
  const wanted = JSON.stringify(selection);
  const begun = await siteBackups.beginRestore(
    { site_id: target.site.id, job: randomBytes(16).toString('hex'), backup_id: row.id, selection: wanted },
    ctx.clock.now(),
  );
  const isSame = begun.backup_id === row.id && begun.selection === wanted;
  const under = await site.restoring({ signal: ctx.signal });
  // Of an earlier call that was interrupted after its swap: its site is judged now, whatever this call asks for.
  if (under?.id === begun.job && under.phase === 'swapped') {
    const earlier = JSON.parse(begun.selection) as Selection;
    const before = { ...restore, selection: earlier };
    const outcome = await judge(before, under, []);
    if (isSame) return { ...resultOf(before, null, outcome.outcome, outcome.findings), warnings: outcome.warnings };
    return run(restore);
  }
  if (isSame && under?.id === begun.job && under.phase === 'staging' && begun.sent !== null)
    return carryOut(restore, begun, JSON.parse(begun.sent) as Sent);
  if (under !== null) await finish(restore, under.id);
  if (!isSame) {
    await siteBackups.endRestore(target.site.id, begun.job);
    return run(restore);
  }
  return carryOut(restore, begun, null);
}

/** @param noted what the site has of this restore, as an earlier call has noted it; null = nothing */
async function carryOut(restore: Restore, begun: RestoreRow, noted: Sent | null): Promise<RestoreResult> {
  const { job } = begun;
  const { ctx, target, plugin, repository } = restore;
  const { site } = plugin;
  const { siteBackups } = ctx.store;
  let plan: RestorePlan;
  let before: Finding[];
  const note = async (sent: Sent | null) => {
    // Always later than before: it is the fence, too.
    const now = Math.max(ctx.clock.now(), begun.alive_at + 1);
    if (!(await siteBackups.noteSent(begun, sent === null ? null : JSON.stringify(sent), now)))
      throw new ServiceError('svc_backup_running', 'Another process has taken this restore over.', {
        data: { site_id: target.site.id },
      });
    begun.alive_at = now;
  };
  try {
    plan = await planOf(restore);
    const sent = sentOf(plan, noted);
    // Of another plan, files are at other places, and tables may have other names.
    if (noted !== null && sent.files + sent.tables === 0) await finish(restore, job);
    if (isEmpty(plan)) {
      await siteBackups.endRestore(target.site.id, job);
      return await withStrays(restore, resultOf(restore, plan, 'nothing_to_do', []));
    }
    before = await ailments(ctx, target);
    await note(sent);
    await site.stage(
      job,
      plan.tables.map(({ name }) => name),
      { signal: ctx.signal },
    );
    await sendRestore(plan, {
      job,
      site,
      repository,
      signal: ctx.signal,
      sent,
      note,
      progress: (done, total) => ctx.progress({ done, total, message: target.site.url }),
    });
    // Once it is swapped in, nothing of it is beside the site any more.
    await note(null);
  } catch (error) {
    // The live site is as it was. A call that had no time is continued; where the site is away the next call removes what was sent.
    if (!ctx.signal.aborted)
      await note(null)
        .then(() => finish(restore, job))
        .then(() => siteBackups.endRestore(target.site.id, job))
        .catch(() => undefined);
    throw error;
  }
  // From here on not to be interrupted: the signal of the caller would leave the site unjudged.
  const whole = { ...restore, ctx: { ...ctx, signal: new AbortController().signal } };
  const swapped = await swap(whole, job);
  const { outcome, findings, warnings } = await judge(whole, swapped, before);
  const result = resultOf(restore, plan, outcome, findings);
  return await withStrays(whole, { ...result, warnings: [...result.warnings, ...warnings] });
}

/** Says which folders were not compared, and what runs in them. */
async function withStrays({ selection, plugin: { site } }: Restore, result: RestoreResult): Promise<RestoreResult> {
  if (selection.what !== 'site') return result;
  // What was restored is restored, whether it answers or not.
  const found = await site.strays().catch(() => null);
  if (found?.folders.length === 0) return result;
  const { folders = [], paths = [], count = 0, whole = false } = found ?? {};
  const where = folders.length === 0 ? 'caches and copies in wp-content' : namedOf(folders);
  const what =
    count > 0
      ? ` Look at the ${count} files in them that run, or steer PHP or the web server: ${namedOf(paths, count)}.`
      : '';
  const rest = whole ? '' : ' Not all of them could be looked through for files that run.';
  const warning = `Neither compared nor changed, as no backup has them: ${where}.${what}${rest}`;
  return { ...result, warnings: [...result.warnings, warning] };
}

function namedOf(names: readonly string[], count = names.length): string {
  const named = names.slice(0, NAMED).map(pathWord);
  return `${named.join('; ')}${count > named.length ? `, and ${count - named.length} more` : ''}`;
}

/** The answer of a swap may be lost: what the site says it is at decides. */
async function swap(restore: Restore, job: string): Promise<Swapped> {
  const { ctx, target, plugin } = restore;
  const { site } = plugin;
  try {
    return (await site.swap(job)) ?? { id: job, others: [] };
  } catch (error) {
    const now = await site.restoring().catch(() => null);
    if (now?.id === job && now.phase === 'swapped') return now;
    const refused = error instanceof GuardFailure && error.code !== 'no_guard' && error.code !== 'busy';
    // The live site is as it was, and what was sent would only be in its way.
    if (refused && now?.id === job && now.phase === 'staging')
      await finish(restore, job)
        .then(() => ctx.store.siteBackups.endRestore(target.site.id, job))
        .catch(() => undefined);
    throw error;
  }
}

/** A restore that is live, and the tables that refer to its tables. */
type Swapped = Pick<Restoring, 'id' | 'others'>;

interface Judgement {
  outcome: 'restored' | 'taken_back';
  findings: string[];
  warnings: string[];
}

/** Looks at the restored site: keeps it, or takes the restore back when something is wrong that was not before. */
async function judge(restore: Restore, { id: job, others }: Swapped, before: readonly Finding[]): Promise<Judgement> {
  const { ctx, target, plugin } = restore;
  const known = new Set(before.map(textOf));
  const found = await ailments(ctx, target);
  const worse = found.filter((finding) => !known.has(textOf(finding)));
  if (worse.length > 0) await plugin.site.back(job);
  const finished = await finish(restore, job).catch(() => null);
  // A row that stays lets the next call remove what this one could not.
  if (finished !== null) await ctx.store.siteBackups.endRestore(target.site.id, job);
  const { what, name } = restore.selection;
  ctx.events.emit({
    name: 'site.restored',
    site_id: target.site.id,
    facts: {
      backup_id: restore.row.id,
      what: name === undefined ? what : `${what} ${pathWord(name)}`,
      taken_back: worse.length > 0,
    },
  });
  await syncAfterRollBack(ctx, target);
  return {
    outcome: worse.length > 0 ? 'taken_back' : 'restored',
    findings: (worse.length > 0 ? worse : found).map(textOf),
    warnings: [
      ...(worse.length > 0 ? [] : besides(others, finished)),
      ...(finished === null ? ['What was replaced is still on the site: repeat the call to remove it.'] : []),
    ],
  };
}

/** What became of things that belong to the restored tables, and are not in a backup. */
function besides(others: readonly string[], finished: Finished | null): string[] {
  const { triggers = [], triggers_lost = [] } = finished ?? {};
  return [
    ...said(
      'Tables that were not restored refer to restored ones, maybe to rows that these do not have any more',
      others,
    ),
    ...said('Triggers are not in a backup. Those of the replaced tables were kept', triggers),
    ...said('Triggers of the replaced tables are lost, as the database refused to make them again', triggers_lost),
  ];
}

/** A warning of what it concerns; none if that is nothing. */
function said(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${what}: ${namedOf(names)}.`];
}

function textOf({ what }: Finding): string {
  return what;
}

async function finish({ ctx, plugin: { site } }: Restore, job: string): Promise<Finished> {
  const began = ctx.clock.elapsed();
  for (let request = 0; request < MOST_FINISHES && ctx.clock.elapsed() - began < LONGEST_FINISH_MS; request++) {
    const finished = await site.finish(job, { signal: ctx.signal });
    if (finished.finished) return finished;
  }
  throw new ServiceError('svc_restore_failed', 'The site has not removed all that was replaced.', {
    advice: 'Repeat the call to remove the rest.',
  });
}

function planOf({ ctx, row, snapshot, selection, plugin, repository }: Restore): Promise<RestorePlan> {
  const { site } = plugin;
  const listing = () => listFiles(site, ctx.signal);
  const leftOut = factsOf(row)?.left_out ?? [];
  return planRestore(selection, { repository, snapshot, site, listing, leftOut, signal: ctx.signal });
}

function isEmpty({ entries, tables }: RestorePlan): boolean {
  return entries.length + tables.length === 0;
}

/** Rows that the restored tables will not have, though the site may have them now. */
function rowsLost(tables: RestorePlan['tables']): string[] {
  const histories = tables.filter(({ create }) => VERSIONED.test(create.replace(LITERALS, '')));
  return [
    ...said('Rows that were too large to be read are not in the backup, and are lost', rowsLeftOut(tables)),
    ...said(
      'Earlier versions of rows are not in the backup, and are lost',
      histories.map(({ name }) => name),
    ),
  ];
}

/** Of tables that keep earlier versions of their rows. */
const VERSIONED = /\bWITH SYSTEM VERSIONING\b/i;

function resultOf(
  { target: { site }, row, snapshot, selection, plugin }: Restore,
  plan: RestorePlan | null,
  outcome: RestoreResult['outcome'],
  findings: string[],
): RestoreResult {
  const { entries = [], kept = [], besides = [], otherKind = [], tables = [] } = plan ?? {};
  const { what, name } = selection;
  const examples = entries
    .slice(0, NAMED)
    .map(([path, how]) => `${how === 'put' ? 'restore' : 'remove'}: ${pathWord(path)}`);
  return {
    backup_id: row.id,
    site_id: site.id,
    site_url: site.url,
    what,
    ...(name === undefined ? {} : { name }),
    made_at: isoTime(row.started_at) ?? '',
    outcome,
    files_replaced: plan?.replaced ?? 0,
    files_added: plan?.added ?? 0,
    files_removed: plan?.removed ?? 0,
    bytes: plan?.bytes ?? 0,
    tables: tables.slice(0, NAMED).map(({ name: table }) => pathText(table, 64)),
    examples,
    kept: kept.slice(0, NAMED).map((path) => pathText(path)),
    kept_count: kept.length,
    not_in_backup: besides.slice(0, NAMED).map((path) => pathText(path)),
    not_in_backup_count: besides.length,
    findings,
    warnings: [
      ...(tables.length > 0 ? ['What was written to these tables since the backup is lost.'] : []),
      ...rowsLost(tables),
      ...said('Links and files in places where the backup has folders are removed, not what links lead to', otherKind),
      ...(snapshot.wordpress !== plugin.hello.wordpress
        ? [
            `WordPress itself is not restored: the backup is of ${siteWord(snapshot.wordpress)}, the site has ${siteWord(plugin.hello.wordpress)}.`,
          ]
        : []),
    ],
  };
}
