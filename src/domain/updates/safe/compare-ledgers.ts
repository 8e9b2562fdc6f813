/**
 * Compares what an update may change besides its own files with how it was before. What healthy updates do all the time
 * is no finding: new tables, options, events and roles, more rows, fewer rows in logs and caches. Pure.
 */

import { siteWord } from '../../../../schemas/site-text.js';
import type { GuardLedger, Mendable } from '../../../outbound/guard/guards.js';
import type { Severity } from './compare-health.js';

export interface LedgerFinding {
  severity: Severity;
  /** The same finding of a later comparison has the same key. */
  key: string;
  /** One sentence of ours; words of the site only through `siteWord`. */
  what: string;
  /** What the guard can restore. */
  mend?: Partial<Mendable>;
  /** A visitor may have caused it: it is said, and nothing is rolled back for it. */
  hearsay?: true;
}

/** A sentence is made when it is needed: a site may name thousands of tables. */
type Difference = Omit<LedgerFinding, 'what'> & { say: () => string };

/** What is known of the updates between the two. */
export interface LedgerContext {
  /** Slugs of what was updated: a plugin of its own that it deactivates is judged elsewhere. */
  slugs: readonly string[];
  /** An update of WordPress itself was sent: it replaces its own files. */
  core: boolean;
}

/** Tables without which there is no site, without the prefix. */
const VITAL_TABLES = [
  'comments',
  'options',
  'postmeta',
  'posts',
  'term_relationships',
  'term_taxonomy',
  'terms',
  'usermeta',
  'users',
];
/** What such tables hold may go at any time. */
const VOLATILE =
  /(^|_)(logs?|cache|caches|queues?|sessions?|claims?|te?mp|temporary|locks?|transients?|jobs?|backup|bak|old)(_|$)/i;
/** An emptied table counts if it had so many rows; a few are a queue that was worked off. */
const FULL = 5;
/** A vital table counts if half of so many rows are gone: what these hold of transients and spam may go at any time. */
const MANY = 20;
const PURGED = ['comments', 'options'];
const OPTIONS_LOST = 100;
const MAILS = 20;
/** Names per finding. */
const NAMED = 5;
/** Findings that are said one by one; all others are one more. */
const MOST = 20;
/** The key of that one. */
export const OTHERS = 'others';

export const KINDS = ['files', 'options', 'events'] as const satisfies (keyof Mendable)[];

const DROP_INS = [
  'advanced-cache',
  'db',
  'db-error',
  'fatal-error-handler',
  'install',
  'maintenance',
  'object-cache',
  'php-error',
].map((name) => `wp-content/${name}.php`);
const STEERING = /(^|\/)(\.htaccess|\.user\.ini|php\.ini|wp-config\.php)$/;
/** Files that an update of WordPress replaces. */
const CORE_FILES = /^(wp-(?!config\.)[\w-]+|index|xmlrpc)\.php$/;
const CORE_EVENTS = /^wp_/;
/** WordPress' own. Queues are looked after by events of shorter ones, which end with the work that visitors gave them. */
const LASTING = ['hourly', 'twicedaily', 'daily', 'weekly'];

/** Findings, the worst first. */
export function compareLedgers(before: GuardLedger, now: GuardLedger, known: LedgerContext): LedgerFinding[] {
  // The owner, or WordPress on its own, may have updated it meanwhile.
  const context = { ...known, core: known.core || before.wordpress !== now.wordpress };
  const all = [
    ...tables(before, now),
    ...administrators(before, now),
    ...powers(before, now),
    ...settings(before, now),
    ...held(before, now),
    ...options(before, now),
    ...plugins(before, now, context),
    ...files(before, now, context),
    ...events(before, now, context),
    ...mails(before, now),
  ].sort((a, b) => Number(b.severity === 'broken') - Number(a.severity === 'broken'));
  const said = all.slice(0, MOST).map(({ say, ...finding }): LedgerFinding => ({ ...finding, what: say() }));
  const [worst, ...others] = all.slice(MOST);
  if (worst === undefined) return said;
  const { severity } = worst;
  const mend: Mendable = { files: [], options: [], events: [] };
  for (const one of [worst, ...others]) for (const kind of KINDS) mend[kind].push(...(one.mend?.[kind] ?? []));
  return [...said, { severity, key: OTHERS, what: `There are ${others.length + 1} more changes of this kind.`, mend }];
}

function tables(before: GuardLedger, now: GuardLedger): Difference[] {
  const rowsNow = new Map(now.tables.map(({ name, rows }) => [name, rows]));
  return before.tables.flatMap(({ name, rows }): Difference[] => {
    const bare = name.startsWith(before.prefix) ? name.slice(before.prefix.length) : '';
    const vital = VITAL_TABLES.includes(bare);
    if (!vital && VOLATILE.test(name)) return [];
    const severity = vital ? 'broken' : 'suspect';
    const key = `table ${name}`;
    const say = (what: string) => () => `The table ${siteWord(name)} ${what}`;
    const left = rowsNow.get(name) ?? null;
    if (!rowsNow.has(name)) return [{ severity, key, say: say('has been dropped.') }];
    if (left === null || rows === null) return [];
    if (vital && !PURGED.includes(bare) && left > 0 && rows >= MANY && left < rows / 2)
      return [{ severity: 'suspect', key, say: say('has lost more than half of its rows.') }];
    if (left > 0 || rows < (vital ? 1 : FULL)) return [];
    // The last comment may be spam.
    const harmful = vital && bare !== 'comments' ? 'broken' : 'suspect';
    return [{ severity: harmful, key, say: say('has been emptied.') }];
  });
}

function administrators(before: GuardLedger, now: GuardLedger): Difference[] {
  const known = new Map(before.administrators.map((one) => [one.id, one]));
  const added = now.administrators.filter(({ id }) => !known.has(id));
  const left = new Set(now.administrators.map(({ id }) => id));
  const gone = before.administrators.filter(({ id }) => !left.has(id));
  const moved = now.administrators.filter(({ id, mail }) => known.has(id) && known.get(id)?.mail !== mail);
  return [
    ...listed('broken', 'administrators added', 'Administrators have been added', added, 'login'),
    ...listed('suspect', 'administrators gone', 'Administrators are no longer', gone, 'login'),
    ...listed('suspect', 'administrators moved', 'Administrators have another e-mail address', moved, 'login'),
  ];
}

/** Roles that did not administer. Shops and the like bring roles of their own; the one that anybody gets makes everyone an administrator. */
function powers(before: GuardLedger, now: GuardLedger): Difference[] {
  const known = new Set(before.powers ?? now.powers);
  const added = (now.powers ?? []).filter((role) => !known.has(role));
  const setting = (name: string) => now.vital.find((one) => one.name === name)?.value;
  const open = setting('users_can_register') === '1' && added.includes(setting('default_role') ?? '');
  const roles = added.map((role) => ({ role }));
  return listed(open ? 'broken' : 'suspect', 'powers', 'Roles may now administer the site', roles, 'role');
}

function settings(before: GuardLedger, now: GuardLedger): Difference[] {
  const then = new Map(before.vital.map(({ name, value }) => [name, value]));
  return now.vital.flatMap(({ name, value }): Difference[] => {
    const old = then.get(name);
    if (old === undefined || old === value) return [];
    const say = () =>
      `The setting ${siteWord(name)} was ${siteWord(old ?? 'none')} and is ${siteWord(value ?? 'none')}.`;
    const severity = settingBreaks(name, old ?? '', value ?? '', now) ? 'broken' : 'suspect';
    return [{ severity, key: `setting ${name}`, say, mend: { options: [name] } }];
  });
}

/** Visitors are led elsewhere, or anyone may become an administrator. */
function settingBreaks(name: string, old: string, value: string, { powers }: GuardLedger): boolean {
  const bare = (address: string) => address.replace(/^https?:\/\/(www\.)?|\/+$/gi, '').toLowerCase();
  if (name === 'siteurl' || name === 'home') return bare(old) !== bare(value);
  return name === 'default_role' && (value === 'administrator' || powers?.includes(value) === true);
}

/** Without its roles no one may do anything on a site. What was set in a theme that is no longer active is left behind. */
function held(before: GuardLedger, now: GuardLedger): Difference[] {
  const there = new Set(now.held);
  const stylesheet = ({ vital }: GuardLedger) => vital.find(({ name }) => name === 'stylesheet')?.value;
  const sameTheme = stylesheet(before) === stylesheet(now);
  const gone = before.held.filter((name) => !there.has(name) && (sameTheme || !name.startsWith('theme_mods_')));
  return gone.map((name) => ({
    severity: name === `${before.prefix}user_roles` ? 'broken' : 'suspect',
    key: `option ${name}`,
    say: () => `The option ${siteWord(name)} is gone.`,
    mend: { options: [name] },
  }));
}

function options(before: GuardLedger, now: GuardLedger): Difference[] {
  const lost = before.options - now.options;
  if (lost < OPTIONS_LOST) return [];
  const say = () => `${lost} of ${before.options} options have been deleted.`;
  return [{ severity: 'suspect', key: 'options', say }];
}

function plugins(before: GuardLedger, now: GuardLedger, { slugs }: LedgerContext): Difference[] {
  const folder = (slug: string) => slug.replace(/\/.*|\.php$/g, '');
  const own = new Set(slugs.map(folder));
  const others = (from: GuardLedger, without: GuardLedger) => {
    const known = new Set(without.active);
    return from.active.filter((slug) => !known.has(slug) && !own.has(folder(slug))).map((slug) => ({ slug }));
  };
  return [
    ...listed('suspect', 'plugins off', 'Other plugins have been deactivated', others(before, now), 'slug'),
    ...listed('suspect', 'plugins on', 'Other plugins have been activated', others(now, before), 'slug'),
  ];
}

function files(before: GuardLedger, now: GuardLedger, { core }: LedgerContext): Difference[] {
  const then = new Map(before.files.map(({ name, sha256 }) => [name, sha256]));
  const current = new Map(now.files.map(({ name, sha256 }) => [name, sha256]));
  const names = [...new Set([...then.keys(), ...current.keys()])].filter(
    (name) => then.get(name) !== current.get(name) && !(core && CORE_FILES.test(name)),
  );
  return names.map((name) => {
    const kind = DROP_INS.includes(name) ? 'drop-in' : STEERING.test(name) ? 'file' : 'file of PHP';
    const done = !then.has(name) ? 'has been added' : current.has(name) ? 'has been changed' : 'has been removed';
    const say = () => `The ${kind} ${siteWord(name)} ${done}.`;
    return { severity: 'suspect', key: `file ${name}`, say, mend: { files: [name] } };
  });
}

/** Single events go once they have run. */
function events(before: GuardLedger, now: GuardLedger, { core }: LedgerContext): Difference[] {
  const left = new Set(now.events.map(({ hook }) => hook));
  /** Hook → whether one of its events lasts. */
  const gone = new Map<string, boolean>();
  for (const { hook, schedule } of before.events)
    if (schedule !== '' && !left.has(hook) && !(core && CORE_EVENTS.test(hook)))
      gone.set(hook, gone.get(hook) === true || LASTING.includes(schedule));
  const findings = (key: string, lasts: boolean) => {
    const hooks = [...gone].flatMap(([hook, known]) => (known === lasts ? [{ hook }] : []));
    const mend = { events: hooks.map(({ hook }) => hook) };
    return listed('suspect', key, 'Scheduled events are gone', hooks, 'hook').map((one) => ({ ...one, mend }));
  };
  const passing = findings('events of queues', false);
  return [...findings('events', true), ...passing.map((one) => ({ ...one, hearsay: true as const }))];
}

/** A form, a shop or a login sends as many as visitors want. */
function mails(before: GuardLedger, now: GuardLedger): Difference[] {
  const sent = now.mails - before.mails;
  const say = () => `It has sent ${sent} mails.`;
  return sent <= MAILS ? [] : [{ severity: 'suspect', key: 'mails', say, hearsay: true }];
}

/** One finding for all of a kind, with the names of the first. */
function listed<K extends string>(
  severity: Severity,
  key: string,
  what: string,
  all: readonly Record<K, string>[],
  name: K,
): Difference[] {
  if (all.length === 0) return [];
  const names = () => all.slice(0, NAMED).map((one) => siteWord(one[name]));
  const more = all.length > NAMED ? ` and ${all.length - NAMED} more` : '';
  return [{ severity, key, say: () => `${what}: ${names().join(', ')}${more}.` }];
}
