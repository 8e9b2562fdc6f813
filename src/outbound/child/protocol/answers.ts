import { ownMember } from '../../../runtime/own-member.js';
import { ChildFailure } from '../failure.js';
import type { ChildActionAnswer, ChildVerdict, ConnectionState, CoreUpdateAnswer, Registered } from '../port.js';
import { versionOf } from './inventory.js';
import { secretOf, snapshotOf } from './snapshot.js';
import { plainText, siteSays } from './text.js';
import { asMap, flagOf, get } from './values.js';

/** Throws, for an answer that contains neither an error nor the expected data. */
export function fail(what: string): never {
  throw new ChildFailure('bad_answer', `The child plugin's answer to ${what} has an unknown shape.`, {
    advice: 'Update the MainWP Child plugin on the site.',
    mayHaveRun: true,
  });
}

/** Answer of unsigned `stats` (child protocol §3.1): an error without a code means that some dashboard is connected. */
export function connectionStateOf(answer: unknown): ConnectionState {
  if (typeof get(answer, 'error') === 'string') return { state: 'connected' };
  const child_version = versionOf(get(answer, 'version'));
  if (child_version === '') fail('the connection check');
  return { state: 'unconnected', child_version, wp_version: versionOf(get(answer, 'wpversion')) };
}

/** A successful `register` answer; it contains the complete stats payload (child protocol §3.2). */
export function registeredOf(answer: unknown): Registered {
  const snapshot = snapshotOf(answer, true);
  if (snapshot === null) fail('the registration');
  return {
    regverify: secretOf(get(answer, 'regverify')),
    unique_id: plainText(get(answer, 'uniqueId'), 200),
    snapshot,
  };
}

/**
 * Verdicts of `plugin_action` and `theme_action` (child protocol §6.2, §6.3). The child says SUCCESS for slugs it does
 * not have: an item without a version, or no item, does not count as claimed.
 */
export function actionOf(answer: unknown, kind: 'plugin' | 'theme', slugs: readonly string[]): ChildActionAnswer {
  const succeeded = get(answer, 'status') === 'SUCCESS' || flagOf(get(answer, 'success'));
  const items = get(get(answer, 'other_data'), `${kind}_action_data`);
  const error = get(answer, 'error');
  if (get(answer, 'status') === undefined && get(answer, 'success') === undefined && asMap(error) === null) {
    fail(`the ${kind} action`);
  }
  const verdicts = slugs.map((slug): ChildVerdict => {
    const item = get(items, slug);
    const version = versionOf(get(item, 'version'));
    const refusal = deletionRefusal(error, slug);
    const claimed = succeeded && refusal === '' && version !== '';
    const silent = succeeded
      ? `The site has no ${kind} of this name, or left it alone.`
      : 'The child plugin refused the action.';
    return { ...blank(slug), claimed, version, message: claimed ? '' : refusal || silent };
  });
  return { verdicts, snapshot: snapshotOf(get(answer, 'sync'), false) };
}

/** theme_action names a theme it refused to delete in an `error` object. */
function deletionRefusal(error: unknown, slug: string): string {
  if (names(get(error, 'is_activated_theme'), slug)) return 'The active theme cannot be deleted.';
  if (names(get(error, 'is_activated_parent'), slug)) return 'The parent of the active theme cannot be deleted.';
  return '';
}

function names(value: unknown, slug: string): boolean {
  return value === slug || (Array.isArray(value) && value.includes(slug));
}

function blank(slug: string): ChildVerdict {
  return { slug, claimed: false, message: '', version: '', old_version: '', rolled_back: false };
}

/** Verdict for a slug that was not sent. */
export function unsent(slug: string, message: string): ChildVerdict {
  return { ...blank(slug), message };
}

/** Verdicts of `upgradeplugintheme` and `upgradetranslation` (child protocol §6.8). In neither map = silent refusal. */
export function upgradesOf(answer: unknown, slugs: readonly string[]): ChildActionAnswer {
  const upgrades = get(answer, 'upgrades');
  const other = get(answer, 'other_data');
  const errors = get(answer, 'upgrades_error');
  if (upgrades === undefined && errors === undefined) fail('the update');
  const verdicts = slugs.map((slug): ChildVerdict => {
    const data = get(get(other, 'updated_data'), slug);
    const rolled_back = flagOf(get(data, 'rollback'));
    const success = get(data, 'success');
    const claimed = flagOf(get(upgrades, slug)) && (success === undefined || flagOf(success)) && !rolled_back;
    const message =
      siteSays(get(errors, slug)) ||
      siteSays(get(data, 'error')) ||
      siteSays(get(get(other, 'upgrade_error_codes'), slug));
    return {
      slug,
      claimed,
      message: claimed ? '' : message,
      version: versionOf(get(data, 'version')),
      old_version: versionOf(get(data, 'old_version')),
      rolled_back,
    };
  });
  return { verdicts, snapshot: snapshotOf(get(answer, 'sync'), false) };
}

const CORE_WORDS: Readonly<Record<string, string>> = {
  WPERROR: 'WordPress reported an error while it updated itself.',
  NORESPONSE: 'The site found no update to install: its update check came back empty.',
  LOCALIZATION: "There is no build of the new version for the site's language.",
};

/** Answer of `upgrade` (child protocol §6.8). SUCCESS without a version = nothing to do. */
export function coreUpdateOf(answer: unknown): CoreUpdateAnswer {
  const word = get(answer, 'upgrade');
  if (typeof word !== 'string') fail('the core update');
  const claimed = word === 'SUCCESS';
  const codes = get(get(answer, 'other_data'), 'upgrade_error_codes');
  const known = ownMember(CORE_WORDS, word);
  const detail = siteSays(typeof codes === 'object' && codes !== null ? Object.values(codes)[0] : codes);
  const reason = detail || (known === undefined ? siteSays(word) : '');
  return {
    claimed,
    old_version: versionOf(get(answer, 'old_version')),
    version: versionOf(get(answer, 'version')),
    message: claimed ? '' : `${known ?? 'WordPress was not updated.'} ${reason}`.trim(),
  };
}
