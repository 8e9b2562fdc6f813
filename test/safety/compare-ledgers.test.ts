/** What counts as a finding in what an update has changed besides its own files. */

import { expect, it } from 'vitest';
import { compareLedgers } from '../../src/domain/updates/safe/compare-ledgers.js';
import { ledgerBefore, lookOutsideAtEnd } from '../../src/domain/updates/safe/outside.js';
import { type SafeRun, UNTRIED } from '../../src/domain/updates/safe/run-state.js';
import type { GuardLedger } from '../../src/outbound/guard/guards.js';

const BEFORE: GuardLedger = {
  wordpress: '6.1',
  prefix: 'wp_',
  tables: [
    { name: 'wp_options', rows: 1_001 },
    { name: 'wp_posts', rows: 1 },
    { name: 'wp_comments', rows: 1 },
    { name: 'wp_users', rows: 1_001 },
    { name: 'wp_orders', rows: 5 },
    { name: 'wp_shop_options', rows: 5 },
    { name: 'wp_few', rows: 4 },
    { name: 'wp_uncounted', rows: null },
    { name: 'wp_shop_sessions', rows: 800 },
    { name: 'wp_actionscheduler_logs', rows: 1_001 },
  ],
  options: 300,
  vital: [
    { name: 'siteurl', value: 'http://example.com' },
    { name: 'home', value: 'http://example.com' },
    { name: 'default_role', value: 'subscriber' },
    { name: 'users_can_register', value: '0' },
  ],
  active: ['own/own.php', 'other/other.php'],
  files: [
    { name: 'index.php', sha256: 'a' },
    { name: '.htaccess', sha256: 'b' },
    { name: 'wp-config.php', sha256: 'c' },
    { name: 'wp-content/object-cache.php', sha256: 'd' },
  ],
  events: [
    { hook: 'nightly', schedule: 'daily' },
    { hook: 'soon', schedule: '' },
    { hook: 'wp_old_check', schedule: 'daily' },
    { hook: 'wp_1_export_cron', schedule: 'wp_1_export_cron_interval' },
  ],
  administrators: [{ id: 1, login: 'admin', mail: 'x' }],
  roles: [{ role: 'administrator', users: 1 }],
  powers: ['administrator'],
  mails: 3,
  held: ['wp_user_roles', 'sidebars_widgets', 'theme_mods_plain'],
};

function found(now: Partial<GuardLedger>, context = { slugs: ['own/own.php'], core: false }): string[] {
  return compareLedgers(BEFORE, { ...BEFORE, ...now }, context).map(({ severity, key }) => `${severity} ${key}`);
}

const rows = (changes: Record<string, number | null>) => ({
  tables: BEFORE.tables.map(({ name, rows: old }) => ({ name, rows: changes[name] ?? old })),
});
const without = <T extends { name: string }>(all: readonly T[], ...names: string[]) =>
  all.filter(({ name }) => !names.includes(name));
const vital = (name: string, value: string) => ({
  vital: BEFORE.vital.map((one) => (one.name === name ? { name, value } : one)),
});
const file = (name: string, sha256: string) => ({
  files: [...without(BEFORE.files, name), ...(sha256 === '' ? [] : [{ name, sha256 }])],
});

it.each<[string, Partial<GuardLedger>]>([
  ['nothing', {}],
  ['more rows, and fewer', rows({ wp_orders: 900, wp_posts: 2, wp_options: 1, wp_users: 501 })],
  ['a table of its own', { tables: [...BEFORE.tables, { name: 'wp_new', rows: 0 }] }],
  ['an emptied table that had few rows', rows({ wp_few: 0 })],
  [
    'emptied and dropped logs, caches, sessions',
    { ...rows({ wp_shop_sessions: 0 }), tables: without(BEFORE.tables, 'wp_actionscheduler_logs') },
  ],
  ['a table that was not counted', rows({ wp_uncounted: 0 })],
  ['new options, and 99 fewer', { options: 201 }],
  [
    'new events, and a single one that has run',
    { events: [...BEFORE.events.filter(({ hook }) => hook !== 'soon'), { hook: 'own', schedule: 'daily' }] },
  ],
  ['its own plugin switched off, which is judged elsewhere', { active: ['other/other.php'] }],
  ['a role, and users', { roles: [...BEFORE.roles, { role: 'clerk', users: 3 }] }],
  ['20 mails', { mails: 23 }],
])('is no finding: %s', (_name, now) => {
  expect(found(now)).toEqual([]);
});

it('items after the hundredth that is open keep no record of their own, and what they are known to have changed', async () => {
  const finding = { severity: 'suspect' as const, key: 'table x', what: 'The table x has been dropped.' };
  const open = Array.from({ length: 100 }, (_, i) => ({ ...UNTRIED, ledger: { ...BEFORE, mails: i } }));
  const of = (items: object[]) => ({ open: items, ledger: BEFORE }) as unknown as SafeRun;
  expect(ledgerBefore(of(open.slice(1)))).toBe(BEFORE);
  expect(ledgerBefore(of(open))).toBeNull();
  const late = { ...UNTRIED, slug: 'a/a.php', ledger: null, outside: [finding] };
  const run = { ...of([late]), ctx: { signal: new AbortController().signal }, guard: { ledger: async () => BEFORE } };
  await lookOutsideAtEnd(run as unknown as SafeRun);
  expect(late.outside).toEqual([finding]);
});

it.each<[string, Partial<GuardLedger>, string[]]>([
  ['a dropped table', { tables: without(BEFORE.tables, 'wp_orders') }, ['suspect table wp_orders']],
  ['an emptied table', rows({ wp_orders: 0 }), ['suspect table wp_orders']],
  ['one with a vital name', { tables: without(BEFORE.tables, 'wp_shop_options') }, ['suspect table wp_shop_options']],
  ['a vital table dropped', { tables: without(BEFORE.tables, 'wp_posts') }, ['broken table wp_posts']],
  ['a vital table emptied', rows({ wp_posts: 0 }), ['broken table wp_posts']],
  ['most users gone', rows({ wp_users: 400 }), ['suspect table wp_users']],
  ['the only comment gone', rows({ wp_comments: 0 }), ['suspect table wp_comments']],
  ['100 options gone', { options: 200 }, ['suspect options']],
  ['the roles of all users gone', { held: ['sidebars_widgets', 'theme_mods_plain'] }, ['broken option wp_user_roles']],
  ['widgets gone', { held: ['wp_user_roles', 'theme_mods_plain'] }, ['suspect option sidebars_widgets']],
  ['settings of the theme gone', { held: ['wp_user_roles', 'sidebars_widgets'] }, ['suspect option theme_mods_plain']],
  ['another scheme', vital('siteurl', 'https://example.com'), ['suspect setting siteurl']],
  ['another address', vital('home', 'https://example.org'), ['broken setting home']],
  ['registration', vital('users_can_register', '1'), ['suspect setting users_can_register']],
  ['another role for all', vital('default_role', 'editor'), ['suspect setting default_role']],
  ['everyone an administrator', vital('default_role', 'administrator'), ['broken setting default_role']],
  ['a changed file', file('.htaccess', 'z'), ['suspect file .htaccess']],
  ['a removed drop-in', file('wp-content/object-cache.php', ''), ['suspect file wp-content/object-cache.php']],
  ['an added must-use plugin', file('wp-content/mu-plugins/x.php', 'z'), ['suspect file wp-content/mu-plugins/x.php']],
  ['vanished events', { events: [] }, ['suspect events', 'suspect events of queues']],
  [
    'another plugin off and one on',
    { active: ['own/own.php', 'third/third.php'] },
    ['suspect plugins off', 'suspect plugins on'],
  ],
  [
    'another address of an administrator',
    { administrators: [{ id: 1, login: 'admin', mail: 'y' }] },
    ['suspect administrators moved'],
  ],
  [
    'another administrator',
    { administrators: [{ id: 2, login: 'mallory', mail: 'y' }] },
    ['broken administrators added', 'suspect administrators gone'],
  ],
  ['a role that may administer', { powers: ['administrator', 'boss'] }, ['suspect powers']],
  ['one that nobody can give himself', { powers: ['administrator', 'subscriber'] }, ['suspect powers']],
  [
    'everyone an administrator by the role that all get',
    { ...vital('users_can_register', '1'), powers: ['administrator', 'subscriber'] },
    ['broken powers', 'suspect setting users_can_register'],
  ],
  [
    'another role for all, which may administer',
    { ...vital('default_role', 'boss'), powers: ['administrator', 'boss'] },
    ['broken setting default_role', 'suspect powers'],
  ],
  ['21 mails', { mails: 24 }, ['suspect mails']],
])('is a finding: %s', (_name, now, expected) => {
  expect(found(now)).toEqual(expected);
});

it('what a guard does not say of roles is not known, before or after', () => {
  const powers = ['administrator', 'subscriber'];
  const { powers: _, ...older } = BEFORE;
  const open = vital('users_can_register', '1');
  // As a run has kept it that began under the version before.
  for (const before of [{ ...BEFORE, powers: null }, older as GuardLedger])
    expect(compareLedgers({ ...before, ...open }, { ...BEFORE, ...open, powers }, { slugs: [], core: false })).toEqual(
      [],
    );
  expect(found({ powers: null })).toEqual([]);
});

it('WordPress may replace its own files and events, but not the configuration', () => {
  const core = { slugs: ['wordpress'], core: true };
  expect(found(file('index.php', 'z'), core)).toEqual([]);
  expect(found({ events: BEFORE.events.filter(({ hook }) => hook !== 'wp_old_check') }, core)).toEqual([]);
  expect(found(file('wp-config.php', 'z'), core)).toEqual(['suspect file wp-config.php']);
  expect(found(file('index.php', 'z'))).toEqual(['suspect file index.php']);
});

it('WordPress may also have been updated by its owner, or by itself', () => {
  expect(found({ ...file('index.php', 'z'), wordpress: '6.2' })).toEqual([]);
  expect(found({ ...file('wp-config.php', 'z'), wordpress: '6.2' })).toEqual(['suspect file wp-config.php']);
});

it('mails may be the doing of visitors, and the end of events that look after a queue', () => {
  const now = { ...BEFORE, ...file('.htaccess', 'z'), mails: 24, events: [] };
  const findings = compareLedgers(BEFORE, now, { slugs: [], core: false });
  expect(findings.map(({ key, hearsay }) => [key, hearsay])).toEqual([
    ['file .htaccess', undefined],
    ['events', undefined],
    ['events of queues', true],
    ['mails', true],
  ]);
});

it('says twenty changes, how many more there are, and has all of them restored', () => {
  const files = Array.from({ length: 1_000 }, (_, i) => ({ name: `wp-content/${i}.php`, sha256: 'x' }));
  const findings = compareLedgers({ ...BEFORE, files: [] }, { ...BEFORE, files }, { slugs: [], core: false });
  expect(findings).toHaveLength(21);
  expect(findings.at(-1)?.what).toBe('There are 980 more changes of this kind.');
  expect(findings.flatMap(({ mend }) => mend?.files ?? [])).toEqual(files.map(({ name }) => name));
});

it('names what a site calls itself as the words of the site, and only the first of many', () => {
  const administrators = Array.from({ length: 8 }, (_, i) => ({ id: i + 1, login: `Admin says: do ${i}`, mail: '' }));
  const [finding] = compareLedgers(
    { ...BEFORE, administrators: [] },
    { ...BEFORE, administrators },
    { slugs: [], core: false },
  );
  expect(finding?.what).toBe(
    'Administrators have been added: "Admin says: do 0", "Admin says: do 1", "Admin says: do 2", "Admin says: do 3", "Admin says: do 4" and 3 more.',
  );
});
