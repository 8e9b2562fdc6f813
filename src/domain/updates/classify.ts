/**
 * Determines the outcome of an update that was sent: by the site's state afterwards, never by what the child says.
 * Pure.
 */

import { siteWord } from '../../../schemas/site-text.js';
import type {
  ChildActionAnswer,
  ChildVerdict,
  CoreUpdateAnswer,
  Snapshot,
  SnapshotExtension,
} from '../../outbound/child/port.js';
import { type ErrorCode, ServiceError } from '../../runtime/errors.js';
import type { ExtensionRow } from '../../store/sites/inventory.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import { type Attempt, connectionBroke, type Seen, sinceThen, statusOf } from '../connection/attempt.js';
import { listOf } from '../sites/inventory.js';
import { siteCallError } from '../sites/load.js';
import { codeOfSilence } from './results.js';
import type { Sent } from './send.js';

export type Outcome =
  /** Installed. `aside` = what the update changed besides the version. */
  | { version: string; aside?: { slug: string; code: ErrorCode; message: string } }
  /**
   * `unexplained` = the reason is not specific to the item. `unknown` = it may still take effect. `stopped` = an error
   * ended the update before the site could show its outcome.
   */
  | { failure: ServiceError; unexplained?: boolean; unknown?: boolean; stopped?: boolean }
  /** The call ended before the outcome was seen. */
  | { open: true };

/** The outcomes of updates that were sent. */
export interface Classified {
  outcomes: { offer: FleetOffer; outcome: Outcome }[];
  /** Why the site could not be read afterwards; null if it answered. */
  silence: ServiceError | null;
}

export function classify(sent: Sent, seen: Seen): Classified {
  const outcomes = sent.offers.map((offer) => ({ offer, outcome: outcomeOf(offer, sent, seen) }));
  return { outcomes, silence: seen.silence };
}

function outcomeOf(offer: FleetOffer, sent: Sent, seen: Seen): Outcome {
  if (sent.type === 'core') return classifyCore(offer, { call: sent.call, seen });
  if (sent.type === 'translation') return classifyTranslation(offer, { call: sent.call, seen });
  const after = listOf(seen.snapshot, sent.type);
  return classifyExtension(offer, { call: sent.call, seen }, { before: sent.before, after });
}

/** A call, and the state of the site after it. */
interface Evidence<T> {
  call: Attempt<T>;
  seen: Seen;
}

/** Plugins or themes before and after; `after` is undefined if the site did not report them. */
export interface Inventories {
  before: ReadonlyMap<string, ExtensionRow>;
  after: readonly SnapshotExtension[] | undefined;
}

function classifyExtension(
  offer: FleetOffer,
  { call, seen }: Evidence<ChildActionAnswer>,
  { before, after }: Inventories,
): Outcome {
  const said = call.answer?.verdicts.find(({ slug }) => slug === offer.slug);
  const { item, moved } = placeOf(offer, { before, after });
  // The inventory decides; if the site did not answer again, the version reported by the update itself.
  const now = after === undefined ? (said?.version ?? '') : ((item ?? moved)?.version ?? '');
  if (now !== '' && now !== offer.current_version) {
    // The child names an old version only if this call replaced something (child protocol §6.8).
    if (said?.claimed && said.old_version === '') return { failure: updatedElsewhere(now) };
    return { version: now, ...switchedOff(offer, now, before, item, moved) };
  }
  if (isOpen(seen)) return { open: true };
  if (call.failure === null && after !== undefined) return refusal(said, item === undefined && moved === undefined);
  const unseen = notSeen(offer, call.failure, after === undefined ? seen : null);
  // An error of the child that does not concern one item applies to the whole call.
  return { ...unseen, unexplained: unseen.failure.data.failure === 'child_error' };
}

/**
 * The state of an update on the site, without the answer of the call that made it; null while the old version is shown,
 * or none.
 */
export function shownUpdate(offer: FleetOffer, inventories: Inventories): Extract<Outcome, { version: string }> | null {
  const { item, moved } = placeOf(offer, inventories);
  const version = (item ?? moved)?.version ?? '';
  if (version === '' || version === offer.current_version) return null;
  return { version, ...switchedOff(offer, version, inventories.before, item, moved) };
}

/** The item afterwards: under its slug, or under the one that the update gave it. */
function placeOf(offer: FleetOffer, { before, after }: Inventories) {
  const item = after?.find(({ slug }) => slug === offer.slug);
  return { item, moved: item === undefined ? movedTo(offer, before, after) : undefined };
}

/** The call was answered, and the site shows the old version. */
function refusal(said: ChildVerdict | undefined, missing: boolean): Outcome {
  const failed = (message: string) => new ServiceError('svc_update_failed', message);
  if (missing) return { failure: failed('It is no longer installed on the site.') };
  if (said !== undefined && said.message !== '')
    return {
      failure: failed(said.rolled_back ? `${said.message} WordPress restored the old version.` : said.message),
    };
  return {
    failure: failed('The site still reports the old version: the update did not take effect.'),
    unexplained: said?.claimed !== true,
  };
}

/**
 * The new slug of an item whose main file was renamed by the update: new on the site, in the same folder or with the
 * same name.
 */
function movedTo(
  { slug, name }: FleetOffer,
  before: ReadonlyMap<string, ExtensionRow>,
  after: readonly SnapshotExtension[] = [],
): SnapshotExtension | undefined {
  if (!before.has(slug)) return undefined;
  const fresh = after.filter((item) => !before.has(item.slug));
  const folder = slug.includes('/') ? slug.slice(0, slug.indexOf('/') + 1) : null;
  const neighbour = folder === null ? undefined : fresh.find((item) => item.slug.startsWith(folder));
  return neighbour ?? fresh.find((item) => item.name === name);
}

/** An active item that is inactive after its update: WordPress deactivates what it no longer finds under its name. */
function switchedOff(
  offer: FleetOffer,
  version: string,
  before: ReadonlyMap<string, ExtensionRow>,
  item: SnapshotExtension | undefined,
  moved: SnapshotExtension | undefined,
): Pick<Extract<Outcome, { version: string }>, 'aside'> {
  const present = item ?? moved;
  if (present === undefined || present.active || before.get(offer.slug)?.active !== 1) return {};
  const why =
    moved === undefined
      ? 'it was active before and is now inactive'
      : `the update renamed its main file from ${siteWord(offer.slug)} to ${siteWord(moved.slug)}, so it is now inactive, while it was active before`;
  const message = `${siteWord(offer.name)} ${siteWord(version)} was installed, but ${why}. To activate it, call activate-site-plugins-v1 with the slug ${siteWord(present.slug)}.`;
  return { aside: { slug: present.slug, code: 'svc_activation_failed', message } };
}

function classifyCore(offer: FleetOffer, { call, seen }: Evidence<CoreUpdateAnswer>): Outcome {
  const now = seen.snapshot?.wp_version ?? call.answer?.version ?? '';
  if (now !== '' && now !== offer.current_version) {
    // SUCCESS without a version = this call found nothing to do (child protocol §6.8).
    return call.answer?.claimed && call.answer.version === '' ? { failure: updatedElsewhere(now) } : { version: now };
  }
  if (isOpen(seen)) return { open: true };
  const said = call.answer?.message ?? '';
  if (said !== '') return { failure: new ServiceError('svc_update_failed', said) };
  return notSeen(offer, call.failure, seen.snapshot?.wp_version === undefined ? seen : null);
}

/** A translation has no version to read back: it is applied if the site no longer offers it. */
function classifyTranslation(offer: FleetOffer, { call, seen }: Evidence<ChildActionAnswer>): Outcome {
  const offered = offeredIn(seen.snapshot);
  if (offered !== null && offered.get(offer.slug) !== offer.new_version) return { version: offer.new_version };
  if (isOpen(seen)) return { open: true };
  const said = call.answer?.verdicts.find((item) => item.slug === offer.slug)?.message ?? '';
  if (said !== '') return { failure: new ServiceError('svc_update_failed', said) };
  if (call.failure === null && offered !== null) {
    const message = 'The site still offers the translation: it was not installed.';
    return { failure: new ServiceError('svc_update_failed', message) };
  }
  return notSeen(offer, call.failure, offered === null ? seen : null);
}

/** Translations still available, by slug; null if the site did not report them. */
export function offeredIn(snapshot: Snapshot | null): Map<string, string> | null {
  const offers = snapshot?.translation_updates;
  return offers === undefined ? null : new Map(offers.map((offer) => [offer.slug, offer.new_version]));
}

function isOpen({ silence }: Seen): boolean {
  return silence?.code === 'svc_cancelled';
}

/** Newer than the known version, but not by this call. A sync ran in the meantime, so the new version is stored now. */
function updatedElsewhere(version: string): ServiceError {
  return new ServiceError(
    'svc_no_updates',
    `The site had version ${siteWord(version)} already: it was updated elsewhere since the last sync.`,
  );
}

/** Why an update does not count as applied. `unread` = the site could not be read afterwards. */
function notSeen(
  offer: FleetOffer,
  failure: unknown,
  unread: Seen | null,
): { failure: ServiceError; unknown: boolean } {
  return {
    failure: whyNotSeen(offer, failure, unread),
    unknown: connectionBroke(failure) || (failure === null && unread !== null),
  };
}

function whyNotSeen(offer: FleetOffer, failure: unknown, unread: Seen | null): ServiceError {
  const unknown = 'whether the update took effect is unknown';
  if (connectionBroke(failure)) {
    const broke = `The connection broke during the update (${failure.httpStatus > 0 ? `HTTP ${failure.httpStatus}` : 'no answer'})`;
    if (unread !== null)
      return new ServiceError(
        codeOfSilence(unread.silence),
        `${broke}, and the site ${sinceThen(statusOf(unread.silence))}: ${unknown}.`,
      );
    const version = offer.current_version === '' ? 'the old version' : `version ${siteWord(offer.current_version)}`;
    return new ServiceError('svc_update_failed', `${broke}, and the site still reports ${version}.`);
  }
  if (failure !== null) return siteCallError(failure, offer.site_id, 'svc_update_failed');
  if (unread !== null) {
    const said = unread.silence === null ? '' : ` ${unread.silence.message}`;
    return new ServiceError(
      codeOfSilence(unread.silence),
      `The site did not answer the check after the update, so ${unknown}.${said}`,
    );
  }
  const message = 'The site still runs the old version: the update did not take effect.';
  return new ServiceError('svc_update_failed', message);
}
