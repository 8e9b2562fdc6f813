/** The guard of one site: its known state, its installation through the child plugin, and its removal. */

import { randomBytes } from 'node:crypto';
import type { guardInstall, siteGuard as guardSchema } from '../../../../schemas/safety.js';
import { siteWord } from '../../../../schemas/site-text.js';
import type { z } from '../../../../schemas/zod.js';
import type { GuardHello } from '../../../outbound/guard/guards.js';
import { ServiceError } from '../../../runtime/errors.js';
import { isoTime } from '../../../runtime/iso-time.js';
import { ownMember } from '../../../runtime/own-member.js';
import type { Ctx } from '../../context.js';
import { type LoadedSite, loadNamed, loadWritable, requireConnection, siteCallError } from '../../sites/load.js';
import type { SiteRef } from '../../sites/resolve.js';
import { askGuard, guardError, type OpenGuard, requireAskable } from './find-guard.js';
import { installCode, type MustUseFile, printedWord, removeCode, withSettings } from './guard-code.js';
import { syncAfterRollBack } from './sync-after-roll-back.js';

/** What a site reports about its guard; null members: unknown. */
type GuardView = z.output<ReturnType<typeof guardSchema>>;

const BY_HAND = 'Copy sitefleet-guard.php into wp-content/mu-plugins manually, as docs/guard.md describes.';
const REMOVE_BY_HAND = 'Delete wp-content/mu-plugins/sitefleet-guard.php manually.';

/** Asks the guard now, and stores its answer. For an unreachable site, returns the stored state. */
export async function siteGuard(ctx: Ctx, ref: SiteRef): Promise<GuardView> {
  const target = await loadNamed(ctx, ref);
  requireAskable(target);
  if (target.site.on_trial === 0) await askGuard(ctx, target);
  return storedGuard(ctx, target.site.id);
}

/** The stored state; the site is not contacted. */
export async function storedGuard(ctx: Ctx, siteId: number): Promise<GuardView> {
  const row = await ctx.store.guards.find(siteId);
  const hello = row?.hello == null || row.present === 0 ? null : (JSON.parse(row.hello) as GuardHello);
  const silent = row !== undefined && row.present === 2;
  const problems = [
    ...(hello === null ? [] : problemsOf(hello)),
    ...(silent ? ['It did not answer the last check.'] : []),
  ];
  // If a running server's own files are missing, nothing is said about a newer guard.
  const ours = hello === null ? null : await ctx.guards.plugin().catch(() => null);
  const renewal = hello === null || ours === null ? [] : renewalOf(hello, ours.version);
  return {
    site_id: siteId,
    installed: row === undefined ? null : row.present > 0,
    version: hello?.guard ?? null,
    can_protect: row === undefined ? null : hello !== null && problems.length === 0,
    problems: [...problems, ...renewal],
    multisite: hello?.multisite ?? null,
    free_bytes: hello?.free_bytes ?? null,
    login_allowed: hello?.login ?? null,
    visits_per_day: hello?.visits == null ? null : Math.round(hello.visits.count / hello.visits.days),
    armed: (hello?.armed ?? []).map(({ snapshot, slug, until }) => ({
      snapshot_id: snapshot,
      slug,
      until: isoTime(until * 1000) ?? '',
    })),
    answered_at: isoTime(row?.answered_at ?? null),
    looked_at: isoTime(row?.looked_at ?? null),
  };
}

/** Why a guard that responds could not do its work. */
function problemsOf({ file_mods, writable }: GuardHello): string[] {
  return [
    ...(file_mods ? [] : ['The owner forbids file changes (DISALLOW_FILE_MODS).']),
    ...(writable.store ? [] : ['The folder for its copies is not writable.']),
    ...(writable.plugins ? [] : ['The plugins folder is not writable.']),
    ...(writable.themes ? [] : ['The themes folder is not writable.']),
  ];
}

const VERSIONS = new Intl.Collator('en', { numeric: true });

/** An older guard still protects, as well as its version can. */
function renewalOf({ guard }: GuardHello, ours: string): string[] {
  if (VERSIONS.compare(guard, ours) >= 0) return [];
  return [`Its version ${siteWord(guard)} is older than ${ours}: install-site-guard-v1 renews it.`];
}

type InstallPlan = z.output<ReturnType<typeof guardInstall>>;

/**
 * Has the child plugin write the guard, then greets it. A newer version replaces an older one.
 * @param asked whether to allow logins by token; undefined = unchanged
 */
export async function installGuard(
  ctx: Ctx,
  ref: SiteRef,
  asked: boolean | undefined,
  dryRun: boolean,
): Promise<InstallPlan> {
  const target = await loadWritable(ctx, ref);
  const { version, php } = await ctx.guards.plugin();
  const before = await greet(ctx, target);
  const login = asked ?? before?.hello.login ?? (await storedGuard(ctx, target.site.id)).login_allowed ?? false;
  const plan: InstallPlan = {
    site_id: target.site.id,
    dry_run: dryRun,
    installed: before !== null,
    version,
    previous_version: before?.hello.guard ?? null,
    login_allowed: login,
    how: `The MainWP Child plugin runs code that writes wp-content/mu-plugins/sitefleet-guard.php (${Math.ceil(php.length / 1024)} KB). If a firewall blocks that: ${BY_HAND}`,
    warnings: warningsOf(before, login),
  };
  if (dryRun) return plan;
  const text = withSettings(php, { login, since: Math.floor(ctx.clock.now() / 1000) });
  await ctx.locks.exclusive(target.site.id, ctx.signal, () => putPlugin(ctx, target, text, 'sitefleet-guard.php'));
  const after = await askGuard(ctx, target).catch(refusalOf);
  if (after === null || after instanceof ServiceError) throw await takenAway(ctx, target, after, before !== null);
  const { guard: installed, login: login_allowed } = after.hello;
  const facts = { version: installed, previous_version: plan.previous_version, login_allowed };
  ctx.events.emit({ name: 'site.guard_installed', site_id: target.site.id, facts });
  return { ...plan, installed: true, version: installed, login_allowed, warnings: warningsOf(after, login_allowed) };
}

/** As a value what the guard refuses; all else is thrown. */
function refusalOf(error: unknown): ServiceError {
  if (error instanceof ServiceError && error.code === 'svc_guard_refused') return error;
  throw error;
}

/** As `askGuard`; null also for a guard that has failed: it can still be replaced. */
async function greet(ctx: Ctx, target: LoadedSite): Promise<OpenGuard | null> {
  const found = await askGuard(ctx, target).catch(refusalOf);
  if (!(found instanceof ServiceError)) return found;
  if (found.data.reason === 'failed') return null;
  throw found;
}

/**
 * Removes a guard that does not work where it was just written, as updates of a site with such a guard are refused. Where one
 * answered before, silence may be of the moment, and the new one is left. Returns what to say.
 * @param refusal null: it did not answer
 */
async function takenAway(
  ctx: Ctx,
  target: LoadedSite,
  refusal: ServiceError | null,
  replaced: boolean,
): Promise<ServiceError> {
  const why =
    refusal?.message ?? 'It does not answer: something in front of the site may block POST requests to its pages.';
  let end = 'It was left there, as one answered before.';
  if (refusal !== null || !replaced) {
    const gone = await ctx.locks
      .exclusive(target.site.id, ctx.signal, () => runCode(ctx, target, removeCode(), 'svc_guard_install_failed'))
      .catch(() => '');
    if (gone === 'done') await forgetGuard(ctx, target, replaced);
    end = gone === 'done' ? 'It was removed again.' : `It could not be removed again. ${REMOVE_BY_HAND}`;
  }
  return new ServiceError('svc_guard_install_failed', `The guard was written, but does not work. ${why} ${end}`, {
    advice: refusal?.advice ?? 'Allow POST requests to the front page or wp-login.php.',
    data: { ...refusal?.data, site_id: target.site.id },
  });
}

/** Has the child plugin write a must-use plugin of ours. */
export async function putPlugin(ctx: Ctx, target: LoadedSite, php: string, file: MustUseFile): Promise<void> {
  const programs = installCode(php, randomBytes(8).toString('hex'), file);
  for (const [index, program] of programs.entries()) {
    const word = await runCode(ctx, target, program, 'svc_guard_install_failed');
    if (word !== (index === programs.length - 1 ? 'done' : 'next')) throw notInstalled(target, word);
  }
}

function warningsOf(found: OpenGuard | null, login: boolean): string[] {
  return [
    ...(found === null ? [] : problemsOf(found.hello)),
    ...(found?.hello.multisite === true
      ? ['This site belongs to a network: updates and rollbacks affect all its sites, but only this one is checked.']
      : []),
    ...(login ? ['Logins by token are allowed: they bypass second factors and login logs of plugins.'] : []),
  ];
}

const REASONS: Readonly<Record<string, string>> = {
  file_mods: 'the owner forbids file changes (DISALLOW_FILE_MODS).',
  not_writable: 'wp-content/mu-plugins is not writable.',
  not_network: 'the site belongs to a network, and the user it is connected as is no administrator of the network.',
  no_openssl: 'PHP lacks the openssl extension, without which signatures cannot be verified.',
  no_flock: 'PHP lacks flock, without which files cannot be locked: the host disables it.',
  damaged: 'the code arrived damaged.',
};

function notInstalled({ site }: LoadedSite, word: string): ServiceError {
  return new ServiceError(
    'svc_guard_install_failed',
    `The guard was not installed: ${ownMember(REASONS, word) ?? 'the site did not run the code.'} Nothing changed.`,
    { advice: BY_HAND, data: { site_id: site.id, reason: word === '' ? 'not_run' : word } },
  );
}

async function runCode(
  ctx: Ctx,
  target: LoadedSite,
  code: string,
  failure: 'svc_guard_install_failed' | 'svc_guard_unavailable',
): Promise<string> {
  try {
    return printedWord(await ctx.child.runSnippet(requireConnection(target), code, { signal: ctx.signal }));
  } catch (error) {
    const known = siteCallError(error, target.site.id, failure);
    if (known.code !== failure) throw known;
    throw new ServiceError(failure, `The site did not run the code. ${known.message}`, {
      advice: BY_HAND,
      data: { site_id: target.site.id, reason: 'not_run' },
      cause: error,
    });
  }
}

/** What a removal would delete. */
export async function previewRemoval(ctx: Ctx, ref: SiteRef) {
  const target = await loadWritable(ctx, ref);
  const found = await askGuard(ctx, target).catch(refusalOf);
  const works = found !== null && !(found instanceof ServiceError);
  const copies = works ? await found.guard.list({ signal: ctx.signal }) : [];
  return {
    dry_run: true,
    site_id: target.site.id,
    site_url: target.site.url,
    installed: found !== null,
    snapshots: copies.length,
    warnings: [
      'Updates of this site are no longer checked, and past ones can no longer be rolled back from a copy.',
      ...(found === null ? ['The guard does not answer: the child plugin removes its file, its copies stay.'] : []),
      ...(found instanceof ServiceError
        ? [`${found.message} If it refuses to remove itself, the child plugin removes its file, and its copies stay.`]
        : []),
    ],
  };
}

/** What the guard is in the middle of is not taken from it. */
const BUSY: readonly string[] = ['busy', 'updating'];

/** Has the guard remove itself and everything it keeps; one that does not respond, or cannot, is removed by the child plugin. */
export async function removeGuard(ctx: Ctx, ref: SiteRef) {
  const target = await loadWritable(ctx, ref);
  const { site } = target;
  const removed = await ctx.locks.exclusive(site.id, ctx.signal, async () => {
    // Not every refusal to greet is one to go. Without an answer to the greeting none is waited for.
    if ((await askGuard(ctx, target).catch(refusalOf)) !== null) {
      try {
        if (await ctx.guards.of(requireConnection(target)).uninstall({ signal: ctx.signal })) return true;
      } catch (error) {
        const refused = refusalOf(guardError(error, site.id));
        if (BUSY.includes(String(refused.data.reason))) throw refused;
      }
    }
    return (await runCode(ctx, target, removeCode(), 'svc_guard_unavailable')) === 'done';
  });
  if (!removed)
    throw new ServiceError('svc_guard_refused', "The guard's file could not be removed.", {
      advice: REMOVE_BY_HAND,
      data: { site_id: site.id },
    });
  await forgetGuard(ctx, target, true);
  return { site_id: site.id, removed: true };
}

/** @param known the action log says that the site had one */
async function forgetGuard(ctx: Ctx, target: LoadedSite, known: boolean): Promise<void> {
  await ctx.store.guards.silent(target.site.id, ctx.clock.now(), true);
  // The inventory lists the guard as a plugin, too.
  await syncAfterRollBack(ctx, target);
  if (known) ctx.events.emit({ name: 'site.guard_removed', site_id: target.site.id, facts: {} });
}
