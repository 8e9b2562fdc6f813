/** What an answer says about the checks after updates: which pages were visited, as whom, and what was not checked. */

import type { aboutUpdates } from '../../../schemas/update.js';
import type { z } from '../../../schemas/zod.js';
import type { ApplyResult, Look } from './results.js';
import { listedAs, SANDBOX } from './safe/looked-pages.js';
import { MEMBERS } from './safe/sandbox.js';
import { LOOKS } from './safe/seen-pages.js';

export const NOT_LOOKED: Look = { pages: [], compared: false };
/** The visit after updates without a guard. */
export const FRONT_PAGE: Look = { pages: ['/'], compared: false };

const ON_PHONE = listedAs({ kind: 'phone', path: '' });
const INSIDE: readonly string[] = Object.values(SANDBOX).map(listedAs);

/** In no update: a site may be broken there. */
const NOT_CHECKED = ['other pages, also of wp-admin', 'phones', 'mail'];
/** Where pages were not compared, and where they were, their forms too. */
const FORMS_AND_SHOP = 'forms and shop checkout';
const SENDING = 'what forms send';
/** Where no guard of version 1.4.0 or newer keeps a ledger. */
const OUTSIDE =
  'changes besides the files of the update: tables, settings, administrators, scheduled events, other files';

/** Members of an answer besides what was updated. */
export type About = z.output<z.ZodObject<ReturnType<typeof aboutUpdates>>>;

/** What the answer for these sites says besides their updates. */
export function aboutOf(results: readonly ApplyResult[]): About {
  const suspects = results.flatMap((result) => result.suspects ?? []);
  return { ...(suspects.length === 0 ? {} : { suspects }), ...checkedOf(results.map(({ look }) => look)) };
}

/**
 * The members on how the sites were looked at, as sentences; one for all sites of which it is true. What was not checked on
 * some sites only says on how many.
 */
export function checkedOf(looks: readonly (Look | undefined)[]): Pick<About, 'checked' | 'not_checked'> {
  const known = looks.flatMap((look) => look ?? []);
  if (known.length === 0) return {};
  const checked = [...counted(known.map(wordsFor))].map(
    ([way, sites]) => `${sites} ${sites === 1 ? 'site' : 'sites'}: ${way}.`,
  );
  const left = [notPages, notForms, unseenLooks, notMembers, notOutside].flatMap((of) => [
    ...counted(known.flatMap((look) => [...new Set(of(look))])),
  ]);
  return {
    checked,
    not_checked: left.map(([what, sites]) =>
      sites === known.length ? what : `${what} (on ${sites} of ${known.length} sites)`,
    ),
  };
}

/** How often each occurs, in the order of their first occurrence. */
function counted(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

const notPages = ({ pages }: Look) => NOT_CHECKED.filter((what) => what !== 'phones' || !pages.includes(ON_PHONE));
const notForms = ({ compared }: Look) => [compared ? SENDING : FORMS_AND_SHOP];
const notMembers = ({ unseen }: Look) => [unseen ?? MEMBERS].flat();
const notOutside = ({ outside }: Look) => (outside === true ? [] : [OUTSIDE]);

function withoutAddresses(pages: readonly string[]): string[] {
  return pages.map((page) => page.replace(/ \(\/.*?\)(?= on a |$)/, ''));
}

function unseenLooks({ seen = [], unseenLooks: reason = '' }: Look): string[] {
  if (reason !== '') return [`${LOOKS}${seen.length > 0 ? ', in part' : ''}: ${reason}`];
  return seen.length > 0 ? [] : [LOOKS];
}

/** Sites differ in their addresses; the sentence tells what kinds of pages they were. */
function wordsFor({ pages, compared, outside, seen = [] }: Look): string {
  if (pages.length === 0) return 'no page';
  const how = compared ? 'compared with before' : 'not compared with before';
  const outer = pages.filter((page) => page !== ON_PHONE && !INSIDE.includes(page));
  const desktop = withoutAddresses(outer);
  const inside = pages.filter((page) => INSIDE.includes(page)).join(', ');
  const phone = pages.includes(ON_PHONE) ? ' and / as one on a phone' : '';
  const more = outside === true ? '; tables, settings, administrators, scheduled events and other files too' : '';
  const members = inside === '' ? '' : `, and ${inside} in the guard's sandbox`;
  const pictures = seen.length === 0 ? '' : `; how ${withoutAddresses(seen).join(', ')} look in a browser, too`;
  return `${desktop.join(', ')} as a visitor on a desktop${phone}${members}, ${how}${pictures}${more}`;
}
