/** How rollouts and their sites stand. */

import type { paths } from '../api/schema.js';
import type { Tone } from '../parts/badge.js';
import type { IconNode } from '../parts/icons.js';
import { CheckCircle2, CircleDashed, CirclePause, Hand, LoaderCircle, OctagonX, Timer } from '../parts/icons.js';
import { format } from '../parts/time.js';
import { STATES } from './run-states.js';

export type RolloutAnswer = paths['/rollouts/{rollout_id}']['get']['responses'][200]['content']['application/json'];
export type Rollout = RolloutAnswer['rollout'];
export type RolloutItem = RolloutAnswer['data'][number];
export type RolloutEntry = paths['/rollouts']['get']['responses'][200]['content']['application/json']['data'][number];
export type Wave = Rollout['waves'][number];
export type ItemState = RolloutItem['state'];

export const ROLLOUT: Readonly<Record<RolloutEntry['state'], { tone: Tone; icon: IconNode }>> = {
  running: { tone: 'busy', icon: LoaderCircle },
  paused: { tone: 'idle', icon: CirclePause },
  completed: { tone: 'good', icon: CheckCircle2 },
  halted: { tone: 'bad', icon: OctagonX },
  aborted: { tone: 'warn', icon: Hand },
};

export const WAVE: Readonly<Record<Wave['state'], { tone: Tone; icon: IconNode }>> = {
  waiting: { tone: 'idle', icon: CircleDashed },
  running: { tone: 'busy', icon: LoaderCircle },
  soaking: { tone: 'warn', icon: Timer },
  done: { tone: 'good', icon: CheckCircle2 },
  stopped: { tone: 'warn', icon: Hand },
  not_begun: { tone: 'idle', icon: CircleDashed },
};

export const ITEM: Readonly<Record<ItemState, { tone: Tone; icon: IconNode }>> = {
  ...STATES,
  untouched: { tone: 'idle', icon: CircleDashed },
};
/** The worst comes first, what was not touched last. */
export const ORDER = Object.keys(ITEM) as ItemState[];

export const rolloutAddress = (id: string) => `/rollouts/${encodeURIComponent(id)}`;

/** `15:40`; of another day with its date. */
export function clock(iso: string): string {
  const at = new Date(iso);
  const today = at.toDateString() === new Date().toDateString();
  return (today ? format().clock : format().short).format(at);
}
