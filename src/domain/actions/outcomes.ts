/** Outcomes of a site in a job, put together from its items. Pure. */

import { siteWord } from '../../../schemas/site-text.js';
import type { ErrorCode } from '../../runtime/errors.js';
import type { JobItem } from '../../store/jobs/rows.js';
import type { SiteOutcome } from './handler.js';

/** The outcome of a site along with what was done there before: an earlier failure of an item that was tried again is over. */
export function withEarlier<T extends SiteOutcome>(before: readonly JobItem[], outcome: T): T {
  const kept = before.filter((item) => !outcome.items.some((now) => (now.done || !item.done) && isSameItem(item, now)));
  const items = [...kept, ...outcome.items];
  const earlier = saidOf(kept);
  const message = [earlier.message, outcome.message].filter((text) => text !== '').join('; ');
  const code = outcome.code || earlier.code;
  return { ...outcome, items, code, message: message.slice(0, LONGEST), failed: isFailed(code, items) };
}

/** The outcome that the items of a site come to. */
export function outcomeOfItems(items: readonly JobItem[]): SiteOutcome {
  const { code, message } = saidOf(items);
  return { items, code, message: message.slice(0, LONGEST), failed: isFailed(code, items) };
}

/** Of the message of a site in a job, in characters. */
const LONGEST = 2000;

/** One item that was done is a success of the site (operations §7.2). */
function isFailed(code: string, items: readonly JobItem[]): boolean {
  return code !== '' && !items.some(({ done }) => done);
}

function saidOf(items: readonly JobItem[]): Pick<SiteOutcome, 'code' | 'message'> {
  const failures = items.filter(({ done }) => !done);
  return {
    code: (failures[0]?.facts.code ?? '') as ErrorCode | '',
    message: failures.map(({ facts }) => saidOfItem(facts)).join('; '),
  };
}

/** A failed item in one sentence: of what type it is where it has one, its slug, and why; of the site as a whole only why. */
function saidOfItem({ type, slug, message }: Readonly<Record<string, unknown>>): string {
  return type === 'site'
    ? String(message)
    : `${type === undefined ? '' : `${type}: `}${siteWord(String(slug))}: ${message}`;
}

function isSameItem({ facts: a }: JobItem, { facts: b }: JobItem): boolean {
  return a.type === b.type && a.slug === b.slug && a.field === b.field;
}
