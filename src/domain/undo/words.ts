/** Describes the steps of an undo in words, with tags and clients by name. */

import { siteWord } from '../../../schemas/site-text.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { IgnoredUntil } from '../../store/updates/ignored-everywhere.js';
import type { Ctx } from '../context.js';
import { type Step, shown } from './plan.js';
import { recordName } from './records.js';
import { tagOf } from './site-states.js';

/** By `tag 3` and `client 7`. */
export type RecordNames = ReadonlyMap<string, string>;

/**
 * The names of the tags and clients that these steps are about.
 * @param all steps of the same undo: some may restore or remove what the others name
 */
export async function namesIn({ store }: Ctx, steps: readonly Step[], all: readonly Step[]): Promise<RecordNames> {
  const tags = new Set(steps.flatMap(({ field }) => tagOf(field) ?? []));
  const clients = new Set(
    steps.flatMap(({ field, now, back_to }) =>
      field === 'client_id' ? [now, back_to].filter((id) => typeof id === 'number') : [],
    ),
  );
  const stored = await Promise.all([
    ...[...tags].map(async (id) => [`tag ${id}`, (await store.tags.find(id))?.name] as const),
    ...[...clients].map(async (id) => [`client ${id}`, (await store.clients.find({ id }))?.name] as const),
  ]);
  const own = all.flatMap((step) => {
    const name = nameOf(step.now) ?? nameOf(step.back_to);
    return step.field === 'record' && name !== undefined ? [[recordName(step), name] as const] : [];
  });
  return new Map([...own, ...stored.flatMap(([key, name]) => (name === undefined ? [] : [[key, name] as const]))]);
}

function nameOf(record: unknown): string | undefined {
  const { name } = (record ?? {}) as { name?: unknown };
  return typeof name === 'string' ? name : undefined;
}

/** Field, present value and the one from before, each in one short line. */
export function stepWords(step: Pick<Step, 'field' | 'now' | 'back_to'>, names: RecordNames) {
  const { field, now, back_to } = step;
  const named = (record: string) => siteWord(shown(names.get(record) ?? record));
  const tag = tagOf(field);
  const word = wordOf(field, named);
  return {
    field:
      tag !== null
        ? `tag ${siteWord(shown(names.get(`tag ${tag}`) ?? tag))}`
        : field === 'client_id'
          ? 'client'
          : field,
    now: word(now),
    back_to: word(back_to),
  };
}

function wordOf(field: string, named: (record: string) => string): (value: unknown) => string {
  switch (field) {
    case 'client_id':
      return (id) => (id === null ? 'none' : named(`client ${id}`));
    case 'record':
      return (record) => (record === null ? 'none' : siteWord(shown(nameOf(record) ?? record)));
    case 'ignored':
      return (versions) => listOf((versions as string[]).map(versionWord));
    case 'everywhere':
      return (ignored) =>
        listOf(
          (ignored as IgnoredUntil[]).map(
            ({ version, until }) => `${versionWord(version)}${until === null ? '' : ` until ${isoTime(until)}`}`,
          ),
        );
    default:
      return (value) => siteWord(shown(value));
  }
}

const listOf = (words: readonly string[]) => (words.length === 0 ? 'none' : shown(words.join(', ')));

const versionWord = (version: string) => (version === '*' ? 'every version' : siteWord(version));
