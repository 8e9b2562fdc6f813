/** Which entries of the action log are undone by later ones. */

import type { ActionRow } from '../../store/action-log/action-log.js';
import type { Ctx } from '../context.js';

/** The ids of those entries whose changes later entries undid, unless that was undone in turn. */
export async function undoneAmong(ctx: Ctx, entries: readonly ActionRow[]): Promise<Set<number>> {
  const { actionLog } = ctx.store;
  const own = entries.filter(({ context, code }) => context !== 'call' && code === '');
  const [later, back] = await Promise.all([
    actionLog.undoing(own.map(({ id }) => id)),
    actionLog.rolledBack(own.filter(({ action }) => action === 'updated')),
  ]);
  // What undoes comes later than what it undoes, so this ends.
  const inVain = later.length === 0 ? new Set<number>() : await undoneAmong(ctx, later);
  const valid = later.filter(({ id }) => !inVain.has(id));
  const undone = own.filter((entry) => {
    const by = valid.filter(({ undoes }) => undoes.split(',').includes(String(entry.id)));
    return by.length > 0 && isCovered(entry, by);
  });
  return new Set([...back, ...undone.map(({ id }) => id)]);
}

/** Whether all fields of an entry were undone: an undo may have failed on some of them. */
function isCovered({ fields }: ActionRow, by: readonly ActionRow[]): boolean {
  if (fields === '' || by.some((one) => one.fields === '')) return true;
  const taken = new Set(by.flatMap((one) => fieldsOf(one.fields)));
  return fieldsOf(fields).every((field) => taken.has(field));
}

function fieldsOf(fields: string): string[] {
  return Object.keys(JSON.parse(fields) as object);
}
