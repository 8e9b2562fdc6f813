/** Adds tags to sites and removes tags from them, many at once. */

import { fold } from '../../../schemas/fold.js';
import { tagNameInput } from '../../../schemas/tag.js';
import { cleanLine } from '../../../schemas/text.js';
import { ServiceError } from '../../runtime/errors.js';
import type { SiteTag } from '../../store/sites/tags.js';
import { chooseSites } from '../actions/run-on-sites.js';
import type { Ctx } from '../context.js';
import type { Selection, SiteRef } from '../sites/resolve.js';
import { withStorageError } from '../storage-messages.js';
import { noTag, type TagRef, tagsNamed } from './refs.js';
import { addTag } from './tags.js';

interface TagSitesInput {
  site_ids_or_domains: readonly SiteRef[];
  add: readonly TagRef[];
  remove: readonly TagRef[];
  create: boolean;
  dry_run: boolean;
}

/** A tag to add or remove; id null = it does not exist yet. */
interface Wanted {
  id: number | null;
  name: string;
  change: 'add' | 'remove';
}

/** Maximum number of sites and errors listed, and of tags named with sites. */
const MOST_SITES = 50;
const MOST_ERRORS = 20;
const MOST_NAMES = 60;
const NAME = 30;

/**
 * Other tags stay. Throws `svc_invalid_input`, `svc_tag_not_found` and, if no site is usable, `svc_site_not_found`; then nothing
 * changed.
 */
export async function tagSites(ctx: Ctx, input: TagSitesInput) {
  const { add, remove, create, dry_run } = input;
  if (add.length + remove.length === 0) throw invalid('add', 'No tag is named', 'Name tags in add, remove or both.');
  const selection = await chooseSites(ctx, input.site_ids_or_domains, { failWhenNothingResolves: true });
  const wanted = await wantedTags(ctx, add, remove, create);
  if (dry_run) {
    const held = await ctx.store.tags.held(
      selection.sites.map(({ id }) => id),
      idsOf(wanted),
    );
    return { dry_run, ...answerOf(selection, wanted, wouldChange(selection, wanted, held)) };
  }
  const tags: Wanted[] = [];
  for (const tag of wanted) tags.push(await withId(ctx, tag));
  const change = (which: Wanted['change']) => idsOf(tags.filter((tag) => tag.change === which));
  const changed = await withStorageError(
    'svc_operation_failed',
    'The tags of the sites were not changed. Nothing changed.',
    () =>
      ctx.store.tags.retag(
        selection.sites.map(({ id }) => id),
        change('add'),
        change('remove'),
      ),
  );
  const added = new Set(change('add'));
  for (const id of new Set(changed.map(({ site_id }) => site_id))) {
    const tagged = changed.filter(({ site_id }) => site_id === id).map(({ tag_id }) => tag_id);
    const fields = tagged.map((tag) => [`tag:${tag}`, [!added.has(tag), added.has(tag)] as const] as const);
    const facts = { fields: ['tags'] };
    ctx.events.emit({ name: 'site.updated', site_id: id, facts, changed: Object.fromEntries(fields) });
  }
  const created = new Set(wanted.filter(({ id }) => id === null).map(({ name }) => name));
  return answerOf(selection, tags, changed, created);
}

async function wantedTags(
  ctx: Ctx,
  add: readonly TagRef[],
  remove: readonly TagRef[],
  create: boolean,
): Promise<Wanted[]> {
  const found = await tagsNamed(ctx, [...add, ...remove]);
  const wanted = new Map<string, Wanted>();
  for (const [index, ref] of [...add, ...remove].entries()) {
    const change = index < add.length ? 'add' : 'remove';
    const at = change === 'add' ? `add[${index}]` : `remove[${index - add.length}]`;
    const tag = found[index] ?? (create && change === 'add' ? newTag(ref, at) : undefined);
    if (tag === undefined) throw noTag(ref, at, !create && change === 'add' && !/^\d+$/.test(String(ref)));
    const key = tag.id === null ? `new ${fold(tag.name)}` : `${tag.id}`;
    if (wanted.has(key) && wanted.get(key)?.change !== change)
      throw invalid(
        at,
        `The tag ${JSON.stringify(tag.name)} is both in add and in remove`,
        'Name each tag in one of the two lists.',
      );
    wanted.set(key, { ...tag, change });
  }
  return [...wanted.values()];
}

/** A number names a tag that exists, also as text. */
function newTag(ref: TagRef, at: string): { id: null; name: string } | undefined {
  if (typeof ref === 'number' || /^\d*$/.test(ref.trim())) return undefined;
  const name = tagNameInput().safeParse(ref);
  if (name.success && name.data !== '') return { id: null, name: name.data };
  throw invalid(at, 'The name of a new tag has 1 to 255 visible characters', 'Send another name.');
}

async function withId(ctx: Ctx, tag: Wanted): Promise<Wanted> {
  return tag.id === null ? { ...tag, id: (await addTag(ctx, { name: tag.name })).id } : tag;
}

function idsOf(tags: readonly Wanted[]): number[] {
  return tags.flatMap(({ id }) => (id === null ? [] : [id]));
}

/** The changes that are missing, as `retag` returns those that it made; a tag that does not exist yet has the id 0. */
function wouldChange(selection: Selection, wanted: readonly Wanted[], held: readonly SiteTag[]): SiteTag[] {
  const has = new Set(held.map(({ site_id, tag_id }) => `${site_id} ${tag_id}`));
  return selection.sites.flatMap(({ id: site_id }) =>
    wanted
      .filter(({ id, change }) => has.has(`${site_id} ${id}`) === (change === 'remove'))
      .map(({ id }) => ({ site_id, tag_id: id ?? 0 })),
  );
}

function answerOf(
  { sites, errors }: Selection,
  tags: readonly Wanted[],
  changed: readonly SiteTag[],
  created: ReadonlySet<string> = new Set(),
) {
  const bySite = new Map<number, Set<number>>();
  for (const { site_id, tag_id } of changed) bySite.set(site_id, (bySite.get(site_id) ?? new Set()).add(tag_id));
  const names = (site: number, change: Wanted['change']) =>
    tags
      .filter((tag) => tag.change === change && bySite.get(site)?.has(tag.id ?? 0) === true)
      .map(({ name }) => cleanLine(name, NAME));
  const most = Math.min(MOST_SITES, Math.ceil(MOST_NAMES / tags.length));
  return {
    tags: tags.map(({ id, name, change }) => ({
      id,
      name: cleanLine(name, NAME),
      change,
      ...(id === null || created.has(name) ? { created: id !== null } : {}),
    })),
    changed: sites
      .filter(({ id }) => bySite.has(id))
      .slice(0, most)
      .map(({ id, url }) => ({ site_id: id, url, added: names(id, 'add'), removed: names(id, 'remove') })),
    total_changed: bySite.size,
    total_unchanged: sites.length - bySite.size,
    errors: errors.slice(0, MOST_ERRORS),
    total_errors: errors.length,
  };
}

function invalid(field: string, what: string, advice: string): ServiceError {
  return new ServiceError('svc_invalid_input', `${field}: ${what}. Nothing changed.`, { field, advice });
}
