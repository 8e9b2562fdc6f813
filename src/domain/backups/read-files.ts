/** Reads the files of a site that a backup does not have yet. */

import { createHash } from 'node:crypto';
import type { FilePart, SiteFile } from '../../outbound/guard/guards.js';
import type { ChunkWriter } from '../../store/backups/repository/types.js';
import type { SiteBackup } from './plugin.js';
import type { BackedUpFile } from './snapshot.js';

/** Files are cut into chunks of this size, smaller ones are one: what is appended to a large file adds only its end. */
const CHUNK_BYTES = 1024 * 1024;
/** Of one request: what the plugin reads at most, and so many files. */
const REQUEST_BYTES = 2 * CHUNK_BYTES;
const REQUEST_FILES = 300;
/** A file that changes while it is read is read so many times. */
const ATTEMPTS = 3;
export const EMPTY_SHA256 = createHash('sha256').digest('hex');

export interface FilesRead {
  /** Of the listing, in its order; without those that are gone. */
  file: BackedUpFile;
  /** Bytes that were sent by the site. */
  bytes: number;
  /** It changed each time it was read: what is stored may never have been the whole file. */
  unstable: boolean;
}

export interface ReadFilesParts {
  site: SiteBackup;
  writer: ChunkWriter;
  signal: AbortSignal;
  /** Before each request: waits where the site is slow, and notes that the backup is at work. */
  turn: () => Promise<void>;
  /** Files that could not be read. */
  unreadable: (path: string) => void;
}

/** Yields each file once it has been put. Small files share requests. */
export async function* readSiteFiles(files: readonly SiteFile[], parts: ReadFilesParts): AsyncGenerator<FilesRead> {
  for (let at = 0; at < files.length; ) {
    const group = groupAt(files, at);
    at += group.length;
    const [first] = group;
    if (group.length === 1 && first !== undefined && first.size > CHUNK_BYTES) {
      const read = await readWhole(first, parts);
      if (read !== null) yield read;
      continue;
    }
    yield* readSmall(group, parts);
  }
}

/** The next files that are read together: one large one, or small ones that fit into a request. */
function groupAt(files: readonly SiteFile[], at: number): SiteFile[] {
  const group: SiteFile[] = [];
  let bytes = 0;
  for (const file of files.slice(at, at + REQUEST_FILES)) {
    if (file.size > CHUNK_BYTES || bytes + file.size > REQUEST_BYTES) {
      if (group.length === 0) group.push(file);
      break;
    }
    group.push(file);
    bytes += file.size;
  }
  return group;
}

async function* readSmall(group: readonly SiteFile[], parts: ReadFilesParts): AsyncGenerator<FilesRead> {
  let left = [...group];
  while (left.length > 0) {
    await parts.turn();
    // One byte more tells a file that has grown.
    const answers = await parts.site.read(
      left.map(({ path, size }) => [path, 0, size + 1]),
      { signal: parts.signal },
    );
    for (const [index, answer] of answers.entries()) {
      const file = left[index];
      if (file === undefined) break;
      if (answer.error !== undefined) {
        if (answer.error !== 'gone') parts.unreadable(file.path);
      } else if (isSame(file, answer) && answer.bytes.length === file.size) {
        yield await stored(file, answer.bytes, parts.writer);
      } else {
        // It has changed since it was listed: as a whole, and again.
        const read = await readWhole({ ...file, size: answer.size, time: answer.time, inode: answer.inode }, parts);
        if (read !== null) yield read;
      }
    }
    left = left.slice(answers.length);
  }
}

type ReadPart = Exclude<FilePart, { error: string }>;

function isSame(file: Pick<SiteFile, 'size' | 'time' | 'inode'>, part: ReadPart): boolean {
  return !part.changed && part.size === file.size && part.time === file.time && part.inode === file.inode;
}

async function stored(file: SiteFile, bytes: Buffer, writer: ChunkWriter): Promise<FilesRead> {
  const chunks = bytes.length === 0 ? [] : [await writer.put(bytes)];
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { file: { ...file, sha256, chunks }, bytes: bytes.length, unstable: false };
}

/** Reads a file from its beginning to its end; one that changes meanwhile again, a few times. Null: it is gone. */
async function readWhole(listed: SiteFile, parts: ReadFilesParts): Promise<FilesRead | null> {
  let file = listed;
  let bytes = 0;
  for (let attempt = 1; ; attempt++) {
    const digest = createHash('sha256');
    const chunks: string[] = [];
    let [offset, stable] = [0, true];
    // A site may send as little at once as it likes: what is stored are pieces of the same size nevertheless.
    let pending = Buffer.alloc(0);
    // No further than it is long now: one that grows faster than it is read would have no end.
    const end = file.size;
    for (;;) {
      await parts.turn();
      const asked = Math.min(REQUEST_BYTES, end - offset);
      const [part] = await parts.site.read([[file.path, offset, asked]], { signal: parts.signal });
      if (part === undefined || part.error !== undefined) {
        if (part?.error !== 'gone') parts.unreadable(file.path);
        return null;
      }
      if (!isSame(file, part)) {
        stable = false;
        file = { ...file, size: part.size, time: part.time, inode: part.inode };
      }
      pending = Buffer.concat([pending, part.bytes]);
      for (; pending.length >= CHUNK_BYTES; pending = pending.subarray(CHUNK_BYTES))
        chunks.push(await parts.writer.put(pending.subarray(0, CHUNK_BYTES)));
      digest.update(part.bytes);
      offset += part.bytes.length;
      bytes += part.bytes.length;
      if (part.bytes.length === 0 || offset >= end || (!stable && attempt < ATTEMPTS)) break;
    }
    if ((stable && offset === file.size) || attempt === ATTEMPTS) {
      if (pending.length > 0) chunks.push(await parts.writer.put(pending));
      const whole = { ...file, size: offset, sha256: digest.digest('hex'), chunks };
      return { file: whole, bytes, unstable: !stable || offset !== file.size };
    }
  }
}
