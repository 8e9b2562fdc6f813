/** Parses and checks the guard's answers: everything behind it has these types. */

import { isObject } from '../../runtime/plain-json.js';

export type GuardKind = 'plugin' | 'theme';

/** A copy of an item kept by the guard. */
export interface GuardSnapshot {
  id: string;
  /** Taken on request, or the broken version that a restore replaced. */
  role: 'snapshot' | 'replaced';
  kind: GuardKind;
  slug: string;
  /** From the item's header; '' if absent. */
  version: string;
  /** Unix seconds. */
  created: number;
  files: number;
  bytes: number;
  /** SHA-256 over names, sizes and contents. */
  digest: string;
  /**
   * Files that are not code, of which there is no copy: `long` of them as their paths are too long to be restored, the others as the item is
   * too large. `largest` are a few of them.
   */
  left_out: { files: number; bytes: number; long: number; largest: readonly string[] } | null;
}

export interface GuardArmed {
  snapshot: string;
  kind: GuardKind;
  slug: string;
  /** Unix seconds. */
  at: number;
  until: number;
}

/** A running WordPress update of an item. */
export interface GuardUpdating {
  kind: GuardKind;
  slug: string;
  /** Unix seconds. */
  since: number;
}

export interface GuardHello {
  guard: string;
  wordpress: string;
  php: string;
  multisite: boolean;
  free_bytes: number | null;
  writable: { store: boolean; plugins: boolean; themes: boolean; mu_plugins: boolean };
  /** False = the owner forbids file changes (DISALLOW_FILE_MODS): nothing can be kept or restored. */
  file_mods: boolean;
  opcache: boolean;
  /** WordPress shows its maintenance page to every visitor. */
  maintenance: boolean;
  /** Updates of plugins and themes that a living process is running. */
  updating: GuardUpdating[];
  /** Drop-ins of the site that may hide fatal errors from the watchdog. */
  drop_ins: string[];
  /**
   * Visits that reached PHP in the last whole days, at most 7, estimated from a sample; null = no whole day was counted
   * yet.
   */
  visits: { days: number; count: number } | null;
  login: boolean;
  /** Version of the plugin for backups; null = it is not there. */
  backup: string | null;
  armed: GuardArmed[];
}

export interface GuardRestored {
  snapshot: GuardSnapshot;
  /** The item already matched the snapshot; nothing was done. */
  already: boolean;
  /** The replaced version, kept as evidence; null if it could not be kept. */
  replaced: GuardSnapshot | null;
  /** The item is active by WordPress' settings. A restore does not change them. */
  active: boolean;
  maintenance: boolean;
  ms: number;
}

/** A fatal error seen by the guard. Without request data; paths are relative to WordPress. */
export interface GuardFault {
  /** Unix seconds: last and first occurrence. */
  time: number;
  first: number;
  count: number;
  message: string;
  file: string;
  line: number;
  kind: GuardKind | 'mu-plugin' | null;
  /** Folder or file of the plugin or theme that contains the file. */
  item: string | null;
  /** It came from an armed item. */
  armed: boolean;
  /** Snapshot of the armed item that the error or a frame of its stack lies in; null = of none. */
  blames: string | null;
  /** Last time that it ended a request of Sitefleet itself, in unix seconds; null = only visitors' requests. */
  ours: number | null;
  /** The last such request ran WordPress' scheduled tasks. */
  cron: boolean;
  /** Snapshot that the watchdog restored because of it. */
  restored: string | null;
  /** Why the watchdog did not restore: resources, known, updating, visitor, file_mods, or the code of a failed restore. */
  waited: string | null;
}

/** What an update may change besides its own files, at one moment. Names, counts and digests; no contents. */
export interface GuardLedger {
  /** Version of WordPress itself. */
  wordpress: string;
  /** What the names of WordPress' own tables begin with. */
  prefix: string;
  /** `rows`: exact up to 1,000; 1,001 = more; null = not counted. */
  tables: { name: string; rows: number | null }[];
  /** How many, without transients. */
  options: number;
  /** Values of a few settings; null = there is no such option. */
  vital: { name: string; value: string | null }[];
  /** Options that only matter by being there. */
  held: string[];
  /** Slugs of the active plugins. */
  active: string[];
  /** Files that run or steer, outside of plugins and themes. */
  files: { name: string; sha256: string }[];
  /** Scheduled events; the schedule of single ones is ''. */
  events: { hook: string; schedule: string }[];
  /** Who may change the site's settings. `mail` is a keyed hash. */
  administrators: { id: number; login: string; mail: string }[];
  roles: { role: string; users: number }[];
  /** Roles whose users may change the site's settings; null = a guard before 1.9.0 does not say. */
  powers: string[] | null;
  /** Mails that armed items have sent so far. */
  mails: number;
}

/** Names of what is restored. */
export interface Mendable {
  files: string[];
  options: string[];
  /** Hooks. */
  events: string[];
}

export const MENDABLE = ['files', 'options', 'events'] as const satisfies (keyof Mendable)[];

/** An answer that lacks required members. */
export class GuardShapeError extends Error {}

type Fields = Record<string, unknown>;

export function snapshotOf(value: unknown): GuardSnapshot {
  const from = fieldsOf(value, 'snapshot');
  return {
    id: hex(from, 'id', 32),
    role: oneOf(from, 'role', ['snapshot', 'replaced'] as const),
    kind: kindOf(from),
    slug: text(from, 'slug', 400),
    version: text(from, 'version', 200),
    created: time(from, 'created'),
    files: number(from, 'files'),
    bytes: number(from, 'bytes'),
    digest: hex(from, 'digest', 64),
    left_out: from.left_out === undefined ? null : leftOutOf(from.left_out),
  };
}

function leftOutOf(value: unknown): GuardSnapshot['left_out'] {
  const from = fieldsOf(value, 'left_out');
  const largest = list(from, 'largest', 10).filter((name) => typeof name === 'string');
  // Only named where there are such, and by guards since 1.8.1.
  const long = from.long === undefined ? 0 : number(from, 'long');
  return { files: number(from, 'files'), bytes: number(from, 'bytes'), long, largest };
}

export function snapshotsOf(value: Fields): GuardSnapshot[] {
  return list(value, 'snapshots', 10_000).map(snapshotOf);
}

export function armedOf(value: Fields): GuardArmed[] {
  return list(value, 'armed', 1_000).map((one) => {
    const from = fieldsOf(one, 'armed');
    return {
      snapshot: hex(from, 'snapshot', 32),
      kind: kindOf(from),
      slug: text(from, 'slug', 400),
      at: time(from, 'at'),
      until: time(from, 'until'),
    };
  });
}

function updatingOf(value: Fields): GuardUpdating[] {
  return list(value, 'updating', 1_000).map((one) => {
    const from = fieldsOf(one, 'updating');
    return { kind: kindOf(from), slug: text(from, 'slug', 400), since: time(from, 'since') };
  });
}

export function helloOf(value: Fields): GuardHello {
  const writable = fieldsOf(value.writable, 'writable');
  return {
    guard: text(value, 'guard', 40),
    wordpress: text(value, 'wordpress', 40),
    php: text(value, 'php', 80),
    multisite: flag(value, 'multisite'),
    free_bytes: value.free_bytes === null ? null : number(value, 'free_bytes'),
    writable: {
      store: flag(writable, 'store'),
      plugins: flag(writable, 'plugins'),
      themes: flag(writable, 'themes'),
      mu_plugins: flag(writable, 'mu_plugins'),
    },
    file_mods: flag(value, 'file_mods'),
    opcache: flag(value, 'opcache'),
    maintenance: flag(value, 'maintenance'),
    updating: updatingOf(value),
    drop_ins: list(value, 'drop_ins', 10).map((one) => word(one, 'drop_ins', 100)),
    visits: visitsOf(value),
    login: flag(value, 'login'),
    backup: value.backup === null ? null : text(value, 'backup', 40),
    armed: armedOf(value),
  };
}

function visitsOf({ visits }: Fields): GuardHello['visits'] {
  if (visits === null) return null;
  const from = fieldsOf(visits, 'visits');
  const [days, count] = [number(from, 'days'), number(from, 'count')];
  if (!(days >= 1 && days <= 7 && count >= 0)) throw new GuardShapeError(`The guard's answer has no usable "visits".`);
  return { days, count };
}

export function restoredOf(value: Fields): GuardRestored {
  return {
    snapshot: snapshotOf(value.snapshot),
    already: flag(value, 'already'),
    replaced: value.replaced === null ? null : snapshotOf(value.replaced),
    active: flag(value, 'active'),
    maintenance: flag(value, 'maintenance'),
    ms: number(value, 'ms'),
  };
}

/** `hide` takes secrets out of the errors: PHP names the arguments of functions in them. */
export function faultsOf(value: Fields, hide = (text: string) => text): GuardFault[] {
  return list(value, 'faults', 100).map((one) => {
    const from = fieldsOf(one, 'faults');
    return {
      time: time(from, 'time'),
      first: time(from, 'first'),
      count: number(from, 'count'),
      message: hide(text(from, 'message', LONGEST_FAULT)).slice(0, 2_000),
      file: text(from, 'file', 4_096),
      line: number(from, 'line'),
      kind: from.kind === null ? null : oneOf(from, 'kind', ['plugin', 'theme', 'mu-plugin'] as const),
      item: from.item === null ? null : text(from, 'item', 400),
      armed: flag(from, 'armed'),
      blames: from.blames === null ? null : hex(from, 'blames', 32),
      ours: from.ours === null ? null : time(from, 'ours'),
      cron: flag(from, 'cron'),
      restored: from.restored === null ? null : hex(from, 'restored', 32),
      waited: from.waited === null ? null : text(from, 'waited', 40),
    };
  });
}

/** As long as an answer may be: what is cut off could leave the beginning of a secret. */
const LONGEST_FAULT = 1_048_576;
/** Seconds, of the last instant that a date can have. */
const LAST_TIME = 8.64e12;
/** Entries of the lists of a ledger: as many as the guard sends. */
const LISTED = 2_000;
const VITAL = 50;

export function ledgerOf(answer: Fields): GuardLedger {
  const value = fieldsOf(answer.ledger, 'ledger');
  const all = <T>(name: string, read: (from: Fields) => T): T[] =>
    list(value, name, LISTED).map((one) => read(fieldsOf(one, name)));
  return {
    wordpress: text(value, 'wordpress', 40),
    prefix: text(value, 'prefix', 200),
    tables: all('tables', (from) => ({
      name: text(from, 'name', 200),
      rows: from.rows === null ? null : number(from, 'rows'),
    })),
    options: number(value, 'options'),
    vital: Object.entries(fieldsOf(value.vital, 'vital'))
      .slice(0, VITAL)
      .map(([name, stored]) => ({ name, value: typeof stored === 'string' ? stored.slice(0, 2_000) : null })),
    held: texts(value, 'held'),
    active: texts(value, 'active'),
    files: all('files', (from) => ({ name: text(from, 'name', 400), sha256: text(from, 'sha256', 64) })),
    events: all('events', (from) => ({ hook: text(from, 'hook', 400), schedule: text(from, 'schedule', 200) })),
    administrators: all('administrators', (from) => ({
      id: number(from, 'id'),
      login: text(from, 'login', 200),
      mail: text(from, 'mail', 64),
    })),
    roles: all('roles', (from) => ({ role: text(from, 'role', 200), users: number(from, 'users') })),
    powers: value.powers === undefined ? null : texts(value, 'powers'),
    mails: number(value, 'mails'),
  };
}

export function mendedOf(answer: Fields): Mendable {
  const value = fieldsOf(answer.mended, 'mended');
  return { files: texts(value, 'files'), options: texts(value, 'options'), events: texts(value, 'events') };
}

function texts(from: Fields, name: string): string[] {
  return list(from, name, LISTED).map((one) => word(one, name, 400));
}

export function sandboxOf(answer: Fields): string[] {
  return texts(answer, 'looks');
}

export function tokenOf(value: Fields): { token: string; until: number } {
  return { token: hex(value, 'token', 64), until: time(value, 'until') };
}

export function flag(from: Fields, name: string): boolean {
  const value = from[name];
  return typeof value === 'boolean' ? value : wrong(name);
}

function fieldsOf(value: unknown, name: string): Fields {
  return isObject(value) ? value : wrong(name);
}

function list(from: Fields, name: string, most: number): unknown[] {
  const value = from[name];
  return Array.isArray(value) && value.length <= most ? value : wrong(name);
}

function text(from: Fields, name: string, most: number): string {
  const value = from[name];
  return typeof value === 'string' ? value.slice(0, most) : wrong(name);
}

/** A text, or a number: PHP makes one of a name of digits. An object may have a `toString` that is no function. */
function word(one: unknown, name: string, most: number): string {
  return typeof one === 'string' || typeof one === 'number' ? String(one).slice(0, most) : wrong(name);
}

function number(from: Fields, name: string): number {
  const value = from[name];
  return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : wrong(name);
}

/** Unix seconds, of which a date can be made. */
function time(from: Fields, name: string): number {
  const value = number(from, name);
  return Math.abs(value) <= LAST_TIME ? value : wrong(name);
}

function hex(from: Fields, name: string, length: number): string {
  const value = from[name];
  return typeof value === 'string' && value.length === length && /^[0-9a-f]+$/.test(value) ? value : wrong(name);
}

function oneOf<T extends string>(from: Fields, name: string, values: readonly T[]): T {
  return values.find((one) => one === from[name]) ?? wrong(name);
}

function kindOf(from: Fields): GuardKind {
  return oneOf(from, 'kind', ['plugin', 'theme'] as const);
}

function wrong(name: string): never {
  throw new GuardShapeError(`The guard's answer has no usable "${name}".`);
}
