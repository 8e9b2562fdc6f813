/**
 * Packs: files that hold many sealed chunks, since most files of a site are small. A pack ends with a sealed list of
 * its chunks, so that the index can be made again from the packs alone.
 */

import { createHash } from 'node:crypto';
import { RepositoryError } from '../../../runtime/repository-error.js';
import type { Backend } from './folder.js';
import type { Sealer } from './seal.js';

/** Where a chunk is. `length` as it is stored, `bytes` as it was. */
export interface PackedChunk {
  chunk: string;
  offset: number;
  length: number;
  bytes: number;
}

const HEAD = Buffer.from('SFPACK01');
const TAIL = Buffer.from('SFPACKED');
const LENGTH_BYTES = 4;
/** Larger lists are not ours. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;
/** A pack is written once it is this large, or has so many chunks that its list is long. */
const PACK_BYTES = 8 * 1024 * 1024;
const PACK_CHUNKS = 50_000;

/** Collects sealed chunks into one pack. */
export class PackWriter {
  readonly chunks: PackedChunk[] = [];
  readonly #parts: Buffer[] = [HEAD];
  #bytes = HEAD.length;

  get isFull(): boolean {
    return this.#bytes >= PACK_BYTES || this.chunks.length >= PACK_CHUNKS;
  }

  add(chunk: string, bytes: number, sealed: Buffer): void {
    this.chunks.push({ chunk, offset: this.#bytes, length: sealed.length, bytes });
    this.#parts.push(sealed);
    this.#bytes += sealed.length;
  }

  /** The whole pack. Its name is the digest of its bytes, so that it can be checked without the key. */
  async finish(sealer: Sealer): Promise<{ name: string; bytes: Buffer }> {
    const rows = this.chunks.map(({ chunk, offset, length, bytes }) => [chunk, offset, length, bytes]);
    const list = await sealer.seal(Buffer.from(JSON.stringify(rows)), 'list of a pack');
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(list.length);
    const bytes = Buffer.concat([...this.#parts, list, length, TAIL]);
    return { name: nameOf(bytes), bytes };
  }
}

function nameOf(pack: Uint8Array): string {
  return createHash('sha256').update(pack).digest('hex');
}

/** Whether these are the bytes that were stored as the pack of this name. */
export function isSound(pack: Uint8Array, name: string): boolean {
  return nameOf(pack) === name;
}

/** The place of a pack in the repository. */
export function packPath(name: string): string {
  return `packs/${name.slice(0, 2)}/${name}`;
}

/** The chunks of a stored pack, by its own list. @throws RepositoryError `missing`, `damaged` */
export async function listPack(backend: Backend, sealer: Sealer, name: string, size: number): Promise<PackedChunk[]> {
  const end = LENGTH_BYTES + TAIL.length;
  const broken = () => new RepositoryError('damaged', `Pack ${name} in the backup repository is damaged.`);
  if (size < HEAD.length + end) throw broken();
  const tail = await backend.part(packPath(name), size - end, end);
  const length = tail.readUInt32BE(0);
  if (!tail.subarray(LENGTH_BYTES).equals(TAIL) || length > Math.min(MAX_LIST_BYTES, size - end)) throw broken();
  const list = await sealer.open(await backend.part(packPath(name), size - end - length, length), 'list of a pack');
  const rows = JSON.parse(list.toString('utf8')) as [string, number, number, number][];
  return rows.map(([chunk, offset, stored, bytes]) => ({ chunk, offset, length: stored, bytes }));
}
