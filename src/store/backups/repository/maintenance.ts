/** Maintains the backup repository: deletes what no snapshot needs, checks what is stored, rebuilds the index. */

import { RepositoryError, unlessMissing } from '../../../runtime/repository-error.js';
import type { Backend } from './folder.js';
import { isSound, listPack, type PackedChunk, PackWriter, packPath } from './packs.js';
import type { Checked, CheckParts, Damage, Rebuilt, Repository, RepositoryParts, SweepParts, Swept } from './types.js';

const HOUR_MS = 3_600_000;
/** A pack is removed this long after it was found unused. */
const GRACE_MS = 24 * HOUR_MS;

/**
 * Removes packs that no snapshot needs, in two steps. The first marks them; a backup stores again what only marked packs
 * have. The second, at the next sweep, removes what was marked long enough ago and is still not needed, unless a backup
 * is under way that began before the mark: it may have found its chunks there.
 */
export async function sweep(repository: Repository, stored: RepositoryParts, parts: SweepParts): Promise<Swept> {
  const { backend, index } = stored;
  await indexStrays(stored, parts.now);
  // Before the snapshots are read: a backup that ends in between is one of them then.
  const oldest = await parts.oldestRunning();
  const packs = await index.packs();
  const needed = new Set<string>();
  const listed = new Set(await repository.snapshots());
  for (const id of new Set([...listed, ...(await parts.known())])) {
    const reading = repository.snapshot(id);
    // Not listed, and not there: it was removed meanwhile, or is lost.
    const snapshot = listed.has(id) ? await reading : await unlessMissing(reading);
    if (snapshot === null) continue;
    try {
      for await (const chunk of parts.chunksOf(snapshot, needed)) needed.add(chunk);
    } catch (error) {
      if (!isLoss(error)) throw error;
      const text = `${id}: ${error.message} Nothing is deleted before it is repaired: sitefleet backups check --repair`;
      throw new RepositoryError(error.kind, text, error);
    }
  }
  const [unused, used]: [string[], string[]] = [[], []];
  for (const { name } of packs) {
    const chunks = await index.chunksOf(name);
    (chunks.some(({ chunk }) => needed.has(chunk)) ? used : unused).push(name);
  }
  await index.mark(unused, used, parts.now);
  const swept: Swept = { packs: packs.length, marked: unused.length, removed: 0, removed_bytes: 0 };
  const still = new Set(unused);
  for (const { name, bytes, unused_since } of packs) {
    if (!still.has(name) || unused_since === null) continue;
    const waits = parts.now - unused_since < (parts.graceMs ?? GRACE_MS) || (oldest !== null && oldest <= unused_since);
    // The index first: what it does not name, no backup refers to.
    if (waits || !(await index.forget(name))) continue;
    await backend.remove(packPath(name));
    swept.removed += 1;
    swept.removed_bytes += bytes;
  }
  return swept;
}

/**
 * Adds packs to the index that a process has stored, or was about to remove, when it died. Another may be removing them now, so
 * nothing is to rely on them: they are swept like all others from then on.
 */
async function indexStrays({ backend, index, sealer }: RepositoryParts, now: number): Promise<void> {
  const known = new Set((await index.packs()).map(({ name }) => name));
  for (const { name: path, bytes } of await backend.list('packs')) {
    const name = path.slice(-64);
    if (known.has(name)) continue;
    const chunks = await listPack(backend, sealer, name, bytes).catch((error: unknown) => {
      // A list may show what is gone; and nothing can be known of what is damaged.
      if (isLoss(error)) return null;
      throw error;
    });
    if (chunks !== null) await index.adopt(name, bytes, chunks, now);
  }
}

/**
 * Compares packs with what was stored: the sizes of all, and of those that are read the bytes with their names, which are
 * digests of them. Of a damaged pack it is known which chunks can still be read.
 */
export async function checkPacks(parts: RepositoryParts, { share, pick, signal }: CheckParts): Promise<Checked> {
  const { backend, index } = parts;
  const known = await index.packs();
  const stored = new Map((await backend.list('packs')).map(({ name, bytes }) => [name.slice(-64), bytes]));
  const damage: Damage[] = [];
  let [read, bytes] = [0, 0];
  for (const { name, bytes: whole } of known) {
    signal.throwIfAborted();
    // A list may lag behind.
    const size = stored.get(name) ?? (await backend.size(packPath(name)));
    if (size === whole && pick() >= share) continue;
    // What seems to be damaged is looked at twice: what is wrong may be the way here.
    const pack = (size === null ? null : await soundPack(backend, name)) ?? (await packOf(backend, name));
    read += 1;
    bytes += pack?.length ?? 0;
    if (pack !== null && isSound(pack, name)) continue;
    const chunks = await unreadable(parts, name, pack);
    // Removed by a sweep since it was listed.
    if (pack === null && chunks.length === 0) continue;
    const problem =
      pack === null
        ? 'It is missing.'
        : pack.length === whole
          ? 'Its contents are not what was stored.'
          : `It has ${pack.length} of its ${whole} bytes.`;
    damage.push({ pack: name, problem, chunks });
  }
  return { packs: known.length, read, bytes, damage };
}

async function soundPack(backend: Backend, name: string): Promise<Buffer | null> {
  const pack = await packOf(backend, name);
  return pack !== null && isSound(pack, name) ? pack : null;
}

const packOf = (backend: Backend, name: string) => unlessMissing(backend.get(packPath(name)));

/** The chunks of a damaged pack that cannot be read any more. */
async function unreadable({ index, sealer }: RepositoryParts, name: string, pack: Buffer | null): Promise<string[]> {
  const lost: string[] = [];
  for (const { chunk, offset, length } of await index.chunksOf(name)) {
    const sealed = pack?.subarray(offset, offset + length);
    const opens = sealed !== undefined && (await sealer.open(sealed, chunk).catch(() => null)) !== null;
    if (!opens) lost.push(chunk);
  }
  return lost;
}

/** Removes damaged packs, after what can be read of them was written to others. */
export async function repair(parts: RepositoryParts, damage: readonly Damage[]): Promise<void> {
  const { backend, index, sealer } = parts;
  for (const { pack: name, chunks: lost } of damage) {
    const gone = new Set(lost);
    const left = (await index.chunksOf(name)).filter(({ chunk }) => !gone.has(chunk));
    if (left.length > 0) {
      const writer = new PackWriter();
      // As they are: a sealed chunk is bound to its own name, not to its pack.
      for (const { chunk, offset, length, bytes } of left)
        writer.add(chunk, bytes, await backend.part(packPath(name), offset, length));
      const { chunks } = writer;
      const pack = await writer.finish(sealer);
      await backend.put(packPath(pack.name), pack.bytes);
      await index.add(pack.name, pack.bytes.length, chunks);
    }
    await index.drop(name);
    await backend.remove(packPath(name));
  }
}

/**
 * Makes the index again from the packs. Those that cannot be read are returned. The index is as it was until all of them were
 * looked at: a list that fails, or a server that goes away, takes nothing from it.
 * @param settle what is to be true before the first pack is in the new index, and not before the last one has left the old
 */
export async function rebuildIndex(
  { backend, index, sealer }: RepositoryParts,
  settle?: () => Promise<void>,
): Promise<Rebuilt> {
  const damage: Rebuilt['damage'] = [];
  const sound: { name: string; bytes: number; chunks: PackedChunk[] }[] = [];
  for (const { name: path, bytes } of await backend.list('packs')) {
    const name = path.slice(-64);
    try {
      sound.push({ name, bytes, chunks: await listPack(backend, sealer, name, bytes) });
    } catch (error) {
      if (!isLoss(error)) throw error;
      damage.push({ pack: name, problem: error.message });
    }
  }
  await index.clear();
  await settle?.();
  // If the process dies from here on, the next sweep finds the packs that are not in the index yet.
  for (const { name, bytes, chunks } of sound) await index.add(name, bytes, chunks);
  return { packs: sound.length, damage };
}

/** A pack is gone, or its bytes are not what was stored. Anything else says nothing of it: asked again, it may be read. */
function isLoss(error: unknown): error is RepositoryError {
  return error instanceof RepositoryError && ['missing', 'damaged'].includes(error.kind);
}
