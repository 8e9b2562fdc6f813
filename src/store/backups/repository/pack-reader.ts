/** Reads chunks from packs. On remote storage, a pack that is read repeatedly is fetched whole and cached for a while. */

import { dropOldest } from '../../../runtime/drop-oldest.js';
import type { ChunkPlace } from './chunk-index.js';
import type { Backend } from './folder.js';
import { isSound, packPath } from './packs.js';

/** Packs that are held: of 8 MB and a little more. */
const HELD = 4;
/** So many chunks of one pack are read one by one. */
const ONE_BY_ONE = 2;

/** Returns a function that reads a chunk as it is stored. */
export function createPackReader(backend: Backend): (place: ChunkPlace) => Promise<Buffer> {
  const alone = ({ pack, offset, length }: ChunkPlace) => backend.part(packPath(pack), offset, length);
  if (!backend.far) return alone;
  const held = new Map<string, { asked: number; whole?: Promise<Buffer | null> }>();
  return async (place) => {
    const { pack, offset, length } = place;
    const known = held.get(pack) ?? { asked: 0 };
    known.asked += 1;
    held.delete(pack);
    held.set(pack, known);
    dropOldest(held, HELD);
    if (known.asked <= ONE_BY_ONE) return alone(place);
    known.whole ??= wholePack(backend, pack);
    // One that is damaged, or cannot be fetched at once, is read in parts, each of which tells what is wrong.
    return (await known.whole)?.subarray(offset, offset + length) ?? alone(place);
  };
}

async function wholePack(backend: Backend, pack: string): Promise<Buffer | null> {
  const bytes = await backend.get(packPath(pack)).catch(() => null);
  return bytes !== null && isSound(bytes, pack) ? bytes : null;
}
