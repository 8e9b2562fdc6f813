/** Changes plugins and themes on a site: checked, sent, read back, judged by what the site shows. */

import type { slugError } from '../../../schemas/common.js';
import { siteWord } from '../../../schemas/site-text.js';
import type { z } from '../../../schemas/zod.js';
import type { ChildActionAnswer, ExtensionKind, Snapshot } from '../../outbound/child/port.js';
import { type ErrorCode, ServiceError } from '../../runtime/errors.js';
import type { FieldChanges } from '../../runtime/events.js';
import type { ExtensionRow } from '../../store/sites/inventory.js';
import { attempt, connectionBroke, readUntil, seenAfter } from '../connection/attempt.js';
import { closeOpen, FINISHED_LATER, keepOpen } from '../connection/open-changes.js';
import { fetchSnapshot } from '../connection/sync.js';
import type { Ctx } from '../context.js';
import { CHILD_AGENT, installedBySlug, listOf, MUST_USE } from '../sites/inventory.js';
import { type LoadedSite, requireConnection, requireWritable, siteCallError } from '../sites/load.js';
import { slugMeant } from './names.js';

export type ExtensionAction = 'activate' | 'deactivate' | 'delete';

const FAILURE: Record<ExtensionAction, ErrorCode> = {
  activate: 'svc_activation_failed',
  deactivate: 'svc_deactivation_failed',
  delete: 'svc_deletion_failed',
};

const DONE: Record<ExtensionAction, (item: { active: boolean } | undefined) => boolean> = {
  activate: (item) => item?.active === true,
  deactivate: (item) => item !== undefined && !item.active,
  delete: (item) => item === undefined,
};

const NOT_DONE: Record<ExtensionAction, string> = {
  activate: 'The site reports it as still inactive. It may have failed on activation: check the site’s error log.',
  deactivate: 'The site reports it as still active.',
  delete: 'The site still has it.',
};

interface SlugError extends z.output<ReturnType<typeof slugError>> {
  /** It was sent, and its outcome is still unknown. */
  unknown?: true;
}

export interface ActionResult {
  done: string[];
  errors: SlugError[];
}

/** Stored with a job. */
export interface ExtensionParams {
  kind: ExtensionKind;
  action: ExtensionAction;
  slugs: readonly string[];
}

/**
 * Changes plugins or themes. The inventory decides: slugs are looked up before, and the state on the site is read
 * after, because the child says SUCCESS to both (child protocol §6.2). Throws `svc_cancelled` if the call ended before
 * all outcomes were seen.
 */
export function actOnExtensions(ctx: Ctx, target: LoadedSite, change: ExtensionParams): Promise<ActionResult> {
  requireWritable(target);
  return ctx.locks.exclusive(target.site.id, ctx.signal, () => act(ctx, target, change));
}

/** The same after an interrupted run: what that run did counts as done, and is not sent again. */
export function finishExtensions(ctx: Ctx, target: LoadedSite, change: ExtensionParams): Promise<ActionResult> {
  requireWritable(target);
  const { slugs } = change;
  return ctx.locks.exclusive(target.site.id, ctx.signal, async () => {
    const fresh = { ...target, site: { ...target.site, content_hash: '' } };
    // The site may still be at work on the interrupted call.
    const { snapshot, silence } = await readUntil(ctx, fresh, (seen) => isAllDone(seen, change));
    if (silence?.code === 'svc_cancelled') throw silence;
    if (silence !== null) {
      const unknown = notKnownYet(silence);
      return reportOutcome(ctx, target, change, new Map(slugs.map((slug) => [slug, unknown])));
    }
    const before = slugs.filter((slug) => isDone(snapshot, change, slug));
    const left = slugs.filter((slug) => !before.includes(slug));
    const { done, errors } =
      left.length === 0 ? { done: [], errors: [] } : await act(ctx, target, { ...change, slugs: left });
    return { done: [...before, ...done], errors };
  });
}

async function act(ctx: Ctx, target: LoadedSite, change: ExtensionParams): Promise<ActionResult> {
  const { slugs } = change;
  const { known, failure: unseen } = await knownSlugs(ctx, target, change);
  const failures = new Map<string, ServiceError>();
  for (const slug of slugs) {
    const row = known.get(slug);
    const refusal = row === undefined && unseen !== null ? unseen : refuse(row, change, exactOf(known, slug));
    if (refusal !== null) failures.set(slug, refusal);
  }
  const sent = { ...change, slugs: slugs.filter((slug) => !failures.has(slug)) };
  const { done, errors } = await reportOutcome(ctx, target, sent, await sendAll(ctx, target, sent), known);
  const refused = [...failures].map(([slug, { code, message }]) => ({ slug, code, message }));
  const failed = new Map([...refused, ...errors].map((error) => [error.slug, error]));
  return { done, errors: slugs.flatMap((slug) => failed.get(slug) ?? []) };
}

/** Reports the outcome of changes that were sent, and stores those whose outcome is still unknown. */
async function reportOutcome(
  ctx: Ctx,
  { site }: LoadedSite,
  { kind, action, slugs }: ExtensionParams,
  failures: Failures,
  before: ReadonlyMap<string, ExtensionRow> = new Map(),
): Promise<ActionResult> {
  const done = slugs.filter((slug) => !failures.has(slug));
  const errors = [...failures].map(([slug, { code, message, data }]): SlugError => {
    return { slug, code, message, ...(data.unknown === true ? { unknown: true } : {}) };
  });
  for (const { slug, code } of errors)
    ctx.events.emit({ name: `${kind}.${action}_failed`, site_id: site.id, facts: { slug, code: code as ErrorCode } });
  for (const slug of done) {
    const changed = fieldsOf({ kind, action }, slug, before);
    const what = { site_id: site.id, facts: { slug }, ...(changed === null ? {} : { changed }) };
    ctx.events.emit({ name: `${kind}.${action}d`, ...what });
  }
  const open = { context: kind, action: `${action}d` as const, name: '', old_version: '', new_version: '' };
  const unknown = errors.filter((error) => error.unknown === true);
  await keepOpen(
    ctx,
    site.id,
    unknown.map(({ slug }) => ({ ...open, slug })),
  );
  await closeOpen(
    ctx,
    site,
    done.map((slug) => ({ ...open, slug, version: '' })),
  );
  return { done, errors };
}

/** What an activation or deactivation replaced, by the inventory from before; null if that is not known. */
function fieldsOf(
  { kind, action }: Pick<ExtensionParams, 'kind' | 'action'>,
  slug: string,
  before: ReadonlyMap<string, ExtensionRow>,
): FieldChanges | null {
  if (action === 'delete') return null;
  const row = before.get(slug);
  if (kind === 'plugin') return row === undefined ? null : { active: [row.active === 1, action === 'activate'] };
  const active = [...before.values()].find((theme) => theme.active === 1);
  return active === undefined ? null : { theme: [active.slug, slug] };
}

/** The error for a change that may still take effect: not reported as a failure. */
function notKnownYet({ code, message, cause }: ServiceError): ServiceError {
  return new ServiceError(
    code === 'svc_site_offline' ? code : 'svc_still_running',
    `It is not known yet whether it took effect. ${message} ${FINISHED_LATER}`,
    { data: { unknown: true }, cause },
  );
}

/**
 * The stored inventory, refreshed once if it lacks a slug: it may have been installed since the last sync. `failure` is
 * why it could not be refreshed; the known slugs can be worked on anyway.
 */
async function knownSlugs(
  ctx: Ctx,
  target: LoadedSite,
  { kind, action, slugs }: ExtensionParams,
): Promise<{ known: Map<string, ExtensionRow>; failure: ServiceError | null }> {
  const read = () => installedBySlug(ctx, target.site.id, kind);
  const known = await read();
  if (slugs.every((slug) => known.has(slug))) return { known, failure: null };
  try {
    await fetchSnapshot(ctx, target);
  } catch (error) {
    const failure = siteCallError(error, target.site.id, FAILURE[action]);
    // The site answered, but not as expected: for this call that is a failed action, not a failed sync.
    if (failure.code === 'svc_sync_failed')
      return { known, failure: new ServiceError(FAILURE[action], failure.message) };
    if (failure.code === 'svc_site_offline' || failure.code === 'svc_still_running') return { known, failure };
    throw failure;
  }
  return { known: await read(), failure: null };
}

/**
 * Why an item is not even tried, by the inventory; null = it is.
 * @param meant the slug of what somebody may call so
 */
export function refuse(
  row: Pick<ExtensionRow, 'flags'> | undefined,
  { kind, action }: Pick<ExtensionParams, 'kind' | 'action'>,
  meant = '',
): ServiceError | null {
  const refused = (message: string) => new ServiceError(FAILURE[action], message);
  if (row === undefined)
    return refused(
      `No ${kind} with this slug is installed on the site.${meant === '' ? '' : ` The exact slug is ${siteWord(meant)}.`}`,
    );
  if ((row.flags & MUST_USE) !== 0)
    return refused(
      "This is a must-use plugin: WordPress always loads it, and only someone with access to the site's files can remove it.",
    );
  if (action !== 'activate' && (row.flags & CHILD_AGENT) !== 0)
    return refused('This is the child plugin itself: without it, the site could no longer be reached.');
  return null;
}

/** The slug of what is called so, if it is not the slug itself. */
export function exactOf(known: ReadonlyMap<string, ExtensionRow>, said: string): string {
  const meant = slugMeant([...known.values()], said);
  return meant === said ? '' : meant;
}

type Failures = ReadonlyMap<string, ServiceError>;

/**
 * One call for all slugs. If it died in the middle, for example of one plugin's fatal error, the following ones had no
 * turn: then each that is not done is sent alone.
 */
async function sendAll(ctx: Ctx, target: LoadedSite, change: ExtensionParams): Promise<Failures> {
  if (change.slugs.length === 0) return new Map();
  const { failures, died } = await send(ctx, target, change);
  if (!died || change.slugs.length === 1) return failures;
  const all = new Map<string, ServiceError>();
  for (const slug of failures.keys()) {
    const alone = await send(ctx, target, { ...change, slugs: [slug] });
    for (const [name, failure] of alone.failures) all.set(name, failure);
  }
  return all;
}

async function send(
  ctx: Ctx,
  target: LoadedSite,
  change: ExtensionParams,
): Promise<{ failures: Failures; died: boolean }> {
  const { kind, action, slugs } = change;
  try {
    const connection = requireConnection(target);
    const options = { signal: ctx.signal };
    const call = await attempt(ctx, () =>
      kind === 'plugin'
        ? ctx.child.pluginAction(connection, action, slugs, options)
        : ctx.child.themeAction(connection, action === 'delete' ? 'delete' : 'activate', slugs, options),
    );
    const seen = await seenAfter(ctx, target, call, call.answer?.snapshot ?? null, (now) => isAllDone(now, change));
    if (seen.silence?.code === 'svc_cancelled') throw seen.silence;
    const unread = listOf(seen.snapshot, kind) === undefined;
    const open = slugs.filter((slug) => unread || !isDone(seen.snapshot, change, slug));
    const unknown = connectionBroke(call.failure) || (unread && call.failure === null);
    const failures = open.map((slug) => {
      const failure = unread
        ? (call.failure ?? seen.silence ?? unverified(action))
        : (call.failure ?? notDone(call.answer, action, slug));
      const named = typed(ctx, target, action, failure);
      return [slug, unknown ? notKnownYet(named) : named] as const;
    });
    return { failures: new Map(failures), died: !unread && call.failure !== null && !connectionBroke(call.failure) };
  } catch (error) {
    const failure = typed(ctx, target, action, error);
    if (failure.code === 'svc_cancelled') throw failure;
    return { failures: new Map(slugs.map((slug) => [slug, failure])), died: false };
  }
}

function typed(ctx: Ctx, target: LoadedSite, action: ExtensionAction, error: unknown): ServiceError {
  const failure = siteCallError(error, target.site.id, FAILURE[action]);
  if (failure.code === 'svc_internal_error')
    ctx.log.error({ err: failure.cause ?? error, site_id: target.site.id, action }, 'unexpected failure');
  return failure;
}

function unverified(action: ExtensionAction): ServiceError {
  return new ServiceError(
    FAILURE[action],
    'The site did not report its inventory afterwards, so the change could not be verified.',
    { advice: 'Sync the site and check again.' },
  );
}

function notDone(answer: ChildActionAnswer | null, action: ExtensionAction, slug: string): ServiceError {
  const said = answer?.verdicts.find((item) => item.slug === slug)?.message ?? '';
  return new ServiceError(FAILURE[action], said === '' ? NOT_DONE[action] : said);
}

/** Also false if the site did not report it. */
function isDone(snapshot: Snapshot | null, { kind, action }: ExtensionParams, slug: string): boolean {
  const list = listOf(snapshot, kind);
  return list !== undefined && DONE[action](list.find((item) => item.slug === slug));
}

function isAllDone(snapshot: Snapshot, change: ExtensionParams): boolean {
  return change.slugs.every((slug) => isDone(snapshot, change, slug));
}
