/** The parameters of a run of updates, as a job stores them. */

import type { Protection } from '../../store/safety/changes.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import type { OfferLimits } from '../extensions/offer-filters.js';
import type { ApplyError } from './results.js';

/** What becomes of an update whose effect is doubtful. */
export type SuspectPolicy = 'keep' | 'roll_back';

/** Settings of a safe update. */
export interface SafeUpdateSettings {
  on_suspect: SuspectPolicy;
  least_protection: Protection;
  /** Further pages of the site to check. */
  paths: readonly string[];
}

export interface UpdateParams {
  /** Numbers of the update types; empty = all. */
  types: number[];
  /** Exact slugs; empty = all. */
  specific_items: string[];
  /** Filters on the updates; absent = none. */
  limits?: OfferLimits;
  /** Includes updates on an ignore list, because the caller named them. */
  even_ignored?: boolean;
  /** Runs: only what failed in each of them. */
  retries?: string[];
  /** Of a call that a person approved: what was on offer then, as `type slug version`. Nothing else is applied. */
  shown?: string[];
  /** The rollout whose plan says what is updated on each site. */
  rollout?: string;
  /** Settings of a call of `safe-update-site` that this job continues, or of a rollout. */
  safe?: SafeUpdateSettings;
  /** The errors of this run so far, where it goes on after an interruption; never stored. */
  past?: readonly Pick<ApplyError, 'type' | 'slug' | 'code'>[];
}

/** What an interrupted run leaves for the job that continues it. */
export interface BegunUpdates {
  /** Those it was to apply. */
  offers: readonly FleetOffer[];
}
