/** How items of a run stand, and what they are called. */

import type { paths } from '../api/schema.js';
import type { Tone } from '../parts/badge.js';
import type { IconNode } from '../parts/icons.js';
import {
  CheckCircle2,
  CircleDashed,
  CircleHelp,
  CircleMinus,
  LoaderCircle,
  OctagonX,
  ShieldCheck,
  TriangleAlert,
  Undo2,
} from '../parts/icons.js';
import { isSuspect } from '../parts/suspect.js';
import { span } from '../parts/time.js';
import { t } from '../texts/texts.js';

export type RunAnswer = paths['/runs/{run_id}']['get']['responses'][200]['content']['application/json'];
export type RunEntry = RunAnswer['run'];
export type RunItem = RunAnswer['data'][number];
export type State = RunItem['state'];

/** What needs a person comes first. */
export const STATES: Readonly<Record<State, { tone: Tone; icon: IconNode }>> = {
  failed: { tone: 'bad', icon: OctagonX },
  unknown: { tone: 'bad', icon: CircleHelp },
  rolled_back: { tone: 'warn', icon: Undo2 },
  skipped: { tone: 'idle', icon: CircleMinus },
  updating: { tone: 'busy', icon: LoaderCircle },
  checking: { tone: 'busy', icon: LoaderCircle },
  queued: { tone: 'idle', icon: CircleDashed },
  kept: { tone: 'good', icon: CheckCircle2 },
};
export const ORDER = Object.keys(STATES) as State[];

/** `shop/shop.php` → `shop`. */
export const bareSlug = (slug: string) => slug.split('/')[0]?.replace(/\.php$/, '') ?? slug;

/** How an item stands, in the cell of its site: a break is red, and amber once the site is restored. */
export function signOf(item: RunItem): { tone: Tone; icon: IconNode; word: string } {
  const { state, code, new_version, restored_after_ms } = item;
  if (item.restoring === true) return { tone: 'bad', icon: OctagonX, word: t.runs.broken };
  if (isSuspect(item)) return { tone: 'warn', icon: TriangleAlert, word: new_version };
  if (state === 'kept') return { ...STATES.kept, word: new_version };
  if (state === 'rolled_back' && restored_after_ms !== undefined)
    return { ...STATES.rolled_back, word: t.runs.restored(span(restored_after_ms)) };
  if (state === 'skipped' && code === 'svc_version_quarantined')
    return { tone: 'idle', icon: ShieldCheck, word: t.runs.spared };
  return { ...STATES[state], word: t.runs.state[state] };
}

/** What an item is called; some are recorded without their name. */
export const nameOf = ({ name, slug }: Pick<RunItem, 'name' | 'slug'>) =>
  name === '' || name === slug ? bareSlug(slug) : name;
