/** What a run stores about how pages looked in a browser. */

import type { Device, Layout } from '../../../outbound/pictures/pictures.js';
import type { Finding } from './compare-health.js';
import type { Cells } from './compare-pictures.js';
import type { LookedPage } from './looked-pages.js';

/** A page on a device. */
export interface Place {
  page: LookedPage;
  device: Device;
}

/** One of them, as it was before. */
export interface PlaceBefore extends Place {
  first: Layout;
  second: Layout;
  /** The first look: exact, and as a file to keep. */
  picture: Buffer;
  file: string;
  /** What changes on its own. */
  noise: Cells;
}

/** The pages of a site before the updates of a run. */
export interface SeenBefore {
  places: readonly PlaceBefore[];
  /** When the clocks of the pages begin, in every look. */
  startMs: number;
  /** Why nothing, or not all, was seen; '' = all was. */
  reason: string;
}

/** The same pages afterwards. */
export interface SeenAfter {
  findings: readonly Finding[];
  /** Where something was found. */
  doubtful: readonly PlaceBefore[];
  /** The newest look at each place, as a file to keep. */
  files: ReadonlyMap<PlaceBefore, string>;
  /** Where it could be compared. */
  places: readonly PlaceBefore[];
  /** Why not everywhere; '' = it could. */
  reason: string;
}

/** In no update: nobody has seen the pages. */
export const LOOKS = 'how pages look in a browser';
