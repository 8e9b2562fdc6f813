/** The simulated plugin for backups: the files and tables of a site, read and restored as the real one does. */

import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { DemoSite } from '../site.js';
import type { BackupState, Restore, StoredFile } from './types.js';

type Fields = Record<string, unknown>;

export const BACKUP_ACTIONS = new Set([
  ...['manifest', 'read', 'digest', 'tables', 'rows', 'strays'],
  ...['restoring', 'stage', 'plan', 'write', 'load', 'swap', 'back', 'finish'],
]);

const PAGE = 500;
const MAX_READ = 2 * 1024 * 1024;
const SLICE = 512 * 1024;
const MAX_ROW = 8 * 1024 * 1024;

/** Puts a file onto the site, in place of one of that name. */
export function putFile(state: BackupState, path: string, bytes: Buffer, time: number): void {
  state.files.set(path, { bytes, time, inode: ++state.inode });
}

/** The plugin as it is just installed. Plugins of the same version have the same files on every site. */
export function putBackupPlugin(site: DemoSite, version: string): BackupState {
  const [files, tables] = [new Map(), new Map()];
  const state: BackupState = { version, files, tables, restore: null, read: 0, gentle: 0, sentRows: 0, inode: 0 };
  const { plugins, themes, posts, users } = site.inner;
  const time = Math.floor(site.now() / 1000) - 86_400;
  for (const { slug, version: of, mustUse } of plugins) {
    if (mustUse) continue;
    const folder = slug.split('/')[0];
    putFile(state, `wp-content/plugins/${slug}`, Buffer.from(`<?php // ${slug} ${of}\n`), time);
    putFile(state, `wp-content/plugins/${folder}/readme.txt`, Buffer.from(`${slug} ${of}\n`.repeat(400)), time);
  }
  for (const { slug, version: of } of themes)
    putFile(state, `wp-content/themes/${slug}/style.css`, Buffer.from(`/* ${slug} ${of} */\n`), time);
  putFile(state, 'wp-content/uploads/2026/a b 🌱.txt', Buffer.from(`Upload of ${site.url}\n`), time);
  putFile(state, 'index.php', Buffer.from('<?php // WordPress\n'), time);
  state.tables.set('wp_options', [JSON.stringify(['1', 'siteurl', site.url])]);
  state.tables.set(
    'wp_posts',
    posts.map(({ id, title, content }) => JSON.stringify([String(id), title, content])),
  );
  state.tables.set(
    'wp_users',
    users.map(({ id, login }) => JSON.stringify([String(id), login])),
  );
  return state;
}

/** Executes an action. Undefined: the request is not one that the plugin accepts. */
export function actOnBackup(state: BackupState, action: string, asked: Fields): Fields | undefined {
  if (asked.rest === true) state.gentle += 1;
  switch (action) {
    case 'manifest':
      return manifest(state, decodeURIComponent(String(asked.after)));
    case 'strays':
      return { folders: [], paths: [], count: 0, whole: true };
    case 'read':
      return read(state, asked.parts as [string, number, number][]);
    case 'digest':
      return { digests: (asked.paths as string[]).map((path) => digestOf(state.files.get(path)?.bytes)) };
    case 'tables':
      return tables(state);
    case 'rows':
      return rows(state, asked.ranges as Range[]);
    case 'stage':
      return stage(state, asked);
    case 'restoring':
      return restoring(state);
    default:
      return state.restore !== null && state.restore.id === asked.job
        ? onRestore(state, state.restore, action, asked)
        : action === 'finish'
          ? { finished: true }
          : undefined;
  }
}

function sorted(state: BackupState): [string, StoredFile][] {
  return [...state.files].sort(([a], [b]) => inOrder(a, b));
}

/** As the plugin walks: folder by folder, names by their bytes. */
function inOrder(a: string, b: string): number {
  const [one, other] = [a, b].map((path) => Buffer.from(path.replaceAll('/', '\0')));
  return Buffer.compare(one as Buffer, other as Buffer);
}

function manifest(state: BackupState, after: string): Fields {
  const left = sorted(state).filter(([path]) => inOrder(path, after) > 0);
  const page = left.slice(0, PAGE);
  return {
    entries: page.map(([path, { bytes, time, inode }]) => [path, bytes.length, time, inode, time, 0o644]),
    left_out: [],
    next: left.length > PAGE ? encodeURIComponent(page.at(-1)?.[0] ?? '') : null,
  };
}

function read(state: BackupState, asked: readonly [string, number, number][]): Fields {
  const data: Buffer[] = [];
  let room = MAX_READ;
  const parts: Fields[] = [];
  for (const [path, offset, length] of asked) {
    if (room <= 0) break;
    const file = state.files.get(path);
    const bytes = file?.bytes.subarray(offset, offset + Math.min(length, room));
    if (file === undefined || bytes === undefined) {
      parts.push({ error: 'gone' });
      continue;
    }
    data.push(bytes);
    room -= bytes.length;
    state.read += bytes.length;
    parts.push({ length: bytes.length, size: file.bytes.length, time: file.time, inode: file.inode, changed: false });
  }
  return { parts, ...packed(Buffer.concat(data)) };
}

function tables(state: BackupState): Fields {
  const listed = [...state.tables].map(([name, lines]) => ({
    name,
    engine: 'InnoDB',
    rows: lines.length,
    bytes: lines.join('\n').length,
    create: createOf(name, lines),
    ordered: true,
  }));
  return { prefix: 'wp_', server: 'simulated', tables: listed, others: [] };
}

/** By its first row: the key, then texts. */
function createOf(name: string, [first = '[""]']: readonly string[]): string {
  const texts = (JSON.parse(first) as unknown[]).slice(1).map((_, at) => `  \`text_${at + 1}\` longtext,\n`);
  return `CREATE TABLE \`${name}\` (\n  \`id\` bigint NOT NULL,\n${texts.join('')}  PRIMARY KEY (\`id\`)\n) ENGINE=InnoDB`;
}

interface Range {
  table: string;
  after: string[] | null;
  to: string[] | null;
  sha256?: string;
}

function rows(state: BackupState, ranges: readonly Range[]): Fields {
  const slices: Fields[] = [];
  const data: Buffer[] = [];
  for (const [range, { table, after, to, sha256 }] of ranges.entries()) {
    if (data.reduce((sum, { length }) => sum + length, 0) + SLICE > MAX_READ) break;
    const all = (linesOf(state, table) ?? []).filter((line) => {
      const key = keyOf(line);
      return (after === null || key > numberOf(after)) && (to === null || key <= numberOf(to));
    });
    const lines = all.filter((line) => Buffer.byteLength(line) <= MAX_ROW);
    const left_out = all.filter((line) => !lines.includes(line)).map((line) => `id ${keyOf(line)}`);
    const text = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    const digest = digestOf(text);
    const same = digest === sha256;
    const facts = { rows: lines.length, bytes: text.length, sha256: digest, same, left_out };
    slices.push({ range, after, to, end: true, ...facts });
    if (same) continue;
    data.push(text);
    state.sentRows += text.length;
  }
  return { slices, ...packed(Buffer.concat(data)) };
}

/** Rows of a live table, or of one that is being restored. */
function linesOf(state: BackupState, table: string): string[] | undefined {
  const place = /^sfr_[0-9a-f]{8}_n(\d+)$/.exec(table)?.[1];
  return place === undefined
    ? state.tables.get(table)
    : state.restore?.loaded.get(state.restore.tables[Number(place)] ?? '');
}

const keyOf = (line: string) => Number((JSON.parse(line) as string[])[0]);
const numberOf = ([hex = '']: readonly string[]) => Number(Buffer.from(hex, 'hex').toString());

function stage(state: BackupState, { job, tables: names }: Fields): Fields | undefined {
  if (state.restore !== null && state.restore.id !== job) return undefined;
  state.restore ??= {
    id: String(job),
    phase: 'staging',
    tables: names as string[],
    entries: [],
    written: new Map(),
    loaded: new Map(),
    row: Buffer.alloc(0),
    before: null,
  };
  return restoring(state);
}

function restoring({ restore }: BackupState): Fields {
  return { job: restore === null ? null : { id: restore.id, phase: restore.phase, tables: restore.tables.length } };
}

function onRestore(state: BackupState, restore: Restore, action: string, asked: Fields): Fields | undefined {
  switch (action) {
    case 'plan':
      restore.entries = [...restore.entries.slice(0, Number(asked.from)), ...(asked.entries as [string, string][])];
      return { planned: restore.entries.length };
    case 'write':
      return { digests: write(restore, asked) };
    case 'load':
      return load(restore, asked);
    case 'swap':
      if (restore.phase === 'staging') swap(state, restore);
      return restoring(state);
    case 'back':
      if (restore.before !== null) ({ files: state.files, tables: state.tables } = restore.before);
      restore.phase = 'staging';
      return restoring(state);
    case 'finish':
      state.restore = null;
      return { finished: true };
    default:
      return undefined;
  }
}

/** Undefined: a line is no row, or a part does not follow the one before. */
function load(restore: Restore, asked: Fields): Fields | undefined {
  const name = String(asked.table);
  const table = `sfr_${restore.id.slice(0, 8)}_n${restore.tables.indexOf(name)}`;
  let bytes = unpacked(asked);
  if (asked.part !== undefined) {
    const [offset = 0, size = 0] = asked.part as number[];
    if (offset > restore.row.length || offset + bytes.length > size || size > MAX_ROW + 1) return undefined;
    restore.row = Buffer.concat([restore.row.subarray(0, offset), bytes]);
    if (restore.row.length < size) return { table, rows: 0 };
    bytes = restore.row;
  }
  const lines = bytes.toString().split('\n').filter(Boolean);
  if (!lines.every(isRow)) return undefined;
  const before = asked.create === undefined ? (restore.loaded.get(name) ?? []) : [];
  restore.loaded.set(name, [...before, ...lines]);
  return { table, rows: lines.length };
}

function isRow(line: string): boolean {
  try {
    return Array.isArray(JSON.parse(line));
  } catch {
    return false;
  }
}

function write(restore: Restore, asked: Fields): (string | null)[] {
  const data = unpacked(asked);
  let at = 0;
  return (asked.files as number[][]).map(([index = 0, offset = 0, length = 0, size = 0]) => {
    const before = restore.written.get(index)?.subarray(0, offset) ?? Buffer.alloc(0);
    const bytes = Buffer.concat([before, data.subarray(at, at + length)]);
    restore.written.set(index, bytes);
    at += length;
    return bytes.length >= size ? digestOf(bytes) : null;
  });
}

function swap(state: BackupState, restore: Restore): void {
  restore.before = { files: new Map(state.files), tables: new Map(state.tables) };
  for (const [index, [path, what]] of restore.entries.entries()) {
    if (what === 'remove') state.files.delete(path);
    else putFile(state, path, restore.written.get(index) ?? Buffer.alloc(0), 0);
  }
  for (const [name, lines] of restore.loaded) state.tables.set(name, lines);
  restore.phase = 'swapped';
}

function digestOf(bytes: Buffer | undefined): string | null {
  return bytes === undefined ? null : createHash('sha256').update(bytes).digest('hex');
}

function packed(bytes: Buffer): Fields {
  return { data: deflateRawSync(bytes).toString('base64'), deflated: true };
}

function unpacked({ data, deflated }: Fields): Buffer {
  const bytes = Buffer.from(String(data), 'base64');
  return deflated === true ? inflateRawSync(bytes) : bytes;
}
