/** Reads the current fields of a site (from its record, its inventory or the site itself), and whether each can be restored. */

import type { Comment } from '../../../schemas/comment.js';
import { asServiceError } from '../../runtime/errors.js';
import type { ExtensionRow } from '../../store/sites/inventory.js';
import { byField, type Change } from '../action-log/logged-changes.js';
import { isKept } from '../connection/edit.js';
import { findComments } from '../content/comment-actions.js';
import { withLiveSite } from '../content/live-content.js';
import { statusOf } from '../content/post-status.js';
import type { Ctx } from '../context.js';
import { monitorRow } from '../monitoring/monitors.js';
import { ownSettings } from '../monitoring/settings.js';
import { installedBySlug } from '../sites/inventory.js';
import { type LoadedSite, requireWritable } from '../sites/load.js';
import { UPDATE_TYPES } from '../updates/results.js';
import { rollBackMember } from '../updates/runs/can-roll-back.js';
import { siteSnapshots } from '../updates/safe/roll-back.js';
import type { State } from './plan.js';

/** Records that are restored before the sites: `tag 3`, `client 7`. */
export type Restored = ReadonlySet<string>;

/** @param changes on this site */
export async function siteStates(
  ctx: Ctx,
  target: LoadedSite,
  changes: readonly Change[],
  restored: Restored = new Set(),
): Promise<Map<string, State>> {
  const known = new Known(ctx, target, changes);
  const states = new Map<string, State>();
  for (const [key, ofField] of byField(changes)) {
    const newest = ofField[0] as Change;
    const oldest = ofField.at(-1) as Change;
    states.set(key, await stateOf(known, newest, oldest, restored).catch((error: unknown) => reasonOf(ctx, error)));
  }
  return states;
}

/** A call that was cut off has learned nothing: what continues it asks again. */
function reasonOf(ctx: Ctx, error: unknown): State {
  if (ctx.signal.aborted) throw error;
  return { reason: asServiceError(error).message };
}

/** What is read of a site, once for all of its changes. */
class Known {
  readonly ctx: Ctx;
  readonly target: LoadedSite;
  readonly #changes: readonly Change[];
  readonly #read = new Map<string, Promise<unknown>>();

  constructor(ctx: Ctx, target: LoadedSite, changes: readonly Change[]) {
    this.ctx = ctx;
    this.target = target;
    this.#changes = changes;
  }

  #once<T>(what: string, read: () => Promise<T>): Promise<T> {
    const found = this.#read.get(what) ?? read();
    this.#read.set(what, found);
    return found as Promise<T>;
  }

  /** Throws why the site cannot be changed, unless that is undone before. */
  requireWritable(): void {
    const lifts = this.#changes.some(({ field, before }) => {
      return (field === 'suspended' && before === false) || (field === 'connected' && before === true);
    });
    if (!lifts) requireWritable(this.target);
  }

  installed(kind: 'plugin' | 'theme'): Promise<Map<string, ExtensionRow>> {
    return this.#once(kind, () => installedBySlug(this.ctx, this.target.site.id, kind));
  }

  tags(): Promise<Set<number>> {
    const ids = this.#changes.flatMap(({ field }) => tagOf(field) ?? []);
    return this.#once('tags', async () => {
      const held = await this.ctx.store.tags.held([this.target.site.id], ids);
      return new Set(held.map(({ tag_id }) => tag_id));
    });
  }

  async monitor(): Promise<Readonly<Record<string, unknown>>> {
    return ownSettings(await this.#once('monitor', () => monitorRow(this.ctx, this.target.site.id)));
  }

  snapshots() {
    return this.#once('snapshots', async () => (await siteSnapshots(this.ctx, this.target.site.id)).snapshots);
  }

  comments(): Promise<Map<number, Comment>> {
    const ids = this.#changes.flatMap(({ kind, slug }) => (kind === 'comment' ? [Number(slug)] : []));
    return this.#once('comments', () =>
      withLiveSite(this.ctx, this.target.site.id, 'read', (ctx, connection) =>
        findComments(ctx, this.target.site, connection, ids, 0),
      ),
    );
  }
}

export function tagOf(field: string): number | null {
  return field.startsWith('tag:') ? Number(field.slice('tag:'.length)) : null;
}

async function stateOf(known: Known, newest: Change, oldest: Change, restored: Restored): Promise<State> {
  const { ctx, target } = known;
  const { site } = target;
  const { kind, slug, field } = newest;
  if (kind === 'monitor') return { value: (await known.monitor())[field] };
  const tag = tagOf(field);
  if (tag !== null) {
    const value = (await known.tags()).has(tag);
    const gone = oldest.before === true && !restored.has(`tag ${tag}`) && !(await isTag(ctx, tag));
    return gone ? { reason: 'The tag does not exist any more.' } : { value };
  }
  if (field === 'suspended') return { value: site.suspended === 1 };
  if (field === 'connected') return { value: site.disconnected === 0 };
  if (kind === 'site' && field === 'client_id') return ownerState(known, oldest.before as number | null, restored);
  if (kind === 'site' && isKept(field)) return { value: site[field] };
  if (field === 'ignored') return ignoredState(known, newest, oldest);
  if (kind === 'post') return postState(known, newest, oldest);
  if (kind === 'comment') {
    known.requireWritable();
    const comment = (await known.comments()).get(Number(slug));
    return comment === undefined
      ? { reason: 'The site has no such comment any more.' }
      : { value: comment.comment_status };
  }
  if (kind === 'plugin' || kind === 'theme') return extensionState(known, newest, oldest);
  return { reason: 'Changes of this kind are not undone by this operation.' };
}

async function isTag(ctx: Ctx, id: number): Promise<boolean> {
  return (await ctx.store.tags.find(id)) !== undefined;
}

async function ownerState({ ctx, target }: Known, before: number | null, restored: Restored): Promise<State> {
  const isThere =
    before === null || restored.has(`client ${before}`) || (await ctx.store.clients.find({ id: before })) !== undefined;
  return isThere ? { value: target.site.client_id } : { reason: 'The client does not exist any more.' };
}

async function ignoredState({ ctx, target }: Known, { kind, slug }: Change, { before }: Change): Promise<State> {
  const type = UPDATE_TYPES.indexOf(kind as 'core' | 'plugin' | 'theme');
  const list = before as string[];
  if (list.some((version) => version !== '*'))
    return { reason: `Only ${list.join(', ')} was ignored, and single versions are not restored.` };
  const rows = await ctx.store.updates.ignoredVersions(target.site.id, type, [slug]);
  return { value: rows.map(({ version }) => version) };
}

async function postState(known: Known, { slug, since }: Change, { before }: Change): Promise<State> {
  known.requireWritable();
  const post = await withLiveSite(known.ctx, known.target.site.id, 'read', (ctx, connection) =>
    statusOf(ctx, connection, Number(slug)),
  );
  if (post === null) return { reason: 'The site has no such post any more.' };
  // Undoing a new post moves it to the trash.
  const isTakenBack = before === null && post.post_status === 'trash' && since !== 'trash';
  return { value: isTakenBack ? null : post.post_status };
}

/** By the last sync. */
async function extensionState(known: Known, newest: Change, oldest: Change): Promise<State> {
  const { kind, slug, field } = newest;
  known.requireWritable();
  const installed = await known.installed(kind as 'plugin' | 'theme');
  if (field === 'theme') {
    const active = [...installed.values()].find((theme) => theme.active === 1);
    if (!installed.has(String(oldest.before))) return { reason: 'The theme from before is not installed any more.' };
    return active === undefined ? { reason: 'Which theme is active is not known.' } : { value: active.slug };
  }
  const row = installed.get(slug);
  if (row === undefined) return { reason: `The ${kind} is not installed any more.` };
  if (field === 'active') return { value: row.active === 1 };
  const state = { value: row.version };
  // What was changed since, or is undone already, is said first.
  if (row.version !== newest.since) return state;
  const why = await whyNotRolledBack(known, oldest);
  return why === null ? state : { reason: why };
}

async function whyNotRolledBack(known: Known, { site_id, kind, slug, before, since }: Change): Promise<string | null> {
  const { updateRuns } = known.ctx.store;
  const type = UPDATE_TYPES.indexOf(kind as 'plugin' | 'theme');
  const versions = { old_version: String(before), new_version: String(since) };
  const item = await updateRuns.newest(site_id ?? 0, type, slug, versions);
  if (item === undefined) return 'The record of this update is gone: runs are kept for 180 days.';
  const member = rollBackMember(item, known.ctx.clock.now());
  if (!member.can_roll_back) return member.cannot_roll_back_because;
  if (item.protection !== 'guard') return null;
  const copies = await known.snapshots();
  const isKept = copies.some((copy) => copy.type === kind && copy.slug === slug && copy.version === before);
  return isKept ? null : "The site's guard has no copy of that version any more.";
}
