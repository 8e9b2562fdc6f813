/** The results of a run of updates on one site: the types of updates, what was installed, and what failed. */

import type { ErrorCode, ServiceError } from '../../core/errors.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import type { LoadedSite } from '../sites/load.js';

/** By their numbers in storage. */
export const UPDATE_TYPES = ['core', 'plugin', 'theme', 'translation'] as const;
export type UpdateType = (typeof UPDATE_TYPES)[number];

export interface Applied {
  site_id: number;
  site_url: string;
  site_name: string;
  type: UpdateType;
  slug: string;
  name: string;
  old_version: string;
  new_version: string;
}

export interface ApplyError {
  site_id: number;
  site_url: string;
  site_name: string;
  /** `site` for what concerns the whole site. */
  type: UpdateType | 'site';
  slug: string;
  code: string;
  message: string;
  /** It was sent, and its outcome is still unknown. */
  unknown?: true;
  /** Of an item that was updated safely: its record, and the findings on the site. */
  change_id?: string;
  evidence?: string[];
}

export interface ApplyResult {
  /** What was installed, even if an entry of `errors` says that it did harm. */
  updated: Applied[];
  errors: ApplyError[];
  /** The call was interrupted before every update had its outcome; the rest is in neither list. */
  interrupted?: boolean;
  /** Why the site could not be read after the last of them; null if it answered, or nothing was sent. */
  silence?: ServiceError | null;
  /** Sent last, but the site did not show their outcome. */
  unseen?: readonly FleetOffer[];
}

export function siteFields(target: LoadedSite): { site_id: number; site_url: string; site_name: string } {
  return { site_id: target.site.id, site_url: target.site.url, site_name: target.site.name };
}

/** The error entry of an item; '' as slug = of the whole site. */
export function failed(
  target: LoadedSite,
  type: UpdateType | 'site',
  slug: string,
  code: ErrorCode,
  message: string,
): ApplyError {
  return { ...siteFields(target), type, slug, code, message };
}
