/** Undoes changes on one site through the same code as any other change: with its locks, checks and log entries. */

import type { CommentAction, CommentStatus } from '../../../schemas/comment.js';
import { POST_STATUSES, type PostStatus, type PostStep } from '../../../schemas/post.js';
import { asServiceError, ServiceError } from '../../runtime/errors.js';
import { groupBy } from '../../runtime/group-by.js';
import { isSame } from '../action-log/fields.js';
import { editSite, isKept, type SiteEdit } from '../connection/edit.js';
import { reconnectHandler, suspendHandler, unsuspendHandler } from '../connection/handlers.js';
import { storeSnapshot } from '../connection/sync.js';
import { actOnComment } from '../content/comment-actions.js';
import { editPost } from '../content/post-edit.js';
import { changePostStatus } from '../content/post-status.js';
import { type Ctx, originOf } from '../context.js';
import { actOnExtensions } from '../extensions/act.js';
import { editMonitor, type MonitorChange } from '../monitoring/edit.js';
import { installedBySlug } from '../sites/inventory.js';
import { type LoadedSite, loadSite } from '../sites/load.js';
import { loadRecord } from '../sites/sites.js';
import { type IgnorableType, setListed } from '../updates/ignored.js';
import { rollBack } from '../updates/safe/roll-back.js';
import { type Step, shown } from './plan.js';
import { tagOf } from './site-states.js';

/** A step, and why it was not done; null: it was. */
export interface StepResult {
  step: Step;
  error: ServiceError | null;
}

/** How far the work on a site has come: what was done by then counts, also if the call is cut off. */
export interface Progress {
  results: StepResult[];
  /** Begun and not ended: the site may do it all the same. */
  under: readonly Step[];
}

/** The context of a change that undoes entries of the log: its own entries name them. */
function undoing(ctx: Ctx, steps: readonly Step[]): Ctx {
  const undoes = [...new Set(steps.flatMap(({ entries }) => entries))];
  return { ...ctx, events: ctx.events.from({ ...(ctx.events.origin ?? originOf(ctx)), undoes }) };
}

/** Does these steps together, each or all of which may fail. Throws only if the call was cut off. */
export async function tryAll(
  ctx: Ctx,
  steps: readonly Step[],
  work: (ctx: Ctx) => Promise<unknown>,
): Promise<StepResult[]> {
  if (steps.length === 0) return [];
  try {
    await work(undoing(ctx, steps));
    return steps.map((step) => ({ step, error: null }));
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    const failure = asServiceError(error);
    if (failure.code === 'svc_internal_error')
      ctx.log.error({ err: failure.cause ?? error }, 'unexpected failure of an undo');
    return steps.map((step) => ({ step, error: failure }));
  }
}

/** What lets the site be contacted comes first, what ends that comes last. Throws only if the call was cut off. */
export async function undoOnSite(
  ctx: Ctx,
  target: LoadedSite,
  steps: readonly Step[],
  progress: Progress,
): Promise<void> {
  const { id } = target.site;
  const together = async (chosen: readonly Step[], work: () => Promise<StepResult[]>) => {
    progress.under = chosen;
    progress.results.push(...(await work()));
    progress.under = [];
  };
  const each = async (chosen: readonly Step[], work: (ctx: Ctx, step: Step) => Promise<unknown>) => {
    for (const step of chosen) await together([step], () => tryAll(ctx, [step], (own) => work(own, step)));
  };
  const of = (test: (step: Step) => boolean) => steps.filter(test);
  await each(
    of(({ field, back_to }) => field === 'suspended' && back_to === false),
    async (own) => unsuspendHandler.run(own, await loadSite(own, id), {}),
  );
  await each(
    of(({ field }) => field === 'connected'),
    async (own) => reconnectHandler.run(own, await loadSite(own, id), {}),
  );
  const edits = of(({ kind, field }) => tagOf(field) !== null || (kind === 'site' && isKept(field)));
  await together(edits, () =>
    tryAll(ctx, edits, async (own) => editSite(own, await loadRecord(own, id), editOf(edits))),
  );
  const watched = of(({ kind }) => kind === 'monitor');
  await together(watched, () =>
    tryAll(ctx, watched, (own) =>
      editMonitor(own, id, Object.fromEntries(watched.map(({ field, back_to }) => [field, back_to])) as MonitorChange),
    ),
  );
  await each(
    of(({ field }) => field === 'ignored'),
    (own, { kind, slug, back_to }) =>
      setListed(own, id, kind as IgnorableType, [slug], (back_to as string[]).length > 0),
  );
  const { still, others } = await asPlanned(
    ctx,
    id,
    of(({ kind, field }) => kind !== 'monitor' && ['version', 'active', 'theme'].includes(field)),
  );
  progress.results.push(...others);
  await each(
    still.filter(({ field }) => field === 'version'),
    (own, step) => rollBack(own, rollBackOf(id, step)),
  );
  const switches = still.filter(({ field }) => field !== 'version');
  for (const group of switchGroups(switches)) await together(group, () => switchGroup(ctx, id, group));
  await each(
    of(({ kind }) => kind === 'post'),
    async (own, step) => restorePost(own, await loadRecord(own, id), step),
  );
  await each(
    of(({ kind }) => kind === 'comment'),
    async (own, step) => restoreComment(own, await loadRecord(own, id), step),
  );
  await each(
    of(({ field, back_to }) => field === 'suspended' && back_to === true),
    async (own) => suspendHandler.run(own, await loadSite(own, id), {}),
  );
}

/**
 * Of steps on plugins and themes, those that the site is still as planned for: somebody may have changed it since its last
 * sync. One that does not answer may be the one to repair, so then its last sync counts.
 */
async function asPlanned(ctx: Ctx, id: number, steps: readonly Step[]) {
  const still: Step[] = [];
  const others: StepResult[] = [];
  if (steps.length === 0) return { still, others };
  await storeSnapshot(ctx, await loadSite(ctx, id), null);
  const [plugins, themes] = [await installedBySlug(ctx, id, 'plugin'), await installedBySlug(ctx, id, 'theme')];
  const active = [...themes.values()].find((theme) => theme.active === 1)?.slug;
  for (const step of steps) {
    const row = (step.kind === 'theme' ? themes : plugins).get(step.slug);
    const now = { version: row?.version, active: row && row.active === 1, theme: active }[step.field];
    const what = now === undefined ? 'it is not there any more' : `it is ${shown(now)} now`;
    // What an interrupted call has restored is found restored.
    if (isSame(now, step.now) || isSame(now, step.back_to)) still.push(step);
    else others.push({ step, error: new ServiceError('svc_changed_since', `It was changed again since: ${what}.`) });
  }
  return { still, others };
}

function editOf(steps: readonly Step[]): SiteEdit {
  const tags = steps.flatMap(({ field, back_to }) => {
    const id = tagOf(field);
    return id === null ? [] : [{ id, add: back_to === true }];
  });
  const fields = steps.filter(({ field }) => isKept(field));
  // The record has a number where a caller sends a yes or a no.
  const values = fields.map(({ field, back_to }) => [field, field === 'ssl_verify' ? back_to === 1 : back_to]);
  return {
    ...(Object.fromEntries(values) as SiteEdit),
    add_tags: tags.filter(({ add }) => add).map(({ id }) => id),
    remove_tags: tags.filter(({ add }) => !add).map(({ id }) => id),
  };
}

function rollBackOf(site: number, { change_id, kind, slug, back_to }: Step) {
  const item = { site_id_or_domain: site, type: kind as 'plugin' | 'theme', slug, to_version: String(back_to) };
  return change_id === '' ? item : { change_id };
}

const switchOf = ({ back_to }: Step) => (back_to === false ? ('deactivate' as const) : ('activate' as const));

/** Plugins are switched together. */
function switchGroups(steps: readonly Step[]): Iterable<Step[]> {
  return groupBy(steps, (step) => `${step.kind} ${switchOf(step)}`).values();
}

async function switchGroup(ctx: Ctx, id: number, group: readonly Step[]): Promise<StepResult[]> {
  const first = group[0] as Step;
  const kind = first.kind === 'theme' ? ('theme' as const) : ('plugin' as const);
  const slugOf = ({ field, slug, back_to }: Step) => (field === 'theme' ? String(back_to) : slug);
  const errors = new Map<string, ServiceError>();
  const tried = await tryAll(ctx, group, async (own) => {
    const change = { kind, action: switchOf(first), slugs: group.map(slugOf) };
    for (const { slug, code, message } of (await actOnExtensions(own, await loadSite(own, id), change)).errors)
      errors.set(slug, new ServiceError(code as ServiceError['code'], message));
  });
  return tried.map(({ step, error }) => ({ step, error: error ?? errors.get(slugOf(step)) ?? null }));
}

type Site = Awaited<ReturnType<typeof loadRecord>>;

async function restorePost(ctx: Ctx, site: Site, { slug, now, back_to }: Step): Promise<void> {
  const id = Number(slug);
  // A new post goes to the trash.
  const wanted = back_to === null ? 'trash' : String(back_to);
  let status = String(now);
  if (status === wanted) return;
  const take = async (step: PostStep) => {
    status = (await changePostStatus(ctx, site, id, step)).post_status;
  };
  if (wanted === 'trash') await take('trash');
  else if (status === 'trash') await take('restore');
  if (status !== wanted && wanted === 'publish') await take('publish');
  if (status === 'publish' && wanted === 'draft') await take('unpublish');
  if (status === wanted) return;
  const post_status = POST_STATUSES.find((name): name is PostStatus => name === wanted);
  if (post_status === undefined)
    throw new ServiceError('svc_not_undoable', 'Posts are not put into this state through the child plugin.');
  await editPost(ctx, site, id, { post_status });
}

const COMMENT_STEPS: Record<CommentStatus, Partial<Record<CommentStatus, CommentAction>>> = {
  approved: { pending: 'unapprove', spam: 'spam', trash: 'trash' },
  pending: { approved: 'approve', spam: 'spam', trash: 'trash' },
  spam: { approved: 'unspam', pending: 'unspam', trash: 'trash' },
  trash: { approved: 'restore', pending: 'restore', spam: 'restore' },
};

async function restoreComment(ctx: Ctx, site: Site, { slug, now, back_to }: Step): Promise<void> {
  const wanted = back_to as CommentStatus;
  let status = now as CommentStatus;
  // Out of the trash, or of spam, a comment comes back as WordPress remembers it.
  for (let tries = 0; tries < 3 && status !== wanted; tries++) {
    const action = COMMENT_STEPS[status][wanted];
    if (action === undefined) break;
    status = (await actOnComment(ctx, site, Number(slug), action)).comment_status as CommentStatus;
  }
  if (status !== wanted) throw new ServiceError('svc_child_error', `Comment ${slug} is ${status} now.`);
}
