/** The results of a run of updates on one site: the types of updates, what was installed, and what failed. */

import type { appliedEntry, applyError, suspectUpdates } from '../../../schemas/update.js';
import type { z } from '../../../schemas/zod.js';
import type { ErrorCode, ServiceError } from '../../runtime/errors.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import { isLate } from '../sites/load.js';

/** By their numbers in storage. */
export const UPDATE_TYPES = ['core', 'plugin', 'theme', 'translation'] as const;
export type UpdateType = (typeof UPDATE_TYPES)[number];

/** Whether a guard rolls back updates of this type. */
export function isGuardable(type: number): boolean {
  return UPDATE_TYPES[type] === 'plugin' || UPDATE_TYPES[type] === 'theme';
}

/** Names in filters and summaries, in the order of the type numbers (operations §5.5). */
export const TYPE_GROUPS = ['core', 'plugins', 'themes', 'translations'] as const;
export type TypeGroup = (typeof TYPE_GROUPS)[number];

export type Applied = z.output<ReturnType<typeof appliedEntry>>;

export type Suspect = z.output<ReturnType<typeof suspectUpdates>>[number];

export interface ApplyError extends z.output<ReturnType<typeof applyError>> {
  /** It was sent, and its outcome is still unknown. */
  unknown?: true;
  /** It is about an update that was installed and has another slug since: the one under which it was planned. */
  planned_as?: string;
}

/** How one site was looked at. */
export interface Look {
  /** Paths below its address. */
  pages: readonly string[];
  /** With how they were before. */
  compared: boolean;
  /** What is beside the updated items, too: tables, settings, users, files. */
  outside?: boolean;
  /** What did not answer before, and what logged-in users meet and could not be looked at, with reasons; absent = nothing. */
  unseen?: readonly string[];
  /** Those that were compared as they look in a browser; absent = none. */
  seen?: readonly string[];
  /** Why not all of them were; absent or '' = it is not intended, or they were. */
  unseenLooks?: string;
}

export interface ApplyResult {
  /** What was installed, even if an entry of `errors` says that it did harm. */
  updated: Applied[];
  errors: ApplyError[];
  /** Installed and kept, though something about it is doubtful. */
  suspects?: Suspect[];
  /** How the site was looked at afterwards; absent if nothing was sent to it, or the call was interrupted. */
  look?: Look;
  /** The call was interrupted before every update had its outcome; the rest is in neither list. */
  interrupted?: boolean;
  /** Why the site could not be read after the last of them; null if it answered, or nothing was sent. */
  silence?: ServiceError | null;
  /** Sent last, but the site did not show their outcome. */
  unseen?: readonly FleetOffer[];
}

export function siteFields({ id, url, name }: Pick<SiteRow, 'id' | 'url' | 'name'>) {
  return { site_id: id, site_url: url, site_name: name };
}

/** The entry of an item that was installed. */
export function applied(
  { site }: { site: SiteRow },
  type: UpdateType,
  { slug, name }: { slug: string; name: string },
  old_version: string,
  new_version: string,
): Applied {
  return { ...siteFields(site), type, slug, name, old_version, new_version };
}

/** Codes of an update whose outcome the site has not shown: it cannot be reached, or is slow. */
export const UNSEEN = ['svc_site_offline', 'svc_still_running'] as const satisfies readonly ErrorCode[];

/** The code of an update after which the site is down. */
export const BROKE = 'svc_update_broke_site' satisfies ErrorCode;

/** Whether an update was seen to harm its site: the run that tried it does not try it again. */
export function isHarm(code: string): boolean {
  return code === BROKE || code === 'svc_update_rolled_back';
}

/** The error that says most about a whole call: an update that broke the site, as the others follow from it. */
export function mainError<E extends { code: string }>(errors: readonly E[]): E | undefined {
  return errors.find(({ code }) => code === BROKE) ?? errors[0];
}

export function isUnseen(code: string): boolean {
  return UNSEEN.some((each) => each === code);
}

/** The code for a site that could not be read: one that accepts calls and does not answer in time is not offline. */
export function codeOfSilence(silence: ServiceError | null): (typeof UNSEEN)[number] {
  return isLate(silence?.cause) ? 'svc_still_running' : 'svc_site_offline';
}

/** The error entry of an item; '' as slug = of the whole site. */
export function failed(
  { site }: { site: Pick<SiteRow, 'id' | 'url' | 'name'> },
  type: UpdateType | 'site',
  slug: string,
  code: ErrorCode,
  message: string,
): ApplyError {
  return { ...siteFields(site), type, slug, code, message };
}
